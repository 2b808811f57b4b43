// Features where all their parents are 1, counted and scored from the ones of a row, against a look at every cell.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "counts/possible_openings.hpp"
#include "models/openings.hpp"
#include "tests/checks.hpp"
#include "tests/problem.hpp"

namespace hietan::tests {
namespace {

using Row = std::vector<bool>;

// The hierarchy of a problem.
struct Network {
  const Problem& p;
  Lists parents;
  std::vector<std::int64_t> depths;  // any numbers will do: they only decide which parents are looked up first

  explicit Network(const Problem& problem) : p(problem), parents(p.parents), depths(p.order) {}

  Openings openings() const { return {parents.view(), depths.data(), p.d}; }
  bool open(std::size_t v, const Row& x) const {
    for (std::size_t u = 0; u < p.d; ++u)
      if (p.parents[v][u] && !x[u]) return false;
    return true;
  }
};

// The counts of the rows other than `without`.
struct PlainCounts {
  std::vector<std::int32_t> ones, open;

  explicit PlainCounts(const Network& net, std::size_t without = std::numeric_limits<std::size_t>::max())
      : ones(net.p.classes * net.p.d, 0), open(ones) {
    const Problem& p = net.p;
    for (std::size_t r = 0; r < p.n; ++r)
      for (std::size_t v = 0; r != without && v < p.d; ++v)
        if (net.open(v, p.rows[r])) {
          ++open[index(p.code[r]) * p.d + v];
          ones[index(p.code[r]) * p.d + v] += p.rows[r][v];
        }
  }
};

// The first edge, by parent and child, that a row of the first block with any contradicts, and the first such row.
Violation plain_violation(const Network& net, std::size_t block_rows) {
  const Problem& p = net.p;
  for (std::size_t first = 0; first < p.n; first += block_rows)
    for (std::size_t u = 0; u < p.d; ++u)
      for (std::size_t v = 0; v < p.d; ++v)
        for (std::size_t r = first; p.parents[v][u] && r < std::min(p.n, first + block_rows); ++r)
          if (p.rows[r][v] && !p.rows[r][u]) return {static_cast<std::int64_t>(r), feature_id(u), feature_id(v)};
  return {};
}

void test_counting(const Network& net) {
  const Problem& p = net.p;
  const PlainCounts expected(net);
  for (const std::size_t block_rows : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
    std::vector<std::int32_t> ones(p.classes * p.d, 0), open(ones);
    const Violation found =
        count_openings(net.openings(), p.columns.indptr.data(), p.columns.indices.data(), p.code.data(), nullptr, p.n,
                       p.classes, block_rows, ones.data(), open.data());
    const Violation first = plain_violation(net, block_rows);
    CHECK_FOR(p.name(), ones == expected.ones);
    CHECK_FOR(p.name(), open == expected.open);
    // Where every row counts twice, so do its ones.
    const std::vector<std::int32_t> twice(p.n, 2);
    std::vector<std::int32_t> twice_ones(ones.size(), 0), twice_open(ones.size(), 0);
    count_openings(net.openings(), p.columns.indptr.data(), p.columns.indices.data(), p.code.data(), twice.data(), p.n,
                   p.classes, block_rows, twice_ones.data(), twice_open.data());
    bool doubled = true;
    for (std::size_t k = 0; k < ones.size(); ++k)
      doubled = doubled && twice_ones[k] == 2 * ones[k] && twice_open[k] == 2 * open[k];
    CHECK_FOR(p.name(), doubled);
    CHECK_FOR(p.name(), found.row == first.row && found.parent == first.parent && found.child == first.child);
  }
}

// The counts of rows are possible, and those of other numbers of rows, ones or open rows are not.
void test_possible(const Network& net) {
  const Problem& p = net.p;
  std::vector<std::vector<bool>> turned(p.d, std::vector<bool>(p.d));
  for (std::size_t u = 0; u < p.d; ++u)
    for (std::size_t v = 0; v < p.d; ++v) turned[u][v] = p.parents[v][u];
  const Lists children(turned);
  std::vector<std::int64_t> rows(p.classes, 0);
  for (const std::int64_t c : p.code) ++rows[index(c)];
  PlainCounts counts(net);
  const auto found = [&] {
    return find_impossible_opening(children.view(),
                                   {p.classes, p.d, rows.data(), counts.ones.data(), counts.open.data()});
  };
  CHECK_FOR(p.name(), found() == Impossible::nothing);
  ++rows[0];
  CHECK_FOR(p.name(), found() == Impossible::same_parents);  // those without parents are open in all rows
  --rows[0];
  const std::int32_t ones = counts.ones[0];
  counts.ones[0] = -1;
  CHECK_FOR(p.name(), found() == Impossible::number);
  counts.ones[0] = counts.open[0] + 1;
  CHECK_FOR(p.name(), found() == Impossible::number);
  counts.ones[0] = ones;
  for (std::size_t v = 0; v < p.d; ++v) {
    counts.open[v] += 1;
    const bool has_twin = std::any_of(p.parents.begin(), p.parents.end(), [&](const auto& other) {
      return &other != &p.parents[v] && other == p.parents[v];
    });
    CHECK_FOR(p.name(), !has_twin || found() == Impossible::same_parents || found() == Impossible::number);
    counts.open[v] -= 1;
  }
}

// ln P(x | c) by the counts, feature by feature.
std::vector<double> plain_score(const Network& net, const PlainCounts& counts, const Row& x,
                                const std::string& smoothing, double alpha) {
  const Problem& p = net.p;
  std::vector<double> score(p.classes, 0.0);
  for (std::size_t v = 0; v < p.d; ++v) {
    if (!net.open(v, x)) continue;
    double ones = 0, open = 0;
    for (std::size_t c = 0; c < p.classes; ++c) ones += counts.ones[c * p.d + v], open += counts.open[c * p.d + v];
    for (std::size_t c = 0; c < p.classes; ++c) {
      const double own = counts.ones[c * p.d + v], rows = counts.open[c * p.d + v];
      score[c] += plain_log_share(smoothing, x[v] ? own : rows - own, rows, x[v] ? ones : open - ones, open, alpha);
    }
  }
  return score;
}

void test_scoring(const Network& net, const std::string& smoothing, double alpha) {
  const Problem& p = net.p;
  const Openings openings = net.openings();
  const PlainCounts counts(net);
  RowBits bits(p.d);
  std::vector<double> on(p.d * p.classes), off(on);
  for (std::int64_t left_out = OpenTables::kNobody; left_out < static_cast<std::int64_t>(p.classes); ++left_out) {
    OpenTables({p.classes, p.d, counts.ones.data(), counts.open.data()}, Smoothing(smoothing, alpha), left_out)
        .fill(on.data(), off.data());
    const OpenScorer scorer(openings, on.data(), off.data(), p.classes);
    for (std::size_t r = 0; r < p.n; r += 1 + p.n / 6) {
      if (left_out != OpenTables::kNobody && p.code[r] != left_out) continue;
      std::vector<double> found(p.classes);
      scorer.score(p.columns.view().begin(r), p.columns.view().end(r), bits, found.data());
      const PlainCounts rest = left_out == OpenTables::kNobody ? counts : PlainCounts(net, r);
      CHECK_FOR(p.name() + ", " + smoothing, near(found, plain_score(net, rest, p.rows[r], smoothing, alpha)));
    }
  }
}

}  // namespace

void test_openings() {
  for (const Problem& p : problems()) {
    const Network net(p);
    test_counting(net);
    test_possible(net);
    test_scoring(net, "laplace", 1.0);
    test_scoring(net, "pooled", 0.3);
    test_scoring(net, "odds", 0.7);
  }
}

}  // namespace hietan::tests
