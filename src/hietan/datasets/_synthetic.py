"""Synthetic data that resemble genes annotated with Gene Ontology terms.

Measured on the GO of 2014 (39,394 terms below its roots), on its terms in the 28 ageing-gene datasets (75 to 1,338
terms), and on ten hierarchies made here (300 and 1,000 terms, half of them with several parents):

=========================================  ===========  =================  =================
figure                                     whole GO     ageing datasets    made here
=========================================  ===========  =================  =================
roots                                      63           8 to 42            5 to 18
depth (longest path from a root), mean     5.6          2.4 to 4.6         3.3 to 4.1
depth, largest                             15           5 to 12            9 to 12
terms without children                     62 %         22 to 49 %         34 to 38 %
parents with a single child                29 %         49 to 68 %         64 to 71 %
children of a parent, mean                 4.4          1.6 to 2.9         2.4 to 2.6
terms with two or more parents             48 %         17 to 59 %         50 %
parents of a term, mean                    1.7          1.2 to 1.8         1.6 to 1.7
ancestors of a term, mean                  12.0         3.6 to 11.3        5.4 to 6.6
=========================================  ===========  =================  =================

Depths are close to Poisson with mean 0.6 ln d, which also gives about the right number of roots.
"""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from hietan._runtime.number_checks import check_integer, check_number
from hietan.datasets._dataset import Dataset
from hietan.hierarchy import Hierarchy

_Indices = NDArray[np.intp]
_MOST = 2**31 - 1  # columns and rows are counted in 32 bits


def make_hierarchical_classification(
    n_samples: int = 200,
    n_features: int = 300,
    *,
    n_classes: int = 2,
    density: float = 0.05,
    multi_parent: float = 0.3,
    n_informative: int = 20,
    imbalance: float = 0.5,
    noise: float = 0.05,
    random_state: Any = None,
) -> Dataset:
    """Generate rows of hierarchical features for several classes. Some terms are more frequent in one class.

    The hierarchy resembles the Gene Ontology in depth and branching. Each row collects annotations, mostly to specific
    terms, some of which are far more popular than others, and each annotation adds all ancestors of its term. So the
    rows are closed upwards, they differ in their number of ones, and many columns are copies of each other. About two
    annotations per row, but at most half of them, go to informative terms. Each informative term belongs to one class,
    in turn, and is more frequent in rows of that class.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        The numbers of rows, columns and classes (at least 2). With fewer rows than classes, some classes stay empty.
    density : float in (0, 1)
        The share of ones in `X`.
    multi_parent : float in [0, 1]
        The share of the terms below the roots that have two or more parents.
    n_informative : int
        The number of terms that depend on the class directly, or all terms if there are fewer; their ancestors depend
        on it through them. ``provenance["informative"]`` names them.
    imbalance : float in (0, 1)
        The share of rows in class 0; the other classes share the rest evenly. For two classes, 0.5 is balanced.
    noise : float in [0, 1]
        The share of rows, chosen at random, whose annotations follow another class.
    random_state : int, RandomState or None
        The source of randomness; an int gives the same data each time.

    Returns
    -------
    Dataset
        The features are named "T:0000000", ..., the rows "row0", ..., the classes "class0", ...

    Examples
    --------
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(imbalance=0.7, random_state=0)
    >>> data.hierarchy.is_closed(data.X)
    True
    >>> np.bincount(data.y).tolist()
    [140, 60]
    """
    for what, n, least in (
        ("n_samples", n_samples, 1),
        ("n_features", n_features, 1),
        ("n_classes", n_classes, 2),
        ("n_informative", n_informative, 0),
    ):
        check_integer(what, n, least, _MOST)
    for what, share in (("multi_parent", multi_parent), ("noise", noise)):
        check_number(what, share, 0, 1)
    for what, share in (("density", density), ("imbalance", imbalance)):
        check_number(what, share, 0, 1)
        if share in (0, 1):
            raise ValueError(f"{what} is {share}; expected a number strictly between 0 and 1")
    n_informative = min(n_informative, n_features)
    from sklearn.utils import check_random_state  # imported here: it needs 100 MB, which readers do not use

    rng = check_random_state(random_state)

    names = tuple(f"T:{i:07d}" for i in range(n_features))
    hierarchy = Hierarchy.from_adjacency(random_dag(rng, n_features, multi_parent), features=names)
    y = _classes(rng, n_samples, n_classes, imbalance)
    informative = _informative(rng, hierarchy, n_informative)
    of_class = [informative[c::n_classes] for c in range(n_classes)]
    X = annotate(rng, hierarchy, _flip(rng, y, n_classes, noise), of_class, density)
    return Dataset(
        X=X,
        y=y,
        hierarchy=hierarchy,
        feature_names=names,
        term_names=names,
        instance_names=tuple(f"row{i}" for i in range(n_samples)),
        target_names=tuple(f"class{c}" for c in range(n_classes)),
        positive="class1" if n_classes == 2 else "",
        provenance={
            "origin": "hietan.datasets.make_hierarchical_classification",
            "options": {
                "n_samples": int(n_samples),
                "n_features": int(n_features),
                "n_classes": int(n_classes),
                "density": float(density),
                "multi_parent": float(multi_parent),
                "n_informative": int(n_informative),
                "imbalance": float(imbalance),
                "noise": float(noise),
                "random_state": int(random_state) if isinstance(random_state, Integral) else None,
            },
            "informative": [names[i] for i in informative],
            "informative_class": [i % n_classes for i in range(n_informative)],
        },
        name="synthetic",
    )


def _classes(rng: np.random.RandomState, n_samples: int, n_classes: int, share: float) -> _Indices:
    """Return each row's class: a `share` in class 0, the rest spread evenly, with no empty class if possible."""
    others = n_classes - 1
    first = round(share * n_samples)
    if n_samples >= n_classes:
        first = min(max(first, 1), n_samples - others)
    rest = np.arange(n_samples - first) % others + 1
    return rng.permutation(np.concatenate([np.zeros(first, dtype=np.intp), rest]))


def _flip(rng: np.random.RandomState, y: _Indices, n_classes: int, noise: float) -> _Indices:
    """Return the class that each row follows: its own or, for a share `noise` of the rows, another class."""
    follows = y.copy()
    rows = rng.permutation(len(y))[: round(noise * len(y))]
    follows[rows] = (y[rows] + rng.randint(1, n_classes, size=len(rows))) % n_classes
    return follows


def _informative(rng: np.random.RandomState, hierarchy: Hierarchy, how_many: int) -> _Indices:
    """Return the informative terms. Terms without children come first, because none is an ancestor of another."""
    order = rng.permutation(len(hierarchy))
    n_children = np.diff(hierarchy.adjacency.indptr)
    return order[np.argsort(n_children[order] > 0, kind="stable")][:how_many]


# ---------------------------------------------------------------------------------------- hierarchies


_DEPTH_PER_LOG_FEATURE = 0.6
_IN_TURN = (
    0.6  # share of children that are assigned to the parents in turn; the others prefer popular parents
)
_POPULARITY_SPREAD = 1.2  # standard deviation of the log of a parent's popularity
_CLIMB = 0.4  # probability that another parent comes from one level higher, and again from there
_NEARNESS = 0.3  # one over the mean distance, within a level, of another parent from the first parent's line
_FURTHER_PARENT = 0.27  # probability that a term with two or more parents gets one more


def random_dag(rng: np.random.RandomState, n_features: int, multi_parent: float) -> csr_array:
    """Return the adjacency matrix of a random DAG, with parents as rows.

    The share `multi_parent` of the terms below the roots has two or more parents, as far as the levels above allow.
    """
    depth = rng.poisson(_DEPTH_PER_LOG_FEATURE * np.log(n_features), size=n_features)
    sizes = np.unique(depth, return_counts=True)[1]  # levels that drew no term are left out
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    first = _first_parents(rng, bounds)
    below = np.arange(bounds[1], n_features)
    parents, children = [first[below]], [below]
    more = rng.permutation(below[_has_choice(bounds, below)])[: round(multi_parent * len(below))]
    while len(more):
        parents.append(_further_parents(rng, bounds, first, more))
        children.append(more)
        more = more[rng.random_sample(len(more)) < _FURTHER_PARENT]
    column = rng.permutation(n_features)
    row, col = column[np.concatenate(parents)], column[np.concatenate(children)]
    # A pair that was drawn twice becomes one edge.
    return csr_array(coo_array((np.ones(len(row), dtype=bool), (row, col)), shape=(n_features, n_features)))


def _first_parents(rng: np.random.RandomState, bounds: _Indices) -> _Indices:
    """Return one parent for each term, from the level above, or -1 for the roots.

    Level k has the terms from bounds[k] to bounds[k + 1], ordered like their parents, so that neighbours have close
    relatives above them.
    """
    first = np.full(bounds[-1], -1, dtype=np.intp)
    for (start, middle), (_, end) in pairwise(pairwise(bounds)):
        popularity = np.cumsum(rng.lognormal(sigma=_POPULARITY_SPREAD, size=middle - start))
        chosen = np.searchsorted(popularity, rng.random_sample(end - middle) * popularity[-1], side="right")
        in_turn = rng.random_sample(end - middle) < _IN_TURN
        chosen[in_turn] = np.resize(rng.permutation(middle - start), in_turn.sum())
        first[middle:end] = start + np.sort(chosen)
    return first


def _has_choice(bounds: _Indices, terms: _Indices) -> NDArray[np.bool_]:
    """Return whether the level above each term has more than one term."""
    level = np.searchsorted(bounds, terms, side="right") - 1
    return np.asarray(np.diff(bounds)[level - 1] > 1)


def _further_parents(
    rng: np.random.RandomState, bounds: _Indices, first: _Indices, children: _Indices
) -> _Indices:
    """Return another parent for each child: a neighbour of its first parent or of one of that parent's ancestors.

    In GO the parents of a term share most of their ancestors; parents drawn from a whole level would not. Neighbours
    within a level do, because `_first_parents` orders each level like the one above. So each child climbs a few steps
    up the line of its first parents. From there it moves a few places to the left or right, around the end of the
    level if necessary, but never back to the line itself.
    """
    line = first[children]
    while True:
        climbs = (line >= bounds[1]) & (rng.random_sample(len(line)) < _CLIMB)
        climbs[climbs] = _has_choice(bounds, line[climbs])
        if not climbs.any():
            break
        line[climbs] = first[line[climbs]]
    level = np.searchsorted(bounds, line, side="right") - 1
    start, size = bounds[level], np.diff(bounds)[level]
    step = rng.geometric(_NEARNESS, size=len(line)) % size
    step = np.where(step == 0, 1, step) * rng.choice([-1, 1], size=len(line))
    return np.asarray(start + (line - start + step) % size)


# ---------------------------------------------------------------------------------------- annotations

# Standard deviation of the log of a row's weight: in real data, ones per row vary by 40 to 80% of their mean.
_ROW_SPREAD = 0.6
_TERM_SPREAD = 1.0  # standard deviation of the log of a term's popularity
# Annotations are as specific as they can be, so terms with children are rarely named directly.
_INNER_POPULARITY = 0.2
_INFORMATIVE = 2.0  # annotations per row, on average, that depend on the class ...
_INFORMATIVE_AT_MOST = 0.5  # ... but no more than this share of them
_OWN = 0.95  # share of these that go to terms of the row's own class
_ROUNDS = 64  # of drawing, at most; only a density near 1 needs more than a few


def annotate(
    rng: np.random.RandomState,
    hierarchy: Hierarchy,
    follows: _Indices,
    informative: list[_Indices],
    density: float,
) -> csr_array:
    """Return a closed matrix in which the share of ones is as close to `density` as possible.

    `follows` is the class that each row follows, `informative` the informative terms of each class. The number of
    annotations for a density is not known in advance: each adds its ancestors, many of which the row already has. So
    the annotations form one sequence, which grows until the density is exceeded and is then cut at the nearest density.
    First each row gets one annotation, then each term without children, so that few rows and columns stay empty; then
    come the others.
    """
    n_samples, n_features = len(follows), len(hierarchy)
    leaves = np.flatnonzero(np.diff(hierarchy.adjacency.indptr) == 0)
    popularity = rng.lognormal(sigma=_TERM_SPREAD, size=n_features) * _INNER_POPULARITY
    popularity[leaves] /= _INNER_POPULARITY
    closure_size = np.diff(hierarchy.ancestor_matrix.indptr) + 1
    per_row = density * n_features / np.average(closure_size, weights=popularity)
    row_weight = rng.lognormal(sigma=_ROW_SPREAD, size=n_samples)
    informative_share = min(_INFORMATIVE_AT_MOST, _INFORMATIVE / per_row)
    of_rows, of_terms, n_classes = np.cumsum(row_weight), np.cumsum(popularity), len(informative)

    def draw_terms(rows: _Indices) -> _Indices:
        """Return a term for each row: any term, an informative term of the row's class or, rarely, one of another
        class.
        """
        terms = _draw(rng, of_terms, len(rows))
        of_class = follows[rows]
        other = (of_class + rng.randint(1, n_classes, size=len(rows))) % n_classes
        of_class = np.where(rng.random_sample(len(rows)) < _OWN, of_class, other)
        of_class[rng.random_sample(len(rows)) >= informative_share] = -1
        for c, choice in enumerate(informative):
            chosen = np.flatnonzero(of_class == c)
            if len(choice):
                terms[chosen] = choice[rng.randint(len(choice), size=len(chosen))]
        return terms

    each_row = rng.permutation(n_samples)
    rows = np.concatenate([each_row, _draw(rng, of_rows, len(leaves))])
    terms = np.concatenate([draw_terms(each_row), rng.permutation(leaves)])
    # The first batch is 1.5 times the number needed if rows shared no ancestors; each further one doubles the sequence.
    target, batch = round(density * n_samples * n_features), 1 + round(1.5 * per_row * n_samples)
    for _ in range(_ROUNDS):
        more = _draw(rng, of_rows, batch)
        rows, terms = np.concatenate([rows, more]), np.concatenate([terms, draw_terms(more)])
        # A repeated annotation adds nothing; the first of its kind keeps its place in the sequence.
        fresh = np.sort(np.unique(rows * n_features + terms, return_index=True)[1])
        rows, terms = rows[fresh], terms[fresh]
        cells, since = _close(rows, terms, hierarchy)
        if len(cells) >= target:
            break
        batch = len(rows)
    reached = np.cumsum(np.bincount(since))
    last = np.argmin(np.abs(reached - target))  # the last annotation to keep for the density to be nearest
    return _matrix(cells[since <= last], (n_samples, n_features))


def _draw(rng: np.random.RandomState, cumulated: NDArray[np.float64], size: int) -> _Indices:
    return np.asarray(np.searchsorted(cumulated, rng.random_sample(size) * cumulated[-1], side="right"))


def _close(rows: _Indices, terms: _Indices, hierarchy: Hierarchy) -> tuple[_Indices, _Indices]:
    """Return the sorted cells (row * d + column) that are 1 after closure, and the first annotation that sets
    each cell.
    """
    d, when = len(hierarchy), np.arange(len(rows))
    above = hierarchy.ancestor_matrix
    start, count = above.indptr[terms].astype(np.intp), np.diff(above.indptr)[terms].astype(np.intp)
    position = np.arange(count.sum()) + np.repeat(start - (np.cumsum(count) - count), count)
    cells = np.concatenate([rows * d + terms, np.repeat(rows * d, count) + above.indices[position]])
    since = np.concatenate([when, np.repeat(when, count)])
    order = np.lexsort((since, cells))
    cells, since = cells[order], since[order]
    first = np.diff(cells, prepend=-1) > 0
    return cells[first], since[first]


def _matrix(cells: _Indices, shape: tuple[int, int]) -> csr_array:
    rows, columns = np.divmod(cells, shape[1])
    indptr = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
    return csr_array((np.ones(len(cells), dtype=np.uint8), columns.astype(np.int32), indptr), shape=shape)
