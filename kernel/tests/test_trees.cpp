// Keys, the ranking in blocks of any size, and every tree, against searches that read all edges and label all vertices.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <tuple>

#include "tests/checks.hpp"
#include "tests/problem.hpp"
#include "trees/eager_trees.hpp"
#include "trees/lazy_trees.hpp"

namespace hietan::tests {
namespace {

using Ends = std::pair<std::size_t, std::size_t>;

std::vector<std::int64_t> all_keys(const Problem& p) {
  std::vector<std::int64_t> keys(pair_total(p.d));
  cmi_keys(p.dense(), keys.data());
  return keys;
}

// All pairs i < j, highest key first, ties in order of (i, j).
std::vector<Ends> ranked(const std::vector<std::int64_t>& keys, std::size_t d) {
  std::vector<Ends> edges;
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = i + 1; j < d; ++j) edges.emplace_back(i, j);
  std::stable_sort(edges.begin(), edges.end(), [&](const Ends& a, const Ends& b) {
    return keys[pair_index(a.first, a.second, d)] > keys[pair_index(b.first, b.second, d)];
  });
  return edges;
}

double information(const Problem& p, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t c = 0; c < p.classes; ++c)
    for (int cell = 0; cell < 4; ++cell) {
      const bool a = cell & 1, b = cell & 2;
      const double both = p.count(c, [&](const auto& x) { return x[i] == a && x[j] == b; });
      if (both == 0) continue;
      const double only_i = p.count(c, [&](const auto& x) { return x[i] == a; });
      const double only_j = p.count(c, [&](const auto& x) { return x[j] == b; });
      sum += both * std::log(both * static_cast<double>(p.class_count[c]) / (only_i * only_j));
    }
  return sum / static_cast<double>(p.n);
}

void test_keys(const Problem& p) {
  const std::vector<std::int64_t> keys = all_keys(p);
  const SparseKeys sparse(p.sparse());
  bool close = true, one_by_one = true;
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < p.d; ++i) {
    std::vector<std::int64_t> row(p.d - i - 1);
    sparse.row(i, row.data());
    rows.insert(rows.end(), row.begin(), row.end());
    for (std::size_t j = i + 1; j < p.d; ++j) {
      const std::int64_t key = keys[pair_index(i, j, p.d)];
      close = close && std::abs(static_cast<double>(key) - 1e12 * information(p, i, j)) < 100;
      one_by_one = one_by_one && cmi_key(p.dense(), i, j) == key && cmi_key(p.sparse(), j, i) == key;
    }
  }
  CHECK_FOR(p.name(), close);
  CHECK_FOR(p.name(), one_by_one);
  CHECK_FOR(p.name(), rows == keys);
}

// Computed in parts, in any order, the keys and all that is derived from them are the same.
void test_parts_of_keys(const Problem& p) {
  const SparseKeys whole(p.sparse());
  for (const std::size_t parts : {2, 7}) {
    SparseKeys keys(p.sparse(), parts);
    for (std::size_t k = parts; k-- > 0;) {
      CHECK_FOR(p.name(), !keys.complete());
      keys.compute(k);
    }
    CHECK_FOR(p.name(), keys.complete() && keys.varies() == whole.varies());
    bool same = true;
    std::vector<std::int64_t> row(p.d), expected(p.d);
    for (std::size_t i = 0; i < p.d; ++i) {
      keys.row(i, row.data());
      whole.row(i, expected.data());
      same = same && row == expected;
    }
    const KeyHistogram::Size size{1, 1, p.d};
    KeyHistogram::Cut cut, other;
    while (same && !cut.exhausted()) {
      cut = keys.histogram().next(cut, size), other = whole.histogram().next(other, size);
      same = cut.edges == other.edges && cut.low() == other.low() && cut.high() == other.high();
    }
    CHECK_FOR(p.name(), same);
  }
}

void test_most_informative(const Problem& p) {
  std::size_t best = 0;
  std::vector<double> found(p.d, 0.0);
  for (std::size_t v = 0; v < p.d; ++v) {
    for (int x = 0; x < 2; ++x)
      for (std::size_t c = 0; c < p.classes; ++c) {
        const double both = p.count(c, [&](const auto& row) { return row[v] == (x == 1); });
        const double value = p.count(p.classes, [&](const auto& row) { return row[v] == (x == 1); });
        if (both > 0)
          found[v] +=
              both * std::log(both * static_cast<double>(p.n) / (value * static_cast<double>(p.class_count[c])));
      }
    if (found[v] > found[best] + 1e-9) best = v;
  }
  CHECK_FOR(p.name(), most_informative(p.dense()) == best);
}

std::vector<Edge> read_all(Ranking& ranking, const Ranking::Block* (Ranking::*block)(std::size_t)) {
  std::vector<Edge> edges;
  for (std::size_t k = 0; const Ranking::Block* here = (ranking.*block)(k); ++k)
    edges.insert(edges.end(), here->edges.begin(), here->edges.end());
  return edges;
}

bool same_edges(const Problem& p, const std::vector<Edge>& found, const std::vector<Ends>& expected) {
  if (found.size() != expected.size()) return false;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto [i, j] = expected[k];
    const Ends directed = p.above[i][j] ? Ends{j, i} : Ends{i, j};  // the ancestor first
    if (Ends{found[k].first(), found[k].last()} != directed || found[k].related() != p.related(i, j)) return false;
  }
  return true;
}

// Keys that differ in no digit, in some of them or in all 64 bits, in lists that divide the features in any way.
void test_edge_sort() {
  constexpr std::size_t d = 40;
  const std::vector<std::vector<std::int64_t>> choices{
      {}, {7}, {3, 4, 5}, {0, 1 << 20}, {-1, 0, 300, 70'000, std::int64_t{1} << 40}, {INT64_MIN, -5, 0, INT64_MAX}};
  for (const std::vector<std::int64_t>& choice : choices)
    for (const std::size_t parts : {1, 2, 7}) {
      std::vector<EdgeList> lists(parts);
      std::vector<std::pair<std::int64_t, Ends>> expected;
      const auto key = [&](std::size_t i, std::size_t j) { return choice[(i * i + 7 * j) % choice.size()]; };
      for (std::size_t i = 0; i < d && !choice.empty(); ++i)
        for (std::size_t j = i + 1; j < d; ++j) expected.push_back({key(i, j), {i, j}});
      for (std::size_t i = d; i-- > 0 && !choice.empty();)
        for (std::size_t j = i + 1; j < d; ++j)
          lists[i % parts].add(i, key(i, j), {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
      std::stable_sort(expected.begin(), expected.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      const Edges edges = EdgeSort(lists, d).sorted();
      bool same = edges.size() == expected.size();
      for (std::size_t k = 0; same && k < edges.size(); ++k)
        same = Ends{edges[k].first(), edges[k].last()} == expected[k].second;
      CHECK(same);
    }
}

template <typename Edges>
bool equal_edges(const Edges& a, const Edges& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Edge& x, const Edge& y) {
    return x.first_and_mark == y.first_and_mark && x.second == y.second;
  });
}

// Blocks that are sorted out of order, after a plan, hold the edges in the same order.
void test_plan(const Problem& p, const Keys& either, std::size_t block) {
  Ranking as_read(either, p.relations(), block), planned(either, p.relations(), block);
  const std::size_t blocks = planned.plan(pair_total(p.d) / 2 + 1, 3);
  for (std::size_t k = blocks; k-- > 0;) planned.block(k);
  CHECK_FOR(p.name(), blocks > 0 && planned.sorted_edges() > 0);
  CHECK_FOR(p.name(), planned.plan(1, 3) == 1 && planned.plan(pair_total(p.d) / 2 + 1, 1) == blocks);
  const std::vector<Edge> edges = read_all(planned, &Ranking::block), expected = read_all(as_read, &Ranking::block);
  CHECK_FOR(p.name(), equal_edges(edges, expected));
}

// Blocks that are listed in parts, and sorted together in any order, are those that are sorted alone.
void test_listed_blocks(const Problem& p, const Keys& either, std::size_t block) {
  Ranking alone(either, p.relations(), block);
  const std::size_t blocks = alone.plan(pair_total(p.d), 5);
  for (const std::size_t parts : {1, 3, 50})
    for (const std::size_t most : {std::size_t{0}, 3 * block, pair_total(p.d)}) {
      Ranking together(either, p.relations(), block);
      bool same = together.plan(pair_total(p.d), 5) == blocks;
      for (std::size_t first = 0; first < blocks;) {
        ListedBlocks listed(together, first, most, parts);
        for (std::size_t part = parts; part-- > 0;) {
          same = same && !listed.complete();
          listed.list(part);
        }
        for (std::size_t k = listed.size(); k-- > 0;) listed.sort(k);
        same = same && listed.complete() && listed.size() > 0 && (most > 0 || listed.size() == 1);
        first += listed.size();
      }
      const std::size_t sorted = together.sorted_edges();
      for (std::size_t k = 0; k < blocks; ++k)
        same = same && equal_edges(together.block(k)->edges, alone.block(k)->edges);
      CHECK_FOR(p.name(), same && sorted == alone.sorted_edges());
    }
}

void test_ranking(const Problem& p, const Keys& either, std::size_t block) {
  const std::vector<std::int64_t> keys = all_keys(p);
  const std::vector<Ends> expected = ranked(keys, p.d);
  std::vector<bool> varies(p.d, false);
  for (const auto& [i, j] : expected)
    if (keys[pair_index(i, j, p.d)] != 0) varies[i] = varies[j] = true;
  std::vector<Ends> idle;
  for (std::size_t i = 0; i < p.d; ++i)
    for (std::size_t j = i + 1; j < p.d; ++j)
      if (!varies[i] || !varies[j]) idle.emplace_back(i, j);

  Ranking ranking(either, p.relations(), block);
  const std::string where = p.name() + ", block " + std::to_string(block);
  CHECK_FOR(where, same_edges(p, read_all(ranking, &Ranking::block), expected));
  CHECK_FOR(where, same_edges(p, read_all(ranking, &Ranking::idle_block), idle));
  CHECK_FOR(where, !idle.empty() && ranking.sorted_edges() == expected.size());
}

// Sums that do not fit into 32 bits, as those of 100,000 features: whoever counts in a size loses edges on such
// targets.
void test_large_numbers() {
  constexpr std::uint64_t kMany = 3'000'000'000;
  KeyHistogram histogram;
  histogram.add(5, kMany);
  histogram.add(5, kMany);
  histogram.remove(5, 1);
  const KeyHistogram::Cut cut = histogram.next({}, {1, 1, 100'000});
  CHECK(cut.edges == 2 * kMany - 1 && cut.low() == 5 && cut.high() == 6);
  const std::uint64_t most = PTRDIFF_MAX;
  CHECK(pair_total(0) == 0 && pair_total(1) == 0 && pair_total(65'536) == std::min(std::uint64_t{2'147'450'880}, most));
  CHECK(pair_total(65'537) == std::min(std::uint64_t{2'147'516'416}, most));
  CHECK(pair_total(100'000) == std::min(std::uint64_t{4'999'950'000}, most));
}

// The histogram counts each edge once, however the keys are kept.
void test_cuts(const Problem& p, const Keys& either) {
  const EdgeOrder order(either, p.relations(), 0);
  EdgeOrder::Cut cut;
  std::size_t edges = 0;
  while (!cut.exhausted()) {
    cut = order.next(cut, 10);
    edges += cut.edges;
  }
  CHECK_FOR(p.name(), edges == pair_total(p.d));
}

// A search for a tree in its plainest form: labels for components, one flag each for what a vertex has.
struct PlainSearch {
  const Problem& p;
  bool directed;
  std::vector<std::size_t> component;
  std::vector<bool> has_parent, available;
  std::vector<Ends> edges;

  PlainSearch(const Problem& problem, bool direct)
      : p(problem), directed(direct), component(p.d), has_parent(p.d, false), available(p.d, true) {
    for (std::size_t v = 0; v < p.d; ++v) component[v] = v;
  }

  void give_parent(std::size_t v) {
    for (std::size_t u = 0; u < p.d; ++u)
      if (component[u] == component[v]) has_parent[u] = true;
  }

  bool accept(std::size_t i, std::size_t j) {
    if (component[i] == component[j] || !available[i] || !available[j]) return false;
    if (directed) {
      if (has_parent[i] && has_parent[j]) return false;
      if (p.related(i, j)) {
        const std::size_t descendant = p.above[i][j] ? i : j;
        if (has_parent[descendant]) return false;
        give_parent(descendant);
      } else if (has_parent[i] || has_parent[j]) {
        give_parent(has_parent[i] ? j : i);
      }
    }
    const std::size_t lost = component[j];
    std::replace(component.begin(), component.end(), lost, component[i]);
    edges.emplace_back(i, j);
    return true;
  }

  // The edges pointed away from the first vertex in the root order that is left and has no parent.
  std::vector<std::int32_t> tree(std::size_t lone) const {
    std::size_t root = lone;
    if (!edges.empty())
      for (std::size_t k = p.d; k-- > 0;)
        if (available[index(p.order[k])] && !has_parent[index(p.order[k])]) root = index(p.order[k]);
    std::vector<std::int32_t> parent(p.d, kAbsent);
    const std::function<void(std::size_t, std::int32_t)> visit = [&](std::size_t v, std::int32_t from) {
      parent[v] = from;
      for (const auto& [a, b] : edges) {
        if (a == v && feature_id(b) != from) visit(b, feature_id(v));
        if (b == v && feature_id(a) != from) visit(a, feature_id(v));
      }
    };
    visit(root, kRoot);
    return parent;
  }
};

void test_eager_trees(const Problem& p, const Keys& either, std::size_t block) {
  const std::vector<std::int64_t> keys = all_keys(p);
  PlainSearch plain(p, false), directed(p, true);
  for (const auto& [i, j] : ranked(keys, p.d)) {
    plain.accept(i, j);
    directed.accept(i, j);
  }
  std::vector<std::int32_t> parent(p.d);
  spanning_tree(keys.data(), p.d, static_cast<std::int32_t>(p.order[0]), parent.data());
  CHECK_FOR(p.name(), parent == plain.tree(0));
  hierarchical_tree(EdgeOrder(either, p.relations(), block), p.order.data(), parent.data());
  CHECK_FOR(p.name() + ", block " + std::to_string(block), parent == directed.tree(0));
}

std::vector<std::int32_t> plain_lazy_tree(const Problem& p, const std::vector<Ends>& edges, const std::vector<bool>& x,
                                          bool directed, std::size_t lone) {
  PlainSearch search(p, directed);
  for (const auto& [i, j] : edges) {
    if ((p.related(i, j) && x[i] == x[j]) || !search.accept(i, j)) continue;
    for (const std::size_t v : {i, j})
      for (std::size_t u = 0; u < p.d; ++u)
        if (p.related(u, v) && x[u] == x[v]) search.available[u] = false;
  }
  return search.tree(lone);
}

void test_lazy_trees(const Problem& p, const Keys& either, std::size_t block) {
  const std::vector<Ends> edges = ranked(all_keys(p), p.d);
  Ranking ranking(either, p.relations(), block);
  for (const bool directed : {true, false})
    for (const bool wide : {true, false}) {
      std::size_t wrong = 0, seen = 0;
      for_each_lazy_tree(ranking, p.words.data(), p.n, p.order.data(), 2, directed, wide,
                         [&](std::size_t row, const std::int32_t* parent) {
                           seen += row == seen;
                           const auto expected = plain_lazy_tree(p, edges, p.rows[row], directed, 2);
                           wrong += !std::equal(expected.begin(), expected.end(), parent);
                         });
      CHECK_FOR(p.name() + (directed ? ", directed" : ""), seen == p.n && wrong == 0);
    }
}

// Where all features are redundant to each other, the lone feature is the tree.
void test_lone_feature() {
  const std::vector<std::int64_t> keys(3, 5), order{0, 1, 2};
  const Lists up({{false, false, false}, {true, false, false}, {true, true, false}});
  const Lists down({{false, true, true}, {false, false, true}, {false, false, false}});
  Ranking ranking(std::make_shared<const DenseKeys>(keys.data(), 3), {3, up.view(), down.view()}, 0);
  const std::vector<Word> ones(3, 1);
  for_each_lazy_tree(ranking, ones.data(), 1, order.data(), 1, true, false,
                     [](std::size_t, const std::int32_t* parent) {
                       CHECK(parent[0] == kAbsent && parent[1] == kRoot && parent[2] == kAbsent);
                     });
}

// The tree of the features that a row keeps, which know of no relations: none, one and two of them.
void test_trees_of_kept_features() {
  const std::vector<std::int64_t> keys{5, 9, 7}, order{2, 1, 0};
  const Lists none({{false, false, false}, {false, false, false}, {false, false, false}});
  Ranking ranking(std::make_shared<const DenseKeys>(keys.data(), 3), {3, none.view(), none.view()}, 0);
  const std::vector<Word> values(3, 0), kept{0b100, 0b110, 0b000};
  const std::vector<std::vector<std::int32_t>> expected{
      {kAbsent, kAbsent, kAbsent}, {kAbsent, kRoot, kAbsent}, {1, kRoot, kAbsent}};
  for_each_lazy_tree(
      ranking, values.data(), 3, order.data(), kAbsent, false, false, [&](const Word*) { return kept.data(); },
      [&](std::size_t row, const std::int32_t* parent) {
        CHECK(std::equal(expected[row].begin(), expected[row].end(), parent));
      });
}

}  // namespace

void test_trees() {
  test_edge_sort();
  test_large_numbers();
  test_lone_feature();
  test_trees_of_kept_features();
  for (const Problem& p : problems()) {
    test_keys(p);
    test_parts_of_keys(p);
    test_most_informative(p);
    const std::vector<std::int64_t> keys = all_keys(p);
    const Keys dense = std::make_shared<const DenseKeys>(keys.data(), p.d);
    const Keys sparse = std::make_shared<const SparseKeys>(p.sparse());
    for (const Keys& either : {dense, sparse}) {
      test_cuts(p, either);
      for (const std::size_t block : {0, 1, 7}) {
        test_plan(p, either, block);
        test_listed_blocks(p, either, block);
        test_ranking(p, either, block);
        test_eager_trees(p, either, block);
        test_lazy_trees(p, either, block);
      }
    }
  }
}

}  // namespace hietan::tests
