// The kernel's headers without Python, against expectations found by brute force. `make sanitize` builds and runs it.
#include "tests/checks.hpp"

// NOLINTNEXTLINE(bugprone-exception-escape): an exception that nothing catches fails the run, as it should
int main() {
  hietan::tests::test_counts();
  hietan::tests::test_trees();
  hietan::tests::test_models();
  hietan::tests::test_openings();
  hietan::tests::test_penalty();
  std::printf("%d checks, %d failures\n", hietan::tests::checks, hietan::tests::failures);
  return hietan::tests::failures ? 1 : 0;
}
