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
    Edges edges;
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

  // Divides the first `limit` edges (0: a good number) into about as many blocks as `wanted`, unless they are in blocks
  // already, and returns how many blocks these are; of ties that are cut into rows, only the first ones are among them.
  // Blocks can be sorted in any order, by any number of threads: `block` does it.
  std::size_t plan(std::size_t limit, std::size_t wanted) {
    const std::scoped_lock guard(mutex_);
    if (limit == 0) limit = order_.portion(kSmallest);
    const std::size_t each = order_.block_or(std::clamp(limit / wanted + 1, kSmallest, std::max(limit, kSmallest)));
    std::size_t k = 0;
    std::uint64_t edges = 0;
    for (; edges < limit && (k < blocks_.size() || add_block(each)); ++k) edges += blocks_[k].cut.edges;
    return k;
  }

  // The k-th block, or null where there are no more edges.
  const Block* block(std::size_t k) {
    return block(k, [this](const EdgeOrder::Cut& cut) {
      return order_.sorted(cut, [](std::size_t, std::size_t) { return false; });
    });
  }

  // The same, but if it is not sorted yet, its edges are those that `sorted(cut)` returns.
  template <typename Sorted>
  const Block* block(std::size_t k, const Sorted& sorted) {
    std::unique_lock guard(mutex_);
    while (k >= blocks_.size())
      if (!add_next_block()) return nullptr;
    Entry& entry = blocks_[k];
    while (!entry.sorted) {
      if (entry.sorter == std::thread::id() || entry.sorter == std::this_thread::get_id())
        sort(entry, guard, sorted);
      else
        wait(guard);
    }
    return &entry.block;
  }

  // The cuts of the planned blocks from `first` on that can be listed together: no more than `most` edges, but at least
  // one block, which is alone if it is a part of a bucket.
  std::vector<EdgeOrder::Cut> cuts(std::size_t first, std::size_t most) const {
    const std::scoped_lock guard(mutex_);
    std::vector<EdgeOrder::Cut> found;
    std::uint64_t edges = 0;
    for (std::size_t k = first; k < blocks_.size(); ++k) {
      const EdgeOrder::Cut& cut = blocks_[k].cut;
      edges += cut.edges;
      if (!found.empty() && (!cut.whole() || !found.front().whole() || edges > most)) break;
      found.push_back(cut);
    }
    return found;
  }

  // The same as `block`, but only for the edges of features that do not vary.
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

  template <typename Sorted>
  void sort(Entry& entry, std::unique_lock<std::mutex>& guard, const Sorted& sorted) {
    Edges edges;
    {
      const Sorting sorting(*this, entry, guard);
      edges = sorted(entry.cut);
    }
    if (entry.sorted) return;
    sorted_ += edges.size();
    entry.block.edges = std::move(edges);
    entry.sorted = true;  // not before: if memory runs out, the next call sorts the same block again
  }

  // Whether there was anything left to make a block of.
  bool add_block(std::size_t wanted) {
    if (cut_.exhausted()) return false;
    const EdgeOrder::Cut cut = order_.next(cut_, wanted);
    blocks_.push_back({cut, {{}, cut.positive()}, false, {}});
    cut_ = cut;
    return true;
  }
  bool add_next_block() {
    if (!add_block(wanted_)) return false;
    wanted_ = std::min(wanted_ + wanted_ / 2, pair_total(relations().d) + 1);
    return true;
  }

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
  mutable std::mutex mutex_;
  std::condition_variable changed_;
};

// Planned blocks of a ranking, from `first` on, that threads sort together: each thread first lists parts of the edges
// of all of them, which takes one pass over the keys, and then sorts some of the blocks.
class ListedBlocks {
 public:
  ListedBlocks(Ranking& ranking, std::size_t first, std::size_t most_edges, std::size_t parts)
      : ranking_(ranking),
        first_(first),
        cuts_(ranking.cuts(first, most_edges)),
        listed_(parts),
        sorted_(cuts_.size()),
        lists_(parts) {}

  std::size_t size() const { return cuts_.size(); }

  // Each part once, in any order and by any thread.
  void list(std::size_t part) {
    listed_.take(part);
    if (!cuts_.empty()) lists_[part] = ranking_.order().lists(cuts_, part, listed_.size());
    listed_.finish();
  }
  bool complete() const { return listed_.all_done(); }

  // The k-th of these blocks: each once, when all parts are listed.
  void sort(std::size_t k) {
    sorted_.take(k);
    std::vector<EdgeList> own;
    own.reserve(lists_.size());
    for (std::vector<EdgeList>& part : lists_) own.push_back(std::move(part[k]));
    ranking_.block(first_ + k, [&](const EdgeOrder::Cut&) { return ranking_.order().sorted(std::move(own)); });
    sorted_.finish();
  }

 private:
  Ranking& ranking_;
  std::size_t first_;
  std::vector<EdgeOrder::Cut> cuts_;
  Parts listed_, sorted_;
  std::vector<std::vector<EdgeList>> lists_;  // [part][block]
};

}  // namespace hietan
