// Names in the text of a list, counted and compared without making a string of each.
#pragma once

#include <cstdint>
#include <vector>

#include "counts/index.hpp"
#include "counts/words.hpp"
#include "interruption.hpp"

namespace hietan {

// The hashes of the names that have been seen.
class NameHashes {
 public:
  explicit NameHashes(std::size_t most) : left_(kProbes * most) {
    std::size_t size = 16;
    while (size < 2 * most) size *= 2;
    slots_.assign(size, 0);
  }

  // Whether the hash is a new one: then so is the name. False also if many hashes ask for the same places, as they only
  // do where somebody has chosen the names for it; so no names take more than a few steps each.
  bool add(std::uint64_t hash) {
    hash |= 1;  // 0 is an empty slot
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = index(hash >> 32) & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
      if (slots_[at] == hash || left_ == 0) return false;
      --left_;
    }
    slots_[at] = hash;
    return true;
  }

 private:
  static constexpr std::size_t kProbes = 8;  // for each name; one is usual

  std::vector<std::uint64_t> slots_;
  std::size_t left_;
};

namespace detail {

constexpr Word kOnes = 0x0101010101010101;

// Eight characters, the first one in the highest byte: words are in the order of the texts.
inline Word word_at(const std::uint8_t* text) {
  Word word = 0;
  for (int k = 0; k < 8; ++k) word |= Word{text[k]} << (56 - 8 * k);
  return word;
}

// The highest bit of each byte that is a quote; the bytes are below 128.
inline Word quotes_in(Word word) { return ~((word ^ kOnes * '"') + kOnes * 127) & kOnes * 128; }

inline std::uint64_t mixed(std::uint64_t hash, Word word) {
  hash ^= word;
  hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

// Whether all characters stand for themselves in JSON: printable ones of ASCII without the backslash.
inline bool is_plain(const std::uint8_t* text, std::size_t length) {
  std::uint8_t other = 0;
  for (std::size_t k = 0; k < length; ++k)
    other |= static_cast<std::uint8_t>((text[k] < ' ') | (text[k] > '~') | (text[k] == '\\'));
  return other == 0;
}

// What is compared of a name: its first characters, two words in the order of the texts, and a hash of all of them.
struct NameParts {
  Word first = 0, second = 0;
  std::uint64_t hash = 0;
};

// Calls f(parts) for each name in a text such as ["a", "b"], with these spaces and no others, until it returns false.
// Whether it never did, and the text is such a text without empty names. All characters are plain, and eight more can
// be read after the `length` ones of the text.
template <typename F>
bool for_each_name(const std::uint8_t* text, std::size_t length, F&& f) {
  if (length < 5 || text[0] != '[' || text[1] != '"') return false;
  Checkpoint checkpoint;
  for (std::size_t at = 2;; at += 4) {
    const std::size_t start = at;
    NameParts parts;
    Word word = word_at(text + at), quotes = quotes_in(word);
    for (; quotes == 0; quotes = quotes_in(word)) {
      (at == start ? parts.first : at == start + 8 ? parts.second : word) = word;
      parts.hash = mixed(parts.hash, word);
      at += 8;
      if (at >= length) return false;
      word = word_at(text + at);
    }
    const std::size_t rest = index(63 - highest_bit(quotes)) / 8;
    if (at + rest == start) return false;
    word &= ~(~Word{0} >> 8 * rest);
    (at == start ? parts.first : at == start + 8 ? parts.second : word) = word;
    parts.hash = mixed(parts.hash, word);
    at += rest;
    checkpoint.pass(1 + (at - start) / 8);
    if (at + 2 > length || !f(parts)) return false;
    if (at + 2 == length) return text[at + 1] == ']';
    if (at + 5 > length || text[at + 1] != ',' || text[at + 2] != ' ' || text[at + 3] != '"') return false;
  }
}

}  // namespace detail

// The number of names in a text such as ["a", "b"], with these spaces and no others. -1 if it is not such a text of
// plain characters, if a name is empty, and if one is repeated or may be: two names with the same hash are not
// compared. Names that increase within their first 16 characters are known to differ without that. Eight more
// characters can be read after the `length` ones of the text.
inline std::int64_t count_names(const std::uint8_t* text, std::size_t length) {
  if (!detail::is_plain(text, length)) return -1;
  std::int64_t n = 0;
  bool increase = true;
  detail::NameParts last;
  const bool is_list = detail::for_each_name(text, length, [&](const detail::NameParts& name) {
    increase &= (name.first > last.first) | ((name.first == last.first) & (name.second > last.second));
    last = name;
    ++n;
    return true;
  });
  if (!is_list) return -1;
  if (increase) return n;
  NameHashes seen(index(n));
  const auto is_new = [&](const detail::NameParts& name) { return seen.add(name.hash); };
  return detail::for_each_name(text, length, is_new) ? n : -1;
}

}  // namespace hietan
