// Pair counts of wide, sparse rows: only the pairs that occur in some row, as the rows of an upper triangle.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "counts/ranges.hpp"
#include "counts/words.hpp"

namespace hietan {

// Grows without being copied where the allocator can move pages, and uses no more memory than was written to.
template <typename T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  std::size_t size() const { return size_; }
  const T* data() const { return data_; }
  // Room for `n` more, uninitialised.
  T* extend(std::size_t n) {
    if (size_ + n > capacity_) {
      const std::size_t capacity = size_ + n + size_ / 2 + 1024;
      if (capacity > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();  // the number of bytes could wrap around
      T* moved = static_cast<T*>(std::realloc(data_, capacity * sizeof(T)));
      if (!moved) throw std::bad_alloc();
      data_ = moved;
      capacity_ = capacity;
    }
    T* end = data_ + size_;
    size_ += n;
    return end;
  }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void clear() {
    std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }
  // Hands the memory over; the caller must std::free it.
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

// Row i holds the j > i that occur together with i, ascending, and `classes` counts for each.
struct Cooccurrences {
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> indices, values;
};

namespace detail {

// The rows that have each feature, feature after feature and in ascending order: those of v are row[start[v]] ..
// row[start[v + 1]].
struct RowsByFeature {
  std::vector<std::size_t> start;
  std::vector<std::uint32_t> row;

  template <typename Pointer, typename Index>
  RowsByFeature(const Pointer* indptr, const Index* indices, std::size_t n, std::size_t d)
      : start(d + 1, 0), row(index(indptr[n])) {
    for (std::size_t k = 0; k < row.size(); ++k) ++start[index(indices[k]) + 1];
    for (std::size_t v = 0; v < d; ++v) start[v + 1] += start[v];
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (std::size_t r = 0; r < n; ++r)
      for (Pointer k = indptr[r]; k < indptr[r + 1]; ++k)
        row[next[index(indices[k])]++] = static_cast<std::uint32_t>(r);
  }
};

// The counts of one feature with all that come after it, and a bit for each that occurs, which keeps their order.
class Partners {
 public:
  Partners(std::size_t d, std::size_t classes) : classes_(classes), count_(d * classes, 0), occurs_(word_count(d), 0) {}

  void add(std::size_t v, std::size_t c, std::int32_t weight) {
    count_[v * classes_ + c] += weight;
    occurs_[v / kLanes] |= Word{1} << (v % kLanes);
  }

  // Appends the partners from `first` on, in ascending order, and forgets them.
  void move_to(Cooccurrences& out, std::size_t first) {
    std::size_t found = 0;
    for (std::size_t w = first / kLanes; w < occurs_.size(); ++w) found += index(population(occurs_[w]));
    std::int32_t* partner = out.indices.extend(found);
    std::int32_t* value = out.values.extend(found * classes_);
    for (std::size_t w = first / kLanes; w < occurs_.size(); ++w) {
      for_each_bit(occurs_[w], [&](std::size_t bit) {
        const std::size_t v = w * kLanes + bit;
        *partner++ = feature_id(v);
        for (std::size_t c = 0; c < classes_; ++c) *value++ = std::exchange(count_[v * classes_ + c], 0);
      });
      occurs_[w] = 0;
    }
  }

 private:
  std::size_t classes_;
  std::vector<std::int32_t> count_;  // [feature][class]
  std::vector<Word> occurs_;
};

}  // namespace detail

// Counts the pairs of CSR rows. `code[r]` is the class of row r, which counts weights[r] times, or once without
// weights; the weights are above 0 and add up to at most INT32_MAX. For each feature in turn, the rows that have it are
// read from that feature on: the counts of one feature then stay in the cache. Ranges of features may be counted by
// several threads.
template <typename Pointer, typename Index>
class CooccurrenceCounting {
 public:
  CooccurrenceCounting(const Pointer* indptr, const Index* indices, const std::int64_t* code,
                       const std::int32_t* weights, std::size_t n, std::size_t d, std::size_t classes)
      : indptr_(indptr),
        indices_(indices),
        code_(code),
        weights_(weights),
        n_(n),
        d_(d),
        classes_(classes),
        rows_(indptr, indices, n, d) {}

  // Where ranges of features begin that hold about as many pairs each, and the end of the last one.
  std::vector<std::size_t> ranges(std::size_t parts) const {
    std::vector<std::size_t> pairs(d_, 0);  // that each feature begins, and a bit for the feature itself
    for (std::size_t r = 0; r < n_ && parts > 1; ++r)
      for (Pointer k = indptr_[r]; k < indptr_[r + 1]; ++k) pairs[index(indices_[k])] += index(indptr_[r + 1] - k);
    return equal_ranges(pairs, parts);
  }

  // How many features, itself among them, share a row with feature 0, and with each `step`-th one after it, in total.
  std::size_t partners_of_some(std::size_t step) const {
    std::vector<Word> occurs(word_count(d_));
    std::size_t total = 0;
    Checkpoint checkpoint;
    for (std::size_t i = 0; i < d_; i += step) {
      std::fill(occurs.begin(), occurs.end(), 0);
      checkpoint.pass(occurs.size());
      for (std::size_t k = rows_.start[i]; k < rows_.start[i + 1]; ++k) {
        const Index *j = indices_ + indptr_[rows_.row[k]], *end = indices_ + indptr_[rows_.row[k] + 1];
        checkpoint.pass(index(end - j));
        for (; j < end; ++j) occurs[index(*j) / kLanes] |= Word{1} << (index(*j) % kLanes);
      }
      for (const Word w : occurs) total += index(population(w));
    }
    return total;
  }

  // Adds to `ones`, [class][feature], and appends the pairs of the features from `first` to `last` (exclusive).
  void count(std::size_t first, std::size_t last, std::int32_t* ones, Cooccurrences& out) const {
    // What is left of each row: features are visited in the order of the columns.
    std::vector<const Index*> tail(n_);
    for (std::size_t r = 0; r < n_; ++r)
      tail[r] = std::lower_bound(indices_ + indptr_[r], indices_ + indptr_[r + 1], static_cast<Index>(first));
    detail::Partners partners(d_, classes_);
    *out.indptr.extend(1) = 0;
    Checkpoint checkpoint;
    std::size_t counted = 0;
    for (std::size_t i = first; i < last; ++i) {
      checkpoint.pass(out.indices.size() - counted + (d_ - i) / kLanes);
      counted = out.indices.size();
      for (std::size_t k = rows_.start[i]; k < rows_.start[i + 1]; ++k) {
        const std::size_t r = rows_.row[k], c = index(code_[r]);
        const std::int32_t weight = weight_of(weights_, r);
        ones[c * d_ + i] += weight;
        const Index* end = indices_ + indptr_[r + 1];
        for (const Index* j = ++tail[r]; j < end; ++j) partners.add(index(*j), c, weight);
      }
      partners.move_to(out, i);
      *out.indptr.extend(1) = static_cast<std::int64_t>(out.indices.size());
    }
  }

 private:
  const Pointer* indptr_;
  const Index* indices_;
  const std::int64_t* code_;
  const std::int32_t* weights_;
  std::size_t n_, d_, classes_;
  detail::RowsByFeature rows_;
};

// All features at once.
template <typename Index>
void count_cooccurrences(const Index* indptr, const Index* indices, const std::int64_t* code,
                         const std::int32_t* weights, std::size_t n, std::size_t d, std::size_t classes,
                         std::int32_t* ones, Cooccurrences& out) {
  CooccurrenceCounting<Index, Index>(indptr, indices, code, weights, n, d, classes).count(0, d, ones, out);
}

// The parts of a count, to be put together by any number of threads: each part has its place.
class JoinedCooccurrences {
 public:
  JoinedCooccurrences(std::vector<Cooccurrences>& parts, std::size_t classes) : parts_(parts), classes_(classes) {
    std::size_t row = 0, pair = 0;
    for (const Cooccurrences& part : parts) {
      places_.push_back({row, pair});
      row += part.indptr.size() - 1;
      pair += part.indices.size();
    }
    *(indptr_ = all_.indptr.extend(row + 1)) = 0;
    if (parts.size() == 1) return;
    indices_ = all_.indices.extend(pair);
    values_ = all_.values.extend(pair * classes);
  }

  // Moves a part to its place.
  void move(std::size_t k) {
    Cooccurrences& part = parts_[k];
    const auto [row, pair] = places_[k];
    for (std::size_t i = 1; i < part.indptr.size(); ++i)
      indptr_[row + i] = static_cast<std::int64_t>(pair) + part.indptr.data()[i];
    part.indptr.clear();
    if (parts_.size() == 1) {
      all_.indices.swap(part.indices);
      all_.values.swap(part.values);
      return;
    }
    std::copy_n(part.indices.data(), part.indices.size(), indices_ + pair);
    part.indices.clear();
    std::copy_n(part.values.data(), part.values.size(), values_ + pair * classes_);
    part.values.clear();
  }
  Cooccurrences& all() { return all_; }

 private:
  struct Place {
    std::size_t row, pair;
  };

  std::vector<Cooccurrences>& parts_;
  std::size_t classes_;
  std::vector<Place> places_;
  Cooccurrences all_;
  std::int64_t* indptr_ = nullptr;
  std::int32_t *indices_ = nullptr, *values_ = nullptr;
};

// One of two sets of counts to be added.
struct CooccurrenceView {
  const std::int64_t* indptr;
  const std::int32_t *indices, *values;
};

inline void add_cooccurrences(const CooccurrenceView& a, const CooccurrenceView& b, std::size_t d, std::size_t classes,
                              Cooccurrences& out) {
  *out.indptr.extend(1) = 0;
  Checkpoint checkpoint;
  for (std::size_t i = 0; i < d; ++i) {
    checkpoint.pass(index(a.indptr[i + 1] - a.indptr[i] + b.indptr[i + 1] - b.indptr[i]) * classes);
    std::int64_t p = a.indptr[i], q = b.indptr[i];
    const std::int64_t p_end = a.indptr[i + 1], q_end = b.indptr[i + 1];
    while (p < p_end || q < q_end) {
      const bool from_a = p < p_end && (q == q_end || a.indices[p] <= b.indices[q]);
      const bool from_b = q < q_end && (p == p_end || b.indices[q] <= a.indices[p]);
      *out.indices.extend(1) = from_a ? a.indices[p] : b.indices[q];
      std::int32_t* value = out.values.extend(classes);
      for (std::size_t c = 0; c < classes; ++c) {
        const std::int32_t of_a = from_a ? a.values[index(p) * classes + c] : 0;
        const std::int32_t of_b = from_b ? b.values[index(q) * classes + c] : 0;
        value[c] = of_a + of_b;
      }
      p += from_a;
      q += from_b;
    }
    *out.indptr.extend(1) = static_cast<std::int64_t>(out.indices.size());
  }
}

}  // namespace hietan
