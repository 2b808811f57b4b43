// The edges from the highest key down (ties: the smaller (i, j) first), sorted in blocks as they are read.
#pragma once

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "counts.hpp"
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

// Which keys there are, coarsely: enough to cut the next block off the top without sorting the rest.
class EdgeOrder {
 public:
  EdgeOrder(const std::int64_t* keys, const Relations& relations)
      : keys_(keys), relations_(relations), histogram_(kBuckets, 0) {
    for (std::size_t e = 0, total = pair_total(relations.d); e < total; ++e) ++histogram_[bucket(keys[e])];
  }

  const Relations& relations() const { return relations_; }
  std::size_t total() const { return pair_total(relations_.d); }

  // A range of buckets, from `top` (exclusive) down to `bottom`, that holds at least `wanted` edges if there are.
  struct Cut {
    std::size_t top = kBuckets, bottom = kBuckets, edges = 0;
    bool exhausted() const { return bottom == 0; }
  };
  Cut next(const Cut& last, std::size_t wanted) const {
    Cut cut;
    cut.top = cut.bottom = last.bottom;
    while (cut.bottom > 0 && cut.edges < wanted) cut.edges += histogram_[--cut.bottom];
    return cut;
  }

  // The edges of a cut, in order, but for those that `dead(i, j)` gives up.
  template <typename Dead>
  std::vector<Edge> sorted(const Cut& cut, Dead&& dead) const {
    const std::size_t d = relations_.d;
    std::vector<Entry> entries;
    if (cut.edges == 0) return {};
    const std::int64_t low = lower_bound(cut.bottom), high = lower_bound(cut.top);
    enum : std::uint8_t { none, above, below };
    std::vector<std::uint8_t> relation(d, none);
    for (std::size_t i = 0; i + 1 < d; ++i) {
      const std::int64_t* row = keys_ + row_start(i, d);
      bool marked = false;
      for (std::size_t j = i + 1; j < d; ++j) {
        const std::int64_t key = row[j - i - 1];
        if (key < low || key >= high || dead(i, j)) continue;
        if (!marked) {
          mark(i, relation, above, below);
          marked = true;
        }
        const auto a = static_cast<std::uint32_t>(i), b = static_cast<std::uint32_t>(j);
        const Edge edge = relation[j] == none    ? Edge{a, b}
                          : relation[j] == above ? Edge{b | Edge::kRelated, a}
                                                 : Edge{a | Edge::kRelated, b};
        entries.push_back({key, edge});
      }
      if (marked) mark(i, relation, none, none);
    }
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
  static constexpr int kMantissa = 7;
  static constexpr std::size_t kBuckets = std::size_t{64} << kMantissa;

  // A rising step function of the key: exponent and leading bits, as in a floating-point number.
  static std::size_t bucket(std::int64_t key) {
    if (key < (std::int64_t{1} << kMantissa)) return key < 0 ? 0 : static_cast<std::size_t>(key);
    const int exponent = highest_bit(static_cast<Word>(key));
    const auto leading = static_cast<std::size_t>(key >> (exponent - kMantissa));
    return (static_cast<std::size_t>(exponent - kMantissa) << kMantissa) + leading;
  }

  // The smallest key of a bucket.
  static std::int64_t lower_bound(std::size_t b) {
    if (b == 0) return INT64_MIN;
    if (b >= kBuckets) return INT64_MAX;
    if (b < (std::size_t{2} << kMantissa)) return static_cast<std::int64_t>(b);
    const std::size_t shift = (b >> kMantissa) - 1;
    const std::size_t leading = (b & ((std::size_t{1} << kMantissa) - 1)) + (std::size_t{1} << kMantissa);
    return shift + kMantissa + 1 > 62 ? INT64_MAX : static_cast<std::int64_t>(leading << shift);
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

  const std::int64_t* keys_;
  Relations relations_;
  std::vector<std::size_t> histogram_;
};

// The whole order, shared by any number of readers: whoever comes first to the end of what is sorted sorts on.
class Ranking {
 public:
  Ranking(const std::int64_t* keys, const Relations& relations)
      : order_(keys, relations), wanted_(std::max<std::size_t>(std::size_t{1} << 14, order_.total() / 32)) {}

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
