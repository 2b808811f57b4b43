// How work is divided among threads. Who starts them is not the kernel's business: it does one part at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace hietan {

// Where `parts` ranges begin whose costs add up to about the same, and the end of the last one.
inline std::vector<std::size_t> equal_ranges(const std::vector<std::size_t>& cost, std::size_t parts) {
  const std::size_t total = std::accumulate(cost.begin(), cost.end(), std::size_t{0});
  std::vector<std::size_t> bounds{0};
  std::size_t sum = 0;
  for (std::size_t k = 0; k < cost.size(); ++k) {
    while (bounds.size() < parts && sum >= total / parts * bounds.size() && k > 0) bounds.push_back(k);
    sum += cost[k];
  }
  bounds.resize(parts, cost.size());
  bounds.push_back(cost.size());
  return bounds;
}

// Parts of a piece of work, each of which is done once, by any thread and in any order.
class Parts {
 public:
  explicit Parts(std::size_t n) : n_(n), taken_(new std::atomic<bool>[n]), left_(n) {
    for (std::size_t k = 0; k < n; ++k) taken_[k] = false;
  }

  std::size_t size() const { return n_; }
  // Must be called before a part is done.
  void take(std::size_t k) {
    if (k >= n_) throw std::invalid_argument("there are " + std::to_string(n_) + " parts, got " + std::to_string(k));
    if (taken_[k].exchange(true)) throw std::invalid_argument("part " + std::to_string(k) + " was done before");
  }
  // Must be called after a part was done; what was written before can then be read by whoever finds all done.
  void finish() { --left_; }
  bool all_done() const { return left_ == 0; }

 private:
  std::size_t n_;
  std::unique_ptr<std::atomic<bool>[]> taken_;
  std::atomic<std::size_t> left_;
};

}  // namespace hietan
