// One tree for all rows: TAN's maximum spanning tree, and Hie-TAN's, directed by the feature DAG.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "trees/edge_order.hpp"
#include "trees/tree.hpp"

namespace hietan {

// Prim's algorithm over all pairs: the order of the ranking is total, so the tree is Kruskal's, without a sort.
inline void spanning_tree(const std::int64_t* keys, std::size_t d, std::int32_t root, std::int32_t* parent) {
  struct Candidate {
    std::int64_t key;
    std::size_t edge;
    std::int32_t vertex, from;
  };
  const auto better = [](std::int64_t key, std::size_t edge, const Candidate& than) {
    return key > than.key || (key == than.key && edge < than.edge);
  };
  std::vector<Candidate> outside;
  outside.reserve(d);
  for (std::size_t v = 0; v < d; ++v)
    if (v != index(root)) outside.push_back({INT64_MIN, SIZE_MAX, feature_id(v), kAbsent});
  parent[root] = kRoot;
  std::size_t last = index(root);
  Checkpoint checkpoint;
  while (!outside.empty()) {
    checkpoint.pass(outside.size());
    std::size_t best = 0;
    for (std::size_t k = 0; k < outside.size(); ++k) {
      Candidate& candidate = outside[k];
      const std::size_t edge = pair_index(last, index(candidate.vertex), d);
      if (better(keys[edge], edge, candidate)) {
        candidate.key = keys[edge];
        candidate.edge = edge;
        candidate.from = feature_id(last);
      }
      if (k && better(candidate.key, candidate.edge, outside[best])) best = k;
    }
    // Edges point away from the root, and the tree grows from it: the end that is inside is the parent.
    parent[outside[best].vertex] = outside[best].from;
    last = index(outside[best].vertex);
    outside[best] = outside.back();
    outside.pop_back();
  }
}

// Hie-TAN's walk down the ranking. The vertices of a component that have no parent form one cluster (a circular list):
// giving one of them a parent gives one to all, and the final root is the cluster's first vertex in the root order.
class HierarchicalSearch {
 public:
  explicit HierarchicalSearch(const EdgeOrder& order)
      : order_(order),
        d_(order.relations().d),
        component_(d_),
        next_(d_),
        cluster_(d_),
        size_(d_, 1),
        has_parent_(d_, 0),
        wanted_(order.portion(std::size_t{1} << 12)) {
    std::iota(component_.begin(), component_.end(), std::size_t{0});
    next_ = cluster_ = component_;
    edges_.reserve(d_);
  }

  void run() {
    // While keys are above 0, only features that vary are joined.
    while (!connected(order_.varying())) {
      const EdgeOrder::Cut cut = order_.next(cut_, wanted_);
      if (!cut.positive()) break;
      read(cut);
    }
    if (connected(order_.varying())) {
      Checkpoint checkpoint;
      for (std::size_t row = 0; !connected(d_) && row < d_;) {
        const Edges edges = order_.idle_edges(row, &row);
        checkpoint.pass(edges.size());
        for (const Edge& edge : edges) consider(edge);
      }
    } else {
      while (!connected(d_) && !cut_.exhausted()) read(order_.next(cut_, wanted_));
    }
  }

  void tree(const std::int64_t* root_order, std::int32_t* parent) const {
    const std::int64_t* root = root_order;
    while (has_parent_[index(*root)]) ++root;
    std::fill(parent, parent + d_, kAbsent);
    Orienter(d_).direct(edges_.data(), edges_.size(), static_cast<std::int32_t>(*root), parent);
  }

 private:
  bool connected(std::size_t features) const { return edges_.size() + 1 >= features; }

  // An edge that cannot be accepted now never will be: such edges are not even sorted.
  bool dead(std::size_t a, std::size_t b) const {
    return (has_parent_[a] && has_parent_[b]) || component_[a] == component_[b];
  }

  void read(const EdgeOrder::Cut& cut) {
    cut_ = cut;
    wanted_ = std::min(2 * wanted_, pair_total(d_) + 1);
    for (const Edge& edge : order_.sorted(cut, [&](std::size_t i, std::size_t j) { return dead(i, j); }))
      consider(edge);
  }

  // Algorithm 2 of Wan & Freitas, lines 5 to 20. The same walk for one tree of each row is LazyBatch in lazy_trees.hpp;
  // reproduction/paper/walk.py makes it by the letter, tests/support/twins/trees.py as well.
  void consider(const Edge& edge) {
    const std::size_t a = edge.first(), b = edge.last();
    if (dead(a, b)) return;
    if (edge.related()) {
      if (has_parent_[b]) return;
      give_parent(b);
    } else if (has_parent_[a]) {
      give_parent(b);
    } else if (has_parent_[b]) {
      give_parent(a);
    } else {
      std::swap(cluster_[a], cluster_[b]);
    }
    join(a, b);
  }

  void give_parent(std::size_t v) {
    for (std::size_t u = v; !has_parent_[u]; u = cluster_[u]) has_parent_[u] = 1;
  }

  void join(std::size_t a, std::size_t b) {
    std::size_t keep = component_[a], lose = component_[b], member = b;
    if (size_[keep] < size_[lose]) {
      std::swap(keep, lose);
      member = a;
    }
    size_[keep] += size_[lose];
    for (std::size_t u = member; component_[u] != keep; u = next_[u]) component_[u] = keep;
    std::swap(next_[a], next_[b]);
    edges_.emplace_back(feature_id(a), feature_id(b));
  }

  const EdgeOrder& order_;
  std::size_t d_;
  std::vector<std::size_t> component_, next_, cluster_, size_;  // next_ and cluster_ are circular lists
  std::vector<std::uint8_t> has_parent_;
  std::vector<Pair> edges_;
  EdgeOrder::Cut cut_;
  std::size_t wanted_;
};

inline void hierarchical_tree(const EdgeOrder& order, const std::int64_t* root_order, std::int32_t* parent) {
  HierarchicalSearch search(order);
  search.run();
  search.tree(root_order, parent);
}

}  // namespace hietan
