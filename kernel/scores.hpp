// From counts to log-probabilities: P(x_v | x_p, c) = (count + 2 alpha q) / (count of the condition + 2 alpha).
#pragma once

#include <cmath>
#include <vector>

#include "information.hpp"
#include "trees.hpp"

namespace hietan {

class Tables {
 public:
  Tables(const Counts& counts, double alpha, bool pooled)
      : counts_(counts), alpha_(alpha), pooled_(pooled), n_(counts.rows()) {
    std::int64_t largest = 0;
    for (std::size_t c = 0; c < counts.classes; ++c) largest = std::max(largest, counts.class_count[c]);
    // Counts are small integers, so most logarithms are looked up. (The same values either way.)
    const auto size = static_cast<std::size_t>(std::min<std::int64_t>(largest, kMaxTable)) + 1;
    count_.resize(size);
    condition_.resize(size);
    for (std::size_t k = 0; k < size; ++k) {
      count_[k] = std::log(static_cast<double>(k) + alpha);
      condition_[k] = std::log(static_cast<double>(k) + 2 * alpha);
    }
    total_.assign(counts.d, 0);
    for (std::size_t c = 0; c < counts.classes; ++c)
      for (std::size_t v = 0; v < counts.d; ++v) total_[v] += counts.ones_of(c)[v];
  }

  std::size_t classes() const { return counts_.classes; }
  std::size_t features() const { return counts_.d; }
  bool pooled() const { return pooled_; }
  const Counts& counts() const { return counts_; }

  // Training rows of all classes with x_v as given.
  std::int64_t frequency(std::size_t v, bool xv) const { return xv ? total_[v] : n_ - total_[v]; }

  // ln P(x_v | c)
  double log_root(std::size_t v, bool xv, std::size_t c, bool pooled) const {
    const std::int64_t ones = counts_.ones_of(c)[v], all = counts_.class_count[c];
    const double q = pooled ? (static_cast<double>(frequency(v, xv)) + 0.5) / (static_cast<double>(n_) + 1.0) : 0.5;
    return log_count(xv ? ones : all - ones, q) - log_condition(all);
  }

  // out[c] += ln P(x_v | c)
  void add_root(std::size_t v, bool xv, double* out) const {
    for (std::size_t c = 0; c < counts_.classes; ++c) out[c] += log_root(v, xv, c, pooled_);
  }

  // out[c] += ln P(x_v | x_p, c)
  void add_child(std::size_t v, bool xv, std::size_t p, bool xp, double* out) const {
    const Counts::Cell both = counts_.cell(v, p);
    const double q = pooled_ ? pooled_guess(v, xv, p, xp, both) : 0.5;
    for (std::size_t c = 0; c < counts_.classes; ++c) {
      const std::int64_t condition = condition_count(p, xp, c);
      out[c] += log_count(cell(both[c], counts_.ones_of(c)[v], condition, xv, xp), q) - log_condition(condition);
    }
  }

  // out[x_v] = ln P(x_v | x_p, c) for both values of v, given the rows with both features
  void log_child(std::size_t v, std::size_t p, const Counts::Cell& both, bool xp, std::size_t c, double* out) const {
    const std::int64_t condition = condition_count(p, xp, c);
    const std::int64_t one = cell(both[c], counts_.ones_of(c)[v], condition, true, xp);
    const double below = log_condition(condition);
    // Each guess from its own counts: 1 - q would lose the digits of a small one.
    out[1] = log_count(one, pooled_ ? pooled_guess(v, true, p, xp, both) : 0.5) - below;
    out[0] = log_count(condition - one, pooled_ ? pooled_guess(v, false, p, xp, both) : 0.5) - below;
  }

 private:
  static constexpr std::int64_t kMaxTable = 1 << 16;

  // Rows with x_v and x_p as given, from those with both at 1, those with v at 1, and those that meet the condition.
  static std::int64_t cell(std::int64_t both, std::int64_t ones_v, std::int64_t condition, bool xv, bool xp) {
    const std::int64_t one = xp ? both : ones_v - both;
    return xv ? one : condition - one;
  }

  std::int64_t condition_count(std::size_t p, bool xp, std::size_t c) const {
    const std::int64_t ones = counts_.ones_of(c)[p];
    return xp ? ones : counts_.class_count[c] - ones;
  }

  // The same conditional over all classes together.
  double pooled_guess(std::size_t v, bool xv, std::size_t p, bool xp, const Counts::Cell& both) const {
    std::int64_t in_all = 0;
    for (std::size_t c = 0; c < counts_.classes; ++c) in_all += both[c];
    const std::int64_t condition = frequency(p, xp);
    return (static_cast<double>(cell(in_all, total_[v], condition, xv, xp)) + 0.5) / (static_cast<double>(condition) + 1);
  }

  double log_count(std::int64_t count, double q) const {
    const auto k = static_cast<std::size_t>(count);
    if (q == 0.5) return k < count_.size() ? count_[k] : std::log(static_cast<double>(count) + alpha_);
    return std::log(static_cast<double>(count) + 2 * alpha_ * q);
  }

  double log_condition(std::int64_t count) const {
    const auto k = static_cast<std::size_t>(count);
    return k < condition_.size() ? condition_[k] : std::log(static_cast<double>(count) + 2 * alpha_);
  }

  Counts counts_;
  double alpha_;
  bool pooled_;
  std::int64_t n_;
  std::vector<double> count_, condition_;  // log(k + alpha), log(k + 2 alpha)
  std::vector<std::int64_t> total_;        // ones over all classes
};

// Scores one tree after the other. The trees of different rows have most edges in common, so a feature's factors are
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
      const bool xv = words[v] >> lane & 1, xp = p != kRoot && (words[p] >> lane & 1);
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
      tables_.add_child(v, xv, static_cast<std::size_t>(p), xp, factor);
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
    const bool xv = words[v] >> lane & 1;
    if (parent[v] == kRoot) tables.add_root(v, xv, out);
    if (parent[v] >= 0) tables.add_child(v, xv, static_cast<std::size_t>(parent[v]), words[parent[v]] >> lane & 1, out);
  }
}

// As add_tree, for one tree and all rows: its tables are filled once, out[row][class] starts from the caller's values.
inline void add_shared_tree(const Tables& tables, const std::int32_t* parent, const Word* words, std::size_t rows,
                            double* out) {
  const std::size_t d = tables.features(), classes = tables.classes();
  std::vector<double> factor(d * 4 * classes, 0.0);  // [feature][2 x_p + x_v][class]
  for (std::size_t v = 0; v < d; ++v)
    for (std::size_t k = 0; k < 4; ++k) {
      double* cell = factor.data() + (4 * v + k) * classes;
      if (parent[v] >= 0)
        tables.add_child(v, k & 1, static_cast<std::size_t>(parent[v]), k & 2, cell);
      else if (parent[v] == kRoot)
        tables.add_root(v, k & 1, cell);
    }
  for (std::size_t first = 0; first < rows; first += kLanes) {
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
