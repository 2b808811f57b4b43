// Counts of all pairs of features over the rows of one class, from packed rows or from sparse ones.
#pragma once

#include "counts/counts.hpp"
#include "counts/words.hpp"

namespace hietan {

namespace detail {

// pairs[k] += popcount(w & x[k]) for up to four words at a time: one read and write of the counts for 256 rows.
HIETAN_POPCOUNT_CLONES
inline void add_popcounts(const Word* w, const Word* const* x, std::size_t words, std::size_t length,
                          std::int32_t* pairs) {
  if (words == 4) {
    const Word w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    const Word *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    for (std::size_t k = 0; k < length; ++k)
      pairs[k] = wrapped_sum(
          pairs[k], population(w0 & x0[k]) + population(w1 & x1[k]) + population(w2 & x2[k]) + population(w3 & x3[k]));
    return;
  }
  for (std::size_t b = 0; b < words; ++b) {
    const Word wb = w[b];
    const Word* xb = x[b];
    for (std::size_t k = 0; k < length; ++k) pairs[k] = wrapped_sum(pairs[k], population(wb & xb[k]));
  }
}

}  // namespace detail

// Adds the counts of packed rows to `ones` (d) and `pairs` (d (d - 1) / 2).
inline void count_words(const Word* words, std::size_t batches, std::size_t d, std::int32_t* ones,
                        std::int32_t* pairs) {
  for (std::size_t b = 0; b < batches; ++b)
    for (std::size_t v = 0; v < d; ++v) ones[v] = wrapped_sum(ones[v], population(words[b * d + v]));
  Checkpoint checkpoint;
  for (std::size_t b = 0; b < batches; b += 4) {
    const std::size_t here = batches - b < 4 ? batches - b : 4;
    for (std::size_t i = 0; i + 1 < d; ++i) {
      Word w[4];
      const Word* x[4];
      Word any = 0;
      for (std::size_t k = 0; k < here; ++k) {
        const Word* base = words + (b + k) * d + i;
        w[k] = base[0];
        x[k] = base + 1;
        any |= w[k];
      }
      checkpoint.pass(d - i);
      if (any) detail::add_popcounts(w, x, here, d - i - 1, pairs + row_start(i, d));
    }
  }
}

// Adds the counts of CSR rows (sorted, distinct column indices): the work grows with the number of ones only. The k-th
// of `rows` counts weights[k] times; without weights, once.
template <typename Pointer, typename Index>
inline void count_sparse(const Pointer* indptr, const Index* indices, const std::int64_t* rows,
                         const std::int32_t* weights, std::size_t n, std::size_t d, std::int32_t* ones,
                         std::int32_t* pairs) {
  Checkpoint checkpoint;
  for (std::size_t r = 0; r < n; ++r) {
    const Index *a = indices + indptr[rows[r]], *end = indices + indptr[rows[r] + 1];
    checkpoint.pass(8 * index(end - a));
    const std::int32_t weight = weight_of(weights, r);
    for (; a < end; ++a) {
      const std::size_t i = index(*a);
      ones[i] = wrapped_sum(ones[i], weight);
      std::int32_t* row = pairs + row_start(i, d);
      for (const Index* b = a + 1; b < end; ++b) {
        std::int32_t& pair = row[index(*b) - i - 1];
        pair = wrapped_sum(pair, weight);
      }
    }
  }
}

}  // namespace hietan
