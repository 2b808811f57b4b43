// The order of all edges, shared by any number of readers and sorted only as far as any of them has read.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
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
    std::unique_lock guard(mutex_);
    while (k >= blocks_.size()) {
      if (cut_.exhausted()) return nullptr;
      if (sorter_ == std::thread::id() || sorter_ == std::this_thread::get_id())
        sort_next(guard);
      else
        wait(guard);
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
  // Whoever sorts lets others read what is sorted meanwhile, and may itself come back here: the listener may run the
  // handler of a signal, which may use this very ranking. It then finds the block sorted when it returns.
  class Sorting {
   public:
    Sorting(Ranking& ranking, std::unique_lock<std::mutex>& guard)
        : ranking_(ranking), guard_(guard), outer_(ranking.sorter_) {
      ranking_.sorter_ = std::this_thread::get_id();
      guard_.unlock();
    }
    Sorting(const Sorting&) = delete;
    Sorting& operator=(const Sorting&) = delete;
    ~Sorting() {
      guard_.lock();
      ranking_.sorter_ = outer_;
      ranking_.changed_.notify_all();
    }

   private:
    Ranking& ranking_;
    std::unique_lock<std::mutex>& guard_;
    std::thread::id outer_;
  };

  void sort_next(std::unique_lock<std::mutex>& guard) {
    const std::size_t k = blocks_.size();
    const EdgeOrder::Cut cut = order_.next(cut_, wanted_);
    Block block{{}, cut.positive()};
    {
      const Sorting sorting(*this, guard);
      block.edges = order_.sorted(cut, [](std::size_t, std::size_t) { return false; });
    }
    if (k < blocks_.size()) return;
    const std::size_t edges = block.edges.size();
    blocks_.push_back(std::move(block));
    cut_ = cut;  // not before: if memory runs out, the next call sorts the same block again
    sorted_ += edges;
    wanted_ = std::min(wanted_ + wanted_ / 2, pair_total(relations().d) + 1);
  }

  // Until another thread has sorted a block or has failed to, or a moment has passed.
  void wait(std::unique_lock<std::mutex>& guard) {
    if (changed_.wait_for(guard, std::chrono::milliseconds(100)) == std::cv_status::no_timeout) return;
    guard.unlock();
    Listener::ask();
    guard.lock();
  }

  EdgeOrder order_;
  EdgeOrder::Cut cut_;
  std::size_t wanted_;
  std::deque<Block> blocks_, idle_;  // deques: blocks stay where they are while others are added
  std::size_t sorted_ = 0, idle_row_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id sorter_;  // the thread that is sorting a block, if any
};

}  // namespace hietan
