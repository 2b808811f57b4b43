// Conditional mutual information as an integer key: the same bits on every machine, so that ties stay ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "counts/consistency.hpp"
#include "counts/counts.hpp"
#include "interruption.hpp"

namespace hietan {

inline double k_log_k(std::int64_t k) { return k ? static_cast<double>(k) * std::log(static_cast<double>(k)) : 0.0; }

inline std::int64_t information_key(double information) {
  return static_cast<std::int64_t>(std::rint(information * 1e12));
}

// L[k] = k log k, looked up in a table or, where counts are too large for one, computed: the values are the same.
struct TabledLogs {
  const double* table;
  double operator[](std::int64_t k) const { return table[k]; }
};
struct ComputedLogs {
  double operator[](std::int64_t k) const { return k_log_k(k); }
};
constexpr std::int64_t kLargestTabled = (1 << 22) - 1;  // 32 MB; weights of rows can make counts far larger

inline std::vector<double> k_log_k_table(std::int64_t max) {
  if (max > kLargestTabled) return {};
  std::vector<double> table(index(max) + 1);
  for (std::int64_t k = 0; k <= max; ++k) table[index(k)] = k_log_k(k);
  return table;
}

// The terms of the conditional mutual information of a pair. The order of every addition is part of its definition.
class Information {
 public:
  explicit Information(const Counts& counts)
      : counts_(counts), n_(static_cast<double>(counts.rows())), margin_(counts.classes * counts.d) {
    const std::size_t classes = counts.classes, d = counts.d;
    table_ = k_log_k_table(counts.largest_class());
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t v = 0; v < d; ++v) {
        const std::int64_t one = counts.ones_of(c)[v];
        margin_[c * d + v] = k_log_k(one) + k_log_k(counts.class_count[c] - one);
      }
  }

  // Calls f(L) with the logarithms that these counts need.
  template <typename F>
  void with_logs(F&& f) const {
    if (table_.empty())
      f(ComputedLogs{});
    else
      f(TabledLogs{table_.data()});
  }

  // What all pairs of feature i share in class c.
  template <typename Logs>
  struct Row {
    Logs L;
    std::int64_t ni, rest;
    double mine, all;

    // S_c of a feature with `nj` ones and L[n.1] + L[n.0] = `other`, `n11` of the ones together with i.
    double term(std::int64_t n11, std::int64_t nj, double other) const {
      const std::int64_t n01 = nj - n11;
      const double joint = (L[n11] + L[rest - n01]) + (L[ni - n11] + L[n01]) + all;
      return joint - (mine + other);
    }
  };
  template <typename Logs>
  Row<Logs> row(const Logs& logs, std::size_t i, std::size_t c) const {
    const std::int64_t ni = counts_.ones_of(c)[i], n = counts_.class_count[c];
    return {logs, ni, n - ni, margin_[c * counts_.d + i], logs[n]};
  }
  double margin(std::size_t v, std::size_t c) const { return margin_[c * counts_.d + v]; }

  // rint(1e12 CMI) of the sum of the classes' terms, from the first class on
  std::int64_t key(double sum) const { return information_key(sum / n_); }

 private:
  Counts counts_;
  double n_;
  std::vector<double> table_, margin_;  // L[n1.] + L[n0.]
};

namespace detail {

template <typename Logs>
void cmi_keys(const Counts& counts, const Information& information, const Logs& logs, std::int64_t* keys) {
  const std::size_t d = counts.d;
  std::vector<double> sum(d);
  std::vector<std::int32_t> pair(d);
  Checkpoint checkpoint;
  for (std::size_t i = 0; i + 1 < d; ++i) {
    const std::size_t start = row_start(i, d), length = d - i - 1;
    checkpoint.pass(length * counts.classes);
    std::fill(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(length), 0.0);
    for (std::size_t c = 0; c < counts.classes; ++c) {
      std::copy_n(counts.pairs_of(c) + start, length, pair.data());
      const std::int32_t* one = counts.ones_of(c) + i + 1;
      const auto row = information.row(logs, i, c);
      if (!possible_pairs(pair.data(), static_cast<std::int32_t>(row.ni), one, static_cast<std::int32_t>(row.rest),
                          length)) {
        require_possible_row(counts, i);
        throw std::invalid_argument("pairs were changed while they were read");
      }
      for (std::size_t k = 0; k < length; ++k) sum[k] += row.term(pair[k], one[k], information.margin(i + 1 + k, c));
    }
    for (std::size_t k = 0; k < length; ++k) keys[start + k] = information.key(sum[k]);
  }
}

}  // namespace detail

// keys[pair] of all pairs, from counts of all pairs. The margins must be possible (see counts/consistency.hpp). The
// pairs may be shared with somebody who writes to them, and lead to places in a table: what is read is a copy of each
// row that was checked.
inline void cmi_keys(const Counts& counts, std::int64_t* keys) {
  const Information information(counts);
  information.with_logs([&](const auto& logs) { detail::cmi_keys(counts, information, logs, keys); });
}

// The key of a single pair, by the same additions.
inline std::int64_t cmi_key(const Counts& counts, std::size_t i, std::size_t j) {
  const Counts::Cell both = counts.cell(i, j);
  double sum = 0.0;
  for (std::size_t c = 0; c < counts.classes; ++c) {
    const std::int64_t all = counts.class_count[c], n11 = both[c];
    const std::int64_t ni = counts.ones_of(c)[i], nj = counts.ones_of(c)[j];
    const double joint =
        (k_log_k(n11) + k_log_k(all - ni - nj + n11)) + (k_log_k(ni - n11) + k_log_k(nj - n11)) + k_log_k(all);
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
    const double information =
        (cells + k_log_k(n) - (k_log_k(n - ones) + k_log_k(ones)) - class_sum) / static_cast<double>(n);
    const std::int64_t key = information_key(information);
    if (v == 0 || key > best_key) {
      best = v;
      best_key = key;
    }
  }
  return best;
}

}  // namespace hietan
