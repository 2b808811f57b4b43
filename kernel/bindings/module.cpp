// This folder alone knows Python: typed arrays in, arrays out, the GIL released around the work.
#include "bindings.hpp"

NB_MODULE(_kernel, m) {
  m.doc() = "Compiled kernel of hietan: counts, information, rankings and trees over plain arrays.";
  hietan::python::bind_counts(m);
  hietan::python::bind_trees(m);
  hietan::python::bind_estimators(m);
  hietan::python::bind_proximal(m);
}
