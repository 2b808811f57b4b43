"""Call every binding of the kernel with arguments that are wrong in some way: it must answer or refuse, never crash.

    python fuzz_kernel.py SECONDS SEED [EXTENSION]

The seed of each round is written to the standard error as it begins, over the last one. EXTENSION is the file of a
kernel built with sanitizers; without it, the one that is installed is used.
"""

import importlib.util
import sys
import time
from functools import partial

import numpy as np

REFUSALS = (ValueError, TypeError, MemoryError)
# No number of features or rows between 2**16 and 2**31: they are valid, and take gigabytes.
INTEGERS = (
    -1,
    0,
    1,
    2,
    63,
    64,
    65,
    1000,
    2**31,
    2**32,
    2**33 + 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 63,
    2**64 - 2,
)
FLOATS = (float("nan"), float("inf"), -1.0, 0.0, 1e308, 5e-324)
DTYPES = (np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_, object)


def load_kernel(path):
    if path is None:
        from hietan import _kernel

        return _kernel
    spec = importlib.util.spec_from_file_location("_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def csr(table, dtype):
    indptr = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
    return indptr.astype(dtype), np.nonzero(table)[1].astype(dtype)


def arrays(rng, kernel):
    """All arrays of a random problem, valid."""
    n, d, classes = int(rng.integers(1, 150)), int(rng.integers(1, 10)), int(rng.integers(1, 4))
    X = (rng.random((n, d)) < rng.choice([0.1, 0.5, 0.9])).astype(np.uint8)
    y = rng.integers(0, classes, n)
    above = np.tril(rng.random((d, d)) < 0.3, -1)
    for v in range(d):
        above[v] |= above[above[v]].any(axis=0)
    a = {"values": X, "rows": np.arange(n), "codes": y, "root_order": rng.permutation(d)}
    a["indptr"], a["indices"] = csr(X, rng.choice([np.int32, np.int64]))
    a["words"] = kernel.pack_dense(X, a["rows"])
    a["class_count"] = np.bincount(y, minlength=classes)
    a["ones"] = np.stack([X[y == c].sum(axis=0) for c in range(classes)]).astype(np.int32)
    i, j = np.triu_indices(d, 1)
    a["pairs"] = np.stack([(X[y == c][:, i] & X[y == c][:, j]).sum(axis=0) for c in range(classes)])
    a["pairs"] = a["pairs"].astype(np.int32)
    a["pair_indptr"], a["pair_indices"], a["pair_values"] = (
        part.copy() if rng.random() < 0.5 else part
        for part in kernel.count_cooccurrences(a["indptr"], a["indices"], y, np.zeros((classes, d), np.int32))
    )
    a["keys"] = rng.integers(0, 10, d * (d - 1) // 2)
    a["up_indptr"], a["up_indices"] = csr(above, np.int32)
    a["down_indptr"], a["down_indices"] = csr(above.T, np.int32)
    a["depths"] = above.sum(axis=1)
    a["open"] = np.maximum(a["ones"], rng.integers(0, n + 1, a["ones"].shape, dtype=np.int32))
    a["parent"] = np.where(rng.random(d) < 0.5, -1, -2).astype(np.int32)
    a["parents"] = np.tile(a["parent"], (n, 1))
    a["log_prior"] = np.full(classes, -1.0)
    a["vector"], a["lambdas"] = rng.normal(size=d), np.array([0.5, 0.1])
    a["csr_indptr"], a["csr_indices"] = a["indptr"].astype(np.int64), a["indices"].astype(np.int32)
    a["csr_values"], a["sign"] = np.ones(a["indices"].size), np.where(y == 0, 1.0, -1.0)
    a["weight"] = np.full(n, 1 / n)
    a["first"], a["second"] = np.zeros(1, np.int64), np.full(1, d - 1)
    return a


def damaged_array(rng, array):
    """The array with another type, shape, order or content."""
    way = int(rng.integers(0, 9))
    if way == 0:
        with np.errstate(invalid="ignore", over="ignore"):
            return array.astype(rng.choice(DTYPES))
    if way == 1:
        return array[: int(rng.integers(0, len(array) + 1))]
    if way == 2:
        return np.concatenate([array, array[-1:]])
    if way == 3:
        return array[None] if rng.random() < 0.5 else array.reshape(-1)
    if way == 4:
        return np.repeat(array, 2, axis=0)[::2]  # not contiguous
    if way == 5:
        return np.asfortranarray(array[..., ::-1])
    if way == 6:
        return np.broadcast_to(np.zeros(1, array.dtype), array.shape)  # read-only, all entries in one place
    if way == 7:
        return np.zeros((0, *array.shape[1:]), array.dtype)
    array = array.copy()
    scribble(rng, array)
    return array


def scribble(rng, array):
    """Write to some entries, if that is allowed."""
    if not array.size or not array.flags.writeable or not array.flags.c_contiguous or array.dtype == object:
        return
    flat = array.reshape(-1)
    where = rng.random(flat.size) < rng.choice([0.1, 0.5, 1.0])
    if array.dtype.kind == "f":
        flat[where] = rng.choice(FLOATS)
    elif array.dtype.kind in "iu":
        span = np.iinfo(array.dtype)
        special = [v for v in (span.min, span.max, span.max - 1, -1, 0, 1, 2, 5, 100) if v >= span.min]
        flat[where] = np.array(special, dtype=array.dtype)[int(rng.integers(0, len(special)))]


def damaged(rng, value):
    """Another argument than `value`."""
    if isinstance(value, np.ndarray):
        return damaged_array(rng, value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return INTEGERS[int(rng.integers(0, len(INTEGERS)))]
    if isinstance(value, float):
        return FLOATS[int(rng.integers(0, len(FLOATS)))]
    return rng.choice(["", "naive", "pooled"]) if isinstance(value, str) else None


class Round:
    """One random problem: objects made of valid and of damaged arrays, which then are written to, and calls."""

    def __init__(self, seed, kernel):
        self.rng, self.kernel = np.random.default_rng(seed), kernel
        self.a = arrays(self.rng, kernel)
        self.called, self.refused = set(), 0

    def call(self, name, *arguments, share=0.4):
        """What the binding returns for the arguments, one of which may be damaged; None if it refuses them."""
        arguments = list(arguments)
        if arguments and self.rng.random() < share:
            k = int(self.rng.integers(0, len(arguments)))
            arguments[k] = damaged(self.rng, arguments[k])
        self.called.add(name.partition(".")[0])
        function = self.kernel
        for part in name.split("."):
            function = getattr(function, part)
        try:
            return function(*arguments)
        except REFUSALS:
            self.refused += 1

    def make(self, name, *arguments):
        """An object of the kernel: of a damaged argument, if it takes that, else of the arguments as they are."""
        return self.call(name, *arguments) or self.call(name, *arguments, share=0)

    def run(self):
        a, make, d = self.a, self.make, self.a["ones"].shape[1]
        margins = a["class_count"], a["ones"]
        counts = [
            make("Counts", *margins, a["pairs"]),
            make("Counts", *margins, a["pair_values"], a["pair_indptr"], a["pair_indices"]),
            make("Counts", *margins, np.zeros((len(a["ones"]), 0), np.int32)),
        ]
        relations = make("Relations", a["up_indptr"], a["up_indices"], a["down_indptr"], a["down_indices"])
        keys = make("SparseKeys", counts[1])
        rankings = [make("Ranking", k, relations, int(self.rng.integers(0, 5))) for k in (a["keys"], keys)]
        penalty = make("GraphPenalty", a["down_indptr"], a["down_indices"])
        openings = make("Openings", a["up_indptr"], a["up_indices"], a["depths"])
        smoothing = make("Smoothing", str(self.rng.choice(self.kernel.SMOOTHINGS)), 1.0)
        if self.rng.random() < 0.5:
            for array in a.values():
                if self.rng.random() < 0.3:
                    scribble(self.rng, array)
        self.read_rows()
        for some in counts:
            self.score(some, relations, smoothing, rankings)
            self.call("add_cooccurrences", some, counts[1])
        for some in (a["keys"], keys):
            self.call("hierarchical_tree", some, relations, a["root_order"], int(self.rng.integers(0, 5)))
        for ranking in rankings:
            self.learn(ranking, d)
        self.call("SparseKeys.row", keys, 0)
        self.penalise(penalty)
        self.open(openings, smoothing)

    def open(self, openings, smoothing):
        a, classes = self.a, len(self.a["ones"])
        table = a["indptr"], a["indices"]
        self.call("count_openings", openings, *table, a["codes"], classes, int(self.rng.integers(1, 70)))
        for left_out in (-1, 0):
            scorer = self.make("OpenScorer", openings, a["ones"], a["open"], smoothing, left_out)
            if scorer is not None:  # the arrays may have been written to since
                self.call("OpenScorer.log_likelihood", scorer, *table, a["rows"])
                assert scorer.on().shape == scorer.off().shape == a["ones"].shape[::-1]

    def read_rows(self):
        a, call, (n, d) = self.a, self.call, self.a["values"].shape
        totals = np.zeros(d, np.int32), np.zeros(d * (d - 1) // 2, np.int32)
        call("pack_dense", a["values"], a["rows"])
        call("pack_sparse", a["indptr"], a["indices"], d, a["rows"])
        call("count_words", a["words"], *totals)
        call("count_sparse", a["indptr"], a["indices"], a["rows"], *totals)
        call("count_cooccurrences", a["indptr"], a["indices"], a["codes"], a["ones"].copy())
        call("find_violation", a["down_indptr"], a["down_indices"], a["words"], n)
        call("spanning_tree", a["keys"], d, 0)

    def score(self, counts, relations, smoothing, rankings):
        a, call, n = self.a, self.call, len(self.a["values"])
        rows, rest = (a["words"], n), (counts, a["log_prior"], smoothing)
        call("cmi_keys", counts)
        call("pair_keys", a["first"], a["second"], counts)
        call("most_informative", counts)
        call("tree_joint_log", a["parent"], *rows, *rest)
        call("tree_factors", a["parents"], *rows, counts, smoothing)
        for ancestors in ("depend", "naive", "absent"):
            call("aode_joint_log", relations, ancestors, 1, *rows, a["log_prior"], *rest)
            call("aode_factors", relations, ancestors, 1, *rows, *rest)
        call("hip_select", relations, a["words"])
        call("hip_joint_log", relations, *rows, *rest)
        for ranking in rankings:
            call("lazy_joint_log", ranking, *rows, a["root_order"], 0, bool(self.rng.random() < 0.5), *rest)

    def learn(self, ranking, d):
        a, n = self.a, len(self.a["values"])
        self.call("Ranking.sort", ranking, 3)
        for directed in (True, False):
            self.call("lazy_trees", ranking, a["words"], n, a["root_order"], d - 1, directed, False)
        self.call("Ranking.edges", ranking, d)
        assert ranking is None or ranking.n_sorted >= 0

    def penalise(self, penalty):
        a = self.a
        for method in ("maxima", "dual_norm"):
            self.call(f"GraphPenalty.{method}", penalty, a["vector"])
        self.call("GraphPenalty.prox", penalty, a["vector"], 0.5)
        rows = (a["csr_indptr"], a["csr_indices"], a["csr_values"], a["sign"], a["weight"])
        # A number of iterations that is too large is valid, and takes for ever.
        path = partial(self.kernel.logistic_path, max_iter=int(self.rng.choice([-1, 0, 1, 20])), tol=1e-3)
        k = int(self.rng.integers(0, 7))
        arguments = [*rows, penalty, a["lambdas"]]
        arguments[k] = damaged(self.rng, arguments[k])
        self.called.add("logistic_path")
        try:
            path(*arguments)
        except REFUSALS:
            self.refused += 1


def main(seconds, seed, path=None):
    kernel = load_kernel(path)
    names = {name for name in dir(kernel) if not name.startswith("_")} - {"SMOOTHINGS"}
    rounds = refused = 0
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        sys.stderr.write(f"\rseed {int(seed) + rounds}")
        this = Round(int(seed) + rounds, kernel)
        this.run()
        assert this.called == names, f"not called: {sorted(names - this.called)}"
        rounds, refused = rounds + 1, refused + this.refused
    print(f"{rounds} rounds from seed {seed}, {refused} calls refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
