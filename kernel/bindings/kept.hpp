// Arrays that an object reads long after Python handed them over.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"

namespace hietan::python {

// Whether nobody can write to the memory of a NumPy array, now or later. That is certain only of the kernel's own
// read-only results and of views of them: an array that NumPy allocated can be made writable again.
inline bool immutable(nb::handle array) {
  const nb::object ndarray = nb::module_::import_("numpy").attr("ndarray");
  nb::object owner = nb::borrow(array);
  while (owner.type().is(ndarray)) {
    if (nb::cast<bool>(owner.attr("flags").attr("writeable"))) return false;
    owner = owner.attr("base");
  }
  if (!PyMemoryView_Check(owner.ptr())) return false;
  owner = owner.attr("obj");
  if (nb::str(owner.type()).c_str() != std::string("<class 'nanobind.nb_ndarray'>")) return false;
  Py_buffer view;
  if (PyObject_GetBuffer(owner.ptr(), &view, PyBUF_WRITABLE) == 0) {
    PyBuffer_Release(&view);
    return false;
  }
  PyErr_Clear();
  return true;
}

// The entries of an array as they were: shared where nobody can write to them any more, else copied.
template <typename T, int Dims>
class Kept {
 public:
  Kept(nb::handle array, const char* name) {
    if (!nb::try_cast(array, shared_, false))
      throw nb::type_error((std::string(name) + " has the wrong type, order or number of dimensions").c_str());
    for (int k = 0; k < Dims; ++k) shape_[index(k)] = shared_.shape(index(k));
    if (immutable(array)) return;
    copy_ = copied(shared_);
    shared_ = {};
  }

  const T* data() const { return shared_.is_valid() ? shared_.data() : copy_.data(); }
  std::size_t shape(std::size_t k) const { return shape_[k]; }

 private:
  In<T, Dims> shared_;
  std::vector<T> copy_;
  std::array<std::size_t, Dims> shape_{};
};

}  // namespace hietan::python
