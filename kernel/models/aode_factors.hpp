// What each feature adds to averaged one-dependence estimators: the parts of their joint log-probabilities.
//
// With q_i the share of estimator i in the sum of all p_i, ln sum_i p_i = sum_i q_i ln p_i + H(q). Feature j adds
// sum_i q_i ln P(x_j | x_i, c): for each profile of features that are apart the shares of a profile times one number,
// and the partners one by one, for some rows side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "memory.hpp"
#include "models/aode.hpp"
#include "models/partners.hpp"

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

constexpr std::size_t kFew = 16;   // shares of estimators in a row: so many are added one by one
constexpr std::size_t kSide = 16;  // rows that are summed side by side: their sums stay in registers

// sums[row] = the sum of logs[e] shares[places[e]][row] over n partners e
HIETAN_VECTOR_CLONES
inline void sum_partners(const std::uint16_t* places, const double* logs, std::size_t n, const double* shares,
                         double* sums) {
  double own[kSide] = {};
  for (std::size_t e = 0; e < n; ++e)
    for (std::size_t r = 0; r < kSide; ++r) own[r] += logs[e] * shares[places[e] * kSide + r];
  std::copy(own, own + kSide, sums);
}

// Adds up the factors of one class.
class FactorSums {
 public:
  // `shares` are those of all estimators in every row. The factors of feature j in a row are at out[row * stride + j].
  FactorSums(const Tables& tables, const Relations& relations, Ancestors ancestors, std::size_t c, const Ones& ones,
             const double* shares, double* out, std::size_t stride)
      : tables_(tables),
        c_(c),
        d_(tables.features()),
        ones_(ones),
        all_shares_(shares),
        out_(out),
        stride_(stride),
        band_(tables, relations, ancestors, c, c + 1),
        start_(d_ + 1, 0),
        partners_(PartnerBand::kWidth),
        shares_(PartnerBand::kWidth * kSide),
        ones_of_rows_(d_, 0),
        is_one_(d_, 0) {}

  void add() {
    add_unrelated();
    while (band_.next()) {
      list_partners();
      for (std::size_t row = 0; row < ones_.size(); ++row) add_row(row);
      add_zero_estimators();
    }
  }

 private:
  struct Partner {
    std::int32_t feature;
    double beyond[2][2];  // [x_i][x_j]
  };

  // out[row][j] += sum over i of q[row][i] ln P(x_j | x_i, c), as if no two features were related. Features with equal
  // counts (a profile) have equal logs, so their shares q are summed first.
  void add_unrelated() {
    const Profiles profiles(tables_, c_);
    const std::size_t n = profiles.count(), rows = ones_.size();
    std::vector<double> shares[2], sums[2];  // [row][profile]: of estimators whose features are a, and where x_j = x
    for (const int a : {0, 1}) {
      shares[a].assign(rows * n, 0.0);
      sums[a].assign(rows * n, 0.0);
    }
    for (std::size_t row = 0; row < rows; ++row)
      for_each_value(row,
                     [&](std::size_t i, bool a) { shares[a][row * n + profiles.of(i)] += all_shares_[row * d_ + i]; });
    std::vector<double> logs[2] = {std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t g = 0; g < n; ++g)
      for (const int a : {0, 1}) {
        for (std::size_t h = 0; h < n; ++h) {
          double log[2];
          log_apart(tables_, profiles.example(h), profiles.example(g), a != 0, c_, log);
          for (const int x : {0, 1}) logs[x][h] = log[x];
        }
        for (std::size_t row = 0; row < rows; ++row) {
          const double share = shares[a][row * n + g];
          if (share == 0.0) continue;
          checkpoint_.pass(n);
          for (const int x : {0, 1})
            for (std::size_t h = 0; h < n; ++h) sums[x][row * n + h] += share * logs[x][h];
        }
      }
    for (std::size_t row = 0; row < rows; ++row)
      for_each_value(row, [&](std::size_t j, bool x) { out_[row * stride_ + j] += sums[x][row * n + profiles.of(j)]; });
  }

  // Calls f(feature, value) for all features of a row.
  template <class F>
  void for_each_value(std::size_t row, F&& f) const {
    auto one = ones_[row].begin();
    for (std::size_t v = 0; v < d_; ++v) {
      const bool x = one != ones_[row].end() && index(*one) == v;
      one += x;
      f(v, x);
    }
  }

  // Lists what features add to their partners of the band beyond what they would add if the two were apart.
  void list_partners() {
    places_.clear();
    for (std::vector<double>& beyond : at_zero_) beyond.clear();
    for (std::vector<Partner>& partners : partners_) partners.clear();
    for (std::size_t j = 0; j < d_; ++j) {
      for (std::size_t b = 0; b < PartnerBand::kBlocks; ++b)
        for (std::size_t e = band_.start(b, j); e < band_.end(b, j); ++e) list_partner(j, e);
      start_[j + 1] = places_.size();
      checkpoint_.pass(start_[j + 1] - start_[j]);
    }
  }

  // Feature j and its e-th partner.
  void list_partner(std::size_t j, std::size_t e) {
    const std::size_t i = band_.first() + band_.place(e);
    double beyond[2][2];  // [a][x]
    for (const int a : {0, 1}) {
      double apart[2];
      log_apart(tables_, j, i, a != 0, c_, apart);
      band_.log_partner(j, e, a != 0, c_, beyond[a]);
      const double own = i == j ? tables_.log_even_root(i, a != 0, c_) : 0.0;
      for (const int x : {0, 1}) beyond[a][x] += own - apart[x];
    }
    places_.push_back(band_.place(e));
    at_zero_[0].push_back(beyond[0][0]);
    at_zero_[1].push_back(beyond[0][1] - beyond[0][0]);
    partners_[band_.place(e)].push_back({feature_id(j), {{beyond[0][0], beyond[0][1]}, {beyond[1][0], beyond[1][1]}}});
  }

  // One row. If many estimators have a share where their feature is 0, they are left to `add_zero_estimators`.
  void add_row(std::size_t row) {
    double own[PartnerBand::kWidth], *factors = out_ + row * stride_;
    take_shares(row, own);
    const std::size_t width = band_.last() - band_.first(), n = width - index(std::count(own, own + width, 0.0));
    for (const std::int32_t one : ones_[row]) is_one_[index(one)] = 1;
    for (std::size_t place = 0; n <= kFew && place < width; ++place) add_estimator(place, 0, own[place], factors);
    for_each_one(row, [&](std::size_t i) { add_estimator(i - band_.first(), 1, all_shares_[row * d_ + i], factors); });
    for (const std::int32_t one : ones_[row]) is_one_[index(one)] = 0;
    if (n <= kFew) return;
    for (const std::int32_t one : ones_[row]) ones_of_rows_[index(one)] |= Word{1} << rows_.size();
    for (std::size_t place = 0; place < width; ++place) shares_[place * kSide + rows_.size()] = own[place];
    rows_.push_back(row);
    if (rows_.size() == kSide) add_zero_estimators();
  }

  // What all partners add to an estimator whose feature is a in a row.
  void add_estimator(std::size_t place, int a, double share, double* factors) {
    if (share == 0.0) return;
    checkpoint_.pass(partners_[place].size());
    for (const Partner& partner : partners_[place])
      factors[partner.feature] += share * partner.beyond[a][is_one_[index(partner.feature)]];
  }

  // out[row][j] += sum over the band's estimators i with x_i = 0 of q[row][i] beyond(i, j)[0][x_j], for the rows that
  // `add_row` has left, up to kSide of them together.
  void add_zero_estimators() {
    for (std::size_t j = 0; j < d_ && !rows_.empty(); ++j) {
      const std::size_t start = start_[j], n = start_[j + 1] - start;
      checkpoint_.pass(4 * n);
      double sums[kSide];
      sum_partners(places_.data() + start, at_zero_[0].data() + start, n, shares_.data(), sums);
      for (std::size_t r = 0; r < rows_.size(); ++r) out_[rows_[r] * stride_ + j] += sums[r];
      if (ones_of_rows_[j] == 0) continue;
      sum_partners(places_.data() + start, at_zero_[1].data() + start, n, shares_.data(), sums);
      for_each_bit(ones_of_rows_[j], [&](std::size_t r) { out_[rows_[r] * stride_ + j] += sums[r]; });
      ones_of_rows_[j] = 0;
    }
    rows_.clear();
  }

  // The shares of the band's estimators in a row, without those whose feature is 1.
  void take_shares(std::size_t row, double* own) const {
    const double* shares = all_shares_ + row * d_;
    std::copy(shares + band_.first(), shares + band_.last(), own);
    for_each_one(row, [&](std::size_t i) { own[i - band_.first()] = 0.0; });
  }

  // Calls f(feature) for the features of the band that are 1 in a row.
  template <class F>
  void for_each_one(std::size_t row, F&& f) const {
    const std::vector<std::int32_t>& ones = ones_[row];
    for (auto one = std::lower_bound(ones.begin(), ones.end(), feature_id(band_.first()));
         one != ones.end() && index(*one) < band_.last(); ++one)
      f(index(*one));
  }

  const Tables& tables_;
  std::size_t c_, d_;
  const Ones& ones_;
  const double* all_shares_;
  double* out_;
  std::size_t stride_;
  PartnerBand band_;
  std::vector<std::size_t> start_;     // of the partners of each feature, and one more
  std::vector<std::uint16_t> places_;  // of partners, within the band
  std::vector<double> at_zero_[2];     // what they add where x_i = 0: where x_j = 0, and how much more where x_j = 1
  std::vector<std::vector<Partner>> partners_;  // of each estimator of the band
  std::vector<std::size_t> rows_;               // to be summed side by side
  std::vector<double> shares_;                  // [place][row], of these
  std::vector<Word> ones_of_rows_;              // [feature]: bit r is that of the r-th of these
  std::vector<std::uint8_t> is_one_;            // [feature], in one row
  Checkpoint checkpoint_;
};

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
    detail::FactorSums(tables, relations, ancestors, c, ones, shares.data(), out + c * d, classes * d).add();
  }
}

}  // namespace hietan
