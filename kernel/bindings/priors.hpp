// The prior of the classes, which every score starts from.
#pragma once

#include <algorithm>

#include "bindings/arrays.hpp"

namespace hietan::python {

inline void require_prior(const In<double, 1>& log_prior, std::size_t classes) {
  require(log_prior.shape(0) == classes, "log_prior does not match the number of classes: got ", log_prior.shape(0),
          " entries for ", classes);
}

// The joint log-probabilities to add to: the prior, in each row.
inline Out<double, 2> prior_rows(const In<double, 1>& log_prior, std::size_t rows, std::size_t classes) {
  require_prior(log_prior, classes);
  auto joint = make_array<double>(rows, classes);
  for (std::size_t row = 0; row < rows; ++row)
    std::copy(log_prior.data(), log_prior.data() + classes, joint.data() + row * classes);
  return joint;
}

}  // namespace hietan::python
