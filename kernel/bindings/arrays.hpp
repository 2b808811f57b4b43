// Typed arrays in, arrays out, and checks that the arguments fit together: nothing is read before it was checked.
// Python may write to an array at any time, from another thread or through another view. So whatever leads to a place
// in memory (indices, parents, orders) is copied first; the copy is checked, and the copy is read.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/unlocked.hpp"
#include "counts/words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hietan::python {

// An array to read, and one to write to. NumPy may place entries at any address, but the kernel may read a number only
// at a multiple of its size: an array to read is then copied, and one to write to is refused (see the casters below).
template <typename T, int Dims>
struct In : nb::ndarray<const T, nb::ndim<Dims>, nb::c_contig, nb::device::cpu> {};
template <typename T, int Dims>
struct InOut : nb::ndarray<T, nb::ndim<Dims>, nb::c_contig, nb::device::cpu> {};
template <typename T, int Dims>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<Dims>>;

template <typename Array>
bool is_aligned(const Array& array) {
  return reinterpret_cast<std::uintptr_t>(array.data()) % alignof(typename Array::Scalar) == 0;
}

}  // namespace hietan::python

namespace nanobind::detail {

template <typename T, int Dims>
struct type_caster<hietan::python::In<T, Dims>> {
  using Array = ndarray<const T, ndim<Dims>, c_contig, device::cpu>;
  using Caster = make_caster<Array>;
  using In = hietan::python::In<T, Dims>;
  NB_TYPE_CASTER(In, Caster::Name)

  template <typename Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
    Caster caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    if (!hietan::python::is_aligned(caster.value)) {
      try {
        const object copy = module_::import_("numpy").attr("array")(handle(source));
        if (!caster.from_python(copy, flags, cleanup)) return false;
      } catch (...) {
        return false;
      }
    }
    static_cast<Array&>(value) = std::move(caster.value);
    return hietan::python::is_aligned(value);
  }
};

template <typename T, int Dims>
struct type_caster<hietan::python::InOut<T, Dims>> {
  using Array = ndarray<T, ndim<Dims>, c_contig, device::cpu>;
  using Caster = make_caster<Array>;
  using InOut = hietan::python::InOut<T, Dims>;
  NB_TYPE_CASTER(InOut, Caster::Name)

  template <typename Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
    Caster caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    static_cast<Array&>(value) = std::move(caster.value);
    return hietan::python::is_aligned(value);
  }
};

}  // namespace nanobind::detail

namespace hietan::python {

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

inline std::vector<std::int64_t> copied_rows(const In<std::int64_t, 1>& rows, std::size_t n) {
  std::vector<std::int64_t> copy = copied(rows);
  for (const std::int64_t row : copy) require_below(row, n, "a row index");
  return copy;
}

inline std::vector<std::int64_t> copied_order(const In<std::int64_t, 1>& order, std::size_t d) {
  require(order.shape(0) == d, "root_order must have an entry per feature: got ", order.shape(0), " for ", d,
          " features");
  std::vector<std::int64_t> copy = copied(order);
  std::vector<bool> seen(d, false);
  for (const std::int64_t v : copy) {
    require_below(v, d, "an entry of root_order");
    require(!seen[index(v)], "root_order names a feature twice: ", v);
    seen[index(v)] = true;
  }
  return copy;
}

// The counts of at most `rows` further rows must fit into a std::int32_t.
inline void require_room(const std::int32_t* ones, std::size_t n, std::size_t rows) {
  require(rows <= INT32_MAX, rows, " rows are more than the counts can hold: at most ", INT32_MAX);
  for (std::size_t k = 0; k < n; ++k)
    require(ones[k] >= 0 && index(ones[k]) + rows <= INT32_MAX, "a count of ones must be from 0 to ", INT32_MAX,
            " less the ", rows, " rows to add, got ", ones[k]);
}

// How often each of `n` rows counts, if that was given: numbers of 0 or more that add up to at most INT32_MAX.
struct OwnWeights {
  std::vector<std::int32_t> values;
  std::size_t total;
  bool given;

  OwnWeights(const std::optional<In<std::int32_t, 1>>& weights, std::size_t n) : total(n), given(weights.has_value()) {
    if (!given) return;
    values = copied(*weights);
    require(values.size() == n, "weights must have an entry per row: got ", values.size(), " for ", n, " rows");
    total = 0;
    for (const std::int32_t weight : values) {
      require(weight >= 0 && index(weight) <= INT32_MAX - total, "weights must be 0 or more and add up to at most ",
              INT32_MAX, ", got ", weight);
      total += index(weight);
    }
  }
  const std::int32_t* data() const { return given ? values.data() : nullptr; }
};

template <typename Pointer>
void require_indptr(const std::vector<Pointer>& indptr, std::size_t entries) {
  require(!indptr.empty(), "indptr must not be empty");
  require(indptr.front() == 0 && index(indptr.back()) == entries,
          "indptr does not match indices: it must lead from 0 to ", entries, ", the number of indices, but leads from ",
          indptr.front(), " to ", indptr.back());
  for (std::size_t k = 1; k < indptr.size(); ++k)
    require(indptr[k - 1] <= indptr[k], "indptr must not decrease, but ", indptr[k], " follows ", indptr[k - 1]);
}

// The rows of a CSR matrix, in arrays of their own.
template <typename Pointer, typename Index>
struct OwnCsr {
  std::vector<Pointer> indptr;
  std::vector<Index> indices;

  std::vector<std::int64_t> row_numbers() const {
    std::vector<std::int64_t> numbers(indptr.size() - 1);
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    return numbers;
  }
};

// All rows of a matrix of `d` columns.
template <typename Pointer, typename Index>
OwnCsr<Pointer, Index> copied_csr(const In<Pointer, 1>& indptr, const In<Index, 1>& indices, std::size_t d) {
  OwnCsr<Pointer, Index> copy{copied(indptr), copied(indices)};
  require_indptr(copy.indptr, copy.indices.size());
  for (const Index v : copy.indices) require_below(v, d, "a column index");
  return copy;
}

// `what` of every row must increase.
template <typename Pointer, typename Index>
void require_increasing(const OwnCsr<Pointer, Index>& rows, const char* what) {
  for (std::size_t r = 0; r + 1 < rows.indptr.size(); ++r)
    for (std::size_t k = index(rows.indptr[r]) + 1; k < index(rows.indptr[r + 1]); ++k)
      require(rows.indices[k] > rows.indices[k - 1], what, " must increase, but ", rows.indices[k], " follows ",
              rows.indices[k - 1]);
}

// The requested rows, one after the other; the columns of each must increase.
template <typename Index>
OwnCsr<std::int64_t, Index> copied_csr_rows(const In<Index, 1>& indptr, const In<Index, 1>& indices, std::size_t d,
                                            const In<std::int64_t, 1>& rows) {
  require_features(d);
  require(indptr.shape(0) > 0, "indptr must not be empty");
  OwnCsr<std::int64_t, Index> copy{{0}, {}};
  copy.indptr.reserve(rows.shape(0) + 1);
  for (const std::int64_t row : copied_rows(rows, indptr.shape(0) - 1)) {
    const Index ends[] = {indptr.data()[row], indptr.data()[row + 1]};
    require(ends[0] >= 0 && ends[0] <= ends[1] && index(ends[1]) <= indices.shape(0),
            "indptr does not match indices: row ", row, " has those from ", ends[0], " to ", ends[1], " of ",
            indices.shape(0));
    const std::size_t start = copy.indices.size();
    copy.indices.insert(copy.indices.end(), indices.data() + ends[0], indices.data() + ends[1]);
    for (std::size_t k = start; k < copy.indices.size(); ++k)
      require(copy.indices[k] >= (k > start ? copy.indices[k - 1] + 1 : 0) && index(copy.indices[k]) < d,
              "the column indices of a row must increase and be below the number of features, ", d, "; got ",
              copy.indices[k]);
    copy.indptr.push_back(static_cast<std::int64_t>(copy.indices.size()));
  }
  return copy;
}

inline void require_words(const In<Word, 2>& words, std::size_t rows, std::size_t d) {
  require(words.shape(1) == d, "words do not match the number of features: got ", words.shape(1), " columns for ", d);
  require(words.shape(0) == word_count(rows), "words do not match the number of rows: got ", words.shape(0),
          " words of 64 for ", rows);
}

}  // namespace hietan::python
