// The edges from the highest key down (ties: the smaller (i, j) first), in blocks that are sorted one at a time.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "counts/relations.hpp"
#include "trees/keys.hpp"

namespace hietan {

// i < j where the endpoints are unrelated; ancestor first where they are related.
struct Edge {
  std::uint32_t first_and_mark, second;
  static constexpr std::uint32_t kRelated = std::uint32_t{1} << 31;

  std::size_t first() const { return first_and_mark & ~kRelated; }
  std::size_t last() const { return second; }
  bool related() const { return first_and_mark & kRelated; }
};

// Features that never vary within a class carry no information about any other: all their edges have the key 0. A
// search that has joined all others would have to read every edge to reach these: `idle_edges` lists only them.
class EdgeOrder {
 public:
  using Cut = KeyHistogram::Cut;

  // `block` is how many edges a first block should hold; 0 means a good number for these keys.
  EdgeOrder(Keys keys, const Relations& relations, std::size_t block)
      : keys_(std::move(keys)), relations_(relations), block_(std::min(block, pair_total(relations.d) + 1)) {
    for (std::size_t v = 0; v < relations_.d; ++v)
      if (!varies()[v]) idle_.push_back(v);
  }

  const Relations& relations() const { return relations_; }
  // The size of a first block, no smaller than `least`.
  std::size_t portion(std::size_t least) const {
    return block_ ? block_ : std::max(least, visit_keys(keys_, [](const auto& keys) { return keys.portion(); }));
  }
  // The size that was asked for, or else this one.
  std::size_t block_or(std::size_t size) const { return block_ ? block_ : size; }
  Cut next(const Cut& last, std::size_t wanted) const {
    const KeyHistogram::Size size{wanted, block_ ? 2 * block_ : kManyTies, relations_.d};
    return visit_keys(keys_, [&](const auto& keys) { return keys.histogram().next(last, size); });
  }

  // Whether any edge of each feature has a key other than 0, and how many features have one.
  const std::vector<std::uint8_t>& varies() const {
    return visit_keys(keys_, [](const auto& keys) -> const std::vector<std::uint8_t>& { return keys.varies(); });
  }
  std::size_t varying() const { return relations_.d - idle_.size(); }

  // The edges of features that do not vary, in order, from row `first` on: some thousands, or the rest. The row after
  // them goes to `next`. (There is nothing to sort: all keys are 0.)
  std::vector<Edge> idle_edges(std::size_t first, std::size_t* next) const {
    std::vector<Edge> edges;
    std::vector<std::uint8_t> relation(relations_.d, none);
    const std::size_t enough = block_ ? block_ : kIdleEdges;
    std::size_t i = first;
    for (; i < relations_.d && edges.size() < enough && !idle_.empty(); ++i) {
      mark(i, relation, above, below);
      const auto add = [&](std::size_t j) { edges.push_back(directed(i, j, relation[j])); };
      if (varies()[i])
        for (auto j = std::upper_bound(idle_.begin(), idle_.end(), i); j != idle_.end(); ++j) add(*j);
      else
        for (std::size_t j = i + 1; j < relations_.d; ++j) add(j);
      mark(i, relation, none, none);
    }
    *next = idle_.empty() ? relations_.d : i;
    return edges;
  }

  // The edges of a cut, in order, except those that `dead(i, j)` rules out.
  template <typename Dead>
  std::vector<Edge> sorted(const Cut& cut, Dead&& dead) const {
    if (cut.edges == 0) return {};
    std::vector<Entry> entries, space;  // the same memory for every step: new pages cost as much as the work
    visit_keys(keys_, [&](const auto& keys) { list_entries(keys, cut, dead, entries, space); });
    sort_by_key(entries, space);
    space = {};
    std::vector<Edge> edges(entries.size());
    std::transform(entries.begin(), entries.end(), edges.begin(), [](const Entry& e) { return e.edge; });
    return edges;
  }

 private:
  struct Entry {
    std::int64_t key;
    Edge edge;
  };
  // The entries of one feature as the smaller one begin at `start`.
  struct Run {
    std::size_t feature, start;
  };

  enum : std::uint8_t { none, above, below };
  static constexpr std::size_t kIdleEdges = std::size_t{1} << 16, kManyTies = std::size_t{1} << 22;

  static Edge directed(std::size_t i, std::size_t j, std::uint8_t relation) {
    const auto a = static_cast<std::uint32_t>(i), b = static_cast<std::uint32_t>(j);
    if (relation == none) return {a, b};
    return relation == above ? Edge{b | Edge::kRelated, a} : Edge{a | Edge::kRelated, b};
  }

  // In order of (i, j).
  template <typename AnyKeys, typename Dead>
  void list_entries(const AnyKeys& keys, const Cut& cut, Dead&& dead, std::vector<Entry>& entries,
                    std::vector<Entry>& space) const {
    std::vector<std::uint8_t> relation(relations_.d, none);
    if (cut.whole()) entries.reserve(cut.edges);
    std::vector<Run> runs;
    keys.within(cut, [&](std::size_t i, std::size_t j, std::int64_t key) {
      if (dead(i, j)) return;
      if (runs.empty() || runs.back().feature != i) {
        if (!runs.empty()) mark(runs.back().feature, relation, none, none);
        mark(i, relation, above, below);
        runs.push_back({i, entries.size()});
      }
      entries.push_back({key, directed(i, j, relation[j])});
    });
    if (AnyKeys::kRowsAscend) return;
    put_in_order(entries, runs, space);
    entries.swap(space);
  }

  static void put_in_order(const std::vector<Entry>& entries, const std::vector<Run>& runs, std::vector<Entry>& out) {
    std::vector<std::size_t> order(runs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return runs[a].feature < runs[b].feature; });
    out.reserve(entries.size());
    for (const std::size_t k : order) {
      const std::size_t end = k + 1 < runs.size() ? runs[k + 1].start : entries.size();
      out.insert(out.end(), entries.begin() + static_cast<std::ptrdiff_t>(runs[k].start),
                 entries.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

  void mark(std::size_t i, std::vector<std::uint8_t>& relation, std::uint8_t above, std::uint8_t below) const {
    const Adjacency &up = relations_.ancestors, &down = relations_.descendants;
    for (const std::int32_t* u = up.begin(i); u != up.end(i); ++u) relation[index(*u)] = above;
    for (const std::int32_t* u = down.begin(i); u != down.end(i); ++u) relation[index(*u)] = below;
  }

  // Descending, and stable, so that ties stay in order of (i, j): a radix sort by the distance from the largest key.
  static void sort_by_key(std::vector<Entry>& entries, std::vector<Entry>& space) {
    if (entries.size() < 2) return;
    const auto by_key = [](const Entry& a, const Entry& b) { return a.key < b.key; };
    const auto ends = std::minmax_element(entries.begin(), entries.end(), by_key);
    const std::int64_t high = ends.second->key;
    const auto below_high = [&](const Entry& e) {  // unsigned: the distance of any two keys
      return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(e.key);
    };
    const std::uint64_t range = below_high(*ends.first);
    constexpr int kDigit = 8;  // more buckets would be more pages than the processor keeps track of
    if (range) space.resize(entries.size());
    Checkpoint checkpoint;
    for (int shift = 0; shift < 64 && (range >> shift); shift += kDigit) {
      checkpoint.pass(entries.size());
      std::size_t starts[(1 << kDigit) + 1] = {};
      const auto digit = [&](const Entry& e) { return (below_high(e) >> shift) & ((1u << kDigit) - 1); };
      for (const Entry& e : entries) ++starts[digit(e) + 1];
      for (int k = 0; k < (1 << kDigit); ++k) starts[k + 1] += starts[k];
      for (const Entry& e : entries) space[starts[digit(e)]++] = e;
      entries.swap(space);
    }
  }

  Keys keys_;
  Relations relations_;
  std::size_t block_;
  std::vector<std::size_t> idle_;  // the features that do not vary, ascending
};

}  // namespace hietan
