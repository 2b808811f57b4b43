// The order of all edges, shared by any number of readers and sorted only as far as any of them has read.
#pragma once

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "trees/edge_order.hpp"

namespace hietan {

// Safe to read from several threads: the one that first reaches the end of what is sorted sorts the next block.
class Ranking {
 public:
  struct Block {
    std::vector<Edge> edges;
    bool positive;  // all its keys are above 0
  };

  Ranking(Keys keys, const Relations& relations, std::size_t block)
      : order_(std::move(keys), relations, block), wanted_(order_.portion(std::size_t{1} << 14)) {}

  const Relations& relations() const { return order_.relations(); }
  const EdgeOrder& order() const { return order_; }
  std::size_t sorted_edges() const {
    const std::scoped_lock guard(mutex_);
    return sorted_;
  }

  // The k-th block, or null where there are no more edges.
  const Block* block(std::size_t k) {
    const std::scoped_lock guard(mutex_);
    while (k >= blocks_.size()) {
      if (cut_.exhausted()) return nullptr;
      const EdgeOrder::Cut cut = order_.next(cut_, wanted_);
      blocks_.push_back({order_.sorted(cut, [](std::size_t, std::size_t) { return false; }), cut.positive()});
      cut_ = cut;  // not before: if memory runs out, the next call sorts the same block again
      sorted_ += blocks_.back().edges.size();
      wanted_ = std::min(wanted_ + wanted_ / 2, pair_total(relations().d) + 1);
    }
    return &blocks_[k];
  }

  // The same, but only for the edges of features that do not vary.
  const Block* idle_block(std::size_t k) {
    const std::scoped_lock guard(mutex_);
    while (k >= idle_.size()) {
      if (idle_row_ >= relations().d) return nullptr;
      std::size_t next = 0;
      idle_.push_back({order_.idle_edges(idle_row_, &next), false});
      idle_row_ = next;
    }
    return &idle_[k];
  }

 private:
  EdgeOrder order_;
  EdgeOrder::Cut cut_;
  std::size_t wanted_;
  std::deque<Block> blocks_, idle_;  // deques: blocks stay where they are while others are added
  std::size_t sorted_ = 0, idle_row_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace hietan
