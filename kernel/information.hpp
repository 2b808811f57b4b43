// Conditional mutual information as an integer key: the same bits on every machine, so ties are ties.
#pragma once

#include <cmath>
#include <vector>

#include "counts.hpp"

namespace hietan {

// Counts of all classes. Class c begins at c * d in `ones` and at c * pair_total(d) in `pairs`.
struct Counts {
  std::size_t classes, d;
  const std::int64_t* class_count;
  const std::int32_t* ones;
  const std::int32_t* pairs;

  std::int64_t rows() const {
    std::int64_t n = 0;
    for (std::size_t c = 0; c < classes; ++c) n += class_count[c];
    return n;
  }
  const std::int32_t* ones_of(std::size_t c) const { return ones + c * d; }
  const std::int32_t* pairs_of(std::size_t c) const { return pairs + c * pair_total(d); }
};

inline double k_log_k(std::int64_t k) { return k ? static_cast<double>(k) * std::log(static_cast<double>(k)) : 0.0; }

inline std::int64_t information_key(double information) {
  return static_cast<std::int64_t>(std::rint(information * 1e12));
}

// L[k] = k log k for k = 0..max
inline std::vector<double> k_log_k_table(std::int64_t max) {
  std::vector<double> table(static_cast<std::size_t>(max) + 1);
  for (std::int64_t k = 0; k <= max; ++k) table[static_cast<std::size_t>(k)] = k_log_k(k);
  return table;
}

// keys[pair] = rint(1e12 CMI). The order of every addition is part of the definition.
inline void cmi_keys(const Counts& counts, std::int64_t* keys) {
  const std::size_t d = counts.d, classes = counts.classes;
  std::int64_t largest = 0;
  for (std::size_t c = 0; c < classes; ++c)
    if (counts.class_count[c] > largest) largest = counts.class_count[c];
  const std::vector<double> table = k_log_k_table(largest);
  const double* L = table.data();
  const double n = static_cast<double>(counts.rows());

  std::vector<double> margin(classes * d);  // L[n1.] + L[n0.]
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t v = 0; v < d; ++v) {
      const std::int64_t one = counts.ones_of(c)[v];
      margin[c * d + v] = L[one] + L[counts.class_count[c] - one];
    }

  std::vector<double> sum(d);
  for (std::size_t i = 0; i + 1 < d; ++i) {
    const std::size_t start = row_start(i, d), length = d - i - 1;
    std::fill(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(length), 0.0);
    for (std::size_t c = 0; c < classes; ++c) {
      const std::int32_t* pair = counts.pairs_of(c) + start;
      const std::int32_t* one = counts.ones_of(c) + i + 1;
      const double* other = margin.data() + c * d + i + 1;
      const std::int64_t ni = counts.ones_of(c)[i], rest = counts.class_count[c] - ni;
      const double mine = margin[c * d + i], all = L[counts.class_count[c]];
      for (std::size_t k = 0; k < length; ++k) {
        const std::int64_t n11 = pair[k], n01 = one[k] - n11;
        const double joint = (L[n11] + L[rest - n01]) + (L[ni - n11] + L[n01]) + all;
        sum[k] += joint - (mine + other[k]);
      }
    }
    for (std::size_t k = 0; k < length; ++k) keys[start + k] = information_key(sum[k] / n);
  }
}

// The key of a single pair, by the same additions.
inline std::int64_t cmi_key(const Counts& counts, std::size_t i, std::size_t j) {
  double sum = 0.0;
  for (std::size_t c = 0; c < counts.classes; ++c) {
    const std::int64_t all = counts.class_count[c], ni = counts.ones_of(c)[i], nj = counts.ones_of(c)[j];
    const std::int64_t n11 = counts.pairs_of(c)[pair_index(i, j, counts.d)];
    const double joint = (k_log_k(n11) + k_log_k(all - ni - nj + n11)) + (k_log_k(ni - n11) + k_log_k(nj - n11)) +
                         k_log_k(all);
    sum += joint - ((k_log_k(ni) + k_log_k(all - ni)) + (k_log_k(nj) + k_log_k(all - nj)));
  }
  return information_key(sum / static_cast<double>(counts.rows()));
}

// The feature with the highest mutual information with the class, ties to the smaller index.
inline std::size_t most_informative(const Counts& counts) {
  const std::int64_t n = counts.rows();
  double class_sum = 0.0;
  for (std::size_t c = 0; c < counts.classes; ++c) class_sum += k_log_k(counts.class_count[c]);
  std::size_t best = 0;
  std::int64_t best_key = 0;
  for (std::size_t v = 0; v < counts.d; ++v) {
    double cells = 0.0;
    std::int64_t ones = 0;
    for (std::size_t c = 0; c < counts.classes; ++c) {
      const std::int64_t one = counts.ones_of(c)[v];
      cells += k_log_k(counts.class_count[c] - one) + k_log_k(one);
      ones += one;
    }
    const double information = (cells + k_log_k(n) - (k_log_k(n - ones) + k_log_k(ones)) - class_sum) /
                               static_cast<double>(n);
    const std::int64_t key = information_key(information);
    if (v == 0 || key > best_key) {
      best = v;
      best_key = key;
    }
  }
  return best;
}

}  // namespace hietan
