// Words, counts of all pairs and of those that occur, relations, and rows that contradict the hierarchy.
#include "counts/counts.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "counts/consistency.hpp"
#include "counts/violations.hpp"
#include "tests/checks.hpp"
#include "tests/problem.hpp"

namespace hietan::tests {
namespace {

void test_bits() {
  for (const Word w : {Word{1}, Word{0b101100}, Word{1} << 63U, ~Word{0}, Word{0x00F0000000000010}}) {
    std::vector<std::size_t> set, visited;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (has_bit(w, lane)) set.push_back(lane);
    for_each_bit(w, [&](std::size_t lane) { visited.push_back(lane); });
    CHECK(visited == set);
    CHECK(index(population(w)) == set.size());
    CHECK(index(lowest_bit(w)) == set.front() && index(highest_bit(w)) == set.back());
  }
  CHECK(lane_mask(0) == 0 && lane_mask(3) == 7 && lane_mask(64) == ~Word{0} && lane_mask(65) == ~Word{0});
  CHECK(word_count(0) == 0 && word_count(64) == 1 && word_count(65) == 2);
  CHECK(word_count(SIZE_MAX) == SIZE_MAX / kLanes + 1);
  CHECK(wrapped_sum(INT32_MAX, 1) == INT32_MIN && wrapped_sum(-3, 2) == -1);
}

void test_packing(const Problem& p) {
  std::vector<std::uint8_t> bytes;
  for (const std::vector<bool>& row : p.rows) bytes.insert(bytes.end(), row.begin(), row.end());
  std::vector<Word> packed(p.words.size(), 1);
  pack_dense(bytes.data(), p.d, p.all_rows.data(), p.n, packed.data());
  CHECK_FOR(p.name(), packed == p.words);
  bool same = true;
  for (std::size_t r = 0; r < p.n; ++r)
    for (std::size_t v = 0; v < p.d; ++v) same = same && has_bit(p.batch(r)[v], r % kLanes) == p.rows[r][v];
  CHECK_FOR(p.name(), same);
}

void test_pair_counts(const Problem& p) {
  std::vector<std::int32_t> ones(p.classes * p.d, 0), pairs(p.pairs.size(), 0), sparse_ones = ones,
                                                                                sparse_pairs = pairs;
  for (std::size_t c = 0; c < p.classes; ++c) {
    std::vector<std::int64_t> members;
    for (const std::int64_t r : p.all_rows)
      if (index(p.code[index(r)]) == c) members.push_back(r);
    std::vector<Word> words(word_count(members.size()) * p.d);
    const std::int32_t *indptr = p.columns.indptr.data(), *indices = p.columns.indices.data();
    pack_sparse(indptr, indices, p.d, members.data(), members.size(), words.data());
    const std::size_t first = c * p.d, first_pair = c * pair_total(p.d);
    count_words(words.data(), word_count(members.size()), p.d, ones.data() + first, pairs.data() + first_pair);
    count_sparse(indptr, indices, members.data(), nullptr, members.size(), p.d, sparse_ones.data() + first,
                 sparse_pairs.data() + first_pair);
  }
  CHECK_FOR(p.name(), ones == p.ones && sparse_ones == p.ones && p.occurring_ones == p.ones);
  CHECK_FOR(p.name(), pairs == p.pairs && sparse_pairs == p.pairs);
  CHECK_FOR(p.name(), p.dense().rows() == static_cast<std::int64_t>(p.n));
}

void test_cells_and_blocks(const Problem& p) {
  const Counts dense = p.dense(), sparse = p.sparse();
  bool cells = true, blocks = true;
  std::size_t occurring = 0;
  const auto expected = [&](std::size_t c, std::size_t i, std::size_t j) {
    return i == j ? 0 : p.pairs[c * pair_total(p.d) + pair_index(i, j, p.d)];
  };
  for (std::size_t i = 0; i < p.d; ++i)
    for (std::size_t j = 0; j < p.d; ++j) {
      if (i == j) continue;
      std::int32_t in_all = 0;
      for (std::size_t c = 0; c < p.classes; ++c) {
        cells = cells && dense.cell(i, j)[c] == expected(c, i, j) && sparse.cell(i, j)[c] == expected(c, i, j);
        in_all += expected(c, i, j);
      }
      occurring += i < j && in_all > 0;
    }
  CHECK_FOR(p.name(), cells);
  CHECK_FOR(p.name(), p.occurring.indices.size() == occurring);
  constexpr std::size_t kWidth = 4;
  for (std::size_t first = 0; first < p.d; first += kWidth) {
    std::vector<std::int32_t> block(p.d * kWidth * p.classes, -1);
    dense.gather(first, kWidth, block.data());
    for (std::size_t j = 0; j < p.d; ++j)
      for (std::size_t k = first; k < std::min(first + kWidth, p.d); ++k)
        for (std::size_t c = 0; c < p.classes; ++c)
          blocks = blocks && block[(j * kWidth + k - first) * p.classes + c] == expected(c, j, k);
  }
  CHECK_FOR(p.name(), blocks);
}

// Every pair is found once, in its band, and the second features of each first one ascend.
void test_bands_of_pairs(const Problem& p, const Counts& counts) {
  PairBands bands(counts);
  bool right = true;
  std::vector<std::size_t> next(p.d, 0);
  std::size_t n = 0;
  for (std::size_t last = std::min<std::size_t>(4, p.d), first = 0; first < p.d; last = std::min(last + 4, p.d)) {
    bands.next(last, [&](std::size_t v, std::size_t u, const Counts::Cell& both) {
      right = right && u != v && u >= std::max(first, next[v]) && u < last;
      next[v] = u + 1;
      for (std::size_t c = 0; c < p.classes; ++c) right = right && both[c] == counts.cell(v, u)[c];
      ++n;
    });
    first = last;
  }
  CHECK_FOR(p.name(), right);
  CHECK_FOR(p.name(), n == 2 * (counts.sparse() ? p.occurring.indices.size() : pair_total(p.d)));
}

// The counts of two parts add up to those of the whole.
void test_sum_of_parts(const Problem& p) {
  const std::size_t half = p.n / 3;
  Cooccurrences part[2], sum;
  std::vector<std::int32_t> ones(p.classes * p.d, 0), indptr = p.columns.indptr;
  const std::int32_t start = indptr[half];
  count_cooccurrences(indptr.data(), p.columns.indices.data(), p.code.data(), nullptr, half, p.d, p.classes,
                      ones.data(), part[0]);
  for (std::int32_t& at : indptr) at -= start;
  count_cooccurrences(indptr.data() + half, p.columns.indices.data() + start, p.code.data() + half, nullptr, p.n - half,
                      p.d, p.classes, ones.data(), part[1]);
  const auto view = [](const Cooccurrences& c) {
    return CooccurrenceView{c.indptr.data(), c.indices.data(), c.values.data()};
  };
  add_cooccurrences(view(part[0]), view(part[1]), p.d, p.classes, sum);
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
  };
  CHECK_FOR(p.name(), ones == p.ones && same(sum.indptr, p.occurring.indptr));
  CHECK_FOR(p.name(), same(sum.indices, p.occurring.indices) && same(sum.values, p.occurring.values));
}

// Ranges of features, counted one by one in any order, make the same counts, and cover all features in equal shares.
void test_ranges(const Problem& p) {
  const CooccurrenceCounting<std::int32_t, std::int32_t> counting(p.columns.indptr.data(), p.columns.indices.data(),
                                                                  p.code.data(), nullptr, p.n, p.d, p.classes);
  for (const std::size_t parts : {1, 2, 5, 50}) {
    std::vector<std::int32_t> ones(p.classes * p.d, 0);
    std::vector<Cooccurrences> found(parts);
    const std::vector<std::size_t> ranges = counting.ranges(parts);
    CHECK_FOR(p.name(), ranges.size() == parts + 1 && ranges.front() == 0 && ranges.back() == p.d);
    CHECK_FOR(p.name(), std::is_sorted(ranges.begin(), ranges.end()));
    for (std::size_t k = parts; k-- > 0;) counting.count(ranges[k], ranges[k + 1], ones.data(), found[k]);
    JoinedCooccurrences joined(found, p.classes);
    for (std::size_t k = parts; k-- > 0;) joined.move(k);
    const auto same = [](const auto& a, const auto& b) {
      return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
    };
    const Cooccurrences& all = joined.all();
    CHECK_FOR(p.name(), ones == p.ones && same(all.indptr, p.occurring.indptr));
    CHECK_FOR(p.name(), same(all.indices, p.occurring.indices) && same(all.values, p.occurring.values));
  }
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, p.d}) {
    std::size_t partners = 0;
    for (std::size_t i = 0; i < p.d; i += step)
      for (std::size_t j = 0; j < p.d; ++j)
        partners += p.count(p.classes, [&](const auto& x) { return x[i] && x[j]; }) > 0;
    CHECK_FOR(p.name(), counting.partners_of_some(step) == partners);
  }
  CHECK_FOR(p.name(), equal_ranges({1, 1, 1, 1, 4, 4}, 3) == std::vector<std::size_t>({0, 4, 5, 6}));
}

// Rows with weights count as often as copies of them would.
void test_weights(const Problem& p) {
  std::vector<std::int32_t> weights, indptr = {0}, indices, ones(p.classes * p.d, 0), copied_ones = ones;
  std::vector<std::int64_t> code;
  for (std::size_t r = 0; r < p.n; ++r) {
    weights.push_back(static_cast<std::int32_t>(1 + r % 3));
    for (std::int32_t copy = 0; copy < weights[r]; ++copy) {
      indices.insert(indices.end(), p.columns.view().begin(r), p.columns.view().end(r));
      indptr.push_back(static_cast<std::int32_t>(indices.size()));
      code.push_back(p.code[r]);
    }
  }
  Cooccurrences weighed, copied;
  count_cooccurrences(p.columns.indptr.data(), p.columns.indices.data(), p.code.data(), weights.data(), p.n, p.d,
                      p.classes, ones.data(), weighed);
  count_cooccurrences(indptr.data(), indices.data(), code.data(), nullptr, code.size(), p.d, p.classes,
                      copied_ones.data(), copied);
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
  };
  CHECK_FOR(p.name(), ones == copied_ones && same(weighed.indptr, copied.indptr));
  CHECK_FOR(p.name(), same(weighed.indices, copied.indices) && same(weighed.values, copied.values));
  std::vector<std::int32_t> all(p.d, 0), all_copied = all, pairs(pair_total(p.d), 0), pairs_copied = pairs;
  std::vector<std::int64_t> rows(code.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  count_sparse(p.columns.indptr.data(), p.columns.indices.data(), p.all_rows.data(), weights.data(), p.n, p.d,
               all.data(), pairs.data());
  count_sparse(indptr.data(), indices.data(), rows.data(), nullptr, rows.size(), p.d, all_copied.data(),
               pairs_copied.data());
  CHECK_FOR(p.name(), all == all_copied && pairs == pairs_copied);
}

template <typename F>
bool refuses(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

// Counts of rows are possible; what any one of them can be, in the last class, is what some rows could have.
void test_consistency(const Problem& p) {
  for (const Counts& counts : {p.dense(), p.sparse()}) {
    CHECK_FOR(p.name(), !refuses([&] { require_possible_margins(counts); }));
    CHECK_FOR(p.name(), !refuses([&] { require_possible_pairs(counts); }));
  }
  std::vector<std::int32_t> ones = p.ones, pairs = p.pairs;
  Counts changed = p.dense();
  changed.ones = ones.data();
  changed.pairs = pairs.data();
  for (const std::int64_t wrong : {std::int64_t{-1}, p.class_count.back() + 1, std::int64_t{INT32_MAX}}) {
    ones.back() = static_cast<std::int32_t>(wrong);
    CHECK_FOR(p.name(), refuses([&] { require_possible_margins(changed); }));
  }
  ones = p.ones;
  const std::int32_t ni = ones[ones.size() - 2], nj = ones.back();
  const auto n = static_cast<std::int32_t>(p.class_count.back());
  for (std::int32_t both = -2; both <= n + 1; ++both) {
    pairs.back() = both;
    const bool possible = both >= std::max(0, ni + nj - n) && both <= std::min(ni, nj);
    CHECK_FOR(p.name(), refuses([&] { require_possible_pairs(changed); }) != possible);
    CHECK_FOR(p.name(), refuses([&] { require_possible_pair(changed, p.d - 1, p.d - 2); }) != possible);
  }
  const std::vector<std::int64_t> many(p.classes, INT32_MAX);
  changed.class_count = many.data();
  CHECK_FOR(p.name(), refuses([&] { require_possible_margins(changed); }));
}

void test_violations(const Problem& p) {
  Violation expected;
  for (std::size_t v = 0; v < p.d; ++v)
    for (std::size_t u = 0; u < p.d; ++u)
      for (std::size_t r = 0; r < p.n && p.parents[u][v] && expected.row < 0; ++r)
        if (p.rows[r][u] && !p.rows[r][v]) expected = {static_cast<std::int64_t>(r), feature_id(v), feature_id(u)};
  const Lists parents(p.parents);
  const auto *indptr = p.columns.indptr.data(), *indices = p.columns.indices.data();
  const Violation found = find_violation(parents.view(), indptr, indices, p.d, p.n, p.n);
  CHECK_FOR(p.name(), found.row == expected.row && found.parent == expected.parent && found.child == expected.child);
  CHECK_FOR(p.name(), expected.row >= 0 && find_violation(parents.view(), indptr, indices, p.d, 0, p.n).row < 0);

  bool related = true;
  for (std::size_t v = 0; v < p.d; ++v) {
    std::vector<bool> visited(p.d, false);
    p.relations().for_each_related(v, [&](std::size_t u) { visited[u] = true; });
    for (std::size_t u = 0; u < p.d; ++u) related = related && visited[u] == p.related(u, v);
  }
  CHECK_FOR(p.name(), related);
}

}  // namespace

void test_counts() {
  test_bits();
  for (const Problem& p : problems()) {
    test_packing(p);
    test_pair_counts(p);
    test_cells_and_blocks(p);
    for (const Counts& counts : {p.dense(), p.sparse()}) test_bands_of_pairs(p, counts);
    test_sum_of_parts(p);
    test_ranges(p);
    test_weights(p);
    test_consistency(p);
    test_violations(p);
  }
}

}  // namespace hietan::tests
