// Rows to words, rows to counts, counts to keys.
#include <nanobind/stl/shared_ptr.h>

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
  const auto own = copied_csr_rows(indptr, indices, d, rows);
  const std::vector<std::int64_t> all = own.row_numbers();
  auto words = make_array<Word>(word_count(all.size()), d);
  Unlocked unlocked;
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

template <typename Index>
nb::tuple py_count_cooccurrences(In<Index, 1> indptr, In<Index, 1> indices, In<std::int64_t, 1> codes,
                                 InOut<std::int32_t, 2> ones, const std::optional<In<std::int32_t, 1>>& weights) {
  const std::size_t classes = ones.shape(0), d = ones.shape(1), n = codes.shape(0);
  require(classes > 0 && d > 0 && indptr.shape(0) == n + 1, "indptr, codes and ones do not match each other: got ",
          indptr.shape(0), " entries of indptr, ", n, " codes, ", classes, " classes and ", d, " features");
  require_features(d);
  const OwnWeights own_weights(weights, n);
  require_room(ones.data(), ones.size(), own_weights.total);
  const auto own = copied_csr(indptr, indices, d);
  const std::vector<std::int64_t> own_codes = copied(codes);
  for (const std::int64_t code : own_codes) require_below(code, classes, "a class code");
  require_increasing(own, "the column indices of a row");
  Cooccurrences found;
  {
    Unlocked unlocked;
    count_cooccurrences(own.indptr.data(), own.indices.data(), own_codes.data(), own_weights.data(), n, d, classes,
                        ones.data(), found);
  }
  return nb::make_tuple(as_array(found.indptr), as_array(found.indices), as_array(found.values, classes));
}

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
  m.def("count_cooccurrences", &py_count_cooccurrences<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "codes"_a.noconvert(), "ones"_a.noconvert(), "weights"_a.noconvert() = nb::none());
  m.def("count_cooccurrences", &py_count_cooccurrences<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "codes"_a.noconvert(), "ones"_a.noconvert(), "weights"_a.noconvert() = nb::none());

  nb::class_<PyCounts>(m, "Counts")
      .def(nb::init<const In<std::int64_t, 1>&, const In<std::int32_t, 2>&, In<std::int32_t, 2>>(),
           "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert())
      .def(nb::init<const In<std::int64_t, 1>&, const In<std::int32_t, 2>&, nb::handle, const In<std::int64_t, 1>&,
                    nb::handle>(),
           "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert(), "indptr"_a.noconvert(),
           "indices"_a.noconvert());
  m.def("add_cooccurrences", &py_add_cooccurrences, "a"_a, "b"_a);
  m.def("cmi_keys", &py_cmi_keys, "counts"_a);
  m.def("pair_keys", &py_pair_keys, "first"_a.noconvert(), "second"_a.noconvert(), "counts"_a);
  nb::class_<PySparseKeys>(m, "SparseKeys")
      .def(nb::init<std::shared_ptr<const PyCounts>>(), "counts"_a)
      .def("row", &PySparseKeys::row, "i"_a);
  m.def("most_informative", &py_most_informative, "counts"_a);
}

}  // namespace hietan::python
