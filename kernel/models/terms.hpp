// What the features of each row add to a score that is looked up by the state of each: the entries of a CSR matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "counts/words.hpp"

namespace hietan {

// counts[r] = the number of features that row r keeps: bit r of the words `kept`.
inline void count_kept(const Word* kept, std::size_t d, std::size_t rows, std::int64_t* counts) {
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < rows; first += kLanes, kept += d) {
    checkpoint.pass(d * kLanes);
    std::int64_t n[kLanes] = {}, all = 0;
    for (std::size_t v = 0; v < d; ++v)
      if (~kept[v] == 0)
        ++all;
      else
        for_each_bit(kept[v], [&](std::size_t lane) { ++n[lane]; });
    for (std::int64_t& count : n) count += all;
    std::copy(n, n + std::min(kLanes, rows - first), counts + first);
  }
}

// The entries of row r are written from starts[r] on: its kept features in the order of the columns, and
// table[s * d + v] for each, with s = 2 high + low of the row's bits. Those beyond starts[r + 1] are left out.
inline void list_terms(const Word* kept, const Word* high, const Word* low, const double* table, std::size_t d,
                       const std::vector<std::int64_t>& starts, std::int32_t* columns, double* values) {
  const std::size_t rows = starts.size() - 1;
  std::vector<std::int64_t> next(starts);
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < rows; first += kLanes, kept += d, high += d, low += d) {
    checkpoint.pass(d * kLanes);
    const Word lanes = lane_mask(rows - first);
    for (std::size_t v = 0; v < d; ++v) {
      const double terms[] = {table[v], table[d + v], table[2 * d + v], table[3 * d + v]};
      const Word high_bits = high[v], low_bits = low[v];
      for_each_bit(kept[v] & lanes, [&](std::size_t lane) {
        const std::int64_t k = next[first + lane];
        if (k == starts[first + lane + 1]) return;
        columns[k] = feature_id(v);
        values[k] = terms[2 * (high_bits >> lane & 1) + (low_bits >> lane & 1)];
        next[first + lane] = k + 1;
      });
    }
  }
}

}  // namespace hietan
