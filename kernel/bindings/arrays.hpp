// Typed arrays in, arrays out, and checks that the arguments fit together: nothing is read before it was checked.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "bindings/unlocked.hpp"
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

// Raises a ValueError whose message is all `parts` in a row.
template <typename... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw std::invalid_argument(message.str());
}

template <typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) refuse(parts...);
}

// `value`, which `what` names, must be an index into `n` things.
template <typename Integer>
void require_below(Integer value, std::size_t n, const char* what) {
  require(value >= 0 && index(value) < n, what, " is out of range: got ", value, ", accepted are 0 to ", n, " - 1");
}

// Features are numbered by std::int32_t; this also keeps sizes worked out from their number from wrapping around.
inline void require_features(std::size_t d) {
  require(d <= INT32_MAX, "the number of features must be at most ", INT32_MAX, ", got ", d);
}

template <typename T, typename... Sizes>
Out<T, sizeof...(Sizes)> make_array(Sizes... sizes) {
  std::size_t total = 1;
  for (const std::size_t size : {static_cast<std::size_t>(sizes)...}) {
    require(size == 0 || total <= PTRDIFF_MAX / sizeof(T) / size, "an array of ", total, " times ", size,
            " entries is larger than any memory");
    total *= size;
  }
  auto data = std::make_unique<T[]>(total);
  nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, sizeof...(Sizes)>(data.release(), {static_cast<std::size_t>(sizes)...}, owner);
}

// A copy: what Python writes to the array later does not matter.
template <typename Array>
auto copied(const Array& array) {
  using T = std::remove_const_t<typename Array::Scalar>;
  return std::vector<T>(array.data(), array.data() + array.size());
}

inline void require_rows(const In<std::int64_t, 1>& rows, std::size_t n) {
  for (std::size_t k = 0; k < rows.shape(0); ++k) require_below(rows.data()[k], n, "a row index");
}

inline void require_order(const In<std::int64_t, 1>& order, std::size_t d) {
  require(order.shape(0) == d, "root_order must have an entry per feature: got ", order.shape(0), " for ", d,
          " features");
  std::vector<bool> seen(d, false);
  for (std::size_t k = 0; k < d; ++k) {
    require_below(order.data()[k], d, "an entry of root_order");
    require(!seen[index(order.data()[k])], "root_order names a feature twice: ", order.data()[k]);
    seen[index(order.data()[k])] = true;
  }
}

// The counts of at most `rows` further rows must fit into a std::int32_t.
inline void require_room(const std::int32_t* ones, std::size_t n, std::size_t rows) {
  require(rows <= INT32_MAX, rows, " rows are more than the counts can hold: at most ", INT32_MAX);
  for (std::size_t k = 0; k < n; ++k)
    require(ones[k] >= 0 && index(ones[k]) + rows <= INT32_MAX, "a count of ones must be from 0 to ", INT32_MAX,
            " less the ", rows, " rows to add, got ", ones[k]);
}

template <typename Pointer>
void require_indptr(const Pointer* indptr, std::size_t n, std::size_t entries) {
  require(n > 0, "indptr must not be empty");
  require(indptr[0] == 0 && index(indptr[n - 1]) == entries, "indptr does not match indices: it must lead from 0 to ",
          entries, ", the number of indices, but leads from ", indptr[0], " to ", indptr[n - 1]);
  for (std::size_t k = 1; k < n; ++k)
    require(indptr[k - 1] <= indptr[k], "indptr must not decrease, but ", indptr[k], " follows ", indptr[k - 1]);
}

template <typename Pointer, typename Index>
void require_csr(const In<Pointer, 1>& indptr, const In<Index, 1>& indices, std::size_t d) {
  require_indptr(indptr.data(), indptr.shape(0), indices.shape(0));
  for (std::size_t k = 0; k < indices.shape(0); ++k) require_below(indices.data()[k], d, "a column index");
}

// Checks only the requested rows, so that each row of a large matrix that is read in chunks is checked once.
template <typename Index>
void require_csr_rows(const In<Index, 1>& indptr, const In<Index, 1>& indices, std::size_t d,
                      const In<std::int64_t, 1>& rows) {
  require_features(d);
  require(indptr.shape(0) > 0, "indptr must not be empty");
  require_rows(rows, indptr.shape(0) - 1);
  for (std::size_t r = 0; r < rows.shape(0); ++r) {
    const Index from = indptr.data()[rows.data()[r]], to = indptr.data()[rows.data()[r] + 1];
    require(from >= 0 && from <= to && index(to) <= indices.shape(0), "indptr does not match indices: row ",
            rows.data()[r], " has those from ", from, " to ", to, " of ", indices.shape(0));
    for (Index k = from; k < to; ++k)
      require(indices.data()[k] >= (k > from ? indices.data()[k - 1] + 1 : 0) && index(indices.data()[k]) < d,
              "the column indices of a row must increase and be below the number of features, ", d, "; got ",
              indices.data()[k]);
  }
}

inline void require_words(const In<Word, 2>& words, std::size_t rows, std::size_t d) {
  require(words.shape(1) == d, "words do not match the number of features: got ", words.shape(1), " columns for ", d);
  require(words.shape(0) == word_count(rows), "words do not match the number of rows: got ", words.shape(0),
          " words of 64 for ", rows);
}

// The arguments of a search for a tree per row.
inline void require_lazy_search(const In<Word, 2>& words, std::size_t rows, const In<std::int64_t, 1>& root_order,
                                std::int32_t lone_feature, std::size_t d) {
  require_words(words, rows, d);
  require_order(root_order, d);
  require_below(lone_feature, d, "lone_feature");
}

}  // namespace hietan::python
