// Where the keys of the edges come from: an array of all of them, or sparse counts, from which the keys of pairs that
// never co-occur are computed on demand.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <variant>
#include <vector>

#include "counts/ranges.hpp"
#include "memory.hpp"
#include "trees/histogram.hpp"
#include "trees/information.hpp"

namespace hietan {

// The keys of the pairs i < j, row after row of the upper triangle.
class DenseKeys {
 public:
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

  // Calls f(i, j, key) for one of `parts` parts of the edges of a cut: all those of some rows, row after row, j
  // ascending.
  template <typename F>
  void within(const KeyHistogram::Cut& cut, std::size_t part, std::size_t parts, F&& f) const {
    const std::int64_t low = cut.low(), high = cut.high();
    Checkpoint checkpoint;
    for (std::size_t i = cut.first + part; i < std::min(cut.last, d_); i += parts) {
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
// fewer than pairs of features. Even these are many: of tiles of groups only the extremes are kept, and the keys are
// computed again for each block that may hold some.
class SparseKeys {
 public:
  explicit SparseKeys(const Counts& counts) : SparseKeys(counts, 1) { compute(0); }
  // To be computed in parts, by any number of threads; nothing else may be called before all are done.
  SparseKeys(const Counts& counts, std::size_t parts)
      : counts_(counts),
        information_(counts),
        group_(counts.d),
        keys_(entries(counts)),
        varies_(counts.d, 0),
        parts_(parts) {
    find_groups();
    tile_ = std::max(kTile, index(std::uint64_t{groups()} * groups() / kMaxExtremes));
    extremes_.resize(groups() * tiles());
    std::vector<std::size_t> pairs(counts.d);
    for (std::size_t i = 0; i < counts.d; ++i) pairs[i] = index(counts.indptr[i + 1] - counts.indptr[i]);
    rows_ = equal_ranges(pairs, parts);
  }

  // The keys of some rows' pairs that co-occur, and of some groups' pairs that do not. What the parts find is added up,
  // so it does not matter in which order they are done.
  void compute(std::size_t part) {
    parts_.take(part);
    Found found(counts_.d, groups());
    fill_rows(rows_[part], rows_[part + 1], found);
    std::vector<std::int64_t> apart(groups());
    std::vector<std::size_t> together(groups());
    Checkpoint checkpoint;
    for (std::size_t g = part; g < groups(); g += parts_.size()) {
      checkpoint.pass(groups() * counts_.classes);
      tally_group(g, apart, together, found);
    }
    const std::scoped_lock guard(mutex_);
    add(found);
    parts_.finish();
  }
  bool complete() const { return parts_.all_done(); }

  const KeyHistogram& histogram() const { return histogram_; }
  std::size_t portion() const { return std::min({entries(counts_) / 4, pair_total(counts_.d) / 32, kLargest}); }

  const std::vector<std::uint8_t>& varies() const { return varies_; }

  // The same, group after group, so that what a group's features have in common is found once.
  template <typename F>
  void within(const KeyHistogram::Cut& cut, std::size_t part, std::size_t parts, F&& f) const {
    const std::int64_t low = cut.low(), high = cut.high();
    std::vector<std::int64_t> apart(groups());
    std::vector<std::int32_t> partners;
    std::vector<Word> marked(word_count(counts_.d), 0);
    Checkpoint checkpoint;
    for (std::size_t g = part; g < groups(); g += parts) {
      checkpoint.pass(tiles());
      const auto begin = member_.begin() + static_cast<std::ptrdiff_t>(start_[g]);
      const auto end = member_.begin() + static_cast<std::ptrdiff_t>(start_[g + 1]);
      const auto first = std::lower_bound(begin, end, cut.first), last = std::lower_bound(first, end, cut.last);
      if (first == last) continue;
      mark_partners(g, *first, low, high, apart, marked);
      take_marked(marked, partners);
      for (auto i = first; i != last; ++i) {
        checkpoint.pass(partners.size() + index(counts_.indptr[*i + 1] - counts_.indptr[*i]));
        row_within(*i, low, high, partners, apart.data(), f);
      }
    }
  }

  // The keys of row i: of its pairs with every j > i.
  void row(std::size_t i, std::int64_t* out) const {
    std::vector<std::int64_t> apart(groups());
    compute_apart(group_[i], 0, groups(), apart.data());
    for (std::size_t j = i + 1; j < counts_.d; ++j) out[j - i - 1] = apart[group_[j]];
    for (std::int64_t e = counts_.indptr[i]; e < counts_.indptr[i + 1]; ++e)
      out[index(counts_.indices[e]) - i - 1] = keys_[index(e)];
  }

 private:
  static constexpr std::size_t kTile = 64, kMaxExtremes = std::size_t{1} << 22;  // 64 MB
  static constexpr std::size_t kLargest = std::size_t{1} << 23;                  // edges of a first block: some 400 MB

  // What a part adds to the whole.
  struct Found {
    Found(std::size_t d, std::size_t groups) : varies(d, 0), any_apart(groups, 0) {}
    KeyHistogram histogram;
    std::vector<std::uint8_t> varies;     // features with a key other than 0 where they co-occur
    std::vector<std::uint8_t> any_apart;  // groups with one where they do not
  };
  struct Extremes {
    std::int64_t lowest, highest;
  };

  static std::size_t entries(const Counts& counts) { return index(counts.indptr[counts.d]); }
  std::size_t groups() const { return start_.size() - 1; }
  std::size_t size(std::size_t g) const { return start_[g + 1] - start_[g]; }
  std::size_t tiles() const { return (groups() + tile_ - 1) / tile_; }

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

  // The keys of the pairs that co-occur of the rows from `first` to `last` (exclusive).
  void fill_rows(std::size_t first, std::size_t last, Found& found) {
    information_.with_logs([&](const auto& logs) {
      std::vector<double> sum;
      Checkpoint checkpoint;
      for (std::size_t i = first; i < last; ++i) {
        checkpoint.pass(index(counts_.indptr[i + 1] - counts_.indptr[i]) * counts_.classes);
        fill_row(logs, i, sum);
        for (std::int64_t e = counts_.indptr[i]; e < counts_.indptr[i + 1]; ++e) {
          const std::int64_t key = keys_[index(e)];
          found.histogram.add(key);
          if (key != 0) found.varies[i] = found.varies[index(counts_.indices[e])] = 1;
        }
      }
    });
  }

  // Counts the pairs of features of two groups, less those that co-occur and have a key of their own.
  void tally_group(std::size_t g, std::vector<std::int64_t>& apart, std::vector<std::size_t>& together, Found& found) {
    compute_apart(g, 0, groups(), apart.data());
    for (std::size_t t = 0; t < tiles(); ++t) {
      const auto begin = apart.begin() + static_cast<std::ptrdiff_t>(t * tile_);
      const auto end = apart.begin() + static_cast<std::ptrdiff_t>(std::min((t + 1) * tile_, groups()));
      const auto [lowest, highest] = std::minmax_element(begin, end);
      extremes_[g * tiles() + t] = {*lowest, *highest};
      found.any_apart[g] |= static_cast<std::uint8_t>(*lowest != 0 || *highest != 0);
    }
    for (std::size_t h = g; h < groups(); ++h)
      found.histogram.add(apart[h],
                          h == g ? std::uint64_t{size(g)} * (size(g) - 1) / 2 : std::uint64_t{size(g)} * size(h));
    std::fill(together.begin(), together.end(), 0);
    for (std::size_t m = start_[g]; m < start_[g + 1]; ++m)
      for (std::int64_t e = counts_.indptr[member_[m]]; e < counts_.indptr[member_[m] + 1]; ++e)
        ++together[group_[index(counts_.indices[e])]];
    for (std::size_t h = 0; h < groups(); ++h) found.histogram.remove(apart[h], together[h]);
  }

  void add(const Found& found) {
    histogram_.add(found.histogram);
    for (std::size_t v = 0; v < counts_.d; ++v)
      varies_[v] |= static_cast<std::uint8_t>(found.varies[v] | found.any_apart[group_[v]]);
  }

  // Marks the features after `first` whose key with group g is in range where they never co-occur, and gives the keys
  // of their groups to `apart`.
  void mark_partners(std::size_t g, std::size_t first, std::int64_t low, std::int64_t high,
                     std::vector<std::int64_t>& apart, std::vector<Word>& marked) const {
    for (std::size_t t = 0; t < tiles(); ++t) {
      const Extremes& extremes = extremes_[g * tiles() + t];
      if (extremes.highest < low || extremes.lowest >= high) continue;
      const std::size_t begin = t * tile_, end = std::min(begin + tile_, groups());
      compute_apart(g, begin, end, apart.data());
      for (std::size_t h = begin; h < end; ++h) {
        if (apart[h] < low || apart[h] >= high) continue;
        for (std::size_t m = start_[h + 1]; m > start_[h] && member_[m - 1] > first; --m)
          marked[member_[m - 1] / kLanes] |= Word{1} << (member_[m - 1] % kLanes);
      }
    }
  }

  // What is marked, ascending; the marks are cleared.
  static void take_marked(std::vector<Word>& marked, std::vector<std::int32_t>& out) {
    out.clear();
    for (std::size_t w = 0; w < marked.size(); ++w) {
      for_each_bit(marked[w], [&](std::size_t bit) { out.push_back(feature_id(w * kLanes + bit)); });
      marked[w] = 0;
    }
  }

  // The keys of pairs that never co-occur, of group g with the groups from `first` to `last` (exclusive).
  void compute_apart(std::size_t g, std::size_t first, std::size_t last, std::int64_t* out) const {
    information_.with_logs([&](const auto& logs) {
      std::array<double, kTile> sum{};
      for (std::size_t begin = first; begin < last; begin += kTile) {
        const std::size_t end = std::min(begin + kTile, last);
        sum.fill(0.0);
        for (std::size_t c = 0; c < counts_.classes; ++c) {
          const auto row = information_.row(logs, member_[start_[g]], c);
          const std::int32_t* one = counts_.ones_of(c);
          for (std::size_t h = begin; h < end; ++h) {
            const std::size_t j = member_[start_[h]];
            // Two features with more ones in total than there are rows always co-occur: such a key is never read.
            if (one[j] <= row.rest) sum[h - begin] += row.term(0, one[j], information_.margin(j, c));
          }
        }
        for (std::size_t h = begin; h < end; ++h) out[h] = information_.key(sum[h - begin]);
      }
    });
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
  std::vector<std::uint32_t> group_;         // of each feature
  std::vector<std::size_t> member_, start_;  // the features of group g: member_[start_[g]] .. member_[start_[g + 1]]
  PlainVector<std::int64_t> keys_;           // of the pairs that co-occur
  std::size_t tile_ = kTile;                 // groups that are looked at together: neighbours have similar keys
  std::vector<Extremes> extremes_;           // of the keys of pairs that never co-occur, [group][tile]
  std::vector<std::uint8_t> varies_;         // each feature
  KeyHistogram histogram_;
  Parts parts_;
  std::vector<std::size_t> rows_;  // where those of each part begin
  std::mutex mutex_;               // held by a part that adds what it found
};

// Either kind. Both offer histogram(), portion(), varies() and within().
using Keys = std::variant<std::shared_ptr<const DenseKeys>, std::shared_ptr<const SparseKeys>>;

template <typename F>
decltype(auto) visit_keys(const Keys& keys, F&& f) {
  return std::visit([&](const auto& either) -> decltype(auto) { return f(*either); }, keys);
}

}  // namespace hietan
