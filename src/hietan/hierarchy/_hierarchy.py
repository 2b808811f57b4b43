"""The feature hierarchy: an immutable directed acyclic graph over feature names."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, NoReturn, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import hietan.hierarchy._graph as _graph
from hietan._runtime.number_checks import check_number
from hietan._runtime.optional import import_optional
from hietan._runtime.spelling import clip, first_few, refuse_unknown
from hietan.exceptions import HierarchyWarning
from hietan.hierarchy._card import hierarchy_html
from hietan.hierarchy._edge_columns import RELATION, find_ends, find_names, order_from_roots
from hietan.hierarchy._graph import IndexLists
from hietan.hierarchy._tables import column_labels, missing_ones, n_columns, read_ones, write_like
from hietan.hierarchy._taxonomies import code_parents, path_parents
from hietan.hierarchy._term_rows import ClosedColumns, is_missing

_X = TypeVar("_X")


class Hierarchy:
    """A directed acyclic graph over feature names, with edges from general to specific features.

    Feature u is an *ancestor* of v when a path leads from u down to v. If the data follow the hierarchy,
    v = 1 implies u = 1 (a gene annotated with a term is annotated with every ancestor of the term). Such data
    are *closed upwards*: `is_closed` checks this, and `close` adds the missing ones.

    A hierarchy is a value: it never changes, and two are equal if they have the same features in the same order and
    the same edges. Build one with `from_edges`, `from_paths`, `from_prefixes`, `from_networkx`, `from_adjacency` or
    `unrelated`.

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

    _names: tuple[str, ...]
    _parents: IndexLists
    _children: IndexLists
    _depths: NDArray[np.int64]

    def __init__(self) -> None:
        raise TypeError(
            "Hierarchy() cannot be called directly; use Hierarchy.from_edges, from_paths, from_prefixes, "
            "from_networkx, from_adjacency or unrelated"
        )

    # ---------------------------------------------------------------------------------------- building

    @classmethod
    def from_edges(cls, edges: Iterable[Any], features: Iterable[str] | None = None) -> Hierarchy:
        """Build a hierarchy from (parent, child) pairs.

        Parameters
        ----------
        edges : iterable of (str, str), or data frame
            The pairs; a repeated pair counts once. A frame contains them in columns such as "parent" and "child", or
            in its only two columns. If the column names do not show which is the parent, the data decide, because a
            hierarchy has fewer roots than leaves. If the data do not show it either, the first column is the parent,
            and a warning reports this. A child without a parent is a root.
        features : iterable of str, optional
            All features in column order, including features without an edge [default: the features in the edges, in
            order of appearance].
        """
        if isinstance(edges, dict):
            raise TypeError(
                "edges is a dict; pass pairs instead. For {child: [parents]}, use "
                "[(parent, child) for child, parents in edges.items() for parent in parents]"
            )
        _check_listing(edges, "edges", "(parent, child) pairs")
        listed, names = _edges_of_frame(edges) if hasattr(edges, "columns") else (edges, None)
        pairs = [_check_pair(edge) for edge in listed]
        if isinstance(edges, set | frozenset):
            pairs.sort()  # the order of a set differs from run to run
        if features is None:
            features = dict.fromkeys(names or (name for pair in pairs for name in pair))
        return cls._from_names(_check_names(features), pairs)

    @classmethod
    def from_paths(cls, paths: Iterable[str], separator: str = " > ") -> Hierarchy:
        """Build a hierarchy from paths that lead from a root to a node.

        Each node is named by its path, so that nodes with the same name under two parents are two nodes. Intermediate
        nodes need no separate path. Ranks without a name at the end of a lineage, such as ``g__``, are left out.

        Parameters
        ----------
        paths : iterable of str
            The paths.
        separator : str
            The text between two names.

        Examples
        --------
        >>> Hierarchy.from_paths(["Animals > Pets > Dogs", "Toys > Dogs"]).edges
        (('Animals', 'Animals > Pets'), ('Animals > Pets', 'Animals > Pets > Dogs'), ('Toys', 'Toys > Dogs'))
        """
        _check_listing(paths, "paths", "paths")
        if not isinstance(separator, str) or not separator:
            raise ValueError(f"separator is {separator!r}; expected the text between two names of a path")
        return cls._from_tree(path_parents(map(_check_name, paths), separator))

    @classmethod
    def from_prefixes(cls, codes: Iterable[str]) -> Hierarchy:
        """Build a hierarchy from codes that begin with their parent's code, as in ICD-10, ATC and NAICS.

        The parent of a code is the narrowest code or range that covers it. A code covers all codes that begin with it,
        and a range such as E08-E13 covers the codes between its ends. The part of a code before its first dot is a
        feature even if it is not among the codes.

        Parameters
        ----------
        codes : iterable of str
            The codes and ranges.

        Examples
        --------
        >>> Hierarchy.from_prefixes(["E08-E13", "E11.9", "E11.65", "E11.6"]).edges
        (('E08-E13', 'E11'), ('E11.6', 'E11.65'), ('E11', 'E11.9'), ('E11', 'E11.6'))
        """
        _check_listing(codes, "codes", "codes")
        return cls._from_tree(code_parents(map(_check_name, codes)))

    @classmethod
    def from_networkx(cls, graph: Any, *, child_to_parent: bool = False) -> Hierarchy:
        """Build a hierarchy from a networkx graph, in node order.

        Parameters
        ----------
        graph : networkx.DiGraph
            The graph; its nodes are the names of the features.
        child_to_parent : bool
            Whether edges run from child to parent, as in graphs that obonet reads, rather than from parent to child.
        """
        if not hasattr(graph, "is_directed"):
            raise TypeError(f"graph must be a networkx.DiGraph, got a {type(graph).__name__}")
        if not graph.is_directed():
            raise ValueError(
                f"graph must be directed, from parent to child; a {type(graph).__name__} does not show which end "
                "of an edge is the parent"
            )
        names = _check_names(graph.nodes, "graph", "networkx.relabel_nodes(graph, str) renames all nodes")
        return cls._from_names(names, [(v, u) if child_to_parent else (u, v) for u, v in graph.edges()])

    @classmethod
    def from_adjacency(cls, A: Any, features: Iterable[str] | None = None) -> Hierarchy:
        """Build a hierarchy from an adjacency matrix.

        Parameters
        ----------
        A : square matrix, dense or sparse
            Feature i is a parent of feature j if A[i, j] is not 0.
        features : iterable of str, optional
            The names of the features [default: "x0", "x1", ...].

        Examples
        --------
        >>> Hierarchy.from_adjacency([[0, 1, 1], [0, 0, 0], [0, 0, 0]]).edges
        (('x0', 'x1'), ('x0', 'x2'))
        """
        if hasattr(A, "columns"):
            raise TypeError("A is a data frame; pass A.to_numpy() and features=list(A.columns)")
        matrix: Any = A if sp.issparse(A) else np.asarray(A)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"A must be a square matrix, got shape {matrix.shape}")
        if matrix.dtype.kind not in "buif":
            raise TypeError(f"A must contain numbers, got dtype {matrix.dtype}")
        d, entries = matrix.shape[0], sp.coo_array(matrix)
        if not np.isfinite(entries.data).all():
            raise ValueError("A must be finite, but contains NaN or infinite values")
        edge = entries.data != 0
        names = _check_names((f"x{j}" for j in range(d)) if features is None else features)
        if len(names) != d:
            raise ValueError(
                f"A has {d} columns but features has {len(names)} names; pass one name per column"
            )
        return cls._from_arrays(names, entries.row[edge], entries.col[edge])

    @classmethod
    def unrelated(cls, features: Iterable[str]) -> Hierarchy:
        """Build a hierarchy of these features without edges."""
        return cls._from_names(_check_names(features), [])

    @classmethod
    def _from_tree(cls, parents: Mapping[str, str]) -> Hierarchy:
        pairs = [(parent, node) for node, parent in parents.items() if parent]
        return cls._from_names(tuple(parents), pairs)

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
        children, parents, depths = _graph.find_levels(parent, child, len(names))
        if (depths < 0).any():
            loops = parent[parent == child]
            if loops.size:
                raise ValueError(f"{names[loops[0]]!r} is its own parent; remove that edge")
            cycle = [names[v] for v in _graph.find_cycle(parents, depths)]
            shown = cycle if len(cycle) <= 12 else [*cycle[:6], f"({len(cycle) - 8} more)", *cycle[-2:]]
            raise ValueError(f"the edges form a cycle; remove one of them: {' -> '.join([*shown, cycle[0]])}")
        for array in (children.indptr, children.indices, parents.indptr, parents.indices, depths):
            array.flags.writeable = False
        self = object.__new__(cls)
        self.__dict__.update(_names=names, _parents=parents, _children=children, _depths=depths)
        return self

    # ---------------------------------------------------------------------------------------- reading

    @property
    def features(self) -> tuple[str, ...]:
        """The feature names, in column order."""
        return self._names

    @property
    def depths(self) -> NDArray[np.int64]:
        """The length of the longest path from a root to each feature."""
        return self._depths

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The (parent, child) pairs, in feature order."""
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
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def index(self, name: str) -> int:
        """Return a feature's position in `features`."""
        if name not in self:
            raise ValueError(
                f"{name!r} is not a feature of this hierarchy; use one of its features "
                f"({first_few(self.features)})"
            )
        return self._index[name]

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the feature's direct parents, in feature order."""
        return self._named(self._parents[self.index(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """Return the feature's direct children, in feature order."""
        return self._named(self._children[self.index(name)])

    def ancestors(self, name: str) -> frozenset[str]:
        """Return all features above this one."""
        return frozenset(map(self.features.__getitem__, _graph.reachable(self._parents, self.index(name))))

    def descendants(self, name: str) -> frozenset[str]:
        """Return all features below this one."""
        return frozenset(map(self.features.__getitem__, _graph.reachable(self._children, self.index(name))))

    def related(self, a: str, b: str) -> bool:
        """Return whether one of two features is an ancestor of the other."""
        above, below = sorted((self.index(a), self.index(b)), key=self._depths.__getitem__)
        return above in _graph.reachable(self._parents, below)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.features)}

    @cached_property
    def _closed(self) -> ClosedColumns:
        """The sorted positions of each feature and its ancestors."""
        return ClosedColumns(self._closed_columns, len(self))

    def _closed_columns(self, name: str) -> NDArray[np.int32] | None:
        v = self._index.get(name)
        found = None if v is None else sorted({v, *_graph.reachable(self._parents, v)})
        return None if found is None else np.array(found, dtype=np.int32)

    def _named(self, indices: NDArray[np.integer]) -> tuple[str, ...]:
        return tuple(map(self.features.__getitem__, indices.tolist()))

    # ---------------------------------------------------------------------------------------- matrices

    @property
    def adjacency(self) -> sp.csr_array[np.uint8]:
        """A matrix with a 1 at (parent, child) for each edge.

        The arrays of this and the following matrices are read-only.
        """
        return _graph.as_matrix(self._children)

    @property
    def ancestor_matrix(self) -> sp.csr_array[np.uint8]:
        """A matrix whose row v has a 1 for each ancestor of v; computed on first use."""
        return _graph.as_matrix(self._ancestors)

    @property
    def descendant_matrix(self) -> sp.csr_array[np.uint8]:
        """A matrix whose row v has a 1 for each descendant of v; computed on first use."""
        return _graph.as_matrix(self._descendants)

    @cached_property
    def _ancestors(self) -> IndexLists:
        return _graph.ancestors(self._parents, self._depths)

    def limit_ancestors(self, most: int) -> None:
        """Find all ancestors. Raise ValueError if the features have more than `most` ancestors in total.

        A small file can describe a hierarchy that needs far more memory than the file.
        """
        self.__dict__["_ancestors"] = _graph.ancestors(self._parents, self._depths, most)

    @cached_property
    def _descendants(self) -> IndexLists:
        return _graph.transpose(self._ancestors)

    # ---------------------------------------------------------------------------------------- other features

    def restrict(self, features: Iterable[str]) -> Hierarchy:
        """Return the hierarchy over exactly these features, in this order.

        Two features are related in the result if and only if they are related here, even if the path runs through
        dropped features. A feature's parents are the kept ancestors that can be reached by a path without any other
        kept feature.
        """
        names = _check_names(features)
        refuse_unknown(names, self._index, "the restriction names")
        return self._over(names)

    def align(self, feature_names: Sequence[str] | None, n_features: int) -> Hierarchy:
        """Return the hierarchy over a table's columns, which estimators need.

        Parameters
        ----------
        feature_names : sequence of str or None
            The column names. Columns that are not in the hierarchy are not related to any other. With None, the
            columns are assumed to be `features`.
        n_features : int
            The number of columns.
        """
        if feature_names is None:
            if n_features != len(self):
                raise ValueError(
                    f"hierarchy has {len(self)} features but X has {n_features} columns. Use the dataset's "
                    "hierarchy, restrict the hierarchy to the columns of X, or pass a data frame with string "
                    "column names. In a pipeline, call set_output(transform='pandas') on the earlier steps. In "
                    "a ClassifierChain, make a data frame with a FunctionTransformer"
                )
            return self
        names = _check_names(feature_names)
        if len(names) != n_features:
            raise ValueError(
                f"there are {len(names)} feature names for {n_features} columns; pass one name per column"
            )
        self._refuse_strangers(names)
        return self._over(names)

    def _refuse_strangers(self, columns: Sequence[Any]) -> None:
        if columns and self._index and not any(name in self for name in columns):
            raise ValueError(
                f"none of the columns is in the hierarchy; rename the columns ({first_few(columns)}) to match "
                f"the hierarchy's features ({first_few(self.features)})"
            )

    def _over(self, names: tuple[str, ...]) -> Hierarchy:
        if names == self.features:
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
        """Return whether every 1 in a table of 0 and 1 also has a 1 at all of its ancestors.

        The columns of a data frame are matched by name, and columns that are not in the hierarchy are ignored. The
        columns of an array, dense or sparse, are `features`. The same applies to `violations` and `close`.
        """
        over, ones, _ = self._read(X)
        return bool(missing_ones(ones, _graph.as_matrix(over._parents)).nnz == 0)

    def violations(self, X: Any, limit: int = 10) -> tuple[tuple[int, str, str], ...]:
        """Return the first `limit` triples (row, parent, child) in which the child is 1 and the parent is 0.

        Rows are counted from 0.

        >>> Hierarchy.from_edges([("animal", "cat")]).violations([[0, 0], [0, 1], [1, 1]])
        ((1, 'animal', 'cat'),)
        """
        over, ones, _ = self._read(X)
        zeros = missing_ones(ones, _graph.as_matrix(over._parents))
        found = (
            (row, over.features[parent], over.features[child])
            for row, parent in zip(zeros.row.tolist(), zeros.col.tolist(), strict=True)
            for child in over._children[parent].tolist()
            if ones[row, child]
        )
        return tuple(islice(found, limit))

    def close(self, X: _X) -> _X:
        """Return X with ones added at all ancestors of every 1, so that X is closed.

        The result is in a container like X: an array of the same dtype, a sparse array of the same format, or a frame
        with the same rows and columns. Columns that are not in the hierarchy are not changed.

        >>> Hierarchy.from_edges([("animal", "cat")]).close(np.array([[0, 0], [0, 1]]))
        array([[0, 0],
               [1, 1]])
        """
        over, ones, at = self._read(X)
        spread = _graph.spread_upwards(over._children, over._depths, ones)
        filled: _X = write_like(X, spread, at)
        return filled

    def lose_annotations(self, X: _X, share: float, random_state: int) -> _X:
        """Return X after removing some annotations, as if the rows had been annotated less completely.

        The most specific annotations of a row are its ones without a present descendant. Each of them is lost with
        probability `share`, but one always stays. The new row has the remaining annotations and their ancestors.

        Parameters
        ----------
        X : array, sparse array or data frame of 0 and 1
            The rows; columns are matched as in `is_closed`.
        share : float from 0 to 1
            The probability of losing an annotation; 0 only closes X upwards.
        random_state : int
            The seed for the losses. With the same seed, a larger share loses everything that a smaller share loses.

        Returns
        -------
        array, sparse array or data frame
            A container like X.

        Examples
        --------
        >>> hierarchy = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog"), ("thing", "rock")])
        >>> X = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 0, 0]])
        >>> hierarchy.lose_annotations(X, 0.5, random_state=0)
        array([[1, 1, 0, 0, 0],
               [1, 0, 1, 0, 0]])
        """
        check_number("share", share, 0, 1)
        over, ones, at = self._read(X)
        closed = _graph.spread_upwards(over._children, over._depths, ones)
        has_child = closed @ _graph.as_matrix(over._parents).astype(np.bool_)
        has_child.sort_indices()  # the order of the draws depends on it
        specific = (closed > has_child).tocoo()
        draws = np.random.default_rng(random_state).random(specific.nnz)
        largest = np.zeros(specific.shape[0])
        np.maximum.at(largest, specific.row, draws)
        stays = draws >= np.minimum(share, largest)[specific.row]
        kept: Any = (np.ones(stays.sum(), dtype=np.bool_), (specific.row[stays], specific.col[stays]))
        rows = sp.csr_array(kept, shape=specific.shape)
        damaged: _X = write_like(X, _graph.spread_upwards(over._children, over._depths, rows), at)
        return damaged

    def _read(self, X: Any) -> tuple[Hierarchy, sp.csr_array[np.bool_], list[int] | None]:
        """Return the hierarchy over the known columns of X, the ones in these columns, and their positions
        (None for all).
        """
        labels = column_labels(X)
        if labels is None:
            return self.align(None, n_columns(X)), read_ones(X), None
        self._refuse_strangers(labels)
        at = [j for j, label in enumerate(labels) if label in self]
        return self.restrict([labels[j] for j in at]), read_ones(X, at), at

    def to_networkx(self) -> Any:
        """Return a `networkx.DiGraph` with the same names and edges. Edges run from parent to child."""
        graph = import_optional("networkx", extra="frames", purpose="to_networkx").DiGraph()
        graph.add_nodes_from(self.features)
        graph.add_edges_from(self.edges)
        return graph

    # ---------------------------------------------------------------------------------------- being a value

    def __getstate__(self) -> dict[str, Any]:
        children = self._children
        parent = np.repeat(np.arange(len(self), dtype=np.int32), children.lengths)
        return {"features": self.features, "parent": parent, "child": children.indices}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Rebuild the hierarchy from a state that may be forged. Raise ValueError if the state is invalid."""
        self.__dict__.update(rebuild(**state).__dict__)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Hierarchy is immutable, so {name!r} cannot be set; build a new Hierarchy")

    def __deepcopy__(self, memo: dict[int, Any]) -> Hierarchy:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self is other or (
            np.array_equal(self._children.indptr, other._children.indptr)
            and np.array_equal(self._children.indices, other._children.indices)
            and self.features == other.features
        )

    def __hash__(self) -> int:
        return hash((self.features, self._children.indptr.tobytes(), self._children.indices.tobytes()))

    def __repr__(self) -> str:
        counts = [(len(self), "feature"), (len(self._children.indices), "edge"), (len(self.roots), "root")]
        words = [f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in counts]
        return f"Hierarchy({', '.join(words)}, depth {self._depths.max(initial=0)})"

    def _repr_html_(self) -> str:
        return hierarchy_html(self)


def rebuild(features: Iterable[Any], parent: NDArray[Any], child: NDArray[Any]) -> Hierarchy:
    """Build a hierarchy from its stored state, which may come from an untrusted source.

    Parameters
    ----------
    features : iterable of str
        The names, in column order.
    parent, child : arrays of integers of shape (n_edges,)
        The positions of both ends of each edge among the features.
    """
    names = _check_names(features)
    for ends in (parent, child):
        if not isinstance(ends, np.ndarray) or ends.ndim != 1 or ends.dtype.kind not in "iu":
            raise ValueError(
                f"the edges must be one-dimensional arrays of integer positions, got {clip(ends)}"
            )
        if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < len(names):
            raise ValueError(
                f"the edges contain feature positions from {ends.min()} to {ends.max()}; expected positions from 0 to "
                f"{len(names) - 1}"
            )
    if parent.shape != child.shape:
        raise ValueError(
            f"the edges have {len(parent)} parents but {len(child)} children; pass one child per parent"
        )
    return Hierarchy._from_arrays(names, parent, child)


# ------------------------------------------------------------------------------------------ checks


def _check_name(name: object, advice: str = "convert it with str(...)") -> str:
    """Return the name as a plain string. Raise an error for other types and for the empty string."""
    if not isinstance(name, str):
        raise TypeError(f"a feature name must be a string, got {name!r} ({type(name).__name__}); {advice}")
    if not name:
        raise ValueError("a feature name is empty (''); name every feature")
    return str(name)  # strings of numpy become plain ones


def _check_names(
    features: Iterable[object], what: str = "features", advice: str = "convert it with str(...)"
) -> tuple[str, ...]:
    """Return the names as a tuple of plain strings, after checking that each name occurs once."""
    _check_listing(features, what, "names")
    if isinstance(features, set | frozenset):
        raise TypeError(
            f"{what} must have an order, got the set {clip(features)}; pass a list, such as sorted(...)"
        )
    names = tuple(_check_name(name, advice) for name in features)
    if len(set(names)) < len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise ValueError(f"{what} must name each feature once, but repeats {first_few(repeated)}")
    return names


def _check_pair(edge: object) -> tuple[str, str]:
    """Return the names of an edge's parent and child."""
    if not isinstance(edge, tuple | list | np.ndarray) or len(edge) != 2:
        raise ValueError(f"an edge must be a pair (parent, child), got {edge!r}")
    return _check_name(edge[0]), _check_name(edge[1])


def _check_listing(values: object, what: str, of: str) -> None:
    """Raise TypeError for values that cannot be iterated over, and for strings, whose items are letters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{what} must be a list of {of}, got the {type(values).__name__} {clip(values)}")


def _edges_of_frame(frame: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Return a frame's (parent, child) pairs and all names, including isolated roots, in order of appearance."""
    labels = list(frame.columns)
    found = find_ends(list(map(str, labels)), range(len(labels)))
    if found is None:
        raise ValueError(
            f"edges is a data frame with the columns {first_few(labels, 8)}; expected two columns (parent, "
            "child), or columns with these names"
        )
    first, second, order = found
    for j in find_names(list(map(str, labels)), RELATION):
        warnings.warn(
            f"the column {labels[j]!r} is not used, so all rows count as edges; keep only the rows that are edges",
            HierarchyWarning,
            stacklevel=3,
        )
    rows = list(zip(frame[labels[first]].to_list(), frame[labels[second]].to_list(), strict=True))
    if (order or _order_from_data(rows, labels)) == "child-parent":
        rows = [(parent, child) for child, parent in rows]
    pairs, names = list[tuple[Any, Any]](), list[Any]()
    for parent, child in rows:
        if is_missing(parent) or parent == "":
            names.append(child)
        else:
            pairs.append((parent, child))
            names += (parent, child)
    return pairs, names


def _order_from_data(rows: Sequence[tuple[Any, Any]], labels: Sequence[Any]) -> str:
    """Return the order of two columns whose names do not show it. Warn unless the data show the documented order."""
    order = order_from_roots([["" if is_missing(end) else str(end) for end in row] for row in rows])
    if order != "parent-child" and rows:
        parent, child = labels[::-1] if order else labels
        why = "there are fewer roots than leaves this way" if order else "the data do not show the order"
        warnings.warn(
            f"column {parent!r} is used as the parent and column {child!r} as the child, because {why}; to choose "
            "them yourself, name the columns 'parent' and 'child'",
            HierarchyWarning,
            stacklevel=4,
        )
    return order or "parent-child"
