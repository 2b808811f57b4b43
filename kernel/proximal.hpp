// The penalty sum_v max over g_v of |w|, g_v = {v} and its descendants, with its proximal operator and its dual norm.
//
// Let z_v bound |w| over g_v. Then min |u - w|^2 / 2 + lambda * penalty(w) is min over z >= 0, no child above a parent,
// of sum_v lambda z_v + (|u_v| - z_v)_+^2 / 2, and w_v = sign(u_v) min(|u_v|, z_v). For any t, {v : z_v > t} is the
// heaviest set closed under parents where v weighs (|u_v| - t)_+ - lambda (Mairal et al. 2010 find the same cuts in
// the dual, a quadratic min-cost flow). Such a set is a minimum cut: excess weight flows up the DAG's own edges, freely,
// into nodes of negative weight; what finds no way there is the weight of the set. Divide and conquer: the best
// constant t for a block, then a cut at t; where nothing is left over the block is constant, else it falls into two.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "relations.hpp"

namespace hietan {

class GraphPenalty {
 public:
  GraphPenalty(std::size_t d, const Adjacency& children)
      : d_(d), down_(children.indptr, children.indptr + d + 1), up_(d + 1, 0),
        child_(children.indices, children.indices + children.indptr[d]), parent_(child_.size()), edge_(child_.size()) {
    for (const std::int32_t c : child_) ++up_[at(c) + 1];
    std::partial_sum(up_.begin(), up_.end(), up_.begin());
    std::vector<std::int32_t> fill(up_.begin(), up_.end() - 1), waiting(d);
    for (std::size_t v = 0; v < d; ++v)
      for (std::int32_t k = down_[v]; k < down_[v + 1]; ++k) {
        const std::int32_t place = fill[at(child_[at(k)])]++;
        parent_[at(place)] = static_cast<std::int32_t>(v);
        edge_[at(place)] = k;
      }
    for (std::size_t v = 0; v < d; ++v)
      if (!(waiting[v] = up_[v + 1] - up_[v])) order_.push_back(static_cast<std::int32_t>(v));
    for (std::size_t k = 0; k < order_.size(); ++k)
      for (std::int32_t e = down_[at(order_[k])]; e < down_[at(order_[k]) + 1]; ++e)
        if (!--waiting[at(child_[at(e)])]) order_.push_back(child_[at(e)]);
    if (order_.size() != d) throw std::invalid_argument("the edges form a cycle");
  }

  std::size_t features() const { return d_; }

  // The largest |w| of each group.
  void maxima(const double* w, double* top) const {
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
      double most = std::abs(w[*v]);
      for (std::int32_t e = down_[at(*v)]; e < down_[at(*v) + 1]; ++e) most = std::max(most, top[child_[at(e)]]);
      top[*v] = most;
    }
  }

  void prox(const double* u, double lambda, double* w) const {
    if (lambda == 0) {
      std::copy(u, u + d_, w);
      return;
    }
    Cuts cuts(*this, u);
    std::fill(w, w + d_, 0.0);
    struct Block {
      std::size_t begin, end;
      bool halve;
    };
    const std::size_t kept = cuts.split(0, d_, 1, 0, lambda);
    std::vector<Block> blocks;
    cuts.sort(kept);
    if (kept) blocks.push_back({0, kept, false});
    for (std::int32_t labels = 2; !blocks.empty(); ++labels) {
      const Block block = blocks.back();
      blocks.pop_back();
      const std::size_t n = block.end - block.begin;
      const double t = block.halve ? cuts.guess(block.begin, block.end, lambda) : cuts.level(block.begin, block.end, lambda);
      const std::size_t upper = n > 1 ? cuts.split(block.begin, block.end, labels, t, lambda) : 0;
      if (upper && upper < n) {
        const std::size_t middle = block.begin + upper;
        blocks.push_back({middle, block.end, !block.halve && n > 8 && upper < n / 4});
        blocks.push_back({block.begin, middle, !block.halve && n > 8 && n - upper < n / 4});
        continue;
      }
      if (block.halve) {
        blocks.push_back({block.begin, block.end, false});
        continue;
      }
      for (std::size_t k = block.begin; k < block.end; ++k) {
        const std::size_t v = at(cuts.nodes[k]);
        w[v] = std::copysign(std::min(std::abs(u[v]), std::max(t, 0.0)), u[v]);
      }
    }
  }

  // The smallest lambda for which the operator returns 0: the densest closed set, by Dinkelbach's method.
  double dual_norm(const double* u) const {
    Cuts cuts(*this, u);
    double best = cuts.mean(0, d_);
    while (const std::size_t heavy = cuts.split(0, d_, 0, 0, best)) {
      const double density = cuts.mean(0, heavy);
      if (!(density > best)) break;
      best = density;
    }
    return best;
  }

 private:
  static std::size_t at(std::int32_t v) { return static_cast<std::size_t>(v); }

  // Nodes in blocks, and a flow on the edges that is kept from cut to cut: any flow is a valid start.
  struct Cuts {
    const GraphPenalty& dag;
    std::vector<double> size, top, flow, net, excess;
    std::vector<std::int32_t> nodes, block, distance, level_size, queue;

    Cuts(const GraphPenalty& g, const double* u)
        : dag(g), size(g.d_), top(g.d_), flow(g.child_.size(), 0.0), net(g.d_, 0.0), excess(g.d_), nodes(g.order_), block(g.d_, 0), distance(g.d_),
          level_size(g.d_ + 1), queue(g.d_) {
      for (std::size_t v = 0; v < g.d_; ++v) size[v] = std::abs(u[v]);
    }

    double mean(std::size_t begin, std::size_t end) const {
      double sum = 0;
      for (std::size_t k = begin; k < end; ++k) sum += size[at(nodes[k])];
      return sum / static_cast<double>(end - begin);
    }

    // The t at which the block weighs nothing, sum (|u_v| - t)_+ = lambda n: Newton's method from the left is finite.
    double level(std::size_t begin, std::size_t end, double lambda) const {
      const double due = lambda * static_cast<double>(end - begin);
      double t = mean(begin, end) - lambda;
      for (std::size_t counted = end - begin;;) {
        double sum = 0;
        std::size_t above = 0;
        for (std::size_t k = begin; k < end; ++k)
          if (size[at(nodes[k])] > t) {
            sum += size[at(nodes[k])];
            ++above;
          }
        if (above == counted || !above) return t;
        counted = above;
        t = (sum - due) / static_cast<double>(above);
      }
    }

    // From the largest |u| below a node down.
    void sort(std::size_t n) {
      dag.maxima(size.data(), top.data());
      std::sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(n), [&](std::int32_t a, std::int32_t b) { return top[at(a)] > top[at(b)] || (top[at(a)] == top[at(b)] && a < b); });
    }

    double guess(std::size_t begin, std::size_t end, double lambda) const {
      return std::max(top[at(nodes[(begin + end) / 2])] - lambda, 0.0);
    }

    template <typename F>
    void for_each_parent(std::size_t v, F&& f) {
      for (std::int32_t k = dag.up_[v]; k < dag.up_[v + 1]; ++k)
        if (block[at(dag.parent_[at(k)])] == block[v])
          if (f(at(dag.parent_[at(k)]), flow[at(dag.edge_[at(k)])])) return;
    }
    template <typename F>
    void for_each_child(std::size_t v, F&& f) {
      for (std::int32_t k = dag.down_[v]; k < dag.down_[v + 1]; ++k)
        if (block[at(dag.child_[at(k)])] == block[v])
          if (f(at(dag.child_[at(k)]), flow[at(k)])) return;
    }

    // Puts the heaviest closed subset of a block first, under a new label, and returns its size; 0 if it weighs
    // nothing to rounding, that is less than 1e-14 of what the block holds.
    std::size_t split(std::size_t begin, std::size_t end, std::int32_t upper, double t, double lambda) {
      double total = 0;
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t v = at(nodes[k]);
        const double weight = std::max(size[v] - t, 0.0);
        total += size[v] + lambda;
        excess[v] = weight - lambda + net[v];
      }
      const double dust = 1e-14 * total / static_cast<double>(end - begin);
      push_all(begin, end, dust);
      return collect(begin, end, upper, dust);
    }

    // What an excess can still reach.
    std::size_t collect(std::size_t begin, std::size_t end, std::int32_t upper, double dust) {
      std::size_t head = 0, tail = 0;
      const auto reach = [&](std::size_t v) {
        if (distance[v] >= 0) {
          distance[v] = -1;
          queue[tail++] = static_cast<std::int32_t>(v);
        }
      };
      for (std::size_t k = begin; k < end; ++k)
        if (excess[at(nodes[k])] > dust) reach(at(nodes[k]));
      while (head < tail) {
        const std::size_t v = at(queue[head++]);
        for_each_parent(v, [&](std::size_t p, double&) { return reach(p), false; });
        for_each_child(v, [&](std::size_t c, double& f) { return f > 0 ? reach(c) : void(), false; });
      }
      for (std::size_t k = 0; k < tail; ++k) block[at(queue[k])] = upper;
      std::size_t first = begin, rest = 0;
      for (std::size_t k = begin; k < end; ++k)
        (distance[at(nodes[k])] < 0 ? nodes[first++] : queue[rest++]) = nodes[k];
      std::copy_n(queue.begin(), rest, nodes.begin() + static_cast<std::ptrdiff_t>(first));
      return tail;
    }

    // Distances in the residual graph to the nearest node that can still take something; n for none.
    void measure(std::size_t begin, std::size_t end) {
      const auto n = static_cast<std::int32_t>(end - begin);
      std::size_t head = 0, tail = 0;
      std::fill_n(level_size.begin(), end - begin + 1, 0);
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t v = at(nodes[k]);
        distance[v] = excess[v] < 0 ? 0 : n;
        if (excess[v] < 0) queue[tail++] = nodes[k];
      }
      level_size[0] = static_cast<std::int32_t>(tail);
      const auto reach = [&](std::size_t from, std::size_t v) {
        if (distance[v] == n) {
          ++level_size[at(distance[v] = distance[from] + 1)];
          queue[tail++] = static_cast<std::int32_t>(v);
        }
      };
      while (head < tail) {
        const std::size_t v = at(queue[head++]);
        for_each_child(v, [&](std::size_t c, double&) { return reach(v, c), false; });
        for_each_parent(v, [&](std::size_t p, double& f) { return f > 0 ? reach(v, p) : void(), false; });
      }
    }

    // Push-relabel, first in first out; distances are measured anew after as many relabels as there are nodes. A push
    // moves all of an excess or all of a flow, so what is used up is exactly 0 and the usual bounds hold in floats.
    void push_all(std::size_t begin, std::size_t end, double dust) {
      const std::size_t n = end - begin;
      const auto far = static_cast<std::int32_t>(n);
      for (bool again = true; again;) {
        measure(begin, end);
        std::size_t head = 0, waiting = 0, relabels = 0;
        const auto enqueue = [&](std::size_t v) {
          if (distance[v] == far) return;
          const std::size_t place = head + waiting++;
          queue[place < n ? place : place - n] = static_cast<std::int32_t>(v);
        };
        for (std::size_t k = end; k-- > begin;)
          if (excess[at(nodes[k])] > dust) enqueue(at(nodes[k]));
        while (waiting && relabels < n) {
          const std::size_t v = at(queue[head]);
          head = head + 1 < n ? head + 1 : 0;
          --waiting;
          std::int32_t nearest = far;
          const auto push = [&](std::size_t to, double& f, double room, double sign) {
            if (distance[to] + 1 != distance[v]) {
              nearest = std::min(nearest, distance[to] + 1);
              return false;
            }
            const double amount = std::min(excess[v], room);
            const bool idle = !(excess[to] > dust);
            f += sign * amount;
            excess[v] -= amount;
            excess[to] += amount;
            net[v] -= amount;
            net[to] += amount;
            if (idle && excess[to] > dust) enqueue(to);
            return !(excess[v] > dust);
          };
          for_each_parent(v, [&](std::size_t p, double& f) { return push(p, f, INFINITY, 1); });
          if (excess[v] > dust)
            for_each_child(v, [&](std::size_t c, double& f) { return f > 0 && push(c, f, f, -1); });
          if (excess[v] > dust) {
            if (!--level_size[at(distance[v])]) relabels = n;
            ++level_size[at(distance[v] = nearest)];
            ++relabels;
            enqueue(v);
          }
        }
        again = waiting > 0;
      }
    }
  };

  std::size_t d_;
  std::vector<std::int32_t> down_, up_, child_, parent_, edge_, order_;
};

}  // namespace hietan
