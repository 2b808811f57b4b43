// Names in the text of a list.
#include "names.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace hietan::python {
namespace {

std::int64_t py_count_names(In<std::uint8_t, 1> text) {
  const Unlocked unlocked;
  std::vector<std::uint8_t> own;
  own.reserve(text.size() + 8);
  own.assign(text.data(), text.data() + text.size());
  own.resize(text.size() + 8, 0);
  return count_names(own.data(), text.size());
}

}  // namespace

void bind_names(nb::module_& m) { m.def("count_names", &py_count_names, "text"_a.noconvert()); }

}  // namespace hietan::python
