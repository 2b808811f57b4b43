// A tree per row, 64 rows at a time: Hie-TAN-Lite (Directed) and HRE-TAN; TAN over the features that a row keeps.
//
// A feature has one word each for its value, whether it is still available and whether it has a parent, a bit per
// row ("lane"). One pass over the ranked edges serves all lanes: three operations on words settle nearly every edge
// for all of them, and only the remaining lanes reach the components, which are labels laid out so that 64 of them are
// compared at once. (Masks of 128, 256 and 512 lanes were not faster, from 1,300 to 40,000 features: a pass then serves
// more rows, but what it touches no longer fits the caches.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "counts/words.hpp"
#include "trees/sorted_edges.hpp"
#include "trees/tree.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

namespace hietan {

template <typename Label, bool Directed>
class LazyBatch {
 public:
  LazyBatch(Ranking& ranking, const std::int64_t* root_order, std::int32_t lone_feature)
      : ranking_(ranking),
        relations_(ranking.relations()),
        varies_(ranking.order().varies()),
        root_order_(root_order),
        fallback_feature_(lone_feature),
        d_(relations_.d),
        open_(d_),
        placed_(d_),
        component_(d_ * kLanes),
        next_(d_ * kLanes),
        size_(d_ * kLanes),
        cluster_(Directed ? d_ * kLanes : 0),
        edges_(kLanes * d_),
        orienter_(d_) {}

  // Learns the trees of up to 64 rows; `value` is a word per feature, and so is `kept`, which says which features are
  // available at first. Null: all of them.
  void learn(const Word* value, const Word* kept, std::size_t rows) {
    checkpoint_.pass(d_ * kLanes);
    reset(value);
    if (kept) restrict(kept);
    // First the features that vary: while keys are above 0, edges join no others.
    select_active(rows, varying_edges_left_);
    std::size_t k = 0;
    for (; active_; ++k) {
      const Ranking::Block* block = ranking_.block(k);
      if (!block || !block->positive) break;
      checkpoint_.pass(block->edges.size());
      read(*block);
    }
    // Then all: once every row has joined those that vary, the edges of the others suffice.
    const bool idle_only = !active_;
    select_active(rows, edges_left_);
    for (k = idle_only ? 0 : k; active_; ++k) {
      const Ranking::Block* block = idle_only ? ranking_.idle_block(k) : ranking_.block(k);
      if (!block) break;
      checkpoint_.pass(block->edges.size());
      read(*block);
    }
    find_roots(lane_mask(rows));
  }

  // The tree of one lane: kRoot, kAbsent or the parent's index, for every feature.
  void tree(std::size_t lane, std::int32_t* parent) {
    std::fill(parent, parent + d_, kAbsent);
    const std::int32_t alone = fallback_feature_ == kAbsent ? root_[lane] : fallback_feature_;
    const Pair* edges = edges_.data() + lane * d_;
    // There are edges but no root only if another thread changes the values during the call.
    if (edge_count_[lane] > 0)
      orienter_.direct(edges, edge_count_[lane], root_[lane] == kAbsent ? edges->first : root_[lane], parent);
    else if (alone != kAbsent)
      parent[alone] = kRoot;
  }

 private:
  void reset(const Word* value) {
    value_ = value;
    std::fill(open_.begin(), open_.end(), Open{~Word{0}, 0});
    std::fill(placed_.begin(), placed_.end(), Word{0});
    for (std::size_t v = 0; v < d_; ++v)
      std::fill_n(component_.begin() + static_cast<std::ptrdiff_t>(v * kLanes), kLanes, static_cast<Label>(v));
    next_ = component_;
    if (Directed) cluster_ = component_;
    std::fill(size_.begin(), size_.end(), Label{1});
    std::fill(edge_count_, edge_count_ + kLanes, std::size_t{0});
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      varying_edges_left_[lane] = static_cast<std::int64_t>(ranking_.order().varying()) - 1;
      edges_left_[lane] = static_cast<std::int64_t>(d_) - 1;
    }
  }

  void restrict(const Word* kept) {
    std::fill(varying_edges_left_, varying_edges_left_ + kLanes, std::int64_t{-1});
    std::fill(edges_left_, edges_left_ + kLanes, std::int64_t{-1});
    for (std::size_t v = 0; v < d_; ++v) {
      open_[v].available = kept[v];
      const std::int64_t varies = varies_[v];
      for_each_bit(kept[v], [&](std::size_t lane) {
        varying_edges_left_[lane] += varies;
        ++edges_left_[lane];
      });
    }
  }

  // Continues with the rows that still need edges: `needed` is varying_edges_left_ or edges_left_.
  void select_active(std::size_t rows, const std::int64_t* needed) {
    active_ = 0;
    for (std::size_t lane = 0; lane < rows; ++lane) active_ |= static_cast<Word>(needed[lane] > 0) << lane;
    needed_ = needed;
  }

  void read(const Ranking::Block& block) {
    for (const Edge& edge : block.edges)
      if (consider(edge) && !active_) break;
  }

  // Algorithm 4 of Wan & Freitas (with Algorithm 5 in `remove_redundant`), in all rows that may still take the edge;
  // Algorithm 2 without relations. Returns whether the edge entered any tree. The same walk for one tree of all rows is
  // HierarchicalSearch in eager_trees.hpp; reproduction/paper/walk.py makes it by the letter,
  // tests/support/twins/trees.py as well.
  bool consider(const Edge& edge) {
    const std::size_t a = edge.first(), b = edge.last();
    Word lanes = active_ & open_[a].available & open_[b].available;
    if (Directed) lanes &= ~(open_[a].has_parent & open_[b].has_parent);
    if (!lanes) return false;
    if (edge.related()) {
      lanes &= value_[a] ^ value_[b];  // the same value: redundant to each other
      if (Directed) lanes &= ~open_[b].has_parent;
      if (!lanes) return false;
    }
    lanes &= ~same_component(a, b, lanes);
    if (!lanes) return false;
    if (Directed) give_parents(a, b, edge.related(), lanes);
    for_each_bit(lanes, [&](std::size_t lane) { join(a, b, lane); });
    remove_redundant(a, lanes);
    remove_redundant(b, lanes);
    for_each_bit(lanes, [&](std::size_t lane) {
      if (needed_[lane] <= 0) active_ &= ~(Word{1} << lane);
    });
    return true;
  }

  Word same_component(std::size_t a, std::size_t b, Word lanes) const {
    const Label* x = component_.data() + a * kLanes;
    const Label* y = component_.data() + b * kLanes;
#if defined(__SSE2__) || defined(_M_X64)
    if (sizeof(Label) == 2 && population(lanes) > 4) {
      Word same = 0;
      for (std::size_t k = 0; k < kLanes; k += 16) {
        const auto at = [k](const Label* from, std::size_t more) {
          return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k + more));
        };
        const __m128i low = _mm_cmpeq_epi16(at(x, 0), at(y, 0)), high = _mm_cmpeq_epi16(at(x, 8), at(y, 8));
        same |= static_cast<Word>(static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)))) << k;
      }
      return same;
    }
#endif
    Word same = 0;
    for_each_bit(lanes, [&](std::size_t lane) { same |= static_cast<Word>(x[lane] == y[lane]) << lane; });
    return same;
  }

  // The descendant of a related edge, else the end whose partner has a parent, gets one, and so does its cluster.
  void give_parents(std::size_t a, std::size_t b, bool related, Word lanes) {
    const Word to_b = related ? lanes : lanes & open_[a].has_parent;
    const Word to_a = related ? 0 : lanes & open_[b].has_parent;
    for_each_bit(to_a, [&](std::size_t lane) { give_parent(a, lane); });
    for_each_bit(to_b, [&](std::size_t lane) { give_parent(b, lane); });
    for_each_bit(lanes & ~(to_a | to_b),
                 [&](std::size_t lane) { std::swap(cluster_[a * kLanes + lane], cluster_[b * kLanes + lane]); });
  }

  void give_parent(std::size_t v, std::size_t lane) {
    const Word bit = Word{1} << lane;
    for (std::size_t u = v; !(open_[u].has_parent & bit); u = cluster_[u * kLanes + lane]) open_[u].has_parent |= bit;
  }

  void join(std::size_t a, std::size_t b, std::size_t lane) {
    const auto at = [lane](std::size_t v) { return v * kLanes + lane; };
    Label keep = component_[at(a)], lose = component_[at(b)];
    std::size_t member = b;
    if (size_[at(keep)] < size_[at(lose)]) {
      std::swap(keep, lose);
      member = a;
    }
    size_[at(keep)] = static_cast<Label>(size_[at(keep)] + size_[at(lose)]);
    for (std::size_t u = member; component_[at(u)] != keep; u = next_[at(u)]) component_[at(u)] = keep;
    std::swap(next_[at(a)], next_[at(b)]);
    edges_[lane * d_ + edge_count_[lane]++] = {feature_id(a), feature_id(b)};
    --varying_edges_left_[lane];
    --edges_left_[lane];
  }

  // A feature that enters a tree removes its relatives of the same value.
  void remove_redundant(std::size_t v, Word lanes) {
    const Word entering = lanes & ~placed_[v];
    if (!entering) return;
    placed_[v] |= entering;
    const Word value = value_[v];
    relations_.for_each_related(v, [&](std::size_t u) {
      const Word removed = open_[u].available & entering & ~(value_[u] ^ value);
      if (!removed) return;
      open_[u].available &= ~removed;
      const std::int64_t varies = varies_[u];
      for_each_bit(removed, [&](std::size_t lane) {
        varying_edges_left_[lane] -= varies;
        --edges_left_[lane];
      });
    });
  }

  // The first in the root order of the features without a parent (Directed) or of all that are kept.
  void find_roots(Word pending) {
    std::fill(root_, root_ + kLanes, kAbsent);
    for (const std::int64_t* v = root_order_; pending && v != root_order_ + d_; ++v) {
      Word found = pending & open_[index(*v)].available;
      if (Directed) found &= ~open_[index(*v)].has_parent;
      for_each_bit(found, [&](std::size_t lane) { root_[lane] = static_cast<std::int32_t>(*v); });
      pending &= ~found;
    }
  }

  // Side by side in memory: these two alone settle nearly every edge.
  struct Open {
    Word available, has_parent;
  };

  Ranking& ranking_;
  const Relations& relations_;
  const std::vector<std::uint8_t>& varies_;  // each feature, in any class
  const std::int64_t* root_order_;
  const std::int32_t
      fallback_feature_;  // the tree of a row without edges; kAbsent: the one feature that it keeps, if any
  const std::size_t d_;
  const Word* value_ = nullptr;
  Word active_ = 0;
  std::vector<Open> open_;
  std::vector<Word> placed_;
  std::vector<Label> component_, next_, size_, cluster_;  // [feature][lane]; next_ and cluster_ are circular lists
  std::vector<Pair> edges_;                               // [lane][edge]
  std::size_t edge_count_[kLanes] = {};
  // How many more edges join all available features that vary (while the others have none), and all available ones.
  std::int64_t varying_edges_left_[kLanes] = {}, edges_left_[kLanes] = {};
  const std::int64_t* needed_ = varying_edges_left_;
  std::int32_t root_[kLanes] = {};
  Orienter orienter_;
  Checkpoint checkpoint_;
};

// Calls visit(row, parent) for each row, in order. Short labels are faster, where there are enough of them.
// select(value) returns the words of the features that up to 64 rows keep; null: all.
template <typename Select, typename Visit>
void for_each_lazy_tree(Ranking& ranking, const Word* words, std::size_t rows, const std::int64_t* root_order,
                        std::int32_t lone_feature, bool directed, bool wide_labels, Select&& select, Visit&& visit) {
  const std::size_t d = ranking.relations().d;
  std::vector<std::int32_t> parent(d);
  const auto run = [&](auto&& batch) {
    for (std::size_t first = 0; first < rows; first += kLanes) {
      const std::size_t here = std::min(kLanes, rows - first);
      const Word* value = words + first / kLanes * d;
      batch.learn(value, select(value), here);
      for (std::size_t lane = 0; lane < here; ++lane) {
        batch.tree(lane, parent.data());
        visit(first + lane, parent.data());
      }
    }
  };
  const bool narrow = d <= UINT16_MAX && !wide_labels;
  if (narrow && directed) run(LazyBatch<std::uint16_t, true>(ranking, root_order, lone_feature));
  if (narrow && !directed) run(LazyBatch<std::uint16_t, false>(ranking, root_order, lone_feature));
  if (!narrow && directed) run(LazyBatch<std::uint32_t, true>(ranking, root_order, lone_feature));
  if (!narrow && !directed) run(LazyBatch<std::uint32_t, false>(ranking, root_order, lone_feature));
}

// The same, without a selection: relations alone remove features.
template <typename Visit>
void for_each_lazy_tree(Ranking& ranking, const Word* words, std::size_t rows, const std::int64_t* root_order,
                        std::int32_t lone_feature, bool directed, bool wide_labels, Visit&& visit) {
  const auto all = [](const Word*) -> const Word* { return nullptr; };
  for_each_lazy_tree(ranking, words, rows, root_order, lone_feature, directed, wide_labels, all, visit);
}

}  // namespace hietan
