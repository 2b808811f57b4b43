// What the features of each row add to a score that is looked up by the state of each: the entries of a CSR matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "counts/words.hpp"

namespace hietan {

// counts[r] = the number of features that row r keeps: bit r of the words `kept`.
inline void count_kept(const Word* kept, std::size_t d, std::size_t rows, std::int64_t* counts) {
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < rows; first += kLanes, kept += d) {
    checkpoint.pass(d * kLanes);
    const Word lanes = lane_mask(rows - first);
    std::int64_t n[kLanes] = {};
    for (std::size_t v = 0; v < d; ++v) for_each_bit(kept[v] & lanes, [&](std::size_t lane) { ++n[lane]; });
    for (std::size_t r = first; r < rows && r < first + kLanes; ++r) counts[r] = n[r - first];
  }
}

// The entries of row r begin at next[r], where `count_kept` leaves room for them: its kept features in the order of the
// columns, and table[s * d + v] for each, with s = 2 high + low of the row's bits. Moves next[r] to the row's end.
inline void list_terms(const Word* kept, const Word* high, const Word* low, const double* table, std::size_t d,
                       std::size_t rows, std::int64_t* next, std::int32_t* columns, double* values) {
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < rows; first += kLanes, kept += d, high += d, low += d, next += kLanes) {
    checkpoint.pass(d * kLanes);
    const Word lanes = lane_mask(rows - first);
    for (std::size_t v = 0; v < d; ++v) {
      const double terms[] = {table[v], table[d + v], table[2 * d + v], table[3 * d + v]};
      for_each_bit(kept[v] & lanes, [&](std::size_t lane) {
        const std::int64_t k = next[lane]++;
        columns[k] = feature_id(v);
        values[k] = terms[2 * (high[v] >> lane & 1) + (low[v] >> lane & 1)];
      });
    }
  }
}

}  // namespace hietan
