// Scores of trees, lazy selections and averaged estimators, from probabilities that are worked out one by one from the
// rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "models/aode_factors.hpp"
#include "models/naive_bayes.hpp"
#include "models/scores.hpp"
#include "models/terms.hpp"
#include "tests/checks.hpp"
#include "tests/problem.hpp"
#include "trees/eager_trees.hpp"

namespace hietan::tests {
namespace {

using Row = std::vector<bool>;

// Probabilities straight from the definition: the rows are counted again for each of them.
struct Plain {
  const Problem& p;
  std::string smoothing;
  double alpha;

  template <typename Event, typename Condition>
  double log_probability(std::size_t c, Event&& event, Condition&& condition, bool even = false) const {
    const auto both = [&](const Row& x) { return condition(x) && event(x); };
    const double hits = p.count(c, both), rows = p.count(c, condition);
    if (even) return plain_log_share("laplace", hits, rows, 0, 0, smoothing == "odds" ? 1.0 : alpha);
    return plain_log_share(smoothing, hits, rows, p.count(p.classes, both), p.count(p.classes, condition), alpha);
  }
  double root(std::size_t v, const Row& x, std::size_t c, bool even = false) const {
    return log_probability(c, [&](const Row& y) { return y[v] == x[v]; }, [](const Row&) { return true; }, even);
  }
  double child(std::size_t v, std::size_t u, const Row& x, std::size_t c) const {
    return log_probability(c, [&](const Row& y) { return y[v] == x[v]; }, [&](const Row& y) { return y[u] == x[u]; });
  }
};

struct Case {
  const char* smoothing;
  double alpha;
  bool sparse;
};
constexpr Case kCases[] = {{"laplace", 1.0, false}, {"laplace", 0.05, true}, {"pooled", 1.0, true},
                           {"pooled", 0.3, false},  {"odds", 1.0, false},    {"odds", 0.2, true}};
constexpr std::size_t kRows = 6;  // of each problem, spread over the batches

std::size_t chosen_row(const Problem& p, std::size_t k) { return k * (p.n - 1) / (kRows - 1); }

void test_smoothing() {
  const auto refused = [](const char* kind, double alpha) {
    try {
      const Smoothing smoothing(kind, alpha);
      return std::string();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
  };
  for (const Smoothing::Name& known : Smoothing::kKinds) CHECK(refused(known.name, 1.0).empty());
  const std::string message = refused("lidstone", 1.0);
  CHECK(message.find("'laplace', 'pooled', 'odds'") != std::string::npos &&
        message.find("'lidstone'") != std::string::npos);
  for (const double alpha : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK(refused("laplace", alpha).find("alpha must be") == 0);
}

void test_tree_scores(const Problem& p, const Case& setting, const Tables& tables, const Plain& plain) {
  std::vector<std::int64_t> keys(pair_total(p.d));
  cmi_keys(p.dense(), keys.data());
  std::vector<std::int32_t> parent(p.d);
  spanning_tree(keys.data(), p.d, 1, parent.data());
  for (std::size_t v = 0; v < p.d; v += 5)
    if (parent[v] >= 0) parent[v] = kAbsent;
  std::vector<double> shared(p.n * p.classes, 0.25);
  add_shared_tree(tables, parent.data(), p.words.data(), p.n, shared.data());
  TreeScorer scorer(tables);
  for (std::size_t k = 0; k < kRows; ++k) {
    const std::size_t row = chosen_row(p, k);
    std::vector<double> factors(p.d * p.classes), expected(factors), joint(p.classes, 0.25), sum(joint);
    tree_factors(tables, parent.data(), p.batch(row), row % kLanes, factors.data());
    scorer.add(parent.data(), p.batch(row), row % kLanes, joint.data());
    for (std::size_t v = 0; v < p.d; ++v)
      for (std::size_t c = 0; c < p.classes; ++c) {
        if (parent[v] == kRoot) expected[v * p.classes + c] = plain.root(v, p.rows[row], c);
        if (parent[v] >= 0) expected[v * p.classes + c] = plain.child(v, index(parent[v]), p.rows[row], c);
        sum[c] += expected[v * p.classes + c];
      }
    const std::string where = p.name() + ", " + setting.smoothing;
    CHECK_FOR(where, near(factors, expected));
    CHECK_FOR(where, near(joint, sum));
    CHECK_FOR(where, std::equal(joint.begin(), joint.end(), shared.data() + row * p.classes));  // to the last bit
  }
}

// Which features a row keeps, by the words of each rule.
bool plainly_kept(const Problem& p, const std::string& rule, const std::vector<std::int32_t>& relevance, const Row& x,
                  std::size_t v) {
  for (std::size_t u = 0; u < p.d; ++u) {
    const bool above = p.above[v][u], below = p.below[v][u];
    if (!above && !below) continue;
    if (rule == "mr") {
      if (x[v] && ((above && relevance[u] > relevance[v]) || (below && x[u] && relevance[u] >= relevance[v])))
        return false;
      if (!x[v] && ((below && relevance[u] > relevance[v]) || (above && !x[u] && relevance[u] >= relevance[v])))
        return false;
    } else if ((x[u] ? below : above) && (rule == "hip" || relevance[u] >= relevance[v])) {
      return false;
    }
  }
  return true;
}

// HNB and RNB: the most relevant of those that are kept.
std::vector<bool> plain_selection(const Problem& p, const std::string& rule, const std::vector<std::int32_t>& relevance,
                                  const Row& x, std::size_t limit) {
  std::vector<bool> kept(p.d);
  for (std::size_t v = 0; v < p.d; ++v)
    kept[v] = rule == "rnb" || plainly_kept(p, rule == "hnb" ? "hip-mr" : rule, relevance, x, v);
  if (rule != "hnb" && rule != "rnb") return kept;
  std::vector<bool> first(p.d);
  for (std::size_t k = 0; k < limit; ++k) {
    std::size_t best = p.d;
    for (std::size_t v = 0; v < p.d; ++v)
      if (kept[v] && !first[v] && (best == p.d || relevance[v] > relevance[best])) best = v;
    if (best < p.d) first[best] = true;
  }
  return first;
}

void test_selections(const Problem& p, const Tables& tables, const Plain& plain) {
  std::vector<std::int32_t> relevance(p.d);
  for (std::size_t v = 0; v < p.d; ++v) relevance[v] = static_cast<std::int32_t>(v * 7 % 5);  // with ties
  constexpr std::size_t kLimit = 3;
  for (const Selector::Name& known : Selector::kKinds) {
    const Selector selector(p.relations(), known.name, relevance.data(), kLimit);
    std::vector<double> joint(p.n * p.classes, 0.0);
    selected_naive_bayes(tables, selector, p.words.data(), p.n, joint.data());
    for (std::size_t k = 0; k < kRows; ++k) {
      const std::size_t row = chosen_row(p, k);
      const Row& x = p.rows[row];
      const std::vector<bool> kept = plain_selection(p, known.name, relevance, x, kLimit);
      std::vector<Word> found(p.d);
      selector.select(p.batch(row), found.data());
      std::vector<double> expected(p.classes, 0.0);
      bool same = true;
      for (std::size_t v = 0; v < p.d; ++v) {
        same = same && has_bit(found[v], row % kLanes) == kept[v];
        for (std::size_t c = 0; c < p.classes && kept[v]; ++c) expected[c] += plain.root(v, x, c);
      }
      const std::string where = p.name() + ", " + known.name;
      CHECK_FOR(where, same);
      CHECK_FOR(where, near({joint.data() + row * p.classes, joint.data() + (row + 1) * p.classes}, expected));
    }
  }
}

// The kept features of every row in the order of the columns, each with the number of its state.
void test_terms(const Problem& p) {
  std::vector<double> table(4 * p.d);
  for (std::size_t k = 0; k < table.size(); ++k) table[k] = static_cast<double>(k);
  std::vector<Word> kept(p.words), low(p.words);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    low[k] = p.words[k] << 1;  // a row's second bit is the value of the row before it
    kept[k] = p.words[k] ^ low[k] * 3;
  }
  std::vector<std::int64_t> start(p.n + 1, 0);
  count_kept(kept.data(), p.d, p.n, start.data() + 1);
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::int32_t> columns(index(start[p.n])), expected_columns;
  std::vector<double> values(columns.size()), expected;
  list_terms(kept.data(), p.words.data(), low.data(), table.data(), p.d, start, columns.data(), values.data());
  bool ends = true;
  for (std::size_t r = 0; r < p.n; ++r) {
    for (std::size_t v = 0; v < p.d; ++v) {
      const std::size_t k = r / kLanes * p.d + v, lane = r % kLanes;
      if (!has_bit(kept[k], lane)) continue;
      expected_columns.push_back(feature_id(v));
      expected.push_back(table[(2 * has_bit(p.words[k], lane) + has_bit(low[k], lane)) * p.d + v]);
    }
    ends = ends && index(start[r + 1]) == expected.size();
  }
  CHECK_FOR(p.name(), ends);
  CHECK_FOR(p.name(), columns == expected_columns);
  CHECK_FOR(p.name(), values == expected);
}

// ln of the mean of the estimators that qualify, or naive Bayes.
double plain_aode(const Plain& plain, const Row& x, std::size_t c, Ancestors ancestors, double min_frequency,
                  double prior, double naive_prior) {
  const Problem& p = plain.p;
  double sum = 0, largest = -std::numeric_limits<double>::infinity(), naive = naive_prior;
  std::vector<double> terms;
  for (std::size_t i = 0; i < p.d; ++i) {
    naive += plain.root(i, x, c);
    if (p.count(p.classes, [&](const Row& y) { return y[i] == x[i]; }) < min_frequency) continue;
    double term = prior + plain.root(i, x, c, /*even=*/true);
    for (std::size_t j = 0; j < p.d; ++j) {
      if (j == i || (p.above[i][j] && ancestors == Ancestors::absent)) continue;
      const bool alone = p.above[i][j] && ancestors == Ancestors::naive;
      term += alone ? plain.root(j, x, c) : plain.child(j, i, x, c);
    }
    terms.push_back(term);
    largest = std::max(largest, term);
  }
  if (terms.empty()) return naive;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum / static_cast<double>(terms.size()));
}

void test_aode(const Problem& p, const Tables& tables, const Plain& plain) {
  const std::vector<double> prior{-0.5, -1.5, -2.5, -3.5}, naive_prior{-0.6, -1.2, -2.4, -4.8};
  const auto often = static_cast<std::int64_t>(p.n / 2);
  for (const Ancestors ancestors : {Ancestors::depend, Ancestors::naive, Ancestors::absent})
    for (const std::int64_t min_frequency : {std::int64_t{1}, often, static_cast<std::int64_t>(p.n) + 1}) {
      std::vector<double> joint(p.n * p.classes);
      aode(tables, p.relations(), ancestors, min_frequency, p.words.data(), p.n, prior.data(), naive_prior.data(),
           joint.data());
      std::vector<double> all_factors(p.n * p.d * p.classes), all_averaging(p.n * p.classes);
      const std::unique_ptr<bool[]> averages(new bool[p.n]);
      aode_factors(tables, p.relations(), ancestors, min_frequency, p.words.data(), p.n, prior.data(),
                   all_factors.data(), all_averaging.data(), averages.get());
      for (const std::size_t k : {std::size_t{1}, kRows - 1}) {
        const std::size_t row = chosen_row(p, k);
        const double *factors = all_factors.data() + row * p.d * p.classes,
                     *averaging = all_averaging.data() + row * p.classes;
        const bool averaged = averages[row];
        std::vector<double> sum, expected;
        for (std::size_t c = 0; c < p.classes; ++c) {
          expected.push_back(plain_aode(plain, p.rows[row], c, ancestors, static_cast<double>(min_frequency), prior[c],
                                        naive_prior[c]));
          sum.push_back((averaged ? prior : naive_prior)[c] + averaging[c]);
          for (std::size_t v = 0; v < p.d; ++v) sum[c] += factors[c * p.d + v];
        }
        const std::vector<double> found(joint.data() + row * p.classes, joint.data() + (row + 1) * p.classes);
        CHECK_FOR(p.name(), near(found, expected));
        CHECK_FOR(p.name(), near(sum, expected));
        CHECK_FOR(p.name(), averaged == (min_frequency <= static_cast<std::int64_t>(p.n)));
      }
    }
}

// Values of all sizes: their shares are those of the plain sum, but for the smallest, which are 0 and hardly anything.
void test_shares() {
  for (const std::size_t d : {1, 2, 30, 1000, 20000})
    for (const double range : {1e-3, 1.0, 20.0, 40.0, 100.0, 1e5}) {
      std::mt19937_64 random(d);
      std::vector<double> values(d);
      for (double& value : values) value = -7000.0 - range * static_cast<double>(random() % 4096) / 4096.0;
      if (d > 2) values[d / 2] = -std::numeric_limits<double>::infinity();
      const std::vector<double> given = values;
      const double largest = *std::max_element(given.begin(), given.end());
      long double sum = 0, left_out = 0, entropy = 0;
      for (const double value : given) sum += std::exp(static_cast<long double>(value) - largest);
      const double found = detail::shares_of(values.data(), d);
      double least = 1.0, largest_left_out = 0.0;
      bool all_near = true;
      for (std::size_t i = 0; i < d; ++i) {
        const long double log = static_cast<long double>(given[i]) - largest - std::log(sum), share = std::exp(log);
        if (share > 0) entropy -= share * log;
        if (values[i] > 0.0) {
          least = std::min(least, values[i]);
          all_near = all_near && std::abs(values[i] / share - 1) < 1e-12L;
        } else {
          left_out += share;
          largest_left_out = std::max(largest_left_out, static_cast<double>(share));
        }
      }
      CHECK(all_near);
      CHECK(left_out < 1.0L / (std::int64_t{1} << 44));
      CHECK(largest_left_out < least);
      CHECK(std::abs(found - entropy) < 1e-11L);
    }
}

// More features than a band of estimators has, and more rows than are summed side by side: the parts add up, and have
// the same bits however the pairs are kept, and whichever rows come together.
void test_many_estimators(const char* smoothing) {
  const Problem p(5, 70, 2 * detail::PartnerBand::kWidth + 3, 2, 0.03);
  const std::vector<double> prior{-0.5, -1.5};
  std::vector<double> joint[2], factors[2], averaging(p.n * p.classes);
  const std::unique_ptr<bool[]> averages(new bool[p.n]);
  for (const int kind : {0, 1}) {
    const Tables tables(kind ? p.sparse() : p.dense(), Smoothing(smoothing, 0.5));
    joint[kind].resize(p.n * p.classes);
    factors[kind].resize(p.n * p.classes * p.d);
    aode(tables, p.relations(), Ancestors::absent, 1, p.words.data(), p.n, prior.data(), prior.data(),
         joint[kind].data());
    aode_factors(tables, p.relations(), Ancestors::absent, 1, p.words.data(), p.n, prior.data(), factors[kind].data(),
                 averaging.data(), averages.get());
    std::vector<double> sums, some(7 * p.classes * p.d), some_averaging(7 * p.classes);
    for (std::size_t k = 0; k < p.n * p.classes; ++k) {
      const double* of_row = factors[kind].data() + k * p.d;
      sums.push_back(std::accumulate(of_row, of_row + p.d, prior[k % p.classes] + averaging[k]));
    }
    CHECK_FOR(p.name(), near(sums, joint[kind]));
    aode_factors(tables, p.relations(), Ancestors::absent, 1, p.words.data(), 7, prior.data(), some.data(),
                 some_averaging.data(), averages.get());
    CHECK_FOR(p.name(), std::equal(some.begin(), some.end(), factors[kind].begin()));
  }
  CHECK_FOR(p.name(), joint[0] == joint[1] && factors[0] == factors[1]);
}

}  // namespace

void test_models() {
  for (const char* smoothing : {"laplace", "pooled", "odds"}) test_many_estimators(smoothing);
  test_smoothing();
  test_shares();
  for (const Problem& p : problems()) test_terms(p);
  for (const Problem& p : problems())
    for (const Case& setting : kCases) {
      const Tables tables(setting.sparse ? p.sparse() : p.dense(), Smoothing(setting.smoothing, setting.alpha));
      const Plain plain{p, setting.smoothing, setting.alpha};
      test_tree_scores(p, setting, tables, plain);
      test_selections(p, tables, plain);
      if (p.n <= 130 && p.d <= 41) test_aode(p, tables, plain);
    }
}

}  // namespace hietan::tests
