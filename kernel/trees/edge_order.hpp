// The edges from the highest key down (ties: the smaller (i, j) first), in blocks that are sorted one at a time.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "counts/relations.hpp"
#include "trees/edge_sort.hpp"
#include "trees/keys.hpp"

namespace hietan {

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
  Edges idle_edges(std::size_t first, std::size_t* next) const {
    Edges edges;
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
  Edges sorted(const Cut& cut, Dead&& dead) const {
    if (cut.edges == 0) return {};
    return sorted(lists({cut}, 0, 1, dead));
  }
  Edges sorted(std::vector<EdgeList> lists) const { return EdgeSort(std::move(lists), relations_.d).sorted(); }

  // One of `parts` parts of the edges of each cut. Several cuts must follow each other, and be whole.
  std::vector<EdgeList> lists(const std::vector<Cut>& cuts, std::size_t part, std::size_t parts) const {
    return lists(cuts, part, parts, [](std::size_t, std::size_t) { return false; });
  }

 private:
  enum : std::uint8_t { none, above, below };
  static constexpr std::size_t kIdleEdges = std::size_t{1} << 16, kManyTies = std::size_t{1} << 22;
  static constexpr std::size_t kFewCuts = 16;

  static Edge directed(std::size_t i, std::size_t j, std::uint8_t relation) {
    const auto a = static_cast<std::uint32_t>(i), b = static_cast<std::uint32_t>(j);
    if (relation == none) return {a, b};
    return relation == above ? Edge{b | Edge::kRelated, a} : Edge{a | Edge::kRelated, b};
  }

  template <typename Dead>
  std::vector<EdgeList> lists(const std::vector<Cut>& cuts, std::size_t part, std::size_t parts, Dead&& dead) const {
    std::vector<EdgeList> lists(cuts.size());
    std::vector<std::int64_t> lows;
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      if (cuts[k].whole()) lists[k].reserve(index(parts == 1 ? cuts[k].edges : cuts[k].edges / parts * 5 / 4));
      if (k + 1 < cuts.size()) lows.push_back(cuts[k].low());
    }
    Cut all = cuts.front();
    all.bottom = cuts.back().bottom;
    std::vector<std::uint8_t> relation(relations_.d, none);
    std::size_t marked = relations_.d;
    const auto add = [&](std::size_t i, std::size_t j, std::int64_t key) {
      if (dead(i, j)) return;
      if (i != marked) {
        if (marked < relations_.d) mark(marked, relation, none, none);
        mark(i, relation, above, below);
        marked = i;
      }
      lists[count_above(lows, key)].add(i, key, directed(i, j, relation[j]));
    };
    visit_keys(keys_, [&](const auto& keys) { keys.within(all, part, parts, add); });
    return lists;
  }

  // How many of some descending numbers are above a key. Few are all compared: nobody could predict where to stop.
  static std::size_t count_above(const std::vector<std::int64_t>& numbers, std::int64_t key) {
    const auto above = [key](std::int64_t number) { return number > key; };
    if (numbers.size() > kFewCuts)
      return index(std::partition_point(numbers.begin(), numbers.end(), above) - numbers.begin());
    std::size_t n = 0;
    for (const std::int64_t number : numbers) n += above(number);
    return n;
  }

  void mark(std::size_t i, std::vector<std::uint8_t>& relation, std::uint8_t above, std::uint8_t below) const {
    const Adjacency &up = relations_.ancestors, &down = relations_.descendants;
    for (const std::int32_t* u = up.begin(i); u != up.end(i); ++u) relation[index(*u)] = above;
    for (const std::int32_t* u = down.begin(i); u != down.end(i); ++u) relation[index(*u)] = below;
  }

  Keys keys_;
  Relations relations_;
  std::size_t block_;
  std::vector<std::size_t> idle_;  // the features that do not vary, ascending
};

}  // namespace hietan
