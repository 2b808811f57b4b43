// Only this folder knows Python: typed arrays in, arrays out, the GIL released around the work.
#include "bindings/bindings.hpp"
#include "bindings/unlocked.hpp"

// What compiled this file, for reports of bugs.
#if defined(__clang__)
#define HIETAN_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define HIETAN_COMPILER "gcc " __VERSION__
#elif defined(_MSC_VER)
#define HIETAN_COMPILER "MSVC " NB_TOSTRING(_MSC_FULL_VER)
#else
#define HIETAN_COMPILER "an unknown compiler"
#endif

namespace hietan::python {
namespace {

constexpr const char* built_by = HIETAN_COMPILER
    " with nanobind " NB_TOSTRING(NB_VERSION_MAJOR) "." NB_TOSTRING(NB_VERSION_MINOR) "." NB_TOSTRING(NB_VERSION_PATCH);

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
  m.attr("BUILT_BY") = hietan::python::built_by;
  // A program that ends by Ctrl-C may leave objects in threads that still run: nothing that a user could repair.
  nb::set_leak_warnings(false);
  hietan::python::bind_stop(m);
  hietan::python::bind_counts(m);
  hietan::python::bind_trees(m);
  hietan::python::bind_scores(m);
  hietan::python::bind_selections(m);
  hietan::python::bind_openings(m);
  hietan::python::bind_proximal(m);
}
