// The shares of averaged estimators in the scores of rows, and the rows, in blocks that are summed side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "memory.hpp"
#include "models/aode.hpp"

namespace hietan::detail {

// The k with 2^-k <= number < 2^(1 - k), of a number from 2^-1022 to 1. (std::ilogb is a call of a library.)
inline std::size_t magnitude(double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof(bits));
  return 1023 - static_cast<std::size_t>(bits >> 52);
}

// Turns the values ln p_i of d estimators into their shares in the sum of p_i, and returns the entropy of these. The
// smallest estimators, which have less than 2^-44 of the sum together, are left out of it: their shares are 0.
inline double shares_of(double* values, std::size_t d) {
  constexpr double kLeftOut = 1.0 / (std::int64_t{1} << 45);  // twice
  const double largest = *std::max_element(values, values + d);
  const double log_least = std::log(kLeftOut / static_cast<double>(d));  // any d such numbers are left out
  // Of numbers of each magnitude: their sum, and that of the numbers times their logarithms. None is below 2^-127.
  double sums[128] = {}, weighted[128] = {}, all = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    const double log = values[i] - largest, number = log > log_least ? std::exp(log) : 0.0;
    values[i] = number;
    if (number == 0.0) continue;
    sums[magnitude(number)] += number;
    weighted[magnitude(number)] += number * log;
    all += number;
  }
  std::size_t last = 127;
  for (double left_out = 0.0; left_out + sums[last] < kLeftOut * all; --last) left_out += sums[last];
  const double sum = std::accumulate(sums, sums + last + 1, 0.0), least = std::ldexp(1.0, -static_cast<int>(last));
  for (std::size_t i = 0; i < d; ++i) values[i] = values[i] >= least ? values[i] / sum : 0.0;
  return std::log(sum) - std::accumulate(weighted, weighted + last + 1, 0.0) / sum;
}

constexpr std::size_t kSide = 32;  // rows whose factors are summed side by side

// Rows that are summed side by side, in one class. Its memory is used again for the next class.
struct RowBlock {
  std::vector<std::size_t> rows;        // at most kSide of them
  std::vector<std::uint32_t> ones;      // [feature]: bit r is that of the r-th row
  std::vector<std::int32_t> somewhere;  // the features that are 1 in any row
  std::vector<std::int32_t> number;     // [feature]: its number among these, or -1
  LineVector<double> sums[2];           // [x][feature][row]: what features add where they are x; for 1, `somewhere`

  double* sum(bool x, std::size_t j) { return sums[x].data() + (x ? index(number[j]) : j) * kSide; }
  const double* sum(bool x, std::size_t j) const { return sums[x].data() + (x ? index(number[j]) : j) * kSide; }
  bool is_one(std::size_t j, std::size_t r) const { return (ones[j] >> r & 1) != 0; }

  void assign(const std::size_t* first, std::size_t n, const Ones& all_ones, std::size_t d) {
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
  }
};

// The shares of a band of estimators in the rows of a block.
class BandShares {
 public:
  // `all` holds the shares of d estimators in every row.
  BandShares(const double* all, std::size_t d) : all_(all), d_(d) {
    for (LineVector<double>& shares : shares_) shares.resize(PartnerBand::kWidth * kSide);
  }

  void gather(const RowBlock& block, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; i += kTile) turn(block, first, i, std::min(i + kTile, last));
    for (std::vector<std::uint16_t>& places : places_) places.clear();
    const auto& somewhere = block.somewhere;
    const auto begin = std::lower_bound(somewhere.begin(), somewhere.end(), feature_id(first));
    const auto end = std::lower_bound(begin, somewhere.end(), feature_id(last));
    for (auto i = begin; i != end; ++i) set_apart(index(*i) - first, block.ones[index(*i)]);
    for (std::size_t place = 0; place < last - first; ++place) list(false, place);
    for (auto i = begin; i != end; ++i) list(true, index(*i) - first);
  }

  // The places within the band of the estimators that have a share in any row in which their feature is a.
  const std::vector<std::uint16_t>& places(bool a) const { return places_[a]; }
  // [place][row]: the shares in the rows in which the estimator's feature is a; for 1, only those that are listed.
  const double* shares(bool a) const { return shares_[a].data(); }
  const double* shares(bool a, std::size_t place) const { return shares(a) + place * kSide; }

 private:
  static constexpr std::size_t kTile = 64;  // estimators whose shares stay in the nearest cache

  void turn(const RowBlock& block, std::size_t first, std::size_t begin, std::size_t end) {
    for (std::size_t r = 0; r < kSide; ++r) {
      const double* row = r < block.rows.size() ? all_ + block.rows[r] * d_ : nullptr;
      double* to = shares_[0].data() + r;
      for (std::size_t i = begin; i < end; ++i) to[(i - first) * kSide] = row ? row[i] : 0.0;
    }
  }

  // Moves the shares of an estimator in the rows in which its feature is 1.
  void set_apart(std::size_t place, std::uint32_t ones) {
    double *zero = shares_[0].data() + place * kSide, *one = shares_[1].data() + place * kSide;
    for (std::size_t r = 0; r < kSide; ++r) {
      const bool x = (ones >> r & 1) != 0;
      one[r] = x ? zero[r] : 0.0;
      zero[r] = x ? 0.0 : zero[r];
    }
  }

  void list(bool a, std::size_t place) {
    const double* own = shares(a, place);
    if (std::any_of(own, own + kSide, [](double share) { return share > 0.0; }))
      places_[a].push_back(static_cast<std::uint16_t>(place));
  }

  const double* all_;
  std::size_t d_;
  LineVector<double> shares_[2];
  std::vector<std::uint16_t> places_[2];
};

}  // namespace hietan::detail
