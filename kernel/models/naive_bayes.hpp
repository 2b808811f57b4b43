// Naive Bayes over the features that a lazy selection keeps in each row.
#pragma once

#include <vector>

#include "counts/words.hpp"
#include "models/selections.hpp"
#include "models/smoothing.hpp"

namespace hietan {

// Adds to out[row][class].
inline void selected_naive_bayes(const Tables& tables, const Selector& selector, const Word* words, std::size_t rows,
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
    selector.select(value, kept.data());
    for (std::size_t v = 0; v < d; ++v)
      for_each_bit(kept[v] & lanes, [&](std::size_t lane) {
        const double* cell = factor.data() + (2 * v + (value[v] >> lane & 1)) * classes;
        double* row = out + (first + lane) * classes;
        for (std::size_t c = 0; c < classes; ++c) row[c] += cell[c];
      });
  }
}

}  // namespace hietan
