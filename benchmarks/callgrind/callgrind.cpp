// The kernel's steps on a small fixed problem, each in a function of its own: callgrind.py counts their instructions.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "counts/consistency.hpp"
#include "counts/cooccurrence.hpp"
#include "counts/counting.hpp"
#include "counts/openings.hpp"
#include "counts/possible_openings.hpp"
#include "models/aode_factors.hpp"
#include "models/logistic.hpp"
#include "models/naive_bayes.hpp"
#include "models/neighbours.hpp"
#include "models/openings.hpp"
#include "models/scores.hpp"
#include "models/terms.hpp"
#include "names.hpp"
#include "trees/eager_trees.hpp"
#include "trees/lazy_trees.hpp"
#include "trees/levels.hpp"

using namespace hietan;

namespace {

constexpr std::size_t kRows = 320, kFeatures = 400, kClasses = 2;

// Feature v has the parent (v - 1) / 3; a row has some features, and all that are above them. The network of the open
// features has a second parent for every fifth feature, which some rows contradict.
struct Problem {
  std::vector<std::int32_t> indptr{0}, indices;
  std::vector<std::int64_t> code, order, class_count = std::vector<std::int64_t>(kClasses, 0);
  std::vector<std::int32_t> up{0}, up_indices, down{0}, down_indices;
  std::vector<Word> words = std::vector<Word>(word_count(kRows) * kFeatures);
  std::vector<std::int64_t> all_rows, depths;
  std::vector<std::int32_t> weights, relevance, parents{0}, parent_indices, children{0}, child_indices;
  std::vector<std::uint8_t> values = std::vector<std::uint8_t>(kRows * kFeatures, 0);

  Problem() {
    std::uint64_t state = 1;
    const auto draw = [&](std::size_t below) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return static_cast<std::size_t>(state % below);
    };
    for (std::size_t r = 0; r < kRows; ++r) {
      std::vector<bool> has(kFeatures, false);
      for (int k = 0; k < 4; ++k)
        for (std::size_t v = draw(kFeatures); !has[v]; v = v ? (v - 1) / 3 : 0) has[v] = true;
      for (std::size_t v = 0; v < kFeatures; ++v) {
        if (has[v]) indices.push_back(static_cast<std::int32_t>(v));
        values[r * kFeatures + v] = has[v];
      }
      weights.push_back(static_cast<std::int32_t>(1 + r % 3));
      indptr.push_back(static_cast<std::int32_t>(indices.size()));
      code.push_back(static_cast<std::int64_t>(draw(kClasses)));
      ++class_count[static_cast<std::size_t>(code.back())];
      all_rows.push_back(static_cast<std::int64_t>(r));
    }
    std::vector<std::vector<std::int32_t>> below(kFeatures);
    for (std::size_t v = 0; v < kFeatures; ++v) {
      order.push_back(static_cast<std::int64_t>(v));
      for (std::size_t u = v; u > 0;) {
        u = (u - 1) / 3;
        up_indices.push_back(static_cast<std::int32_t>(u));
        below[u].push_back(static_cast<std::int32_t>(v));
      }
      depths.push_back(static_cast<std::int64_t>(up_indices.size()) - up.back());
      up.push_back(static_cast<std::int32_t>(up_indices.size()));
      relevance.push_back(static_cast<std::int32_t>(draw(1000)));
      if (v % 5 == 4) parent_indices.push_back(static_cast<std::int32_t>((v - 1) / 4));
      if (v > 0 && (v % 5 != 4 || (v - 1) / 3 != (v - 1) / 4))
        parent_indices.push_back(static_cast<std::int32_t>((v - 1) / 3));
      parents.push_back(static_cast<std::int32_t>(parent_indices.size()));
    }
    for (std::size_t v = 0; v < kFeatures; ++v) {
      for (std::size_t u = 3 * v + 1; u <= 3 * v + 3 && u < kFeatures; ++u)
        child_indices.push_back(static_cast<std::int32_t>(u));
      children.push_back(static_cast<std::int32_t>(child_indices.size()));
    }
    for (const auto& list : below) {
      down_indices.insert(down_indices.end(), list.begin(), list.end());
      down.push_back(static_cast<std::int32_t>(down_indices.size()));
    }
    pack_sparse(indptr.data(), indices.data(), kFeatures, all_rows.data(), kRows, words.data());
  }
  Adjacency parent_lists() const { return {parents.data(), parent_indices.data()}; }
  Adjacency child_lists() const { return {children.data(), child_indices.data()}; }
  Relations relations() const {
    return {kFeatures, {up.data(), up_indices.data()}, {down.data(), down_indices.data()}};
  }
};

std::vector<std::int32_t> parents_of_edges(const Problem& p) {
  std::vector<std::int32_t> parent(p.child_indices.size());
  for (std::size_t v = 0; v < kFeatures; ++v)
    std::fill(parent.begin() + p.children[v], parent.begin() + p.children[v + 1], feature_id(v));
  return parent;
}

// The names of the features, every `step`-th after the other, and eight more characters.
std::vector<std::uint8_t> name_list(std::size_t step) {
  std::string text;
  for (std::size_t v = 0; v < kFeatures; ++v)
    text += (v ? "\", \"T:" : "[\"T:") + std::to_string(100000 + v * step % kFeatures);
  text += "\"]" + std::string(8, ' ');
  return {text.begin(), text.end()};
}

struct State {
  Problem problem;
  std::vector<std::int32_t> ones = std::vector<std::int32_t>(kClasses * kFeatures, 0), spare = ones;
  std::vector<std::int32_t> pairs = std::vector<std::int32_t>(kClasses * pair_total(kFeatures), 0);
  std::vector<std::int64_t> keys = std::vector<std::int64_t>(pair_total(kFeatures)), indptr;
  std::vector<std::int32_t> indices, values, parent = std::vector<std::int32_t>(kFeatures);
  std::vector<double> joint = std::vector<double>(kRows * kClasses, 0.0);
  double log_prior[kClasses] = {-0.7, -0.7};
  std::shared_ptr<const SparseKeys> sparse_keys;
  std::unique_ptr<const Openings> openings;
  std::vector<std::int32_t> open_ones, open;
  // Made just before they are needed: the instructions that copy memory depend on where it is.
  std::vector<std::int32_t> edge_parent;
  std::vector<std::uint8_t> names, mixed_names;

  Keys dense_keys() const { return std::make_shared<const DenseKeys>(keys.data(), kFeatures); }
  Counts dense() const { return {kClasses, kFeatures, problem.class_count.data(), ones.data(), pairs.data()}; }
  Counts sparse() const {
    return {kClasses, kFeatures, problem.class_count.data(), ones.data(), values.data(), indptr.data(), indices.data()};
  }
};

}  // namespace

// Not inlined, and by plain names: what valgrind is told to look at.
#define STEP extern "C" __attribute__((noinline)) void

STEP step_pack_dense(State& s) {
  pack_dense(s.problem.values.data(), kFeatures, s.problem.all_rows.data(), kRows, s.problem.words.data());
}
STEP step_pack_sparse(State& s) {
  pack_sparse(s.problem.indptr.data(), s.problem.indices.data(), kFeatures, s.problem.all_rows.data(), kRows,
              s.problem.words.data());
}
STEP step_count_words(State& s) {
  count_words(s.problem.words.data(), word_count(kRows), kFeatures, s.spare.data(),
              s.pairs.data() + pair_total(kFeatures));
}
STEP step_count_sparse(State& s) {
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto c = static_cast<std::size_t>(s.problem.code[r]);
    count_sparse(s.problem.indptr.data(), s.problem.indices.data(), s.problem.all_rows.data() + r, nullptr, 1,
                 kFeatures, s.ones.data() + c * kFeatures, s.pairs.data() + c * pair_total(kFeatures));
  }
}
STEP step_count_weighted(State& s) {
  std::vector<std::int32_t> ones(kFeatures, 0), pairs(pair_total(kFeatures), 0);
  count_sparse(s.problem.indptr.data(), s.problem.indices.data(), s.problem.all_rows.data(), s.problem.weights.data(),
               kRows, kFeatures, ones.data(), pairs.data());
}

namespace {
void count_in_parts(State& s, const std::int32_t* weights, std::size_t parts, bool keep) {
  const Problem& p = s.problem;
  const CooccurrenceCounting<std::int32_t, std::int32_t> counting(p.indptr.data(), p.indices.data(), p.code.data(),
                                                                  weights, kRows, kFeatures, kClasses);
  std::vector<std::int32_t> ones(kClasses * kFeatures, 0);
  std::vector<Cooccurrences> found(parts);
  const std::vector<std::size_t> ranges = counting.ranges(parts);
  for (std::size_t k = 0; k < parts; ++k) counting.count(ranges[k], ranges[k + 1], ones.data(), found[k]);
  JoinedCooccurrences joined(found, kClasses);
  for (std::size_t k = 0; k < parts; ++k) joined.move(k);
  if (!keep) return;
  const Cooccurrences& all = joined.all();
  s.indptr.assign(all.indptr.data(), all.indptr.data() + all.indptr.size());
  s.indices.assign(all.indices.data(), all.indices.data() + all.indices.size());
  s.values.assign(all.values.data(), all.values.data() + all.values.size());
}
}  // namespace

STEP step_count_cooccurrences(State& s) { count_in_parts(s, nullptr, 1, true); }
STEP step_count_cooccurrences_in_parts(State& s) { count_in_parts(s, nullptr, 4, false); }
STEP step_count_cooccurrences_weighted(State& s) { count_in_parts(s, s.problem.weights.data(), 1, false); }
STEP step_add_cooccurrences(State& s) {
  const CooccurrenceView view{s.indptr.data(), s.indices.data(), s.values.data()};
  Cooccurrences sum;
  add_cooccurrences(view, view, kFeatures, kClasses, sum);
}
STEP step_check_counts(State& s) {
  require_possible_margins(s.dense());
  require_possible_pairs(s.dense());
  require_possible_pairs(s.sparse());
}
STEP step_violation_words(State& s) {
  find_violation(s.problem.child_lists(), kFeatures, s.problem.words.data(), kRows);
}
STEP step_violation_lists(State& s) {
  const Problem& p = s.problem;
  find_violation_in_lists(p.parent_lists(), p.indptr.data(), p.indices.data(), kFeatures, kRows, kRows);
}
STEP step_levels(State& s) {
  const std::vector<std::int32_t>& child = s.problem.child_indices;
  std::vector<std::int64_t> children(kFeatures + 1), parents(kFeatures + 1), depth(kFeatures);
  std::vector<std::int32_t> parent_indices(child.size());
  begin_rows(s.edge_parent.data(), child.size(), kFeatures, children.data());
  turn_pairs(s.edge_parent.data(), child.data(), child.size(), kFeatures, parents.data(), parent_indices.data());
  longest_paths({children.data(), child.data()}, parents.data(), kFeatures, depth.data());
}
STEP step_count_sorted_names(State& s) { count_names(s.names.data(), s.names.size() - 8); }
STEP step_count_names(State& s) { count_names(s.mixed_names.data(), s.mixed_names.size() - 8); }
STEP step_possible_openings(State& s) {
  const OpenTotals totals{kClasses, kFeatures, s.problem.class_count.data(), s.open_ones.data(), s.open.data()};
  find_impossible_opening(s.problem.child_lists(), totals);
}
STEP step_openings(State& s) {
  s.openings = std::make_unique<const Openings>(s.problem.parent_lists(), s.problem.depths.data(), kFeatures);
}

namespace {
void count_open(State& s, const std::int32_t* weights) {
  const Problem& p = s.problem;
  s.open_ones.assign(kClasses * kFeatures, 0);
  s.open.assign(kClasses * kFeatures, 0);
  count_openings(*s.openings, p.indptr.data(), p.indices.data(), p.code.data(), weights, kRows, kClasses, kRows,
                 s.open_ones.data(), s.open.data());
}
}  // namespace

STEP step_count_openings_weighted(State& s) { count_open(s, s.problem.weights.data()); }
STEP step_count_openings(State& s) { count_open(s, nullptr); }
STEP step_score_openings(State& s) {
  std::vector<double> on(kFeatures * kClasses), off(on), score(kClasses);
  OpenTables({kClasses, kFeatures, s.open_ones.data(), s.open.data()}, Smoothing("pooled", 1.0), OpenTables::kNobody)
      .fill(on.data(), off.data());
  const OpenScorer scorer(*s.openings, on.data(), off.data(), kClasses);
  RowBits bits(kFeatures);
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::int32_t* row = s.problem.indices.data();
    scorer.score(row + s.problem.indptr[r], row + s.problem.indptr[r + 1], bits, score.data());
    s.joint[r * kClasses] += score[0] - score[1];
  }
}
STEP step_keys_dense(State& s) { cmi_keys(s.dense(), s.keys.data()); }
STEP step_keys_sparse(State& s) { s.sparse_keys = std::make_shared<const SparseKeys>(s.sparse()); }
STEP step_keys_sparse_in_parts(State& s) {
  SparseKeys keys(s.sparse(), 4);
  for (std::size_t part = 0; part < 4; ++part) keys.compute(part);
}

namespace {
void rank(State& s, const Keys& keys) {
  Ranking ranking(keys, s.problem.relations(), 0);
  const std::size_t blocks = ranking.plan(pair_total(kFeatures), 2);
  for (std::size_t k = 0; k < blocks; ++k) ranking.block(k);
}
}  // namespace

STEP step_rank_dense(State& s) { rank(s, s.dense_keys()); }
STEP step_rank_sparse(State& s) { rank(s, s.sparse_keys); }
STEP step_most_informative(State& s) { s.joint[0] += static_cast<double>(most_informative(s.dense())); }
STEP step_tree_tan(State& s) { spanning_tree(s.keys.data(), kFeatures, 0, s.parent.data()); }
STEP step_tree_dense(State& s) {
  hierarchical_tree(EdgeOrder(s.dense_keys(), s.problem.relations(), 0), s.problem.order.data(), s.parent.data());
}
STEP step_tree_sparse(State& s) {
  hierarchical_tree(EdgeOrder(s.sparse_keys, s.problem.relations(), 0), s.problem.order.data(), s.parent.data());
}

namespace {
void lazy(State& s, const Keys& keys, const Counts& counts, bool directed) {
  Ranking ranking(keys, s.problem.relations(), 0);
  const Tables tables(counts, Smoothing("laplace", 1.0));
  TreeScorer scorer(tables);
  for_each_lazy_tree(ranking, s.problem.words.data(), kRows, s.problem.order.data(), 0, directed, false,
                     [&](std::size_t row, const std::int32_t* parent) {
                       scorer.add(parent, s.problem.words.data() + row / kLanes * kFeatures, row % kLanes,
                                  s.joint.data() + row * kClasses);
                     });
}
}  // namespace

STEP step_lite_dense(State& s) { lazy(s, s.dense_keys(), s.dense(), true); }
STEP step_lite_sparse(State& s) { lazy(s, s.sparse_keys, s.sparse(), true); }
STEP step_hre_dense(State& s) { lazy(s, s.dense_keys(), s.dense(), false); }
STEP step_tree_joint(State& s) {
  add_shared_tree(Tables(s.dense(), Smoothing("laplace", 1.0)), s.parent.data(), s.problem.words.data(), kRows,
                  s.joint.data());
}
STEP step_tree_factors(State& s) {
  const Tables tables(s.sparse(), Smoothing("pooled", 1.0));
  std::vector<double> factors(kFeatures * kClasses);
  for (std::size_t lane = 0; lane < 16; ++lane)
    tree_factors(tables, s.parent.data(), s.problem.words.data(), lane, factors.data());
}

namespace {
void average(State& s, const Counts& counts, Ancestors ancestors) {
  aode(Tables(counts, Smoothing("pooled", 1.0)), s.problem.relations(), ancestors, 1, s.problem.words.data(), 64,
       s.log_prior, s.log_prior, s.joint.data());
}
}  // namespace

STEP step_aode_sparse(State& s) { average(s, s.sparse(), Ancestors::naive); }
STEP step_aode_dense(State& s) { average(s, s.dense(), Ancestors::absent); }
STEP step_aode_factors(State& s) {
  std::vector<double> factors(16 * kFeatures * kClasses), averaging(16 * kClasses);
  bool averaged[16];
  aode_factors(Tables(s.sparse(), Smoothing("pooled", 1.0)), s.problem.relations(), Ancestors::depend, 1,
               s.problem.words.data(), 16, s.log_prior, factors.data(), averaging.data(), averaged);
}
STEP step_aode_contributions(State& s) {
  std::vector<double> contributions(64 * kFeatures);
  aode_contributions(Tables(s.sparse(), Smoothing("laplace", 1.0)), s.problem.relations(), Ancestors::absent, 1,
                     s.problem.words.data(), 64, s.log_prior, 1, contributions.data());
}

namespace {
Selector selector_of(const State& s, const char* kind) {
  return {s.problem.relations(), kind, s.problem.relevance.data(), 20};
}
void select(State& s, const char* kind) {
  const Selector selector = selector_of(s, kind);
  std::vector<Word> kept(kFeatures);
  for (std::size_t b = 0; b < word_count(kRows); ++b)
    selector.select(s.problem.words.data() + b * kFeatures, kept.data());
}
}  // namespace

STEP step_select_hip(State& s) { select(s, "hip"); }
STEP step_select_mr(State& s) { select(s, "mr"); }
STEP step_select_hip_mr(State& s) { select(s, "hip-mr"); }
STEP step_select_hnb(State& s) { select(s, "hnb"); }
STEP step_select_rnb(State& s) { select(s, "rnb"); }
STEP step_selected_naive_bayes(State& s) {
  selected_naive_bayes(Tables(s.dense(), Smoothing("laplace", 1.0)), selector_of(s, "hip"), s.problem.words.data(),
                       kRows, s.joint.data());
}
STEP step_list_terms(State& s) {
  const Word* words = s.problem.words.data();
  const std::vector<double> table(4 * kFeatures, 0.5);
  std::vector<std::int64_t> counts(kRows), next(kRows + 1, 0);
  count_kept(words, kFeatures, kRows, counts.data());
  for (std::size_t r = 0; r < kRows; ++r) next[r + 1] = next[r] + counts[r];
  std::vector<std::int32_t> columns(index(next[kRows]));
  std::vector<double> values(columns.size());
  list_terms(words, words, words, table.data(), kFeatures, kRows, next.data(), columns.data(), values.data());
}
STEP step_selected_trees(State& s) {
  Ranking ranking(s.sparse_keys, s.problem.relations(), 0);
  const Selector selector = selector_of(s, "hip");
  std::vector<Word> kept(kFeatures);
  const auto select = [&](const Word* value) -> const Word* {
    selector.select(value, kept.data());
    return kept.data();
  };
  for_each_lazy_tree(ranking, s.problem.words.data(), kLanes, s.problem.order.data(), kAbsent, false, false, select,
                     [&](std::size_t row, const std::int32_t* parent) { s.joint[row] += parent[row]; });
}
STEP step_neighbours(State& s) {
  const Neighbours neighbours(s.problem.words.data(), kRows, kFeatures);
  neighbours.for_each_nearest(selector_of(s, "mr"), s.problem.words.data(), kLanes, 3,
                              [&](std::size_t row, const Neighbour* found) { s.joint[row] += double(found->common); });
}
STEP step_prox(State& s) {
  const GraphPenalty penalty(kFeatures, s.problem.child_lists());
  std::vector<double> u(kFeatures), w(kFeatures);
  for (std::size_t v = 0; v < kFeatures; ++v) u[v] = s.problem.relevance[v] / 1000.0 - 0.5;
  GraphProx(penalty).prox(u.data(), 0.01, w.data());
}
STEP step_logistic(State& s) {
  const Problem& p = s.problem;
  const GraphPenalty penalty(kFeatures, p.child_lists());
  const std::vector<std::int64_t> indptr(p.indptr.begin(), p.indptr.end());
  const std::vector<double> values(p.indices.size(), 1.0), weight(kRows, 1.0 / kRows);
  std::vector<double> sign, coef(kFeatures);
  for (const std::int64_t c : p.code) sign.push_back(c == 0 ? 1.0 : -1.0);
  LogisticPath path({kRows, kFeatures, indptr.data(), p.indices.data(), values.data()}, sign.data(), weight.data(),
                    penalty);
  path.solve(0.02, 20, 0, coef.data());
}

// NOLINTNEXTLINE(bugprone-exception-escape): out of memory, the program may as well end
int main() {
  State s;
  step_pack_dense(s);
  step_pack_sparse(s);
  step_count_sparse(s);
  step_count_weighted(s);
  step_count_cooccurrences(s);
  step_count_cooccurrences_in_parts(s);
  step_count_cooccurrences_weighted(s);
  step_add_cooccurrences(s);
  step_check_counts(s);
  step_violation_words(s);
  step_violation_lists(s);
  s.edge_parent = parents_of_edges(s.problem);
  s.names = name_list(1), s.mixed_names = name_list(7);
  step_levels(s);
  step_count_sorted_names(s);
  step_count_names(s);
  step_openings(s);
  step_count_openings_weighted(s);
  step_count_openings(s);
  step_possible_openings(s);
  step_score_openings(s);
  step_keys_dense(s);
  step_keys_sparse(s);
  step_keys_sparse_in_parts(s);
  step_rank_dense(s);
  step_rank_sparse(s);
  step_most_informative(s);
  step_tree_tan(s);
  step_tree_dense(s);
  step_tree_sparse(s);
  step_lite_dense(s);
  step_lite_sparse(s);
  step_hre_dense(s);
  step_tree_joint(s);
  step_tree_factors(s);
  step_aode_sparse(s);
  step_aode_dense(s);
  step_aode_factors(s);
  step_aode_contributions(s);
  step_select_hip(s);
  step_select_mr(s);
  step_select_hip_mr(s);
  step_select_hnb(s);
  step_select_rnb(s);
  step_selected_naive_bayes(s);
  step_list_terms(s);
  step_selected_trees(s);
  step_neighbours(s);
  step_prox(s);
  step_logistic(s);
  step_count_words(s);  // last: it spoils the counts
  double sum = 0;
  for (const double x : s.joint) sum += x;
  std::printf("%.6f\n", sum);
}
