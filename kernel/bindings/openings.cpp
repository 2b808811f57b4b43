// Features where all their parents are 1: how often, and what they score.
#include "models/openings.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/unlocked.hpp"
#include "counts/possible_openings.hpp"

namespace hietan::python {
namespace {

// The parents of every feature, in arrays of its own.
class PyOpenings {
 public:
  PyOpenings(const In<std::int32_t, 1>& indptr, const In<std::int32_t, 1>& indices, const In<std::int64_t, 1>& depths)
      : openings_(made(indptr, indices, copied(depths))) {}

  const Openings& get() const { return openings_; }

 private:
  static Openings made(const In<std::int32_t, 1>& indptr, const In<std::int32_t, 1>& indices,
                       const std::vector<std::int64_t>& depths) {
    const std::size_t d = depths.size();
    require_features(d);
    require(d > 0 && indptr.shape(0) == d + 1, "depths and parent_indptr do not match each other: got ", d,
            " depths, at least one is needed, and ", indptr.shape(0), " entries of parent_indptr");
    const auto parents = copied_csr(indptr, indices, d);
    require_increasing(parents, "the parents of a feature");
    return {{parents.indptr.data(), parents.indices.data()}, depths.data(), d};
  }

  Openings openings_;
};

// (ones, open, the first violation or None)
template <typename Index>
nb::tuple py_count_openings(const PyOpenings& py_openings, In<Index, 1> indptr, In<Index, 1> indices,
                            In<std::int64_t, 1> codes, std::size_t classes, std::size_t block_rows,
                            const std::optional<In<std::int32_t, 1>>& weights) {
  const Openings& openings = py_openings.get();
  const std::size_t d = openings.features(), n = codes.shape(0);
  require(classes > 0 && classes <= INT32_MAX && block_rows > 0, "n_classes must be from 1 to ", INT32_MAX,
          " and block_rows at least 1, got ", classes, " and ", block_rows);
  require(indptr.shape(0) == n + 1, "indptr and codes do not match each other: got ", indptr.shape(0), " entries for ",
          n, " rows");
  require(n <= INT32_MAX, n, " rows are more than the counts can hold: at most ", INT32_MAX);
  const OwnWeights own_weights(weights, n);
  const std::vector<std::int64_t> own_codes = copied(codes);
  for (const std::int64_t code : own_codes) require_below(code, classes, "a class code");
  auto ones = make_array<std::int32_t>(classes, d), open = make_array<std::int32_t>(classes, d);
  Violation found;
  {
    const Unlocked unlocked;
    const auto rows = copied_csr(indptr, indices, d);
    require_increasing(rows, "the column indices of a row");
    found = count_openings(openings, rows.indptr.data(), rows.indices.data(), own_codes.data(), own_weights.data(), n,
                           classes, block_rows, ones.data(), open.data());
  }
  nb::object violation = nb::none();
  if (found.row >= 0) violation = nb::make_tuple(found.row, found.parent, found.child);
  return nb::make_tuple(ones, open, violation);
}

// 0 if the counts can be those of some rows, and the number of what is wrong with them otherwise.
std::int64_t py_find_impossible_opening(In<std::int32_t, 1> child_indptr, In<std::int32_t, 1> child_indices,
                                        In<std::int64_t, 1> class_count, In<std::int32_t, 2> ones,
                                        In<std::int32_t, 2> open) {
  const std::size_t classes = class_count.shape(0), d = ones.shape(1);
  require_features(d);
  require(ones.shape(0) == classes && open.shape(0) == classes && open.shape(1) == d,
          "ones and open must have a row for each of ", classes, " classes and as many columns as each other, got ",
          ones.shape(0), " x ", d, " and ", open.shape(0), " x ", open.shape(1));
  require(child_indptr.shape(0) == d + 1, "child_indptr must have an entry more than there are features, ", d, "; got ",
          child_indptr.shape(0));
  const Unlocked unlocked;
  require(d + child_indices.shape(0) < INT32_MAX, "there are too many edges: ", child_indices.shape(0));
  const std::vector<std::int64_t> rows = copied(class_count);
  for (const std::int64_t n : rows)
    require(n >= 0 && n <= INT32_MAX, "class_count must be from 0 to ", INT32_MAX, ", got ", n);
  const auto children = copied_csr(child_indptr, child_indices, d);
  require_increasing(children, "the children of a feature");
  const OpenTotals totals{classes, d, rows.data(), ones.data(), open.data()};
  return static_cast<std::int64_t>(find_impossible_opening({children.indptr.data(), children.indices.data()}, totals));
}

// The logarithms, and the scorer of rows that is made of them.
class PyOpenScorer {
 public:
  PyOpenScorer(std::shared_ptr<const PyOpenings> openings, const In<std::int32_t, 2>& ones,
               const In<std::int32_t, 2>& open, const Smoothing& smoothing, std::int64_t left_out,
               std::int64_t left_weight)
      : openings_(std::move(openings)), classes_(ones.shape(0)) {
    const std::size_t d = openings_->get().features();
    require(classes_ > 0 && ones.shape(1) == d && open.shape(0) == classes_ && open.shape(1) == d,
            "ones and open must have a row for each class and a column for each of ", d, " features, got ", classes_,
            " x ", ones.shape(1), " and ", open.shape(0), " x ", open.shape(1));
    require(left_out >= OpenTables::kNobody && (left_out < 0 || index(left_out) < classes_),
            "left_out must be -1 or a class below ", classes_, ", got ", left_out);
    require(left_weight >= 0 && left_weight <= INT32_MAX, "left_weight must be from 0 to ", INT32_MAX, ", got ",
            left_weight);
    const std::vector<std::int32_t> kept_ones = copied(ones), kept_open = copied(open);
    for (std::size_t k = 0; k < kept_ones.size(); ++k)
      require(kept_ones[k] >= 0 && kept_ones[k] <= kept_open[k],
              "ones must be from 0 to the number of rows where the feature is open, got ", kept_ones[k], " of ",
              kept_open[k]);
    on_.resize(kept_ones.size());
    off_.resize(kept_ones.size());
    OpenTables({classes_, d, kept_ones.data(), kept_open.data()}, smoothing, left_out, left_weight)
        .fill(on_.data(), off_.data());
    scorer_ = std::make_unique<const OpenScorer>(openings_->get(), on_.data(), off_.data(), classes_);
  }

  Out<double, 2> on() const { return table(on_); }
  Out<double, 2> off() const { return table(off_); }

  template <typename Index>
  Out<double, 2> log_likelihood(In<Index, 1> indptr, In<Index, 1> indices, In<std::int64_t, 1> rows) const {
    const std::size_t d = openings_->get().features();
    const auto own = copied_csr_rows(indptr, indices, d, rows);
    const std::size_t n = own.indptr.size() - 1;
    auto out = make_array<double>(n, classes_);
    const Unlocked unlocked;
    RowBits bits(d);
    Checkpoint checkpoint;
    for (std::size_t k = 0; k < n; ++k) {
      const Index *begin = own.indices.data() + own.indptr[k], *end = own.indices.data() + own.indptr[k + 1];
      checkpoint.pass(8 + 8 * index(end - begin));  // a one takes several lookups and sums
      scorer_->score(begin, end, bits, out.data() + k * classes_);
    }
    return out;
  }

 private:
  Out<double, 2> table(const std::vector<double>& values) const {
    auto out = make_array<double>(values.size() / classes_, classes_);
    std::copy(values.begin(), values.end(), out.data());
    return out;
  }

  std::shared_ptr<const PyOpenings> openings_;
  std::size_t classes_;
  std::vector<double> on_, off_;  // [feature][class]
  std::unique_ptr<const OpenScorer> scorer_;
};

}  // namespace

void bind_openings(nb::module_& m) {
  nb::class_<PyOpenings>(m, "Openings")
      .def(nb::init<const In<std::int32_t, 1>&, const In<std::int32_t, 1>&, const In<std::int64_t, 1>&>(),
           "parent_indptr"_a.noconvert(), "parent_indices"_a.noconvert(), "depths"_a.noconvert());
  m.def("count_openings", &py_count_openings<std::int32_t>, "openings"_a, "indptr"_a.noconvert(),
        "indices"_a.noconvert(), "codes"_a.noconvert(), "n_classes"_a, "block_rows"_a,
        "weights"_a.noconvert() = nb::none());
  m.def("count_openings", &py_count_openings<std::int64_t>, "openings"_a, "indptr"_a.noconvert(),
        "indices"_a.noconvert(), "codes"_a.noconvert(), "n_classes"_a, "block_rows"_a,
        "weights"_a.noconvert() = nb::none());
  m.def("find_impossible_opening", &py_find_impossible_opening, "child_indptr"_a.noconvert(),
        "child_indices"_a.noconvert(), "class_count"_a.noconvert(), "ones"_a.noconvert(), "open"_a.noconvert());
  nb::class_<PyOpenScorer>(m, "OpenScorer")
      .def(nb::init<std::shared_ptr<const PyOpenings>, const In<std::int32_t, 2>&, const In<std::int32_t, 2>&,
                    const Smoothing&, std::int64_t, std::int64_t>(),
           "openings"_a, "ones"_a.noconvert(), "open"_a.noconvert(), "smoothing"_a, "left_out"_a = OpenTables::kNobody,
           "left_weight"_a = 1)
      .def("on", &PyOpenScorer::on)
      .def("off", &PyOpenScorer::off)
      .def("log_likelihood", &PyOpenScorer::log_likelihood<std::int32_t>, "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "rows"_a.noconvert())
      .def("log_likelihood", &PyOpenScorer::log_likelihood<std::int64_t>, "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "rows"_a.noconvert());
}

}  // namespace hietan::python
