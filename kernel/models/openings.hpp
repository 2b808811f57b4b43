// Scores of features where they are open: theta is P(x_v = 1 | v open, c), smoothed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "counts/openings.hpp"
#include "models/smoothing.hpp"

namespace hietan {

// How many rows of each class have a feature open and 1, and open; those of class c begin at c * d.
struct OpenCounts {
  std::size_t classes, d;
  const std::int32_t *ones, *open;
};

// on[v][c] = ln theta and off[v][c] = ln(1 - theta). If `left_out` is a class, they are those of the counts without the
// row that they are to score, a training row of that class and of weight `left_weight`: without a 1 in `on`, and
// without a 0 in `off`. (Where no row of the class has that value, the entry is not that of any training row; it is
// finite all the same.)
class OpenTables {
 public:
  static constexpr std::int64_t kNobody = -1;

  OpenTables(const OpenCounts& counts, const Smoothing& smoothing, std::int64_t left_out, std::int64_t left_weight = 1)
      : counts_(counts), smoothing_(smoothing), left_out_(left_out), left_weight_(left_weight) {}

  void fill(double* on, double* off) const {
    const std::size_t classes = counts_.classes;
    std::vector<std::int64_t> zeros(classes), ones(classes), open(classes);
    for (std::size_t v = 0; v < counts_.d; ++v) {
      for (std::size_t c = 0; c < classes; ++c) {
        ones[c] = counts_.ones[c * counts_.d + v];
        open[c] = counts_.open[c * counts_.d + v];
        zeros[c] = open[c] - ones[c];
      }
      leave_out(open);
      log_shares(ones, open, on + v * classes);
      log_shares(zeros, open, off + v * classes);
    }
  }

 private:
  void leave_out(std::vector<std::int64_t>& counts) const {
    if (left_out_ == kNobody) return;
    std::int64_t& own = counts[index(left_out_)];
    own = std::max<std::int64_t>(0, own - left_weight_);
  }

  void log_shares(std::vector<std::int64_t>& hits, const std::vector<std::int64_t>& open, double* out) const {
    leave_out(hits);
    std::int64_t all_hits = 0, all_open = 0;
    for (std::size_t c = 0; c < counts_.classes; ++c) all_hits += hits[c], all_open += open[c];
    for (std::size_t c = 0; c < counts_.classes; ++c)
      out[c] = smoothing_.log_share(hits[c], open[c], all_hits, all_open);
  }

  OpenCounts counts_;
  Smoothing smoothing_;
  std::int64_t left_out_, left_weight_;
};

// Sums the logarithms over the open features of a row from its ones alone: what the zeros add is summed beforehand, for
// all features that one feature, or one set of parents, opens.
class OpenScorer {
 public:
  OpenScorer(const Openings& openings, const double* on, const double* off, std::size_t classes)
      : openings_(openings),
        classes_(classes),
        always_(classes, 0.0),
        open_(openings.features() * classes, 0.0),
        shut_(openings.features() * classes, 0.0),
        set_(openings.sets() * classes, 0.0) {
    for (std::size_t v = 0; v < openings.features(); ++v) {
      double* opener = always_.data();
      if (openings.parent_count(v) == 1) opener = shut_.data() + index(*openings.begin(v)) * classes;
      if (openings.parent_count(v) > 1) opener = set_.data() + index(openings.set_of(v)) * classes;
      for (std::size_t c = 0; c < classes; ++c) opener[c] += off[v * classes + c];
    }
    for (std::size_t k = 0; k < open_.size(); ++k) open_[k] = shut_[k] + (on[k] - off[k]);
  }

  // out[c] = the sum over the open features of the row, given its ones.
  template <typename Index>
  void score(const Index* begin, const Index* end, RowBits& bits, double* out) const {
    std::copy(always_.begin(), always_.end(), out);
    bits.set(begin, end);
    for (const Index* u = begin; u != end; ++u) {
      const std::size_t v = index(*u);
      add((openings_.open(v, bits.words()) ? open_ : shut_).data() + v * classes_, out);
      openings_.for_each_open_set(v, bits.words(), [&](std::size_t s) { add(set_.data() + s * classes_, out); });
    }
    bits.clear(begin, end);
  }

 private:
  void add(const double* terms, double* out) const {
    for (std::size_t c = 0; c < classes_; ++c) out[c] += terms[c];
  }

  const Openings& openings_;
  std::size_t classes_;
  std::vector<double> always_;  // the zeros of features that are always open
  std::vector<double> open_;    // of a 1 that is open, and the zeros of what it alone opens
  std::vector<double> shut_;    // of a 1 that is not open: the zeros of what it alone opens
  std::vector<double> set_;     // the zeros of what a set of parents opens
};

}  // namespace hietan
