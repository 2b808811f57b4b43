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

// Safe to read from several threads: the one that first reaches a block that is not sorted sorts it.
class Ranking {
 public:
  struct Block {
    std::vector<Edge> edges;
    bool positive;  // all its keys are above 0
  };

  Ranking(Keys keys, const Relations& relations, std::size_t block)
      : order_(std::move(keys), relations, block), wanted_(order_.portion(kSmallest)) {}

  const Relations& relations() const { return order_.relations(); }
  const EdgeOrder& order() const { return order_; }
  std::size_t sorted_edges() const {
    const std::scoped_lock guard(mutex_);
    return sorted_;
  }
  // The time that threads have spent on finding and sorting blocks so far, each by itself; waiting does not count.
  double seconds() const {
    const std::scoped_lock guard(mutex_);
    return seconds_;
  }

  // Divides the first `limit` edges (0: a good number) into about as many blocks as `wanted`, unless they are in blocks
  // already, and returns how many blocks these are; of ties that are cut into rows, only the first ones are among them.
  // Blocks can be sorted in any order, by any number of threads: `block` does it.
  std::size_t plan(std::size_t limit, std::size_t wanted) {
    const std::scoped_lock guard(mutex_);
    if (limit == 0) limit = order_.portion(kSmallest);
    const std::size_t each = order_.block_or(std::clamp(limit / wanted + 1, kSmallest, std::max(limit, kSmallest)));
    std::size_t k = 0, edges = 0;
    for (; edges < limit && (k < blocks_.size() || add_block(each)); ++k) edges += blocks_[k].cut.edges;
    return k;
  }

  // The k-th block, or null where there are no more edges.
  const Block* block(std::size_t k) {
    std::unique_lock guard(mutex_);
    while (k >= blocks_.size())
      if (!add_next_block()) return nullptr;
    Entry& entry = blocks_[k];
    while (!entry.sorted) {
      if (entry.sorter == std::thread::id() || entry.sorter == std::this_thread::get_id())
        sort(entry, guard);
      else
        wait(guard);
    }
    return &entry.block;
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
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kSmallest = std::size_t{1} << 14;  // edges of a block: fewer are not worth a pass

  struct Entry {
    EdgeOrder::Cut cut;
    Block block;
    bool sorted = false;
    std::thread::id sorter;  // the thread that is sorting it, if any
  };

  // Whoever sorts lets others sort and read other blocks meanwhile, and may itself come back here: the listener may run
  // the handler of a signal, which may use this very ranking. It then finds the block sorted when it returns.
  class Sorting {
   public:
    Sorting(Ranking& ranking, Entry& entry, std::unique_lock<std::mutex>& guard)
        : ranking_(ranking), entry_(entry), guard_(guard), outer_(entry.sorter) {
      entry_.sorter = std::this_thread::get_id();
      guard_.unlock();
    }
    Sorting(const Sorting&) = delete;
    Sorting& operator=(const Sorting&) = delete;
    ~Sorting() {
      guard_.lock();
      entry_.sorter = outer_;
      ranking_.changed_.notify_all();
    }

   private:
    Ranking& ranking_;
    Entry& entry_;
    std::unique_lock<std::mutex>& guard_;
    std::thread::id outer_;
  };

  void sort(Entry& entry, std::unique_lock<std::mutex>& guard) {
    std::vector<Edge> edges;
    const auto start = Clock::now();
    {
      const Sorting sorting(*this, entry, guard);
      edges = order_.sorted(entry.cut, [](std::size_t, std::size_t) { return false; });
    }
    if (entry.sorted) return;
    count_since(start);
    sorted_ += edges.size();
    entry.block.edges = std::move(edges);
    entry.sorted = true;  // not before: if memory runs out, the next call sorts the same block again
  }

  // Whether there was anything left to make a block of.
  bool add_block(std::size_t wanted) {
    if (cut_.exhausted()) return false;
    const auto start = Clock::now();
    const EdgeOrder::Cut cut = order_.next(cut_, wanted);
    count_since(start);
    blocks_.push_back({cut, {{}, cut.positive()}, false, {}});
    cut_ = cut;
    return true;
  }
  bool add_next_block() {
    if (!add_block(wanted_)) return false;
    wanted_ = std::min(wanted_ + wanted_ / 2, pair_total(relations().d) + 1);
    return true;
  }

  void count_since(Clock::time_point start) { seconds_ += std::chrono::duration<double>(Clock::now() - start).count(); }

  // Until another thread has sorted a block or has failed to, or a moment has passed.
  void wait(std::unique_lock<std::mutex>& guard) {
    if (changed_.wait_for(guard, std::chrono::milliseconds(100)) == std::cv_status::no_timeout) return;
    guard.unlock();
    Listener::ask();
    guard.lock();
  }

  EdgeOrder order_;
  EdgeOrder::Cut cut_;  // the last one that is a block
  std::size_t wanted_;
  std::deque<Entry> blocks_;  // deques: blocks stay where they are while others are added
  std::deque<Block> idle_;
  std::size_t sorted_ = 0, idle_row_ = 0;
  double seconds_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace hietan
