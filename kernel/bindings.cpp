// The only file that knows Python: typed arrays in, arrays out, the GIL released around the work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "aode.hpp"
#include "cooccurrence.hpp"
#include "counts.hpp"
#include "hip.hpp"
#include "information.hpp"
#include "lazy.hpp"
#include "ranking.hpp"
#include "scores.hpp"
#include "trees.hpp"
#include "words.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hietan;

namespace {

template <typename T, int Dims>
using In = nb::ndarray<const T, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;
template <typename T, int Dims>
using InOut = nb::ndarray<T, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;
template <typename T, int Dims>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<Dims>>;

template <typename T>
Out<T, 1> make_array(std::size_t n) {
  T* data = new T[n];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, 1>(data, {n}, owner);
}

template <typename T>
Out<T, 2> make_array(std::size_t n, std::size_t m) {
  T* data = new T[n * m];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, 2>(data, {n, m}, owner);
}

// Takes over what a buffer holds.
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

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

void require_rows(const In<std::int64_t, 1>& rows, std::size_t n) {
  for (std::size_t k = 0; k < rows.shape(0); ++k)
    require(rows.data()[k] >= 0 && static_cast<std::size_t>(rows.data()[k]) < n, "a row index is out of range");
}

void require_order(const In<std::int64_t, 1>& order, std::size_t d) {
  require(order.shape(0) == d, "root_order must have an entry per feature");
  for (std::size_t k = 0; k < d; ++k)
    require(order.data()[k] >= 0 && static_cast<std::size_t>(order.data()[k]) < d, "root_order is out of range");
}

template <typename Index>
void require_csr(const In<Index, 1>& indptr, const In<Index, 1>& indices, std::size_t d) {
  const std::size_t n = indptr.shape(0);
  require(n > 0 && indptr.data()[0] == 0 && static_cast<std::size_t>(indptr.data()[n - 1]) == indices.shape(0),
          "indptr does not fit indices");
  for (std::size_t k = 1; k < n; ++k) require(indptr.data()[k - 1] <= indptr.data()[k], "indptr must not fall");
  for (std::size_t k = 0; k < indices.shape(0); ++k)
    require(indices.data()[k] >= 0 && static_cast<std::size_t>(indices.data()[k]) < d, "a column index is out of range");
}

// The rows asked for, and no others: chunks of a large matrix are checked once each.
template <typename Index>
void require_csr_rows(const In<Index, 1>& indptr, const In<Index, 1>& indices, std::size_t d,
                      const In<std::int64_t, 1>& rows) {
  require(indptr.shape(0) > 0, "indptr must not be empty");
  require_rows(rows, indptr.shape(0) - 1);
  for (std::size_t r = 0; r < rows.shape(0); ++r) {
    const Index from = indptr.data()[rows.data()[r]], to = indptr.data()[rows.data()[r] + 1];
    require(from >= 0 && from <= to && static_cast<std::size_t>(to) <= indices.shape(0), "indptr does not fit indices");
    for (Index k = from; k < to; ++k)
      require(indices.data()[k] >= (k > from ? indices.data()[k - 1] + 1 : 0) &&
                  static_cast<std::size_t>(indices.data()[k]) < d,
              "column indices of a row must rise and lie within the features");
  }
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
  require(ones.shape(0) == d && pairs.shape(0) == pair_total(d), "ones and pairs do not fit the number of features");
}

void py_count_words(In<Word, 2> words, InOut<std::int32_t, 1> ones, InOut<std::int32_t, 1> pairs) {
  const std::size_t d = words.shape(1);
  require_totals(ones, pairs, d);
  nb::gil_scoped_release release;
  count_words(words.data(), words.shape(0), d, ones.data(), pairs.data());
}

template <typename Index>
void py_count_sparse(In<Index, 1> indptr, In<Index, 1> indices, In<std::int64_t, 1> rows,
                     InOut<std::int32_t, 1> ones, InOut<std::int32_t, 1> pairs) {
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
  require(classes > 0 && d > 0 && indptr.shape(0) == n + 1, "indptr, codes and ones do not fit each other");
  require(n <= INT32_MAX, "there are more rows than the counts can hold");
  require_csr(indptr, indices, d);
  for (std::size_t r = 0; r < n; ++r) {
    require(codes.data()[r] >= 0 && static_cast<std::size_t>(codes.data()[r]) < classes, "a code is out of range");
    for (Index k = indptr.data()[r] + 1; k < indptr.data()[r + 1]; ++k)
      require(indices.data()[k] > indices.data()[k - 1], "column indices of a row must rise");
  }
  Cooccurrences found;
  {
    nb::gil_scoped_release release;
    count_cooccurrences(indptr.data(), indices.data(), codes.data(), n, d, classes, ones.data(), found);
  }
  return nb::make_tuple(as_array(found.indptr), as_array(found.indices), as_array(found.values, classes));
}

// Pair counts, all of them or the sparse ones, kept alive with their arrays.
struct PyCounts {
  In<std::int64_t, 1> class_count;
  In<std::int32_t, 2> ones, pairs;
  In<std::int64_t, 1> indptr;
  In<std::int32_t, 1> indices;

  PyCounts(In<std::int64_t, 1> n, In<std::int32_t, 2> o, In<std::int32_t, 2> p) : class_count(n), ones(o), pairs(p) {
    require_margins();
    require(p.shape(0) == classes() && p.shape(1) == pair_total(features()),
            "class_count, ones and pairs do not fit each other");
  }
  PyCounts(In<std::int64_t, 1> n, In<std::int32_t, 2> o, In<std::int32_t, 2> values, In<std::int64_t, 1> starts,
           In<std::int32_t, 1> columns)
      : class_count(n), ones(o), pairs(values), indptr(starts), indices(columns) {
    require_margins();
    require(values.shape(0) == columns.shape(0) && values.shape(1) == classes() && starts.shape(0) == features() + 1,
            "class_count, ones and pairs do not fit each other");
    const std::int64_t* start = starts.data();
    require(start[0] == 0 && start[features()] == static_cast<std::int64_t>(columns.shape(0)),
            "indptr does not fit indices");
    for (std::size_t i = 0; i < features(); ++i) require(start[i] <= start[i + 1], "indptr must not fall");
    for (std::size_t i = 0; i < features(); ++i) {
      auto last = static_cast<std::int64_t>(i);
      for (std::int64_t e = start[i]; e < start[i + 1]; last = columns.data()[e++])
        require(columns.data()[e] > last && columns.data()[e] < static_cast<std::int64_t>(features()),
                "the partners of a feature must rise, come after it and lie within the features");
    }
  }

  std::size_t classes() const { return class_count.shape(0); }
  std::size_t features() const { return ones.shape(1); }
  bool sparse() const { return indptr.is_valid(); }
  Counts view() const {
    if (!sparse()) return {classes(), features(), class_count.data(), ones.data(), pairs.data()};
    return {classes(), features(), class_count.data(), ones.data(), pairs.data(), indptr.data(), indices.data()};
  }
  CooccurrenceView cooccurrences() const { return {indptr.data(), indices.data(), pairs.data()}; }

 private:
  void require_margins() const {
    require(classes() > 0 && features() > 0 && ones.shape(0) == classes(), "class_count and ones do not fit each other");
  }
};

nb::tuple py_add_cooccurrences(const PyCounts& a, const PyCounts& b) {
  require(a.sparse() && b.sparse() && a.classes() == b.classes() && a.features() == b.features(),
          "the counts do not fit each other");
  Cooccurrences sum;
  {
    nb::gil_scoped_release release;
    add_cooccurrences(a.cooccurrences(), b.cooccurrences(), a.features(), a.classes(), sum);
  }
  return nb::make_tuple(as_array(sum.indptr), as_array(sum.indices), as_array(sum.values, a.classes()));
}

Out<std::int64_t, 1> py_cmi_keys(const PyCounts& counts) {
  require(!counts.sparse(), "sparse counts have SparseKeys");
  auto keys = make_array<std::int64_t>(pair_total(counts.features()));
  nb::gil_scoped_release release;
  cmi_keys(counts.view(), keys.data());
  return keys;
}

struct PySparseKeys {
  PyCounts counts;
  std::shared_ptr<const SparseKeys> keys;

  explicit PySparseKeys(const PyCounts& c) : counts(c) {
    require(c.sparse(), "SparseKeys needs sparse counts");
    nb::gil_scoped_release release;
    keys = std::make_shared<const SparseKeys>(counts.view());
  }
  Out<std::int64_t, 1> row(std::size_t i) const {
    require(i < counts.features(), "a feature is out of range");
    auto out = make_array<std::int64_t>(counts.features() - i - 1);
    keys->row(i, out.data());
    return out;
  }
};

std::size_t py_most_informative(In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones) {
  require(ones.shape(0) == class_count.shape(0) && ones.shape(1) > 0, "class_count and ones do not fit each other");
  return most_informative({class_count.shape(0), ones.shape(1), class_count.data(), ones.data(), nullptr});
}

// The closure of the feature DAG, kept alive with its arrays.
struct PyRelations {
  In<std::int32_t, 1> ancestor_indptr, ancestor_indices, descendant_indptr, descendant_indices;

  PyRelations(In<std::int32_t, 1> up, In<std::int32_t, 1> up_indices, In<std::int32_t, 1> down,
              In<std::int32_t, 1> down_indices)
      : ancestor_indptr(up), ancestor_indices(up_indices), descendant_indptr(down), descendant_indices(down_indices) {
    require(up.shape(0) > 1 && up.shape(0) == down.shape(0), "ancestors and descendants do not fit each other");
    require(up_indices.shape(0) == down_indices.shape(0), "ancestors and descendants do not fit each other");
    require_csr(up, up_indices, features());
    require_csr(down, down_indices, features());
  }
  std::size_t features() const { return ancestor_indptr.shape(0) - 1; }
  Relations view() const {
    return {features(),
            {ancestor_indptr.data(), ancestor_indices.data()},
            {descendant_indptr.data(), descendant_indices.data()}};
  }
};

const std::int64_t* fitting(const In<std::int64_t, 1>& keys, const PyRelations& relations) {
  require(keys.shape(0) == pair_total(relations.features()), "keys do not fit the number of features");
  return keys.data();
}

const SparseKeys& fitting(const PySparseKeys& keys, const PyRelations& relations) {
  require(keys.counts.features() == relations.features(), "keys do not fit the number of features");
  return *keys.keys;
}

struct PyRanking {
  In<std::int64_t, 1> keys;
  std::optional<PySparseKeys> sparse_keys;  // one of these two, alive with the ranking
  PyRelations relations;
  Ranking ranking;

  PyRanking(In<std::int64_t, 1> k, const PyRelations& r)
      : keys(k), relations(r), ranking(fitting(k, r), relations.view()) {}
  PyRanking(const PySparseKeys& k, const PyRelations& r)
      : sparse_keys(k), relations(r), ranking(fitting(k, r), relations.view()) {}

  void sort(std::size_t limit) {
    nb::gil_scoped_release release;
    for (std::size_t k = 0; ranking.sorted_edges() < limit && ranking.block(k); ++k) {
    }
  }

  // The first `limit` edges (i < j), highest key first; sorts as far as needed.
  Out<std::int32_t, 2> edges(std::size_t limit) {
    limit = std::min(limit, pair_total(relations.features()));
    auto out = make_array<std::int32_t>(limit, 2);
    nb::gil_scoped_release release;
    std::size_t n = 0;
    for (std::size_t k = 0; n < limit; ++k)
      for (const Edge& edge : *ranking.block(k)) {
        if (n == limit) break;
        out.data()[2 * n] = static_cast<std::int32_t>(std::min(edge.first(), edge.last()));
        out.data()[2 * n++ + 1] = static_cast<std::int32_t>(std::max(edge.first(), edge.last()));
      }
    return out;
  }
};

Out<std::int32_t, 1> py_spanning_tree(In<std::int64_t, 1> keys, std::size_t d, std::int32_t root) {
  require(d > 0 && keys.shape(0) == pair_total(d), "keys do not fit the number of features");
  require(root >= 0 && static_cast<std::size_t>(root) < d, "root is out of range");
  auto parent = make_array<std::int32_t>(d);
  nb::gil_scoped_release release;
  spanning_tree(keys.data(), d, root, parent.data());
  return parent;
}

template <typename Keys>
Out<std::int32_t, 1> py_hierarchical_tree(const Keys& keys, const PyRelations& relations,
                                          In<std::int64_t, 1> root_order) {
  const auto& source = fitting(keys, relations);
  require_order(root_order, relations.features());
  auto parent = make_array<std::int32_t>(relations.features());
  nb::gil_scoped_release release;
  hierarchical_tree(EdgeOrder(source, relations.view()), root_order.data(), parent.data());
  return parent;
}

void require_words(const In<Word, 2>& words, std::size_t rows, std::size_t d) {
  require(words.shape(1) == d, "words do not fit the number of features");
  require(words.shape(0) == word_count(rows), "words do not fit the number of rows");
}

void require_lone(std::int32_t lone_feature, std::size_t d) {
  require(lone_feature >= 0 && static_cast<std::size_t>(lone_feature) < d, "lone_feature is out of range");
}

Out<std::int32_t, 2> py_lazy_trees(PyRanking& ranking, In<Word, 2> words, std::size_t rows,
                                   In<std::int64_t, 1> root_order, std::int32_t lone_feature, bool directed, bool wide_labels) {
  const std::size_t d = ranking.relations.features();
  require_words(words, rows, d);
  require_order(root_order, d);
  require_lone(lone_feature, d);
  auto parents = make_array<std::int32_t>(rows, d);
  nb::gil_scoped_release release;
  for_each_lazy_tree(ranking.ranking, words.data(), rows, root_order.data(), lone_feature, directed, wide_labels,
                     [&](std::size_t row, const std::int32_t* parent) {
                       std::copy(parent, parent + d, parents.data() + row * d);
                     });
  return parents;
}

Out<double, 2> prior_rows(const In<double, 1>& log_prior, std::size_t rows, std::size_t classes) {
  require(log_prior.shape(0) == classes, "log_prior does not fit the number of classes");
  auto joint = make_array<double>(rows, classes);
  for (std::size_t row = 0; row < rows; ++row)
    std::copy(log_prior.data(), log_prior.data() + classes, joint.data() + row * classes);
  return joint;
}

Out<double, 2> py_lazy_joint_log(PyRanking& ranking, In<Word, 2> words, std::size_t rows,
                                 In<std::int64_t, 1> root_order, std::int32_t lone_feature, bool directed,
                                 const PyCounts& py_counts, In<double, 1> log_prior, double alpha, bool pooled) {
  const Counts counts = py_counts.view();
  require(counts.d == ranking.relations.features(), "the ranking does not fit the counts");
  require_words(words, rows, counts.d);
  require_order(root_order, counts.d);
  require_lone(lone_feature, counts.d);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  const Tables tables(counts, alpha, pooled);
  TreeScorer scorer(tables);
  for_each_lazy_tree(ranking.ranking, words.data(), rows, root_order.data(), lone_feature, directed, false,
                     [&](std::size_t row, const std::int32_t* parent) {
                       scorer.add(parent, words.data() + row / kLanes * counts.d, row % kLanes,
                                  joint.data() + row * counts.classes);
                     });
  return joint;
}

Out<double, 2> py_tree_joint_log(In<std::int32_t, 1> parent, In<Word, 2> words, std::size_t rows,
                                 const PyCounts& py_counts, In<double, 1> log_prior, double alpha, bool pooled) {
  const Counts counts = py_counts.view();
  require_words(words, rows, counts.d);
  require(parent.shape(0) == counts.d, "parent must have an entry per feature");
  for (std::size_t v = 0; v < counts.d; ++v)
    require(parent.data()[v] >= kAbsent && parent.data()[v] < static_cast<std::int64_t>(counts.d) &&
                parent.data()[v] != static_cast<std::int64_t>(v),
            "a parent is out of range");
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  add_shared_tree(Tables(counts, alpha, pooled), parent.data(), words.data(), rows, joint.data());
  return joint;
}

Ancestors ancestors_named(const std::string& name) {
  if (name == "depend") return Ancestors::depend;
  if (name == "naive") return Ancestors::naive;
  require(name == "absent", "ancestors must be depend, naive or absent");
  return Ancestors::absent;
}

Out<double, 2> py_aode_joint_log(const PyRelations& relations, const std::string& ancestors,
                                 std::int64_t min_frequency, In<Word, 2> words, std::size_t rows,
                                 In<double, 1> naive_log_prior, const PyCounts& py_counts, In<double, 1> log_prior,
                                 double alpha, bool pooled) {
  const Counts counts = py_counts.view();
  require(counts.d == relations.features(), "the relations do not fit the counts");
  require_words(words, rows, counts.d);
  require(naive_log_prior.shape(0) == counts.classes, "naive_log_prior does not fit the number of classes");
  const Ancestors kind = ancestors_named(ancestors);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  aode(Tables(counts, alpha, pooled), relations.view(), kind, min_frequency, words.data(), rows, log_prior.data(),
       naive_log_prior.data(), joint.data());
  return joint;
}

Out<Word, 2> py_hip_select(const PyRelations& relations, In<Word, 2> words) {
  const std::size_t d = relations.features(), batches = words.shape(0);
  require(words.shape(1) == d, "words do not fit the number of features");
  auto kept = make_array<Word>(batches, d);
  nb::gil_scoped_release release;
  for (std::size_t b = 0; b < batches; ++b) hip_select(relations.view(), words.data() + b * d, kept.data() + b * d);
  return kept;
}

Out<double, 2> py_hip_joint_log(const PyRelations& relations, In<Word, 2> words, std::size_t rows,
                                In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones, In<double, 1> log_prior,
                                double alpha, bool pooled) {
  require(ones.shape(0) == class_count.shape(0) && ones.shape(1) == relations.features(),
          "class_count, ones and the relations do not fit each other");
  const Counts counts{ones.shape(0), ones.shape(1), class_count.data(), ones.data(), nullptr};
  require_words(words, rows, counts.d);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  hip_naive_bayes(Tables(counts, alpha, pooled), relations.view(), words.data(), rows, joint.data());
  return joint;
}

}  // namespace

NB_MODULE(_kernel, m) {
  m.doc() = "Compiled kernel of hietan: counts, information, rankings and trees over plain arrays.";

  m.def("pack_dense", &py_pack_dense, "values"_a.noconvert(), "rows"_a.noconvert());
  m.def("pack_sparse", &py_pack_sparse<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "n_features"_a, "rows"_a.noconvert());
  m.def("pack_sparse", &py_pack_sparse<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "n_features"_a, "rows"_a.noconvert());
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
  nb::class_<PySparseKeys>(m, "SparseKeys")
      .def(nb::init<const PyCounts&>(), "counts"_a)
      .def("row", &PySparseKeys::row, "i"_a);
  m.def("most_informative", &py_most_informative, "class_count"_a.noconvert(), "ones"_a.noconvert());

  nb::class_<PyRelations>(m, "Relations")
      .def(nb::init<In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>>(),
           "ancestor_indptr"_a.noconvert(), "ancestor_indices"_a.noconvert(), "descendant_indptr"_a.noconvert(),
           "descendant_indices"_a.noconvert());
  nb::class_<PyRanking>(m, "Ranking")
      .def(nb::init<In<std::int64_t, 1>, const PyRelations&>(), "keys"_a.noconvert(), "relations"_a)
      .def(nb::init<const PySparseKeys&, const PyRelations&>(), "keys"_a, "relations"_a)
      .def("edges", &PyRanking::edges, "limit"_a)
      .def("sort", &PyRanking::sort, "limit"_a)
      .def_prop_ro("n_sorted", [](const PyRanking& r) { return r.ranking.sorted_edges(); });

  m.def("spanning_tree", &py_spanning_tree, "keys"_a.noconvert(), "n_features"_a, "root"_a);
  m.def("hierarchical_tree", &py_hierarchical_tree<In<std::int64_t, 1>>, "keys"_a.noconvert(), "relations"_a,
        "root_order"_a.noconvert());
  m.def("hierarchical_tree", &py_hierarchical_tree<PySparseKeys>, "keys"_a, "relations"_a, "root_order"_a.noconvert());
  m.def("lazy_trees", &py_lazy_trees, "ranking"_a, "words"_a.noconvert(), "n_rows"_a, "root_order"_a.noconvert(),
        "lone_feature"_a, "directed"_a, "wide_labels"_a = false);
  m.def("lazy_joint_log", &py_lazy_joint_log, "ranking"_a, "words"_a.noconvert(), "n_rows"_a,
        "root_order"_a.noconvert(), "lone_feature"_a, "directed"_a, "counts"_a, "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("tree_joint_log", &py_tree_joint_log, "parent"_a.noconvert(), "words"_a.noconvert(), "n_rows"_a,
        "counts"_a, "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("aode_joint_log", &py_aode_joint_log, "relations"_a, "ancestors"_a, "min_frequency"_a, "words"_a.noconvert(),
        "n_rows"_a, "naive_log_prior"_a.noconvert(), "counts"_a, "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("hip_select", &py_hip_select, "relations"_a, "words"_a.noconvert());
  m.def("hip_joint_log", &py_hip_joint_log, "relations"_a, "words"_a.noconvert(), "n_rows"_a,
        "class_count"_a.noconvert(), "ones"_a.noconvert(), "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
}
