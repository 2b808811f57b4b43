// The penalty sum_v max over g_v of |w|, g_v = {v} and its descendants, with its proximal operator and its dual norm.
//
// Let z_v bound |w| over g_v. Then min |u - w|^2 / 2 + lambda * penalty(w) is min over z >= 0, no child above a parent,
// of sum_v lambda z_v + (|u_v| - z_v)_+^2 / 2, and w_v = sign(u_v) min(|u_v|, z_v). For any t, {v : z_v > t} is the
// heaviest set closed under parents where v weighs (|u_v| - t)_+ - lambda (Mairal et al. 2010 find the same cuts in
// the dual, a quadratic min-cost flow). Such a set is a minimum cut: excess weight flows freely up the DAG's own edges
// into nodes of negative weight; what cannot reach any is the weight of the set. Divide and conquer: the best
// constant t for a block, then a cut at t; where nothing is left over the block is constant, else it falls into two.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "counts/relations.hpp"
#include "interruption.hpp"

namespace hietan {

class GraphPenalty {
 public:
  GraphPenalty(std::size_t d, const Adjacency& children)
      : d_(d),
        down_(children.indptr, children.indptr + d + 1),
        up_(d + 1, 0),
        child_(children.indices, children.indices + children.indptr[d]),
        parent_(child_.size()),
        edge_(child_.size()) {
    for (const std::int32_t c : child_) ++up_[index(c) + 1];
    std::partial_sum(up_.begin(), up_.end(), up_.begin());
    std::vector<std::int32_t> fill(up_.begin(), up_.end() - 1), waiting(d);
    for (std::size_t v = 0; v < d; ++v)
      for (std::int32_t k = down_[v]; k < down_[v + 1]; ++k) {
        const std::int32_t place = fill[index(child_[index(k)])]++;
        parent_[index(place)] = feature_id(v);
        edge_[index(place)] = k;
      }
    for (std::size_t v = 0; v < d; ++v) {
      waiting[v] = up_[v + 1] - up_[v];
      if (!waiting[v]) order_.push_back(feature_id(v));
    }
    for (std::size_t k = 0; k < order_.size(); ++k)
      for (std::int32_t e = down_[index(order_[k])]; e < down_[index(order_[k]) + 1]; ++e)
        if (!--waiting[index(child_[index(e)])]) order_.push_back(child_[index(e)]);
    if (order_.size() != d) throw std::invalid_argument("the edges form a cycle");
  }

  std::size_t features() const { return d_; }

  // The largest |w| of each group.
  void maxima(const double* w, double* top) const {
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
      double most = std::abs(w[*v]);
      for (std::int32_t e = down_[index(*v)]; e < down_[index(*v) + 1]; ++e)
        most = std::max(most, top[child_[index(e)]]);
      top[*v] = most;
    }
  }

 private:
  friend class GraphProx;

  std::size_t d_;
  std::vector<std::int32_t> down_, up_, child_, parent_, edge_, order_;
};

// The proximal operator and the dual norm. Nodes lie in blocks of one z each, and a flow within the blocks proves them:
// both are kept from call to call. A call with a vector near the last one then checks the blocks, and solves again only
// those that no longer hold. The result is the same up to rounding, whatever the earlier calls were.
class GraphProx {
 public:
  explicit GraphProx(const GraphPenalty& penalty)
      : dag_(penalty),
        n_(dag_.d_),
        blocks_(1, Block{0, n_}),
        size_(n_),
        top_(n_),
        flow_(dag_.child_.size(), 0.0),
        net_(n_, 0.0),
        excess_(n_),
        z_(n_, 0.0),
        nodes_(dag_.order_),
        block_(n_, 0),
        distance_(n_),
        level_size_(n_ + 1),
        queue_(n_) {}

  void prox(const double* u, double lambda, double* w) {
    for (std::size_t v = 0; v < n_; ++v) size_[v] = std::abs(u[v]);
    if (lambda > 0 && n_ > 0) {
      rescale(last_lambda_ > 0 ? lambda / last_lambda_ : 1);
      last_lambda_ = lambda;
      std::vector<std::uint8_t> bad = check_blocks(lambda);
      std::size_t settled = blocks_.size();
      while (violated(settled, bad)) {
        settled = solve_again(settled, bad, lambda);
        bad.assign(blocks_.size(), 0);
      }
    }
    for (std::size_t v = 0; v < n_; ++v)
      w[v] = std::copysign(lambda > 0 ? std::min(size_[v], z_[v]) : size_[v], u[v]) + 0.0;  // no -0
  }

  // The smallest lambda for which the operator returns 0: the densest closed set, by Dinkelbach's method.
  static double dual_norm(const GraphPenalty& penalty, const double* u) {
    const std::size_t n = penalty.features();
    if (!n) return 0;
    GraphProx cuts(penalty);
    for (std::size_t v = 0; v < n; ++v) cuts.size_[v] = std::abs(u[v]);
    double best = cuts.mean(0, n);
    while (const std::size_t heavy = cuts.split(0, n, 0, 0, best)) {
      const double density = cuts.mean(0, heavy);
      if (!(density > best)) break;
      best = density;
    }
    return best;
  }

 private:
  struct Block {
    std::size_t begin, end;
  };

  // The flow grows with lambda. The net flow of each node is summed again, so that rounding cannot build up.
  void rescale(double factor) {
    std::fill(net_.begin(), net_.end(), 0.0);
    for (std::size_t v = 0; v < n_; ++v)
      for (std::int32_t k = dag_.down_[v]; k < dag_.down_[v + 1]; ++k) {
        const double f = flow_[index(k)] *= factor;
        net_[v] += f;
        net_[index(dag_.child_[index(k)])] -= f;
      }
  }

  // Gives each block its best z and says which of them should not be constant. The first call has one block.
  std::vector<std::uint8_t> check_blocks(double lambda) {
    if (blocks_.size() == 1) return {1};
    std::vector<std::uint8_t> bad(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto [begin, end] = blocks_[b];
      const double t = std::max(level(begin, end, lambda), 0.0);
      bad[b] = split(begin, end, feature_id(b), t, lambda) > 0;
      for (std::size_t k = begin; k < end; ++k) z_[index(nodes_[k])] = t;
    }
    return bad;
  }

  // Marks the blocks on both sides of an edge whose child has the larger z. Returns whether a settled block is bad.
  bool violated(std::size_t settled, std::vector<std::uint8_t>& bad) const {
    const double rounding = 1e-13 * *std::max_element(size_.begin(), size_.end());
    for (std::size_t v = 0; v < n_; ++v)
      for (std::int32_t k = dag_.down_[v]; k < dag_.down_[v + 1]; ++k) {
        const std::size_t c = index(dag_.child_[index(k)]);
        if (z_[c] - z_[v] > rounding) bad[index(block_[c])] = bad[index(block_[v])] = 1;
      }
    return std::find(bad.begin(), bad.begin() + static_cast<std::ptrdiff_t>(settled), 1) !=
           bad.begin() + static_cast<std::ptrdiff_t>(settled);
  }

  // Solves the bad blocks and those not settled as one problem and puts its blocks last. Returns how many precede them.
  std::size_t solve_again(std::size_t settled, const std::vector<std::uint8_t>& bad, double lambda) {
    std::vector<std::int32_t> order, unsettled;
    std::vector<Block> kept;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto from = nodes_.begin() + static_cast<std::ptrdiff_t>(blocks_[b].begin);
      const auto to = nodes_.begin() + static_cast<std::ptrdiff_t>(blocks_[b].end);
      const bool again = bad[b] || b >= settled;
      if (!again) kept.push_back({order.size(), order.size() + static_cast<std::size_t>(to - from)});
      std::vector<std::int32_t>& target = again ? unsettled : order;
      target.insert(target.end(), from, to);
    }
    dag_.maxima(size_.data(), top_.data());
    std::sort(unsettled.begin(), unsettled.end(), [&](std::int32_t a, std::int32_t b) {
      return top_[index(a)] != top_[index(b)] ? top_[index(a)] > top_[index(b)] : a < b;
    });
    const std::size_t begin = order.size();
    order.insert(order.end(), unsettled.begin(), unsettled.end());
    nodes_.swap(order);
    blocks_.swap(kept);
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (std::size_t k = blocks_[b].begin; k < blocks_[b].end; ++k)
        block_[index(nodes_[k])] = static_cast<std::int32_t>(b);
    settled = blocks_.size();
    divide(begin, lambda);
    return settled;
  }

  // Divide and conquer over the nodes from `begin` on, sorted by the largest |u| at or below them.
  void divide(std::size_t begin, double lambda) {
    struct Task {
      std::size_t begin, end;
      bool halve;
    };
    auto label = static_cast<std::int32_t>(n_);  // larger than any block's number
    for (std::size_t k = begin; k < n_; ++k) block_[index(nodes_[k])] = label;
    const std::size_t middle = begin + split(begin, n_, label + 1, 0, lambda);
    std::vector<Task> tasks;
    if (middle > begin) tasks.push_back({begin, middle, false});
    for (label += 2; !tasks.empty(); ++label) {
      const Task task = tasks.back();
      tasks.pop_back();
      const std::size_t n = task.end - task.begin;
      // Any t divides, but only the block's own level shows that it need not be divided. Where that cuts off little,
      // the rest is then cut near its middle, so that the depth stays small.
      const double t = task.halve ? std::max(top_[index(nodes_[task.begin + n / 2])] - lambda, 0.0)
                                  : std::max(level(task.begin, task.end, lambda), 0.0);
      const std::size_t upper = n > 1 ? split(task.begin, task.end, label, t, lambda) : 0;
      if (upper && upper < n) {
        const std::size_t cut = task.begin + upper;
        tasks.push_back({cut, task.end, !task.halve && n > 8 && upper < n / 4});
        tasks.push_back({task.begin, cut, !task.halve && n > 8 && n - upper < n / 4});
      } else if (task.halve) {
        tasks.push_back({task.begin, task.end, false});
      } else {
        settle({task.begin, task.end}, t);
      }
    }
    if (middle < n_) settle({middle, n_}, 0);
  }

  void settle(Block range, double t) {
    for (std::size_t k = range.begin; k < range.end; ++k) {
      block_[index(nodes_[k])] = static_cast<std::int32_t>(blocks_.size());
      z_[index(nodes_[k])] = t;
    }
    blocks_.push_back(range);
  }

  double mean(std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += size_[index(nodes_[k])];
    return sum / static_cast<double>(end - begin);
  }

  // The t at which the block weighs nothing, sum (|u_v| - t)_+ = lambda n. Newton's method from the left: t rises and
  // fewer and fewer |u_v| lie above it. Where rounding brings one back, t is as close as it can be.
  double level(std::size_t begin, std::size_t end, double lambda) const {
    const double due = lambda * static_cast<double>(end - begin);
    double t = mean(begin, end) - lambda;
    for (std::size_t counted = end - begin;;) {
      double sum = 0;
      std::size_t above = 0;
      for (std::size_t k = begin; k < end; ++k)
        if (size_[index(nodes_[k])] > t) {
          sum += size_[index(nodes_[k])];
          ++above;
        }
      if (above >= counted || !above) return t;
      counted = above;
      t = (sum - due) / static_cast<double>(above);
    }
  }

  template <typename F>
  void for_each_parent(std::size_t v, F&& f) {
    for (std::int32_t k = dag_.up_[v]; k < dag_.up_[v + 1]; ++k)
      if (block_[index(dag_.parent_[index(k)])] == block_[v])
        if (f(index(dag_.parent_[index(k)]), flow_[index(dag_.edge_[index(k)])])) return;
  }
  template <typename F>
  void for_each_child(std::size_t v, F&& f) {
    for (std::int32_t k = dag_.down_[v]; k < dag_.down_[v + 1]; ++k)
      if (block_[index(dag_.child_[index(k)])] == block_[v])
        if (f(index(dag_.child_[index(k)]), flow_[index(k)])) return;
  }

  // Puts the heaviest closed subset of a block first, under a new label, and returns its size. An excess below 1e-14 of
  // the block's mean |u| + lambda is rounding and does not count.
  std::size_t split(std::size_t begin, std::size_t end, std::int32_t upper, double t, double lambda) {
    double total = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t v = index(nodes_[k]);
      const double weight = std::max(size_[v] - t, 0.0);
      total += size_[v] + lambda;
      excess_[v] = weight - lambda + net_[v];
    }
    const double dust = 1e-14 * total / static_cast<double>(end - begin);
    push_all(begin, end, dust);
    return take_reachable(begin, end, upper, dust);
  }

  // Puts the nodes that an excess can still reach first, under the label `upper`, and returns their number.
  std::size_t take_reachable(std::size_t begin, std::size_t end, std::int32_t upper, double dust) {
    std::size_t head = 0, tail = 0;
    const auto reach = [&](std::size_t v) {
      if (distance_[v] >= 0) {
        distance_[v] = -1;
        queue_[tail++] = feature_id(v);
      }
    };
    for (std::size_t k = begin; k < end; ++k)
      if (excess_[index(nodes_[k])] > dust) reach(index(nodes_[k]));
    while (head < tail) {
      const std::size_t v = index(queue_[head++]);
      for_each_parent(v, [&](std::size_t p, double&) { return reach(p), false; });
      for_each_child(v, [&](std::size_t c, double& f) { return f > 0 ? reach(c) : void(), false; });
    }
    for (std::size_t k = 0; k < tail; ++k) block_[index(queue_[k])] = upper;
    std::size_t first = begin, rest = 0;
    for (std::size_t k = begin; k < end; ++k)
      (distance_[index(nodes_[k])] < 0 ? nodes_[first++] : queue_[rest++]) = nodes_[k];
    std::copy_n(queue_.begin(), rest, nodes_.begin() + static_cast<std::ptrdiff_t>(first));
    return tail;
  }

  // Distances in the residual graph to the nearest node that can still take something; n if there is none.
  void measure_distances(std::size_t begin, std::size_t end) {
    const auto n = static_cast<std::int32_t>(end - begin);
    std::size_t head = 0, tail = 0;
    std::fill_n(level_size_.begin(), end - begin + 1, 0);
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t v = index(nodes_[k]);
      distance_[v] = excess_[v] < 0 ? 0 : n;
      if (excess_[v] < 0) queue_[tail++] = nodes_[k];
    }
    level_size_[0] = static_cast<std::int32_t>(tail);
    const auto reach = [&](std::size_t from, std::size_t v) {
      if (distance_[v] == n) {
        ++level_size_[index(distance_[v] = distance_[from] + 1)];
        queue_[tail++] = feature_id(v);
      }
    };
    while (head < tail) {
      const std::size_t v = index(queue_[head++]);
      for_each_child(v, [&](std::size_t c, double&) { return reach(v, c), false; });
      for_each_parent(v, [&](std::size_t p, double& f) { return f > 0 ? reach(v, p) : void(), false; });
    }
  }

  // Push-relabel, first in first out; distances are measured again after as many relabels as there are nodes. A push
  // moves all of an excess or all of a flow, so what is used up is exactly 0 and the usual bounds hold in floats.
  void push_all(std::size_t begin, std::size_t end, double dust) {
    const std::size_t n = end - begin;
    const auto far = static_cast<std::int32_t>(n);
    for (bool again = true; again;) {
      checkpoint_.pass(n);
      measure_distances(begin, end);
      std::size_t head = 0, waiting = 0, relabels = 0;
      const auto enqueue = [&](std::size_t v) {
        if (distance_[v] == far) return;
        const std::size_t place = head + waiting++;
        queue_[place < n ? place : place - n] = feature_id(v);
      };
      for (std::size_t k = end; k-- > begin;)
        if (excess_[index(nodes_[k])] > dust) enqueue(index(nodes_[k]));
      while (waiting && relabels < n) {
        const std::size_t v = index(queue_[head]);
        if (++head == n) {
          head = 0;
          checkpoint_.pass(n);
        }
        --waiting;
        std::int32_t nearest = far;
        const auto push = [&](std::size_t to, double& f, double room, double sign) {
          if (distance_[to] + 1 != distance_[v]) {
            nearest = std::min(nearest, distance_[to] + 1);
            return false;
          }
          const double amount = std::min(excess_[v], room);
          const bool idle = !(excess_[to] > dust);
          f += sign * amount;
          excess_[v] -= amount;
          excess_[to] += amount;
          net_[v] -= amount;
          net_[to] += amount;
          if (idle && excess_[to] > dust) enqueue(to);
          return !(excess_[v] > dust);
        };
        for_each_parent(v, [&](std::size_t p, double& f) { return push(p, f, INFINITY, 1); });
        if (excess_[v] > dust) for_each_child(v, [&](std::size_t c, double& f) { return f > 0 && push(c, f, f, -1); });
        if (excess_[v] > dust) {
          if (!--level_size_[index(distance_[v])]) relabels = n;
          ++level_size_[index(distance_[v] = nearest)];
          ++relabels;
          enqueue(v);
        }
      }
      again = waiting > 0;
    }
  }

  const GraphPenalty& dag_;
  std::size_t n_;
  double last_lambda_ = 0;
  std::vector<Block> blocks_;
  std::vector<double> size_, top_, flow_, net_, excess_, z_;
  std::vector<std::int32_t> nodes_, block_, distance_, level_size_, queue_;
  Checkpoint checkpoint_;
};

}  // namespace hietan
