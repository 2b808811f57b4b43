// Rows to words, rows to counts, counts to keys.
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/handles.hpp"
#include "counts/counting.hpp"
#include "trees/information.hpp"

namespace hietan::python {
namespace {

// Read-only, and out of reach for good: counts made from these arrays share them.
template <typename T>
Out<const T, 1> as_array(Buffer<T>& buffer) {
  const std::size_t n = buffer.size();
  T* data = buffer.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return Out<const T, 1>(data, {n}, owner);
}

template <typename T>
Out<const T, 2> as_array(Buffer<T>& buffer, std::size_t columns) {
  const std::size_t n = buffer.size() / columns;
  T* data = buffer.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return Out<const T, 2>(data, {n, columns}, owner);
}

Out<Word, 2> py_pack_dense(In<std::uint8_t, 2> values, In<std::int64_t, 1> rows) {
  const std::vector<std::int64_t> own_rows = copied_rows(rows, values.shape(0));
  const std::size_t d = values.shape(1), n = own_rows.size();
  for (const std::int64_t r : own_rows) {
    const std::uint8_t* row = values.data() + index(r) * d;
    std::uint8_t any = 0;
    for (std::size_t v = 0; v < d; ++v) any |= row[v];
    require(any <= 1, "values must be 0 or 1, got others in row ", r);
  }
  auto words = make_array<Word>(word_count(n), d);
  Unlocked unlocked;
  pack_dense(values.data(), d, own_rows.data(), n, words.data());
  return words;
}

template <typename Index>
Out<Word, 2> py_pack_sparse(In<Index, 1> indptr, In<Index, 1> indices, std::size_t d, In<std::int64_t, 1> rows) {
  require_features(d);
  auto words = make_array<Word>(word_count(rows.shape(0)), d);
  Unlocked unlocked;
  const auto own = copied_csr_rows(indptr, indices, d, rows);
  const std::vector<std::int64_t> all = own.row_numbers();
  pack_sparse(own.indptr.data(), own.indices.data(), d, all.data(), all.size(), words.data());
  return words;
}

void require_totals(const InOut<std::int32_t, 1>& ones, const InOut<std::int32_t, 1>& pairs, std::size_t d) {
  require_features(d);
  require(ones.shape(0) == d && pairs.shape(0) == pair_total(d),
          "ones and pairs do not match the number of features: got ", ones.shape(0), " and ", pairs.shape(0),
          " entries for ", d);
}

void py_count_words(In<Word, 2> words, InOut<std::int32_t, 1> ones, InOut<std::int32_t, 1> pairs) {
  const std::size_t d = words.shape(1);
  require(d > 0, "words must have a column for each feature, at least one");
  require_totals(ones, pairs, d);
  require_room(ones.data(), d, words.shape(0) * kLanes);
  Unlocked unlocked;
  count_words(words.data(), words.shape(0), d, ones.data(), pairs.data());
}

template <typename Index>
void py_count_sparse(In<Index, 1> indptr, In<Index, 1> indices, In<std::int64_t, 1> rows, InOut<std::int32_t, 1> ones,
                     InOut<std::int32_t, 1> pairs, const std::optional<In<std::int32_t, 1>>& weights) {
  const std::size_t d = ones.shape(0);
  require_totals(ones, pairs, d);
  const auto own = copied_csr_rows(indptr, indices, d, rows);
  const std::vector<std::int64_t> all = own.row_numbers();
  const OwnWeights own_weights(weights, all.size());
  require_room(ones.data(), d, own_weights.total);
  Unlocked unlocked;
  count_sparse(own.indptr.data(), own.indices.data(), all.data(), own_weights.data(), all.size(), d, ones.data(),
               pairs.data());
}

// Pairs of ones counted in parts, one after the other or by several threads. The rows are kept out of Python's reach.
class PyCooccurrences {
 public:
  template <typename Index>
  PyCooccurrences(const In<Index, 1>& indptr, const In<Index, 1>& indices, const In<std::int64_t, 1>& codes,
                  std::size_t d, std::size_t classes, const std::optional<In<std::int32_t, 1>>& weights,
                  std::size_t parts)
      : classes_(classes),
        d_(d),
        weights_(weights, codes.shape(0)),
        counted_(required_parts(parts)),
        moved_(parts),
        found_(parts) {
    const std::size_t n = codes.shape(0);
    require(classes > 0 && classes <= INT32_MAX && d > 0 && indptr.shape(0) == n + 1,
            "indptr, codes and numbers do not match each other: got ", indptr.shape(0), " entries of indptr, ", n,
            " codes, ", classes, " classes and ", d, " features");
    require_features(d);
    require(weights_.total <= INT32_MAX, weights_.total, " rows are more than the counts can hold: at most ",
            INT32_MAX);
    const Unlocked unlocked;
    codes_ = copied(codes);
    for (const std::int64_t code : codes_) require_below(code, classes, "a class code");
    auto own = copied_csr(indptr, indices, d);
    require_increasing(own, "the column indices of a row");
    indptr_.assign(own.indptr.begin(), own.indptr.end());
    if constexpr (std::is_same_v<Index, std::int32_t>)
      indices_ = std::move(own.indices);
    else
      std::transform(own.indices.begin(), own.indices.end(), std::back_inserter(indices_),
                     [](Index v) { return feature_id(index(v)); });
    counting_ = std::make_unique<const Counting>(indptr_.data(), indices_.data(), codes_.data(), weights_.data(), n, d,
                                                 classes);
    ranges_ = counting_->ranges(parts);
    ones_.assign(classes * d, 0);
  }

  // How many features share a row with one of each `step` features, as long as no part is joined.
  std::size_t partners_of_some(std::size_t step) {
    require(step > 0 && step <= INT32_MAX, "step must be from 1 to ", INT32_MAX, ", got ", step);
    const Unlocked unlocked;
    const std::scoped_lock guard(mutex_);
    require(counting_ != nullptr, "the rows are no longer here: their counts are being joined");
    return counting_->partners_of_some(step);
  }

  void count(std::size_t part) {
    counted_.take(part);
    const Unlocked unlocked;
    counting_->count(ranges_[part], ranges_[part + 1], ones_.data(), found_[part]);
    counted_.finish();
  }

  // Puts a part to its place, once all were counted.
  void join(std::size_t part) {
    require(counted_.all_done(), "not all parts were counted; call count(part) for each of them");
    moved_.take(part);
    const Unlocked unlocked;
    std::call_once(begun_, [&] {
      const std::scoped_lock guard(mutex_);
      counting_.reset();
      joined_ = std::make_unique<JoinedCooccurrences>(found_, classes_);
    });
    joined_->move(part);
    moved_.finish();
  }

  // (ones, indptr, indices, values), once all parts are in their places; nothing is left here then.
  nb::tuple take() {
    require(moved_.all_done(), "not all parts are joined; call join(part) for each of them");
    require(!taken_.exchange(true), "the counts were taken before");
    auto ones = make_array<std::int32_t>(classes_, d_);
    std::copy(ones_.begin(), ones_.end(), ones.data());
    Cooccurrences& all = joined_->all();
    return nb::make_tuple(ones, as_array(all.indptr), as_array(all.indices), as_array(all.values, classes_));
  }

 private:
  using Counting = CooccurrenceCounting<std::int64_t, std::int32_t>;

  std::size_t classes_, d_;
  OwnWeights weights_;
  std::vector<std::int64_t> indptr_, codes_;
  std::vector<std::int32_t> indices_, ones_;
  std::unique_ptr<const Counting> counting_;
  std::mutex mutex_;  // held by whoever reads rows that another thread might drop, and by the one that drops them
  std::vector<std::size_t> ranges_;
  Parts counted_, moved_;
  std::vector<Cooccurrences> found_;
  std::once_flag begun_;
  std::unique_ptr<JoinedCooccurrences> joined_;
  std::atomic<bool> taken_{false};
};

nb::tuple py_add_cooccurrences(const PyCounts& a, const PyCounts& b) {
  require(a.sparse() && b.sparse() && a.classes() == b.classes() && a.features() == b.features(),
          "the counts do not match each other: both must be sparse, with as many classes and features");
  for (std::size_t c = 0; c < a.classes(); ++c)
    require(a.view().class_count[c] + b.view().class_count[c] <= INT32_MAX, "class ", c,
            " has more rows than the counts can hold: at most ", INT32_MAX);
  Cooccurrences sum;
  {
    Unlocked unlocked;
    add_cooccurrences(a.cooccurrences(), b.cooccurrences(), a.features(), a.classes(), sum);
  }
  return nb::make_tuple(as_array(sum.indptr), as_array(sum.indices), as_array(sum.values, a.classes()));
}

Out<std::int64_t, 1> py_cmi_keys(const PyCounts& counts) {
  require(!counts.sparse(), "cmi_keys needs counts of all pairs; use SparseKeys for sparse ones");
  require(counts.has_pairs(), "the counts must include pairs of features");
  counts.of_some_rows();
  auto keys = make_array<std::int64_t>(pair_total(counts.features()));
  Unlocked unlocked;
  counts.keys(keys.data());
  return keys;
}

Out<std::int64_t, 1> py_pair_keys(In<std::int64_t, 1> first, In<std::int64_t, 1> second, const PyCounts& py_counts) {
  require(py_counts.has_pairs(), "the counts must include pairs of features");
  const Counts counts = py_counts.of_some_rows();
  require(first.shape(0) == second.shape(0), "first and second do not match each other: ", first.shape(0), " and ",
          second.shape(0), " entries");
  const std::vector<std::int64_t> own_first = copied(first), own_second = copied(second);
  for (std::size_t k = 0; k < own_first.size(); ++k) {
    const std::int64_t i = own_first[k], j = own_second[k];
    require_below(i, counts.d, "a feature");
    require_below(j, counts.d, "a feature");
    require(i != j, "the two features of a pair must differ, got ", i, " twice");
    require_possible_pair(counts, index(i), index(j));
  }
  auto keys = make_array<std::int64_t>(own_first.size());
  Unlocked unlocked;
  Checkpoint checkpoint;
  for (std::size_t k = 0; k < own_first.size(); ++k) {
    checkpoint.pass(16 * counts.classes);
    keys.data()[k] = cmi_key(counts, index(own_first[k]), index(own_second[k]));
  }
  return keys;
}

template <typename Index>
void def_cooccurrences(nb::class_<PyCooccurrences>& cooccurrences) {
  cooccurrences.def(nb::init<const In<Index, 1>&, const In<Index, 1>&, const In<std::int64_t, 1>&, std::size_t,
                             std::size_t, const std::optional<In<std::int32_t, 1>>&, std::size_t>(),
                    "indptr"_a.noconvert(), "indices"_a.noconvert(), "codes"_a.noconvert(), "n_features"_a,
                    "n_classes"_a, "weights"_a.noconvert() = nb::none(), "n_parts"_a = 1);
}

std::size_t py_most_informative(const PyCounts& counts) { return most_informative(counts.of_some_rows()); }

}  // namespace

void bind_counts(nb::module_& m) {
  m.def("pack_dense", &py_pack_dense, "values"_a.noconvert(), "rows"_a.noconvert());
  m.def("pack_sparse", &py_pack_sparse<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "n_features"_a,
        "rows"_a.noconvert());
  m.def("pack_sparse", &py_pack_sparse<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "n_features"_a,
        "rows"_a.noconvert());
  m.def("count_words", &py_count_words, "words"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert());
  m.def("count_sparse", &py_count_sparse<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "rows"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert(), "weights"_a.noconvert() = nb::none());
  m.def("count_sparse", &py_count_sparse<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "rows"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert(), "weights"_a.noconvert() = nb::none());
  nb::class_<PyCooccurrences> cooccurrences(m, "Cooccurrences");
  def_cooccurrences<std::int32_t>(cooccurrences);
  def_cooccurrences<std::int64_t>(cooccurrences);
  cooccurrences.def("count", &PyCooccurrences::count, "part"_a)
      .def("join", &PyCooccurrences::join, "part"_a)
      .def("partners_of_some", &PyCooccurrences::partners_of_some, "step"_a)
      .def("take", &PyCooccurrences::take);

  nb::class_<PyCounts>(m, "Counts")
      .def(nb::init<const In<std::int64_t, 1>&, const In<std::int32_t, 2>&, In<std::int32_t, 2>>(),
           "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert())
      .def(nb::init<const In<std::int64_t, 1>&, const In<std::int32_t, 2>&, nb::handle, const In<std::int64_t, 1>&,
                    nb::handle>(),
           "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert(), "indptr"_a.noconvert(),
           "indices"_a.noconvert())
      .def("check_pairs", [](const PyCounts& counts) { counts.with_pairs(); });
  m.def("add_cooccurrences", &py_add_cooccurrences, "a"_a, "b"_a);
  m.def("cmi_keys", &py_cmi_keys, "counts"_a);
  m.def("pair_keys", &py_pair_keys, "first"_a.noconvert(), "second"_a.noconvert(), "counts"_a);
  nb::class_<PySparseKeys>(m, "SparseKeys")
      .def(nb::init<std::shared_ptr<const PyCounts>, std::size_t>(), "counts"_a, "n_parts"_a = 1)
      .def("compute", &PySparseKeys::compute, "part"_a)
      .def("row", &PySparseKeys::row, "i"_a);
  m.def("most_informative", &py_most_informative, "counts"_a);
}

}  // namespace hietan::python
