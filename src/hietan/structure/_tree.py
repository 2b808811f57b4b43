"""The learned tree as a result object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan._runtime.notebook import card
from hietan._runtime.optional import import_optional
from hietan._runtime.spelling import refuse_unknown

ROOT, ABSENT = -1, -2


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree over features, in which each feature depends on the class and on at most one other feature.

    Attributes
    ----------
    parent : int array of shape (n_features,)
        In the order of the columns: the index of a feature's parent, -1 for the root, -2 for a feature that is not
        in the tree.
    feature_names : tuple of str
        All column names.

    Examples
    --------
    >>> from hietan.structure import Tree
    >>> tree = Tree(np.array([1, -1, -2, 1]), ("A", "B", "C", "D"))
    >>> tree
    Tree(3 of 4 features, root 'B')
    >>> tree.edges
    (('B', 'A'), ('B', 'D'))
    >>> print(tree)
    B
    ├── A
    └── D
    """

    parent: NDArray[np.int32]
    feature_names: tuple[str, ...]

    def __post_init__(self) -> None:
        parent = np.array(self.parent, dtype=np.int32)  # a copy: the caller's array stays the caller's
        if parent.shape != (len(self.feature_names),):
            raise ValueError(
                f"parent has shape {parent.shape}, but there are {len(self.feature_names)} feature names; pass "
                "one entry per feature"
            )
        parent.flags.writeable = False
        object.__setattr__(self, "parent", parent)
        is_empty = parent.size > 0 and bool((parent == ABSENT).all())
        if (
            (parent >= parent.size).any()
            or (parent < ABSENT).any()
            or (np.count_nonzero(parent == ROOT) != 1 and not is_empty)
        ):
            raise ValueError(
                "parent must contain feature positions, -2 for absent features and a single -1 for the root "
                f"(or only -2), got {parent.tolist()}"
            )

    @property
    def features(self) -> tuple[str, ...]:
        """The features in the tree, in column order."""
        return tuple(self.feature_names[v] for v in np.flatnonzero(self.parent != ABSENT))

    @property
    def root(self) -> str:
        """The only feature that depends on the class alone. A tree without features has no root."""
        if not self._order:
            raise ValueError(
                "the tree has no features, so it has no root; fit it to data with at least one selected "
                "feature"
            )
        return self.feature_names[self._order[0]]

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The (parent, child) pairs, from the root down."""
        names = self.feature_names
        return tuple((names[self.parent[v]], names[v]) for v in self._order[1:])

    def over(self, feature_names: Sequence[str]) -> Tree:
        """Return the same tree for other columns, matched by name. The columns must include all features in the tree.

        >>> Tree(np.array([1, -1]), ("A", "B")).over(["B", "C", "A"]).parent.tolist()
        [-1, -2, 0]
        """
        names = tuple(feature_names)
        index = {name: v for v, name in enumerate(names)}
        refuse_unknown(self.features, index, "the tree contains")
        place = np.array([index.get(name, ABSENT) for name in self.feature_names])
        parent = np.full(len(names), ABSENT)
        inside = np.flatnonzero(self.parent != ABSENT)
        above = self.parent[inside]
        parent[place[inside]] = np.where(above == ROOT, ROOT, place[above])
        return Tree(parent, names)

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for v in np.flatnonzero(self.parent >= ROOT).tolist():
            children.setdefault(int(self.parent[v]), []).append(v)
        return children

    @cached_property
    def _order(self) -> list[int]:
        """The features in breadth-first order from the root."""
        order = list(self._children.get(ROOT, ()))
        for v in order:
            order.extend(self._children.get(v, ()))
        if len(order) != np.count_nonzero(self.parent != ABSENT):
            raise ValueError(
                "parent is not a tree, because some features cannot be reached from the root; got "
                f"{self.parent.tolist()}"
            )
        return order

    def to_networkx(self) -> Any:
        """Return a `networkx.DiGraph` with an edge from each parent to its child."""
        graph = import_optional("networkx", extra="frames", purpose="Tree.to_networkx").DiGraph()
        graph.add_nodes_from(self.feature_names[v] for v in self._order)
        graph.add_edges_from(self.edges)
        return graph

    def __len__(self) -> int:
        return len(self._order)

    def __repr__(self) -> str:
        root = f"root {self.root!r}" if self._order else "no root"
        return f"Tree({len(self)} of {len(self.feature_names)} features, {root})"

    def __str__(self) -> str:
        lines = []
        stack = [(v, "", "") for v in self._order[:1]]
        while stack:
            v, lead, below = stack.pop()
            lines.append(lead + self.feature_names[v])
            children = self._children.get(v, [])
            for k, child in reversed(list(enumerate(children))):
                last = k == len(children) - 1
                stack.append(
                    (child, below + ("└── " if last else "├── "), below + ("    " if last else "│   "))
                )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        counts = {"features in the tree": len(self), "features": len(self.feature_names)}
        return card("Tree", counts, f'<pre style="line-height:1.3">{escape(str(self))}</pre>')

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.feature_names == other.feature_names and np.array_equal(self.parent, other.parent)

    def __hash__(self) -> int:
        return hash((self.feature_names, self.parent.tobytes()))
