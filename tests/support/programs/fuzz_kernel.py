"""Call every binding of the kernel with arguments that are right or wrong in some way: it must answer or refuse.

    python fuzz_kernel.py [--cases N] [--seed N] [--extension FILE]

A case is a call. It must not crash; it returns a result of the right type and shape, or raises one of REFUSALS. With
`--extension`, the file of a kernel built with sanitizers, that one is called.

The seed of each round is written to the standard error as it begins, over the last one: `--seed N --cases 1` repeats
that round alone. The number of calls, and how many of them were refused, are printed at the end.

To add an entry, call it in one of the methods of `Round` by `self.call(name, *arguments, gives=...)`, with arguments
that are valid: damage is done to them here.
"""

import argparse
import importlib.util
import sys
from collections import Counter

import numpy as np
from damaged_arguments import damaged, scribble

REFUSALS = (ValueError, TypeError, MemoryError)


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
    """All arrays of a random problem, valid. Most are tiny: what goes wrong does so at the edges."""
    widest = 40 if rng.random() < 0.1 else 10
    longest = 400 if rng.random() < 0.05 else 150
    n, d, classes = int(rng.integers(1, longest)), int(rng.integers(1, widest)), int(rng.integers(1, 4))
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
        part.copy() if rng.random() < 0.5 else part for part in cooccurrences(kernel, a, d, classes)
    )
    if rng.random() < 0.02:  # more rows than logarithms are kept for
        for name in ("class_count", "ones", "pairs", "pair_values"):
            a[name] = a[name] * a[name].dtype.type(2000)
    a["keys"] = rng.integers(0, 10, d * (d - 1) // 2)
    a["up_indptr"], a["up_indices"] = csr(above, np.int32)
    a["down_indptr"], a["down_indices"] = csr(above.T, np.int32)
    a["edge_parent"], a["edge_child"] = np.nonzero(above.T)
    a["depths"] = above.sum(axis=1)
    a["open"] = np.maximum(a["ones"], rng.integers(0, n + 1, a["ones"].shape, dtype=np.int32))
    a["child_indptr"], a["child_indices"] = csr(above.T & (rng.random((d, d)) < 0.7), np.int32)
    a["parent"] = np.array([rng.integers(-2, max(v, 1)) if v else -1 for v in range(d)], np.int32)
    a["parents"] = np.tile(a["parent"], (n, 1))
    a["relevance"] = rng.integers(0, 4, d, dtype=np.int32)
    a["log_prior"] = np.full(classes, -1.0)
    a["vector"], a["lambdas"] = rng.normal(size=d), np.array([0.5, 0.1])
    a["csr_indptr"], a["csr_indices"] = a["indptr"].astype(np.int64), a["indices"].astype(np.int32)
    a["csr_values"], a["sign"] = np.ones(a["indices"].size), np.where(y == 0, 1.0, -1.0)
    a["weight"] = np.full(n, 1 / n)
    a["first"], a["second"] = np.zeros(1, np.int64), np.full(1, d - 1)
    return a


def cooccurrences(kernel, a, d, classes):
    counting = kernel.Cooccurrences(a["indptr"], a["indices"], a["codes"], d, classes)
    counting.count(0)
    counting.join(0)
    return counting.take()[1:]


def require_given(result, gives, where):
    """`gives` is a type; or the dtype and the shape of an array; or a list of these, of a tuple."""
    if isinstance(gives, list):
        assert isinstance(result, tuple) and len(result) == len(gives), (where, result)
        for part, expected in zip(result, gives, strict=True):
            require_given(part, expected, where)
    elif isinstance(gives, tuple):
        dtype, *shape = gives
        assert isinstance(result, np.ndarray) and result.dtype == dtype, (where, result)
        assert len(shape) == result.ndim, (where, shape, result.shape)
        assert all(s in (None, r) for s, r in zip(shape, result.shape, strict=True)), (where, result.shape)
    else:
        assert isinstance(result, gives), (where, result)


class Round:
    """One random problem: objects made of valid and of damaged arrays, which then are written to, and calls."""

    def __init__(self, seed, kernel):
        self.rng, self.kernel = np.random.default_rng(seed), kernel
        self.seed, self.a = seed, arrays(self.rng, kernel)
        self.called, self.refused = Counter(), Counter()

    def call(self, name, *arguments, share=0.4, gives=object, **options):
        """What the binding returns for the arguments, one of which may be damaged; None if it refuses them.

        What an undamaged call returns is compared with `gives`: see `require_given`.
        """
        arguments = list(arguments)
        is_damaged = bool(arguments) and self.rng.random() < share
        if is_damaged:
            k = int(self.rng.integers(0, len(arguments)))
            arguments[k] = damaged(self.rng, arguments[k])
        self.called[name] += 1
        function = self.kernel
        for part in name.split("."):
            function = getattr(function, part)
        where = f"{name} in the round of seed {self.seed}"
        try:
            result = function(*arguments, **options)
        except REFUSALS:
            self.refused[name] += 1
            return None
        if not is_damaged:
            require_given(result, gives, where)
        return result

    def make(self, name, *arguments):
        """An object of the kernel: of a damaged argument, if it takes that, else of the arguments as they are."""
        made = self.call(name, *arguments)
        return self.call(name, *arguments, share=0) if made is None else made

    def run(self):
        a, make, d = self.a, self.make, self.a["ones"].shape[1]
        margins = a["class_count"], a["ones"]
        counts = [
            make("Counts", *margins, a["pairs"]),
            make("Counts", *margins, a["pair_values"], a["pair_indptr"], a["pair_indices"]),
            make("Counts", *margins, np.zeros((len(a["ones"]), 0), np.int32)),
        ]
        relations = make("Relations", a["up_indptr"], a["up_indices"], a["down_indptr"], a["down_indices"])
        keys = self.compute_keys(counts[1])
        rankings = [make("Ranking", k, relations, int(self.rng.integers(0, 5))) for k in (a["keys"], keys)]
        penalty = make("GraphPenalty", a["child_indptr"], a["child_indices"])
        openings = make("Openings", a["up_indptr"], a["up_indices"], a["depths"])
        smoothing = make("Smoothing", str(self.rng.choice(self.kernel.SMOOTHINGS)), 1.0)
        if self.rng.random() < 0.5:
            for array in a.values():
                if self.rng.random() < 0.3:
                    scribble(self.rng, array)
        self.read_rows()
        for some in counts:
            self.score(some, relations, smoothing, rankings)
            self.call("add_cooccurrences", some, counts[1], gives=ALL_COOCCURRENCES)
        for some in (a["keys"], keys):
            order, block = a["root_order"], int(self.rng.integers(0, 5))
            self.call("hierarchical_tree", some, relations, order, block, gives=(np.int32, None))
        for ranking in rankings:
            self.learn(ranking, d)
        self.call("SparseKeys.row", keys, 0, gives=(np.int64, None))
        self.penalise(penalty)
        self.open(openings, smoothing)
        self.call("Stop.obey", make("Stop"), gives=type(None))
        self.call("Stop.set", make("Stop"), gives=type(None))

    def compute_keys(self, counts):
        """Sparse keys of one part or of several, of which one may be missing."""
        parts = int(self.rng.integers(1, 4))
        keys = self.make("SparseKeys", counts, parts)
        if keys is not None and parts > 1:
            for part in self.rng.permutation(parts).tolist():
                self.call("SparseKeys.compute", keys, part, gives=type(None))
        return keys

    def count_in_parts(self, *rows):
        parts, (classes, d) = int(self.rng.integers(1, 4)), self.a["ones"].shape
        weights = rows[3:] or (None,)
        counting = self.call("Cooccurrences", *rows[:3], d, classes, *weights, parts)
        if counting is None:
            return
        step = int(self.rng.integers(1, d + 2))
        self.call("Cooccurrences.partners_of_some", counting, step, gives=int)
        for step in ("count", "join"):
            for part in self.rng.permutation(parts).tolist():
                self.call(f"Cooccurrences.{step}", counting, part, gives=type(None))
        all_counts = [(np.int32, None, None), *ALL_COOCCURRENCES]
        self.call("Cooccurrences.take", counting, gives=all_counts)

    def open(self, openings, smoothing):
        a, classes = self.a, len(self.a["ones"])
        table = a["indptr"], a["indices"]
        d, n = self.a["ones"].shape[1], len(a["rows"])
        counts = (np.int32, classes, d)
        block = int(self.rng.integers(1, 70))
        self.call(
            "count_openings", openings, *table, a["codes"], classes, block, gives=[counts, counts, object]
        )
        lists, totals = (a["down_indptr"], a["down_indices"]), (a["class_count"], a["ones"], a["open"])
        self.call("find_impossible_opening", *lists, *totals, gives=int)
        for left_out in (-1, 0):
            scorer = self.make("OpenScorer", openings, a["ones"], a["open"], smoothing, left_out)
            if scorer is not None:  # the arrays may have been written to since
                self.call("OpenScorer.log_likelihood", scorer, *table, a["rows"], gives=(np.float64, n, None))
                self.call("OpenScorer.on", scorer, gives=(np.float64, d, None))
                self.call("OpenScorer.off", scorer, gives=(np.float64, d, None))

    def read_rows(self):
        a, call, (n, d) = self.a, self.call, self.a["values"].shape
        words = (np.uint64, -(-n // 64), d)

        def totals():
            return np.zeros(d, np.int32), np.zeros(d * (d - 1) // 2, np.int32)

        call("pack_dense", a["values"], a["rows"], gives=words)
        call("pack_sparse", a["indptr"], a["indices"], d, a["rows"], gives=words)
        call("count_words", a["words"], *totals(), gives=type(None))
        call("count_sparse", a["indptr"], a["indices"], a["rows"], *totals(), gives=type(None))
        rows = a["indptr"], a["indices"], a["codes"]
        self.count_in_parts(*rows)
        for size, numbers in ((len(a["codes"]), a["codes"]), (len(a["rows"]), a["rows"])):
            weights = np.resize(np.concatenate([numbers, [0]]), size).astype(np.int32)
            self.count_in_parts(*rows, weights)
            call("count_sparse", a["indptr"], a["indices"], a["rows"], *totals(), weights, gives=type(None))
        call("find_levels", a["edge_parent"], a["edge_child"], d, gives=tuple | None)
        parents, block = (a["up_indptr"], a["up_indices"]), int(self.rng.integers(1, 70))
        lists = a["indptr"], a["indices"], a["rows"]
        call("find_violation", *parents, *lists, block, gives=tuple | None)
        call("spanning_tree", a["keys"], d, 0, gives=(np.int32, d))

    def score(self, counts, relations, smoothing, rankings):
        a, call, n = self.a, self.call, len(self.a["values"])
        rows, rest = (a["words"], n), (counts, a["log_prior"], smoothing)
        joint, factors = (np.float64, n, None), (np.float64, n, None, None)
        call("cmi_keys", counts, gives=(np.int64, None))
        call("pair_keys", a["first"], a["second"], counts, gives=(np.int64, len(a["first"])))
        call("most_informative", counts, gives=int)
        call("tree_joint_log", a["parent"], *rows, *rest, gives=joint)
        call("tree_factors", a["parents"], *rows, counts, smoothing, gives=factors)
        least = int(self.rng.choice([0, 1, 5, n + 1]))  # at the last, no estimator qualifies
        for ancestors in ("depend", "naive", "absent"):
            call("aode_joint_log", relations, ancestors, least, *rows, a["log_prior"], *rest, gives=joint)
            parts = [factors, joint, (np.bool_, n)]
            call("aode_factors", relations, ancestors, least, *rows, *rest, gives=parts)
        self.select(relations, rankings, rows, rest, joint)
        for ranking in rankings:
            directed = bool(self.rng.random() < 0.5)
            call("lazy_joint_log", ranking, *rows, a["root_order"], 0, directed, *rest, gives=joint)

    def select(self, relations, rankings, rows, rest, joint):
        a, call, n = self.a, self.call, len(self.a["values"])
        kind, limit = str(self.rng.choice(self.kernel.SELECTIONS)), int(self.rng.integers(1, 6))
        selector = self.make("Selector", relations, kind, a["relevance"], limit)
        call("Selector.select", selector, a["words"], gives=(np.uint64, None, None))
        call("selected_joint_log", selector, *rows, *rest, gives=joint)
        call("count_kept", *rows, gives=(np.int64, n))
        d = a["words"].shape[1]
        starts, entries = np.arange(n + 1) * d, (np.empty(n * d, np.int32), np.empty(n * d))
        states = a["words"], a["words"], ~a["words"], self.rng.normal(size=(4, d))
        call("list_terms", *states, starts, *entries, gives=type(None))
        for ranking in rankings:
            tree = selector, ranking, *rows, a["root_order"]
            call("selected_trees", *tree, gives=(np.int32, n, None))
            call("selected_tree_joint_log", *tree, *rest, gives=joint)

    def learn(self, ranking, d):
        a, n = self.a, len(self.a["values"])
        self.call("Ranking.plan", ranking, int(self.rng.integers(0, 9)), 2, gives=int)
        self.sort_blocks(ranking)
        for directed in (True, False):
            wide, trees = bool(self.rng.random() < 0.5), (np.int32, n, None)
            self.call(
                "lazy_trees", ranking, a["words"], n, a["root_order"], d - 1, directed, wide, gives=trees
            )
        self.call("Ranking.edges", ranking, d, gives=(np.int32, None, 2))
        assert ranking is None or ranking.n_sorted >= 0

    def sort_blocks(self, ranking):
        """Blocks sorted together, listed in one part or in several, of which one may be missing."""
        first, most, parts = (int(self.rng.integers(least, 4 * least + 3)) for least in (0, 10, 1))
        blocks = self.make("ListedBlocks", ranking, first, most, parts)
        if blocks is not None:
            for part in self.rng.permutation(parts).tolist():
                self.call("ListedBlocks.list", blocks, part, gives=type(None))
            self.call("ListedBlocks.sort", blocks, int(self.rng.integers(0, 3)), gives=type(None))

    def penalise(self, penalty):
        a = self.a
        vector = (np.float64, None)
        self.call("GraphPenalty.maxima", penalty, a["vector"], gives=vector)
        self.call("GraphPenalty.dual_norm", penalty, a["vector"], gives=float)
        for strength in (0.5, 0.0):
            self.call("GraphPenalty.prox", penalty, a["vector"], strength, gives=vector)
        rows = self.call("NumberRows", a["csr_indptr"], a["csr_indices"], a["csr_values"], a["ones"].shape[1])
        # A number of iterations that is too large is valid, and takes for ever: it is not damaged.
        iterations, tol = [-1, 0, 1, 1, 20, 20, 20], [1e-3, 1e-3, 1e-3, np.nan]
        options = {"max_iter": int(self.rng.choice(iterations)), "tol": float(self.rng.choice(tol))}
        fits = [(np.float64, None, None), (np.float64, None, 3), (np.int64, None)]
        for _ in range(3):
            path = self.call("LogisticPath", rows, a["sign"], a["weight"], penalty)
            for _ in range(2):
                self.call("LogisticPath.solve", path, a["lambdas"], **options, gives=fits)


ALL_COOCCURRENCES = [(np.int64, None), (np.int32, None), (np.int32, None, None)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10**6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--extension")
    options = parser.parse_args()
    kernel, seed = load_kernel(options.extension), options.seed
    names = {name for name in dir(kernel) if not name.startswith("_") and callable(getattr(kernel, name))}
    called, refused = Counter(), Counter()
    while called.total() < options.cases:
        sys.stderr.write(f"\rseed {seed}")
        this = Round(seed, kernel)
        this.run()
        missing = names - {name.partition(".")[0] for name in this.called}
        assert not missing, f"not called: {sorted(missing)}"
        called, refused, seed = called + this.called, refused + this.refused, seed + 1
    print(f"\n{called.total()} cases from seed {options.seed}, {refused.total()} refused")


if __name__ == "__main__":
    main()
