// The edges from the highest key down (ties: the smaller (i, j) first), sorted in blocks as they are read.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "keys.hpp"
#include "relations.hpp"

namespace hietan {

// i < j where the endpoints are unrelated; ancestor first where they are related.
struct Edge {
  std::uint32_t first_and_mark, second;
  static constexpr std::uint32_t kRelated = std::uint32_t{1} << 31;

  std::size_t first() const { return first_and_mark & ~kRelated; }
  std::size_t last() const { return second; }
  bool related() const { return first_and_mark & kRelated; }
};

// The order itself. Blocks are cut off from the top and sorted one at a time.
class EdgeOrder {
 public:
  using Cut = KeyHistogram::Cut;

  EdgeOrder(const std::int64_t* keys, const Relations& relations)
      : dense_(std::make_unique<DenseKeys>(keys, relations.d)), relations_(relations) {}
  EdgeOrder(const SparseKeys& keys, const Relations& relations) : sparse_(&keys), relations_(relations) {}

  const Relations& relations() const { return relations_; }
  // The size of a first block, no smaller than `least`.
  std::size_t portion(std::size_t least) const {
    return std::max(least, sparse_ ? sparse_->portion() : dense_->portion());
  }
  Cut next(const Cut& last, std::size_t wanted) const {
    return (sparse_ ? sparse_->histogram() : dense_->histogram()).next(last, wanted);
  }

  // The edges of a cut, in order, but for those that `dead(i, j)` gives up.
  template <typename Dead>
  std::vector<Edge> sorted(const Cut& cut, Dead&& dead) const {
    if (cut.edges == 0) return {};
    std::vector<Entry> entries = sparse_ ? collect(*sparse_, cut, dead) : collect(*dense_, cut, dead);
    sort_by_key(entries);
    std::vector<Edge> edges(entries.size());
    std::transform(entries.begin(), entries.end(), edges.begin(), [](const Entry& e) { return e.edge; });
    return edges;
  }

 private:
  struct Entry {
    std::int64_t key;
    Edge edge;
  };
  // The entries of one feature as the smaller one begin at `start`.
  struct Run {
    std::size_t feature, start;
  };

  // In order of (i, j).
  template <typename Keys, typename Dead>
  std::vector<Entry> collect(const Keys& keys, const Cut& cut, Dead&& dead) const {
    enum : std::uint8_t { none, above, below };
    std::vector<std::uint8_t> relation(relations_.d, none);
    std::vector<Entry> entries;
    std::vector<Run> runs;
    keys.within(cut.low(), cut.high(), [&](std::size_t i, std::size_t j, std::int64_t key) {
      if (dead(i, j)) return;
      if (runs.empty() || runs.back().feature != i) {
        if (!runs.empty()) mark(runs.back().feature, relation, none, none);
        mark(i, relation, above, below);
        runs.push_back({i, entries.size()});
      }
      const auto a = static_cast<std::uint32_t>(i), b = static_cast<std::uint32_t>(j);
      const Edge edge = relation[j] == none    ? Edge{a, b}
                        : relation[j] == above ? Edge{b | Edge::kRelated, a}
                                               : Edge{a | Edge::kRelated, b};
      entries.push_back({key, edge});
    });
    return Keys::kRowsRise ? entries : in_order(entries, runs);
  }

  static std::vector<Entry> in_order(const std::vector<Entry>& entries, const std::vector<Run>& runs) {
    std::vector<std::size_t> order(runs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return runs[a].feature < runs[b].feature; });
    std::vector<Entry> sorted;
    sorted.reserve(entries.size());
    for (const std::size_t k : order) {
      const std::size_t end = k + 1 < runs.size() ? runs[k + 1].start : entries.size();
      sorted.insert(sorted.end(), entries.begin() + static_cast<std::ptrdiff_t>(runs[k].start),
                    entries.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return sorted;
  }

  void mark(std::size_t i, std::vector<std::uint8_t>& relation, std::uint8_t above, std::uint8_t below) const {
    const Adjacency &up = relations_.ancestors, &down = relations_.descendants;
    for (const std::int32_t* u = up.begin(i); u != up.end(i); ++u) relation[static_cast<std::size_t>(*u)] = above;
    for (const std::int32_t* u = down.begin(i); u != down.end(i); ++u)
      relation[static_cast<std::size_t>(*u)] = below;
  }

  // Stable, descending: a radix sort of what the entries are below the largest key. They come in order of (i, j).
  static void sort_by_key(std::vector<Entry>& entries) {
    if (entries.size() < 2) return;
    const auto by_key = [](const Entry& a, const Entry& b) { return a.key < b.key; };
    const auto ends = std::minmax_element(entries.begin(), entries.end(), by_key);
    const std::int64_t high = ends.second->key;
    const auto range = static_cast<std::uint64_t>(high - ends.first->key);
    constexpr int kDigit = 11;
    std::vector<Entry> other(range ? entries.size() : 0);
    for (int shift = 0; shift < 64 && (range >> shift); shift += kDigit) {
      std::size_t starts[(1 << kDigit) + 1] = {};
      const auto digit = [&](const Entry& e) {
        return (static_cast<std::uint64_t>(high - e.key) >> shift) & ((1u << kDigit) - 1);
      };
      for (const Entry& e : entries) ++starts[digit(e) + 1];
      for (int k = 0; k < (1 << kDigit); ++k) starts[k + 1] += starts[k];
      for (const Entry& e : entries) other[starts[digit(e)]++] = e;
      entries.swap(other);
    }
  }

  std::unique_ptr<DenseKeys> dense_;     // one of these two
  const SparseKeys* sparse_ = nullptr;
  Relations relations_;
};

// The whole order, shared by any number of readers: whoever comes first to the end of what is sorted sorts on.
class Ranking {
 public:
  // `keys` is an array of all of them or a `SparseKeys`.
  template <typename Keys>
  Ranking(const Keys& keys, const Relations& relations)
      : order_(keys, relations), wanted_(order_.portion(std::size_t{1} << 14)) {}

  const Relations& relations() const { return order_.relations(); }
  std::size_t sorted_edges() const {
    std::lock_guard<std::mutex> guard(mutex_);
    return sorted_;
  }

  // The k-th block, or null where there are no more edges.
  const std::vector<Edge>* block(std::size_t k) {
    std::lock_guard<std::mutex> guard(mutex_);
    while (k >= blocks_.size()) {
      if (cut_.exhausted()) return nullptr;
      const EdgeOrder::Cut cut = order_.next(cut_, wanted_);
      blocks_.push_back(order_.sorted(cut, [](std::size_t, std::size_t) { return false; }));
      cut_ = cut;  // only now: where memory runs out, the block is sorted again another time
      sorted_ += blocks_.back().size();
      wanted_ += wanted_ / 2;
    }
    return &blocks_[k];
  }

 private:
  EdgeOrder order_;
  EdgeOrder::Cut cut_;
  std::size_t wanted_;
  std::deque<std::vector<Edge>> blocks_;  // a deque: blocks stay where they are while others are added
  std::size_t sorted_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace hietan
