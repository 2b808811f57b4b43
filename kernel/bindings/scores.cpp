// Smoothing, and what it turns counts into: scores and factors of trees and of averaged estimators.
#include "models/scores.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/handles.hpp"
#include "bindings/priors.hpp"
#include "models/aode_factors.hpp"
#include "models/terms.hpp"
#include "trees/lazy_trees.hpp"

namespace hietan::python {
namespace {

void require_relations(const PyRelations& relations, std::size_t d) {
  require(relations.features() == d, "the relations do not match the counts: ", relations.features(), " and ", d,
          " features");
}

// The parent of v must be kRoot, kAbsent or another of the `n` features that may be parents.
void require_parent(std::int32_t parent, std::size_t v, std::size_t n) {
  require(parent == kRoot || parent == kAbsent || (parent >= 0 && index(parent) < n && index(parent) != v),
          "the parent of feature ", v, " must be -1, -2 or another feature below ", n, ", got ", parent);
}

Out<double, 2> py_lazy_joint_log(PyRanking& ranking, In<Word, 2> words, std::size_t rows,
                                 In<std::int64_t, 1> root_order, std::int32_t lone_feature, bool directed,
                                 const PyCounts& py_counts, In<double, 1> log_prior, const Smoothing& smoothing) {
  const Counts counts = py_counts.with_pairs();
  require(counts.d == ranking.relations->features(),
          "the ranking does not match the counts: ", ranking.relations->features(), " and ", counts.d, " features");
  require_words(words, rows, counts.d);
  const std::vector<std::int64_t> order = copied_order(root_order, counts.d);
  require_below(lone_feature, counts.d, "lone_feature");
  auto joint = prior_rows(log_prior, rows, counts.classes);
  Unlocked unlocked;
  const Tables tables(counts, smoothing);
  TreeScorer scorer(tables);
  for_each_lazy_tree(ranking.ranking, words.data(), rows, order.data(), lone_feature, directed, false,
                     [&](std::size_t row, const std::int32_t* parent) {
                       scorer.add(parent, words.data() + row / kLanes * counts.d, row % kLanes,
                                  joint.data() + row * counts.classes);
                     });
  return joint;
}

Out<double, 2> py_tree_joint_log(In<std::int32_t, 1> parent, In<Word, 2> words, std::size_t rows,
                                 const PyCounts& py_counts, In<double, 1> log_prior, const Smoothing& smoothing) {
  const Counts counts = py_counts.with_pairs();
  require_words(words, rows, counts.d);
  require(parent.shape(0) == counts.d, "parent must have an entry per feature: got ", parent.shape(0), " for ",
          counts.d);
  const std::vector<std::int32_t> own_parent = copied(parent);
  for (std::size_t v = 0; v < counts.d; ++v) require_parent(own_parent[v], v, counts.d);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  Unlocked unlocked;
  add_shared_tree(Tables(counts, smoothing), own_parent.data(), words.data(), rows, joint.data());
  return joint;
}

Out<double, 3> py_tree_factors(In<std::int32_t, 2> parents, In<Word, 2> words, std::size_t rows,
                               const PyCounts& py_counts, const Smoothing& smoothing) {
  const bool roots_only = !py_counts.has_pairs();
  const Counts counts = py_counts.view();
  require_words(words, rows, counts.d);
  require(parents.shape(0) == rows && parents.shape(1) == counts.d,
          "parents must have an entry per row and feature: got ", parents.shape(0), " rows of ", parents.shape(1));
  const std::vector<std::int32_t> own_parents = copied(parents);
  for (std::size_t k = 0; k < own_parents.size(); ++k)
    require_parent(own_parents[k], k % counts.d, roots_only ? 0 : counts.d);
  auto factors = make_array<double>(rows, counts.d, counts.classes);
  Unlocked unlocked;
  const Tables tables(counts, smoothing);
  Checkpoint checkpoint;
  for (std::size_t row = 0; row < rows; ++row) {
    checkpoint.pass(counts.d * counts.classes);
    tree_factors(tables, own_parents.data() + row * counts.d, words.data() + row / kLanes * counts.d, row % kLanes,
                 factors.data() + row * counts.d * counts.classes);
  }
  return factors;
}

Ancestors ancestors_named(const std::string& name) {
  if (name == "depend") return Ancestors::depend;
  if (name == "naive") return Ancestors::naive;
  if (name == "absent") return Ancestors::absent;
  throw std::invalid_argument("ancestors must be 'depend', 'naive' or 'absent', got '" + name + "'");
}

Out<double, 2> py_aode_joint_log(const PyRelations& relations, const std::string& ancestors, std::int64_t min_frequency,
                                 In<Word, 2> words, std::size_t rows, In<double, 1> naive_log_prior,
                                 const PyCounts& py_counts, In<double, 1> log_prior, const Smoothing& smoothing) {
  const Counts counts = py_counts.with_pairs();
  require_relations(relations, counts.d);
  require_words(words, rows, counts.d);
  require(naive_log_prior.shape(0) == counts.classes, "naive_log_prior does not match the number of classes: got ",
          naive_log_prior.shape(0), " entries for ", counts.classes);
  const Ancestors kind = ancestors_named(ancestors);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  Unlocked unlocked;
  aode(Tables(counts, smoothing), relations.view(), kind, min_frequency, words.data(), rows, log_prior.data(),
       naive_log_prior.data(), joint.data());
  return joint;
}

// (factors, averaging, whether any estimator qualified) of each row.
nb::tuple py_aode_factors(const PyRelations& relations, const std::string& ancestors, std::int64_t min_frequency,
                          In<Word, 2> words, std::size_t rows, const PyCounts& py_counts, In<double, 1> log_prior,
                          const Smoothing& smoothing) {
  const Counts counts = py_counts.with_pairs();
  require_relations(relations, counts.d);
  require_words(words, rows, counts.d);
  require_prior(log_prior, counts.classes);
  const Ancestors kind = ancestors_named(ancestors);
  auto factors = make_array<double>(rows, counts.classes, counts.d);
  auto averaging = make_array<double>(rows, counts.classes);
  auto averaged = make_array<bool>(rows);
  {
    Unlocked unlocked;
    const Tables tables(counts, smoothing);
    aode_factors(tables, relations.view(), kind, min_frequency, words.data(), rows, log_prior.data(), factors.data(),
                 averaging.data(), averaged.data());
  }
  return nb::make_tuple(factors, averaging, averaged);
}

Out<std::int64_t, 1> py_count_kept(In<Word, 2> kept, std::size_t rows) {
  require_words(kept, rows, kept.shape(1));
  auto counts = make_array<std::int64_t>(rows);
  const Unlocked unlocked;
  count_kept(kept.data(), kept.shape(1), rows, counts.data());
  return counts;
}

// Writes the entries of the rows that begin at `starts`, which ends with the end of the last row.
void py_list_terms(In<Word, 2> kept, In<Word, 2> high, In<Word, 2> low, In<double, 2> table, In<std::int64_t, 1> starts,
                   InOut<std::int32_t, 1> columns, InOut<double, 1> values) {
  const std::size_t d = kept.shape(1);
  const std::vector<std::int64_t> own = copied(starts);
  require(!own.empty() && own.front() >= 0 && std::is_sorted(own.begin(), own.end()) &&
              index(own.back()) <= std::min(columns.shape(0), values.shape(0)),
          "starts must be ascending places in columns and values");
  require_features(d);
  for (const In<Word, 2>* words : {&kept, &high, &low}) require_words(*words, own.size() - 1, d);
  require(table.shape(0) == 4 && table.shape(1) == d, "table must have 4 rows and a column per feature, got ",
          table.shape(0), " x ", table.shape(1), " for ", d, " features");
  const Unlocked unlocked;
  list_terms(kept.data(), high.data(), low.data(), table.data(), d, own, columns.data(), values.data());
}

}  // namespace

void bind_scores(nb::module_& m) {
  nb::class_<Smoothing>(m, "Smoothing")
      .def(nb::init<const std::string&, double, double>(), "kind"_a, "alpha"_a, "unit"_a = 1.0)
      .def_prop_ro("pseudo_count", &Smoothing::pseudo_count);
  nb::list names;
  for (const Smoothing::Name& known : Smoothing::kKinds) names.append(known.name);
  m.attr("SMOOTHINGS") = nb::tuple(names);

  m.def("tree_joint_log", &py_tree_joint_log, "parent"_a.noconvert(), "words"_a.noconvert(), "n_rows"_a, "counts"_a,
        "log_prior"_a.noconvert(), "smoothing"_a);
  m.def("lazy_joint_log", &py_lazy_joint_log, "ranking"_a, "words"_a.noconvert(), "n_rows"_a,
        "root_order"_a.noconvert(), "lone_feature"_a, "directed"_a, "counts"_a, "log_prior"_a.noconvert(),
        "smoothing"_a);
  m.def("tree_factors", &py_tree_factors, "parents"_a.noconvert(), "words"_a.noconvert(), "n_rows"_a, "counts"_a,
        "smoothing"_a);
  m.def("aode_joint_log", &py_aode_joint_log, "relations"_a, "ancestors"_a, "min_frequency"_a, "words"_a.noconvert(),
        "n_rows"_a, "naive_log_prior"_a.noconvert(), "counts"_a, "log_prior"_a.noconvert(), "smoothing"_a);
  m.def("aode_factors", &py_aode_factors, "relations"_a, "ancestors"_a, "min_frequency"_a, "words"_a.noconvert(),
        "n_rows"_a, "counts"_a, "log_prior"_a.noconvert(), "smoothing"_a);
  m.def("count_kept", &py_count_kept, "kept"_a.noconvert(), "n_rows"_a);
  m.def("list_terms", &py_list_terms, "kept"_a.noconvert(), "high"_a.noconvert(), "low"_a.noconvert(),
        "table"_a.noconvert(), "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert());
}

}  // namespace hietan::python
