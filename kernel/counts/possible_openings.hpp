// Whether counts of open features can be those of some rows over a hierarchy.
#pragma once

#include <cstdint>
#include <vector>

#include "counts/index.hpp"
#include "counts/relations.hpp"
#include "counts/words.hpp"
#include "interruption.hpp"

namespace hietan {

// Of the rows of class c, class_count[c] in all, feature v is open in open[c][v], and 1 as well in ones[c][v].
struct OpenTotals {
  std::size_t classes, d;
  const std::int64_t* class_count;
  const std::int32_t* ones;
  const std::int32_t* open;
};

enum class Impossible : std::uint8_t { nothing, number, same_parents, parent };

// The edges of a hierarchy one after the other, and which features have the same parents. Most lists are short, and a
// processor does not foresee where each ends: so the loops run over the entries of all, without branches.
struct ParentSets {
  std::vector<std::int32_t> parent;     // of each edge
  std::vector<std::int32_t> n_parents;  // of each feature
  std::vector<std::int32_t> alike;      // the first feature with the same parents

  // A feature begins in the set of its first parent. Each later parent in turn takes its children out of the sets where
  // they are, and those of a set stay together: in the end, sets differ wherever parents do. The time depends on the
  // number of edges alone.
  ParentSets(const Adjacency& children, std::size_t d)
      : parent(index(children.indptr[d]) + 1, 0), n_parents(d, 0), alike(d) {
    for (std::size_t p = 1; p < d; ++p) ++parent[index(children.indptr[p])];
    parent.pop_back();
    for (std::size_t k = 1; k < parent.size(); ++k) parent[k] += parent[k - 1];
    struct Move {
      std::int32_t by, to;
    };
    std::vector<Move> moves(d + parent.size() + 1, Move{-1, 0});
    std::vector<std::int32_t> set(d, 0), first(moves.size());
    std::int32_t last = feature_id(d);
    for (std::size_t k = 0; k < parent.size(); ++k) {
      const std::int32_t p = parent[k];
      const std::size_t v = index(children.indices[k]);
      Move& move = moves[index(set[v])];
      const bool is_new = (set[v] != 0) & (move.by != p);
      last += static_cast<std::int32_t>(is_new);
      move = {p, is_new ? last : move.to};
      set[v] = set[v] == 0 ? p + 1 : move.to;
      ++n_parents[v];
    }
    for (std::size_t v = d; v-- > 0;) first[index(set[v])] = feature_id(v);
    for (std::size_t v = 0; v < d; ++v) alike[v] = first[index(set[v])];
  }
};

namespace detail {

HIETAN_VECTOR_CLONES
inline bool possible_numbers(const std::int32_t* ones, const std::int32_t* open, std::int32_t n, std::size_t d) {
  std::int32_t possible = 1;
  for (std::size_t v = 0; v < d; ++v) possible &= (ones[v] >= 0) & (ones[v] <= open[v]) & (open[v] <= n);
  return possible != 0;
}

}  // namespace detail

// The first of these that does not hold in some class: 0 <= ones <= open <= rows; features with the same parents are
// open in the same rows, and those without in all; where a parent is open and 0, its children are not open, and where
// it is the only one and 1, they are. There are at most INT32_MAX rows and edges, and no parent has a child twice.
inline Impossible find_impossible_opening(const Adjacency& children, const OpenTotals& totals) {
  const std::size_t d = totals.d;
  for (std::size_t c = 0; c < totals.classes; ++c) {
    const auto n = static_cast<std::int32_t>(totals.class_count[c]);
    if (!detail::possible_numbers(totals.ones + c * d, totals.open + c * d, n, d)) return Impossible::number;
  }
  const ParentSets sets(children, d);
  bool alike = true, parents = true;
  Checkpoint checkpoint;
  for (std::size_t c = 0; c < totals.classes; ++c) {
    const std::int32_t *ones = totals.ones + c * d, *open = totals.open + c * d;
    const auto n = static_cast<std::int32_t>(totals.class_count[c]);
    checkpoint.pass(d + sets.parent.size());
    for (std::size_t v = 0; v < d; ++v) {
      const std::int32_t expected = open[sets.alike[v]];
      alike &= open[v] == (sets.n_parents[v] == 0 ? n : expected);
    }
    for (std::size_t k = 0; k < sets.parent.size(); ++k) {
      const std::size_t p = index(sets.parent[k]), v = index(children.indices[k]);
      const std::int64_t shut = std::int64_t{open[p]} - ones[p];  // Python may have changed the counts by now
      parents &= (open[v] <= n - shut) & ((sets.n_parents[v] > 1) | (open[v] >= ones[p]));
    }
  }
  if (!alike) return Impossible::same_parents;
  return parents ? Impossible::nothing : Impossible::parent;
}

}  // namespace hietan
