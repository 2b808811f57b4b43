// HIP: a feature at 1 removes its ancestors, one at 0 removes its descendants, all judged on the row as it is.
#pragma once

#include <vector>

#include "counts/relations.hpp"
#include "counts/words.hpp"
#include "models/smoothing.hpp"

namespace hietan {

// kept[v] of up to 64 rows: bit r is set where feature v stays in row r.
inline void hip_select(const Relations& relations, const Word* value, Word* kept) {
  for (std::size_t v = 0; v < relations.d; ++v) {
    Word removed = 0;
    const Adjacency &up = relations.ancestors, &down = relations.descendants;
    for (const std::int32_t* u = down.begin(v); u != down.end(v); ++u) removed |= value[*u];
    for (const std::int32_t* u = up.begin(v); u != up.end(v); ++u) removed |= ~value[*u];
    kept[v] = ~removed;
  }
}

// Naive Bayes over the features that are kept. Adds to out[row][class].
inline void hip_naive_bayes(const Tables& tables, const Relations& relations, const Word* words, std::size_t rows,
                            double* out) {
  const std::size_t d = tables.features(), classes = tables.classes();
  std::vector<double> factor(2 * d * classes, 0.0);  // [feature][value][class]
  for (std::size_t v = 0; v < d; ++v)
    for (std::size_t x = 0; x < 2; ++x) tables.add_root(v, x != 0, factor.data() + (2 * v + x) * classes);
  std::vector<Word> kept(d);
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < rows; first += kLanes) {
    checkpoint.pass(d * kLanes);
    const Word* value = words + first / kLanes * d;
    const Word lanes = lane_mask(rows - first);
    hip_select(relations, value, kept.data());
    for (std::size_t v = 0; v < d; ++v)
      for_each_bit(kept[v] & lanes, [&](std::size_t lane) {
        const double* cell = factor.data() + (2 * v + (value[v] >> lane & 1)) * classes;
        double* row = out + (first + lane) * classes;
        for (std::size_t c = 0; c < classes; ++c) row[c] += cell[c];
      });
  }
}

}  // namespace hietan
