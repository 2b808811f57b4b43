// Averaged one-dependence estimators, all rows at once: for each feature i a naive Bayes whose features also depend
// on x_i. With ln P(x_j | c, x_i = a) in tables, the sum over j is that of the zeros plus, for every j at 1, the
// difference that the 1 makes; estimators are handled in blocks, so no table of all pairs is ever held.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
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

constexpr std::size_t kTogether = 4;  // rows whose factors are summed together: each table is then read once for all

// Eight numbers side by side, which compilers that know such types keep in registers.
#if defined(__GNUC__)
using Eight = double __attribute__((vector_size(64)));
#else
struct Eight {
  double number[8];
  friend Eight operator*(double share, const Eight& log) {
    Eight product;
    for (int k = 0; k < 8; ++k) product.number[k] = share * log.number[k];
    return product;
  }
  Eight& operator+=(const Eight& other) {
    for (int k = 0; k < 8; ++k) number[k] += other.number[k];
    return *this;
  }
};
#endif

// sums[r][j] += shares[e][r] logs[e][j] for all e, one term after the other
HIETAN_VECTOR_CLONES
inline void add_products(const double* const* logs, const double (*shares)[kTogether], std::size_t n, std::size_t d,
                         double* const* sums) {
  std::size_t j = 0;
  for (; j + 8 <= d; j += 8) {
    Eight sum[kTogether], log;
    for (std::size_t r = 0; r < kTogether; ++r) std::memcpy(&sum[r], sums[r] + j, sizeof(Eight));
    for (std::size_t e = 0; e < n; ++e) {
      std::memcpy(&log, logs[e] + j, sizeof(Eight));
      for (std::size_t r = 0; r < kTogether; ++r) sum[r] += shares[e][r] * log;
    }
    for (std::size_t r = 0; r < kTogether; ++r) std::memcpy(sums[r] + j, &sum[r], sizeof(Eight));
  }
  for (; j < d; ++j)
    for (std::size_t r = 0; r < kTogether; ++r)
      for (std::size_t e = 0; e < n; ++e) sums[r][j] += shares[e][r] * logs[e][j];
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

  // Of the tables that `fill` makes, only these are needed, where needs(i, a) tells it of estimator i where x_i = a.
  template <class Needs>
  void fill_only(Needs&& needs) {
    is_partial_ = true;
    for (std::size_t k = 0; k < width_; ++k)
      for (int a = 0; a < 2; ++a) needed_[a][k] = needs(first_ + k, a != 0);
  }

  // Keeps the logarithms themselves, for `add_factors`.
  void keep_logs() {
    for (auto& of_value : logs_)
      for (std::vector<double>& table : of_value) table.resize(tables_.features() * kBlock);
    nobody_.resize(tables_.features());
  }

  void fill(std::size_t c, double log_prior) {
    for (int a = 0; a < 2; ++a)
      for (std::size_t k = 0; k < width_; ++k) base_[a][k] = log_prior + tables_.log_even_root(first_ + k, a != 0, c);
    for (std::size_t j = 0; j < tables_.features(); ++j) is_partial_ ? fill_row<true>(j, c) : fill_row<false>(j, c);
  }

  // Calls `visit` with the number and the value of each estimator of the block that qualifies for a row; returns how
  // many do. `batch` holds the words of the row's batch, and `ones` its features that are 1.
  template <class Visit>
  std::size_t evaluate(const Word* batch, std::size_t lane, const std::vector<std::int32_t>& ones,
                       Visit&& visit) const {
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
      visit(first_ + k, sum[k]);
      ++qualified;
    }
    return qualified;
  }

  // A row whose factors are summed: its words and its features at 1, the shares of all estimators, and where to add.
  struct SummedRow {
    const Word* batch;
    std::size_t lane;
    const std::vector<std::int32_t>* ones;
    const double* shares;
    double* out;
  };

  // out[j] += what feature j adds to the estimators of the block, times the shares of these, for one class and up to
  // kTogether rows. Most features are 0: what zeros add is summed up for all features, and those at 1 get sums of their
  // own. A share of 0 adds nothing, so each row has the sum that it would have alone.
  void add_factors(const SummedRow* rows, std::size_t n_rows, std::size_t c) {
    const std::size_t d = tables_.features();
    const double *zero[2 * kBlock], *one[2 * kBlock];
    double shares[2 * kBlock][kTogether];
    std::size_t n = 0;
    for (std::size_t k = 0; k < width_; ++k)
      for (int a = 0; a < 2; ++a) {
        bool is_used = false;
        for (std::size_t r = 0; r < kTogether; ++r) {
          const bool counts = r < n_rows && rows[r].shares[first_ + k] > 0.0 &&
                              has_bit(rows[r].batch[first_ + k], rows[r].lane) == (a != 0);
          shares[n][r] = counts ? rows[r].shares[first_ + k] : 0.0;
          if (counts) rows[r].out[first_ + k] += shares[n][r] * tables_.log_even_root(first_ + k, a != 0, c);
          is_used = is_used || counts;
        }
        if (!is_used) continue;
        zero[n] = logs_[a][0].data() + k * d;
        one[n++] = logs_[a][1].data() + k * d;
      }
    if (n == 0) return;
    double* sums[kTogether];
    for (std::size_t r = 0; r < kTogether; ++r) {
      sums[r] = r < n_rows ? rows[r].out : nobody_.data();
      if (r < n_rows) sum_ones(*rows[r].ones, one, shares, n, r, sums[r]);
    }
    add_products(zero, shares, n, d, sums);
    for (std::size_t r = 0; r < n_rows; ++r)
      for (std::size_t o = 0; o < rows[r].ones->size(); ++o) sums[r][(*rows[r].ones)[o]] = at_one_[r][o];
  }

 private:
  // at_one_[r][o] = what `out` is to be at the o-th of the features at 1 of row r.
  void sum_ones(const std::vector<std::int32_t>& ones, const double* const* one, const double (*shares)[kTogether],
                std::size_t n, std::size_t r, const double* out) {
    std::vector<double>& sums = at_one_[r];
    sums.clear();
    for (const std::int32_t j : ones) sums.push_back(out[j]);
    for (std::size_t e = 0; e < n; ++e) {
      const double share = shares[e][r];
      if (share <= 0.0) continue;
      for (std::size_t o = 0; o < ones.size(); ++o) sums[o] += share * one[e][ones[o]];
    }
  }

  // What feature j adds to the estimators of the block: to those that are needed, or to all.
  template <bool partial>
  void fill_row(std::size_t j, std::size_t c) {
    const double naive[2] = {tables_.log_root(j, false, c), tables_.log_root(j, true, c)};
    const Role* roles = roles_.data() + j * kBlock;
    const std::int32_t* pairs = pairs_.data() + j * kBlock * tables_.classes();
    for (int a = 0; a < 2; ++a) {
      double *base = base_[a].data(), *difference = difference_[a].data() + j * kBlock;
      for (std::size_t k = 0; k < width_; ++k) {
        if (partial && !needed_[a][k]) continue;
        double log[2] = {0.0, 0.0};
        if (roles[k] == Role::child)
          tables_.log_child(j, first_ + k, {pairs + k * tables_.classes(), 1}, a != 0, c, log);
        else if (roles[k] == Role::naive)
          std::copy(naive, naive + 2, log);
        base[k] += log[0];
        difference[k] = log[1] - log[0];
        if (partial && !logs_[a][0].empty())
          for (int x = 0; x < 2; ++x) logs_[a][x][k * tables_.features() + j] = log[x];
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
  bool is_partial_ = false;
  bool needed_[2][kBlock] = {};        // whether a row may have this value of the k-th feature of the block
  std::vector<double> difference_[2];  // [a][j][k]: what x_j = 1 instead of 0 adds to the k-th estimator where x_i = a
  std::vector<double> base_[2];        // [a][k]: the estimator's value where all other features are 0
  std::vector<double> logs_[2][2];     // [a][x][k][j]: what x_j = x adds to the k-th estimator where x_i = a, if kept
  std::vector<double> at_one_[kTogether];  // the sums of the features at 1 of each row
  std::vector<double> nobody_;             // the sums of a row that is not there
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
        detail::LogSum& sum = sums[row * classes + c];
        const auto add = [&](std::size_t, double value) { sum.add(value); };
        const std::size_t qualified = block.evaluate(batch(row), row % kLanes, ones[row], add);
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

namespace detail {

// out[row][class][i] = ln p_i, the value of estimator i; -infinity for those that do not qualify. Returns how many do
// for each row.
inline std::vector<std::size_t> estimator_values(EstimatorBlock& block, std::size_t d, std::size_t classes,
                                                 const Word* words, std::size_t rows,
                                                 const std::vector<std::vector<std::int32_t>>& ones,
                                                 const double* log_prior, double* out) {
  std::fill(out, out + rows * classes * d, -std::numeric_limits<double>::infinity());
  std::vector<std::size_t> estimators(rows, 0);
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < d; first += kBlock) {
    block.start(first);
    block.fill_only([&](std::size_t i, bool a) {
      for (std::size_t row = 0; row < rows; ++row)
        if (has_bit(words[row / kLanes * d + i], row % kLanes) == a) return true;
      return false;
    });
    for (std::size_t c = 0; c < classes; ++c) {
      checkpoint.pass(d * kBlock);
      block.fill(c, log_prior[c]);
      for (std::size_t row = 0; row < rows; ++row) {
        checkpoint.pass(ones[row].size());
        double* values = out + (row * classes + c) * d;
        const auto keep = [&](std::size_t i, double value) { values[i] = value; };
        const std::size_t qualified = block.evaluate(words + row / kLanes * d, row % kLanes, ones[row], keep);
        if (c == 0) estimators[row] += qualified;
      }
    }
  }
  return estimators;
}

// Turns the values of d estimators into their shares in the sum of p_i, and returns the entropy of these. Shares far
// below the last bit of what they would add to are 0.
inline double shares_of(double* values, std::size_t d) {
  LogSum sum;
  for (std::size_t i = 0; i < d; ++i) sum.add(values[i]);
  const double total = sum.value();
  double entropy = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    const double share = std::exp(values[i] - total);
    if (share >= 1e-18) entropy -= share * (values[i] - total);
    values[i] = share >= 1e-18 ? share : 0.0;
  }
  return entropy;
}

}  // namespace detail

// The parts of the joint log-probability of some rows. With q_i the share of estimator i in their sum,
// ln sum_i p_i = sum_i q_i ln p_i + H(q): out[row][class][feature] are the factors of ln p_i weighted by q,
// averaging[row][class] is H(q) less the log of the number of estimators, and the rest is `log_prior`.
// averaged[row] is whether any estimator qualifies; where none does, the factors are naive Bayes's.
inline void aode_factors(const Tables& tables, const Relations& relations, Ancestors ancestors,
                         std::int64_t min_frequency, const Word* words, std::size_t rows, const double* log_prior,
                         double* out, double* averaging, bool* averaged) {
  const std::size_t d = tables.features(), classes = tables.classes();
  const auto batch = [&](std::size_t row) { return words + row / kLanes * d; };
  std::fill(out, out + rows * d * classes, 0.0);
  std::fill(averaging, averaging + rows * classes, 0.0);
  const std::vector<std::vector<std::int32_t>> ones = detail::features_at_one(words, rows, d);
  std::vector<double> shares(rows * classes * d), naive(classes);
  detail::EstimatorBlock block(tables, relations, ancestors, min_frequency);
  const std::vector<std::size_t> estimators =
      detail::estimator_values(block, d, classes, words, rows, ones, log_prior, shares.data());
  for (std::size_t row = 0; row < rows; ++row) {
    averaged[row] = estimators[row] > 0;
    double* factors = out + row * d * classes;
    for (std::size_t v = 0; !averaged[row] && v < d; ++v) {
      std::fill(naive.begin(), naive.end(), 0.0);
      tables.add_root(v, has_bit(batch(row)[v], row % kLanes), naive.data());
      for (std::size_t c = 0; c < classes; ++c) factors[c * d + v] = naive[c];
    }
    for (std::size_t c = 0; c < classes; ++c) {
      double* of_class = shares.data() + (row * classes + c) * d;
      if (averaged[row])
        averaging[row * classes + c] = detail::shares_of(of_class, d) - std::log(static_cast<double>(estimators[row]));
      else
        std::fill(of_class, of_class + d, 0.0);
    }
  }
  block.keep_logs();
  Checkpoint checkpoint;
  for (std::size_t first = 0; first < d; first += detail::kBlock) {
    block.start(first);
    for (std::size_t c = 0; c < classes; ++c) {
      block.fill_only([&](std::size_t i, bool a) {
        for (std::size_t row = 0; row < rows; ++row)
          if (shares[(row * classes + c) * d + i] > 0.0 && has_bit(batch(row)[i], row % kLanes) == a) return true;
        return false;
      });
      checkpoint.pass(d * detail::kBlock);
      block.fill(c, 0.0);
      for (std::size_t row = 0; row < rows; row += detail::kTogether) {
        const std::size_t together = std::min(detail::kTogether, rows - row);
        detail::EstimatorBlock::SummedRow summed[detail::kTogether];
        for (std::size_t r = row; r < row + together; ++r)
          summed[r - row] = {batch(r), r % kLanes, &ones[r], shares.data() + (r * classes + c) * d,
                             out + (r * classes + c) * d};
        checkpoint.pass(d * together);
        block.add_factors(summed, together, c);
      }
    }
  }
}

}  // namespace hietan
