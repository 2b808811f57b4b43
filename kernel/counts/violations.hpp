// Rows that contradict the hierarchy: a feature is 1 although its parent is 0.
#pragma once

#include <vector>

#include "counts/relations.hpp"
#include "counts/words.hpp"

namespace hietan {

struct Violation {
  std::int64_t row = -1;  // -1: none
  std::int32_t parent = -1, child = -1;
};

// The ones of one row at a time, as bits that are set and cleared one by one: no work for the zeros.
class RowBits {
 public:
  explicit RowBits(std::size_t d) : words_(word_count(d), 0) {}

  template <typename Index>
  void set(const Index* begin, const Index* end) {
    for (; begin != end; ++begin) words_[index(*begin) / kLanes] |= Word{1} << (index(*begin) % kLanes);
  }
  template <typename Index>
  void clear(const Index* begin, const Index* end) {
    for (; begin != end; ++begin) words_[index(*begin) / kLanes] = 0;
  }
  bool has(std::size_t v) const { return has_bit(words_[v / kLanes], v % kLanes); }
  const Word* words() const { return words_.data(); }

 private:
  std::vector<Word> words_;
};

// The first contradiction in rows that are seen one at a time: of the first block of rows that has one, the first edge
// in the order of parents and children, and the first row that contradicts it.
class FirstViolation {
 public:
  FirstViolation(const Adjacency& parents, std::size_t block_rows) : parents_(parents), block_rows_(block_rows) {}

  // The child is 1 in this row. Rows come in order.
  void see(std::size_t row, std::int32_t child, const RowBits& bits) {
    for (const std::int32_t* p = parents_.begin(index(child)); p != parents_.end(index(child)); ++p) {
      if (bits.has(index(*p))) continue;
      if (found_.row < 0 || (!passed(row) && before(*p, child))) found_ = {static_cast<std::int64_t>(row), *p, child};
      return;  // the parents ascend
    }
  }
  // Whether nothing in this row or a later one can change what was found.
  bool passed(std::size_t row) const { return found_.row >= 0 && row / block_rows_ != index(found_.row) / block_rows_; }
  const Violation& found() const { return found_; }

 private:
  bool before(std::int32_t parent, std::int32_t child) const {
    return parent < found_.parent || (parent == found_.parent && child < found_.child);
  }

  Adjacency parents_;
  std::size_t block_rows_;
  Violation found_;
};

// The first contradiction in the rows of a CSR matrix whose stored entries are the ones: the work grows with their
// number only.
template <typename Pointer, typename Index>
Violation find_violation(const Adjacency& parents, const Pointer* indptr, const Index* indices, std::size_t d,
                         std::size_t rows, std::size_t block_rows) {
  RowBits bits(d);
  FirstViolation first(parents, block_rows);
  Checkpoint checkpoint;
  for (std::size_t row = 0; row < rows && !first.passed(row); ++row) {
    const Index *begin = indices + indptr[row], *end = indices + indptr[row + 1];
    checkpoint.pass(4 + 4 * index(end - begin));
    bits.set(begin, end);
    for (const Index* u = begin; u != end; ++u) first.see(row, feature_id(index(*u)), bits);
    bits.clear(begin, end);
  }
  return first.found();
}

}  // namespace hietan
