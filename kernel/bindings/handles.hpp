// The objects that Python holds: counts, keys, relations and rankings. Each keeps what it reads, and is safe from
// whatever Python writes to the arrays it was made from.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/kept.hpp"
#include "counts/consistency.hpp"
#include "counts/cooccurrence.hpp"
#include "counts/relations.hpp"
#include "trees/information.hpp"
#include "trees/sorted_edges.hpp"

namespace hietan::python {

// Counts with all pairs, with those that occur, or, where pairs were not counted, with none. Whatever leads to a place
// in memory is checked here, and kept out of Python's reach. Only the counts of all pairs, which may take gigabytes,
// are shared with Python: they are checked when they are first used, and each time before something is looked up by
// them.
class PyCounts {
 public:
  PyCounts(const In<std::int64_t, 1>& class_count, const In<std::int32_t, 2>& ones, In<std::int32_t, 2> pairs)
      : PyCounts(class_count, ones) {
    const std::size_t all = pair_total(d_);
    require(pairs.shape(0) == classes() && (pairs.shape(1) == all || pairs.shape(1) == 0),
            "pairs must have a row for each of ", classes(), " classes and ", all, " columns or none, got ",
            pairs.shape(0), " rows and ", pairs.shape(1), " columns");
    all_pairs_ = std::move(pairs);
    Unlocked unlocked;
    require_possible_margins(view());
  }
  PyCounts(const In<std::int64_t, 1>& class_count, const In<std::int32_t, 2>& ones, nb::handle pairs,
           const In<std::int64_t, 1>& indptr, nb::handle indices)
      : PyCounts(class_count, ones) {
    pairs_ = std::make_unique<const Kept<std::int32_t, 2>>(pairs, "pairs");
    indices_ = std::make_unique<const Kept<std::int32_t, 1>>(indices, "indices");
    indptr_ = copied(indptr);
    require(pairs_->shape(0) == indices_->shape(0) && pairs_->shape(1) == classes() && indptr_.size() == d_ + 1,
            "pairs must have a row for each of ", indices_->shape(0), " indices and a column for each of ", classes(),
            " classes, and indptr an entry more than there are features, ", d_, "; got ", pairs_->shape(0), " rows, ",
            pairs_->shape(1), " columns and ", indptr_.size(), " entries");
    Unlocked unlocked;
    require_indptr(indptr_, indices_->shape(0));
    for (std::size_t i = 0; i < d_; ++i) require_partners(i);
    require_possible_margins(view());
    require_possible_pairs(view());
  }

  std::size_t classes() const { return class_count_.size(); }
  std::size_t features() const { return d_; }
  bool sparse() const { return pairs_ != nullptr; }
  bool has_pairs() const { return sparse() || all_pairs_.shape(1) == pair_total(d_); }
  Counts view() const {
    if (!sparse()) return {classes(), d_, class_count_.data(), ones_.data(), all_pairs_.data()};
    return {classes(), d_, class_count_.data(), ones_.data(), pairs_->data(), indptr_.data(), indices_->data()};
  }
  Counts with_pairs() const {
    require(has_pairs(), "the counts must include pairs of features");
    if (!sparse() && !checked_) require_possible_pairs(view());
    checked_ = true;
    return view();
  }
  // Of all pairs. These are looked up in a table, so each is checked whenever it is read.
  void keys(std::int64_t* out) const {
    cmi_keys(view(), out);
    checked_ = true;
  }
  // For what divides by the number of rows.
  Counts of_some_rows() const {
    require(view().rows() > 0, "the counts must be those of at least one row, got 0 rows");
    return view();
  }
  CooccurrenceView cooccurrences() const { return {indptr_.data(), indices_->data(), pairs_->data()}; }

 private:
  PyCounts(const In<std::int64_t, 1>& class_count, const In<std::int32_t, 2>& ones)
      : class_count_(copied(class_count)), ones_(copied(ones)), d_(ones.shape(1)) {
    require_features(d_);
    require(classes() > 0 && d_ > 0 && ones.shape(0) == classes(), "ones must have a row for each of ", classes(),
            " classes and a column for each feature, at least one of each; got ", ones.shape(0), " rows and ", d_,
            " columns");
  }

  void require_partners(std::size_t i) const {
    const std::int32_t* partner = indices_->data() + indptr_[i];
    const std::size_t n = index(indptr_[i + 1] - indptr_[i]);
    std::int32_t ascend = n == 0 || partner[0] > feature_id(i);
    for (std::size_t k = 1; k < n; ++k) ascend &= partner[k] > partner[k - 1];
    require(ascend && (n == 0 || index(partner[n - 1]) < d_), "the partners of feature ", i,
            " must increase, come after it and be below the number of features, ", d_);
  }

  std::vector<std::int64_t> class_count_;
  std::vector<std::int32_t> ones_;
  std::size_t d_;
  In<std::int32_t, 2> all_pairs_;
  mutable std::atomic<bool> checked_{false};  // all_pairs_, since they are here
  std::vector<std::int64_t> indptr_;
  std::unique_ptr<const Kept<std::int32_t, 2>> pairs_;
  std::unique_ptr<const Kept<std::int32_t, 1>> indices_;
};

inline void require_parts(std::size_t n) {
  require(n > 0 && n <= 1U << 16U, "n_parts must be from 1 to ", 1U << 16U, ", got ", n);
}
inline std::size_t required_parts(std::size_t n) {
  require_parts(n);
  return n;
}

// Of several parts, each has to be computed once before the keys can be used; a single one is computed at once.
struct PySparseKeys {
  std::shared_ptr<const PyCounts> counts;
  std::shared_ptr<SparseKeys> keys;

  PySparseKeys(std::shared_ptr<const PyCounts> c, std::size_t parts) : counts(std::move(c)) {
    require(counts->sparse(), "SparseKeys needs sparse counts; use cmi_keys for counts of all pairs");
    require_parts(parts);
    const Counts view = counts->of_some_rows();
    Unlocked unlocked;
    keys = std::make_shared<SparseKeys>(view, parts);
    if (parts == 1) keys->compute(0);
  }
  void compute(std::size_t part) {
    Unlocked unlocked;
    keys->compute(part);
  }
  std::shared_ptr<const SparseKeys> complete() const {
    require(keys->complete(), "not all parts of the keys were computed; call compute(part) for each of them");
    return keys;
  }
  Out<std::int64_t, 1> row(std::size_t i) const {
    require_below(i, counts->features(), "a feature");
    complete();
    auto out = make_array<std::int64_t>(counts->features() - i - 1);
    keys->row(i, out.data());
    return out;
  }
};

// The closure of the feature DAG, in arrays of its own.
class PyRelations {
 public:
  PyRelations(const In<std::int32_t, 1>& up, const In<std::int32_t, 1>& up_indices, const In<std::int32_t, 1>& down,
              const In<std::int32_t, 1>& down_indices)
      : d_(up.shape(0) - 1) {
    require(
        up.shape(0) > 1 && up.shape(0) == down.shape(0) && up_indices.shape(0) == down_indices.shape(0),
        "ancestors and descendants do not match each other: both need as many entries, and indptr at least two; got ",
        up.shape(0), " and ", down.shape(0), " of indptr, ", up_indices.shape(0), " and ", down_indices.shape(0),
        " of indices");
    ancestors_ = copied_csr(up, up_indices, d_);
    descendants_ = copied_csr(down, down_indices, d_);
  }
  std::size_t features() const { return d_; }
  Relations view() const {
    return {d_,
            {ancestors_.indptr.data(), ancestors_.indices.data()},
            {descendants_.indptr.data(), descendants_.indices.data()}};
  }

 private:
  std::size_t d_;
  OwnCsr<std::int32_t, std::int32_t> ancestors_, descendants_;
};

// The keys as Python has them: an array of all of them, or sparse ones.
using PyKeys = std::variant<In<std::int64_t, 1>, PySparseKeys>;

inline void require_keys(std::size_t n, std::size_t d) {
  require_features(d);
  require(d > 0 && n == pair_total(d), "keys do not match the number of features: got ", n, " for ", d, " features");
}

// The keys as the kernel reads them; `keys` must outlive them.
inline Keys kernel_keys(const PyKeys& keys, const PyRelations& relations) {
  const std::size_t d = relations.features();
  const auto* dense = std::get_if<In<std::int64_t, 1>>(&keys);
  require_keys(dense ? dense->shape(0) : pair_total(std::get<PySparseKeys>(keys).counts->features()), d);
  if (dense) return std::make_shared<const DenseKeys>(dense->data(), d);
  return std::get<PySparseKeys>(keys).complete();
}

struct PyRanking {
  PyKeys keys;
  std::shared_ptr<const PyRelations> relations;
  Ranking ranking;

  PyRanking(PyKeys k, std::shared_ptr<const PyRelations> r, std::size_t block)
      : keys(std::move(k)), relations(std::move(r)), ranking(unlocked_keys(), relations->view(), block) {}

  std::size_t sorted_edges() const { return ranking.sorted_edges(); }

  // How many blocks hold the first `limit` edges; see Ranking::plan.
  std::size_t plan(std::size_t limit, std::size_t blocks) {
    require_parts(blocks);
    return ranking.plan(std::min(limit, pair_total(relations->features())), blocks);
  }

  // The first `limit` edges (i < j), highest key first; sorts as far as needed.
  Out<std::int32_t, 2> edges(std::size_t limit) {
    limit = std::min(limit, pair_total(relations->features()));
    auto out = make_array<std::int32_t>(limit, 2);
    Unlocked unlocked;
    std::size_t n = 0;
    for (std::size_t k = 0; n < limit; ++k) {
      const Ranking::Block* block = ranking.block(k);
      if (!block) refuse("the ranking holds ", n, " of ", limit, " edges: its keys were changed after it was made");
      for (const Edge& edge : block->edges) {
        if (n == limit) break;
        out.data()[2 * n] = feature_id(std::min(edge.first(), edge.last()));
        out.data()[2 * n++ + 1] = feature_id(std::max(edge.first(), edge.last()));
      }
    }
    return out;
  }

 private:
  Keys unlocked_keys() const {
    Unlocked unlocked;
    return kernel_keys(keys, *relations);
  }
};

// Blocks of a ranking that are listed and sorted together; see ListedBlocks.
struct PyListedBlocks {
  std::shared_ptr<PyRanking> ranking;
  ListedBlocks blocks;

  PyListedBlocks(std::shared_ptr<PyRanking> r, std::size_t first, std::size_t most_edges, std::size_t parts)
      : ranking(std::move(r)), blocks(ranking->ranking, first, most_edges, required_parts(parts)) {}

  std::size_t size() const { return blocks.size(); }
  void list(std::size_t part) {
    Unlocked unlocked;
    blocks.list(part);
  }
  void sort(std::size_t k) {
    require(blocks.complete(), "not all parts are listed; call list(part) for each of them");
    Unlocked unlocked;
    blocks.sort(k);
  }
};

}  // namespace hietan::python
