// Memory for large arrays that are written to before they are read.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace hietan {

// For vectors of plain numbers: `resize` leaves new ones uninitialised, which saves a pass over them.
template <typename T>
struct PlainAllocator : std::allocator<T> {
  template <typename Other>
  struct rebind {
    using other = PlainAllocator<Other>;
  };

  template <typename Other>
  void construct(Other* at) {
    ::new (static_cast<void*>(at)) Other;
  }
  template <typename Other, typename... Arguments>
  void construct(Other* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) Other(std::forward<Arguments>(arguments)...);
  }
};

template <typename T>
using PlainVector = std::vector<T, PlainAllocator<T>>;

}  // namespace hietan
