// One function per bindings file.
#pragma once

#include <nanobind/nanobind.h>

namespace hietan::python {

void bind_counts(nanobind::module_& m);
void bind_trees(nanobind::module_& m);
void bind_scores(nanobind::module_& m);
void bind_selections(nanobind::module_& m);
void bind_openings(nanobind::module_& m);
void bind_proximal(nanobind::module_& m);

}  // namespace hietan::python
