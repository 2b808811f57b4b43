"""The hierarchy of the features: an immutable directed acyclic graph over their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hietan import _closure
from hietan._closure import Rows
from hietan._optional import import_optional

_X = TypeVar("_X")


class Hierarchy:
    """A directed acyclic graph over feature names, whose edges run from the general to the specific.

    Feature u is an *ancestor* of v when a path leads from u down to v. Where the data follow the hierarchy, v = 1
    implies u = 1 (a gene annotated with a term is annotated with all that the term is a kind of); such data are
    *closed upwards*, and `is_closed` and `close` check and establish it.

    A hierarchy is a value: it never changes, copies of it are itself, and equal ones compare equal. Build one with
    `from_edges`, `from_parents`, `from_networkx`, `from_adjacency` or, without any edge, `unrelated`.

    Examples
    --------
    >>> from hietan.hierarchy import Hierarchy
    >>> edges = [("F", "B"), ("F", "C"), ("E", "C"), ("E", "A"), ("C", "D"), ("A", "D")]
    >>> hierarchy = Hierarchy.from_edges(edges)
    >>> hierarchy
    Hierarchy(6 features, 6 edges, 2 roots, depth 2)
    >>> sorted(hierarchy.ancestors("D"))
    ['A', 'C', 'E', 'F']
    >>> hierarchy.related("F", "D"), hierarchy.related("F", "A")
    (True, False)

    Relations that run through dropped terms survive a restriction:

    >>> hierarchy.restrict(["D", "F"]).edges
    (('F', 'D'),)
    """

    _features: tuple[str, ...]
    _index: dict[str, int]
    _parents: Rows
    _children: Rows
    _depths: NDArray[np.int64]

    def __init__(self) -> None:
        raise TypeError(
            "Hierarchy() builds nothing; use Hierarchy.from_edges, from_parents, from_networkx, from_adjacency or "
            "unrelated"
        )

    # ---------------------------------------------------------------------------------------- building

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], features: Iterable[str] | None = None) -> Hierarchy:
        """Build from (parent, child) pairs.

        The features are ordered as in `features`, which must then name every end of an edge and may name features
        without edges; else by first appearance. Edges given twice count once.
        """
        if isinstance(edges, str | dict) or (features is None and isinstance(edges, set | frozenset)):
            raise TypeError(
                f"edges must be a sequence of (parent, child) pairs, got a {type(edges).__name__}"
                + {
                    "dict": "; for {child: [parents]} use Hierarchy.from_parents",
                    "str": "",
                }.get(
                    type(edges).__name__, ", which has no order: pass a list, or name the features in order"
                )
            )
        pairs = [_pair(edge) for edge in edges]
        if features is None:
            features = dict.fromkeys(name for pair in pairs for name in pair)
        return cls._from_names(_names(features), pairs)

    @classmethod
    def from_parents(
        cls, parents: Mapping[str, Iterable[str]], features: Iterable[str] | None = None
    ) -> Hierarchy:
        """Build from a mapping of each feature to its parents; a root may be absent or have none.

        >>> Hierarchy.from_parents({"cat": ["mammal"], "mammal": ["animal"], "rock": []}).features
        ('cat', 'mammal', 'animal', 'rock')
        """
        if not isinstance(parents, Mapping):
            raise TypeError(f"parents must map each child to its parents, got a {type(parents).__name__}")
        pairs, seen = [], dict[str, None]()
        for child, above in parents.items():
            if isinstance(above, str) or not isinstance(above, Iterable):
                raise TypeError(f"the parents of {child!r} must be a list of names, got {above!r}")
            above = list(above)
            pairs += [(parent, child) for parent in above]
            seen.update(dict.fromkeys([child, *above]))
        names = _names(seen if features is None else features)
        known = set(names)
        _refuse_unknown((child for child in seen if child not in known), "parents")
        return cls._from_names(names, pairs)

    @classmethod
    def from_networkx(cls, graph: Any, *, child_to_parent: bool = False) -> Hierarchy:
        """Build from a `networkx.DiGraph` over names, in the order of its nodes.

        Its edges are read as parent to child. Graphs that point from the special to the general, as those that
        obonet reads, need `child_to_parent=True`.
        """
        if not hasattr(graph, "is_directed"):
            raise TypeError(f"graph must be a networkx.DiGraph, got a {type(graph).__name__}")
        if not graph.is_directed():
            raise ValueError(
                f"graph must be directed, got an undirected {type(graph).__name__}: which end of an edge is the parent?"
            )
        pairs = [(v, u) if child_to_parent else (u, v) for u, v in graph.edges()]
        return cls._from_names(_names(graph.nodes, "; networkx.relabel_nodes(graph, str) renames"), pairs)

    @classmethod
    def from_adjacency(cls, A: ArrayLike | sp.sparray, features: Iterable[str] | None = None) -> Hierarchy:
        """Build from a square matrix, dense or sparse: i is a parent of j where A[i, j] is not 0.

        Without `features`, the names are "x0", "x1", ...

        >>> Hierarchy.from_adjacency([[0, 1, 1], [0, 0, 0], [0, 0, 0]]).edges
        (('x0', 'x1'), ('x0', 'x2'))
        """
        if hasattr(A, "columns"):
            raise TypeError("A is a data frame; pass A.to_numpy() and features=list(A.columns)")
        matrix: Any = A if sp.issparse(A) else np.asarray(A)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"A must be square, got shape {matrix.shape}")
        if matrix.dtype.kind not in "buif":
            raise TypeError(f"A must hold numbers, got dtype {matrix.dtype}")
        entries = sp.coo_array(matrix)
        entries.sum_duplicates()
        if not np.isfinite(entries.data).all():
            k = int(np.flatnonzero(~np.isfinite(entries.data))[0])
            raise ValueError(f"A[{entries.row[k]}, {entries.col[k]}] is {entries.data[k]}; A must be finite")
        d = matrix.shape[0]
        names = _names((f"x{j}" for j in range(d)) if features is None else features)
        if len(names) != d:
            raise ValueError(f"A has {d} columns but features has {len(names)} names; there must be one each")
        edge = entries.data != 0
        return cls._from_arrays(names, entries.row[edge].astype(np.int64), entries.col[edge].astype(np.int64))

    @classmethod
    def unrelated(cls, features: Iterable[str]) -> Hierarchy:
        """Build a hierarchy without edges."""
        return cls._from_names(_names(features), [])

    @classmethod
    def _from_names(cls, names: tuple[str, ...], pairs: Sequence[tuple[str, str]]) -> Hierarchy:
        index = {name: v for v, name in enumerate(names)}
        _refuse_unknown((name for pair in pairs for name in pair if name not in index), "an edge")
        parent = np.fromiter((index[p] for p, _ in pairs), dtype=np.int64, count=len(pairs))
        child = np.fromiter((index[c] for _, c in pairs), dtype=np.int64, count=len(pairs))
        return cls._from_arrays(names, parent, child)

    @classmethod
    def _from_arrays(
        cls, names: tuple[str, ...], parent: NDArray[np.integer], child: NDArray[np.integer]
    ) -> Hierarchy:
        loops = np.flatnonzero(parent == child)
        if loops.size:
            raise ValueError(f"{names[parent[loops[0]]]!r} is its own parent; remove that edge")
        children = _closure.rows_from_pairs(parent.astype(np.int64), child.astype(np.int64), len(names))
        parents = _closure.transpose(children)
        depths = _closure.longest_paths(parents, children)
        if (depths < 0).any():
            cycle = [names[v] for v in _closure.find_cycle(parents, depths)]
            shown = cycle if len(cycle) <= 12 else [*cycle[:6], f"({len(cycle) - 8} more)", *cycle[-2:]]
            raise ValueError(f"the edges form a cycle: {' -> '.join([*shown, cycle[0]])}")
        for array in (children.indptr, children.indices, parents.indptr, parents.indices, depths):
            array.flags.writeable = False
        self = object.__new__(cls)
        self.__dict__.update(
            _features=names,
            _index={name: v for v, name in enumerate(names)},
            _parents=parents,
            _children=children,
            _depths=depths,
        )
        return self

    # ---------------------------------------------------------------------------------------- reading

    @property
    def features(self) -> tuple[str, ...]:
        """The names, in the order of the columns."""
        return self._features

    @property
    def depths(self) -> NDArray[np.int64]:
        """Length of the longest path from a root to each feature."""
        return self._depths

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The (parent, child) pairs, in the order of the features."""
        return tuple(
            (parent, self._features[c]) for v, parent in enumerate(self._features) for c in self._children[v]
        )

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The features without a parent."""
        return self._named(np.flatnonzero(self._parents.lengths == 0))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The features without a child."""
        return self._named(np.flatnonzero(self._children.lengths == 0))

    def __len__(self) -> int:
        return len(self._features)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def index(self, name: str) -> int:
        """Position of a feature in `features`."""
        if name not in self:
            raise ValueError(f"{name!r} is not a feature of {self!r}")
        return self._index[name]

    def parents(self, name: str) -> tuple[str, ...]:
        """The direct parents, in the order of the features."""
        return self._named(self._parents[self.index(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """The direct children, in the order of the features."""
        return self._named(self._children[self.index(name)])

    def ancestors(self, name: str) -> frozenset[str]:
        """All features above this one."""
        return frozenset(self._named(_walk(self._parents, self.index(name))))

    def descendants(self, name: str) -> frozenset[str]:
        """All features below this one."""
        return frozenset(self._named(_walk(self._children, self.index(name))))

    def related(self, a: str, b: str) -> bool:
        """Whether one of the two is an ancestor of the other."""
        above, below = sorted((self.index(a), self.index(b)), key=self._depths.__getitem__)
        return bool(self._depths[above] < self._depths[below]) and above in _walk(self._parents, below)

    def _named(self, indices: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._features[v] for v in indices)

    # ---------------------------------------------------------------------------------------- matrices

    @property
    def adjacency(self) -> sp.csr_array[np.uint8]:
        """Parent in the row, child in the column; read-only, like the matrices below."""
        return _matrix(self._children)

    @property
    def ancestor_matrix(self) -> sp.csr_array[np.uint8]:
        """Row v has a 1 for each ancestor of v. Computed at first use."""
        return _matrix(self._ancestors)

    @property
    def descendant_matrix(self) -> sp.csr_array[np.uint8]:
        """Row v has a 1 for each descendant of v. Computed at first use."""
        return _matrix(self._descendants)

    @cached_property
    def _ancestors(self) -> Rows:
        return _closure.ancestors(self._parents, self._depths)

    @cached_property
    def _descendants(self) -> Rows:
        return _closure.transpose(self._ancestors)

    # ---------------------------------------------------------------------------------------- other features

    def restrict(self, features: Iterable[str]) -> Hierarchy:
        """The hierarchy over exactly these features, in this order.

        Two of them are related in it just when they are here, also where the path runs through a dropped term: the
        parents of a feature are the kept ancestors that it reaches without passing another kept one.
        """
        names = _names(features)
        _refuse_unknown((name for name in names if name not in self._index), "the restriction")
        return self._over(names)

    def align(self, feature_names: Sequence[str] | None, n_features: int) -> Hierarchy:
        """The hierarchy over the columns of a table, which is what an estimator works with.

        With names, that is the restriction to those the hierarchy knows; the others are features related to none.
        Without names, the columns must be `features`, so their number must fit.
        """
        if feature_names is None:
            if n_features != len(self):
                raise ValueError(
                    f"hierarchy has {len(self)} features but X has {n_features} columns; pass a data frame, whose "
                    f"columns are matched by name, or restrict the hierarchy to the columns of X"
                )
            return self
        names = _names(feature_names)
        if len(names) != n_features:
            raise ValueError(f"{len(names)} feature names for {n_features} columns; there must be one each")
        if names and self._index and not any(name in self._index for name in names):
            raise ValueError(
                f"none of the columns is in the hierarchy: columns are {_some(names)}, "
                f"features of the hierarchy are {_some(self._features)}"
            )
        return self._over(names)

    def _over(self, names: tuple[str, ...]) -> Hierarchy:
        if names == self._features:
            return self
        d = len(self)
        old = np.fromiter((self._index.get(name, d) for name in names), dtype=np.int64, count=len(names))
        new = np.full(d + 1, -1)
        new[old] = np.arange(len(names))
        kept = new[:d] >= 0
        nearest = _closure.nearest_ancestors(self._parents, self._depths, kept)
        child = np.repeat(new[:d], nearest.lengths)
        edge = child >= 0
        return self._from_arrays(names, new[nearest.indices[edge]], child[edge])

    # ---------------------------------------------------------------------------------------- being a value

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Hierarchy is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Hierarchy is immutable: cannot delete {name!r}")

    def __copy__(self) -> Hierarchy:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Hierarchy:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        parent = np.repeat(np.arange(len(self), dtype=np.int32), self._children.lengths)
        return _unpickle, (self._features, parent, self._children.indices)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self is other or (
            self._features == other._features
            and np.array_equal(self._children.indptr, other._children.indptr)
            and np.array_equal(self._children.indices, other._children.indices)
        )

    def __hash__(self) -> int:
        return hash((self._features, self._children.indptr.tobytes(), self._children.indices.tobytes()))

    def __repr__(self) -> str:
        counts = [(len(self), "feature"), (len(self._children.indices), "edge"), (len(self.roots), "root")]
        words = [f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in counts]
        return f"Hierarchy({', '.join(words)}, depth {self._depths.max(initial=0)})"


def _unpickle(names: tuple[str, ...], parent: NDArray[np.int32], child: NDArray[np.int32]) -> Hierarchy:
    return Hierarchy._from_arrays(names, parent, child)


def _matrix(rows: Rows) -> sp.csr_array[np.uint8]:
    d = len(rows.indptr) - 1
    matrix = sp.csr_array(
        (np.ones(len(rows.indices), dtype=np.uint8), rows.indices, rows.indptr), shape=(d, d)
    )
    matrix.has_canonical_format = True
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


def _walk(rows: Rows, start: int) -> set[int]:
    seen, stack = set[int](), [start]
    while stack:
        fresh = set(rows[stack.pop()].tolist()) - seen
        seen |= fresh
        stack += fresh
    return seen


def _pair(edge: object) -> tuple[str, str]:
    if isinstance(edge, str) or not isinstance(edge, Sequence | np.ndarray) or len(edge) != 2:
        raise ValueError(f"an edge must be a pair (parent, child), got {edge!r}")
    return edge[0], edge[1]


def _names(features: Iterable[str], advice: str = "") -> tuple[str, ...]:
    if isinstance(features, str | set | frozenset) or not isinstance(features, Iterable):
        raise TypeError(
            f"features must be a sequence of names, got the {type(features).__name__} {features!r:.60}"
        )
    names = tuple(features)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a feature name must be a string, got {name!r}{advice}")
        if not name:
            raise ValueError("a feature name must not be empty, got ''")
    names = tuple(map(str, names))
    if len(set(names)) < len(names):
        seen = set[str]()
        repeated = dict.fromkeys(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"each feature must be named once, but {_some(tuple(repeated))} appear more often")
    return names


def _refuse_unknown(unknown: Iterable[str], where: str) -> None:
    names = tuple(dict.fromkeys(unknown))
    if names:
        raise ValueError(f"{where} names {_some(names)}, not among the features")


def _some(names: Sequence[str], at_most: int = 3) -> str:
    more = len(names) - at_most
    return ", ".join(map(repr, names[:at_most])) + (f" and {more} more" if more > 0 else "")
