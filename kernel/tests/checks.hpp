// The checks of the test program: what fails is printed with its place, and counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace hietan::tests {

inline int failures = 0;
inline int checks = 0;

inline void check(bool condition, const char* expression, const char* file, int line, const std::string& where) {
  ++checks;
  if (condition) return;
  ++failures;
  std::printf("%s:%d: %s fails%s%s\n", file, line, expression, where.empty() ? "" : " for ", where.c_str());
}

inline bool near(double a, double b, double tolerance = 1e-10) {
  return a == b || std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

inline bool near(const std::vector<double>& a, const std::vector<double>& b, double tolerance = 1e-10) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](double x, double y) { return near(x, y, tolerance); });
}

// ln of a smoothed share, straight from the definition of each kind; the root of odds smoothing by bisection.
inline double plain_log_share(const std::string& smoothing, double hits, double rows, double all_hits, double all_rows,
                              double alpha) {
  if (smoothing != "odds") {
    const double q = smoothing == "pooled" ? (all_hits + 0.5) / (all_rows + 1) : 0.5;
    return std::log((hits + 2 * alpha * q) / (rows + 2 * alpha));
  }
  const double prior = std::log((all_hits + 0.5) / (all_rows - all_hits + 0.5));
  double low = prior - rows / alpha, high = prior + rows / alpha;
  for (int step = 0; step < 200; ++step) {
    const double b = (low + high) / 2;
    (hits - rows / (1 + std::exp(-b)) - alpha * (b - prior) > 0 ? low : high) = b;
  }
  return -std::log1p(std::exp(-low));
}

void test_counts();
void test_trees();
void test_models();
void test_openings();
void test_penalty();

}  // namespace hietan::tests

// `where` says which of several cases failed.
#define CHECK_FOR(where, condition) hietan::tests::check((condition), #condition, __FILE__, __LINE__, (where))
#define CHECK(condition) CHECK_FOR("", condition)
