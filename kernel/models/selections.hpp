// Lazy selections: which features a row keeps, judged on the row as it is, 64 rows at a time.
//
// HIP     a feature at 1 removes its ancestors, one at 0 its descendants.
// MR      of related features with the same value, the most relevant stays. The published form walks through all paths;
//         v at 1 survives them where it is at least as relevant as every ancestor and more relevant than every
//         descendant at 1, v at 0 the other way round. What does not depend on the row is settled in advance.
// HIP-MR  as HIP, but a feature removes only those that are not more relevant than itself.
// HNB     the most relevant features that HIP-MR leaves.
// RNB     the most relevant features, whatever the row.
//
// In every rule, v is removed where some of the features in one list are 1, or some of those in another are 0: a few
// operations on words for each feature, once the lists are made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "counts/relations.hpp"
#include "counts/words.hpp"

namespace hietan {

class Selector {
 public:
  enum class Kind : std::uint8_t { hip, mr, hip_mr, hnb, rnb };
  struct Name {
    const char* name;
    Kind kind;
  };
  static constexpr Name kKinds[] = {
      {"hip", Kind::hip}, {"mr", Kind::mr}, {"hip-mr", Kind::hip_mr}, {"hnb", Kind::hnb}, {"rnb", Kind::rnb}};

  // `relevance` orders the features: the larger, the more relevant. HNB and RNB keep at most `limit` of them.
  Selector(const Relations& relations, const std::string& kind, const std::int32_t* relevance, std::size_t limit)
      : kind_(kind_named(kind)), d_(relations.d), limit_(limit), relevance_(relevance, relevance + d_) {
    if (kind_ != Kind::rnb) {
      ones_ = list(relations.descendants);
      zeros_ = list(relations.ancestors);
    }
    if (kind_ == Kind::mr) find_outranked(relations);
    if (kind_ == Kind::hnb || kind_ == Kind::rnb) rank();
  }

  std::size_t features() const { return d_; }

  // kept[v] of up to 64 rows: bit r is set where feature v stays in row r.
  void select(const Word* value, Word* kept) const {
    switch (kind_) {
      case Kind::hip:
      case Kind::hip_mr:
        remove_implied(value, kept);
        break;
      case Kind::mr:
        keep_most_relevant(value, kept);
        break;
      case Kind::hnb:
        remove_implied(value, kept);
        keep_first(kept);
        break;
      case Kind::rnb:
        std::fill(kept, kept + d_, Word{0});
        for (std::size_t k = 0; k < std::min(limit_, d_); ++k) kept[order_[k]] = ~Word{0};
        break;
    }
  }

 private:
  // A list of features for each feature.
  struct Lists {
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> items;
  };

  static Kind kind_named(const std::string& wanted) {
    std::string accepted;
    for (const Name& known : kKinds) {
      if (wanted == known.name) return known.kind;
      accepted += (accepted.empty() ? "'" : ", '") + std::string(known.name) + "'";
    }
    throw std::invalid_argument("selection must be one of (" + accepted + "), got '" + wanted + "'");
  }

  // The relatives that can remove v: all for HIP, otherwise those that are at least as relevant.
  Lists list(const Adjacency& relatives) const {
    Lists lists{{0}, {}};
    lists.start.reserve(d_ + 1);
    Checkpoint checkpoint;
    for (std::size_t v = 0; v < d_; ++v) {
      checkpoint.pass(index(relatives.end(v) - relatives.begin(v)));
      for (const std::int32_t* u = relatives.begin(v); u != relatives.end(v); ++u)
        if (kind_ == Kind::hip || relevance_[index(*u)] >= relevance_[v]) lists.items.push_back(*u);
      lists.start.push_back(static_cast<std::int64_t>(lists.items.size()));
    }
    return lists;
  }

  // MR: features that no row keeps at 1, because an ancestor is more relevant, or at 0, because a descendant is.
  void find_outranked(const Relations& relations) {
    never_one_.resize(d_);
    never_zero_.resize(d_);
    for (std::size_t v = 0; v < d_; ++v) {
      never_one_[v] = any_above(relations.ancestors, v) ? ~Word{0} : 0;
      never_zero_[v] = any_above(relations.descendants, v) ? ~Word{0} : 0;
    }
  }

  bool any_above(const Adjacency& relatives, std::size_t v) const {
    return std::any_of(relatives.begin(v), relatives.end(v),
                       [&](std::int32_t u) { return relevance_[index(u)] > relevance_[v]; });
  }

  void rank() {
    order_.resize(d_);
    std::iota(order_.begin(), order_.end(), std::int32_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::int32_t a, std::int32_t b) { return relevance_[index(a)] > relevance_[index(b)]; });
  }

  // Rows in which some feature of v's list is 1, and in which some is 0.
  static Word any_one(const Lists& lists, std::size_t v, const Word* value) {
    Word found = 0;
    for (std::int64_t k = lists.start[v]; k < lists.start[v + 1]; ++k) found |= value[lists.items[index(k)]];
    return found;
  }
  static Word any_zero(const Lists& lists, std::size_t v, const Word* value) {
    Word ones = ~Word{0};
    for (std::int64_t k = lists.start[v]; k < lists.start[v + 1]; ++k) ones &= value[lists.items[index(k)]];
    return ~ones;
  }

  void remove_implied(const Word* value, Word* kept) const {
    for (std::size_t v = 0; v < d_; ++v) kept[v] = ~(any_one(ones_, v, value) | any_zero(zeros_, v, value));
  }

  void keep_most_relevant(const Word* value, Word* kept) const {
    for (std::size_t v = 0; v < d_; ++v) {
      const Word at_one = never_one_[v] ? 0 : value[v] & ~any_one(ones_, v, value);
      const Word at_zero = never_zero_[v] ? 0 : ~value[v] & ~any_zero(zeros_, v, value);
      kept[v] = at_one | at_zero;
    }
  }

  // Leaves the first `limit_` kept features of each row, from the most relevant down.
  void keep_first(Word* kept) const {
    std::size_t count[kLanes] = {};
    Word open = ~Word{0};
    for (const std::int32_t v : order_) {
      kept[v] &= open;
      for_each_bit(kept[v], [&](std::size_t lane) {
        if (++count[lane] >= limit_) open &= ~(Word{1} << lane);
      });
    }
  }

  Kind kind_;
  std::size_t d_, limit_;
  std::vector<std::int32_t> relevance_;
  Lists ones_, zeros_;                        // the features whose 1, and whose 0, removes a feature
  std::vector<Word> never_one_, never_zero_;  // MR: no bit or all
  std::vector<std::int32_t> order_;           // HNB, RNB: from the most relevant down, ties by column
};

}  // namespace hietan
