// The only file that knows Python: typed arrays in, arrays out, the GIL released around the work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "aode.hpp"
#include "closure.hpp"
#include "counts.hpp"
#include "hip.hpp"
#include "information.hpp"
#include "lazy.hpp"
#include "logistic.hpp"
#include "proximal.hpp"
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

template <typename T, typename... Sizes>
Out<T, sizeof...(Sizes)> make_array(Sizes... sizes) {
  auto data = std::make_unique<T[]>((sizes * ...));
  nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, sizeof...(Sizes)>(data.release(), {static_cast<std::size_t>(sizes)...}, owner);
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

Counts make_counts(const In<std::int64_t, 1>& class_count, const In<std::int32_t, 2>& ones,
                   const In<std::int32_t, 2>& pairs) {
  const std::size_t classes = class_count.shape(0), d = ones.shape(1);
  require(classes > 0 && d > 0 && ones.shape(0) == classes && pairs.shape(0) == classes &&
              pairs.shape(1) == pair_total(d),
          "class_count, ones and pairs do not fit each other");
  return {classes, d, class_count.data(), ones.data(), pairs.data()};
}

Out<std::int64_t, 1> py_cmi_keys(In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones,
                                 In<std::int32_t, 2> pairs) {
  const Counts counts = make_counts(class_count, ones, pairs);
  auto keys = make_array<std::int64_t>(pair_total(counts.d));
  nb::gil_scoped_release release;
  cmi_keys(counts, keys.data());
  return keys;
}

Out<std::int64_t, 1> py_pair_keys(In<std::int64_t, 1> first, In<std::int64_t, 1> second,
                                  In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones,
                                  In<std::int32_t, 2> pairs) {
  const Counts counts = make_counts(class_count, ones, pairs);
  require(first.shape(0) == second.shape(0), "first and second do not fit each other");
  require_rows(first, counts.d);
  require_rows(second, counts.d);
  for (std::size_t k = 0; k < first.shape(0); ++k)
    require(first.data()[k] != second.data()[k], "a pair needs two features");
  auto keys = make_array<std::int64_t>(first.shape(0));
  nb::gil_scoped_release release;
  for (std::size_t k = 0; k < first.shape(0); ++k)
    keys.data()[k] = cmi_key(counts, static_cast<std::size_t>(first.data()[k]),
                             static_cast<std::size_t>(second.data()[k]));
  return keys;
}

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

struct PyRanking {
  In<std::int64_t, 1> keys;
  PyRelations relations;
  Ranking ranking;

  PyRanking(In<std::int64_t, 1> k, const PyRelations& r)
      : keys(k), relations(r), ranking(fitting(k, r), relations.view()) {}

  static const std::int64_t* fitting(const In<std::int64_t, 1>& k, const PyRelations& r) {
    require(k.shape(0) == pair_total(r.features()), "keys do not fit the number of features");
    return k.data();
  }

  // The first `limit` edges (i < j), highest key first; sorts as far as needed.
  Out<std::int32_t, 2> edges(std::size_t limit) {
    limit = std::min(limit, keys.shape(0));
    auto out = make_array<std::int32_t>(limit, 2);
    nb::gil_scoped_release release;
    std::size_t n = 0;
    for (std::size_t k = 0; n < limit; ++k) {
      const std::vector<Edge>* block = ranking.block(k);
      if (!block) throw std::logic_error("the ranking ended before all its edges were read");
      for (const Edge& edge : *block) {
        if (n == limit) break;
        out.data()[2 * n] = static_cast<std::int32_t>(std::min(edge.first(), edge.last()));
        out.data()[2 * n++ + 1] = static_cast<std::int32_t>(std::max(edge.first(), edge.last()));
      }
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

Out<std::int32_t, 1> py_hierarchical_tree(In<std::int64_t, 1> keys, const PyRelations& relations,
                                          In<std::int64_t, 1> root_order) {
  const std::size_t d = relations.features();
  PyRanking::fitting(keys, relations);
  require_order(root_order, d);
  auto parent = make_array<std::int32_t>(d);
  nb::gil_scoped_release release;
  hierarchical_tree(keys.data(), relations.view(), root_order.data(), parent.data());
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
                                 In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones,
                                 In<std::int32_t, 2> pairs, In<double, 1> log_prior, double alpha, bool pooled) {
  const Counts counts = make_counts(class_count, ones, pairs);
  require(counts.d == ranking.relations.features(), "the ranking does not fit the counts");
  require_words(words, rows, counts.d);
  require_order(root_order, counts.d);
  require_lone(lone_feature, counts.d);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  const Tables tables(counts, alpha, pooled);
  for_each_lazy_tree(ranking.ranking, words.data(), rows, root_order.data(), lone_feature, directed, false,
                     [&](std::size_t row, const std::int32_t* parent) {
                       add_tree(tables, parent, words.data() + row / kLanes * counts.d, row % kLanes,
                                joint.data() + row * counts.classes);
                     });
  return joint;
}

Out<double, 2> py_tree_joint_log(In<std::int32_t, 1> parent, In<Word, 2> words, std::size_t rows,
                                 In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones,
                                 In<std::int32_t, 2> pairs, In<double, 1> log_prior, double alpha, bool pooled) {
  const Counts counts = make_counts(class_count, ones, pairs);
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

Out<double, 3> py_tree_factors(In<std::int32_t, 2> parents, In<Word, 2> words, std::size_t rows,
                               In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones,
                               In<std::int32_t, 2> pairs, double alpha, bool pooled) {
  // Without pairs there are factors of roots alone.
  const bool roots_only = pairs.shape(1) == 0;
  require(roots_only || pairs.shape(1) == pair_total(ones.shape(1)), "ones and pairs do not fit each other");
  require(ones.shape(0) == class_count.shape(0) && pairs.shape(0) == class_count.shape(0),
          "class_count, ones and pairs do not fit each other");
  const Counts counts{ones.shape(0), ones.shape(1), class_count.data(), ones.data(), pairs.data()};
  require_words(words, rows, counts.d);
  require(parents.shape(0) == rows && parents.shape(1) == counts.d, "parents must have an entry per row and feature");
  for (std::size_t k = 0; k < rows * counts.d; ++k)
    require(parents.data()[k] >= kAbsent &&
                parents.data()[k] < (roots_only ? 0 : static_cast<std::int64_t>(counts.d)) &&
                parents.data()[k] != static_cast<std::int64_t>(k % counts.d),
            "a parent is out of range");
  auto factors = make_array<double>(rows, counts.d, counts.classes);
  nb::gil_scoped_release release;
  const Tables tables(counts, alpha, pooled);
  for (std::size_t row = 0; row < rows; ++row)
    tree_factors(tables, parents.data() + row * counts.d, words.data() + row / kLanes * counts.d, row % kLanes,
                 factors.data() + row * counts.d * counts.classes);
  return factors;
}

// (row, parent, child) of the first contradiction to the hierarchy, or None.
nb::object py_find_violation(In<std::int32_t, 1> child_indptr, In<std::int32_t, 1> child_indices, In<Word, 2> words,
                             std::size_t rows) {
  const std::size_t d = words.shape(1);
  require(child_indptr.shape(0) == d + 1, "child_indptr does not fit the number of features");
  require_csr(child_indptr, child_indices, d);
  require_words(words, rows, d);
  Violation found;
  {
    nb::gil_scoped_release release;
    found = find_violation({child_indptr.data(), child_indices.data()}, d, words.data(), rows);
  }
  if (found.row < 0) return nb::none();
  return nb::make_tuple(found.row, found.parent, found.child);
}

Ancestors ancestors_named(const std::string& name) {
  if (name == "depend") return Ancestors::depend;
  if (name == "naive") return Ancestors::naive;
  require(name == "absent", "ancestors must be depend, naive or absent");
  return Ancestors::absent;
}

Out<double, 2> py_aode_joint_log(const PyRelations& relations, const std::string& ancestors,
                                 std::int64_t min_frequency, In<Word, 2> words, std::size_t rows,
                                 In<double, 1> naive_log_prior, In<std::int64_t, 1> class_count,
                                 In<std::int32_t, 2> ones, In<std::int32_t, 2> pairs, In<double, 1> log_prior,
                                 double alpha, bool pooled) {
  const Counts counts = make_counts(class_count, ones, pairs);
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

// (factors, averaging, whether estimators qualified) of each row.
nb::tuple py_aode_factors(const PyRelations& relations, const std::string& ancestors, std::int64_t min_frequency,
                          In<Word, 2> words, std::size_t rows, In<std::int64_t, 1> class_count,
                          In<std::int32_t, 2> ones, In<std::int32_t, 2> pairs, In<double, 1> log_prior, double alpha,
                          bool pooled) {
  const Counts counts = make_counts(class_count, ones, pairs);
  require(counts.d == relations.features(), "the relations do not fit the counts");
  require_words(words, rows, counts.d);
  require(log_prior.shape(0) == counts.classes, "log_prior does not fit the number of classes");
  const Ancestors kind = ancestors_named(ancestors);
  auto factors = make_array<double>(rows, counts.d, counts.classes);
  auto averaging = make_array<double>(rows, counts.classes);
  auto averaged = make_array<bool>(rows);
  {
    nb::gil_scoped_release release;
    const Tables tables(counts, alpha, pooled);
    for (std::size_t row = 0; row < rows; ++row)
      averaged.data()[row] = aode_factors(
          tables, relations.view(), kind, min_frequency, words.data() + row / kLanes * counts.d, row % kLanes,
          log_prior.data(), factors.data() + row * counts.d * counts.classes, averaging.data() + row * counts.classes);
  }
  return nb::make_tuple(factors, averaging, averaged);
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

GraphPenalty make_penalty(In<std::int32_t, 1> indptr, In<std::int32_t, 1> indices) {
  require_csr(indptr, indices, indptr.shape(0) ? indptr.shape(0) - 1 : 0);
  return {indptr.shape(0) - 1, {indptr.data(), indices.data()}};
}

const double* fitting(const In<double, 1>& values, const GraphPenalty& penalty) {
  require(values.shape(0) == penalty.features(), "the vector must have an entry per feature");
  for (std::size_t v = 0; v < values.shape(0); ++v)
    require(std::isfinite(values.data()[v]), "the vector must be finite");
  return values.data();
}

Out<double, 1> py_maxima(const GraphPenalty& penalty, In<double, 1> w) {
  fitting(w, penalty);
  auto top = make_array<double>(penalty.features());
  penalty.maxima(w.data(), top.data());
  return top;
}

Out<double, 1> py_prox(const GraphPenalty& penalty, In<double, 1> u, double lambda) {
  fitting(u, penalty);
  require(lambda >= 0 && std::isfinite(lambda), "lam must be finite and not below 0");
  auto w = make_array<double>(penalty.features());
  nb::gil_scoped_release release;
  GraphProx(penalty).prox(u.data(), lambda, w.data());
  return w;
}

double py_dual_norm(const GraphPenalty& penalty, In<double, 1> u) {
  fitting(u, penalty);
  nb::gil_scoped_release release;
  return GraphProx::dual_norm(penalty, u.data());
}

// Weights, a row per lambda, and intercept, objective and relative gap, and the numbers of iterations.
using PathFits = std::tuple<Out<double, 2>, Out<double, 2>, Out<std::int64_t, 1>>;

PathFits py_logistic_path(In<std::int64_t, 1> indptr, In<std::int32_t, 1> indices, In<double, 1> values,
                          In<double, 1> sign, In<double, 1> weight, const GraphPenalty& penalty, In<double, 1> lambdas,
                          std::int64_t max_iter, double tol) {
  const std::size_t n = sign.shape(0), d = penalty.features(), steps = lambdas.shape(0);
  require(indptr.shape(0) == n + 1 && weight.shape(0) == n, "indptr, sign and weight do not fit each other");
  require(indices.shape(0) == values.shape(0) && indptr.data()[0] == 0 &&
              static_cast<std::size_t>(indptr.data()[n]) == indices.shape(0),
          "indptr does not fit indices");
  for (std::size_t i = 0; i < n; ++i) require(indptr.data()[i] <= indptr.data()[i + 1], "indptr must not fall");
  for (std::size_t k = 0; k < indices.shape(0); ++k)
    require(indices.data()[k] >= 0 && static_cast<std::size_t>(indices.data()[k]) < d, "a column index is out of range");
  require(max_iter > 0, "max_iter must be above 0");
  for (std::size_t k = 0; k < steps; ++k)
    require(lambdas.data()[k] > 0 && std::isfinite(lambdas.data()[k]), "lambdas must be finite and above 0");
  auto coef = make_array<double>(steps, d);
  auto summary = make_array<double>(steps, 3);
  auto n_iter = make_array<std::int64_t>(steps);
  nb::gil_scoped_release release;
  LogisticPath path({n, d, indptr.data(), indices.data(), values.data()}, sign.data(), weight.data(), penalty);
  for (std::size_t k = 0; k < steps; ++k) {
    const LogisticPath::Fit fit = path.solve(lambdas.data()[k], max_iter, tol, coef.data() + k * d);
    summary.data()[3 * k] = fit.intercept;
    summary.data()[3 * k + 1] = fit.objective;
    summary.data()[3 * k + 2] = fit.gap;
    n_iter.data()[k] = fit.n_iter;
  }
  return {coef, summary, n_iter};
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
  m.def("cmi_keys", &py_cmi_keys, "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert());
  m.def("pair_keys", &py_pair_keys, "first"_a.noconvert(), "second"_a.noconvert(), "class_count"_a.noconvert(),
        "ones"_a.noconvert(), "pairs"_a.noconvert());
  m.def("most_informative", &py_most_informative, "class_count"_a.noconvert(), "ones"_a.noconvert());

  nb::class_<PyRelations>(m, "Relations")
      .def(nb::init<In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>, In<std::int32_t, 1>>(),
           "ancestor_indptr"_a.noconvert(), "ancestor_indices"_a.noconvert(), "descendant_indptr"_a.noconvert(),
           "descendant_indices"_a.noconvert());
  nb::class_<PyRanking>(m, "Ranking")
      .def(nb::init<In<std::int64_t, 1>, const PyRelations&>(), "keys"_a.noconvert(), "relations"_a)
      .def("edges", &PyRanking::edges, "limit"_a)
      .def_prop_ro("n_sorted", [](const PyRanking& r) { return r.ranking.sorted_edges(); });

  m.def("spanning_tree", &py_spanning_tree, "keys"_a.noconvert(), "n_features"_a, "root"_a);
  m.def("hierarchical_tree", &py_hierarchical_tree, "keys"_a.noconvert(), "relations"_a,
        "root_order"_a.noconvert());
  m.def("lazy_trees", &py_lazy_trees, "ranking"_a, "words"_a.noconvert(), "n_rows"_a, "root_order"_a.noconvert(),
        "lone_feature"_a, "directed"_a, "wide_labels"_a = false);
  m.def("lazy_joint_log", &py_lazy_joint_log, "ranking"_a, "words"_a.noconvert(), "n_rows"_a,
        "root_order"_a.noconvert(), "lone_feature"_a, "directed"_a, "class_count"_a.noconvert(), "ones"_a.noconvert(),
        "pairs"_a.noconvert(), "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("tree_joint_log", &py_tree_joint_log, "parent"_a.noconvert(), "words"_a.noconvert(), "n_rows"_a,
        "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert(), "log_prior"_a.noconvert(),
        "alpha"_a, "pooled"_a);
  m.def("aode_joint_log", &py_aode_joint_log, "relations"_a, "ancestors"_a, "min_frequency"_a, "words"_a.noconvert(),
        "n_rows"_a, "naive_log_prior"_a.noconvert(), "class_count"_a.noconvert(), "ones"_a.noconvert(),
        "pairs"_a.noconvert(), "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("hip_select", &py_hip_select, "relations"_a, "words"_a.noconvert());
  m.def("hip_joint_log", &py_hip_joint_log, "relations"_a, "words"_a.noconvert(), "n_rows"_a,
        "class_count"_a.noconvert(), "ones"_a.noconvert(), "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("tree_factors", &py_tree_factors, "parents"_a.noconvert(), "words"_a.noconvert(), "n_rows"_a,
        "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("aode_factors", &py_aode_factors, "relations"_a, "ancestors"_a, "min_frequency"_a, "words"_a.noconvert(),
        "n_rows"_a, "class_count"_a.noconvert(), "ones"_a.noconvert(), "pairs"_a.noconvert(),
        "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("find_violation", &py_find_violation, "child_indptr"_a.noconvert(), "child_indices"_a.noconvert(),
        "words"_a.noconvert(), "n_rows"_a);

  nb::class_<GraphPenalty>(m, "GraphPenalty")
      .def("__init__",
           [](GraphPenalty* self, In<std::int32_t, 1> indptr, In<std::int32_t, 1> indices) {
             new (self) GraphPenalty(make_penalty(indptr, indices));
           },
           "child_indptr"_a.noconvert(), "child_indices"_a.noconvert())
      .def("maxima", &py_maxima, "w"_a.noconvert())
      .def("prox", &py_prox, "u"_a.noconvert(), "lam"_a)
      .def("dual_norm", &py_dual_norm, "u"_a.noconvert());
  m.def("logistic_path", &py_logistic_path, "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "sign"_a.noconvert(), "weight"_a.noconvert(), "penalty"_a, "lambdas"_a.noconvert(), "max_iter"_a, "tol"_a);
}
