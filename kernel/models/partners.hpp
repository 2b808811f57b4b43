// What features add to estimators that depend on another feature, in one class: ln P(x_j | x_i, c) for all pairs.
//
// Most pairs of features never occur in the same row. What such a pair adds depends only on how often each of the two
// occurs, so it is the same for all features of a profile, of which there are far fewer. The others, the partners, are
// listed, with what they add beyond that. Lists are made for a band of features at a time, so those of all pairs are
// never held.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "counts/relations.hpp"
#include "memory.hpp"
#include "models/smoothing.hpp"

namespace hietan {

// What an estimator does with the ancestors of its feature.
enum class Ancestors : std::uint8_t { depend, naive, absent };

namespace detail {

// out[x_v] = ln P(x_v | x_p, c) if no row has both features. Where that cannot be, every such pair is listed: 0.
inline void log_apart(const Tables& tables, std::size_t v, std::size_t p, bool xp, std::size_t c, double* out) {
  out[0] = out[1] = 0.0;
  if (tables.may_be_apart(v, p, c)) tables.log_child(v, p, Counts::apart(), xp, c, out);
}

// Groups of features that occur equally often.
class Profiles {
 public:
  Profiles(const Tables& tables, std::size_t c) : of_(tables.features()) {
    std::vector<std::size_t> order(tables.features());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t v, std::size_t u) {
      const auto one = tables.profile(v, c), other = tables.profile(u, c);
      return one != other ? one < other : v < u;
    });
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k == 0 || tables.profile(order[k], c) != tables.profile(order[k - 1], c)) example_.push_back(order[k]);
      of_[order[k]] = example_.size() - 1;
    }
  }

  std::size_t count() const { return example_.size(); }
  std::size_t of(std::size_t v) const { return of_[v]; }
  std::size_t example(std::size_t profile) const { return example_[profile]; }

 private:
  std::vector<std::size_t> of_, example_;
};

// For each feature j, its partners within a band: the estimators i of the band whose feature a row of some classes has
// together with j, that of j itself, and those to which it matters that j is an ancestor. Bands come one after the
// other, and those of each block of estimators lie side by side, as they are used block by block.
class PartnerBand {
 public:
  static constexpr std::size_t kBlock = 32;  // estimators: the fastest of 16, 32, 64 and 128 as measured
  static constexpr std::size_t kBlocks = 16, kWidth = kBlocks * kBlock;

  // Of the classes from `first_class` to `last_class`; without classes, only estimators' own features and ancestors.
  PartnerBand(const Tables& tables, const Relations& relations, Ancestors ancestors, std::size_t first_class,
              std::size_t last_class)
      : tables_(tables),
        relations_(relations),
        ancestors_(ancestors),
        first_class_(first_class),
        last_class_(last_class),
        pairs_(tables.counts()),
        start_(kBlocks * tables.features() + 1),
        end_(kBlocks * tables.features()) {}

  std::size_t first() const { return first_; }
  std::size_t last() const { return last_; }

  // Goes on to the next band; false if there is none.
  bool next() {
    first_ = last_;
    last_ = std::min(first_ + kWidth, tables_.features());
    if (first_ == last_) return false;
    met_.clear();
    if (first_class_ < last_class_) find_met();
    make_room();
    for (const Met& met : met_) put(end_[list_of(index(met.j), met.place)]++, met.place, met.both, Role::child);
    for (std::size_t i = first_; i < last_; ++i) add_relatives(i);
    return true;
  }

  // The partners of j in a block are numbered from `start` to `end`, in the order of their estimators.
  std::size_t start(std::size_t block, std::size_t j) const { return start_[block * tables_.features() + j]; }
  std::size_t end(std::size_t block, std::size_t j) const { return end_[block * tables_.features() + j]; }
  std::uint16_t place(std::size_t e) const { return place_[e]; }  // of the e-th partner within the band

  // Whether j adds anything else to its e-th partner, in class c, than features of the same profiles that are apart.
  bool differs(std::size_t e, std::size_t c) const { return role_[e] != Role::child || tables_.meet(cell(e), c); }

  // out[x_j] = what feature j adds to its e-th partner, the estimator i, where x_i = a. (That of j itself is 0.)
  void log_partner(std::size_t j, std::size_t e, bool a, std::size_t c, double* out) const {
    switch (role_[e]) {
      case Role::child:
        tables_.log_child(j, first_ + place_[e], cell(e), a, c, out);
        break;
      case Role::naive:
        for (int x = 0; x < 2; ++x) out[x] = tables_.log_root(j, x != 0, c);
        break;
      case Role::itself:
      case Role::absent:
        out[0] = out[1] = 0.0;
        break;
    }
  }

 private:
  enum class Role : std::uint8_t { child, itself, naive, absent };  // of feature j in the estimator

  struct Met {
    Counts::Cell both;
    std::int32_t j;
    std::uint16_t place;
  };

  Counts::Cell cell(std::size_t e) const { return {cell_.data() + e * tables_.classes(), 1}; }
  std::uint16_t place_of(std::size_t i) const { return static_cast<std::uint16_t>(i - first_); }

  void find_met() {
    pairs_.next(last_, [&](std::size_t j, std::size_t i, const Counts::Cell& both) {
      bool any = false;
      for (std::size_t c = first_class_; c < last_class_; ++c) any = any || tables_.meet(both, c);
      if (any) met_.push_back({both, feature_id(j), place_of(i)});
    });
  }

  std::size_t list_of(std::size_t j, std::uint16_t place) const { return place / kBlock * tables_.features() + j; }

  // Room for all that meet, for all ancestors, whether they meet or not, and for each estimator's own feature.
  void make_room() {
    std::fill(start_.begin(), start_.end(), 0);
    for (const Met& met : met_) ++start_[list_of(index(met.j), met.place) + 1];
    for (std::size_t i = first_; i < last_; ++i) {
      ++start_[list_of(i, place_of(i)) + 1];
      if (ancestors_ != Ancestors::depend)
        for (const std::int32_t* j = relations_.ancestors.begin(i); j != relations_.ancestors.end(i); ++j)
          ++start_[list_of(index(*j), place_of(i)) + 1];
    }
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    std::copy(start_.begin(), start_.end() - 1, end_.begin());
    place_.resize(start_.back());
    role_.resize(start_.back());
    cell_.resize(start_.back() * tables_.classes());
  }

  void put(std::size_t e, std::uint16_t place, const Counts::Cell& both, Role role) {
    const std::size_t classes = tables_.classes();
    place_[e] = place;
    role_[e] = role;
    for (std::size_t c = 0; c < classes; ++c) cell_[e * classes + c] = static_cast<std::int32_t>(both[c]);
  }

  // Gives an estimator's own feature and its ancestors their roles, and lists them if they are not yet.
  void add_relatives(std::size_t i) {
    add_relative(i, i, Role::itself);
    if (ancestors_ == Ancestors::depend) return;
    const Role role = ancestors_ == Ancestors::naive ? Role::naive : Role::absent;
    for (const std::int32_t* j = relations_.ancestors.begin(i); j != relations_.ancestors.end(i); ++j)
      add_relative(index(*j), i, role);
  }

  void add_relative(std::size_t j, std::size_t i, Role role) {
    const std::uint16_t place = place_of(i), *places = place_.data();
    const std::size_t list = list_of(j, place);
    const std::size_t e = index(std::lower_bound(places + start_[list], places + end_[list], place) - places);
    if (e < end_[list] && place_[e] == place) {
      role_[e] = role;
      return;
    }
    for (std::size_t k = end_[list]++; k > e; --k) put(k, place_[k - 1], cell(k - 1), role_[k - 1]);
    put(e, place, Counts::apart(), role);
  }

  const Tables& tables_;
  Relations relations_;
  Ancestors ancestors_;
  std::size_t first_class_, last_class_;
  PairBands pairs_;
  std::size_t first_ = 0, last_ = 0;
  std::vector<Met> met_;                  // the pairs that meet, in the order in which they are found
  std::vector<std::size_t> start_, end_;  // [block][feature]: of the partners of each feature
  PlainVector<std::uint16_t> place_;
  PlainVector<Role> role_;
  PlainVector<std::int32_t> cell_;  // [partner][class]: the rows with both
};

}  // namespace detail
}  // namespace hietan
