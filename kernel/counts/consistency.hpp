// Whether counts can be those of some rows. The keys look logarithms up by counts and differences of counts, so counts
// that cannot be would lead outside the table.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "counts/counts.hpp"
#include "counts/words.hpp"

namespace hietan {

// The number of rows of each class and of their ones.
inline void require_possible_margins(const Counts& counts) {
  std::int64_t total = 0;
  for (std::size_t c = 0; c < counts.classes; ++c) {
    const std::int64_t n = counts.class_count[c];
    if (n < 0 || n > INT32_MAX - total)
      throw std::invalid_argument("class_count must hold numbers of rows, 0 or more and at most " +
                                  std::to_string(INT32_MAX) + " in all, got " + std::to_string(n) + " for class " +
                                  std::to_string(c));
    total += n;
    for (std::size_t v = 0; v < counts.d; ++v)
      if (counts.ones_of(c)[v] < 0 || counts.ones_of(c)[v] > n)
        throw std::invalid_argument("ones must be from 0 to the number of rows of its class, got " +
                                    std::to_string(counts.ones_of(c)[v]) + " for feature " + std::to_string(v) +
                                    " and class " + std::to_string(c) + ", which has " + std::to_string(n) + " rows");
  }
}

namespace detail {

// Of `ni + rest` rows, `ni` have feature i: whether `both` of them can also have a feature that `nj` rows have.
constexpr bool possible_pair(std::int32_t both, std::int32_t ni, std::int32_t nj, std::int32_t rest) {
  // As unsigned numbers, negative ones are the largest.
  return (static_cast<std::uint32_t>(both) <= static_cast<std::uint32_t>(ni < nj ? ni : nj)) & (both >= nj - rest);
}

// The same for all of both[k] and nj[k].
HIETAN_VECTOR_CLONES
inline bool possible_pairs(const std::int32_t* both, std::int32_t ni, const std::int32_t* nj, std::int32_t rest,
                           std::size_t length) {
  std::int32_t possible = 1;
  for (std::size_t k = 0; k < length; ++k) possible &= possible_pair(both[k], ni, nj[k], rest);
  return possible != 0;
}

[[noreturn]] inline void refuse_pair(const Counts& counts, std::size_t i, std::size_t j, std::size_t c) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  throw std::invalid_argument("pairs must fit ones and class_count, got " + text(counts.cell(i, j)[c]) +
                              " rows with features " + std::to_string(i) + " and " + std::to_string(j) + " in class " +
                              std::to_string(c) + ", of whose " + text(counts.class_count[c]) + " rows " +
                              text(counts.ones_of(c)[i]) + " have the one and " + text(counts.ones_of(c)[j]) +
                              " the other");
}

}  // namespace detail

// The pair of i and j in all classes. The margins must be possible.
inline void require_possible_pair(const Counts& counts, std::size_t i, std::size_t j) {
  const Counts::Cell both = counts.cell(i, j);
  for (std::size_t c = 0; c < counts.classes; ++c) {
    const std::int32_t ni = counts.ones_of(c)[i], nj = counts.ones_of(c)[j];
    const auto rest = static_cast<std::int32_t>(counts.class_count[c] - ni);
    if (!detail::possible_pair(static_cast<std::int32_t>(both[c]), ni, nj, rest)) detail::refuse_pair(counts, i, j, c);
  }
}

// The pairs of feature i with all later ones, of counts of all pairs. The margins must be possible.
inline void require_possible_row(const Counts& counts, std::size_t i) {
  const std::size_t length = counts.d - i - 1;
  bool possible = true;
  for (std::size_t c = 0; c < counts.classes; ++c) {
    const std::int32_t *ones = counts.ones_of(c) + i, *both = counts.pairs_of(c) + row_start(i, counts.d);
    const auto rest = static_cast<std::int32_t>(counts.class_count[c] - *ones);
    possible &= detail::possible_pairs(both, *ones, ones + 1, rest, length);
  }
  for (std::size_t j = i + 1; !possible && j < counts.d; ++j) require_possible_pair(counts, i, j);
}

namespace detail {

// The stored pairs of all features, of sparse counts: one pass over them. `Classes` is their number, or 0 for any.
template <std::size_t Classes>
void require_possible_sparse_pairs(const Counts& counts) {
  const std::size_t classes = Classes ? Classes : counts.classes;
  std::vector<std::int32_t> ones(counts.d * classes), rest(classes);  // [feature][class]: side by side in memory
  for (std::size_t k = 0; k < ones.size(); ++k) ones[k] = counts.ones_of(k % classes)[k / classes];
  Checkpoint checkpoint;
  for (std::size_t i = 0; i < counts.d; ++i) {
    const std::int32_t* ni = ones.data() + i * classes;
    for (std::size_t c = 0; c < classes; ++c) rest[c] = static_cast<std::int32_t>(counts.class_count[c] - ni[c]);
    const std::int64_t begin = counts.indptr[i], end = counts.indptr[i + 1];
    checkpoint.pass(index(end - begin));
    bool possible = true;
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int32_t* nj = ones.data() + index(counts.indices[e]) * classes;
      const std::int32_t* both = counts.pairs + index(e) * classes;
      for (std::size_t c = 0; c < classes; ++c) possible &= possible_pair(both[c], ni[c], nj[c], rest[c]);
    }
    for (std::int64_t e = begin; !possible && e < end; ++e) require_possible_pair(counts, i, index(counts.indices[e]));
  }
}

}  // namespace detail

// All pairs that are stored. The margins must be possible, and the places of sparse pairs valid.
inline void require_possible_pairs(const Counts& counts) {
  if (counts.sparse())
    return counts.classes == 2 ? detail::require_possible_sparse_pairs<2>(counts)
                               : detail::require_possible_sparse_pairs<0>(counts);
  Checkpoint checkpoint;
  for (std::size_t i = 0; i < counts.d; ++i) {
    checkpoint.pass((counts.d - i) * counts.classes);
    require_possible_row(counts, i);
  }
}

}  // namespace hietan
