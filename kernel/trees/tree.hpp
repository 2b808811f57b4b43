// A tree over the features as an array: the parent of each, kRoot for the root, kAbsent for features not in the tree.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "counts/index.hpp"

namespace hietan {

constexpr std::int32_t kRoot = -1, kAbsent = -2;

// The two ends of an undirected edge.
using Pair = std::pair<std::int32_t, std::int32_t>;

// Points the edges of a tree away from its root. Vertices that no edge reaches stay as they are in `parent`.
class Orienter {
 public:
  explicit Orienter(std::size_t d) : start_(d + 1), neighbour_(2 * d), queue_(d) {}

  void direct(const Pair* edges, std::size_t n, std::int32_t root, std::int32_t* parent) {
    list_neighbours(edges, n);
    std::size_t head = 0, tail = 0;
    parent[root] = kRoot;
    queue_[tail++] = root;
    while (head < tail) {
      const std::int32_t v = queue_[head++];
      for (std::size_t k = start_[index(v)]; k < start_[index(v) + 1]; ++k)
        if (neighbour_[k] != parent[v]) {
          parent[neighbour_[k]] = v;
          queue_[tail++] = neighbour_[k];
        }
    }
  }

 private:
  // The neighbours of v: neighbour_[start_[v]] .. neighbour_[start_[v + 1]].
  void list_neighbours(const Pair* edges, std::size_t n) {
    std::fill(start_.begin(), start_.end(), 0U);
    for (std::size_t e = 0; e < n; ++e) {
      ++start_[index(edges[e].first)];
      ++start_[index(edges[e].second)];
    }
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    // Each entry now is the end of its vertex's list; filling from the back leaves it at the list's start.
    for (std::size_t e = 0; e < n; ++e) {
      neighbour_[--start_[index(edges[e].first)]] = edges[e].second;
      neighbour_[--start_[index(edges[e].second)]] = edges[e].first;
    }
  }

  std::vector<std::uint32_t> start_;
  std::vector<std::int32_t> neighbour_, queue_;
};

}  // namespace hietan
