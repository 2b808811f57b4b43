// From counts to log-probabilities: P(x_v | x_p, c) = (count + 2 alpha q) / (count of the condition + 2 alpha).
//
// The kinds of smoothing differ in the prior guess q. Only this file knows which kinds there are: a new one is
// a Kind, its name in kKinds, its guess in Smoothing::guess and Tables::child_guess, and what these look at in
// Smoothing::pools.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "counts/counts.hpp"

namespace hietan {

struct Smoothing {
  enum class Kind : std::uint8_t {
    laplace,  // one half
    pooled,   // the same conditional over all classes together
  };
  struct Name {
    const char* name;
    Kind kind;
  };
  static constexpr Name kKinds[] = {{"laplace", Kind::laplace}, {"pooled", Kind::pooled}};

  Kind kind;
  double alpha, row;  // the weight of the guess, and that of a row, in the units of the counts

  // Counts are in units of `unit` rows: 1, unless the rows have weights.
  Smoothing(const std::string& name, double weight, double unit = 1.0)
      : kind(kind_named(name)), alpha(weight / unit), row(1.0 / unit) {
    if (!std::isfinite(weight) || weight <= 0)
      throw std::invalid_argument("alpha must be a finite number above 0, got " + std::to_string(weight));
    for (const double value : {unit, row, alpha, 4 * alpha})
      if (!std::isfinite(value) || value <= 0)
        throw std::invalid_argument("alpha=" + std::to_string(weight) + " is out of range for counts in units of " +
                                    std::to_string(unit) + " rows");
  }

  // The prior guess, given how many rows of all classes meet the condition, and how many of them are hits.
  double guess(std::int64_t hits, std::int64_t condition) const {
    switch (kind) {
      case Kind::laplace:
        break;
      case Kind::pooled:  // a share of all rows, itself smoothed with half a row for either value
        return (static_cast<double>(hits) + 0.5 * row) / (static_cast<double>(condition) + row);
    }
    return kEven;
  }

  // Whether the guess for a class depends on the rows of all classes.
  bool pools() const {
    switch (kind) {
      case Kind::laplace:
        break;
      case Kind::pooled:
        return true;
    }
    return false;
  }

  static constexpr double kEven = 0.5;

 private:
  static Kind kind_named(const std::string& wanted) {
    std::string accepted;
    for (const Name& known : kKinds) {
      if (wanted == known.name) return known.kind;
      accepted += (accepted.empty() ? "'" : ", '") + std::string(known.name) + "'";
    }
    throw std::invalid_argument("smoothing must be one of (" + accepted + "), got '" + wanted + "'");
  }
};

class Tables {
 public:
  Tables(const Counts& counts, const Smoothing& smoothing)
      : counts_(counts), smoothing_(smoothing), n_(counts.rows()), total_(counts.d, 0) {
    // Counts are small integers, so most logarithms are looked up. (The values are the same either way.)
    const std::size_t size = index(std::min(counts.largest_class(), kMaxTable)) + 1;
    count_.resize(size);
    condition_.resize(size);
    for (std::size_t k = 0; k < size; ++k) {
      count_[k] = std::log(static_cast<double>(k) + smoothing.alpha);
      condition_[k] = std::log(static_cast<double>(k) + 2 * smoothing.alpha);
    }
    for (std::size_t c = 0; c < counts.classes; ++c)
      for (std::size_t v = 0; v < counts.d; ++v) total_[v] += counts.ones_of(c)[v];
  }

  std::size_t classes() const { return counts_.classes; }
  std::size_t features() const { return counts_.d; }
  const Counts& counts() const { return counts_; }

  // Training rows of all classes with x_v as given.
  std::int64_t frequency(std::size_t v, bool xv) const { return xv ? total_[v] : n_ - total_[v]; }

  bool pools() const { return smoothing_.pools(); }

  // What P(x_v | x_p, c) depends on besides the rows with both features, for v and for p.
  std::pair<std::int64_t, std::int64_t> profile(std::size_t v, std::size_t c) const {
    return {counts_.ones_of(c)[v], pools() ? total_[v] : 0};
  }

  // Whether P(x_v | x_p, c) differs from that of features of the same profiles that no row has both of.
  bool meet(const Counts::Cell& both, std::size_t c) const {
    bool any = both[c] != 0;
    if (pools())
      for (std::size_t k = 0; k < counts_.classes; ++k) any = any || both[k] != 0;
    return any;
  }

  // Whether there can be features of these profiles that do not meet: there are not more ones than rows.
  bool may_be_apart(std::size_t v, std::size_t p, std::size_t c) const {
    const std::int64_t ones = std::int64_t{counts_.ones_of(c)[v]} + counts_.ones_of(c)[p];
    return ones <= counts_.class_count[c] && (!pools() || total_[v] + total_[p] <= n_);
  }

  // ln P(x_v | c)
  double log_root(std::size_t v, bool xv, std::size_t c) const { return log_root(v, xv, c, root_guess(v, xv)); }

  // ln P(x_v | c) with the prior guess one half, whatever the smoothing: part of AODE's P(c, x_v).
  double log_even_root(std::size_t v, bool xv, std::size_t c) const { return log_root(v, xv, c, kEven); }

  // out[c] += ln P(x_v | c)
  void add_root(std::size_t v, bool xv, double* out) const {
    for (std::size_t c = 0; c < counts_.classes; ++c) out[c] += log_root(v, xv, c);
  }

  // out[c] += ln P(x_v | x_p, c)
  void add_child(std::size_t v, bool xv, std::size_t p, bool xp, double* out) const {
    const Counts::Cell both = counts_.cell(v, p);
    const double q = child_guess(v, xv, p, xp, both);
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
    // Each guess is computed from its own counts: 1 - q would lose the digits of a small one.
    out[1] = log_count(one, child_guess(v, true, p, xp, both)) - below;
    out[0] = log_count(condition - one, child_guess(v, false, p, xp, both)) - below;
  }

 private:
  static constexpr std::int64_t kMaxTable = 1 << 16;
  static constexpr double kEven = Smoothing::kEven, kLeast = std::numeric_limits<double>::min();

  // The guess of P(x_v | c).
  double root_guess(std::size_t v, bool xv) const { return smoothing_.guess(frequency(v, xv), n_); }

  // The guess of P(x_v | x_p, c), given the rows with both features.
  double child_guess(std::size_t v, bool xv, std::size_t p, bool xp, const Counts::Cell& both) const {
    switch (smoothing_.kind) {
      case Smoothing::Kind::laplace:
        break;
      case Smoothing::Kind::pooled: {
        std::int64_t in_all = 0;
        for (std::size_t c = 0; c < counts_.classes; ++c) in_all += both[c];
        const std::int64_t condition = frequency(p, xp);
        return smoothing_.guess(cell(in_all, total_[v], condition, xv, xp), condition);
      }
    }
    return kEven;
  }

  // Rows with x_v and x_p as given, from those with both at 1, those with v at 1, and those that meet the condition.
  static std::int64_t cell(std::int64_t both, std::int64_t ones_v, std::int64_t condition, bool xv, bool xp) {
    const std::int64_t one = xp ? both : ones_v - both;
    return xv ? one : condition - one;
  }

  std::int64_t condition_count(std::size_t p, bool xp, std::size_t c) const {
    const std::int64_t ones = counts_.ones_of(c)[p];
    return xp ? ones : counts_.class_count[c] - ones;
  }

  double log_root(std::size_t v, bool xv, std::size_t c, double q) const {
    const std::int64_t ones = counts_.ones_of(c)[v], all = counts_.class_count[c];
    return log_count(xv ? ones : all - ones, q) - log_condition(all);
  }

  double log_count(std::int64_t count, double q) const {
    if (q == kEven)
      return index(count) < count_.size() ? count_[index(count)]
                                          : std::log(static_cast<double>(count) + smoothing_.alpha);
    // Tiny weights times a tiny guess may be 0, whose logarithm has no difference from another.
    return std::log(std::max(static_cast<double>(count) + 2 * smoothing_.alpha * q, kLeast));
  }

  double log_condition(std::int64_t count) const {
    return index(count) < condition_.size() ? condition_[index(count)]
                                            : std::log(static_cast<double>(count) + 2 * smoothing_.alpha);
  }

  Counts counts_;
  Smoothing smoothing_;
  std::int64_t n_;
  std::vector<double> count_, condition_;  // log(k + alpha), log(k + 2 alpha)
  std::vector<std::int64_t> total_;        // ones over all classes
};

}  // namespace hietan
