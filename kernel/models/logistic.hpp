// Logistic regression under the penalty of proximal.hpp: FISTA along a path of lambdas, each up to a duality gap.
//
// Minimises sum_i s_i log(1 + exp(-y_i (w.x_i + b))) + lambda * penalty(w), where the weights s sum to 1. Columns are
// centred within the products, so the intercept hardly interacts with w. The momentum restarts where it points uphill
// (O'Donoghue & Candes 2015), and the step follows the curvature of the last one, mostly far below the Lipschitz bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "models/proximal.hpp"

namespace hietan {

// Rows of numbers in CSR form.
struct SparseRows {
  std::size_t n, d;
  const std::int64_t* indptr;
  const std::int32_t* indices;
  const double* values;

  void times(const double* w, double* out) const {
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t k = indptr[i]; k < indptr[i + 1]; ++k) sum += values[k] * w[indices[k]];
      out[i] = sum;
    }
  }
  void transposed_times(const double* r, double* out) const {
    std::fill(out, out + d, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::int64_t k = indptr[i]; k < indptr[i + 1]; ++k) out[indices[k]] += values[k] * r[i];
  }
};

class LogisticPath {
 public:
  struct Fit {
    double intercept, objective, gap;
    std::int64_t n_iter;
  };

  // `sign` is y, 1 or -1, both of which must occur.
  LogisticPath(const SparseRows& X, const double* sign, const double* weight, const GraphPenalty& penalty)
      : X_(X),
        sign_(sign),
        weight_(weight),
        penalty_(penalty),
        prox_(penalty),
        mean_(X.d),
        wrong_(X.n),
        residual_(X.n),
        slope_(X.d),
        trial_(X.d) {
    X.transposed_times(weight, mean_.data());
    double positive = 0;
    for (std::size_t i = 0; i < X.n; ++i) positive += sign[i] > 0 ? weight[i] : 0;
    null_loss_ = -entropy(positive);
    for (std::size_t i = 0; i < X.n; ++i)
      for (std::int64_t k = X.indptr[i]; k < X.indptr[i + 1]; ++k)
        highest_ += weight[i] * X.values[k] * X.values[k];  // centring takes some away
    best_ = {std::vector<double>(X.d, 0.0), std::vector<double>(X.n), std::log(positive) - std::log1p(-positive)};
    std::fill(best_.response.begin(), best_.response.end(), best_.shift);
  }

  // Starts from the last solution; ends where the gap is at most `tol` of the loss of the constant model.
  Fit solve(double lambda, std::int64_t max_iter, double tol, double* coef) {
    Point point = best_, ahead = best_, next = best_;
    Fit fit{};
    double t = 1;
    for (std::int64_t iteration = 1; iteration <= max_iter; ++iteration) {
      step(ahead, lambda, next);
      double uphill = (ahead.shift - next.shift) * (next.shift - point.shift);
      for (std::size_t v = 0; v < X_.d; ++v) uphill += (ahead.coef[v] - next.coef[v]) * (next.coef[v] - point.coef[v]);
      if (uphill > 0) t = 1;
      const double next_t = (1 + std::sqrt(1 + 4 * t * t)) / 2, momentum = (t - 1) / next_t;
      for (std::size_t v = 0; v < X_.d; ++v) ahead.coef[v] = next.coef[v] + momentum * (next.coef[v] - point.coef[v]);
      for (std::size_t i = 0; i < X_.n; ++i)
        ahead.response[i] = next.response[i] + momentum * (next.response[i] - point.response[i]);
      ahead.shift = next.shift + momentum * (next.shift - point.shift);
      std::swap(point, next);
      t = next_t;
      if (iteration == 1 || iteration % kCheckEvery == 0 || iteration == max_iter) {
        best_ = point;
        fit = certify(lambda);
        fit.n_iter = iteration;
        if (fit.gap <= tol) break;
      }
    }
    std::copy(best_.coef.begin(), best_.coef.end(), coef);
    return fit;
  }

 private:
  // The step grows by kGrow per iteration; where the loss curves more than the step allows, it is cut, with a margin.
  static constexpr double kGrow = 1.01, kSpare = 1.05;
  static constexpr std::int64_t kCheckEvery = 10;

  struct Point {
    std::vector<double> coef, response;  // response: (X - mean) coef + shift
    double shift = 0;
  };

  static double entropy(double p) { return (p > 0 ? p * std::log(p) : 0) + (p < 1 ? (1 - p) * std::log1p(-p) : 0); }

  void respond(Point& point) const {
    X_.times(point.coef.data(), point.response.data());
    double centre = point.shift;
    for (std::size_t v = 0; v < X_.d; ++v) centre -= mean_[v] * point.coef[v];
    for (double& r : point.response) r += centre;
  }

  // The probability of the wrong class in each row, and the gradient by the shift.
  double derive(const Point& point) {
    double total = 0;
    for (std::size_t i = 0; i < X_.n; ++i) {
      wrong_[i] = 1 / (1 + std::exp(sign_[i] * point.response[i]));
      total += residual_[i] = -weight_[i] * sign_[i] * wrong_[i];
    }
    return total;
  }

  void derive_coef(double total) {
    X_.transposed_times(residual_.data(), slope_.data());
    for (std::size_t v = 0; v < X_.d; ++v) slope_[v] -= total * mean_[v];
  }

  // A proximal gradient step whose length the curvature of the loss allows: at most 1/4 per row, and growing by at most
  // e^|change| along a change of the response.
  void step(const Point& at, double lambda, Point& next) {
    const double total = derive(at);
    derive_coef(total);
    if (!(curvature_ > 0)) curvature_ = first_curvature(next);
    for (curvature_ /= kGrow;;) {
      checkpoint_.pass(index(X_.indptr[X_.n]) + X_.n + X_.d);
      const double length = 1 / curvature_;
      bool finite = true;
      for (std::size_t v = 0; v < X_.d; ++v) {
        trial_[v] = at.coef[v] - length * slope_[v];
        finite &= std::isfinite(trial_[v]);
      }
      // Numbers that are not finite have no order, and the proximal operator sorts.
      if (!finite) throw std::invalid_argument("the values are too large: the weights of the regression overflow");
      prox_.prox(trial_.data(), length * lambda, next.coef.data());
      next.shift = at.shift - length * total;
      respond(next);
      double needed = 0, moved = (next.shift - at.shift) * (next.shift - at.shift);
      for (std::size_t i = 0; i < X_.n; ++i) {
        const double change = next.response[i] - at.response[i];
        const double bound = wrong_[i] * (1 - wrong_[i]) * std::exp(std::min(std::abs(change), 30.0));
        needed += weight_[i] * std::min(0.25, bound) * change * change;
      }
      for (std::size_t v = 0; v < X_.d; ++v) moved += (next.coef[v] - at.coef[v]) * (next.coef[v] - at.coef[v]);
      // No step is shorter than the Lipschitz bound asks for: where hardly anything moves, `needed` is rounding.
      if (!(needed > curvature_ * moved) || curvature_ >= highest_) return;
      curvature_ = std::min(kSpare * needed / moved, highest_);
    }
  }

  // The curvature of the loss along its gradient.
  double first_curvature(Point& scratch) const {
    scratch.coef = slope_;
    scratch.shift = 0;
    respond(scratch);
    double curved = 0, length = 0;
    for (std::size_t i = 0; i < X_.n; ++i)
      curved += weight_[i] * wrong_[i] * (1 - wrong_[i]) * scratch.response[i] * scratch.response[i];
    for (const double s : slope_) length += s * s;
    return curved > 0 ? curved / length : 1;
  }

  // Gives the best point its best shift by Newton's method, since a dual point must sum to 0; then the duality gap.
  Fit certify(double lambda) {
    double total = derive(best_);
    for (int k = 0; k < 50 && std::abs(total) > 1e-15; ++k) {
      double curved = 1e-12;
      for (std::size_t i = 0; i < X_.n; ++i) curved += weight_[i] * wrong_[i] * (1 - wrong_[i]);
      const double move = std::clamp(-total / curved, -4.0, 4.0);
      best_.shift += move;
      for (double& r : best_.response) r += move;
      total = derive(best_);
    }
    derive_coef(total);
    penalty_.maxima(best_.coef.data(), trial_.data());
    double primal = 0, dual = 0;
    for (const double top : trial_) primal += lambda * top;
    const double norm = GraphProx::dual_norm(penalty_, slope_.data()), scale = norm > lambda ? lambda / norm : 1;
    for (std::size_t i = 0; i < X_.n; ++i) {
      const double margin = sign_[i] * best_.response[i];
      primal += weight_[i] * (std::log1p(std::exp(-std::abs(margin))) + std::max(-margin, 0.0));
      dual -= weight_[i] * entropy(scale * wrong_[i]);
    }
    Fit fit{best_.shift, primal, (primal - dual) / null_loss_, 0};
    for (std::size_t v = 0; v < X_.d; ++v) fit.intercept -= mean_[v] * best_.coef[v];
    return fit;
  }

  SparseRows X_;
  const double *sign_, *weight_;
  const GraphPenalty& penalty_;
  GraphProx prox_;
  std::vector<double> mean_, wrong_, residual_, slope_, trial_;
  double null_loss_, curvature_ = 0, highest_ = 1;  // highest_: above a quarter of the largest eigenvalue, plus 1
  Point best_;
  Checkpoint checkpoint_;
};

}  // namespace hietan
