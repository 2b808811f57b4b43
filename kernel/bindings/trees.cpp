// Rankings of edges, trees, and their scores and factors.
#include "../closure.hpp"
#include "../lazy.hpp"
#include "../scores.hpp"
#include "bindings.hpp"
#include "handles.hpp"

namespace hietan::python {
namespace {

Out<std::int32_t, 1> py_spanning_tree(In<std::int64_t, 1> keys, std::size_t d, std::int32_t root) {
  require(d > 0 && keys.shape(0) == pair_total(d), "keys do not fit the number of features");
  require(root >= 0 && static_cast<std::size_t>(root) < d, "root is out of range");
  auto parent = make_array<std::int32_t>(d);
  nb::gil_scoped_release release;
  spanning_tree(keys.data(), d, root, parent.data());
  return parent;
}

template <typename Keys>
Out<std::int32_t, 1> py_hierarchical_tree(const Keys& keys, const PyRelations& relations,
                                          In<std::int64_t, 1> root_order, std::size_t block) {
  const auto& source = fitting(keys, relations);
  require_order(root_order, relations.features());
  auto parent = make_array<std::int32_t>(relations.features());
  nb::gil_scoped_release release;
  hierarchical_tree(EdgeOrder(source, relations.view(), block), root_order.data(), parent.data());
  return parent;
}

void require_lone(std::int32_t lone_feature, std::size_t d) {
  require(lone_feature >= 0 && static_cast<std::size_t>(lone_feature) < d, "lone_feature is out of range");
}

Out<std::int32_t, 2> py_lazy_trees(PyRanking& ranking, In<Word, 2> words, std::size_t rows,
                                   In<std::int64_t, 1> root_order, std::int32_t lone_feature, bool directed, bool wide_labels) {
  const std::size_t d = ranking.relations.features();
  require_words(words, rows, d);
  require_order(root_order, d);
  require_lone(lone_feature, d);
  auto parents = make_array<std::int32_t>(rows, d);
  nb::gil_scoped_release release;
  for_each_lazy_tree(ranking.ranking, words.data(), rows, root_order.data(), lone_feature, directed, wide_labels,
                     [&](std::size_t row, const std::int32_t* parent) {
                       std::copy(parent, parent + d, parents.data() + row * d);
                     });
  return parents;
}

Out<double, 2> py_lazy_joint_log(PyRanking& ranking, In<Word, 2> words, std::size_t rows,
                                 In<std::int64_t, 1> root_order, std::int32_t lone_feature, bool directed,
                                 const PyCounts& py_counts, In<double, 1> log_prior, double alpha, bool pooled) {
  const Counts counts = py_counts.with_pairs();
  require(counts.d == ranking.relations.features(), "the ranking does not fit the counts");
  require_words(words, rows, counts.d);
  require_order(root_order, counts.d);
  require_lone(lone_feature, counts.d);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  const Tables tables(counts, alpha, pooled);
  TreeScorer scorer(tables);
  for_each_lazy_tree(ranking.ranking, words.data(), rows, root_order.data(), lone_feature, directed, false,
                     [&](std::size_t row, const std::int32_t* parent) {
                       scorer.add(parent, words.data() + row / kLanes * counts.d, row % kLanes,
                                  joint.data() + row * counts.classes);
                     });
  return joint;
}

Out<double, 2> py_tree_joint_log(In<std::int32_t, 1> parent, In<Word, 2> words, std::size_t rows,
                                 const PyCounts& py_counts, In<double, 1> log_prior, double alpha, bool pooled) {
  const Counts counts = py_counts.with_pairs();
  require_words(words, rows, counts.d);
  require(parent.shape(0) == counts.d, "parent must have an entry per feature");
  for (std::size_t v = 0; v < counts.d; ++v)
    require(parent.data()[v] >= kAbsent && parent.data()[v] < static_cast<std::int64_t>(counts.d) &&
                parent.data()[v] != static_cast<std::int64_t>(v),
            "a parent is out of range");
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  add_shared_tree(Tables(counts, alpha, pooled), parent.data(), words.data(), rows, joint.data());
  return joint;
}

Out<double, 3> py_tree_factors(In<std::int32_t, 2> parents, In<Word, 2> words, std::size_t rows,
                               const PyCounts& py_counts, double alpha, bool pooled) {
  const bool roots_only = !py_counts.has_pairs();
  const Counts counts = py_counts.view();
  require_words(words, rows, counts.d);
  require(parents.shape(0) == rows && parents.shape(1) == counts.d, "parents must have an entry per row and feature");
  for (std::size_t k = 0; k < rows * counts.d; ++k)
    require(parents.data()[k] >= kAbsent &&
                parents.data()[k] < (roots_only ? 0 : static_cast<std::int64_t>(counts.d)) &&
                parents.data()[k] != static_cast<std::int64_t>(k % counts.d),
            "a parent is out of range");
  auto factors = make_array<double>(rows, counts.d, counts.classes);
  nb::gil_scoped_release release;
  const Tables tables(counts, alpha, pooled);
  for (std::size_t row = 0; row < rows; ++row)
    tree_factors(tables, parents.data() + row * counts.d, words.data() + row / kLanes * counts.d, row % kLanes,
                 factors.data() + row * counts.d * counts.classes);
  return factors;
}

// (row, parent, child) of the first contradiction to the hierarchy, or None.
nb::object py_find_violation(In<std::int32_t, 1> child_indptr, In<std::int32_t, 1> child_indices, In<Word, 2> words,
                             std::size_t rows) {
  const std::size_t d = words.shape(1);
  require(child_indptr.shape(0) == d + 1, "child_indptr does not fit the number of features");
  require_csr(child_indptr, child_indices, d);
  require_words(words, rows, d);
  Violation found;
  {
    nb::gil_scoped_release release;
    found = find_violation({child_indptr.data(), child_indices.data()}, d, words.data(), rows);
  }
  if (found.row < 0) return nb::none();
  return nb::make_tuple(found.row, found.parent, found.child);
}

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<PyRelations>(m, "Relations")
      .def(nb::init<In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>>(),
           "ancestor_indptr"_a.noconvert(), "ancestor_indices"_a.noconvert(), "descendant_indptr"_a.noconvert(),
           "descendant_indices"_a.noconvert());
  nb::class_<PyRanking>(m, "Ranking")
      .def(nb::init<In<std::int64_t, 1>, const PyRelations&, std::size_t>(), "keys"_a.noconvert(), "relations"_a,
           "block"_a = 0)
      .def(nb::init<const PySparseKeys&, const PyRelations&, std::size_t>(), "keys"_a, "relations"_a, "block"_a = 0)
      .def("edges", &PyRanking::edges, "limit"_a)
      .def("sort", &PyRanking::sort, "limit"_a)
      .def_prop_ro("n_sorted", [](const PyRanking& r) { return r.ranking.sorted_edges(); });

  m.def("spanning_tree", &py_spanning_tree, "keys"_a.noconvert(), "n_features"_a, "root"_a);
  m.def("hierarchical_tree", &py_hierarchical_tree<In<std::int64_t, 1>>, "keys"_a.noconvert(), "relations"_a,
        "root_order"_a.noconvert(), "block"_a = 0);
  m.def("hierarchical_tree", &py_hierarchical_tree<PySparseKeys>, "keys"_a, "relations"_a, "root_order"_a.noconvert(),
        "block"_a = 0);
  m.def("lazy_trees", &py_lazy_trees, "ranking"_a, "words"_a.noconvert(), "n_rows"_a, "root_order"_a.noconvert(),
        "lone_feature"_a, "directed"_a, "wide_labels"_a = false);
  m.def("lazy_joint_log", &py_lazy_joint_log, "ranking"_a, "words"_a.noconvert(), "n_rows"_a,
        "root_order"_a.noconvert(), "lone_feature"_a, "directed"_a, "counts"_a, "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("tree_joint_log", &py_tree_joint_log, "parent"_a.noconvert(), "words"_a.noconvert(), "n_rows"_a,
        "counts"_a, "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("tree_factors", &py_tree_factors, "parents"_a.noconvert(), "words"_a.noconvert(), "n_rows"_a,
        "counts"_a, "alpha"_a, "pooled"_a);
  m.def("find_violation", &py_find_violation, "child_indptr"_a.noconvert(), "child_indices"_a.noconvert(),
        "words"_a.noconvert(), "n_rows"_a);
}

}  // namespace hietan::python
