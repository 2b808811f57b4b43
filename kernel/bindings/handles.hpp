// The objects that Python holds: counts, keys, relations and rankings, each of which keeps the arrays it reads alive.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "bindings/arrays.hpp"
#include "counts/cooccurrence.hpp"
#include "counts/relations.hpp"
#include "trees/sorted_edges.hpp"

namespace hietan::python {

// Counts with all pairs, with those that occur, or, where pairs were not counted, with none.
struct PyCounts {
  In<std::int64_t, 1> class_count;
  In<std::int32_t, 2> ones, pairs;
  In<std::int64_t, 1> indptr;
  In<std::int32_t, 1> indices;

  PyCounts(In<std::int64_t, 1> n, In<std::int32_t, 2> o, In<std::int32_t, 2> p)
      : class_count(std::move(n)), ones(std::move(o)), pairs(std::move(p)) {
    require_margins();
    require(pairs.shape(0) == classes() && (pairs.shape(1) == pair_total(features()) || pairs.shape(1) == 0),
            "class_count, ones and pairs do not match each other");
  }
  PyCounts(In<std::int64_t, 1> n, In<std::int32_t, 2> o, In<std::int32_t, 2> values, In<std::int64_t, 1> starts,
           In<std::int32_t, 1> columns)
      : class_count(std::move(n)),
        ones(std::move(o)),
        pairs(std::move(values)),
        indptr(std::move(starts)),
        indices(std::move(columns)) {
    require_margins();
    require(pairs.shape(0) == indices.shape(0) && pairs.shape(1) == classes() && indptr.shape(0) == features() + 1,
            "class_count, ones and pairs do not match each other");
    require_csr(indptr, indices, features());
    for (std::size_t i = 0; i < features(); ++i) {
      auto last = static_cast<std::int64_t>(i);
      for (std::int64_t e = indptr.data()[i]; e < indptr.data()[i + 1]; last = indices.data()[e++])
        require(indices.data()[e] > last, "the partners of a feature must increase and come after it");
    }
  }

  std::size_t classes() const { return class_count.shape(0); }
  std::size_t features() const { return ones.shape(1); }
  bool sparse() const { return indptr.is_valid(); }
  bool has_pairs() const { return sparse() || pairs.shape(1) == pair_total(features()); }
  Counts view() const {
    if (!sparse()) return {classes(), features(), class_count.data(), ones.data(), pairs.data()};
    return {classes(), features(), class_count.data(), ones.data(), pairs.data(), indptr.data(), indices.data()};
  }
  Counts with_pairs() const {
    require(has_pairs(), "the counts must include pairs of features");
    return view();
  }
  CooccurrenceView cooccurrences() const { return {indptr.data(), indices.data(), pairs.data()}; }

 private:
  void require_margins() const {
    require(classes() > 0 && features() > 0 && ones.shape(0) == classes(),
            "class_count and ones do not match each other");
  }
};

struct PySparseKeys {
  PyCounts counts;
  std::shared_ptr<const SparseKeys> keys;

  explicit PySparseKeys(const PyCounts& c) : counts(c) {
    require(c.sparse(), "SparseKeys needs sparse counts; use cmi_keys for counts of all pairs");
    nb::gil_scoped_release release;
    keys = std::make_shared<const SparseKeys>(counts.view());
  }
  Out<std::int64_t, 1> row(std::size_t i) const {
    require(i < counts.features(), "a feature is out of range");
    auto out = make_array<std::int64_t>(counts.features() - i - 1);
    keys->row(i, out.data());
    return out;
  }
};

// The closure of the feature DAG, kept alive with its arrays.
struct PyRelations {
  In<std::int32_t, 1> ancestor_indptr, ancestor_indices, descendant_indptr, descendant_indices;

  PyRelations(In<std::int32_t, 1> up, In<std::int32_t, 1> up_indices, In<std::int32_t, 1> down,
              In<std::int32_t, 1> down_indices)
      : ancestor_indptr(up), ancestor_indices(up_indices), descendant_indptr(down), descendant_indices(down_indices) {
    require(up.shape(0) > 1 && up.shape(0) == down.shape(0), "ancestors and descendants do not match each other");
    require(up_indices.shape(0) == down_indices.shape(0), "ancestors and descendants do not match each other");
    require_csr(up, up_indices, features());
    require_csr(down, down_indices, features());
  }
  std::size_t features() const { return ancestor_indptr.shape(0) - 1; }
  Relations view() const {
    return {features(),
            {ancestor_indptr.data(), ancestor_indices.data()},
            {descendant_indptr.data(), descendant_indices.data()}};
  }
};

// The keys as Python has them: an array of all of them, or sparse ones.
using PyKeys = std::variant<In<std::int64_t, 1>, PySparseKeys>;

// The keys as the kernel reads them; `keys` must outlive them.
inline Keys kernel_keys(const PyKeys& keys, const PyRelations& relations) {
  const std::size_t d = relations.features();
  const auto* dense = std::get_if<In<std::int64_t, 1>>(&keys);
  require(dense ? dense->shape(0) == pair_total(d) : std::get<PySparseKeys>(keys).counts.features() == d,
          "keys do not match the number of features");
  if (dense) return std::make_shared<const DenseKeys>(dense->data(), d);
  return std::get<PySparseKeys>(keys).keys;
}

struct PyRanking {
  PyKeys keys;
  PyRelations relations;
  Ranking ranking;

  PyRanking(PyKeys k, PyRelations r, std::size_t block)
      : keys(std::move(k)), relations(std::move(r)), ranking(kernel_keys(keys, relations), relations.view(), block) {}

  // Sorts at least the first `limit` edges.
  void sort(std::size_t limit) {
    nb::gil_scoped_release release;
    for (std::size_t k = 0; ranking.sorted_edges() < limit && ranking.block(k); ++k) {
    }
  }

  // The first `limit` edges (i < j), highest key first; sorts as far as needed.
  Out<std::int32_t, 2> edges(std::size_t limit) {
    limit = std::min(limit, pair_total(relations.features()));
    auto out = make_array<std::int32_t>(limit, 2);
    nb::gil_scoped_release release;
    std::size_t n = 0;
    for (std::size_t k = 0; n < limit; ++k) {
      const Ranking::Block* block = ranking.block(k);
      if (!block) throw std::logic_error("the ranking ended before all its edges were read");
      for (const Edge& edge : block->edges) {
        if (n == limit) break;
        out.data()[2 * n] = feature_id(std::min(edge.first(), edge.last()));
        out.data()[2 * n++ + 1] = feature_id(std::max(edge.first(), edge.last()));
      }
    }
    return out;
  }
};

}  // namespace hietan::python
