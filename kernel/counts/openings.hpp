// Where features are open, and how often. A feature is open in a row where all its parents are 1; without parents, it
// is open everywhere. In rows that agree with the hierarchy, a feature is 1 only where it is open.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "counts/relations.hpp"
#include "counts/violations.hpp"
#include "counts/words.hpp"
#include "interruption.hpp"

namespace hietan {

// The parents of all features, by what has to be looked up in a row. Features with one parent are open where that
// parent is 1. Features with the same several parents form a set, which one of these parents watches: only in rows
// where the watcher is 1 are the others looked up. So the work per row depends on its ones, not on the number of
// features.
class Openings {
 public:
  static constexpr std::int32_t kNone = -1;

  // Watchers are the deepest parents, as these are 1 in the fewest rows; then those that come first.
  Openings(const Adjacency& parents, const std::int64_t* depths, std::size_t d)
      : indptr_(parents.indptr, parents.indptr + d + 1),
        indices_(parents.indices, parents.indices + parents.indptr[d]),
        set_(d, kNone),
        watched_begin_(d + 1, 0) {
    std::map<std::vector<std::int32_t>, std::int32_t> known;
    for (std::size_t v = 0; v < d; ++v) {
      if (parent_count(v) < 2) continue;
      const auto [at, is_new] = known.try_emplace({begin(v), end(v)}, feature_id(known.size()));
      set_[v] = at->second;
      if (is_new) first_member_.push_back(feature_id(v));
    }
    std::vector<std::int32_t> watcher(sets());
    for (std::size_t s = 0; s < sets(); ++s) {
      const std::size_t v = index(first_member_[s]);
      watcher[s] = *std::max_element(begin(v), end(v), [&](std::int32_t a, std::int32_t b) {
        return depths[a] < depths[b];  // of equals, max_element takes the first
      });
      ++watched_begin_[index(watcher[s]) + 1];
    }
    for (std::size_t u = 0; u < d; ++u) watched_begin_[u + 1] += watched_begin_[u];
    watched_.resize(sets());
    std::vector<std::int32_t> next(watched_begin_.begin(), watched_begin_.end() - 1);
    for (std::size_t s = 0; s < sets(); ++s) watched_[index(next[index(watcher[s])]++)] = feature_id(s);
  }

  std::size_t features() const { return set_.size(); }
  std::size_t sets() const { return first_member_.size(); }
  std::size_t parent_count(std::size_t v) const { return index(indptr_[v + 1] - indptr_[v]); }
  Adjacency parents() const { return {indptr_.data(), indices_.data()}; }
  const std::int32_t* begin(std::size_t v) const { return indices_.data() + indptr_[v]; }
  const std::int32_t* end(std::size_t v) const { return indices_.data() + indptr_[v + 1]; }
  // The set of several parents that v has, or kNone.
  std::int32_t set_of(std::size_t v) const { return set_[v]; }

  // Whether v is open in the row whose ones `row` holds.
  bool open(std::size_t v, const Word* row) const {
    for (const std::int32_t* p = begin(v); p != end(v); ++p)
      if (!has_bit(row[index(*p) / kLanes], index(*p) % kLanes)) return false;
    return true;
  }

  // Calls f(s) for every set of several parents that u watches and that are all 1 in the row.
  template <typename F>
  void for_each_open_set(std::size_t u, const Word* row, F&& f) const {
    for (std::int32_t k = watched_begin_[u]; k < watched_begin_[u + 1]; ++k) {
      const std::size_t s = index(watched_[index(k)]);
      if (open(index(first_member_[s]), row)) f(s);
    }
  }

 private:
  std::vector<std::int32_t> indptr_, indices_;  // the parents of each feature, ascending
  std::vector<std::int32_t> set_, first_member_;
  std::vector<std::int32_t> watched_begin_, watched_;  // the sets that each feature watches
};

// Counts the rows of a CSR matrix whose stored entries are the ones: of class c, ones[c][v] have v open and 1, and
// open[c][v] have v open. Both begin with zeros. A 1 that is not open, which contradicts the hierarchy, is not counted.
// Row r counts weights[r] times, or once without weights; the weights add up to at most INT32_MAX.
template <typename Index>
Violation count_openings(const Openings& openings, const Index* indptr, const Index* indices, const std::int64_t* codes,
                         const std::int32_t* weights, std::size_t rows, std::size_t classes, std::size_t block_rows,
                         std::int32_t* ones, std::int32_t* open) {
  const std::size_t d = openings.features(), sets = openings.sets();
  std::vector<std::int32_t> shut(classes * d, 0), open_sets(classes * sets, 0), class_rows(classes, 0);
  RowBits bits(d);
  FirstViolation first(openings.parents(), block_rows);
  Checkpoint checkpoint;
  for (std::size_t row = 0; row < rows; ++row) {
    checkpoint.pass(8 + 8 * index(indptr[row + 1] - indptr[row]));
    const std::size_t c = index(codes[row]);
    const Index *begin = indices + indptr[row], *end = indices + indptr[row + 1];
    const std::int32_t weight = weight_of(weights, row);
    class_rows[c] += weight;
    bits.set(begin, end);
    for (const Index* u = begin; u != end; ++u) {
      const std::size_t v = index(*u);
      if (openings.open(v, bits.words())) {
        ones[c * d + v] += weight;
      } else {
        shut[c * d + v] += weight;
        first.see(row, feature_id(v), bits);
      }
      openings.for_each_open_set(v, bits.words(), [&](std::size_t s) { open_sets[c * sets + s] += weight; });
    }
    bits.clear(begin, end);
  }
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t v = 0; v < d; ++v) {
      std::int32_t n = class_rows[c];
      if (openings.parent_count(v) == 1)
        n = ones[c * d + index(*openings.begin(v))] + shut[c * d + index(*openings.begin(v))];
      if (openings.parent_count(v) > 1) n = open_sets[c * sets + index(openings.set_of(v))];
      open[c * d + v] = n;
    }
  return first.found();
}

}  // namespace hietan
