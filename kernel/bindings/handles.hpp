// What Python holds on to: counts, relations and rankings, alive with the arrays they look into.
#pragma once

#include <optional>

#include "../cooccurrence.hpp"
#include "../ranking.hpp"
#include "arrays.hpp"

namespace hietan::python {

// Pair counts, all of them or the sparse ones or, where pairs were not counted, none.
struct PyCounts {
  In<std::int64_t, 1> class_count;
  In<std::int32_t, 2> ones, pairs;
  In<std::int64_t, 1> indptr;
  In<std::int32_t, 1> indices;

  PyCounts(In<std::int64_t, 1> n, In<std::int32_t, 2> o, In<std::int32_t, 2> p) : class_count(n), ones(o), pairs(p) {
    require_margins();
    require(p.shape(0) == classes() && (p.shape(1) == pair_total(features()) || p.shape(1) == 0),
            "class_count, ones and pairs do not fit each other");
  }
  PyCounts(In<std::int64_t, 1> n, In<std::int32_t, 2> o, In<std::int32_t, 2> values, In<std::int64_t, 1> starts,
           In<std::int32_t, 1> columns)
      : class_count(n), ones(o), pairs(values), indptr(starts), indices(columns) {
    require_margins();
    require(values.shape(0) == columns.shape(0) && values.shape(1) == classes() && starts.shape(0) == features() + 1,
            "class_count, ones and pairs do not fit each other");
    const std::int64_t* start = starts.data();
    require(start[0] == 0 && start[features()] == static_cast<std::int64_t>(columns.shape(0)),
            "indptr does not fit indices");
    for (std::size_t i = 0; i < features(); ++i) require(start[i] <= start[i + 1], "indptr must not fall");
    for (std::size_t i = 0; i < features(); ++i) {
      auto last = static_cast<std::int64_t>(i);
      for (std::int64_t e = start[i]; e < start[i + 1]; last = columns.data()[e++])
        require(columns.data()[e] > last && columns.data()[e] < static_cast<std::int64_t>(features()),
                "the partners of a feature must rise, come after it and lie within the features");
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
    require(has_pairs(), "the pairs were not counted");
    return view();
  }
  CooccurrenceView cooccurrences() const { return {indptr.data(), indices.data(), pairs.data()}; }

 private:
  void require_margins() const {
    require(classes() > 0 && features() > 0 && ones.shape(0) == classes(), "class_count and ones do not fit each other");
  }
};

struct PySparseKeys {
  PyCounts counts;
  std::shared_ptr<const SparseKeys> keys;

  explicit PySparseKeys(const PyCounts& c) : counts(c) {
    require(c.sparse(), "SparseKeys needs sparse counts");
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
    require(up.shape(0) > 1 && up.shape(0) == down.shape(0), "ancestors and descendants do not fit each other");
    require(up_indices.shape(0) == down_indices.shape(0), "ancestors and descendants do not fit each other");
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

inline const std::int64_t* fitting(const In<std::int64_t, 1>& keys, const PyRelations& relations) {
  require(keys.shape(0) == pair_total(relations.features()), "keys do not fit the number of features");
  return keys.data();
}

inline const SparseKeys& fitting(const PySparseKeys& keys, const PyRelations& relations) {
  require(keys.counts.features() == relations.features(), "keys do not fit the number of features");
  return *keys.keys;
}

struct PyRanking {
  In<std::int64_t, 1> keys;
  std::optional<PySparseKeys> sparse_keys;  // one of these two, alive with the ranking
  PyRelations relations;
  Ranking ranking;

  PyRanking(In<std::int64_t, 1> k, const PyRelations& r, std::size_t block)
      : keys(k), relations(r), ranking(fitting(k, r), relations.view(), block) {}
  PyRanking(const PySparseKeys& k, const PyRelations& r, std::size_t block)
      : sparse_keys(k), relations(r), ranking(fitting(k, r), relations.view(), block) {}

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
        out.data()[2 * n] = static_cast<std::int32_t>(std::min(edge.first(), edge.last()));
        out.data()[2 * n++ + 1] = static_cast<std::int32_t>(std::max(edge.first(), edge.last()));
      }
    }
    return out;
  }
};

inline Out<double, 2> prior_rows(const In<double, 1>& log_prior, std::size_t rows, std::size_t classes) {
  require(log_prior.shape(0) == classes, "log_prior does not fit the number of classes");
  auto joint = make_array<double>(rows, classes);
  for (std::size_t row = 0; row < rows; ++row)
    std::copy(log_prior.data(), log_prior.data() + classes, joint.data() + row * classes);
  return joint;
}

}  // namespace hietan::python
