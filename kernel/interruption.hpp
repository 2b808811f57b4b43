// End a long call whose result nobody needs any more.
//
// Loops pass a checkpoint in every round. A caller can register a listener for its thread. Every 100,000 steps or so, a
// checkpoint asks the listener, which ends the call by throwing an exception. The caller sees no partial results: the
// call writes them to its own memory first.
#pragma once

#include <cstddef>

// Keeps what is rarely called out of the loops that call it.
#if defined(__GNUC__)
#define HIETAN_RARELY_CALLED __attribute__((noinline, cold))
#else
#define HIETAN_RARELY_CALLED
#endif

namespace hietan {

class Listener {
 public:
  Listener() : outer_(current()) { current() = this; }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Throws if the call should end.
  virtual void listen() = 0;

  HIETAN_RARELY_CALLED static void ask() {
    if (Listener* listener = current()) listener->listen();
  }

 protected:
  ~Listener() { current() = outer_; }

 private:
  // That of this thread, for as long as it lives; as an argument, it would be one of nearly every function.
  static Listener*& current() {
    static thread_local Listener* listener = nullptr;
    return listener;
  }

  Listener* outer_;
};

// Counts the steps of a loop, so that the listener is not asked too often: a step takes some nanoseconds.
class Checkpoint {
 public:
  void pass(std::size_t steps) {
    steps_ += steps;
    if (steps_ < kSteps) return;
    steps_ = 0;
    Listener::ask();
  }

 private:
  static constexpr std::size_t kSteps = std::size_t{1} << 17;

  std::size_t steps_ = 0;
};

}  // namespace hietan
