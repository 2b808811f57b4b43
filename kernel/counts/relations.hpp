// Which features are related: the transitive closure of the feature DAG as two CSR structures.
#pragma once

#include <initializer_list>

#include "counts/index.hpp"

namespace hietan {

struct Adjacency {
  const std::int32_t* indptr;
  const std::int32_t* indices;
  const std::int32_t* begin(std::size_t v) const { return indices + indptr[v]; }
  const std::int32_t* end(std::size_t v) const { return indices + indptr[v + 1]; }
};

struct Relations {
  std::size_t d;
  Adjacency ancestors, descendants;

  // Calls f(u) for every feature related to v.
  template <typename F>
  void for_each_related(std::size_t v, F&& f) const {
    for (const Adjacency* side : {&ancestors, &descendants})
      for (const std::int32_t* u = side->begin(v); u != side->end(v); ++u) f(index(*u));
  }
};

}  // namespace hietan
