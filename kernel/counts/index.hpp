// Arrays number the features by std::int32_t to save memory; loops and subscripts use std::size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hietan {

template <typename Integer>
constexpr std::size_t index(Integer v) {
  return static_cast<std::size_t>(v);
}

constexpr std::int32_t feature_id(std::size_t v) { return static_cast<std::int32_t>(v); }

}  // namespace hietan
