"""Call bindings while another thread writes to the arrays that they were given: they answer or refuse, and never crash.

    python write_meanwhile.py SECONDS [EXTENSION]

The time is that of each array. Every call releases the GIL, so the writer is at work while the kernel is. EXTENSION is
the file of a kernel built with sanitizers; without it, the installed one is called.
"""

import sys
import threading
import time

import numpy as np
from fuzz_kernel import csr, load_kernel

FAR = 2**30  # far outside every array: an index like this ends the process


def problem(kernel, n=640, d=120):
    """Valid arguments, and a way to call each binding with them."""
    rng = np.random.default_rng(0)
    X = (rng.random((n, d)) < 0.3).astype(np.uint8)
    rows, codes, order = np.arange(n), np.arange(n) % 2, rng.permutation(d)
    indptr, indices = csr(X, np.int32)
    words = kernel.pack_dense(X, rows)
    up, down = csr(np.tri(d, k=-1, dtype=bool), np.int32), csr(np.tri(d, k=-1, dtype=bool).T, np.int32)
    relations = kernel.Relations(*up, *down)
    ones, pairs = np.zeros((2, d), np.int32), np.zeros((2, d * (d - 1) // 2), np.int32)
    for c in range(2):
        kernel.count_words(kernel.pack_dense(X, rows[codes == c]), ones[c], pairs[c])
    counts = kernel.Counts(np.bincount(codes), ones, pairs)
    keys = kernel.cmi_keys(counts)
    rest = counts, np.zeros(2), kernel.Smoothing("laplace", 1.0)
    parent = np.where(np.arange(d), np.arange(d) - 1, -1).astype(np.int32)
    parents = np.tile(parent, (n, 1))
    first, second = np.triu_indices(d, 1)
    values, sign, weight = np.ones(indices.size), np.where(codes, 1.0, -1.0), np.full(n, 1 / n)
    long_indptr, vector, lambdas = indptr.astype(np.int64), rng.normal(size=d), np.array([0.1, 0.05])
    ranking, penalty = kernel.Ranking(keys, relations), kernel.GraphPenalty(*chain(d))

    relevance = np.arange(d, dtype=np.int32)
    selector = kernel.Selector(relations, "mr", relevance, 3)

    def totals():
        return np.zeros(d, np.int32), np.zeros(d * (d - 1) // 2, np.int32)

    def regress():
        numbers = kernel.NumberRows(long_indptr, indices, values, d)
        kernel.LogisticPath(numbers, sign, weight, penalty).solve(lambdas, max_iter=20, tol=1e-9)

    children = chain(d)
    return [
        (lambda: kernel.pack_dense(X, rows), [rows]),
        (lambda: kernel.pack_sparse(indptr, indices, d, rows), [indptr, indices, rows]),
        (lambda: kernel.count_sparse(indptr, indices, rows, *totals()), [indptr, indices, rows]),
        (
            lambda: kernel.Cooccurrences(indptr, indices, codes, d, 2).count(0),
            [indptr, indices, codes],
        ),
        (lambda: kernel.Relations(*up, *down), [*up, *down]),
        (lambda: kernel.find_violation(*children, words, n), [*children]),
        (
            lambda: kernel.find_violation_in_lists(*children, indptr, indices, rows, n),
            [*children, indptr, indices, rows],
        ),
        (lambda: kernel.GraphPenalty(*children), [*children]),
        (lambda: kernel.cmi_keys(counts), [pairs]),
        (lambda: kernel.pair_keys(first, second, counts), [first, second]),
        (lambda: kernel.tree_joint_log(parent, words, n, *rest), [parent]),
        (lambda: kernel.tree_factors(parents, words, n, counts, rest[2]), [parents]),
        (lambda: kernel.hierarchical_tree(keys, relations, order), [order, keys]),
        (lambda: kernel.spanning_tree(keys, d, 0), [keys]),
        (lambda: kernel.lazy_trees(ranking, words, n, order, 0, True), [order, words]),
        (lambda: kernel.lazy_joint_log(ranking, words, n, order, 0, False, *rest), [order, words]),
        (lambda: kernel.aode_joint_log(relations, "naive", 1, words, n, np.zeros(2), *rest), [words, pairs]),
        (lambda: kernel.aode_factors(relations, "naive", 1, words, n, *rest), [words, pairs]),
        (lambda: kernel.Selector(relations, "hnb", relevance, 3), [relevance]),
        (lambda: kernel.selected_joint_log(selector, words, n, *rest), [words]),
        (lambda: kernel.selected_trees(selector, ranking, words, n, order), [order, words]),
        (lambda: kernel.selected_tree_joint_log(selector, ranking, words, n, order, *rest), [order, words]),
        (lambda: penalty.prox(vector, 0.1), [vector]),
        (regress, [long_indptr, indices, values, sign, weight, lambdas]),
    ]


def chain(d):
    """Feature v is the parent of v + 1."""
    return csr(np.eye(d, k=1, dtype=bool), np.int32)


def write(array, stop):
    """Write wrong entries and right ones, by turns."""
    good, bad = array.copy(), np.full_like(array, np.nan if array.dtype == np.float64 else FAR)
    while not stop.is_set():
        array[...] = bad
        array[...] = good
        time.sleep(0)  # the other thread's turn
    array[...] = good


def attack(call, array, seconds):
    """How many calls were answered, and how many refused."""
    stop, answered, refused = threading.Event(), 0, 0
    writer = threading.Thread(target=write, args=(array, stop))
    writer.start()
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            try:
                call()
                answered += 1
            except ValueError:
                refused += 1
    finally:
        stop.set()
        writer.join()
    return answered, refused


def main(seconds, path=None):
    sys.setswitchinterval(1e-6)
    answered = refused = arrays = 0
    for number, (call, targets) in enumerate(problem(load_kernel(path))):
        for k, array in enumerate(targets):
            sys.stderr.write(f"\rcall {number}, array {k}")
            found = attack(call, array, float(seconds))
            answered, refused, arrays = answered + found[0], refused + found[1], arrays + 1
    print(f"{arrays} arrays, {answered} calls answered, {refused} refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
