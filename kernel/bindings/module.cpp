// Only this folder knows Python: typed arrays in, arrays out, the GIL released around the work.
#include "bindings/bindings.hpp"
#include "bindings/unlocked.hpp"

namespace hietan::python {
namespace {

struct PyStop {
  std::shared_ptr<Stop> stop = std::make_shared<Stop>();
};

void bind_stop(nb::module_& m) {
  nb::class_<PyStop>(m, "Stop")
      .def(nb::init<>())
      .def("set", [](const PyStop& self) { self.stop->set(); })
      .def("obey", [](const PyStop& self) { Stop::current() = self.stop; });
}

}  // namespace
}  // namespace hietan::python

NB_MODULE(_kernel, m) {
  m.doc() = "Compiled kernel of hietan: counts, trees and models over plain arrays.";
  hietan::python::bind_stop(m);
  hietan::python::bind_counts(m);
  hietan::python::bind_trees(m);
  hietan::python::bind_scores(m);
  hietan::python::bind_selections(m);
  hietan::python::bind_openings(m);
  hietan::python::bind_proximal(m);
}
