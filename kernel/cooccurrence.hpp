// Pair counts of wide, sparse rows: only the pairs that some row has, as the rows of an upper triangle.
#pragma once

#include <cstdlib>
#include <new>
#include <vector>

#include "words.hpp"

namespace hietan {

// Grows without being copied where the allocator can move pages, and holds no more memory than was written.
template <typename T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  std::size_t size() const { return size_; }
  // Room for `n` more, uninitialised.
  T* extend(std::size_t n) {
    if (size_ + n > capacity_) {
      const std::size_t capacity = size_ + n + size_ / 2 + 1024;
      T* moved = static_cast<T*>(std::realloc(data_, capacity * sizeof(T)));
      if (!moved) throw std::bad_alloc();
      data_ = moved;
      capacity_ = capacity;
    }
    T* end = data_ + size_;
    size_ += n;
    return end;
  }
  // The caller frees what it gets.
  T* release() {
    T* data = static_cast<T*>(std::realloc(data_, (size_ ? size_ : 1) * sizeof(T)));
    if (!data) throw std::bad_alloc();
    data_ = nullptr;
    size_ = capacity_ = 0;
    return data;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

// Row i holds the j > i that some row of the data has together with i, rising, and `classes` counts for each.
struct Cooccurrences {
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> indices, values;
};

// `code[r]` is the class of row r. Adds to `ones`, [class][feature]. For each feature in turn the rows that have it
// are gone through from there on: the counts of one feature stay in the cache, and a bit per partner keeps the order.
template <typename Index>
inline void count_cooccurrences(const Index* indptr, const Index* indices, const std::int64_t* code, std::size_t n,
                                std::size_t d, std::size_t classes, std::int32_t* ones, Cooccurrences& out) {
  std::vector<std::size_t> start(d + 1, 0);
  const auto entries = static_cast<std::size_t>(indptr[n]);
  for (std::size_t k = 0; k < entries; ++k) ++start[static_cast<std::size_t>(indices[k]) + 1];
  for (std::size_t v = 0; v < d; ++v) start[v + 1] += start[v];
  // Where each row goes on after the feature, feature after feature: rows are read in order, so this is a transpose.
  std::vector<std::uint32_t> row(entries);
  {
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (std::size_t r = 0; r < n; ++r)
      for (Index k = indptr[r]; k < indptr[r + 1]; ++k)
        row[next[static_cast<std::size_t>(indices[k])]++] = static_cast<std::uint32_t>(r);
  }
  std::vector<const Index*> tail(n);
  for (std::size_t r = 0; r < n; ++r) tail[r] = indices + indptr[r];

  std::vector<std::int32_t> count(d * classes, 0);
  std::vector<Word> partner(word_count(d), 0);
  *out.indptr.extend(1) = 0;
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t k = start[i]; k < start[i + 1]; ++k) {
      const std::size_t r = row[k], c = static_cast<std::size_t>(code[r]);
      ++ones[c * d + i];
      const Index* end = indices + indptr[r + 1];
      for (const Index* j = ++tail[r]; j < end; ++j) {
        const auto v = static_cast<std::size_t>(*j);
        ++count[v * classes + c];
        partner[v / kLanes] |= Word{1} << (v % kLanes);
      }
    }
    std::size_t found = 0;
    for (std::size_t w = i / kLanes; w < partner.size(); ++w) found += static_cast<std::size_t>(population(partner[w]));
    std::int32_t* index = out.indices.extend(found);
    std::int32_t* value = out.values.extend(found * classes);
    for (std::size_t w = i / kLanes; w < partner.size(); ++w) {
      for_each_bit(partner[w], [&](int bit) {
        const std::size_t v = w * kLanes + static_cast<std::size_t>(bit);
        *index++ = static_cast<std::int32_t>(v);
        for (std::size_t c = 0; c < classes; ++c) {
          *value++ = count[v * classes + c];
          count[v * classes + c] = 0;
        }
      });
      partner[w] = 0;
    }
    *out.indptr.extend(1) = static_cast<std::int64_t>(out.indices.size());
  }
}

// One of two sets of counts to be added.
struct CooccurrenceView {
  const std::int64_t* indptr;
  const std::int32_t *indices, *values;
};

inline void add_cooccurrences(const CooccurrenceView& a, const CooccurrenceView& b, std::size_t d,
                              std::size_t classes, Cooccurrences& out) {
  *out.indptr.extend(1) = 0;
  for (std::size_t i = 0; i < d; ++i) {
    std::int64_t p = a.indptr[i], q = b.indptr[i];
    const std::int64_t p_end = a.indptr[i + 1], q_end = b.indptr[i + 1];
    while (p < p_end || q < q_end) {
      const bool from_a = p < p_end && (q == q_end || a.indices[p] <= b.indices[q]);
      const bool from_b = q < q_end && (p == p_end || b.indices[q] <= a.indices[p]);
      *out.indices.extend(1) = from_a ? a.indices[p] : b.indices[q];
      std::int32_t* value = out.values.extend(classes);
      for (std::size_t c = 0; c < classes; ++c) {
        const std::size_t at = static_cast<std::size_t>(p) * classes + c, bt = static_cast<std::size_t>(q) * classes + c;
        value[c] = (from_a ? a.values[at] : 0) + (from_b ? b.values[bt] : 0);
      }
      p += from_a;
      q += from_b;
    }
    *out.indptr.extend(1) = static_cast<std::int64_t>(out.indices.size());
  }
}

}  // namespace hietan
