// Edges with their keys, listed feature after feature and sorted from the highest key down.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "counts/index.hpp"
#include "interruption.hpp"
#include "memory.hpp"

namespace hietan {

// i < j where the endpoints are unrelated; ancestor first where they are related.
struct Edge {
  std::uint32_t first_and_mark, second;
  static constexpr std::uint32_t kRelated = std::uint32_t{1} << 31;

  std::size_t first() const { return first_and_mark & ~kRelated; }
  std::size_t last() const { return second; }
  bool related() const { return first_and_mark & kRelated; }
};
using Edges = PlainVector<Edge>;

// Edges of some features: those with i as their smaller end come one after the other, j ascending, and the features i
// in any order.
class EdgeList {
 public:
  struct Entry {
    std::int64_t key;
    Edge edge;
  };
  struct Run {
    std::size_t feature, start;
  };

  void reserve(std::size_t n) { entries.reserve(n); }
  void add(std::size_t i, std::int64_t key, const Edge& edge) {
    if (runs.empty() || runs.back().feature != i) runs.push_back({i, entries.size()});
    entries.push_back({key, edge});
    lowest = std::min(lowest, key);
    highest = std::max(highest, key);
  }

  PlainVector<Entry> entries;
  std::vector<Run> runs;  // where the entries of each feature begin
  std::int64_t lowest = INT64_MAX, highest = INT64_MIN;
};

// The edges of lists that have no feature in common, highest key first, ties in order of (i, j): a radix sort by the
// distance from the highest key, stable and from the lowest digit up. The first pass reads the lists feature after
// feature, and the last one writes edges only.
class EdgeSort {
 public:
  EdgeSort(std::vector<EdgeList> lists, std::size_t d) : lists_(std::move(lists)), d_(d) {
    for (const EdgeList& list : lists_) {
      size_ += list.entries.size();
      lowest_ = std::min(lowest_, list.lowest);
      highest_ = std::max(highest_, list.highest);
    }
  }

  // To be called once: the lists are dropped as soon as they were read.
  Edges sorted() {
    std::vector<Digit> digits = used_digits();
    Edges edges;
    if (digits.size() < 2) {
      edges.resize(size_);
      Digit last = digits.empty() ? Digit{} : digits.back();
      for_each_in_order([&](const Entry& e) { edges[place(last, e)] = e.edge; });
      return edges;
    }
    Entries from = first_pass(digits.front()), to;
    if (lists_.size() == 1) to.swap(lists_.front().entries);  // new pages would cost as much as a pass
    lists_.clear();
    for (std::size_t k = 1; k + 1 < digits.size(); ++k) {
      to.resize(size_);
      for (const Entry& e : from) to[place(digits[k], e)] = e;
      from.swap(to);
      checkpoint_.pass(size_);
    }
    Entries().swap(to);
    edges.resize(size_);
    for (const Entry& e : from) edges[place(digits.back(), e)] = e.edge;
    return edges;
  }

 private:
  using Entry = EdgeList::Entry;
  using Entries = PlainVector<Entry>;
  static constexpr int kBits = 8;  // more buckets would be more pages than the processor keeps track of
  static constexpr std::size_t kBuckets = std::size_t{1} << kBits;

  // Bits of the distance from the highest key; `next[b]` is the place of the next entry that has the value b there.
  struct Digit {
    int shift = 64 - kBits;
    std::array<std::size_t, kBuckets> next{};
  };

  std::uint64_t below_highest(const Entry& e) const {  // unsigned: the distance of any two keys
    return static_cast<std::uint64_t>(highest_) - static_cast<std::uint64_t>(e.key);
  }
  std::size_t place(Digit& digit, const Entry& e) const {
    return digit.next[(below_highest(e) >> digit.shift) & (kBuckets - 1)]++;
  }

  // The digits in which entries differ, from the lowest up.
  std::vector<Digit> used_digits() const {
    std::vector<Digit> digits;
    const std::uint64_t range = size_ ? static_cast<std::uint64_t>(highest_) - static_cast<std::uint64_t>(lowest_) : 0;
    for (int shift = 0; shift < 64 && (range >> shift); shift += kBits) digits.push_back({shift, {}});
    for (const EdgeList& list : lists_)
      for (const Entry& e : list.entries)
        for (Digit& digit : digits) place(digit, e);  // counts them
    const auto unused = [&](const Digit& digit) {
      return std::find(digit.next.begin(), digit.next.end(), size_) != digit.next.end();
    };
    digits.erase(std::remove_if(digits.begin(), digits.end(), unused), digits.end());
    for (Digit& digit : digits)
      std::exclusive_scan(digit.next.begin(), digit.next.end(), digit.next.begin(), std::size_t{0});
    return digits;
  }

  Entries first_pass(Digit& digit) {
    Entries out(size_);
    for_each_in_order([&](const Entry& e) { out[place(digit, e)] = e; });
    return out;
  }

  // Calls f(entry) for all entries in order of (i, j).
  template <typename F>
  void for_each_in_order(F&& f) {
    struct Piece {
      const Entry *begin = nullptr, *end = nullptr;
    };
    std::vector<Piece> pieces(d_);
    for (const EdgeList& list : lists_)
      for (std::size_t r = 0; r < list.runs.size(); ++r) {
        const std::size_t end = r + 1 < list.runs.size() ? list.runs[r + 1].start : list.entries.size();
        pieces[list.runs[r].feature] = {list.entries.data() + list.runs[r].start, list.entries.data() + end};
      }
    for (const Piece& piece : pieces) {
      checkpoint_.pass(index(piece.end - piece.begin));
      std::for_each(piece.begin, piece.end, f);
    }
  }

  std::vector<EdgeList> lists_;
  std::size_t d_, size_ = 0;
  std::int64_t lowest_ = INT64_MAX, highest_ = INT64_MIN;
  Checkpoint checkpoint_;
};

}  // namespace hietan
