// The factors of a tree, and their sum: the joint log-probability of a row and each class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "counts/words.hpp"
#include "models/smoothing.hpp"
#include "trees/tree.hpp"

namespace hietan {

// Scores one tree after another. The trees of different rows have most edges in common, so a feature's factors are
// kept for as long as it has the same parent.
class TreeScorer {
 public:
  explicit TreeScorer(const Tables& tables)
      : tables_(tables),
        parent_(tables.features(), kAbsent),
        known_(tables.features(), 0),
        factor_(tables.features() * 4 * tables.classes()) {}

  // Adds the factors of one row's tree, in column order, to `out`, a value per class.
  void add(const std::int32_t* parent, const Word* words, std::size_t lane, double* out) {
    const std::size_t classes = tables_.classes();
    for (std::size_t v = 0; v < tables_.features(); ++v) {
      const std::int32_t p = parent[v];
      if (p == kAbsent) continue;
      const bool xv = has_bit(words[v], lane), xp = p != kRoot && has_bit(words[p], lane);
      const double* factor = factors(v, xv, p, xp);
      for (std::size_t c = 0; c < classes; ++c) out[c] += factor[c];
    }
  }

 private:
  const double* factors(std::size_t v, bool xv, std::int32_t p, bool xp) {
    const std::size_t which = 2 * xp + xv;
    double* factor = factor_.data() + (4 * v + which) * tables_.classes();
    if (parent_[v] != p) {
      parent_[v] = p;
      known_[v] = 0;
    }
    if (known_[v] >> which & 1) return factor;
    known_[v] = static_cast<std::uint8_t>(known_[v] | 1u << which);
    std::fill(factor, factor + tables_.classes(), 0.0);
    if (p == kRoot)
      tables_.add_root(v, xv, factor);
    else
      tables_.add_child(v, xv, index(p), xp, factor);
    return factor;
  }

  const Tables& tables_;
  std::vector<std::int32_t> parent_;
  std::vector<std::uint8_t> known_;  // which of the four combinations of values
  std::vector<double> factor_;       // [feature][2 x_p + x_v][class]
};

// The factors themselves, not their sum: out[feature][class], 0 for features that are not in the tree.
inline void tree_factors(const Tables& tables, const std::int32_t* parent, const Word* words, std::size_t lane,
                         double* out) {
  const std::size_t classes = tables.classes();
  std::fill(out, out + tables.features() * classes, 0.0);
  for (std::size_t v = 0; v < tables.features(); ++v, out += classes) {
    const bool xv = has_bit(words[v], lane);
    if (parent[v] == kRoot) tables.add_root(v, xv, out);
    if (parent[v] >= 0) tables.add_child(v, xv, index(parent[v]), has_bit(words[parent[v]], lane), out);
  }
}

// As TreeScorer::add, for one tree and all rows: its tables are filled once. Adds to out[row][class].
inline void add_shared_tree(const Tables& tables, const std::int32_t* parent, const Word* words, std::size_t rows,
                            double* out) {
  const std::size_t d = tables.features(), classes = tables.classes();
  std::vector<double> factor(d * 4 * classes, 0.0);  // [feature][2 x_p + x_v][class]
  for (std::size_t v = 0; v < d; ++v)
    for (std::size_t k = 0; k < 4; ++k) {
      double* cell = factor.data() + (4 * v + k) * classes;
      if (parent[v] >= 0)
        tables.add_child(v, k & 1, index(parent[v]), k & 2, cell);
      else if (parent[v] == kRoot)
        tables.add_root(v, k & 1, cell);
    }
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < rows; first += kLanes) {
    checkpoint.pass(d * kLanes);
    const Word* batch = words + first / kLanes * d;
    const std::size_t here = std::min(kLanes, rows - first);
    for (std::size_t v = 0; v < d; ++v) {
      if (parent[v] == kAbsent) continue;
      const Word xv = batch[v], xp = parent[v] >= 0 ? batch[parent[v]] : 0;
      const double* base = factor.data() + 4 * v * classes;
      for (std::size_t lane = 0; lane < here; ++lane) {
        const double* cell = base + (2 * (xp >> lane & 1) + (xv >> lane & 1)) * classes;
        double* row = out + (first + lane) * classes;
        for (std::size_t c = 0; c < classes; ++c) row[c] += cell[c];
      }
    }
  }
}

}  // namespace hietan
