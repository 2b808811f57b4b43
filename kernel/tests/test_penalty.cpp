// The penalty, its proximal operator and logistic regression: the conditions of an optimum, with the dual norm found
// by trying every set of features that is closed under parents.
#include <cmath>
#include <stdexcept>

#include "models/logistic.hpp"
#include "models/proximal.hpp"
#include "tests/checks.hpp"
#include "tests/problem.hpp"

namespace hietan::tests {
namespace {

using Vector = std::vector<double>;

Lists children_of(const Problem& p) {
  Problem::Table child(p.d, std::vector<bool>(p.d, false));
  for (std::size_t v = 0; v < p.d; ++v)
    for (std::size_t u = 0; u < p.d; ++u) child[u][v] = p.parents[v][u];
  return Lists(child);
}

double plain_dual_norm(const Problem& p, const Vector& u) {
  double best = 0;
  for (std::uint32_t set = 1; set < 1U << p.d; ++set) {
    const auto has = [&](std::size_t v) { return (set >> v & 1U) != 0; };
    bool closed = true;
    double sum = 0, size = 0;
    for (std::size_t v = 0; v < p.d; ++v) {
      if (!has(v)) continue;
      for (std::size_t a = 0; a < v; ++a) closed = closed && (!p.parents[v][a] || has(a));
      sum += std::abs(u[v]);
      ++size;
    }
    if (closed) best = std::max(best, sum / size);
  }
  return best;
}

double plain_penalty(const Problem& p, const Vector& w) {
  double sum = 0;
  for (std::size_t v = 0; v < p.d; ++v) {
    double top = std::abs(w[v]);
    for (std::size_t u = 0; u < p.d; ++u)
      if (p.below[v][u]) top = std::max(top, std::abs(w[u]));
    sum += top;
  }
  return sum;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t v = 0; v < a.size(); ++v) sum += a[v] * b[v];
  return sum;
}

// w minimises f(w) + lambda * penalty(w) exactly where g = -f'(w) has a dual norm of at most lambda and
// g.w = lambda * penalty(w).
bool optimal(const Problem& p, const Vector& g, const Vector& w, double lambda, double tolerance) {
  return plain_dual_norm(p, g) <= lambda * (1 + tolerance) && near(dot(g, w), lambda * plain_penalty(p, w), tolerance);
}

void test_prox(const Problem& p) {
  const Lists children = children_of(p);
  const GraphPenalty penalty(p.d, children.view());
  GraphProx warm(penalty);
  Random random(99);
  Vector u(p.d, 0.0);
  for (int k = 0; k < 12; ++k) {
    for (double& x : u) x = k % 3 ? x + 0.1 * random.uniform() : 4 * random.uniform() - 2;
    const double lambda = k % 2 ? 0.3 : 0.3 * static_cast<double>(k + 1) / 4;
    Vector top(p.d), w(p.d), fresh(p.d), rest(p.d);
    warm.prox(u.data(), lambda, w.data());
    GraphProx(penalty).prox(u.data(), lambda, fresh.data());
    for (std::size_t v = 0; v < p.d; ++v) rest[v] = u[v] - w[v];
    penalty.maxima(w.data(), top.data());
    double sum = 0;
    for (const double t : top) sum += t;
    CHECK_FOR(p.name(), near(sum, plain_penalty(p, w)));
    CHECK_FOR(p.name(), optimal(p, rest, w, lambda, 1e-10));
    CHECK_FOR(p.name(), near(w, fresh));
    CHECK_FOR(p.name(), near(GraphProx::dual_norm(penalty, u.data()), plain_dual_norm(p, u)));
  }
  warm.prox(u.data(), 0.0, u.data());
  Vector zero(p.d, 1.0);
  warm.prox(u.data(), 1.001 * plain_dual_norm(p, u), zero.data());
  CHECK_FOR(p.name(), zero == Vector(p.d, 0.0));
}

void test_cycle() {
  const Lists cycle({{false, true}, {true, false}});
  bool refused = false;
  try {
    const GraphPenalty penalty(2, cycle.view());
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}

void test_logistic(const Problem& p) {
  const Lists children = children_of(p);
  const GraphPenalty penalty(p.d, children.view());
  const std::vector<std::int64_t> indptr(p.columns.indptr.begin(), p.columns.indptr.end());
  const Vector values(p.columns.indices.size(), 1.0), weight(p.n, 1.0 / static_cast<double>(p.n));
  Vector sign;
  for (const std::int64_t c : p.code) sign.push_back(c == 0 ? 1.0 : -1.0);
  LogisticPath path({p.n, p.d, indptr.data(), p.columns.indices.data(), values.data()}, sign.data(), weight.data(),
                    penalty);
  for (const double lambda : {0.02, 0.005, 0.001}) {
    Vector w(p.d), g(p.d, 0.0);
    const LogisticPath::Fit fit = path.solve(lambda, 100000, 1e-12, w.data());
    double shift = 0, objective = lambda * plain_penalty(p, w);
    for (std::size_t r = 0; r < p.n; ++r) {
      double response = fit.intercept;
      for (std::size_t v = 0; v < p.d; ++v) response += p.rows[r][v] ? w[v] : 0.0;
      const double slope = weight[r] * sign[r] / (1 + std::exp(sign[r] * response));
      objective += weight[r] * std::log1p(std::exp(-sign[r] * response));
      shift += slope;
      for (std::size_t v = 0; v < p.d; ++v) g[v] += p.rows[r][v] ? slope : 0.0;
    }
    CHECK_FOR(p.name(), fit.gap <= 1e-12 && near(fit.objective, objective));
    CHECK_FOR(p.name(), std::abs(shift) < 1e-9 && optimal(p, g, w, lambda, 1e-4));
  }
}

}  // namespace

void test_penalty() {
  test_cycle();
  for (const Problem& p : problems())
    if (p.d <= 13) {
      test_prox(p);
      test_logistic(p);
    }
}

}  // namespace hietan::tests
