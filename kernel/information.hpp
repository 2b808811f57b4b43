// Conditional mutual information as an integer key: the same bits on every machine, so ties are ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "counts.hpp"

namespace hietan {

// Counts of all classes; those of class c begin at c * d in `ones`. The pairs are kept in one of two ways: all of
// them, class c from c * pair_total(d) on; or, where `indptr` is given, those that occur, row i of the upper triangle
// holding rising `indices` and for each the counts of all classes side by side.
struct Counts {
  std::size_t classes, d;
  const std::int64_t* class_count;
  const std::int32_t* ones;
  const std::int32_t* pairs;
  const std::int64_t* indptr = nullptr;
  const std::int32_t* indices = nullptr;

  // How many rows of each class have both features of a pair.
  struct Cell {
    const std::int32_t* first;
    std::size_t stride;
    std::int64_t operator[](std::size_t c) const { return first[c * stride]; }
  };

  std::int64_t rows() const {
    std::int64_t n = 0;
    for (std::size_t c = 0; c < classes; ++c) n += class_count[c];
    return n;
  }
  bool sparse() const { return indptr != nullptr; }
  const std::int32_t* ones_of(std::size_t c) const { return ones + c * d; }
  const std::int32_t* pairs_of(std::size_t c) const { return pairs + c * pair_total(d); }

  Cell cell(std::size_t i, std::size_t j) const {
    if (!sparse()) return {pairs + pair_index(i, j, d), pair_total(d)};
    if (i > j) std::swap(i, j);
    const auto wanted = static_cast<std::int32_t>(j);
    const std::int32_t* end = indices + indptr[i + 1];
    const std::int32_t* at = std::lower_bound(indices + indptr[i], end, wanted);
    static constexpr std::int32_t kNever = 0;
    if (at == end || *at != wanted) return {&kNever, 0};
    return {pairs + static_cast<std::size_t>(at - indices) * classes, 1};
  }

  // out[(j * width + k) * classes + c] = rows of class c with both j and first + k, for all j.
  void gather(std::size_t first, std::size_t width, std::int32_t* out) const {
    std::fill(out, out + d * width * classes, 0);
    const std::size_t last = std::min(first + width, d);
    const auto put = [&](std::size_t i, std::size_t j, const Cell& both) {
      for (std::size_t c = 0; c < classes; ++c) {
        const auto n = static_cast<std::int32_t>(both[c]);
        if (j >= first && j < last) out[(i * width + j - first) * classes + c] = n;
        if (i >= first && i < last) out[(j * width + i - first) * classes + c] = n;
      }
    };
    if (!sparse()) {
      for (std::size_t c = 0; c < classes; ++c)
        for (std::size_t k = first; k < last; ++k) {
          std::int32_t* to = out + (k - first) * classes + c;
          const std::int32_t* pair = pairs_of(c);
          for (std::size_t j = 0; j < k; ++j) to[j * width * classes] = pair[row_start(j, d) + k - j - 1];
          const std::int32_t* row = pair + row_start(k, d);
          for (std::size_t j = k + 1; j < d; ++j) to[j * width * classes] = row[j - k - 1];
        }
      return;
    }
    for (std::size_t i = 0; i < last; ++i) {
      const std::int32_t* end = indices + indptr[i + 1];
      const std::int32_t* at = std::lower_bound(indices + indptr[i], end, static_cast<std::int32_t>(first));
      for (; at != end && (i >= first || *at < static_cast<std::int32_t>(last)); ++at)
        put(i, static_cast<std::size_t>(*at), {pairs + static_cast<std::size_t>(at - indices) * classes, 1});
    }
  }
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

// What the conditional mutual information of a pair is made of. The order of every addition is part of its definition.
class Information {
 public:
  explicit Information(const Counts& counts)
      : counts_(counts), n_(static_cast<double>(counts.rows())), margin_(counts.classes * counts.d) {
    const std::size_t classes = counts.classes, d = counts.d;
    table_ = k_log_k_table(*std::max_element(counts.class_count, counts.class_count + classes));
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t v = 0; v < d; ++v) {
        const std::int64_t one = counts.ones_of(c)[v];
        margin_[c * d + v] = table_[static_cast<std::size_t>(one)] +
                             table_[static_cast<std::size_t>(counts.class_count[c] - one)];
      }
  }

  // Class c and the pairs of one feature i: what is the same for all of them.
  struct Row {
    const double* L;
    std::int64_t ni, rest;
    double mine, all;

    // S_c of a feature with `nj` ones and L[n.1] + L[n.0] = `other`, `n11` of the ones together with i.
    double term(std::int64_t n11, std::int64_t nj, double other) const {
      const std::int64_t n01 = nj - n11;
      const double joint = (L[n11] + L[rest - n01]) + (L[ni - n11] + L[n01]) + all;
      return joint - (mine + other);
    }
  };
  Row row(std::size_t i, std::size_t c) const {
    const std::int64_t ni = counts_.ones_of(c)[i], n = counts_.class_count[c];
    return {table_.data(), ni, n - ni, margin_[c * counts_.d + i], table_[static_cast<std::size_t>(n)]};
  }
  double margin(std::size_t v, std::size_t c) const { return margin_[c * counts_.d + v]; }

  // rint(1e12 CMI) of the sum of the classes' terms, from the first class on
  std::int64_t key(double sum) const { return information_key(sum / n_); }

 private:
  Counts counts_;
  double n_;
  std::vector<double> table_, margin_;  // L[n1.] + L[n0.]
};

// keys[pair] of all pairs, from counts of all pairs.
inline void cmi_keys(const Counts& counts, std::int64_t* keys) {
  const std::size_t d = counts.d;
  const Information information(counts);
  std::vector<double> sum(d);
  for (std::size_t i = 0; i + 1 < d; ++i) {
    const std::size_t start = row_start(i, d), length = d - i - 1;
    std::fill(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(length), 0.0);
    for (std::size_t c = 0; c < counts.classes; ++c) {
      const std::int32_t* pair = counts.pairs_of(c) + start;
      const std::int32_t* one = counts.ones_of(c) + i + 1;
      const Information::Row row = information.row(i, c);
      for (std::size_t k = 0; k < length; ++k) sum[k] += row.term(pair[k], one[k], information.margin(i + 1 + k, c));
    }
    for (std::size_t k = 0; k < length; ++k) keys[start + k] = information.key(sum[k]);
  }
}

// The key of a single pair, by the same additions.
inline std::int64_t cmi_key(const Counts& counts, std::size_t i, std::size_t j) {
  const Counts::Cell both = counts.cell(i, j);
  double sum = 0.0;
  for (std::size_t c = 0; c < counts.classes; ++c) {
    const std::int64_t all = counts.class_count[c], ni = counts.ones_of(c)[i], nj = counts.ones_of(c)[j], n11 = both[c];
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
