// A coarse histogram of the keys: enough to cut the next block off the top without sorting the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "counts/words.hpp"

namespace hietan {

class KeyHistogram {
 public:
  void add(std::int64_t key, std::uint64_t n = 1) { counts_[bucket(key)] += n; }
  // More may be removed than was added, as long as the sum of all parts comes out right: unsigned numbers wrap around.
  void remove(std::int64_t key, std::uint64_t n) { counts_[bucket(key)] -= n; }
  void add(const KeyHistogram& part) {
    for (std::size_t b = 0; b < kBuckets; ++b) counts_[b] += part.counts_[b];
  }

  // The buckets from `top` (exclusive) down to `bottom`, and of their edges those of the rows from `first` to `last`
  // (exclusive). Only a bucket of a single key is cut into rows, which is the order of ties.
  struct Cut {
    std::size_t top = kBuckets, bottom = kBuckets;
    std::uint64_t edges = 0;
    std::size_t first = 0, last = kAllRows;

    bool whole() const { return first == 0 && last == kAllRows; }  // all edges of its buckets
    bool exhausted() const { return bottom == 0 && last == kAllRows; }
    bool positive() const { return bottom > kZero; }
    std::int64_t low() const { return lower_bound(bottom); }
    std::int64_t high() const { return lower_bound(top); }
  };

  // How much a block may hold: ties of more than `large` edges are cut into rows, of `d` features.
  struct Size {
    std::size_t wanted, large, d;
  };
  // The cut after `before`: at least `wanted` edges, if there are that many above the next bucket cut by itself.
  Cut next(const Cut& before, const Size& size) const {
    if (before.last != kAllRows) return part(before.bottom, before.last, size);
    Cut cut;
    cut.top = cut.bottom = before.bottom;
    while (cut.bottom > 0 && cut.edges < size.wanted) {
      const std::size_t b = cut.bottom - 1;
      if (cut_alone(b, size)) return cut.edges ? cut : part(b, 0, size);
      cut.edges += counts_[b];
      cut.bottom = b;
    }
    return cut;
  }

 private:
  static constexpr std::size_t kAllRows = SIZE_MAX;
  static constexpr int kMantissa = 7;
  static constexpr std::size_t kBuckets = std::size_t{64} << kMantissa;
  static constexpr std::size_t kZero = 1, kLastSingle = std::size_t{2} << kMantissa;  // buckets of a single key

  // Zero always is: all edges of features that never vary have it, and a reader that needs only those skips to them.
  bool cut_alone(std::size_t b, const Size& size) const {
    return b == kZero || (b > kZero && b <= kLastSingle && counts_[b] > size.large);
  }

  Cut part(std::size_t b, std::size_t first, const Size& size) const {
    const std::size_t rows = counts_[b] > size.large ? size.large / size.d + 1 : size.d;
    return {b + 1, b, counts_[b], first, first + rows < size.d ? first + rows : kAllRows};
  }

  // An increasing step function of the key: exponent and leading bits, as in a floating-point number.
  static std::size_t bucket(std::int64_t key) {
    if (key < 0) return 0;
    if (key < (std::int64_t{1} << kMantissa)) return kZero + index(key);
    const int exponent = highest_bit(static_cast<Word>(key));
    const std::size_t leading = index(key >> (exponent - kMantissa));
    return kZero + (index(exponent - kMantissa) << kMantissa) + leading;
  }

  // The smallest key of a bucket.
  static std::int64_t lower_bound(std::size_t b) {
    if (b == 0) return INT64_MIN;
    if (b >= kBuckets) return INT64_MAX;
    if (b <= kLastSingle) return static_cast<std::int64_t>(b - kZero);
    const std::size_t shift = ((b - kZero) >> kMantissa) - 1;
    if (shift + kMantissa + 1 > 62) return INT64_MAX;
    const std::uint64_t first = std::uint64_t{1} << kMantissa;  // keys have 64 bits, sizes may have 32
    const std::uint64_t leading = ((b - kZero) & (first - 1)) + first;
    return static_cast<std::int64_t>(leading << shift);
  }

  // Sparse keys can be those of more edges than memory holds: their numbers have 64 bits even where sizes have 32.
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(kBuckets, 0);
};

}  // namespace hietan
