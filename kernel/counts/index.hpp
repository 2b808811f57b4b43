// Arrays number the features by std::int32_t to save memory; loops and subscripts use std::size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hietan {

template <typename Integer>
constexpr std::size_t index(Integer v) {
  return static_cast<std::size_t>(v);
}

// Defined for any two numbers: counts that Python changed in the meantime may wrap around, but nothing else happens.
constexpr std::int32_t wrapped_sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

// How often row r counts: once, unless the rows have weights.
constexpr std::int32_t weight_of(const std::int32_t* weights, std::size_t r) { return weights ? weights[r] : 1; }

constexpr std::int32_t feature_id(std::size_t v) { return static_cast<std::int32_t>(v); }

}  // namespace hietan
