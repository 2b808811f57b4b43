// The scope of a kernel's work: other threads of Python run, and Ctrl-C ends it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "interruption.hpp"

namespace nb = nanobind;

namespace hietan::python {

// What tells the threads of one call to stop, and only these. Threads that such threads start are told as well.
class Stop {
 public:
  Stop() : outer_(current()) {}

  void set() { wanted_ = true; }
  bool wanted() const { return wanted_ || (outer_ && outer_->wanted()); }

  // The one that the kernel's calls of this thread obey.
  static std::shared_ptr<const Stop>& current() {
    static thread_local std::shared_ptr<const Stop> stop;
    return stop;
  }

 private:
  std::shared_ptr<const Stop> outer_;
  std::atomic<bool> wanted_{false};
};

// Releases the GIL, and ends the kernel's work with an exception of Python if the thread's stop is set or, in the main
// thread, where signals are handled, if the handler of a signal raises one.
class Unlocked final : public Listener {
 public:
  Unlocked() : stop_(Stop::current().get()), next_(Clock::now() + kPatience) {}

  void listen() override {
    if (stop_ && stop_->wanted()) {
      const nb::gil_scoped_acquire locked;
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw nb::python_error();
    }
    if (thread_ == Thread::other || Clock::now() < next_) return;
    const nb::gil_scoped_acquire locked;
    if (thread_ == Thread::unknown) thread_ = in_main_thread() ? Thread::main : Thread::other;
    if (thread_ == Thread::main && PyErr_CheckSignals() != 0) throw nb::python_error();
    next_ = Clock::now() + kPatience;
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Thread : unsigned char { unknown, main, other };
  // Rarely enough that taking the GIL costs nothing, even where other threads hold it for long.
  static constexpr std::chrono::milliseconds kPatience{100};

  static bool in_main_thread() {
    const nb::module_ threading = nb::module_::import_("threading");
    return threading.attr("get_ident")().equal(threading.attr("main_thread")().attr("ident"));
  }

  nb::gil_scoped_release release_;
  const Stop* stop_;
  Clock::time_point next_;
  Thread thread_ = Thread::unknown;
};

}  // namespace hietan::python
