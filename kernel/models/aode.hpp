// Averaged one-dependence estimators: for each feature i a naive Bayes whose features also depend on x_i.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "counts/relations.hpp"
#include "counts/words.hpp"
#include "models/partners.hpp"
#include "models/smoothing.hpp"

namespace hietan {

namespace detail {

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

using Ones = std::vector<std::vector<std::int32_t>>;  // the features of each row that are 1

inline Ones features_at_one(const Word* words, std::size_t rows, std::size_t d) {
  Ones ones(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const Word* batch = words + row / kLanes * d;
    for (std::size_t v = 0; v < d; ++v)
      if (has_bit(batch[v], row % kLanes)) ones[row].push_back(feature_id(v));
  }
  return ones;
}

constexpr std::size_t kBlock = PartnerBand::kBlock;  // estimators handled together

// sum[k] += table[k] of one block
HIETAN_VECTOR_CLONES
inline void add_rows(const double* table, const std::int32_t* ones, std::size_t n, double* sum) {
  for (std::size_t e = 0; e < n; ++e) {
    const double* row = table + index(ones[e]) * kBlock;
    for (std::size_t k = 0; k < kBlock; ++k) sum[k] += row[k];
  }
}

// What features add to the estimators of a block where they are 0, and how much more where they are 1.
struct BlockRow {
  double zero[kBlock], difference[kBlock];
};

// The values of all estimators in some classes, block by block. The sum over all features is that of the zeros plus,
// for every feature at 1, the difference that the 1 makes; both are in tables of the block and of one class.
class EstimatorBlock {
 public:
  EstimatorBlock(const Tables& tables, const Relations& relations, Ancestors ancestors, std::int64_t min_frequency,
                 std::size_t first_class, std::size_t last_class)
      : tables_(tables),
        min_frequency_(min_frequency),
        is_sparse_(tables.counts().sparse()),
        first_class_(first_class),
        band_(tables, relations, ancestors, first_class, is_sparse_ ? last_class : first_class),
        pairs_(is_sparse_ ? 0 : tables.features() * kBlock * tables.classes()) {
    for (std::size_t c = first_class; is_sparse_ && c < last_class; ++c) profiles_.emplace_back(tables, c);
    for (int a = 0; a < 2; ++a) {
      difference_[a].resize(tables.features() * kBlock);
      base_[a].resize(kBlock);
    }
  }

  // Goes on to the next block; false if there is none.
  bool next() {
    first_ += width_;
    if (first_ == band_.last() && !band_.next()) return false;
    width_ = std::min(kBlock, band_.last() - first_);
    block_ = (first_ - band_.first()) / kBlock;
    if (!is_sparse_) tables_.counts().gather(first_, kBlock, pairs_.data());
    for (std::size_t k = 0; k < width_; ++k)
      for (int a = 0; a < 2; ++a) qualifies_[a][k] = tables_.frequency(first_ + k, a != 0) >= min_frequency_;
    return true;
  }

  void fill(std::size_t c, double log_prior) {
    const Profiles* profiles = is_sparse_ ? &profiles_[c - first_class_] : nullptr;
    std::vector<BlockRow> apart(is_sparse_ ? profiles->count() : 1);
    for (int a = 0; a < 2; ++a) {
      if (is_sparse_) fill_apart(*profiles, c, a != 0, apart);
      for (std::size_t k = 0; k < width_; ++k) base_[a][k] = log_prior + tables_.log_even_root(first_ + k, a != 0, c);
      for (std::size_t j = 0; j < tables_.features(); ++j)
        fill_row(j, a != 0, c, apart[is_sparse_ ? profiles->of(j) : 0]);
    }
  }

  // Calls `visit` with the number and the value of each estimator of the block that qualifies for a row; returns how
  // many do. `ones` holds the features of the row that are 1.
  template <class Visit>
  std::size_t evaluate(const std::vector<std::int32_t>& ones, Visit&& visit) const {
    double sum[kBlock];
    std::copy(base_[0].begin(), base_[0].end(), sum);
    add_rows(difference_[0].data(), ones.data(), ones.size(), sum);
    std::size_t qualified = 0;
    auto one = std::lower_bound(ones.begin(), ones.end(), feature_id(first_));
    for (std::size_t k = 0; k < width_; ++k) {
      const bool a = one != ones.end() && index(*one) == first_ + k;
      one += a;
      if (!qualifies_[a][k]) continue;
      if (a) {
        sum[k] = base_[1][k];
        for (const std::int32_t j : ones) sum[k] += difference_[1][index(j) * kBlock + k];
      }
      visit(first_ + k, sum[k]);
      ++qualified;
    }
    return qualified;
  }

 private:
  static void put(const double* log, std::size_t k, BlockRow& row) {
    row.zero[k] = log[0];
    row.difference[k] = log[1] - log[0];
  }

  // What features of each profile add that are apart from the estimators' features.
  void fill_apart(const Profiles& profiles, std::size_t c, bool a, std::vector<BlockRow>& apart) const {
    for (std::size_t g = 0; g < apart.size(); ++g)
      for (std::size_t k = 0; k < width_; ++k) {
        double log[2];
        log_apart(tables_, profiles.example(g), first_ + k, a, c, log);
        put(log, k, apart[g]);
      }
  }

  // What feature j adds to the estimators of the block. Where few pairs meet, those are computed one by one, and all
  // others are those of features that are apart; where all pairs are kept, that would take longer than it saves.
  void fill_row(std::size_t j, bool a, std::size_t c, const BlockRow& apart) {
    const std::size_t start = band_.start(block_, j), end = band_.end(block_, j);
    const BlockRow* row = &apart;
    if (!is_sparse_ || start < end) {
      row = &own_;
      if (is_sparse_)
        own_ = apart;
      else
        fill_all(j, a, c);
      for (std::size_t e = start; e < end; ++e)
        if (band_.differs(e, c)) {
          double log[2];
          band_.log_partner(j, e, a, c, log);
          put(log, band_.place(e) % kBlock, own_);
        }
    }
    for (std::size_t k = 0; k < kBlock; ++k) base_[a][k] += row->zero[k];
    std::copy(row->difference, row->difference + kBlock, difference_[a].data() + j * kBlock);
  }

  void fill_all(std::size_t j, bool a, std::size_t c) {
    const std::int32_t* pairs = pairs_.data() + j * kBlock * tables_.classes();
    for (std::size_t k = 0; k < width_; ++k) {
      double log[2];
      tables_.log_child(j, first_ + k, {pairs + k * tables_.classes(), 1}, a, c, log);
      put(log, k, own_);
    }
  }

  const Tables& tables_;
  std::int64_t min_frequency_;
  bool is_sparse_;
  std::size_t first_class_;
  std::vector<Profiles> profiles_;  // of each of the classes, unless all pairs are kept
  PartnerBand band_;
  BlockRow own_ = {};                // that of one feature
  std::vector<std::int32_t> pairs_;  // [j][k][class], if all are kept
  std::size_t first_ = 0, width_ = 0, block_ = 0;
  bool qualifies_[2][kBlock] = {};
  std::vector<double> difference_[2];  // [a][j][k]: what x_j = 1 instead of 0 adds to the k-th estimator where x_i = a
  std::vector<double> base_[2];        // [a][k]: the estimator's value where all other features are 0
};

}  // namespace detail

// out[row][class] = ln of the mean over the estimators that qualify: those of features whose value in the row occurs
// at least `min_frequency` times in the training rows. Where none does: naive Bayes over all features.
// `log_prior` is that of the estimators, ln P(c) such that P(c) P(x_i | c) is their P(c, x_i).
inline void aode(const Tables& tables, const Relations& relations, Ancestors ancestors, std::int64_t min_frequency,
                 const Word* words, std::size_t rows, const double* log_prior, const double* naive_log_prior,
                 double* out) {
  const std::size_t d = tables.features(), classes = tables.classes();
  const detail::Ones ones = detail::features_at_one(words, rows, d);
  std::vector<detail::LogSum> sums(rows * classes);
  std::vector<std::size_t> estimators(rows, 0);
  detail::EstimatorBlock block(tables, relations, ancestors, min_frequency, 0, classes);
  Checkpoint checkpoint;
  while (block.next())
    for (std::size_t c = 0; c < classes; ++c) {
      checkpoint.pass(d * detail::kBlock);
      block.fill(c, log_prior[c]);
      for (std::size_t row = 0; row < rows; ++row) {
        checkpoint.pass(ones[row].size());
        detail::LogSum& sum = sums[row * classes + c];
        const std::size_t qualified = block.evaluate(ones[row], [&](std::size_t, double value) { sum.add(value); });
        if (c == 0) estimators[row] += qualified;
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
    auto one = ones[row].begin();
    for (std::size_t v = 0; v < d; ++v) {
      const bool x = one != ones[row].end() && index(*one) == v;
      one += x;
      tables.add_root(v, x, joint);
    }
  }
}

}  // namespace hietan
