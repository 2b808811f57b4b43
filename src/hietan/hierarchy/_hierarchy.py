"""The hierarchy of the features: an immutable directed acyclic graph over their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, NoReturn, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan._runtime.optional import import_optional
from hietan.hierarchy import _graph
from hietan.hierarchy._graph import Rows
from hietan.hierarchy._html import hierarchy_html
from hietan.hierarchy.checks import (
    check_adjacency,
    check_listing,
    check_name,
    check_names,
    check_pair,
    clip,
    refuse_unknown,
    some,
)
from hietan.hierarchy.tables import column_labels, lacking, n_columns, read_ones, write_like

_X = TypeVar("_X")


class Hierarchy:
    """A directed acyclic graph over feature names, whose edges run from the general to the specific.

    Feature u is an *ancestor* of v when a path leads from u down to v. Where the data follow the hierarchy,
    v = 1 implies u = 1 (a gene annotated with a term is annotated with all that the term is a kind of). Such
    data are *closed upwards*; `is_closed` checks it and `close` sees to it.

    A hierarchy is a value: it never changes, copies of it are itself, and two are equal if they have the same
    features in the same order and the same edges. Build one with `from_edges`, `from_parents`,
    `from_networkx`, `from_adjacency` or, without any edge, `unrelated`.

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
            "Hierarchy() builds nothing; use Hierarchy.from_edges, from_parents, from_networkx, "
            "from_adjacency or unrelated"
        )

    # ---------------------------------------------------------------------------------------- building

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], features: Iterable[str] | None = None) -> Hierarchy:
        """Build from (parent, child) pairs.

        The features are ordered as in `features`, which must then name every end of an edge and may name
        features without edges; else by first appearance. An edge given twice counts once.
        """
        if isinstance(edges, dict):
            raise TypeError("edges is a dict; for {child: [parents]} use Hierarchy.from_parents")
        check_listing(edges, "edges", "(parent, child) pairs")
        pairs = [check_pair(edge) for edge in edges]
        if isinstance(edges, set | frozenset):
            pairs.sort()  # the order of a set differs from run to run
        if features is None:
            features = dict.fromkeys(name for pair in pairs for name in pair)
        return cls._from_names(check_names(features), pairs)

    @classmethod
    def from_parents(
        cls, parents: Mapping[str, Iterable[str]], features: Iterable[str] | None = None
    ) -> Hierarchy:
        """Build from a mapping of features to their parents; roots may be absent or map to nothing.

        The features are ordered as in `features`; else by first appearance, a child before its parents.

        >>> Hierarchy.from_parents({"cat": ["mammal"], "mammal": ["animal"], "rock": []}).features
        ('cat', 'mammal', 'animal', 'rock')
        """
        if not isinstance(parents, Mapping):
            kind = type(parents).__name__
            raise TypeError(f"parents must map features to their parents, got the {kind} {clip(parents)}")
        pairs, seen = [], dict[str, None]()
        for child, above in parents.items():
            check_listing(above, f"the parents of {child!r}", "names")
            listed = [check_name(parent) for parent in above]
            if isinstance(above, set | frozenset):
                listed.sort()  # the order of a set differs from run to run
            seen.update(dict.fromkeys([check_name(child), *listed]))
            pairs += [(parent, child) for parent in listed]
        names = check_names(seen if features is None else features)
        refuse_unknown(seen, dict.fromkeys(names), "parents names")
        return cls._from_names(names, pairs)

    @classmethod
    def from_networkx(cls, graph: Any, *, child_to_parent: bool = False) -> Hierarchy:
        """Build from a `networkx.DiGraph` over names, in the order of its nodes.

        Its edges are read as parent to child. Graphs whose edges run upwards, as those that obonet reads,
        need `child_to_parent=True`.
        """
        if not hasattr(graph, "is_directed"):
            raise TypeError(f"graph must be a networkx.DiGraph, got a {type(graph).__name__}")
        if not graph.is_directed():
            raise ValueError(
                f"graph must be directed, from parent to child; a {type(graph).__name__} does not say which "
                "end of an edge is the parent"
            )
        names = check_names(graph.nodes, "graph", "networkx.relabel_nodes(graph, str) renames all nodes")
        pairs = [(v, u) if child_to_parent else (u, v) for u, v in graph.edges()]
        return cls._from_names(names, pairs)

    @classmethod
    def from_adjacency(cls, A: Any, features: Iterable[str] | None = None) -> Hierarchy:
        """Build from a square matrix, dense or sparse: i is a parent of j where A[i, j] is not 0.

        Without `features`, the names are "x0", "x1", ...

        >>> Hierarchy.from_adjacency([[0, 1, 1], [0, 0, 0], [0, 0, 0]]).edges
        (('x0', 'x1'), ('x0', 'x2'))
        """
        d, parent, child = check_adjacency(A)
        names = check_names((f"x{j}" for j in range(d)) if features is None else features)
        if len(names) != d:
            raise ValueError(f"A has {d} columns but features has {len(names)} names; there must be one each")
        return cls._from_arrays(names, parent, child)

    @classmethod
    def unrelated(cls, features: Iterable[str]) -> Hierarchy:
        """Build a hierarchy without edges."""
        return cls._from_names(check_names(features), [])

    @classmethod
    def _from_names(cls, names: tuple[str, ...], pairs: Sequence[tuple[str, str]]) -> Hierarchy:
        index = {name: v for v, name in enumerate(names)}
        refuse_unknown(chain.from_iterable(pairs), index, "an edge names")
        ends = np.array([(index[p], index[c]) for p, c in pairs], dtype=np.int64).reshape(-1, 2)
        return cls._from_arrays(names, ends[:, 0], ends[:, 1])

    @classmethod
    def _from_arrays(
        cls, names: tuple[str, ...], parent: NDArray[np.integer], child: NDArray[np.integer]
    ) -> Hierarchy:
        loops = np.flatnonzero(parent == child)
        if loops.size:
            raise ValueError(f"{names[parent[loops[0]]]!r} is its own parent; remove that edge")
        children = _graph.rows_from_pairs(parent.astype(np.int64), child.astype(np.int64), len(names))
        parents = _graph.transpose(children)
        depths = _graph.longest_paths(parents, children)
        if (depths < 0).any():
            cycle = [names[v] for v in _graph.find_cycle(parents, depths)]
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
        parent = np.repeat(np.arange(len(self)), self._children.lengths)
        return tuple(zip(self._named(parent), self._named(self._children.indices), strict=True))

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
        return frozenset(map(self._features.__getitem__, _graph.walk(self._parents, self.index(name))))

    def descendants(self, name: str) -> frozenset[str]:
        """All features below this one."""
        return frozenset(map(self._features.__getitem__, _graph.walk(self._children, self.index(name))))

    def related(self, a: str, b: str) -> bool:
        """Whether one of the two is an ancestor of the other."""
        above, below = sorted((self.index(a), self.index(b)), key=self._depths.__getitem__)
        return above in _graph.walk(self._parents, below)

    def _named(self, indices: NDArray[np.integer]) -> tuple[str, ...]:
        return tuple(map(self._features.__getitem__, indices.tolist()))

    # ---------------------------------------------------------------------------------------- matrices

    @property
    def adjacency(self) -> sp.csr_array[np.uint8]:
        """Parent in the row, child in the column; read-only, like the matrices below."""
        return _graph.as_matrix(self._children)

    @property
    def ancestor_matrix(self) -> sp.csr_array[np.uint8]:
        """Row v has a 1 for each ancestor of v. Computed at first use."""
        return _graph.as_matrix(self._ancestors)

    @property
    def descendant_matrix(self) -> sp.csr_array[np.uint8]:
        """Row v has a 1 for each descendant of v. Computed at first use."""
        return _graph.as_matrix(self._descendants)

    @cached_property
    def _ancestors(self) -> Rows:
        return _graph.ancestors(self._parents, self._depths)

    @cached_property
    def _descendants(self) -> Rows:
        return _graph.transpose(self._ancestors)

    # ---------------------------------------------------------------------------------------- other features

    def restrict(self, features: Iterable[str]) -> Hierarchy:
        """The hierarchy over exactly these features, in this order.

        Two of them are related in it just when they are here, also where the path runs through dropped terms:
        the parents of a feature are the kept ancestors that a path without any other kept feature leads to.
        """
        names = check_names(features)
        refuse_unknown(names, self._index, "the restriction names")
        return self._over(names)

    def align(self, feature_names: Sequence[str] | None, n_features: int) -> Hierarchy:
        """The hierarchy over the columns of a table, which is what an estimator works with.

        With names, that is the restriction to those the hierarchy knows; the others are related to none.
        Without names, the columns are taken to be `features`, so their number must fit.
        """
        if feature_names is None:
            if n_features != len(self):
                raise ValueError(
                    f"hierarchy has {len(self)} features but X has {n_features} columns; pass a data frame "
                    "whose columns have names (strings), which are matched by name (in a pipeline: "
                    "set_output(transform='pandas') on the steps before), or restrict the hierarchy to the columns of X"
                )
            return self
        names = check_names(feature_names)
        if len(names) != n_features:
            raise ValueError(f"{len(names)} feature names for {n_features} columns; there must be one each")
        self._refuse_strangers(names)
        return self._over(names)

    def _refuse_strangers(self, columns: Sequence[Any]) -> None:
        if columns and self._index and not any(name in self for name in columns):
            raise ValueError(
                f"none of the columns is in the hierarchy: the columns are {some(columns)}; "
                f"the features of the hierarchy are {some(self._features)}"
            )

    def _over(self, names: tuple[str, ...]) -> Hierarchy:
        if names == self._features:
            return self
        d = len(self)
        old = np.fromiter((self._index.get(name, d) for name in names), dtype=np.int64, count=len(names))
        new = np.full(d + 1, -1)
        new[old] = np.arange(len(names))
        kept = new[:d] >= 0
        nearest = _graph.nearest_ancestors(self._parents, self._depths, kept)
        child = np.repeat(new[:d], nearest.lengths)
        edge = child >= 0
        return self._from_arrays(names, new[nearest.indices[edge]], child[edge])

    # ---------------------------------------------------------------------------------------- data

    def is_closed(self, X: Any) -> bool:
        """Whether every 1 of the 0/1 table X has a 1 at all its ancestors.

        The columns of a data frame are matched by name, and those the hierarchy doesn't know are ignored; the
        columns of an array, dense or sparse, are `features`. So it is for `violations` and `close`.
        """
        over, ones, _ = self._read(X)
        return bool(lacking(ones, _graph.as_matrix(over._parents)).nnz == 0)

    def violations(self, X: Any, limit: int = 10) -> tuple[tuple[int, str, str], ...]:
        """The first few (row, parent, child) with a 1 at the child and a 0 at its parent; rows count from 0.

        >>> Hierarchy.from_edges([("animal", "cat")]).violations([[0, 0], [0, 1], [1, 1]])
        ((1, 'animal', 'cat'),)
        """
        over, ones, _ = self._read(X)
        zeros = lacking(ones, _graph.as_matrix(over._parents))
        found = (
            (row, over._features[parent], over._features[child])
            for row, parent in zip(zeros.row.tolist(), zeros.col.tolist(), strict=True)
            for child in over._children[parent].tolist()
            if ones[row, child]
        )
        return tuple(islice(found, limit))

    def close(self, X: _X) -> _X:
        """X with the fewest ones added that make it closed: those at the ancestors of a 1.

        The answer is of the kind of X: an array of the same dtype, a sparse array of the same format, or a
        frame with the same rows and columns, of which those the hierarchy doesn't know are untouched.

        >>> Hierarchy.from_edges([("animal", "cat")]).close(np.array([[0, 0], [0, 1]]))
        array([[0, 0],
               [1, 1]])
        """
        over, ones, at = self._read(X)
        added = ones @ over.ancestor_matrix.astype(np.bool_)
        added.sort_indices()  # or scipy adds by a slower way
        filled: _X = write_like(X, ones + added, at)
        return filled

    def _read(self, X: Any) -> tuple[Hierarchy, sp.csr_array[np.bool_], list[int] | None]:
        """The hierarchy over the columns of X that it knows, their ones, and which columns they are."""
        labels = column_labels(X)
        if labels is None:
            return self.align(None, n_columns(X)), read_ones(X), None
        self._refuse_strangers(labels)
        at = [j for j, label in enumerate(labels) if label in self]
        return self.restrict([labels[j] for j in at]), read_ones(X, at), at

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` with the same names and edges, parent to child."""
        networkx = import_optional("networkx", extra="frames", purpose="to_networkx")
        graph = networkx.DiGraph()
        graph.add_nodes_from(self._features)
        graph.add_edges_from(self.edges)
        return graph

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

    def _repr_html_(self) -> str:
        return hierarchy_html(self)


def _unpickle(names: tuple[str, ...], parent: NDArray[np.int32], child: NDArray[np.int32]) -> Hierarchy:
    return Hierarchy._from_arrays(names, parent, child)
