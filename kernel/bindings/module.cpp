// Only this folder knows Python: typed arrays in, arrays out, the GIL released around the work.
#include "bindings/bindings.hpp"

NB_MODULE(_kernel, m) {
  m.doc() = "Compiled kernel of hietan: counts, trees and models over plain arrays.";
  hietan::python::bind_counts(m);
  hietan::python::bind_trees(m);
  hietan::python::bind_scores(m);
  hietan::python::bind_openings(m);
  hietan::python::bind_proximal(m);
}
