// Lazy selections, and the two models of what they keep: naive Bayes and a tree.
#include "models/selections.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/handles.hpp"
#include "bindings/priors.hpp"
#include "models/naive_bayes.hpp"
#include "models/scores.hpp"
#include "trees/lazy_trees.hpp"

namespace hietan::python {
namespace {

class PySelector {
 public:
  PySelector(const PyRelations& relations, const std::string& kind, const In<std::int32_t, 1>& relevance,
             std::size_t limit)
      : selector_(made(relations, kind, relevance, limit)) {}

  const Selector& view() const { return selector_; }

  Out<Word, 2> select(const In<Word, 2>& words) const {
    const std::size_t d = selector_.features(), batches = words.shape(0);
    require(words.shape(1) == d, "words do not match the number of features: got ", words.shape(1), " columns for ", d);
    auto kept = make_array<Word>(batches, d);
    Unlocked unlocked;
    Checkpoint checkpoint;
    for (std::size_t b = 0; b < batches; ++b) {
      checkpoint.pass(d * kLanes);
      selector_.select(words.data() + b * d, kept.data() + b * d);
    }
    return kept;
  }

 private:
  static Selector made(const PyRelations& relations, const std::string& kind, const In<std::int32_t, 1>& relevance,
                       std::size_t limit) {
    require(relevance.shape(0) == relations.features(), "relevance must have an entry per feature: got ",
            relevance.shape(0), " for ", relations.features());
    require(limit > 0, "n_features must be above 0");
    const std::vector<std::int32_t> own = copied(relevance);  // read more than once: it must not change meanwhile
    Unlocked unlocked;
    return {relations.view(), kind, own.data(), limit};
  }

  Selector selector_;
};

void require_selector(const PySelector& selector, std::size_t d) {
  require(selector.view().features() == d, "the selection does not match the others: ", selector.view().features(),
          " and ", d, " features");
}

Out<double, 2> py_selected_joint_log(const PySelector& selector, In<Word, 2> words, std::size_t rows,
                                     const PyCounts& py_counts, In<double, 1> log_prior, const Smoothing& smoothing) {
  const Counts counts = py_counts.view();
  require_selector(selector, counts.d);
  require_words(words, rows, counts.d);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  Unlocked unlocked;
  selected_naive_bayes(Tables(counts, smoothing), selector.view(), words.data(), rows, joint.data());
  return joint;
}

// Calls visit(row, parent) with the maximum spanning tree of the features that a row keeps.
template <typename Visit>
void for_each_selected_tree(const PySelector& selector, PyRanking& ranking, const In<Word, 2>& words, std::size_t rows,
                            const std::vector<std::int64_t>& order, Visit&& visit) {
  std::vector<Word> kept(selector.view().features());
  const auto select = [&](const Word* value) -> const Word* {
    selector.view().select(value, kept.data());
    return kept.data();
  };
  for_each_lazy_tree(ranking.ranking, words.data(), rows, order.data(), kAbsent, false, false, select, visit);
}

Out<std::int32_t, 2> py_selected_trees(const PySelector& selector, PyRanking& ranking, In<Word, 2> words,
                                       std::size_t rows, In<std::int64_t, 1> root_order) {
  const std::size_t d = ranking.relations->features();
  require_selector(selector, d);
  require_words(words, rows, d);
  const std::vector<std::int64_t> order = copied_order(root_order, d);
  auto parents = make_array<std::int32_t>(rows, d);
  Unlocked unlocked;
  for_each_selected_tree(selector, ranking, words, rows, order, [&](std::size_t row, const std::int32_t* parent) {
    std::copy(parent, parent + d, parents.data() + row * d);
  });
  return parents;
}

Out<double, 2> py_selected_tree_joint_log(const PySelector& selector, PyRanking& ranking, In<Word, 2> words,
                                          std::size_t rows, In<std::int64_t, 1> root_order, const PyCounts& py_counts,
                                          In<double, 1> log_prior, const Smoothing& smoothing) {
  const Counts counts = py_counts.with_pairs();
  require_selector(selector, counts.d);
  require(counts.d == ranking.relations->features(),
          "the ranking does not match the counts: ", ranking.relations->features(), " and ", counts.d, " features");
  require_words(words, rows, counts.d);
  const std::vector<std::int64_t> order = copied_order(root_order, counts.d);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  Unlocked unlocked;
  const Tables tables(counts, smoothing);
  TreeScorer scorer(tables);
  for_each_selected_tree(selector, ranking, words, rows, order, [&](std::size_t row, const std::int32_t* parent) {
    scorer.add(parent, words.data() + row / kLanes * counts.d, row % kLanes, joint.data() + row * counts.classes);
  });
  return joint;
}

}  // namespace

void bind_selections(nb::module_& m) {
  nb::list names;
  for (const Selector::Name& known : Selector::kKinds) names.append(known.name);
  m.attr("SELECTIONS") = nb::tuple(names);

  nb::class_<PySelector>(m, "Selector")
      .def(nb::init<const PyRelations&, const std::string&, In<std::int32_t, 1>, std::size_t>(), "relations"_a,
           "kind"_a, "relevance"_a.noconvert(), "n_features"_a)
      .def("select", &PySelector::select, "words"_a.noconvert());
  m.def("selected_joint_log", &py_selected_joint_log, "selector"_a, "words"_a.noconvert(), "n_rows"_a, "counts"_a,
        "log_prior"_a.noconvert(), "smoothing"_a);
  m.def("selected_trees", &py_selected_trees, "selector"_a, "ranking"_a, "words"_a.noconvert(), "n_rows"_a,
        "root_order"_a.noconvert());
  m.def("selected_tree_joint_log", &py_selected_tree_joint_log, "selector"_a, "ranking"_a, "words"_a.noconvert(),
        "n_rows"_a, "root_order"_a.noconvert(), "counts"_a, "log_prior"_a.noconvert(), "smoothing"_a);
}

}  // namespace hietan::python
