// Binary rows as machine words: bit r of words[b * d + v] is feature v of the (64 b + r)-th row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "counts/index.hpp"
#include "interruption.hpp"

#if defined(_MSC_VER)
#include <intrin.h>
#endif

// Where the loader can choose between versions of a function, it picks the one that suits the processor.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#define HIETAN_POPCOUNT_CLONES __attribute__((target_clones("arch=x86-64-v4", "popcnt", "default")))
#define HIETAN_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define HIETAN_POPCOUNT_CLONES
#define HIETAN_VECTOR_CLONES
#endif

namespace hietan {

using Word = std::uint64_t;
constexpr std::size_t kLanes = 64;

inline std::size_t word_count(std::size_t rows) { return rows / kLanes + (rows % kLanes != 0); }

inline int lowest_bit(Word w) {
#if defined(_MSC_VER)
  unsigned long position;
  _BitScanForward64(&position, w);
  return static_cast<int>(position);
#else
  return __builtin_ctzll(w);
#endif
}

inline int highest_bit(Word w) {
#if defined(_MSC_VER)
  unsigned long position;
  _BitScanReverse64(&position, w);
  return static_cast<int>(position);
#else
  return 63 - __builtin_clzll(w);
#endif
}

inline int population(Word w) {
#if defined(_MSC_VER)
  return static_cast<int>(__popcnt64(w));
#else
  return __builtin_popcountll(w);
#endif
}

inline bool has_bit(Word w, std::size_t lane) { return (w >> lane & 1) != 0; }

// Calls f(lane) for every set bit, lowest first.
template <typename F>
inline void for_each_bit(Word w, F&& f) {
  for (; w; w &= w - 1) f(index(lowest_bit(w)));
}

// The first `n` lanes.
inline Word lane_mask(std::size_t n) { return n >= kLanes ? ~Word{0} : (Word{1} << n) - 1; }

// `values` holds a byte, 0 or 1, per cell, row-major; `rows` says which rows to take, in which order.
inline void pack_dense(const std::uint8_t* values, std::size_t d, const std::int64_t* rows, std::size_t n,
                       Word* words) {
  std::memset(words, 0, word_count(n) * d * sizeof(Word));
  Checkpoint checkpoint;
  for (std::size_t r = 0; r < n; ++r) {
    checkpoint.pass(d);
    const std::uint8_t* row = values + index(rows[r]) * d;
    Word* out = words + (r / kLanes) * d;
    const int lane = static_cast<int>(r % kLanes);
    for (std::size_t v = 0; v < d; ++v) out[v] |= static_cast<Word>(row[v]) << lane;
  }
}

// The same from a CSR matrix whose stored entries are the ones.
template <typename Pointer, typename Index>
inline void pack_sparse(const Pointer* indptr, const Index* indices, std::size_t d, const std::int64_t* rows,
                        std::size_t n, Word* words) {
  std::memset(words, 0, word_count(n) * d * sizeof(Word));
  Checkpoint checkpoint;
  for (std::size_t r = 0; r < n; ++r) {
    checkpoint.pass(index(indptr[rows[r] + 1] - indptr[rows[r]]));
    Word* out = words + (r / kLanes) * d;
    const Word bit = Word{1} << (r % kLanes);
    for (Pointer k = indptr[rows[r]]; k < indptr[rows[r] + 1]; ++k) out[indices[k]] |= bit;
  }
}

}  // namespace hietan
