// From counts to log-probabilities, by one of three kinds of smoothing.
//
// laplace and pooled: P(x_v | x_p, c) = (count + 2 alpha q) / (count of the condition + 2 alpha), with a prior guess q.
// odds: the log-odds have a normal prior of precision alpha around the pooled ones.
//
// Only this file knows which kinds there are: a new one is a Kind, its name in kKinds, and its case in
// Smoothing::log_share and Smoothing::pools.
#pragma once

#include <algorithm>
#include <array>
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
    laplace,  // the guess is one half
    pooled,   // the guess is the same conditional over all classes together
    odds,     // log-odds near the log-odds of all classes together
  };
  struct Name {
    const char* name;
    Kind kind;
  };
  static constexpr Name kKinds[] = {{"laplace", Kind::laplace}, {"pooled", Kind::pooled}, {"odds", Kind::odds}};

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

  // Whether the probabilities of a class depend on the rows of all classes.
  bool pools() const { return kind != Kind::laplace; }

  // The number added to the count of each value in AODE's P(c, x_v), which does not depend on other classes.
  double pseudo_count() const { return kind == Kind::odds ? row : alpha; }

  // The prior guess, given how many rows of all classes meet the condition, and how many of them are hits.
  double guess(std::int64_t hits, std::int64_t condition) const {
    if (!pools()) return kEven;
    // A share of all rows, itself smoothed with half a row for either value.
    return (static_cast<double>(hits) + 0.5 * row) / (static_cast<double>(condition) + row);
  }

  // ln P(hit) in a class, given how many of its rows meet the condition, how many of those are hits, and both for all
  // classes together. Each value has its own counts: 1 - P and 1 - q would lose the digits of small numbers.
  double log_share(std::int64_t hits, std::int64_t condition, std::int64_t all_hits, std::int64_t all_condition) const {
    if (kind == Kind::odds) return log_expit(log_odds(hits, condition - hits, all_hits, all_condition - all_hits));
    return log_weight(hits, guess(all_hits, all_condition)) - std::log(static_cast<double>(condition) + 2 * alpha);
  }

  // ln(hits + 2 alpha q). Tiny weights times a tiny guess may be 0, whose logarithm has no difference from another.
  double log_weight(std::int64_t hits, double q) const {
    return std::log(std::max(static_cast<double>(hits) + 2 * alpha * q, kLeast));
  }

  // The log-odds of a hit by odds smoothing: the root of hits s(-b) - misses s(b) - alpha (b - prior), with s the
  // logistic function and the log-odds of all classes together as prior. It falls in b, so there is one root.
  // Exchanging hits and misses changes the sign of the result and no bit of it.
  double log_odds(std::int64_t hits, std::int64_t misses, std::int64_t all_hits, std::int64_t all_misses) const {
    const Root root = {
        static_cast<double>(hits), static_cast<double>(misses),
        std::log(static_cast<double>(all_hits) + 0.5 * row) - std::log(static_cast<double>(all_misses) + 0.5 * row),
        alpha};
    double b = root.prior;
    for (int step = 0; step < kSteps; ++step) {
      const Root::Slope here = root.slope(b);
      const double change = std::clamp(here.value / here.fall, -kLongest, kLongest);
      b += change;
      if (!(std::abs(change) > kExact)) return b;  // also for counts that cannot be, whose result nobody reads
    }
    return root.bisected();
  }

  // ln s(b)
  static double log_expit(double b) { return std::min(b, 0.0) - std::log1p(std::exp(-std::abs(b))); }

  static constexpr double kEven = 0.5;

 private:
  static constexpr double kLeast = std::numeric_limits<double>::min();
  static constexpr double kExact = 1e-12, kLongest = 2.0, kFarthest = 2000.0;
  static constexpr int kSteps = 60;

  struct Root {
    double hits, misses, prior, alpha;

    struct Slope {
      double value, fall;
    };

    Slope slope(double b) const {
      const double small = std::exp(-std::abs(b)), large = 1.0 / (1.0 + small);  // s(|b|); s(-|b|) is small * large
      const double up = b < 0 ? small * large : large, down = b < 0 ? large : small * large;
      return {hits * down - misses * up - alpha * (b - prior), (hits + misses) * up * down + alpha};
    }

    // Only for extreme weights: the steps of Newton's method are enough for any data.
    double bisected() const {
      double low = prior - std::min(misses / alpha, kFarthest), high = prior + std::min(hits / alpha, kFarthest);
      double middle = low + (high - low) / 2;
      while (low < middle && middle < high) {
        (slope(middle).value > 0 ? low : high) = middle;
        middle = low + (high - low) / 2;
      }
      return middle;
    }
  };

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
      count_[k] = std::log(static_cast<double>(k) + smoothing.pseudo_count());
      condition_[k] = std::log(static_cast<double>(k) + 2 * smoothing.pseudo_count());
    }
    for (std::size_t c = 0; c < counts.classes; ++c)
      for (std::size_t v = 0; v < counts.d; ++v) total_[v] += counts.ones_of(c)[v];
    if (smoothing.kind == Smoothing::Kind::odds) known_.resize(std::size_t{1} << kKnownBits, Known{});
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
  double log_root(std::size_t v, bool xv, std::size_t c) const {
    const std::int64_t ones = counts_.ones_of(c)[v], all = counts_.class_count[c];
    return log_share(xv ? ones : all - ones, all, frequency(v, xv), n_);
  }

  // ln of the part P(x_v | c) of AODE's P(c, x_v), which has a pseudo-count whatever the smoothing.
  double log_even_root(std::size_t v, bool xv, std::size_t c) const {
    const std::int64_t ones = counts_.ones_of(c)[v], all = counts_.class_count[c];
    return log_count(xv ? ones : all - ones) - log_condition(all);
  }

  // out[c] += ln P(x_v | c)
  void add_root(std::size_t v, bool xv, double* out) const {
    for (std::size_t c = 0; c < counts_.classes; ++c) out[c] += log_root(v, xv, c);
  }

  // out[c] += ln P(x_v | x_p, c)
  void add_child(std::size_t v, bool xv, std::size_t p, bool xp, double* out) const {
    const Counts::Cell both = counts_.cell(v, p);
    const Shared all = of_all(v, p, xp, both);
    for (std::size_t c = 0; c < counts_.classes; ++c) {
      const std::int64_t condition = condition_count(p, xp, c);
      const std::int64_t one = ones_under(both[c], counts_.ones_of(c)[v], xp);
      out[c] += xv ? log_share(one, condition, all.ones, all.condition)
                   : log_share(condition - one, condition, all.condition - all.ones, all.condition);
    }
  }

  // out[x_v] = ln P(x_v | x_p, c) for both values of v, given the rows with both features
  void log_child(std::size_t v, std::size_t p, const Counts::Cell& both, bool xp, std::size_t c, double* out) const {
    const std::int64_t condition = condition_count(p, xp, c);
    const std::int64_t one = ones_under(both[c], counts_.ones_of(c)[v], xp);
    const Shared all = of_all(v, p, xp, both);
    out[1] = log_share(one, condition, all.ones, all.condition);
    out[0] = log_share(condition - one, condition, all.condition - all.ones, all.condition);
  }

 private:
  static constexpr std::int64_t kMaxTable = 1 << 16;

  // The rows of all classes that meet a condition, and how many have the feature; 0 if they do not matter.
  struct Shared {
    std::int64_t ones, condition;
  };

  Shared of_all(std::size_t v, std::size_t p, bool xp, const Counts::Cell& both) const {
    if (!pools()) return {0, 0};
    std::int64_t in_all = 0;
    for (std::size_t c = 0; c < counts_.classes; ++c) in_all += both[c];
    return {ones_under(in_all, total_[v], xp), frequency(p, xp)};
  }

  // Rows with v at 1 and x_p as given, from those with both at 1 and those with v at 1.
  static std::int64_t ones_under(std::int64_t both, std::int64_t ones_v, bool xp) { return xp ? both : ones_v - both; }

  std::int64_t condition_count(std::size_t p, bool xp, std::size_t c) const {
    const std::int64_t ones = counts_.ones_of(c)[p];
    return xp ? ones : counts_.class_count[c] - ones;
  }

  // As Smoothing::log_share, with logarithms looked up.
  double log_share(std::int64_t hits, std::int64_t condition, std::int64_t all_hits, std::int64_t all_condition) const {
    if (smoothing_.kind == Smoothing::Kind::odds)
      return known_root({hits, condition - hits, all_hits, all_condition - all_hits});
    const double q = smoothing_.guess(all_hits, all_condition);
    const double above = q == Smoothing::kEven ? log_count(hits) : smoothing_.log_weight(hits, q);
    return above - log_condition(condition);
  }

  // The same counts occur again and again, in both values of a feature and in many pairs of features.
  double known_root(const std::array<std::int64_t, 4>& counts) const {
    const auto [hits, misses, all_hits, all_misses] = counts;
    const bool turned = std::make_pair(hits, all_hits) > std::make_pair(misses, all_misses);
    const std::array<std::int64_t, 4> key = {turned ? misses : hits, turned ? hits : misses,
                                             turned ? all_misses : all_hits, turned ? all_hits : all_misses};
    std::uint64_t mixed = 0;
    for (const std::int64_t count : key) mixed = (mixed + static_cast<std::uint64_t>(count)) * 0x9E3779B97F4A7C15u;
    Known& known = known_[mixed >> (64 - kKnownBits)];
    if (known.key != key) {
      const double b = smoothing_.log_odds(key[0], key[1], key[2], key[3]);
      known = {key, Smoothing::log_expit(b), Smoothing::log_expit(-b)};
    }
    return turned ? known.log_miss : known.log_hit;
  }

  double log_count(std::int64_t count) const {
    return index(count) < count_.size() ? count_[index(count)]
                                        : std::log(static_cast<double>(count) + smoothing_.pseudo_count());
  }

  double log_condition(std::int64_t count) const {
    return index(count) < condition_.size() ? condition_[index(count)]
                                            : std::log(static_cast<double>(count) + 2 * smoothing_.pseudo_count());
  }

  // Roots by their counts. Those of no counts at all, which a new entry has, are even.
  static constexpr int kKnownBits = 13;
  struct Known {
    std::array<std::int64_t, 4> key{};
    double log_hit = std::log(Smoothing::kEven), log_miss = log_hit;
  };

  Counts counts_;
  Smoothing smoothing_;
  std::int64_t n_;
  std::vector<double> count_, condition_;  // of k + alpha and of k + 2 alpha
  std::vector<std::int64_t> total_;        // ones over all classes
  mutable std::vector<Known> known_;       // only for odds; no two threads share tables
};

}  // namespace hietan
