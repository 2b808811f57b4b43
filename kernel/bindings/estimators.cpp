// Averaged one-dependence estimators and HIP.
#include <nanobind/stl/string.h>

#include <string>

#include "../aode.hpp"
#include "../hip.hpp"
#include "bindings.hpp"
#include "handles.hpp"

namespace hietan::python {
namespace {

Ancestors ancestors_named(const std::string& name) {
  if (name == "depend") return Ancestors::depend;
  if (name == "naive") return Ancestors::naive;
  require(name == "absent", "ancestors must be depend, naive or absent");
  return Ancestors::absent;
}

Out<double, 2> py_aode_joint_log(const PyRelations& relations, const std::string& ancestors,
                                 std::int64_t min_frequency, In<Word, 2> words, std::size_t rows,
                                 In<double, 1> naive_log_prior, const PyCounts& py_counts, In<double, 1> log_prior,
                                 double alpha, bool pooled) {
  const Counts counts = py_counts.with_pairs();
  require(counts.d == relations.features(), "the relations do not fit the counts");
  require_words(words, rows, counts.d);
  require(naive_log_prior.shape(0) == counts.classes, "naive_log_prior does not fit the number of classes");
  const Ancestors kind = ancestors_named(ancestors);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  aode(Tables(counts, alpha, pooled), relations.view(), kind, min_frequency, words.data(), rows, log_prior.data(),
       naive_log_prior.data(), joint.data());
  return joint;
}

// (factors, averaging, whether estimators qualified) of each row.
nb::tuple py_aode_factors(const PyRelations& relations, const std::string& ancestors, std::int64_t min_frequency,
                          In<Word, 2> words, std::size_t rows, const PyCounts& py_counts,
                          In<double, 1> log_prior, double alpha, bool pooled) {
  const Counts counts = py_counts.with_pairs();
  require(counts.d == relations.features(), "the relations do not fit the counts");
  require_words(words, rows, counts.d);
  require(log_prior.shape(0) == counts.classes, "log_prior does not fit the number of classes");
  const Ancestors kind = ancestors_named(ancestors);
  auto factors = make_array<double>(rows, counts.d, counts.classes);
  auto averaging = make_array<double>(rows, counts.classes);
  auto averaged = make_array<bool>(rows);
  {
    nb::gil_scoped_release release;
    const Tables tables(counts, alpha, pooled);
    for (std::size_t row = 0; row < rows; ++row)
      averaged.data()[row] = aode_factors(
          tables, relations.view(), kind, min_frequency, words.data() + row / kLanes * counts.d, row % kLanes,
          log_prior.data(), factors.data() + row * counts.d * counts.classes, averaging.data() + row * counts.classes);
  }
  return nb::make_tuple(factors, averaging, averaged);
}

Out<Word, 2> py_hip_select(const PyRelations& relations, In<Word, 2> words) {
  const std::size_t d = relations.features(), batches = words.shape(0);
  require(words.shape(1) == d, "words do not fit the number of features");
  auto kept = make_array<Word>(batches, d);
  nb::gil_scoped_release release;
  for (std::size_t b = 0; b < batches; ++b) hip_select(relations.view(), words.data() + b * d, kept.data() + b * d);
  return kept;
}

Out<double, 2> py_hip_joint_log(const PyRelations& relations, In<Word, 2> words, std::size_t rows,
                                const PyCounts& py_counts, In<double, 1> log_prior, double alpha, bool pooled) {
  const Counts counts = py_counts.view();
  require(counts.d == relations.features(), "the relations do not fit the counts");
  require_words(words, rows, counts.d);
  auto joint = prior_rows(log_prior, rows, counts.classes);
  nb::gil_scoped_release release;
  hip_naive_bayes(Tables(counts, alpha, pooled), relations.view(), words.data(), rows, joint.data());
  return joint;
}

}  // namespace

void bind_estimators(nb::module_& m) {
  m.def("aode_joint_log", &py_aode_joint_log, "relations"_a, "ancestors"_a, "min_frequency"_a, "words"_a.noconvert(),
        "n_rows"_a, "naive_log_prior"_a.noconvert(), "counts"_a, "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("hip_select", &py_hip_select, "relations"_a, "words"_a.noconvert());
  m.def("hip_joint_log", &py_hip_joint_log, "relations"_a, "words"_a.noconvert(), "n_rows"_a,
        "counts"_a, "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
  m.def("aode_factors", &py_aode_factors, "relations"_a, "ancestors"_a, "min_frequency"_a, "words"_a.noconvert(),
        "n_rows"_a, "counts"_a, "log_prior"_a.noconvert(), "alpha"_a, "pooled"_a);
}

}  // namespace hietan::python
