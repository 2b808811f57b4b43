// Averaged one-dependence estimators, all rows at once: for each feature i a naive Bayes whose features also depend
// on x_i. With ln P(x_j | c, x_i = a) in tables, the sum over j is that of the zeros plus, for every j at 1, the
// difference that the 1 makes; estimators are handled in blocks, so no table of all pairs is ever held.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "relations.hpp"
#include "scores.hpp"

namespace hietan {

// What an estimator does with the ancestors of its feature.
enum class Ancestors { depend, naive, absent };

namespace detail {

constexpr std::size_t kBlock = 32;  // estimators handled together; the best of 16, 32, 64 and 128 where measured

// sum[k] += table[k] of one block
HIETAN_VECTOR_CLONES
inline void add_rows(const double* table, const std::int32_t* ones, std::size_t n, double* sum) {
  for (std::size_t e = 0; e < n; ++e) {
    const double* row = table + static_cast<std::size_t>(ones[e]) * kBlock;
    for (std::size_t k = 0; k < kBlock; ++k) sum[k] += row[k];
  }
}

// A sum of exponentials that is added to term by term and never overflows.
struct LogSum {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;

  void add(double term) {
    if (term > largest) {
      sum = sum * std::exp(largest - term) + 1.0;
      largest = term;
    } else if (term > largest - 60.0) {  // e^-60 of a sum of at least 1 is far below its last bit
      sum += std::exp(term - largest);
    }
  }
  double value() const { return largest + std::log(sum); }
};

// The tables of one block of estimators and one class.
struct BlockTables {
  std::vector<double> difference[2];  // [a][j][k]: what x_j = 1 instead of 0 adds where x_i = a, i the k-th of the block
  std::vector<double> base[2];        // [a][k]: the estimator's value where all other features are 0
  explicit BlockTables(std::size_t d) {
    for (int a = 0; a < 2; ++a) {
      difference[a].resize(d * kBlock);
      base[a].resize(kBlock);
    }
  }
};

enum class Role : std::uint8_t { child, itself, naive, absent };

inline void fill_block(const Tables& tables, std::size_t c, std::size_t first, std::size_t width, double log_prior,
                       const std::vector<Role>& roles, const std::vector<std::int32_t>& pairs, BlockTables& out) {
  const std::size_t d = tables.features(), classes = tables.classes();
  for (std::size_t k = 0; k < width; ++k)
    for (int a = 0; a < 2; ++a) out.base[a][k] = log_prior + tables.log_root(first + k, a, c, /*pooled=*/false);
  for (std::size_t j = 0; j < d; ++j) {
    double naive[2] = {0.0, 0.0};
    for (int x = 0; x < 2; ++x) naive[x] = tables.log_root(j, x, c, tables.pooled());
    for (std::size_t k = 0; k < width; ++k) {
      const Role role = roles[j * kBlock + k];
      const Counts::Cell both{pairs.data() + (j * kBlock + k) * classes, 1};
      for (int a = 0; a < 2; ++a) {
        double log[2] = {0.0, 0.0};
        if (role == Role::child) tables.log_child(j, first + k, both, a, c, log);
        if (role == Role::naive) log[0] = naive[0], log[1] = naive[1];
        out.base[a][k] += log[0];
        out.difference[a][j * kBlock + k] = log[1] - log[0];
      }
    }
  }
}

}  // namespace detail

// out[row][class] = ln of the mean over the estimators that qualify: those of features whose value in the row occurs
// at least `min_frequency` times in the training rows. Where none does: naive Bayes over all features.
// `log_prior` is that of the estimators, ln P(c) such that P(c) P(x_i | c) is their P(c, x_i).
inline void aode(const Tables& tables, const Relations& relations, Ancestors ancestors, std::int64_t min_frequency,
                 const Word* words, std::size_t rows, const double* log_prior, const double* naive_log_prior,
                 double* out) {
  using namespace detail;
  const std::size_t d = tables.features(), classes = tables.classes();

  std::vector<std::vector<std::int32_t>> ones(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const Word* batch = words + row / kLanes * d;
    for (std::size_t v = 0; v < d; ++v)
      if (batch[v] >> (row % kLanes) & 1) ones[row].push_back(static_cast<std::int32_t>(v));
  }

  std::vector<LogSum> sums(rows * classes);
  std::vector<std::size_t> estimators(rows, 0);
  std::vector<Role> roles(d * kBlock);
  std::vector<std::int32_t> pairs(d * kBlock * classes);  // [j][k][class], of the block
  BlockTables block(d);
  for (std::size_t first = 0; first < d; first += kBlock) {
    const std::size_t width = std::min(kBlock, d - first);
    std::fill(roles.begin(), roles.end(), Role::child);
    bool qualifies[2][kBlock] = {};
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t i = first + k;
      roles[i * kBlock + k] = Role::itself;
      if (ancestors != Ancestors::depend)
        for (const std::int32_t* u = relations.ancestors.begin(i); u != relations.ancestors.end(i); ++u)
          roles[static_cast<std::size_t>(*u) * kBlock + k] =
              ancestors == Ancestors::naive ? Role::naive : Role::absent;
      for (int a = 0; a < 2; ++a) qualifies[a][k] = tables.frequency(i, a) >= min_frequency;
    }
    tables.counts().gather(first, kBlock, pairs.data());
    for (std::size_t c = 0; c < classes; ++c) {
      fill_block(tables, c, first, width, log_prior[c], roles, pairs, block);
      for (std::size_t row = 0; row < rows; ++row) {
        double sum[kBlock];
        std::copy(block.base[0].begin(), block.base[0].end(), sum);
        add_rows(block.difference[0].data(), ones[row].data(), ones[row].size(), sum);
        const Word* batch = words + row / kLanes * d + first;
        for (std::size_t k = 0; k < width; ++k) {
          const bool a = batch[k] >> (row % kLanes) & 1;
          if (!qualifies[a][k]) continue;
          if (a) {
            sum[k] = block.base[1][k];
            for (const std::int32_t j : ones[row])
              sum[k] += block.difference[1][static_cast<std::size_t>(j) * kBlock + k];
          }
          sums[row * classes + c].add(sum[k]);
          if (c == 0) ++estimators[row];
        }
      }
    }
  }

  for (std::size_t row = 0; row < rows; ++row) {
    double* joint = out + row * classes;
    if (estimators[row]) {
      for (std::size_t c = 0; c < classes; ++c)
        joint[c] = sums[row * classes + c].value() - std::log(static_cast<double>(estimators[row]));
      continue;
    }
    std::copy(naive_log_prior, naive_log_prior + classes, joint);
    for (std::size_t v = 0; v < d; ++v)
      tables.add_root(v, words[row / kLanes * d + v] >> (row % kLanes) & 1, joint);
  }
}

// What the joint log-probability of one row is made of. With q_i the share of estimator i in their sum,
// ln sum_i p_i = sum_i q_i ln p_i + H(q): out[feature][class] are the factors of ln p_i weighted by q,
// averaging[class] is H(q) less the log of the number of estimators, and the rest is `log_prior`. Returns whether
// any estimator qualifies; where none does, the factors are naive Bayes's.
inline bool aode_factors(const Tables& tables, const Relations& relations, Ancestors ancestors,
                         std::int64_t min_frequency, const Word* words, std::size_t lane, const double* log_prior,
                         double* out, double* averaging) {
  const std::size_t d = tables.features(), classes = tables.classes();
  const auto value = [&](std::size_t v) { return static_cast<bool>(words[v] >> lane & 1); };
  std::fill(out, out + d * classes, 0.0);
  std::fill(averaging, averaging + classes, 0.0);
  std::vector<std::size_t> estimators;
  for (std::size_t i = 0; i < d; ++i)
    if (tables.frequency(i, value(i)) >= min_frequency) estimators.push_back(i);
  if (estimators.empty()) {
    for (std::size_t v = 0; v < d; ++v) tables.add_root(v, value(v), out + v * classes);
    return false;
  }

  std::vector<std::size_t> ancestor_of(d, d);  // the last estimator whose feature v is an ancestor of
  const auto for_each_factor = [&](std::size_t i, std::size_t c, auto&& visit) {
    if (ancestors != Ancestors::depend)
      for (const std::int32_t* u = relations.ancestors.begin(i); u != relations.ancestors.end(i); ++u)
        ancestor_of[static_cast<std::size_t>(*u)] = i;
    visit(i, tables.log_root(i, value(i), c, /*pooled=*/false));
    for (std::size_t j = 0; j < d; ++j) {
      if (j == i || (ancestor_of[j] == i && ancestors == Ancestors::absent)) continue;
      double log[2];
      if (ancestor_of[j] == i)
        log[value(j)] = tables.log_root(j, value(j), c, tables.pooled());
      else
        tables.log_child(j, i, tables.counts().cell(j, i), value(i), c, log);
      visit(j, log[value(j)]);
    }
  };

  std::vector<double> term(estimators.size());
  for (std::size_t c = 0; c < classes; ++c) {
    detail::LogSum sum;
    for (std::size_t e = 0; e < estimators.size(); ++e) {
      term[e] = log_prior[c];
      for_each_factor(estimators[e], c, [&](std::size_t, double log) { term[e] += log; });
      sum.add(term[e]);
    }
    const double total = sum.value();
    averaging[c] = -std::log(static_cast<double>(estimators.size()));
    for (std::size_t e = 0; e < estimators.size(); ++e) {
      const double share = std::exp(term[e] - total);
      if (share < 1e-18) continue;  // far below the last bit of what it would add to
      averaging[c] -= share * (term[e] - total);
      for_each_factor(estimators[e], c, [&](std::size_t j, double log) { out[j * classes + c] += share * log; });
    }
  }
  return true;
}

}  // namespace hietan
