// Rows that contradict the hierarchy: a feature is 1 although its parent is 0.
#pragma once

#include "counts/relations.hpp"
#include "counts/words.hpp"

namespace hietan {

struct Violation {
  std::int64_t row = -1;  // -1: none
  std::int32_t parent = -1, child = -1;
};

// The first edge, in the order of parents and children, that a row contradicts, and the first such row.
inline Violation find_violation(const Adjacency& children, std::size_t d, const Word* words, std::size_t rows) {
  Checkpoint checkpoint;
  for (std::size_t v = 0; v < d; ++v)
    for (const std::int32_t* u = children.begin(v); u != children.end(v); ++u) {
      checkpoint.pass(rows / kLanes);
      for (std::size_t first = 0; first < rows; first += kLanes) {
        const Word* batch = words + first / kLanes * d;
        const Word broken = batch[*u] & ~batch[v] & lane_mask(rows - first);
        if (broken) return {static_cast<std::int64_t>(first) + lowest_bit(broken), feature_id(v), *u};
      }
    }
  return {};
}

}  // namespace hietan
