// A random problem: a hierarchy, rows, classes, and all counts found by looking at every cell.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "counts/cooccurrence.hpp"
#include "counts/counting.hpp"
#include "counts/relations.hpp"
#include "models/smoothing.hpp"
#include "trees/information.hpp"
#include "trees/keys.hpp"

namespace hietan::tests {

// xorshift64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435769U + 1) {}
  std::size_t below(std::size_t n) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<std::size_t>(state_ % n);
  }
  double uniform() { return static_cast<double>(below(1U << 30U)) / static_cast<double>(1U << 30U); }

 private:
  std::uint64_t state_;
};

// Lists of features in CSR form.
struct Lists {
  std::vector<std::int32_t> indptr{0}, indices;
  explicit Lists(const std::vector<std::vector<bool>>& has) {
    for (const std::vector<bool>& row : has) {
      for (std::size_t v = 0; v < row.size(); ++v)
        if (row[v]) indices.push_back(feature_id(v));
      indptr.push_back(feature_id(indices.size()));
    }
  }
  Adjacency view() const { return {indptr.data(), indices.data()}; }
};

struct Problem {
  using Table = std::vector<std::vector<bool>>;

  std::size_t n, d, classes;
  Table parents, above, below;  // [v][u]: u is a parent, an ancestor, a descendant of v
  Table rows;                   // not closed under ancestors: the kernel must not rely on it
  std::vector<std::int64_t> code, order, all_rows, class_count;
  std::vector<std::int32_t> ones, pairs;  // counted by looking at every cell
  Lists up, down, columns;
  std::vector<Word> words;
  Cooccurrences occurring;
  std::vector<std::int32_t> occurring_ones;

  Problem(std::uint64_t seed, std::size_t rows_, std::size_t features, std::size_t classes_, double density)
      : Problem(Random(seed), rows_, features, classes_, density) {}

  Counts dense() const { return {classes, d, class_count.data(), ones.data(), pairs.data()}; }
  Counts sparse() const {
    return {classes,
            d,
            class_count.data(),
            ones.data(),
            occurring.values.data(),
            occurring.indptr.data(),
            occurring.indices.data()};
  }
  Relations relations() const { return {d, up.view(), down.view()}; }
  bool related(std::size_t u, std::size_t v) const { return above[u][v] || above[v][u]; }
  const Word* batch(std::size_t row) const { return words.data() + row / kLanes * d; }
  std::string name() const { return std::to_string(n) + " rows, " + std::to_string(d) + " features"; }

  // Rows of class c (or of all, for c = classes) for which `condition` holds.
  template <typename Condition>
  double count(std::size_t c, Condition&& condition) const {
    double found = 0;
    for (std::size_t r = 0; r < n; ++r) found += (c == classes || index(code[r]) == c) && condition(rows[r]) ? 1 : 0;
    return found;
  }

 private:
  Problem(Random random, std::size_t rows_, std::size_t features, std::size_t classes_, double density)
      : n(rows_),
        d(features),
        classes(classes_),
        parents(draw_parents(random, d)),
        above(closure(parents)),
        below(transposed(above)),
        rows(draw_rows(random, n, d, density)),
        class_count(classes, 0),
        ones(classes * d, 0),
        pairs(classes * pair_total(d), 0),
        up(above),
        down(below),
        columns(rows),
        words(word_count(n) * d),
        occurring_ones(classes * d, 0) {
    for (std::size_t r = 0; r < n; ++r) {
      code.push_back(static_cast<std::int64_t>(r < classes ? r : random.below(classes)));
      all_rows.push_back(static_cast<std::int64_t>(r));
      ++class_count[index(code[r])];
    }
    for (std::size_t v = 0; v < d; ++v)  // a permutation: 7 is a factor of none of the numbers of features
      order.push_back(static_cast<std::int64_t>((7 * v + 3) % d));
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t i = 0; i < d; ++i) {
        ones[c * d + i] = static_cast<std::int32_t>(count(c, [&](const auto& x) { return x[i]; }));
        for (std::size_t j = i + 1; j < d; ++j)
          pairs[c * pair_total(d) + pair_index(i, j, d)] =
              static_cast<std::int32_t>(count(c, [&](const auto& x) { return x[i] && x[j]; }));
      }
    pack_sparse(columns.indptr.data(), columns.indices.data(), d, all_rows.data(), n, words.data());
    count_cooccurrences(columns.indptr.data(), columns.indices.data(), code.data(), nullptr, n, d, classes,
                        occurring_ones.data(), occurring);
  }

  static Table draw_parents(Random& random, std::size_t d) {
    Table parents(d, std::vector<bool>(d, false));
    for (std::size_t v = 1; v < d; ++v)
      for (std::size_t k = random.below(3); k > 0; --k) parents[v][random.below(v)] = true;
    return parents;
  }
  static Table closure(Table above) {  // parents come before their children
    for (std::size_t v = 0; v < above.size(); ++v)
      for (std::size_t u = 0; u < v; ++u)
        if (above[v][u])
          for (std::size_t w = 0; w < u; ++w)
            if (above[u][w]) above[v][w] = true;
    return above;
  }
  static Table transposed(const Table& table) {
    Table turned(table.size(), std::vector<bool>(table.size(), false));
    for (std::size_t v = 0; v < table.size(); ++v)
      for (std::size_t u = 0; u < table.size(); ++u) turned[u][v] = table[v][u];
    return turned;
  }
  static Table draw_rows(Random& random, std::size_t n, std::size_t d, double density) {
    Table rows(n, std::vector<bool>(d, false));
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t v = 0; v < d; ++v)
        if (v % 9 != 4) rows[r][v] = random.uniform() < density;  // every ninth feature never varies
    return rows;
  }
};

// Small and wide, few rows and several batches, dense and sparse.
inline const std::deque<Problem>& problems() {
  static const std::deque<Problem> all = [] {
    std::deque<Problem> made;
    made.emplace_back(1, 70, 13, 2, 0.4);
    made.emplace_back(2, 130, 41, 3, 0.1);
    made.emplace_back(3, 20, 80, 2, 0.05);
    made.emplace_back(4, 300, 9, 4, 0.5);
    return made;
  }();
  return all;
}

}  // namespace hietan::tests
