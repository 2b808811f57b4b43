// One tree for all rows: TAN's maximum spanning tree, and Hie-TAN's, directed by the feature DAG.
#pragma once

#include <numeric>
#include <vector>

#include "ranking.hpp"

namespace hietan {

constexpr std::int32_t kRoot = -1, kAbsent = -2;

using Pair = std::pair<std::int32_t, std::int32_t>;

// Points the edges of a tree away from its root. Vertices that no edge reaches stay as they are in `parent`.
class Orienter {
 public:
  explicit Orienter(std::size_t d) : start_(d + 1, 0), neighbour_(2 * d), queue_(d) {}

  void direct(const Pair* edges, std::size_t n, std::int32_t root, std::int32_t* parent) {
    std::fill(start_.begin(), start_.end(), 0);
    for (std::size_t e = 0; e < n; ++e) {
      ++start_[static_cast<std::size_t>(edges[e].first) + 1];
      ++start_[static_cast<std::size_t>(edges[e].second) + 1];
    }
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    // Filling from the back moves each end to its start; the end of v is then the start of v + 1.
    for (std::size_t e = 0; e < n; ++e) {
      neighbour_[static_cast<std::size_t>(--start_[static_cast<std::size_t>(edges[e].first) + 1])] = edges[e].second;
      neighbour_[static_cast<std::size_t>(--start_[static_cast<std::size_t>(edges[e].second) + 1])] = edges[e].first;
    }
    std::size_t head = 0, tail = 0;
    parent[root] = kRoot;
    queue_[tail++] = root;
    while (head < tail) {
      const std::int32_t v = queue_[head++];
      const auto from = static_cast<std::size_t>(start_[static_cast<std::size_t>(v) + 1]);
      const auto to = static_cast<std::size_t>(v) + 2 < start_.size()
                          ? static_cast<std::size_t>(start_[static_cast<std::size_t>(v) + 2])
                          : 2 * n;
      for (std::size_t k = from; k < to; ++k)
        if (neighbour_[k] != parent[v]) {
          parent[neighbour_[k]] = v;
          queue_[tail++] = neighbour_[k];
        }
    }
  }

 private:
  std::vector<std::int32_t> start_, neighbour_, queue_;
};

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
    if (static_cast<std::int32_t>(v) != root)
      outside.push_back({INT64_MIN, SIZE_MAX, static_cast<std::int32_t>(v), kAbsent});
  parent[root] = kRoot;
  auto last = static_cast<std::size_t>(root);
  while (!outside.empty()) {
    std::size_t best = 0;
    for (std::size_t k = 0; k < outside.size(); ++k) {
      Candidate& candidate = outside[k];
      const std::size_t edge = pair_index(last, static_cast<std::size_t>(candidate.vertex), d);
      if (better(keys[edge], edge, candidate)) {
        candidate.key = keys[edge];
        candidate.edge = edge;
        candidate.from = static_cast<std::int32_t>(last);
      }
      if (k && better(candidate.key, candidate.edge, outside[best])) best = k;
    }
    // Edges point away from the root, and the tree grows from it: whoever is inside is the parent.
    parent[outside[best].vertex] = outside[best].from;
    last = static_cast<std::size_t>(outside[best].vertex);
    outside[best] = outside.back();
    outside.pop_back();
  }
}

// Hie-TAN. Vertices without a parent form one root cluster per component (a circular list): giving one of them a
// parent gives one to all, and the final root is the cluster's first vertex in `root_order`.
inline void hierarchical_tree(const EdgeOrder& order, const std::int64_t* root_order, std::int32_t* parent) {
  const std::size_t d = order.relations().d;
  std::vector<std::int32_t> component(d), next(d), cluster(d), size(d, 1);
  std::iota(component.begin(), component.end(), 0);
  std::iota(next.begin(), next.end(), 0);
  std::iota(cluster.begin(), cluster.end(), 0);
  std::vector<std::uint8_t> has_parent(d, 0);
  std::vector<Pair> edges;
  edges.reserve(d);

  // An edge that can't be accepted now never can: such edges are not even sorted.
  const auto dead = [&](std::size_t i, std::size_t j) {
    return (has_parent[i] && has_parent[j]) || component[i] == component[j];
  };
  const auto give_parent = [&](std::size_t v) {
    for (std::size_t u = v; !has_parent[u]; u = static_cast<std::size_t>(cluster[u])) has_parent[u] = 1;
  };
  const auto join = [&](std::size_t a, std::size_t b) {
    auto keep = static_cast<std::size_t>(component[a]), lose = static_cast<std::size_t>(component[b]);
    std::size_t member = b;
    if (size[keep] < size[lose]) {
      std::swap(keep, lose);
      member = a;
    }
    size[keep] += size[lose];
    for (std::size_t u = member; component[u] != static_cast<std::int32_t>(keep);
         u = static_cast<std::size_t>(next[u]))
      component[u] = static_cast<std::int32_t>(keep);
    std::swap(next[a], next[b]);
    edges.emplace_back(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
  };

  const auto consider = [&](const Edge& edge) {
    const std::size_t a = edge.first(), b = edge.last();
    if (dead(a, b)) return;
    if (edge.related()) {
      if (has_parent[b]) return;
      give_parent(b);
    } else if (has_parent[a]) {
      give_parent(b);
    } else if (has_parent[b]) {
      give_parent(a);
    } else {
      std::swap(cluster[a], cluster[b]);
    }
    join(a, b);
  };

  std::size_t wanted = order.portion(std::size_t{1} << 12);
  EdgeOrder::Cut cut;
  const auto connected = [&](std::size_t features) { return edges.size() + 1 >= features; };
  const auto read = [&](const EdgeOrder::Cut& next) {
    cut = next;
    wanted = std::min(2 * wanted, pair_total(d) + 1);
    for (const Edge& edge : order.sorted(cut, dead)) consider(edge);
  };
  while (!connected(order.varying())) {
    const EdgeOrder::Cut next = order.next(cut, wanted);
    if (!next.positive()) break;
    read(next);
  }
  if (connected(order.varying())) {
    for (std::size_t row = 0; !connected(d) && row < d;)
      for (const Edge& edge : order.idle_edges(row, &row)) consider(edge);
  } else {
    while (!connected(d) && !cut.exhausted()) read(order.next(cut, wanted));
  }
  const std::int64_t* root = root_order;
  while (has_parent[static_cast<std::size_t>(*root)]) ++root;
  std::fill(parent, parent + d, kAbsent);
  Orienter(d).direct(edges.data(), edges.size(), static_cast<std::int32_t>(*root), parent);
}

}  // namespace hietan
