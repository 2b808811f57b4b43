// Relations between features, rankings of edges, and trees.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>

#include "bindings/bindings.hpp"
#include "bindings/handles.hpp"
#include "counts/levels.hpp"
#include "counts/violations.hpp"
#include "trees/eager_trees.hpp"
#include "trees/lazy_trees.hpp"

namespace hietan::python {
namespace {

Out<std::int32_t, 1> py_spanning_tree(In<std::int64_t, 1> keys, std::size_t d, std::int32_t root) {
  require_keys(keys.shape(0), d);
  require_below(root, d, "root");
  auto parent = make_array<std::int32_t>(d);
  Unlocked unlocked;
  spanning_tree(keys.data(), d, root, parent.data());
  return parent;
}

Out<std::int32_t, 1> py_hierarchical_tree(const PyKeys& keys, const PyRelations& relations,
                                          In<std::int64_t, 1> root_order, std::size_t block) {
  const std::size_t d = relations.features();
  const std::vector<std::int64_t> order = copied_order(root_order, d);
  auto parent = make_array<std::int32_t>(d);
  Unlocked unlocked;
  hierarchical_tree(EdgeOrder(kernel_keys(keys, relations), relations.view(), block), order.data(), parent.data());
  return parent;
}

Out<std::int32_t, 2> py_lazy_trees(PyRanking& ranking, In<Word, 2> words, std::size_t rows,
                                   In<std::int64_t, 1> root_order, std::int32_t lone_feature, bool directed,
                                   bool wide_labels) {
  const std::size_t d = ranking.relations->features();
  require_words(words, rows, d);
  const std::vector<std::int64_t> order = copied_order(root_order, d);
  require_below(lone_feature, d, "lone_feature");
  auto parents = make_array<std::int32_t>(rows, d);
  Unlocked unlocked;
  for_each_lazy_tree(
      ranking.ranking, words.data(), rows, order.data(), lone_feature, directed, wide_labels,
      [&](std::size_t row, const std::int32_t* parent) { std::copy(parent, parent + d, parents.data() + row * d); });
  return parents;
}

// (row, parent, child) of the first place where the given rows contradict the hierarchy, or None.
template <typename Index>
nb::object py_find_violation(In<std::int32_t, 1> parent_indptr, In<std::int32_t, 1> parent_indices, In<Index, 1> indptr,
                             In<Index, 1> indices, In<std::int64_t, 1> rows, std::size_t block_rows) {
  require(
      parent_indptr.shape(0) > 1 && block_rows > 0,
      "parent_indptr must have an entry more than there are features, at least two, and block_rows must be at least "
      "1; got ",
      parent_indptr.shape(0), " entries and ", block_rows);
  const std::size_t d = parent_indptr.shape(0) - 1;
  require_features(d);
  Violation found;
  {
    const Unlocked unlocked;
    const auto parents = copied_csr(parent_indptr, parent_indices, d);
    require_increasing(parents, "the parents of a feature");
    const auto own = copied_csr_rows(indptr, indices, d, rows);
    found = find_violation({parents.indptr.data(), parents.indices.data()}, own.indptr.data(), own.indices.data(), d,
                           own.indptr.size() - 1, block_rows);
  }
  if (found.row < 0) return nb::none();
  return nb::make_tuple(found.row, found.parent, found.child);
}

// (where the children of each vertex begin, the children, where the parents begin, the parents, the levels) of a graph
// of `n` vertices, given by its edges; None unless these increase: by their parents, then by their children.
nb::object py_find_levels(In<std::int64_t, 1> parent, In<std::int64_t, 1> child, std::size_t n) {
  const std::size_t size = parent.shape(0);
  require(child.shape(0) == size, "parent and child must have an entry per edge, got ", size, " and ", child.shape(0));
  require_features(n);
  auto children = make_array<std::int32_t>(size), parents = make_array<std::int32_t>(size);
  auto child_indptr = make_array<std::int64_t>(n + 1), parent_indptr = make_array<std::int64_t>(n + 1);
  auto depth = make_array<std::int64_t>(n);
  bool increase = true;
  {
    const Unlocked unlocked;
    std::vector<std::int32_t> own(size);
    std::int64_t last_parent = -1, last_child = -1;
    for (std::size_t k = 0; k < size; ++k) {
      const std::int64_t p = parent.data()[k], c = child.data()[k];
      require_below(p, n, "a parent");
      require_below(c, n, "a child");
      increase &= (p > last_parent) | ((p == last_parent) & (c > last_child));
      own[k] = static_cast<std::int32_t>(last_parent = p);
      children.data()[k] = static_cast<std::int32_t>(last_child = c);
    }
    if (increase) {
      begin_rows(own.data(), size, n, child_indptr.data());
      turn_pairs(own.data(), children.data(), size, n, parent_indptr.data(), parents.data());
      longest_paths({child_indptr.data(), children.data()}, parent_indptr.data(), n, depth.data());
    }
  }
  if (!increase) return nb::none();
  return nb::make_tuple(child_indptr, children, parent_indptr, parents, depth);
}

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<PyRelations>(m, "Relations")
      .def(nb::init<In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>>(),
           "ancestor_indptr"_a.noconvert(), "ancestor_indices"_a.noconvert(), "descendant_indptr"_a.noconvert(),
           "descendant_indices"_a.noconvert());
  nb::class_<PyRanking>(m, "Ranking")
      .def(nb::init<PyKeys, std::shared_ptr<const PyRelations>, std::size_t>(), "keys"_a.noconvert(), "relations"_a,
           "block"_a = 0)
      .def("edges", &PyRanking::edges, "limit"_a)
      .def("plan", &PyRanking::plan, "limit"_a, "n_blocks"_a)
      .def_prop_ro("n_sorted", &PyRanking::sorted_edges);
  nb::class_<PyListedBlocks>(m, "ListedBlocks")
      .def(nb::init<std::shared_ptr<PyRanking>, std::size_t, std::size_t, std::size_t>(), "ranking"_a, "first"_a,
           "most_edges"_a, "n_parts"_a = 1)
      .def("list", &PyListedBlocks::list, "part"_a)
      .def("sort", &PyListedBlocks::sort, "k"_a)
      .def("__len__", &PyListedBlocks::size);

  m.def("spanning_tree", &py_spanning_tree, "keys"_a.noconvert(), "n_features"_a, "root"_a);
  m.def("hierarchical_tree", &py_hierarchical_tree, "keys"_a.noconvert(), "relations"_a, "root_order"_a.noconvert(),
        "block"_a = 0);
  m.def("lazy_trees", &py_lazy_trees, "ranking"_a, "words"_a.noconvert(), "n_rows"_a, "root_order"_a.noconvert(),
        "lone_feature"_a, "directed"_a, "wide_labels"_a = false);
  m.def("find_levels", &py_find_levels, "parent"_a.noconvert(), "child"_a.noconvert(), "n"_a);
  m.def("find_violation", &py_find_violation<std::int32_t>, "parent_indptr"_a.noconvert(),
        "parent_indices"_a.noconvert(), "indptr"_a.noconvert(), "indices"_a.noconvert(), "rows"_a.noconvert(),
        "block_rows"_a);
  m.def("find_violation", &py_find_violation<std::int64_t>, "parent_indptr"_a.noconvert(),
        "parent_indices"_a.noconvert(), "indptr"_a.noconvert(), "indices"_a.noconvert(), "rows"_a.noconvert(),
        "block_rows"_a);
}

}  // namespace hietan::python
