#include <nanobind/nanobind.h>
NB_MODULE(_kernel, m) { m.doc() = "hietan's compiled kernel"; }
