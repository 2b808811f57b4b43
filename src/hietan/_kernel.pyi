"""Typed signatures of the compiled kernel. All arrays are C-contiguous; inputs may be read-only."""

from typing import overload

import numpy as np
from numpy.typing import NDArray

BUILT_BY: str

class Stop:
    def __init__(self) -> None: ...
    def set(self) -> None: ...
    def obey(self) -> None: ...

class Relations:
    def __init__(
        self,
        ancestor_indptr: NDArray[np.int32],
        ancestor_indices: NDArray[np.int32],
        descendant_indptr: NDArray[np.int32],
        descendant_indices: NDArray[np.int32],
    ) -> None: ...

class Counts:
    @overload
    def __init__(
        self, class_count: NDArray[np.int64], ones: NDArray[np.int32], pairs: NDArray[np.int32]
    ) -> None: ...
    @overload
    def __init__(
        self,
        class_count: NDArray[np.int64],
        ones: NDArray[np.int32],
        pairs: NDArray[np.int32],
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
    ) -> None: ...
    def check_pairs(self) -> None: ...

class Cooccurrences:
    @overload
    def __init__(
        self,
        indptr: NDArray[np.int32],
        indices: NDArray[np.int32],
        codes: NDArray[np.int64],
        n_features: int,
        n_classes: int,
        weights: NDArray[np.int32] | None = None,
        n_parts: int = 1,
    ) -> None: ...
    @overload
    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int64],
        codes: NDArray[np.int64],
        n_features: int,
        n_classes: int,
        weights: NDArray[np.int32] | None = None,
        n_parts: int = 1,
    ) -> None: ...
    def count(self, part: int) -> None: ...
    def join(self, part: int) -> None: ...
    def partners_of_some(self, step: int) -> int: ...
    def take(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...

class SparseKeys:
    def __init__(self, counts: Counts, n_parts: int = 1) -> None: ...
    def compute(self, part: int) -> None: ...
    def row(self, i: int) -> NDArray[np.int64]: ...

class Ranking:
    def __init__(
        self, keys: NDArray[np.int64] | SparseKeys, relations: Relations, block: int = 0
    ) -> None: ...
    def edges(self, limit: int) -> NDArray[np.int32]: ...
    def plan(self, limit: int, n_blocks: int) -> int: ...
    @property
    def n_sorted(self) -> int: ...

class ListedBlocks:
    def __init__(self, ranking: Ranking, first: int, most_edges: int, n_parts: int = 1) -> None: ...
    def list(self, part: int) -> None: ...
    def sort(self, k: int) -> None: ...
    def __len__(self) -> int: ...

class Smoothing:
    def __init__(self, kind: str, alpha: float, unit: float = 1.0) -> None: ...
    @property
    def pseudo_count(self) -> float: ...

SMOOTHINGS: tuple[str, ...]

class Selector:
    def __init__(
        self, relations: Relations, kind: str, relevance: NDArray[np.int32], n_features: int
    ) -> None: ...
    def select(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]: ...

SELECTIONS: tuple[str, ...]

class Openings:
    def __init__(
        self,
        parent_indptr: NDArray[np.int32],
        parent_indices: NDArray[np.int32],
        depths: NDArray[np.int64],
    ) -> None: ...

class OpenScorer:
    def __init__(
        self,
        openings: Openings,
        ones: NDArray[np.int32],
        open: NDArray[np.int32],
        smoothing: Smoothing,
        left_out: int = -1,
        left_weight: int = 1,
    ) -> None: ...
    def on(self) -> NDArray[np.float64]: ...
    def off(self) -> NDArray[np.float64]: ...
    @overload
    def log_likelihood(
        self, indptr: NDArray[np.int32], indices: NDArray[np.int32], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]: ...
    @overload
    def log_likelihood(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]: ...

class GraphPenalty:
    def __init__(self, child_indptr: NDArray[np.int32], child_indices: NDArray[np.int32]) -> None: ...
    def maxima(self, w: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def prox(self, u: NDArray[np.float64], lam: float) -> NDArray[np.float64]: ...
    def dual_norm(self, u: NDArray[np.float64]) -> float: ...

class NumberRows:
    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float64],
        n_features: int,
    ) -> None: ...

class LogisticPath:
    def __init__(
        self,
        rows: NumberRows,
        sign: NDArray[np.float64],
        weight: NDArray[np.float64],
        penalty: GraphPenalty,
    ) -> None: ...
    def solve(
        self, lambdas: NDArray[np.float64], max_iter: int, tol: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...

def pack_dense(values: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.uint64]: ...
@overload
def pack_sparse(
    indptr: NDArray[np.int32], indices: NDArray[np.int32], n_features: int, rows: NDArray[np.int64]
) -> NDArray[np.uint64]: ...
@overload
def pack_sparse(
    indptr: NDArray[np.int64], indices: NDArray[np.int64], n_features: int, rows: NDArray[np.int64]
) -> NDArray[np.uint64]: ...
def count_words(words: NDArray[np.uint64], ones: NDArray[np.int32], pairs: NDArray[np.int32]) -> None: ...
@overload
def count_sparse(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    rows: NDArray[np.int64],
    ones: NDArray[np.int32],
    pairs: NDArray[np.int32],
    weights: NDArray[np.int32] | None = None,
) -> None: ...
@overload
def count_sparse(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    rows: NDArray[np.int64],
    ones: NDArray[np.int32],
    pairs: NDArray[np.int32],
    weights: NDArray[np.int32] | None = None,
) -> None: ...
def add_cooccurrences(
    a: Counts, b: Counts
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
def cmi_keys(counts: Counts) -> NDArray[np.int64]: ...
def pair_keys(first: NDArray[np.int64], second: NDArray[np.int64], counts: Counts) -> NDArray[np.int64]: ...
def most_informative(counts: Counts) -> int: ...
def spanning_tree(keys: NDArray[np.int64], n_features: int, root: int) -> NDArray[np.int32]: ...
def hierarchical_tree(
    keys: NDArray[np.int64] | SparseKeys,
    relations: Relations,
    root_order: NDArray[np.int64],
    block: int = 0,
) -> NDArray[np.int32]: ...
def lazy_trees(
    ranking: Ranking,
    words: NDArray[np.uint64],
    n_rows: int,
    root_order: NDArray[np.int64],
    lone_feature: int,
    directed: bool,
    wide_labels: bool = False,
) -> NDArray[np.int32]: ...
def lazy_joint_log(
    ranking: Ranking,
    words: NDArray[np.uint64],
    n_rows: int,
    root_order: NDArray[np.int64],
    lone_feature: int,
    directed: bool,
    counts: Counts,
    log_prior: NDArray[np.float64],
    smoothing: Smoothing,
) -> NDArray[np.float64]: ...
def tree_joint_log(
    parent: NDArray[np.int32],
    words: NDArray[np.uint64],
    n_rows: int,
    counts: Counts,
    log_prior: NDArray[np.float64],
    smoothing: Smoothing,
) -> NDArray[np.float64]: ...
def aode_joint_log(
    relations: Relations,
    ancestors: str,
    min_frequency: int,
    words: NDArray[np.uint64],
    n_rows: int,
    naive_log_prior: NDArray[np.float64],
    counts: Counts,
    log_prior: NDArray[np.float64],
    smoothing: Smoothing,
) -> NDArray[np.float64]: ...
def selected_joint_log(
    selector: Selector,
    words: NDArray[np.uint64],
    n_rows: int,
    counts: Counts,
    log_prior: NDArray[np.float64],
    smoothing: Smoothing,
) -> NDArray[np.float64]: ...
def selected_trees(
    selector: Selector,
    ranking: Ranking,
    words: NDArray[np.uint64],
    n_rows: int,
    root_order: NDArray[np.int64],
) -> NDArray[np.int32]: ...
def selected_tree_joint_log(
    selector: Selector,
    ranking: Ranking,
    words: NDArray[np.uint64],
    n_rows: int,
    root_order: NDArray[np.int64],
    counts: Counts,
    log_prior: NDArray[np.float64],
    smoothing: Smoothing,
) -> NDArray[np.float64]: ...
def tree_factors(
    parents: NDArray[np.int32],
    words: NDArray[np.uint64],
    n_rows: int,
    counts: Counts,
    smoothing: Smoothing,
) -> NDArray[np.float64]: ...
def count_kept(kept: NDArray[np.uint64], n_rows: int) -> NDArray[np.int64]: ...
def list_terms(
    kept: NDArray[np.uint64],
    high: NDArray[np.uint64],
    low: NDArray[np.uint64],
    table: NDArray[np.float64],
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
) -> None: ...
def aode_factors(
    relations: Relations,
    ancestors: str,
    min_frequency: int,
    words: NDArray[np.uint64],
    n_rows: int,
    counts: Counts,
    log_prior: NDArray[np.float64],
    smoothing: Smoothing,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]: ...
@overload
def count_openings(
    openings: Openings,
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    codes: NDArray[np.int64],
    n_classes: int,
    block_rows: int,
    weights: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], tuple[int, int, int] | None]: ...
@overload
def count_openings(
    openings: Openings,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    codes: NDArray[np.int64],
    n_classes: int,
    block_rows: int,
    weights: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], tuple[int, int, int] | None]: ...
def find_impossible_opening(
    child_indptr: NDArray[np.int32],
    child_indices: NDArray[np.int32],
    class_count: NDArray[np.int64],
    ones: NDArray[np.int32],
    open: NDArray[np.int32],
) -> int: ...
def find_levels(
    parent: NDArray[np.int64], child: NDArray[np.int64], n: int
) -> (
    tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]
    | None
): ...
@overload
def find_violation(
    parent_indptr: NDArray[np.int32],
    parent_indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    rows: NDArray[np.int64],
    block_rows: int,
) -> tuple[int, int, int] | None: ...
@overload
def find_violation(
    parent_indptr: NDArray[np.int32],
    parent_indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    rows: NDArray[np.int64],
    block_rows: int,
) -> tuple[int, int, int] | None: ...
