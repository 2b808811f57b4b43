// Typed arrays in, arrays out, and checks that the arguments fit together.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "counts/words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hietan::python {

template <typename T, int Dims>
using In = nb::ndarray<const T, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;
template <typename T, int Dims>
using InOut = nb::ndarray<T, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;
template <typename T, int Dims>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<Dims>>;

template <typename T, typename... Sizes>
Out<T, sizeof...(Sizes)> make_array(Sizes... sizes) {
  auto data = std::make_unique<T[]>((sizes * ...));
  nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, sizeof...(Sizes)>(data.release(), {static_cast<std::size_t>(sizes)...}, owner);
}

inline void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

// `value` must be an index into `n` things.
template <typename Integer>
void require_below(Integer value, std::size_t n, const char* what) {
  require(value >= 0 && index(value) < n, what);
}

inline void require_rows(const In<std::int64_t, 1>& rows, std::size_t n) {
  for (std::size_t k = 0; k < rows.shape(0); ++k) require_below(rows.data()[k], n, "a row index is out of range");
}

inline void require_order(const In<std::int64_t, 1>& order, std::size_t d) {
  require(order.shape(0) == d, "root_order must have an entry per feature");
  std::vector<bool> seen(d, false);
  for (std::size_t k = 0; k < d; ++k) {
    require_below(order.data()[k], d, "an entry of root_order is out of range");
    require(!seen[index(order.data()[k])], "root_order names a feature twice");
    seen[index(order.data()[k])] = true;
  }
}

template <typename Pointer, typename Index>
void require_csr(const In<Pointer, 1>& indptr, const In<Index, 1>& indices, std::size_t d) {
  const std::size_t n = indptr.shape(0);
  require(n > 0 && indptr.data()[0] == 0 && index(indptr.data()[n - 1]) == indices.shape(0),
          "indptr does not match indices: it must begin with 0 and end with their number");
  for (std::size_t k = 1; k < n; ++k) require(indptr.data()[k - 1] <= indptr.data()[k], "indptr must not decrease");
  for (std::size_t k = 0; k < indices.shape(0); ++k)
    require_below(indices.data()[k], d, "a column index is out of range");
}

// Checks only the requested rows, so that each row of a large matrix that is read in chunks is checked once.
template <typename Index>
void require_csr_rows(const In<Index, 1>& indptr, const In<Index, 1>& indices, std::size_t d,
                      const In<std::int64_t, 1>& rows) {
  require(indptr.shape(0) > 0, "indptr must not be empty");
  require_rows(rows, indptr.shape(0) - 1);
  for (std::size_t r = 0; r < rows.shape(0); ++r) {
    const Index from = indptr.data()[rows.data()[r]], to = indptr.data()[rows.data()[r] + 1];
    require(from >= 0 && from <= to && index(to) <= indices.shape(0), "indptr does not match indices");
    for (Index k = from; k < to; ++k)
      require(indices.data()[k] >= (k > from ? indices.data()[k - 1] + 1 : 0) && index(indices.data()[k]) < d,
              "the column indices of a row must increase and be below the number of features");
  }
}

inline void require_words(const In<Word, 2>& words, std::size_t rows, std::size_t d) {
  require(words.shape(1) == d, "words do not match the number of features");
  require(words.shape(0) == word_count(rows), "words do not match the number of rows");
}

// The arguments of a search for a tree per row.
inline void require_lazy_search(const In<Word, 2>& words, std::size_t rows, const In<std::int64_t, 1>& root_order,
                                std::int32_t lone_feature, std::size_t d) {
  require_words(words, rows, d);
  require_order(root_order, d);
  require_below(lone_feature, d, "lone_feature is out of range");
}

}  // namespace hietan::python
