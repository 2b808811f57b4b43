// Where the keys of the edges come from: an array of all of them, or sparse counts, from which the keys of pairs that
// never co-occur are computed on demand.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <variant>
#include <vector>

#include "trees/histogram.hpp"
#include "trees/information.hpp"

namespace hietan {

// The keys of the pairs i < j, row after row of the upper triangle.
class DenseKeys {
 public:
  static constexpr bool kRowsAscend = true;
  DenseKeys(const std::int64_t* keys, std::size_t d) : keys_(keys), d_(d), varies_(d, 0) {
    std::uint64_t beyond = 0;  // the top bit is set once a key is below -kLimit, or kLimit and more
    for (std::size_t i = 0; i < d; ++i) {
      const std::int64_t* row = keys + row_start(i, d);
      std::uint8_t any = 0;
      for (std::size_t j = i + 1; j < d; ++j) {
        const std::int64_t key = row[j - i - 1];
        histogram_.add(key);
        beyond |= static_cast<std::uint64_t>(key) + kLimit;
        const auto varies = static_cast<std::uint8_t>(key != 0);
        varies_[j] |= varies;
        any |= varies;
      }
      varies_[i] |= any;
      if (i % kStrip == 0) Listener::ask();
    }
    if (beyond >> 63U) throw std::invalid_argument("keys must be from -2**62 to 2**62 - 1");
  }

  const KeyHistogram& histogram() const { return histogram_; }
  // How many edges a first block should hold: each block costs a pass over everything that `within` visits.
  std::size_t portion() const { return pair_total(d_) / 32; }

  // Whether any edge of each feature has a key other than 0.
  const std::vector<std::uint8_t>& varies() const { return varies_; }

  // Calls f(i, j, key) for the edges of a cut, row after row, j ascending.
  template <typename F>
  void within(const KeyHistogram::Cut& cut, F&& f) const {
    const std::int64_t low = cut.low(), high = cut.high();
    Checkpoint checkpoint;
    for (std::size_t i = cut.first; i < std::min(cut.last, d_); ++i) {
      checkpoint.pass(d_ - i);
      const std::int64_t* row = keys_ + row_start(i, d_);
      for (std::size_t j = i + 1; j < d_; ++j) {
        const std::int64_t key = row[j - i - 1];
        if (key >= low && key < high) f(i, j, key);
      }
    }
  }

 private:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 62U;  // the histogram tells keys apart up to here
  static constexpr std::size_t kStrip = 256;                        // rows of keys: some milliseconds

  const std::int64_t* keys_;
  std::size_t d_;
  std::vector<std::uint8_t> varies_;
  KeyHistogram histogram_;
};

// The key of a pair that never co-occurs depends only on the two features' numbers of ones, and most features share
// theirs with many others. So there are keys of the pairs that co-occur, and keys of pairs of groups of features, far
// fewer than pairs of features; where even these are many, they are recomputed for each block that may hold some.
class SparseKeys {
 public:
  static constexpr bool kRowsAscend = false;

  explicit SparseKeys(const Counts& counts)
      : counts_(counts), information_(counts), group_(counts.d), keys_(entries(counts)) {
    find_groups();
    information_.with_logs([&](const auto& logs) {
      std::vector<double> sum;
      Checkpoint checkpoint;
      for (std::size_t i = 0; i < counts.d; ++i) {
        checkpoint.pass(index(counts.indptr[i + 1] - counts.indptr[i]) * counts.classes);
        fill_row(logs, i, sum);
      }
    });
    for (const std::int64_t key : keys_) histogram_.add(key);
    tally_groups();
    find_varying();
  }

  const KeyHistogram& histogram() const { return histogram_; }
  std::size_t portion() const { return std::min(keys_.size() / 4, pair_total(counts_.d) / 32); }

  const std::vector<std::uint8_t>& varies() const { return varies_; }

  // The same, group after group, so that what a group's features have in common is found once.
  template <typename F>
  void within(const KeyHistogram::Cut& cut, F&& f) const {
    const std::int64_t low = cut.low(), high = cut.high();
    std::vector<std::int64_t> space;
    std::vector<std::int32_t> partners;
    Checkpoint checkpoint;
    for (std::size_t g = 0; g < groups(); ++g) {
      checkpoint.pass(groups());
      const auto begin = member_.begin() + static_cast<std::ptrdiff_t>(start_[g]);
      const auto end = member_.begin() + static_cast<std::ptrdiff_t>(start_[g + 1]);
      const auto first = std::lower_bound(begin, end, cut.first), last = std::lower_bound(first, end, cut.last);
      if (first == last) continue;
      partners.clear();
      const std::int64_t* apart = nullptr;
      if (highest_[g] >= low && lowest_[g] < high) {
        apart = apart_keys(g, space);
        for (std::size_t j = *first + 1; j < counts_.d; ++j) {
          const std::int64_t key = apart[group_[j]];
          if (key >= low && key < high) partners.push_back(feature_id(j));
        }
      }
      for (auto i = first; i != last; ++i) {
        checkpoint.pass(partners.size() + index(counts_.indptr[*i + 1] - counts_.indptr[*i]));
        row_within(*i, low, high, partners, apart, f);
      }
    }
  }

  // The keys of row i: of its pairs with every j > i.
  void row(std::size_t i, std::int64_t* out) const {
    std::vector<std::int64_t> space;
    const std::int64_t* apart = apart_keys(group_[i], space);
    for (std::size_t j = i + 1; j < counts_.d; ++j) out[j - i - 1] = apart[group_[j]];
    for (std::int64_t e = counts_.indptr[i]; e < counts_.indptr[i + 1]; ++e)
      out[index(counts_.indices[e]) - i - 1] = keys_[index(e)];
  }

 private:
  static constexpr std::size_t kMaxKeptGroups = 4096;  // 128 MB

  static std::size_t entries(const Counts& counts) { return index(counts.indptr[counts.d]); }
  std::size_t groups() const { return start_.size() - 1; }
  std::size_t size(std::size_t g) const { return start_[g + 1] - start_[g]; }

  // Features with the same number of ones in every class, in column order within their group.
  void find_groups() {
    const std::size_t d = counts_.d;
    member_.resize(d);
    std::iota(member_.begin(), member_.end(), std::size_t{0});
    const auto compare = [&](std::size_t a, std::size_t b) {
      for (std::size_t c = 0; c < counts_.classes; ++c) {
        const std::int32_t x = counts_.ones_of(c)[a], y = counts_.ones_of(c)[b];
        if (x != y) return x < y ? -1 : 1;
      }
      return 0;
    };
    std::stable_sort(member_.begin(), member_.end(), [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
    for (std::size_t m = 0; m < d; ++m) {
      if (m == 0 || compare(member_[m - 1], member_[m])) start_.push_back(m);
      group_[member_[m]] = static_cast<std::uint32_t>(start_.size() - 1);
    }
    start_.push_back(d);
  }

  template <typename Logs>
  void fill_row(const Logs& logs, std::size_t i, std::vector<double>& sum) {
    const std::size_t from = index(counts_.indptr[i]), to = index(counts_.indptr[i + 1]);
    sum.assign(to - from, 0.0);
    for (std::size_t c = 0; c < counts_.classes; ++c) {
      const auto row = information_.row(logs, i, c);
      const std::int32_t* one = counts_.ones_of(c);
      for (std::size_t e = from; e < to; ++e) {
        const std::size_t j = index(counts_.indices[e]);
        sum[e - from] += row.term(counts_.pairs[e * counts_.classes + c], one[j], information_.margin(j, c));
      }
    }
    for (std::size_t e = from; e < to; ++e) keys_[e] = information_.key(sum[e - from]);
  }

  // Counts the pairs of features of two groups, less those that co-occur and have a key of their own.
  void tally_groups() {
    highest_.assign(groups(), INT64_MIN);
    lowest_.assign(groups(), INT64_MAX);
    if (groups() <= kMaxKeptGroups) apart_.resize(groups() * groups());
    std::vector<std::int64_t> space(groups());
    std::vector<std::size_t> together(groups());
    Checkpoint checkpoint;
    for (std::size_t g = 0; g < groups(); ++g) {
      checkpoint.pass(groups() * counts_.classes);
      std::int64_t* apart = apart_.empty() ? space.data() : apart_.data() + g * groups();
      compute_apart(g, apart);
      for (std::size_t h = g; h < groups(); ++h) {
        histogram_.add(apart[h], h == g ? size(g) * (size(g) - 1) / 2 : size(g) * size(h));
        for (const std::size_t k : {g, h}) {
          highest_[k] = std::max(highest_[k], apart[h]);
          lowest_[k] = std::min(lowest_[k], apart[h]);
        }
      }
      std::fill(together.begin(), together.end(), 0);
      for (std::size_t m = start_[g]; m < start_[g + 1]; ++m)
        for (std::int64_t e = counts_.indptr[member_[m]]; e < counts_.indptr[member_[m] + 1]; ++e)
          ++together[group_[index(counts_.indices[e])]];
      for (std::size_t h = 0; h < groups(); ++h) histogram_.remove(apart[h], together[h]);
    }
  }

  void find_varying() {
    varies_.resize(counts_.d);
    for (std::size_t i = 0; i < counts_.d; ++i) {
      if (highest_[group_[i]] != 0 || lowest_[group_[i]] != 0) varies_[i] = 1;
      for (std::int64_t e = counts_.indptr[i]; e < counts_.indptr[i + 1]; ++e)
        if (keys_[index(e)] != 0) varies_[i] = varies_[index(counts_.indices[e])] = 1;
    }
  }

  // The keys of pairs that never co-occur, of group g with every group; computed into `space` if they are not kept.
  const std::int64_t* apart_keys(std::size_t g, std::vector<std::int64_t>& space) const {
    if (!apart_.empty()) return apart_.data() + g * groups();
    space.resize(groups());
    compute_apart(g, space.data());
    return space.data();
  }

  void compute_apart(std::size_t g, std::int64_t* out) const {
    std::vector<double> sum(groups(), 0.0);
    information_.with_logs([&](const auto& logs) {
      for (std::size_t c = 0; c < counts_.classes; ++c) {
        const auto row = information_.row(logs, member_[start_[g]], c);
        const std::int32_t* one = counts_.ones_of(c);
        for (std::size_t h = 0; h < groups(); ++h) {
          const std::size_t j = member_[start_[h]];
          // Two features with more ones in total than there are rows always co-occur: such a key is never read.
          if (one[j] <= row.rest) sum[h] += row.term(0, one[j], information_.margin(j, c));
        }
      }
    });
    for (std::size_t h = 0; h < groups(); ++h) out[h] = information_.key(sum[h]);
  }

  // Merges two ascending lists: the features that co-occur with i, and those that do not but whose key with i is in
  // range.
  template <typename F>
  void row_within(std::size_t i, std::int64_t low, std::int64_t high, const std::vector<std::int32_t>& partners,
                  const std::int64_t* apart, F& f) const {
    const std::size_t end = index(counts_.indptr[i + 1]);
    std::size_t e = index(counts_.indptr[i]);
    const auto together = [&](std::int32_t before) {
      for (; e < end && counts_.indices[e] < before; ++e)
        if (keys_[e] >= low && keys_[e] < high) f(i, index(counts_.indices[e]), keys_[e]);
    };
    for (auto p = std::upper_bound(partners.begin(), partners.end(), feature_id(i)); p != partners.end(); ++p) {
      together(*p);
      if (e < end && counts_.indices[e] == *p) continue;
      const std::size_t j = index(*p);
      f(i, j, apart[group_[j]]);
    }
    together(INT32_MAX);
  }

  Counts counts_;
  Information information_;
  std::vector<std::uint32_t> group_;            // of each feature
  std::vector<std::size_t> member_, start_;     // the features of group g: member_[start_[g]] .. member_[start_[g + 1]]
  std::vector<std::int64_t> keys_;              // of the pairs that co-occur
  std::vector<std::int64_t> apart_;             // of those that don't, [group][group], unless there are many groups
  std::vector<std::int64_t> highest_, lowest_;  // the same, of each group
  std::vector<std::uint8_t> varies_;            // each feature
  KeyHistogram histogram_;
};

// Either kind. Both offer histogram(), portion(), varies(), within() and kRowsAscend: whether within() visits the rows
// in ascending order.
using Keys = std::variant<std::shared_ptr<const DenseKeys>, std::shared_ptr<const SparseKeys>>;

template <typename F>
decltype(auto) visit_keys(const Keys& keys, F&& f) {
  return std::visit([&](const auto& either) -> decltype(auto) { return f(*either); }, keys);
}

}  // namespace hietan
