// The training rows nearest to a row by Jaccard similarity, over the features that a lazy selection keeps in it.
//
// Rows are compared as bits, 64 features to a word: the ones in common are those of x AND t AND kept, the ones of
// either those of x and of t (among the kept) less those in common. Similarities are compared as fractions, so that
// equal ones tie, whatever their numbers; ties go to the earlier row, and where neither row has a one it is 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "counts/words.hpp"
#include "models/selections.hpp"

namespace hietan {

// Bit v % 64 of out[row][v / 64] is feature v of a row: up to 64 packed rows, turned around.
inline void turn_around(const Word* words, std::size_t d, std::size_t rows, Word* out) {
  const std::size_t width = word_count(d);
  std::fill(out, out + rows * width, Word{0});
  const Word lanes = lane_mask(rows);
  for (std::size_t v = 0; v < d; ++v)
    for_each_bit(words[v] & lanes,
                 [&](std::size_t lane) { out[lane * width + v / kLanes] |= Word{1} << (v % kLanes); });
}

struct Neighbour {
  std::int64_t row;
  std::int64_t common, either;  // how many ones the rows have in common, and together; at least 1 where common is 0

  bool operator<(const Neighbour& other) const {
    const std::int64_t mine = common * other.either, its = other.common * either;
    return mine > its || (mine == its && row < other.row);
  }
};

// Compares a row with n others, over the features in `mask`.
HIETAN_POPCOUNT_CLONES
inline void compare_rows(const Word* x, const Word* mask, const Word* others, std::size_t width, Neighbour* found,
                         std::size_t n) {
  std::int64_t own = 0;
  for (std::size_t w = 0; w < width; ++w) own += population(x[w] & mask[w]);
  for (std::size_t t = 0; t < n; ++t, others += width) {
    std::int64_t common = 0, its = 0;
    for (std::size_t w = 0; w < width; ++w) {
      const Word kept = others[w] & mask[w];
      common += population(kept & x[w]);
      its += population(kept);
    }
    found[t] = {static_cast<std::int64_t>(t), common, std::max<std::int64_t>(own + its - common, 1)};
  }
}

class Neighbours {
 public:
  Neighbours(const Word* words, std::size_t rows, std::size_t d)
      : n_(rows), d_(d), width_(word_count(d)), bits_(rows * width_) {
    Checkpoint checkpoint;
    for (std::size_t first = 0; first < rows; first += kLanes) {
      checkpoint.pass(d * kLanes);
      turn_around(words + first / kLanes * d, d, std::min(kLanes, rows - first), bits_.data() + first * width_);
    }
  }

  std::size_t rows() const { return n_; }
  std::size_t features() const { return d_; }

  // Calls visit(row, neighbours) with the k nearest of each row, nearest first; k is at most rows().
  template <typename Visit>
  void for_each_nearest(const Selector& selector, const Word* words, std::size_t rows, std::size_t k,
                        Visit&& visit) const {
    std::vector<Word> kept(d_), x(kLanes * width_), mask(kLanes * width_);
    std::vector<Neighbour> found(n_);
    Checkpoint checkpoint;
    for (std::size_t first = 0; first < rows; first += kLanes) {
      const std::size_t here = std::min(kLanes, rows - first);
      const Word* value = words + first / kLanes * d_;
      selector.select(value, kept.data());
      turn_around(value, d_, here, x.data());
      turn_around(kept.data(), d_, here, mask.data());
      for (std::size_t lane = 0; lane < here; ++lane) {
        checkpoint.pass(n_ * width_);
        compare_rows(x.data() + lane * width_, mask.data() + lane * width_, bits_.data(), width_, found.data(), n_);
        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(k), found.end());
        visit(first + lane, found.data());
      }
    }
  }

 private:
  std::size_t n_, d_, width_;
  std::vector<Word> bits_;  // [row][feature / 64]
};

}  // namespace hietan
