// The statistics that every method shares: per class, how many rows have feature i (ones), and both i and j (pairs).
// Pairs i < j are stored row after row of the upper triangle, without the diagonal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "counts/index.hpp"

namespace hietan {

// The number of pairs of d features, or PTRDIFF_MAX if there are more, as 65,537 features have where sizes have 32
// bits: no array is that long.
inline std::size_t pair_total(std::size_t d) {
  const std::uint64_t pairs = std::uint64_t{d} * (d - 1) / 2;
  return index(std::min(pairs, std::uint64_t{PTRDIFF_MAX}));
}

// Position of the pair (i, i + 1); the pair (i, j) is j - i - 1 further on.
inline std::size_t row_start(std::size_t i, std::size_t d) { return i * d - i * (i + 1) / 2; }

inline std::size_t pair_index(std::size_t i, std::size_t j, std::size_t d) {
  return i < j ? row_start(i, d) + (j - i - 1) : row_start(j, d) + (i - j - 1);
}

// Counts of all classes; those of class c begin at c * d in `ones`. The pairs are kept in one of two ways: all of
// them, class c from c * pair_total(d) on; or, where `indptr` is given, only those that occur, row i of the upper
// triangle holding ascending `indices` and for each the counts of all classes side by side.
struct Counts {
  std::size_t classes, d;
  const std::int64_t* class_count;
  const std::int32_t* ones;
  const std::int32_t* pairs;
  const std::int64_t* indptr = nullptr;
  const std::int32_t* indices = nullptr;

  // How many rows of each class have both features of a pair.
  struct Cell {
    const std::int32_t* first;
    std::size_t stride;
    std::int64_t operator[](std::size_t c) const { return first[c * stride]; }
  };

  static constexpr std::int32_t kNever = 0;

  std::int64_t rows() const {
    std::int64_t n = 0;
    for (std::size_t c = 0; c < classes; ++c) n += class_count[c];
    return n;
  }
  std::int64_t largest_class() const { return *std::max_element(class_count, class_count + classes); }
  bool sparse() const { return indptr != nullptr; }
  const std::int32_t* ones_of(std::size_t c) const { return ones + c * d; }
  const std::int32_t* pairs_of(std::size_t c) const { return pairs + c * pair_total(d); }

  Cell cell(std::size_t i, std::size_t j) const {
    if (!sparse()) return {pairs + pair_index(i, j, d), pair_total(d)};
    if (i > j) std::swap(i, j);
    const std::int32_t* end = indices + indptr[i + 1];
    const std::int32_t* at = std::lower_bound(indices + indptr[i], end, feature_id(j));
    if (at == end || *at != feature_id(j)) return apart();
    return {pairs + index(at - indices) * classes, 1};
  }

  // Where all pairs are kept: out[(j * width + k) * classes + c] = rows of class c with both j and first + k, for all
  // j.
  void gather(std::size_t first, std::size_t width, std::int32_t* out) const {
    const std::size_t last = std::min(first + width, d);
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t k = first; k < last; ++k) {
        std::int32_t* to = out + (k - first) * classes + c;
        const std::int32_t* pair = pairs_of(c);
        for (std::size_t j = 0; j < k; ++j) to[j * width * classes] = pair[row_start(j, d) + k - j - 1];
        to[k * width * classes] = 0;
        const std::int32_t* row = pair + row_start(k, d);
        for (std::size_t j = k + 1; j < d; ++j) to[j * width * classes] = row[j - k - 1];
      }
  }

  // That of two features that no row has both of.
  static Cell apart() { return {&kNever, 0}; }
};

// Walks over pairs of features, band after band of the second one.
class PairBands {
 public:
  explicit PairBands(const Counts& counts) : counts_(counts), next_(counts.sparse() ? counts.d : 0) {}

  // Calls f(v, u, cell(v, u)) for all v and all other u of the next band, which ends before `last`, of pairs that are
  // kept. For each v, the u ascend.
  template <class F>
  void next(std::size_t last, F&& f) {
    const std::size_t first = first_;
    first_ = last;
    if (!counts_.sparse()) {
      const std::size_t d = counts_.d, all = pair_total(d);
      for (std::size_t v = 0; v < d; ++v) {
        for (std::size_t u = first; u < std::min(last, v); ++u)
          f(v, u, Counts::Cell{counts_.pairs + row_start(u, d) + (v - u - 1), all});
        const std::int32_t* row = counts_.pairs + row_start(v, d);
        for (std::size_t u = std::max(first, v + 1); u < last; ++u) f(v, u, Counts::Cell{row + (u - v - 1), all});
      }
      return;
    }
    for (std::size_t i = 0; i < last; ++i) {
      const std::size_t end = index(counts_.indptr[i + 1]);
      std::size_t at = i < first ? next_[i] : index(counts_.indptr[i]);
      for (; at < end && index(counts_.indices[at]) < last; ++at) {
        const std::size_t j = index(counts_.indices[at]);
        if (i >= first) f(j, i, cell(at));
        f(i, j, cell(at));
      }
      next_[i] = at;
      if (i >= first)
        for (; at < end; ++at) f(index(counts_.indices[at]), i, cell(at));
    }
  }

 private:
  Counts::Cell cell(std::size_t at) const { return {counts_.pairs + at * counts_.classes, 1}; }

  Counts counts_;
  std::size_t first_ = 0;
  std::vector<std::size_t> next_;  // where the partners of each feature begin that are in the next band
};

}  // namespace hietan
