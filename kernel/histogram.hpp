// Which keys there are, coarsely: enough to cut the next block off the top without sorting the rest.
#pragma once

#include <vector>

#include "words.hpp"

namespace hietan {

class KeyHistogram {
 public:
  void add(std::int64_t key, std::size_t n = 1) { counts_[bucket(key)] += n; }
  void remove(std::int64_t key, std::size_t n) { counts_[bucket(key)] -= n; }

  // A range of buckets, from `top` (exclusive) down to `bottom`, that holds at least `wanted` edges if there are.
  struct Cut {
    std::size_t top = kBuckets, bottom = kBuckets, edges = 0;
    bool exhausted() const { return bottom == 0; }
    std::int64_t low() const { return lower_bound(bottom); }
    std::int64_t high() const { return lower_bound(top); }
  };
  Cut next(const Cut& last, std::size_t wanted) const {
    Cut cut;
    cut.top = cut.bottom = last.bottom;
    while (cut.bottom > 0 && cut.edges < wanted) cut.edges += counts_[--cut.bottom];
    return cut;
  }

 private:
  static constexpr int kMantissa = 7;
  static constexpr std::size_t kBuckets = std::size_t{64} << kMantissa;

  // A rising step function of the key: exponent and leading bits, as in a floating-point number.
  static std::size_t bucket(std::int64_t key) {
    if (key < (std::int64_t{1} << kMantissa)) return key < 0 ? 0 : static_cast<std::size_t>(key);
    const int exponent = highest_bit(static_cast<Word>(key));
    const auto leading = static_cast<std::size_t>(key >> (exponent - kMantissa));
    return (static_cast<std::size_t>(exponent - kMantissa) << kMantissa) + leading;
  }

  // The smallest key of a bucket.
  static std::int64_t lower_bound(std::size_t b) {
    if (b == 0) return INT64_MIN;
    if (b >= kBuckets) return INT64_MAX;
    if (b < (std::size_t{2} << kMantissa)) return static_cast<std::int64_t>(b);
    const std::size_t shift = (b >> kMantissa) - 1;
    const std::size_t leading = (b & ((std::size_t{1} << kMantissa) - 1)) + (std::size_t{1} << kMantissa);
    return shift + kMantissa + 1 > 62 ? INT64_MAX : static_cast<std::int64_t>(leading << shift);
  }

  std::vector<std::size_t> counts_ = std::vector<std::size_t>(kBuckets, 0);
};

}  // namespace hietan
