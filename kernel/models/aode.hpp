// Averaged one-dependence estimators, all rows at once: for each feature i a naive Bayes whose features also depend
// on x_i. With ln P(x_j | c, x_i = a) in tables, the sum over j is that of the zeros plus, for every j at 1, the
// difference that the 1 makes; estimators are handled in blocks, so no table of all pairs is ever held.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "counts/relations.hpp"
#include "counts/words.hpp"
#include "models/smoothing.hpp"

namespace hietan {

// What an estimator does with the ancestors of its feature.
enum class Ancestors : std::uint8_t { depend, naive, absent };

namespace detail {

constexpr std::size_t kBlock = 32;  // estimators handled together: the fastest of 16, 32, 64 and 128 as measured

// sum[k] += table[k] of one block
HIETAN_VECTOR_CLONES
inline void add_rows(const double* table, const std::int32_t* ones, std::size_t n, double* sum) {
  for (std::size_t e = 0; e < n; ++e) {
    const double* row = table + index(ones[e]) * kBlock;
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

enum class Role : std::uint8_t { child, itself, naive, absent };

// Estimators `first` to `first + kBlock` of all rows: what does not depend on the class, and the tables of one class.
class EstimatorBlock {
 public:
  EstimatorBlock(const Tables& tables, const Relations& relations, Ancestors ancestors, std::int64_t min_frequency)
      : tables_(tables),
        relations_(relations),
        ancestors_(ancestors),
        min_frequency_(min_frequency),
        roles_(tables.features() * kBlock),
        pairs_(tables.features() * kBlock * tables.classes()) {
    for (int a = 0; a < 2; ++a) {
      difference_[a].resize(tables.features() * kBlock);
      base_[a].resize(kBlock);
    }
  }

  void start(std::size_t first) {
    first_ = first;
    width_ = std::min(kBlock, tables_.features() - first);
    std::fill(roles_.begin(), roles_.end(), Role::child);
    for (std::size_t k = 0; k < width_; ++k) {
      const std::size_t i = first + k;
      roles_[i * kBlock + k] = Role::itself;
      if (ancestors_ != Ancestors::depend)
        for (const std::int32_t* u = relations_.ancestors.begin(i); u != relations_.ancestors.end(i); ++u)
          roles_[index(*u) * kBlock + k] = ancestors_ == Ancestors::naive ? Role::naive : Role::absent;
      for (int a = 0; a < 2; ++a) qualifies_[a][k] = tables_.frequency(i, a != 0) >= min_frequency_;
    }
    tables_.counts().gather(first, kBlock, pairs_.data());
  }

  void fill(std::size_t c, double log_prior) {
    for (int a = 0; a < 2; ++a)
      for (std::size_t k = 0; k < width_; ++k) base_[a][k] = log_prior + tables_.log_even_root(first_ + k, a != 0, c);
    for (std::size_t j = 0; j < tables_.features(); ++j) fill_row(j, c);
  }

  // Adds the estimators of the block that qualify for a row to their sum; returns how many do. `batch` holds the words
  // of the row's batch, and `ones` its features that are 1.
  std::size_t add(const Word* batch, std::size_t lane, const std::vector<std::int32_t>& ones, LogSum& out) const {
    double sum[kBlock];
    std::copy(base_[0].begin(), base_[0].end(), sum);
    add_rows(difference_[0].data(), ones.data(), ones.size(), sum);
    std::size_t qualified = 0;
    for (std::size_t k = 0; k < width_; ++k) {
      const bool a = has_bit(batch[first_ + k], lane);
      if (!qualifies_[a][k]) continue;
      if (a) {
        sum[k] = base_[1][k];
        for (const std::int32_t j : ones) sum[k] += difference_[1][index(j) * kBlock + k];
      }
      out.add(sum[k]);
      ++qualified;
    }
    return qualified;
  }

 private:
  // What feature j adds to the estimators of the block.
  void fill_row(std::size_t j, std::size_t c) {
    const double naive[2] = {tables_.log_root(j, false, c), tables_.log_root(j, true, c)};
    const Role* roles = roles_.data() + j * kBlock;
    const std::int32_t* pairs = pairs_.data() + j * kBlock * tables_.classes();
    for (int a = 0; a < 2; ++a) {
      double *base = base_[a].data(), *difference = difference_[a].data() + j * kBlock;
      for (std::size_t k = 0; k < width_; ++k) {
        double log[2] = {0.0, 0.0};
        if (roles[k] == Role::child)
          tables_.log_child(j, first_ + k, {pairs + k * tables_.classes(), 1}, a != 0, c, log);
        else if (roles[k] == Role::naive)
          std::copy(naive, naive + 2, log);
        base[k] += log[0];
        difference[k] = log[1] - log[0];
      }
    }
  }

  const Tables& tables_;
  const Relations& relations_;
  Ancestors ancestors_;
  std::int64_t min_frequency_;
  std::size_t first_ = 0, width_ = 0;
  std::vector<Role> roles_;          // [j][k]: what feature j is to the k-th estimator of the block
  std::vector<std::int32_t> pairs_;  // [j][k][class]
  bool qualifies_[2][kBlock] = {};
  std::vector<double> difference_[2];  // [a][j][k]: what x_j = 1 instead of 0 adds to the k-th estimator where x_i = a
  std::vector<double> base_[2];        // [a][k]: the estimator's value where all other features are 0
};

inline std::vector<std::vector<std::int32_t>> features_at_one(const Word* words, std::size_t rows, std::size_t d) {
  std::vector<std::vector<std::int32_t>> ones(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const Word* batch = words + row / kLanes * d;
    for (std::size_t v = 0; v < d; ++v)
      if (has_bit(batch[v], row % kLanes)) ones[row].push_back(feature_id(v));
  }
  return ones;
}

}  // namespace detail

// out[row][class] = ln of the mean over the estimators that qualify: those of features whose value in the row occurs
// at least `min_frequency` times in the training rows. Where none does: naive Bayes over all features.
// `log_prior` is that of the estimators, ln P(c) such that P(c) P(x_i | c) is their P(c, x_i).
inline void aode(const Tables& tables, const Relations& relations, Ancestors ancestors, std::int64_t min_frequency,
                 const Word* words, std::size_t rows, const double* log_prior, const double* naive_log_prior,
                 double* out) {
  const std::size_t d = tables.features(), classes = tables.classes();
  const auto batch = [&](std::size_t row) { return words + row / kLanes * d; };
  const std::vector<std::vector<std::int32_t>> ones = detail::features_at_one(words, rows, d);
  std::vector<detail::LogSum> sums(rows * classes);
  std::vector<std::size_t> estimators(rows, 0);
  detail::EstimatorBlock block(tables, relations, ancestors, min_frequency);
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < d; first += detail::kBlock) {
    block.start(first);
    for (std::size_t c = 0; c < classes; ++c) {
      checkpoint.pass(d * detail::kBlock);
      block.fill(c, log_prior[c]);
      for (std::size_t row = 0; row < rows; ++row) {
        checkpoint.pass(ones[row].size());
        const std::size_t qualified = block.add(batch(row), row % kLanes, ones[row], sums[row * classes + c]);
        if (c == 0) estimators[row] += qualified;
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
    for (std::size_t v = 0; v < d; ++v) tables.add_root(v, has_bit(batch(row)[v], row % kLanes), joint);
  }
}

// The parts of the joint log-probability of one row. With q_i the share of estimator i in their sum,
// ln sum_i p_i = sum_i q_i ln p_i + H(q): out[feature][class] are the factors of ln p_i weighted by q,
// averaging[class] is H(q) less the log of the number of estimators, and the rest is `log_prior`. Returns whether
// any estimator qualifies; where none does, the factors are naive Bayes's.
inline bool aode_factors(const Tables& tables, const Relations& relations, Ancestors ancestors,
                         std::int64_t min_frequency, const Word* words, std::size_t lane, const double* log_prior,
                         double* out, double* averaging) {
  const std::size_t d = tables.features(), classes = tables.classes();
  const auto value = [&](std::size_t v) { return has_bit(words[v], lane); };
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
        ancestor_of[index(*u)] = i;
    visit(i, tables.log_even_root(i, value(i), c));
    for (std::size_t j = 0; j < d; ++j) {
      if (j == i || (ancestor_of[j] == i && ancestors == Ancestors::absent)) continue;
      double log[2];
      if (ancestor_of[j] == i)
        log[value(j)] = tables.log_root(j, value(j), c);
      else
        tables.log_child(j, i, tables.counts().cell(j, i), value(i), c, log);
      visit(j, log[value(j)]);
    }
  };

  std::vector<double> term(estimators.size());
  Checkpoint checkpoint;
  for (std::size_t c = 0; c < classes; ++c) {
    detail::LogSum sum;
    for (std::size_t e = 0; e < estimators.size(); ++e) {
      checkpoint.pass(d);
      term[e] = log_prior[c];
      for_each_factor(estimators[e], c, [&](std::size_t, double log) { term[e] += log; });
      sum.add(term[e]);
    }
    const double total = sum.value();
    averaging[c] = -std::log(static_cast<double>(estimators.size()));
    for (std::size_t e = 0; e < estimators.size(); ++e) {
      const double share = std::exp(term[e] - total);
      if (share < 1e-18) continue;  // far below the last bit of what it would add to
      checkpoint.pass(d);
      averaging[c] -= share * (term[e] - total);
      for_each_factor(estimators[e], c, [&](std::size_t j, double log) { out[j * classes + c] += share * log; });
    }
  }
  return true;
}

}  // namespace hietan
