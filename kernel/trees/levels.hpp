// The levels of a directed graph: how far below the roots each vertex is.
#pragma once

#include <algorithm>
#include <vector>

#include "counts/index.hpp"
#include "interruption.hpp"

namespace hietan {

// Lists of vertices: those of v are indices[indptr[v]] up to, but without, indices[indptr[v + 1]].
struct VertexLists {
  const std::int64_t* indptr;
  const std::int32_t* indices;
};

// The lists turned around: where u is in the list of v, v is in that of u. The new lists are sorted.
inline void turn_lists(const VertexLists& lists, std::size_t n, std::int64_t* indptr, std::int32_t* indices) {
  std::fill(indptr, indptr + n + 1, 0);
  for (std::int64_t k = 0; k < lists.indptr[n]; ++k) ++indptr[lists.indices[k] + 1];
  for (std::size_t v = 0; v < n; ++v) indptr[v + 1] += indptr[v];
  std::vector<std::int64_t> next(indptr, indptr + n);
  for (std::size_t v = 0; v < n; ++v)
    for (std::int64_t k = lists.indptr[v]; k < lists.indptr[v + 1]; ++k)
      indices[next[index(lists.indices[k])]++] = feature_id(v);
}

// depth[v] = the length of the longest path from a root to v; -1 for vertices on a cycle and below one.
// A vertex is ready once all its parents are done: its level is then one more than that of its deepest parent.
inline void longest_paths(const VertexLists& children, const std::int64_t* parent_indptr, std::size_t n,
                          std::int64_t* depth) {
  std::vector<std::int64_t> waiting(n), level(n, 0);
  std::vector<std::int32_t> ready;
  for (std::size_t v = 0; v < n; ++v) {
    depth[v] = -1;
    waiting[v] = parent_indptr[v + 1] - parent_indptr[v];
    if (waiting[v] == 0) ready.push_back(feature_id(v));
  }
  Checkpoint checkpoint;
  while (!ready.empty()) {
    const std::size_t v = index(ready.back());
    ready.pop_back();
    depth[v] = level[v];
    checkpoint.pass(index(children.indptr[v + 1] - children.indptr[v]) + 1);
    for (std::int64_t k = children.indptr[v]; k < children.indptr[v + 1]; ++k) {
      const std::size_t child = index(children.indices[k]);
      level[child] = std::max(level[child], depth[v] + 1);
      if (--waiting[child] == 0) ready.push_back(feature_id(child));
    }
  }
}

}  // namespace hietan
