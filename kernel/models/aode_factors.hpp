// What each feature adds to averaged one-dependence estimators: the parts of their joint log-probabilities.
//
// With q_i the share of estimator i in the sum of all p_i, ln sum_i p_i = sum_i q_i ln p_i + H(q). Feature j adds
// sum_i q_i ln P(x_j | x_i, c): for a block of estimators, the product of the shares of some rows and a table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "memory.hpp"
#include "models/aode.hpp"

namespace hietan {

namespace detail {

// Turns the values ln p_i of d estimators into their shares in the sum of p_i, and returns the entropy of these. The
// smallest, which have less than 2^-45 of the sum together, are left out: their shares are 0.
inline double shares_of(double* values, std::size_t d) {
  const double largest = *std::max_element(values, values + d);
  const double least = std::log(1.0 / (std::int64_t{1} << 45) / static_cast<double>(d));
  double sum = 0.0, weighted = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    const double log = values[i] - largest;
    values[i] = log > least ? std::exp(log) : 0.0;
    if (values[i] > 0.0) weighted += values[i] * log;
    sum += values[i];
  }
  for (std::size_t i = 0; i < d; ++i) values[i] /= sum;
  return std::log(sum) - weighted / sum;
}

constexpr std::size_t kTile = 64;  // rows whose shares stay in the nearest cache
constexpr std::size_t kFew = 4;    // estimators of a block: so many are added one by one

// The shares of the estimators of a block in some rows, and where the factors of these rows are.
struct ShareTile {
  std::size_t n = 0;
  std::size_t rows[kTile] = {};
  double* factors[kTile] = {};
  double shares[kTile][kBlock] = {};
};

// The sum of shares times logs, in an order that allows several additions at a time.
inline double product_sum(const double* shares, const double* logs) {
  double sums[8] = {};
  for (std::size_t k = 0; k < kBlock; k += 8)
    for (std::size_t s = 0; s < 8; ++s) sums[s] += shares[k + s] * logs[k + s];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

// Adds what all features add where they are 0, then what those that are 1 add beyond that. A few rows times a group of
// features stay in registers.
HIETAN_VECTOR_CLONES
inline void add_tile(const ShareTile& tile, const double* zero, const double* difference, std::size_t d,
                     const Ones& ones) {
  constexpr std::size_t kRows = 4;
  for (std::size_t j = 0; j < d; j += kGroup, zero += kBlock * kGroup)
    for (std::size_t first = 0; first < tile.n; first += kRows) {
      double sums[kRows][kGroup] = {};
      for (std::size_t k = 0; k < kBlock; ++k)
        for (std::size_t r = 0; r < kRows; ++r)
          for (std::size_t s = 0; s < kGroup; ++s) sums[r][s] += tile.shares[first + r][k] * zero[k * kGroup + s];
      for (std::size_t r = 0; r < std::min(kRows, tile.n - first); ++r)
        for (std::size_t s = 0; s < std::min(kGroup, d - j); ++s) tile.factors[first + r][j + s] += sums[r][s];
    }
  for (std::size_t r = 0; r < tile.n; ++r)
    for (const std::int32_t j : ones[tile.rows[r]])
      tile.factors[r][j] += product_sum(tile.shares[r], difference + index(j) * kBlock);
}

// The same for one row in which few estimators have a share.
inline void add_few(const double* shares, const double* zero, const double* difference, std::size_t d,
                    const std::vector<std::int32_t>& ones, double* factors) {
  for (std::size_t k = 0; k < kBlock; ++k) {
    if (shares[k] == 0.0) continue;
    for (std::size_t j = 0; j < d; ++j) factors[j] += shares[k] * zero[(j / kGroup * kBlock + k) * kGroup + j % kGroup];
    for (const std::int32_t j : ones) factors[j] += shares[k] * difference[index(j) * kBlock + k];
  }
}

}  // namespace detail

// The parts of the joint log-probability of some rows: out[row][class][feature] are the factors of ln p_i weighted by
// the shares q, averaging[row][class] is H(q) less the log of the number of estimators, and the rest is `log_prior`.
// averaged[row] is whether any estimator qualifies; where none does, the factors are naive Bayes's.
inline void aode_factors(const Tables& tables, const Relations& relations, Ancestors ancestors,
                         std::int64_t min_frequency, const Word* words, std::size_t rows, const double* log_prior,
                         double* out, double* averaging, bool* averaged) {
  const std::size_t d = tables.features(), classes = tables.classes();
  const detail::Ones ones = detail::features_at_one(words, rows, d);
  Checkpoint checkpoint;
  PlainVector<double> shares(rows * d);
  for (std::size_t c = 0; c < classes; ++c) {
    std::vector<std::size_t> estimators(rows, 0);
    std::fill(shares.begin(), shares.end(), -std::numeric_limits<double>::infinity());
    for (detail::EstimatorBlock block(tables, relations, ancestors, min_frequency, c, c + 1); block.next();) {
      checkpoint.pass(d * detail::kBlock);
      block.fill(c, log_prior[c]);
      for (std::size_t row = 0; row < rows; ++row) {
        checkpoint.pass(ones[row].size());
        double* values = shares.data() + row * d;
        estimators[row] += block.evaluate(ones[row], [&](std::size_t i, double value) { values[i] = value; });
      }
    }
    for (std::size_t row = 0; row < rows; ++row) {
      averaged[row] = estimators[row] > 0;
      double *own = shares.data() + row * d, *factors = out + (row * classes + c) * d;
      std::fill(factors, factors + d, 0.0);
      averaging[row * classes + c] = 0.0;
      if (averaged[row]) {
        averaging[row * classes + c] = detail::shares_of(own, d) - std::log(static_cast<double>(estimators[row]));
        continue;
      }
      std::fill(own, own + d, 0.0);
      for (std::size_t v = 0; v < d; ++v) factors[v] = tables.log_root(v, false, c);
      for (const std::int32_t v : ones[row]) factors[v] = tables.log_root(index(v), true, c);
    }
    detail::EstimatorBlock block(tables, relations, ancestors, min_frequency, c, c + 1);
    while (block.next()) {
      checkpoint.pass(d * detail::kBlock);
      block.fill(c, 0.0, true);
      for (const bool a : {false, true}) {
        detail::ShareTile tile;
        const auto add = [&] {
          checkpoint.pass(d * detail::kBlock * tile.n / 8);
          detail::add_tile(tile, block.zero(a), block.difference(a), d, ones);
          tile.n = 0;
        };
        for (std::size_t row = 0; row < rows; ++row) {
          double* factors = out + (row * classes + c) * d;
          double* own = tile.shares[tile.n];
          const std::size_t n = block.shares_at(a, ones[row], shares.data() + row * d, own);
          for (std::size_t k = 0; n > 0 && k < block.width(); ++k)
            factors[block.first() + k] += own[k] * tables.log_even_root(block.first() + k, a, c);
          if (n <= detail::kFew) {
            if (n > 0) detail::add_few(own, block.zero(a), block.difference(a), d, ones[row], factors);
            checkpoint.pass(d * n);
            continue;
          }
          tile.rows[tile.n] = row;
          tile.factors[tile.n] = factors;
          if (++tile.n == detail::kTile) add();
        }
        add();
      }
    }
  }
}

}  // namespace hietan
