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

// Where the pairs of each of `n` rows begin, of `size` pairs whose rows are in order: those of v at the indptr[v]-th.
inline void begin_rows(const std::int32_t* row, std::size_t size, std::size_t n, std::int64_t* indptr) {
  std::fill(indptr, indptr + n + 1, -1);
  indptr[n] = static_cast<std::int64_t>(size);
  for (std::size_t k = size; k-- > 0;) indptr[row[k]] = static_cast<std::int64_t>(k);
  for (std::size_t v = n; v-- > 0;) indptr[v] = indptr[v] < 0 ? indptr[v + 1] : indptr[v];
}

// The rows of each column, in the order of the pairs (row[k], column[k]).
inline void turn_pairs(const std::int32_t* row, const std::int32_t* column, std::size_t size, std::size_t n,
                       std::int64_t* indptr, std::int32_t* indices) {
  std::fill(indptr, indptr + n + 1, 0);
  for (std::size_t k = 0; k < size; ++k) ++indptr[column[k] + 1];
  for (std::size_t v = 0; v < n; ++v) indptr[v + 1] += indptr[v];
  std::vector<std::int64_t> next(indptr, indptr + n);
  for (std::size_t k = 0; k < size; ++k) indices[next[index(column[k])]++] = row[k];
}

// depth[v] = the length of the longest path from a root to v; -1 for vertices on a cycle and below one.
// A vertex is ready once all its parents are done: its level is then one more than that of its deepest parent.
inline void longest_paths(const VertexLists& children, const std::int64_t* parent_indptr, std::size_t n,
                          std::int64_t* depth) {
  struct Progress {
    std::int64_t waiting, level;
  };
  std::vector<Progress> progress(n);
  std::vector<std::int32_t> ready(n + 1);  // each vertex is written behind the others, and kept if it is ready
  std::size_t n_ready = 0;
  for (std::size_t v = 0; v < n; ++v) {
    depth[v] = -1;
    progress[v] = {parent_indptr[v + 1] - parent_indptr[v], 0};
    ready[n_ready] = feature_id(v);
    n_ready += index(progress[v].waiting == 0);
  }
  Checkpoint checkpoint;
  for (std::size_t done = 0; done < n_ready; ++done) {
    const std::size_t v = index(ready[done]), end = index(children.indptr[v + 1]);
    const std::int64_t level = progress[v].level;
    depth[v] = level;
    checkpoint.pass(end - index(children.indptr[v]) + 1);
    for (std::size_t k = index(children.indptr[v]); k < end; ++k) {
      Progress& child = progress[index(children.indices[k])];
      child.level = std::max(child.level, level + 1);
      ready[n_ready] = children.indices[k];
      n_ready += index(--child.waiting == 0);
    }
  }
}

}  // namespace hietan
