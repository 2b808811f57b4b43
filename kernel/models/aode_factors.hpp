// What each feature adds to averaged one-dependence estimators: the parts of their joint log-probabilities.
//
// With q_i the share of estimator i in the sum of all p_i, ln sum_i p_i = sum_i q_i ln p_i + H(q). Feature j adds
// sum_i q_i ln P(x_j | x_i, c): for each profile of features that are apart the shares of a profile times one number,
// and the partners one by one. Rows are summed side by side, those with few shares together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "models/aode.hpp"

namespace hietan {

namespace detail {

// Turns the values of d estimators into their shares in the sum of p_i, and returns the entropy of these. Shares far
// below the last bit of what they would add to are 0.
inline double shares_of(double* values, std::size_t d) {
  constexpr double kLeast = 1e-18, kLogLeast = -41.5;  // e^-41.5 is below it
  LogSum sum;
  for (std::size_t i = 0; i < d; ++i) sum.add(values[i]);
  const double total = sum.value();
  double entropy = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    const double log = values[i] - total, share = log > kLogLeast ? std::exp(log) : 0.0;
    if (share >= kLeast) entropy -= share * log;
    values[i] = share >= kLeast ? share : 0.0;
  }
  return entropy;
}

constexpr std::size_t kSide = 32;  // rows whose factors are summed side by side

// sums[h][row] += logs[h] shares[row] for n profiles h
HIETAN_VECTOR_CLONES
inline void add_profiles(const double* logs, const double* shares, std::size_t n, double* sums) {
  double own[kSide];
  std::copy(shares, shares + kSide, own);
  for (std::size_t h = 0; h < n; ++h)
    for (std::size_t r = 0; r < kSide; ++r) sums[h * kSide + r] += logs[h] * own[r];
}

// Four numbers side by side, which compilers that know such types keep in a register.
#if defined(__GNUC__)
using Four = double __attribute__((vector_size(32)));
#else
struct Four {
  double number[4];
  friend Four operator*(double log, const Four& share) {
    Four product;
    for (int k = 0; k < 4; ++k) product.number[k] = log * share.number[k];
    return product;
  }
  Four& operator+=(const Four& other) {
    for (int k = 0; k < 4; ++k) number[k] += other.number[k];
    return *this;
  }
};
#endif

// sum[row] += logs[e] shares[slots[places[e]]][row] for n entries e, but for those without a slot
HIETAN_VECTOR_CLONES
inline void add_partners(const std::uint16_t* places, const double* logs, std::size_t n, const std::int16_t* slots,
                         const double* shares, double* sum) {
  constexpr std::size_t kFours = kSide / 4;
  Four own[kFours], share;
  std::memcpy(own, sum, sizeof(own));
  for (std::size_t e = 0; e < n; ++e) {
    const std::int16_t slot = slots[places[e]];
    if (slot < 0) continue;
    const double* from = shares + index(slot) * kSide;
    for (std::size_t k = 0; k < kFours; ++k) {
      std::memcpy(&share, from + 4 * k, sizeof(share));
      own[k] += logs[e] * share;
    }
  }
  std::memcpy(sum, own, sizeof(own));
}

// A feature, and what it adds to an estimator whose partner it is, beyond what it would add if the two were apart.
struct Turned {
  std::int32_t feature;
  double beyond[2][2];  // [a][x]
};

// sums[0][j][row] += beyond[a][0] shares[row] for all features j of a list; the same for 1 where j has a number.
HIETAN_VECTOR_CLONES
inline void add_features(const Turned* begin, const Turned* end, int a, const double* shares,
                         const std::int32_t* numbers, double* zeros, double* ones) {
  double own[kSide];
  std::copy(shares, shares + kSide, own);
  for (const Turned* at = begin; at != end; ++at) {
    double* sum = zeros + index(at->feature) * kSide;
    for (std::size_t r = 0; r < kSide; ++r) sum[r] += at->beyond[a][0] * own[r];
    if (numbers[at->feature] < 0) continue;
    sum = ones + index(numbers[at->feature]) * kSide;
    for (std::size_t r = 0; r < kSide; ++r) sum[r] += at->beyond[a][1] * own[r];
  }
}

// Rows that are summed side by side, in one class. Its memory is used again for the next class.
struct RowBlock {
  std::vector<std::size_t> rows;            // at most kSide of them
  std::vector<std::int32_t> estimators[2];  // [a]: those that have a share in any row in which their feature is a
  std::vector<double> shares[2];            // [a][estimator][row]: in rows in which the feature is a
  std::vector<std::uint32_t> ones;          // [feature]: bit r is that of the r-th row
  std::vector<std::int32_t> somewhere;      // the features that are 1 in any row
  std::vector<std::int32_t> number;         // [feature]: its number among these, or -1
  std::vector<double> sums[2];              // [x][feature][row]: what features add where they are x; for 1, `somewhere`

  double* sum(bool x, std::size_t j) { return sums[x].data() + (x ? index(number[j]) : j) * kSide; }
  const double* sum(bool x, std::size_t j) const { return sums[x].data() + (x ? index(number[j]) : j) * kSide; }

  // `all` holds the shares of d estimators in every row.
  void assign(const std::size_t* first, std::size_t n, const Ones& all_ones, const double* all, std::size_t d) {
    rows.assign(first, first + n);
    ones.assign(d, 0);
    for (std::size_t r = 0; r < n; ++r)
      for (const std::int32_t j : all_ones[rows[r]]) ones[index(j)] |= std::uint32_t{1} << r;
    somewhere.clear();
    number.clear();
    for (std::size_t j = 0; j < d; ++j) {
      number.push_back(ones[j] ? static_cast<std::int32_t>(somewhere.size()) : -1);
      if (ones[j]) somewhere.push_back(feature_id(j));
    }
    for (const int a : {0, 1}) {
      estimators[a].clear();
      for (std::size_t i = 0; i < d; ++i)
        if (has_share(i, a, all, d)) estimators[a].push_back(feature_id(i));
      shares[a].assign(estimators[a].size() * kSide, 0.0);
      for (std::size_t k = 0; k < estimators[a].size(); ++k) {
        const std::size_t i = index(estimators[a][k]);
        for (std::size_t r = 0; r < n; ++r)
          if (is_one(i, r) == (a != 0)) shares[a][k * kSide + r] = all[rows[r] * d + i];
      }
    }
  }

  bool is_one(std::size_t j, std::size_t r) const { return (ones[j] >> r & 1) != 0; }

 private:
  bool has_share(std::size_t i, int a, const double* all, std::size_t d) const {
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (is_one(i, r) == (a != 0) && all[rows[r] * d + i] > 0.0) return true;
    return false;
  }
};

// The factors of one class, in blocks of rows.
class FactorSums {
 public:
  FactorSums(const Tables& tables, const Relations& relations, Ancestors ancestors, std::size_t c,
             std::vector<RowBlock>& blocks)
      : tables_(tables),
        c_(c),
        profiles_(tables, c),
        band_(tables, relations, ancestors, c, c + 1),
        blocks_(blocks),
        start_(tables.features() + 1) {}

  // Calls write(row, j, factor) for each row and feature.
  template <class Write>
  void sum(Write&& write) {
    sum_apart();
    while (band_.next()) {
      list_partners();
      turn_partners();
      for (RowBlock& block : blocks_) add_band(block);
    }
    for (const RowBlock& block : blocks_)
      for (std::size_t first = 0; first < tables_.features(); first += kTile) {
        const std::size_t last = std::min(first + kTile, tables_.features());
        for (std::size_t r = 0; r < block.rows.size(); ++r)
          for (std::size_t j = first; j < last; ++j) write(block.rows[r], j, block.sum(block.is_one(j, r), j)[r]);
      }
  }

 private:
  static constexpr std::size_t kFew = 2;    // rows: so many are not worth a sum over all
  static constexpr std::size_t kTile = 64;  // features whose sums stay in the nearest cache

  // What features of each profile add, as if they were apart from all others.
  void sum_apart() {
    const std::size_t n = profiles_.count();
    std::vector<std::vector<double>> sums[2];  // [x][block][profile and row]
    for (std::vector<std::vector<double>>& of_value : sums)
      of_value.assign(blocks_.size(), std::vector<double>(n * kSide, 0.0));
    for (const int a : {0, 1}) {
      std::vector<std::vector<double>> shares;
      shares.reserve(blocks_.size());
      for (const RowBlock& block : blocks_) shares.push_back(shares_of_profiles(block, a));
      std::vector<double> logs[2] = {std::vector<double>(n), std::vector<double>(n)};
      for (std::size_t g = 0; g < n; ++g) {
        log_profiles(g, a != 0, logs);
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
          const double* of_profile = shares[b].data() + g * kSide;
          if (std::all_of(of_profile, of_profile + kSide, [](double share) { return share == 0.0; })) continue;
          checkpoint_.pass(n * kSide);
          for (const int x : {0, 1}) add_profiles(logs[x].data(), of_profile, n, sums[x][b].data());
        }
      }
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto append = [&](int x, std::size_t j) {
        const double* sum = sums[x][b].data() + profiles_.of(j) * kSide;
        blocks_[b].sums[x].insert(blocks_[b].sums[x].end(), sum, sum + kSide);
      };
      for (std::vector<double>& of_value : blocks_[b].sums) of_value.clear();
      blocks_[b].sums[0].reserve(tables_.features() * kSide);
      for (std::size_t j = 0; j < tables_.features(); ++j) append(0, j);
      for (const std::int32_t j : blocks_[b].somewhere) append(1, index(j));
    }
  }

  // logs[x][h] = what features of profile h add to estimators of profile g where they are apart and x_i = a
  void log_profiles(std::size_t g, bool a, std::vector<double>* logs) const {
    for (std::size_t h = 0; h < profiles_.count(); ++h) {
      double log[2];
      log_apart(tables_, profiles_.example(h), profiles_.example(g), a, c_, log);
      for (const int x : {0, 1}) logs[x][h] = log[x];
    }
  }

  std::vector<double> shares_of_profiles(const RowBlock& block, int a) const {
    std::vector<double> shares(profiles_.count() * kSide, 0.0);
    for (std::size_t k = 0; k < block.estimators[a].size(); ++k) {
      double* sum = shares.data() + profiles_.of(index(block.estimators[a][k])) * kSide;
      for (std::size_t r = 0; r < kSide; ++r) sum[r] += block.shares[a][k * kSide + r];
    }
    return shares;
  }

  // Lists what features add to their partners of the band beyond what they would add if the two were apart.
  void list_partners() {
    const std::size_t d = tables_.features();
    start_[0] = 0;
    for (std::size_t j = 0; j < d; ++j) {
      start_[j + 1] = start_[j];
      for (std::size_t b = 0; b < PartnerBand::kBlocks; ++b) start_[j + 1] += band_.end(b, j) - band_.start(b, j);
    }
    places_.resize(start_.back());
    for (auto& of_value : beyond_)
      for (PlainVector<double>& beyond : of_value) beyond.resize(start_.back());
    for (std::size_t j = 0; j < d; ++j) {
      checkpoint_.pass(start_[j + 1] - start_[j]);
      std::size_t at = start_[j];
      for (std::size_t b = 0; b < PartnerBand::kBlocks; ++b)
        for (std::size_t e = band_.start(b, j); e < band_.end(b, j); ++e) put(j, e, at++);
    }
  }

  // Feature j and its e-th partner.
  void put(std::size_t j, std::size_t e, std::size_t at) {
    const std::size_t i = band_.first() + band_.place(e);
    places_[at] = band_.place(e);
    for (int a = 0; a < 2; ++a) {
      double apart[2], log[2];
      log_apart(tables_, j, i, a != 0, c_, apart);
      band_.log_partner(j, e, a != 0, c_, log);
      const double own = i == j ? tables_.log_even_root(i, a != 0, c_) : 0.0;
      for (int x = 0; x < 2; ++x) beyond_[a][x][at] = log[x] + own - apart[x];
    }
  }

  // The same partners in the order of their estimators.
  void turn_partners() {
    estimator_start_.assign(PartnerBand::kWidth + 1, 0);
    for (const std::uint16_t place : places_) ++estimator_start_[place + std::size_t{1}];
    std::partial_sum(estimator_start_.begin(), estimator_start_.end(), estimator_start_.begin());
    std::vector<std::size_t> next(estimator_start_);
    turned_.resize(places_.size());
    for (std::size_t j = 0; j < tables_.features(); ++j)
      for (std::size_t e = start_[j]; e < start_[j + 1]; ++e)
        turned_[next[places_[e]]++] = {feature_id(j),
                                       {{beyond_[0][0][e], beyond_[0][1][e]}, {beyond_[1][0][e], beyond_[1][1][e]}}};
  }

  // Every estimator of a row adds to a sum in the same order, whichever way is taken.
  void add_band(RowBlock& block) {
    for (int a = 0; a < 2; ++a) {
      const std::vector<std::int32_t>& all = block.estimators[a];
      const std::size_t begin =
          index(std::lower_bound(all.begin(), all.end(), feature_id(band_.first())) - all.begin());
      const std::size_t end = index(std::lower_bound(all.begin(), all.end(), feature_id(band_.last())) - all.begin());
      if (end - begin > PartnerBand::kWidth / 4 && a == 0)
        add_by_feature(block, begin, end);
      else
        for (std::size_t k = begin; k < end; ++k) add_estimator(block, a, k);
    }
  }

  // Estimators begin to end of a block where their features are 0: for most of the band.
  void add_by_feature(RowBlock& block, std::size_t begin, std::size_t end) {
    std::int16_t slots[PartnerBand::kWidth];
    std::fill(slots, slots + PartnerBand::kWidth, std::int16_t{-1});
    for (std::size_t k = begin; k < end; ++k)
      slots[index(block.estimators[0][k]) - band_.first()] = static_cast<std::int16_t>(k - begin);
    const double* shares = block.shares[0].data() + begin * kSide;
    const auto add = [&](bool x, std::size_t j) {
      const std::size_t start = start_[j], n = start_[j + 1] - start;
      checkpoint_.pass(4 * n);
      if (n) add_partners(places_.data() + start, beyond_[0][x].data() + start, n, slots, shares, block.sum(x, j));
    };
    for (std::size_t j = 0; j < tables_.features(); ++j) add(false, j);
    for (const std::int32_t j : block.somewhere) add(true, index(j));
  }

  // The k-th estimator of a block: in all rows side by side, or only in those few in which it has a share.
  void add_estimator(RowBlock& block, int a, std::size_t k) {
    const std::size_t place = index(block.estimators[a][k]) - band_.first();
    const double* shares = block.shares[a].data() + k * kSide;
    const Turned *begin = turned_.data() + estimator_start_[place], *end = turned_.data() + estimator_start_[place + 1];
    checkpoint_.pass(index(end - begin) * 4);
    std::size_t used[kSide], n = 0;
    for (std::size_t r = 0; r < kSide; ++r)
      if (shares[r] > 0.0) used[n++] = r;
    if (n > kFew) {
      add_features(begin, end, a, shares, block.number.data(), block.sums[0].data(), block.sums[1].data());
      return;
    }
    for (const Turned* at = begin; at != end; ++at) {
      const std::size_t j = index(at->feature);
      for (std::size_t t = 0; t < n; ++t) {
        const bool x = block.is_one(j, used[t]);
        block.sum(x, j)[used[t]] += at->beyond[a][x] * shares[used[t]];
      }
    }
  }

  const Tables& tables_;
  std::size_t c_;
  Profiles profiles_;
  PartnerBand band_;
  std::vector<RowBlock>& blocks_;
  std::vector<std::size_t> start_;     // of the partners of each feature, and one more
  PlainVector<std::uint16_t> places_;  // of partners, within the band
  PlainVector<double> beyond_[2][2];   // [a][x]: what j adds where x_j = x and x_i = a, beyond that of features apart
  std::vector<std::size_t> estimator_start_;  // of the partners of each estimator of the band, and one more
  PlainVector<Turned> turned_;                // by estimator: the partners, and the features whose partners they are
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
  std::vector<detail::RowBlock> blocks;
  for (std::size_t c = 0; c < classes; ++c) {
    std::vector<std::size_t> estimators(rows, 0), spread(rows, 0), order;
    std::fill(shares.begin(), shares.end(), -std::numeric_limits<double>::infinity());
    detail::EstimatorBlock block(tables, relations, ancestors, min_frequency, c, c + 1);
    while (block.next()) {
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
      averaging[row * classes + c] = 0.0;
      double *of_row = shares.data() + row * d, *factors = out + (row * classes + c) * d;
      if (averaged[row]) {
        order.push_back(row);
        averaging[row * classes + c] = detail::shares_of(of_row, d) - std::log(static_cast<double>(estimators[row]));
        spread[row] = d - index(std::count(of_row, of_row + d, 0.0));
        continue;
      }
      for (std::size_t v = 0; v < d; ++v) factors[v] = tables.log_root(v, false, c);
      for (const std::int32_t v : ones[row]) factors[v] = tables.log_root(index(v), true, c);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return spread[a] < spread[b]; });
    blocks.resize((order.size() + detail::kSide - 1) / detail::kSide);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::size_t first = b * detail::kSide;
      blocks[b].assign(order.data() + first, std::min(detail::kSide, order.size() - first), ones, shares.data(), d);
    }
    detail::FactorSums sums(tables, relations, ancestors, c, blocks);
    sums.sum([&](std::size_t row, std::size_t j, double factor) { out[(row * classes + c) * d + j] = factor; });
  }
}

}  // namespace hietan
