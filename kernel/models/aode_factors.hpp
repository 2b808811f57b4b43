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
#include <memory>
#include <numeric>
#include <vector>

#include "memory.hpp"
#include "models/aode.hpp"
#include "models/row_blocks.hpp"

namespace hietan {

namespace detail {

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

// sum[row] += logs[e] shares[places[e]][row] for n entries e, in the rows of some groups of four
template <std::size_t kGroups>
inline void add_to_groups(const std::uint16_t* places, const double* logs, std::size_t n, const std::size_t* groups,
                          const double* shares, double* sum) {
  Four own[kGroups], share;
  for (std::size_t k = 0; k < kGroups; ++k) std::memcpy(&own[k], sum + 4 * groups[k], sizeof(Four));
  for (std::size_t e = 0; e < n; ++e) {
    const double* from = shares + places[e] * kSide;
    for (std::size_t k = 0; k < kGroups; ++k) {
      std::memcpy(&share, from + 4 * groups[k], sizeof(Four));
      own[k] += logs[e] * share;
    }
  }
  for (std::size_t k = 0; k < kGroups; ++k) std::memcpy(sum + 4 * groups[k], &own[k], sizeof(Four));
}

HIETAN_VECTOR_CLONES
inline void add_partners(const std::uint16_t* places, const double* logs, std::size_t n, const double* shares,
                         double* sum) {
  constexpr std::size_t kAll[] = {0, 1, 2, 3, 4, 5, 6, 7};
  static_assert(sizeof(kAll) / sizeof(*kAll) == kSide / 4);
  add_to_groups<kSide / 4>(places, logs, n, kAll, shares, sum);
}

constexpr std::size_t kFewGroups = 4;  // of rows, which it takes half the time to sum

HIETAN_VECTOR_CLONES
inline void add_partners_of_few(const std::uint16_t* places, const double* logs, std::size_t n,
                                const std::size_t* groups, const double* shares, double* sum) {
  add_to_groups<kFewGroups>(places, logs, n, groups, shares, sum);
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

// The factors of one class, in blocks of rows.
class FactorSums {
 public:
  // `shares` are those of all estimators in every row.
  FactorSums(const Tables& tables, const Relations& relations, Ancestors ancestors, std::size_t c, const double* shares,
             std::vector<RowBlock>& blocks)
      : tables_(tables),
        c_(c),
        profiles_(tables, c),
        band_(tables, relations, ancestors, c, c + 1),
        blocks_(blocks),
        shares_(shares, tables.features()),
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
    std::vector<std::vector<double>> shares[2];  // [a][block][profile and row]
    for (const RowBlock& block : blocks_) add_shares_of_profiles(block, shares);
    for (const int a : {0, 1}) {
      std::vector<double> logs[2] = {std::vector<double>(n), std::vector<double>(n)};
      for (std::size_t g = 0; g < n; ++g) {
        log_profiles(g, a != 0, logs);
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
          const double* of_profile = shares[a][b].data() + g * kSide;
          if (std::all_of(of_profile, of_profile + kSide, [](double share) { return share == 0.0; })) continue;
          checkpoint_.pass(n * kSide);
          for (const int x : {0, 1}) add_profiles(logs[x].data(), of_profile, n, sums[x][b].data());
        }
      }
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      RowBlock& block = blocks_[b];
      block.sums[0].resize(tables_.features() * kSide);
      block.sums[1].resize(block.somewhere.size() * kSide);
      const auto begin = [&](bool x, std::size_t j) {
        const double* sum = sums[x][b].data() + profiles_.of(j) * kSide;
        std::copy(sum, sum + kSide, block.sum(x, j));
      };
      for (std::size_t j = 0; j < tables_.features(); ++j) begin(false, j);
      for (const std::int32_t j : block.somewhere) begin(true, index(j));
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

  void add_shares_of_profiles(const RowBlock& block, std::vector<std::vector<double>>* shares) {
    for (const int a : {0, 1}) shares[a].emplace_back(profiles_.count() * kSide, 0.0);
    for (std::size_t first = 0; first < tables_.features(); first += PartnerBand::kWidth) {
      shares_.gather(block, first, std::min(first + PartnerBand::kWidth, tables_.features()));
      for (const int a : {0, 1})
        for (const std::uint16_t place : shares_.places(a != 0)) {
          const double* own = shares_.shares(a != 0, place);
          double* sum = shares[a].back().data() + profiles_.of(first + place) * kSide;
          for (std::size_t r = 0; r < kSide; ++r) sum[r] += own[r];
        }
    }
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
    shares_.gather(block, band_.first(), band_.last());
    if (shares_.places(false).size() > PartnerBand::kWidth / 4)
      add_by_feature(block);
    else
      for (const std::uint16_t place : shares_.places(false)) add_estimator(block, 0, place);
    for (const std::uint16_t place : shares_.places(true)) add_estimator(block, 1, place);
  }

  // All estimators of the band where their features are 0: most have a share.
  void add_by_feature(RowBlock& block) {
    const double* shares = shares_.shares(false);
    for (std::size_t j = 0; j < tables_.features(); ++j) {
      const std::size_t start = start_[j], n = start_[j + 1] - start;
      if (n == 0) continue;
      checkpoint_.pass(8 * n);
      const std::uint16_t* places = places_.data() + start;
      add_partners(places, beyond_[0][0].data() + start, n, shares, block.sum(false, j));
      if (block.ones[j]) add_where_one(places, beyond_[0][1].data() + start, n, block.ones[j], block.sum(true, j));
    }
  }

  // Only rows with a bit need the sum; it may be anything in others.
  void add_where_one(const std::uint16_t* places, const double* logs, std::size_t n, std::uint32_t ones, double* sum) {
    std::size_t groups[kSide / 4], some = 0;
    for (std::size_t k = 0; k < kSide / 4; ++k)
      if (ones >> 4 * k & 15) groups[some++] = k;
    if (some > kFewGroups) return add_partners(places, logs, n, shares_.shares(false), sum);
    std::fill(groups + some, groups + kFewGroups, groups[some - 1]);  // the same sum again
    add_partners_of_few(places, logs, n, groups, shares_.shares(false), sum);
  }

  // One estimator: in all rows side by side, or only in those few in which it has a share.
  void add_estimator(RowBlock& block, int a, std::size_t place) {
    const double* shares = shares_.shares(a != 0, place);
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
  BandShares shares_;
  std::vector<std::size_t> start_;     // of the partners of each feature, and one more
  PlainVector<std::uint16_t> places_;  // of partners, within the band
  PlainVector<double> beyond_[2][2];   // [a][x]: what j adds where x_j = x and x_i = a, beyond that of features apart
  std::vector<std::size_t> estimator_start_;  // of the partners of each estimator of the band, and one more
  PlainVector<Turned> turned_;                // by estimator: the partners, and the features whose partners they are
  Checkpoint checkpoint_;
};

// Calls write(row, c, j, factor) for all rows, classes c and features j, class by class; the rest as `aode_factors`.
template <class Write>
inline void take_averages_apart(const Tables& tables, const Relations& relations, Ancestors ancestors,
                                std::int64_t min_frequency, const Word* words, std::size_t rows,
                                const double* log_prior, double* averaging, bool* averaged, Write&& write) {
  const std::size_t d = tables.features(), classes = tables.classes();
  const Ones ones = features_at_one(words, rows, d);
  Checkpoint checkpoint;
  PlainVector<double> shares(rows * d);
  std::vector<RowBlock> blocks;
  for (std::size_t c = 0; c < classes; ++c) {
    std::vector<std::size_t> estimators(rows, 0), spread(rows, 0), order;
    std::fill(shares.begin(), shares.end(), -std::numeric_limits<double>::infinity());
    EstimatorBlock block(tables, relations, ancestors, min_frequency, c, c + 1);
    while (block.next()) {
      checkpoint.pass(d * kBlock);
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
      double* of_row = shares.data() + row * d;
      if (averaged[row]) {
        order.push_back(row);
        averaging[row * classes + c] = shares_of(of_row, d) - std::log(static_cast<double>(estimators[row]));
        spread[row] = d - index(std::count(of_row, of_row + d, 0.0));
        continue;
      }
      auto one = ones[row].begin();
      for (std::size_t v = 0; v < d; ++v) {
        const bool x = one != ones[row].end() && index(*one) == v;
        one += x;
        write(row, c, v, tables.log_root(v, x, c));
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return spread[a] < spread[b]; });
    blocks.resize((order.size() + kSide - 1) / kSide);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::size_t first = b * kSide;
      blocks[b].assign(order.data() + first, std::min(kSide, order.size() - first), ones, d);
    }
    FactorSums sums(tables, relations, ancestors, c, shares.data(), blocks);
    sums.sum([&](std::size_t row, std::size_t j, double factor) { write(row, c, j, factor); });
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
  detail::take_averages_apart(
      tables, relations, ancestors, min_frequency, words, rows, log_prior, averaging, averaged,
      [&](std::size_t row, std::size_t c, std::size_t j, double factor) { out[(row * classes + c) * d + j] = factor; });
}

// out[row][feature] = the factors of class `target` less those of the other one, of two classes.
inline void aode_contributions(const Tables& tables, const Relations& relations, Ancestors ancestors,
                               std::int64_t min_frequency, const Word* words, std::size_t rows, const double* log_prior,
                               std::size_t target, double* out) {
  const std::size_t d = tables.features();
  std::vector<double> averaging(rows * tables.classes());
  const std::unique_ptr<bool[]> averaged(new bool[rows]);
  detail::take_averages_apart(tables, relations, ancestors, min_frequency, words, rows, log_prior, averaging.data(),
                              averaged.get(), [&](std::size_t row, std::size_t c, std::size_t j, double factor) {
                                const double own = c == target ? factor : -factor;
                                out[row * d + j] = c == 0 ? own : out[row * d + j] + own;
                              });
}

}  // namespace hietan
