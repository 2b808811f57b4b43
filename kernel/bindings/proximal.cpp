// The hierarchical penalty and the logistic regression under it.
#include "models/proximal.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "models/logistic.hpp"

namespace hietan::python {
namespace {

GraphPenalty make_penalty(In<std::int32_t, 1> indptr, In<std::int32_t, 1> indices) {
  const auto children = copied_csr(indptr, indices, indptr.shape(0) ? indptr.shape(0) - 1 : 0);
  return {children.indptr.size() - 1, {children.indptr.data(), children.indices.data()}};
}

std::vector<double> copied_vector(const In<double, 1>& values, const GraphPenalty& penalty) {
  require(values.shape(0) == penalty.features(), "the vector must have an entry per feature: got ", values.shape(0),
          " for ", penalty.features());
  std::vector<double> copy = copied(values);
  for (const double value : copy) require(std::isfinite(value), "the vector must be finite, got ", value);
  return copy;
}

Out<double, 1> py_maxima(const GraphPenalty& penalty, In<double, 1> w) {
  const std::vector<double> own = copied_vector(w, penalty);
  auto top = make_array<double>(penalty.features());
  penalty.maxima(own.data(), top.data());
  return top;
}

// The binary exponent by which numbers are scaled down so that sums over all features stay finite; 0 for most.
int excess_exponent(const std::vector<double>& u, double lambda) {
  double largest = lambda;
  for (const double value : u) largest = std::max(largest, std::abs(value));
  return largest > 1e290 ? 64 : 0;
}

void scale_down(std::vector<double>& u, int exponent) {
  for (double& value : u) value = std::ldexp(value, -exponent);
}

Out<double, 1> py_prox(const GraphPenalty& penalty, In<double, 1> u, double lambda) {
  std::vector<double> scaled = copied_vector(u, penalty);
  require(lambda >= 0 && std::isfinite(lambda), "lam must be a finite number, 0 or more, got ", lambda);
  auto w = make_array<double>(penalty.features());
  const int exponent = excess_exponent(scaled, lambda);
  scale_down(scaled, exponent);
  Unlocked unlocked;
  GraphProx(penalty).prox(scaled.data(), std::ldexp(lambda, -exponent), w.data());
  for (std::size_t v = 0; v < penalty.features(); ++v) w.data()[v] = std::ldexp(w.data()[v], exponent);
  return w;
}

double py_dual_norm(const GraphPenalty& penalty, In<double, 1> u) {
  std::vector<double> scaled = copied_vector(u, penalty);
  const int exponent = excess_exponent(scaled, 0);
  scale_down(scaled, exponent);
  Unlocked unlocked;
  return std::ldexp(GraphProx::dual_norm(penalty, scaled.data()), exponent);
}

// Rows that several regressions read: those of several classes, each against the rest.
class PyRows {
 public:
  PyRows(In<std::int64_t, 1> indptr, In<std::int32_t, 1> indices, In<double, 1> values, std::size_t d)
      : features_(d), csr_(copied_csr(indptr, indices, d)), values_(copied(values)) {
    require_features(d);
    require(csr_.indices.size() == values_.size(), "indices and values do not match each other: got ",
            csr_.indices.size(), " and ", values_.size(), " entries");
    // Numbers that are not finite would break the order of the sorts.
    for (const double value : values_) require(std::isfinite(value), "values must be finite, got ", value);
  }

  SparseRows view() const {
    return {csr_.indptr.size() - 1, features_, csr_.indptr.data(), csr_.indices.data(), values_.data()};
  }

 private:
  std::size_t features_;
  OwnCsr<std::int64_t, std::int32_t> csr_;
  std::vector<double> values_;
};

// For each lambda: the weights; the intercept, the objective and the relative gap; the number of iterations.
using PathFits = std::tuple<Out<double, 2>, Out<double, 2>, Out<std::int64_t, 1>>;

// A regression that is fitted for one lambda after another, by any number of calls.
class PyLogisticPath {
 public:
  PyLogisticPath(const PyRows& rows, In<double, 1> sign, In<double, 1> weight, const GraphPenalty& penalty)
      : features_(penalty.features()),
        sign_(one_per_row(rows, sign, "sign")),
        weight_(one_per_row(rows, weight, "weight")),
        path_(matching(rows, penalty), sign_.data(), weight_.data(), penalty) {
    for (const double s : sign_) require(std::abs(s) == 1, "sign must be 1 or -1, got ", s);
    for (const double s : weight_) require(s >= 0 && std::isfinite(s), "weight must be finite, 0 or more, got ", s);
  }

  PathFits solve(In<double, 1> lambdas, std::int64_t max_iter, double tol) {
    const std::vector<double> own_lambdas = copied(lambdas);
    require(max_iter > 0, "max_iter must be 1 or more, got ", max_iter);
    require(!std::isnan(tol), "tol must be a number, got ", tol);
    for (const double lambda : own_lambdas)
      require(lambda > 0 && std::isfinite(lambda), "lambdas must be finite numbers above 0, got ", lambda);
    const std::size_t steps = own_lambdas.size();
    auto coef = make_array<double>(steps, features_);
    auto summary = make_array<double>(steps, 3);
    auto n_iter = make_array<std::int64_t>(steps);
    // A call that fails or is interrupted leaves it as if in use: its state is then that of no fit.
    require(ready_.exchange(false), "the path is in use by another thread, or a fit of it failed: make another");
    {
      Unlocked unlocked;
      for (std::size_t k = 0; k < steps; ++k) {
        const LogisticPath::Fit fit = path_.solve(own_lambdas[k], max_iter, tol, coef.data() + k * features_);
        summary.data()[3 * k] = fit.intercept;
        summary.data()[3 * k + 1] = fit.objective;
        summary.data()[3 * k + 2] = fit.gap;
        n_iter.data()[k] = fit.n_iter;
      }
    }
    ready_ = true;
    return {coef, summary, n_iter};
  }

 private:
  static std::vector<double> one_per_row(const PyRows& rows, const In<double, 1>& values, const char* name) {
    const std::size_t n = rows.view().n;
    require(values.shape(0) == n, name, " must have an entry per row: got ", values.shape(0), " for ", n);
    return copied(values);
  }

  static SparseRows matching(const PyRows& rows, const GraphPenalty& penalty) {
    const SparseRows view = rows.view();
    require(view.d == penalty.features(), "the rows have ", view.d, " features, but the penalty ", penalty.features());
    return view;
  }

  std::size_t features_;
  std::vector<double> sign_, weight_;
  LogisticPath path_;
  std::atomic<bool> ready_{true};
};

}  // namespace

void bind_proximal(nb::module_& m) {
  nb::class_<GraphPenalty>(m, "GraphPenalty")
      .def(
          "__init__",
          [](GraphPenalty* self, In<std::int32_t, 1> indptr, In<std::int32_t, 1> indices) {
            new (self) GraphPenalty(make_penalty(indptr, indices));
          },
          "child_indptr"_a.noconvert(), "child_indices"_a.noconvert())
      .def("maxima", &py_maxima, "w"_a.noconvert())
      .def("prox", &py_prox, "u"_a.noconvert(), "lam"_a)
      .def("dual_norm", &py_dual_norm, "u"_a.noconvert());
  nb::class_<PyRows>(m, "NumberRows")
      .def(nb::init<In<std::int64_t, 1>, In<std::int32_t, 1>, In<double, 1>, std::size_t>(), "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "values"_a.noconvert(), "n_features"_a);
  nb::class_<PyLogisticPath>(m, "LogisticPath")
      .def(nb::init<const PyRows&, In<double, 1>, In<double, 1>, const GraphPenalty&>(), "rows"_a, "sign"_a.noconvert(),
           "weight"_a.noconvert(), "penalty"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 5>())
      .def("solve", &PyLogisticPath::solve, "lambdas"_a.noconvert(), "max_iter"_a, "tol"_a);
}

}  // namespace hietan::python
