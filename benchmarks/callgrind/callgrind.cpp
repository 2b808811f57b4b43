// The kernel's steps on a small fixed problem, each in a function of its own: callgrind.py counts their instructions.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "counts/cooccurrence.hpp"
#include "counts/counting.hpp"
#include "models/aode.hpp"
#include "models/scores.hpp"
#include "trees/eager_trees.hpp"
#include "trees/lazy_trees.hpp"

using namespace hietan;

namespace {

constexpr std::size_t kRows = 320, kFeatures = 400, kClasses = 2;

// Feature v has the parent (v - 1) / 3; a row has some features, and all that are above them.
struct Problem {
  std::vector<std::int32_t> indptr{0}, indices;
  std::vector<std::int64_t> code, order, class_count = std::vector<std::int64_t>(kClasses, 0);
  std::vector<std::int32_t> up{0}, up_indices, down{0}, down_indices;
  std::vector<Word> words = std::vector<Word>(word_count(kRows) * kFeatures);
  std::vector<std::int64_t> all_rows;

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
      for (std::size_t v = 0; v < kFeatures; ++v)
        if (has[v]) indices.push_back(static_cast<std::int32_t>(v));
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
      up.push_back(static_cast<std::int32_t>(up_indices.size()));
    }
    for (const auto& list : below) {
      down_indices.insert(down_indices.end(), list.begin(), list.end());
      down.push_back(static_cast<std::int32_t>(down_indices.size()));
    }
    pack_sparse(indptr.data(), indices.data(), kFeatures, all_rows.data(), kRows, words.data());
  }
  Relations relations() const {
    return {kFeatures, {up.data(), up_indices.data()}, {down.data(), down_indices.data()}};
  }
};

struct State {
  Problem problem;
  std::vector<std::int32_t> ones = std::vector<std::int32_t>(kClasses * kFeatures, 0), spare = ones;
  std::vector<std::int32_t> pairs = std::vector<std::int32_t>(kClasses * pair_total(kFeatures), 0);
  std::vector<std::int64_t> keys = std::vector<std::int64_t>(pair_total(kFeatures)), indptr;
  std::vector<std::int32_t> indices, values, parent = std::vector<std::int32_t>(kFeatures);
  std::vector<double> joint = std::vector<double>(kRows * kClasses, 0.0);
  double log_prior[kClasses] = {-0.7, -0.7};
  std::shared_ptr<const SparseKeys> sparse_keys;

  Keys dense_keys() const { return std::make_shared<const DenseKeys>(keys.data(), kFeatures); }
  Counts dense() const { return {kClasses, kFeatures, problem.class_count.data(), ones.data(), pairs.data()}; }
  Counts sparse() const {
    return {kClasses, kFeatures, problem.class_count.data(), ones.data(), values.data(), indptr.data(), indices.data()};
  }
};

}  // namespace

// Not inlined, and by plain names: what valgrind is told to look at.
#define STEP extern "C" __attribute__((noinline)) void

STEP step_count_words(State& s) {
  count_words(s.problem.words.data(), word_count(kRows), kFeatures, s.spare.data(),
              s.pairs.data() + pair_total(kFeatures));
}
STEP step_count_sparse(State& s) {
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto c = static_cast<std::size_t>(s.problem.code[r]);
    count_sparse(s.problem.indptr.data(), s.problem.indices.data(), s.problem.all_rows.data() + r, 1, kFeatures,
                 s.ones.data() + c * kFeatures, s.pairs.data() + c * pair_total(kFeatures));
  }
}
STEP step_count_cooccurrences(State& s) {
  Cooccurrences found;
  count_cooccurrences(s.problem.indptr.data(), s.problem.indices.data(), s.problem.code.data(), kRows, kFeatures,
                      kClasses, s.spare.data(), found);
  const std::size_t n = found.indices.size();
  std::int64_t* starts = found.indptr.release();
  std::int32_t *columns = found.indices.release(), *values = found.values.release();
  s.indptr.assign(starts, starts + kFeatures + 1);
  s.indices.assign(columns, columns + n);
  s.values.assign(values, values + n * kClasses);
  std::free(starts), std::free(columns), std::free(values);
}
STEP step_keys_dense(State& s) { cmi_keys(s.dense(), s.keys.data()); }
STEP step_keys_sparse(State& s) { s.sparse_keys = std::make_shared<const SparseKeys>(s.sparse()); }
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
STEP step_aode_sparse(State& s) {
  aode(Tables(s.sparse(), Smoothing("pooled", 1.0)), s.problem.relations(), Ancestors::naive, 1, s.problem.words.data(),
       64, s.log_prior, s.log_prior, s.joint.data());
}

// NOLINTNEXTLINE(bugprone-exception-escape): out of memory, the program may as well end
int main() {
  State s;
  step_count_sparse(s);
  step_count_cooccurrences(s);
  step_keys_dense(s);
  step_keys_sparse(s);
  step_tree_tan(s);
  step_tree_dense(s);
  step_tree_sparse(s);
  step_lite_dense(s);
  step_lite_sparse(s);
  step_hre_dense(s);
  step_aode_sparse(s);
  step_count_words(s);  // last: it spoils the counts
  double sum = 0;
  for (const double x : s.joint) sum += x;
  std::printf("%.6f\n", sum);
}
