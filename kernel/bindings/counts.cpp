// Rows to words, rows to counts, counts to keys.
#include "bindings/bindings.hpp"
#include "bindings/handles.hpp"
#include "counts/counting.hpp"
#include "trees/information.hpp"

namespace hietan::python {
namespace {

template <typename T>
Out<T, 1> as_array(Buffer<T>& buffer) {
  const std::size_t n = buffer.size();
  T* data = buffer.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return Out<T, 1>(data, {n}, owner);
}

template <typename T>
Out<T, 2> as_array(Buffer<T>& buffer, std::size_t columns) {
  const std::size_t n = buffer.size() / columns;
  T* data = buffer.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return Out<T, 2>(data, {n, columns}, owner);
}

Out<Word, 2> py_pack_dense(In<std::uint8_t, 2> values, In<std::int64_t, 1> rows) {
  require_rows(rows, values.shape(0));
  const std::size_t d = values.shape(1), n = rows.shape(0);
  auto words = make_array<Word>(word_count(n), d);
  nb::gil_scoped_release release;
  pack_dense(values.data(), d, rows.data(), n, words.data());
  return words;
}

template <typename Index>
Out<Word, 2> py_pack_sparse(In<Index, 1> indptr, In<Index, 1> indices, std::size_t d, In<std::int64_t, 1> rows) {
  require_csr_rows(indptr, indices, d, rows);
  const std::size_t n = rows.shape(0);
  auto words = make_array<Word>(word_count(n), d);
  nb::gil_scoped_release release;
  pack_sparse(indptr.data(), indices.data(), d, rows.data(), n, words.data());
  return words;
}

void require_totals(const InOut<std::int32_t, 1>& ones, const InOut<std::int32_t, 1>& pairs, std::size_t d) {
  require(ones.shape(0) == d && pairs.shape(0) == pair_total(d), "ones and pairs do not match the number of features");
}

void py_count_words(In<Word, 2> words, InOut<std::int32_t, 1> ones, InOut<std::int32_t, 1> pairs) {
  const std::size_t d = words.shape(1);
  require_totals(ones, pairs, d);
  nb::gil_scoped_release release;
  count_words(words.data(), words.shape(0), d, ones.data(), pairs.data());
}

template <typename Index>
void py_count_sparse(In<Index, 1> indptr, In<Index, 1> indices, In<std::int64_t, 1> rows, InOut<std::int32_t, 1> ones,
                     InOut<std::int32_t, 1> pairs) {
  const std::size_t d = ones.shape(0);
  require_totals(ones, pairs, d);
  require_csr_rows(indptr, indices, d, rows);
  nb::gil_scoped_release release;
  count_sparse(indptr.data(), indices.data(), rows.data(), rows.shape(0), d, ones.data(), pairs.data());
}

template <typename Index>
nb::tuple py_count_cooccurrences(In<Index, 1> indptr, In<Index, 1> indices, In<std::int64_t, 1> codes,
                                 InOut<std::int32_t, 2> ones) {
  const std::size_t classes = ones.shape(0), d = ones.shape(1), n = codes.shape(0);
  require(classes > 0 && d > 0 && indptr.shape(0) == n + 1, "indptr, codes and ones do not match each other");
  require(n <= INT32_MAX, "there are more rows than the counts can hold");
  require_csr(indptr, indices, d);
  for (std::size_t r = 0; r < n; ++r) {
    require_below(codes.data()[r], classes, "a class code is out of range");
    for (Index k = indptr.data()[r] + 1; k < indptr.data()[r + 1]; ++k)
      require(indices.data()[k] > indices.data()[k - 1], "the column indices of a row must increase");
  }
  Cooccurrences found;
  {
    nb::gil_scoped_release release;
    count_cooccurrences(indptr.data(), indices.data(), codes.data(), n, d, classes, ones.data(), found);
  }
  return nb::make_tuple(as_array(found.indptr), as_array(found.indices), as_array(found.values, classes));
}

nb::tuple py_add_cooccurrences(const PyCounts& a, const PyCounts& b) {
  require(a.sparse() && b.sparse() && a.classes() == b.classes() && a.features() == b.features(),
          "the counts do not match each other");
  Cooccurrences sum;
  {
    nb::gil_scoped_release release;
    add_cooccurrences(a.cooccurrences(), b.cooccurrences(), a.features(), a.classes(), sum);
  }
  return nb::make_tuple(as_array(sum.indptr), as_array(sum.indices), as_array(sum.values, a.classes()));
}

Out<std::int64_t, 1> py_cmi_keys(const PyCounts& counts) {
  require(!counts.sparse(), "cmi_keys needs counts of all pairs; use SparseKeys for sparse ones");
  const Counts view = counts.with_pairs();
  auto keys = make_array<std::int64_t>(pair_total(counts.features()));
  nb::gil_scoped_release release;
  cmi_keys(view, keys.data());
  return keys;
}

Out<std::int64_t, 1> py_pair_keys(In<std::int64_t, 1> first, In<std::int64_t, 1> second, const PyCounts& py_counts) {
  const Counts counts = py_counts.with_pairs();
  require(first.shape(0) == second.shape(0), "first and second do not match each other");
  require_rows(first, counts.d);
  require_rows(second, counts.d);
  for (std::size_t k = 0; k < first.shape(0); ++k)
    require(first.data()[k] != second.data()[k], "the two features of a pair must differ");
  auto keys = make_array<std::int64_t>(first.shape(0));
  nb::gil_scoped_release release;
  for (std::size_t k = 0; k < first.shape(0); ++k)
    keys.data()[k] = cmi_key(counts, index(first.data()[k]), index(second.data()[k]));
  return keys;
}

std::size_t py_most_informative(In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones) {
  require(ones.shape(0) == class_count.shape(0) && ones.shape(1) > 0, "class_count and ones do not match each other");
  return most_informative({class_count.shape(0), ones.shape(1), class_count.data(), ones.data(), nullptr});
}

}  // namespace

void bind_counts(nb::module_& m) {
  m.def("pack_dense", &py_pack_dense, "values"_a.noconvert(), "rows"_a.noconvert());
  m.def("pack_sparse", &py_pack_sparse<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "n_features"_a,
        "rows"_a.noconvert());
  m.def("pack_sparse", &py_pack_sparse<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "n_features"_a,
        "rows"_a.noconvert());
  m.def("count_words", &py_count_words, "words"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert());
  m.def("count_sparse", &py_count_sparse<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "rows"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert());
  m.def("count_sparse", &py_count_sparse<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "rows"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert());
  m.def("count_cooccurrences", &py_count_cooccurrences<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "codes"_a.noconvert(), "ones"_a.noconvert());
  m.def("count_cooccurrences", &py_count_cooccurrences<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "codes"_a.noconvert(), "ones"_a.noconvert());

  nb::class_<PyCounts>(m, "Counts")
      .def(nb::init<In<std::int64_t, 1>, In<std::int32_t, 2>, In<std::int32_t, 2>>(), "class_count"_a.noconvert(),
           "ones"_a.noconvert(), "pairs"_a.noconvert())
      .def(nb::init<In<std::int64_t, 1>, In<std::int32_t, 2>, In<std::int32_t, 2>, In<std::int64_t, 1>,
                    In<std::int32_t, 1>>(),
           "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert(), "indptr"_a.noconvert(),
           "indices"_a.noconvert());
  m.def("add_cooccurrences", &py_add_cooccurrences, "a"_a, "b"_a);
  m.def("cmi_keys", &py_cmi_keys, "counts"_a);
  m.def("pair_keys", &py_pair_keys, "first"_a.noconvert(), "second"_a.noconvert(), "counts"_a);
  nb::class_<PySparseKeys>(m, "SparseKeys")
      .def(nb::init<const PyCounts&>(), "counts"_a)
      .def("row", &PySparseKeys::row, "i"_a);
  m.def("most_informative", &py_most_informative, "class_count"_a.noconvert(), "ones"_a.noconvert());
}

}  // namespace hietan::python
