// Names in the text of a list.
#include "names.hpp"

#include <string>

#include "tests/checks.hpp"

namespace hietan::tests {
namespace {

// The text alone: the eight characters after it are all that may be read.
std::int64_t counted(const std::string& text) {
  std::vector<std::uint8_t> own(text.begin(), text.end());
  own.resize(text.size() + 8, 0);
  return count_names(own.data(), text.size());
}

std::string list_of(std::size_t n, std::size_t step) {
  std::string text;
  for (std::size_t k = 0; k < n; ++k) text += (k ? "\", \"T:" : "[\"T:") + std::to_string(10000 + k * step % n);
  return text + "\"]";
}

void test_lists() {
  CHECK(counted(R"(["a"])") == 1);
  CHECK(counted(R"(["a", "b"])") == 2);
  CHECK(counted(R"(["b", "a"])") == 2);
  CHECK(counted(R"(["a", "a"])") == -1);
  CHECK(counted(R"(["b", "a", "b"])") == -1);
  CHECK(counted(R"(["12345678", "1234567812345678", "1"])") == 3);
  CHECK(counted(R"(["12345678123456781", "12345678123456782"])") == 2);
  CHECK(counted(R"(["12345678123456782", "12345678123456782"])") == -1);
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{10}, std::size_t{1000}}) {
    CHECK_FOR(std::to_string(n), counted(list_of(n, 1)) == static_cast<std::int64_t>(n));
    CHECK_FOR(std::to_string(n), counted(list_of(n, 7)) == static_cast<std::int64_t>(n));
  }
}

void test_other_texts() {
  for (const char* text : {"",           "[",          "[]",           "[]]]]]",        "[1, 2]",       R"([")",
                           R"(["])",     R"([""])",    R"(["a")",      R"(["a"]])",     R"(["a","b"])", R"(["a", ""])",
                           R"(["a", )",  R"(["a", ")", R"(["a", "b)",  R"(("a"))",      R"(["a\""])",   R"(["12345678)",
                           "[\"\x80\"]", "[\"\n\"]",   R"(["1234567)", R"(["a" , "b"])"})
    CHECK_FOR(text, counted(text) == -1);
}

// Hashes that ask for the same place are given up after a while, and not before.
void test_crowded_hashes() {
  NameHashes table(100);
  std::uint64_t added = 0;
  while (table.add((added + 1) << 50 | 2)) ++added;
  CHECK(added > 30 && added < 50);  // 41 of them need 820 steps
  NameHashes other(100);
  CHECK(other.add(4) && !other.add(4) && !other.add(5) && other.add(6));
}

}  // namespace

void test_names() {
  test_lists();
  test_other_texts();
  test_crowded_hashes();
}

}  // namespace hietan::tests
