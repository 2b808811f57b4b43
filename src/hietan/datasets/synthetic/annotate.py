"""Random annotation of rows with terms and their ancestors, until a given share of the matrix is 1."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan.hierarchy import Hierarchy

_Indices = NDArray[np.intp]

# Standard deviation of the log of a row's weight: in real data, ones per row vary by 40 to 80 % of their mean.
_ROW_SPREAD = 0.6
_TERM_SPREAD = 1.0  # standard deviation of the log of a term's popularity
# Annotations are as specific as they can be, so terms with children are rarely named directly.
_INNER_POPULARITY = 0.2
_INFORMATIVE = 2.0  # annotations per row, on average, that depend on the class ...
_INFORMATIVE_AT_MOST = 0.5  # ... but no more than this share of them
_OWN = 0.95  # share of those that go to terms of the row's own class
_ROUNDS = 64  # of drawing, at most; only a density near 1 needs more than a few


@dataclass(frozen=True)
class _Source:
    """Draws annotations.

    Attributes
    ----------
    rows, terms : ndarray
        The cumulative weights of the rows and of the terms.
    follows : ndarray
        The class that each row follows.
    informative : list of ndarray
        The informative terms of each class.
    informative_share : float
        The share of annotations that go to informative terms.
    """

    rows: NDArray[np.float64]
    terms: NDArray[np.float64]
    follows: _Indices
    informative: list[_Indices]
    informative_share: float

    def draw_rows(self, rng: np.random.RandomState, size: int) -> _Indices:
        """The rows of `size` annotations."""
        return _draw(rng, self.rows, size)

    def draw_terms(self, rng: np.random.RandomState, rows: _Indices) -> _Indices:
        """A term for each row: any term, or an informative one of its class or, more rarely, of another class."""
        terms = _draw(rng, self.terms, len(rows))
        n_classes = len(self.informative)
        of_class = self.follows[rows]
        other = (of_class + rng.randint(1, n_classes, size=len(rows))) % n_classes
        of_class = np.where(rng.random_sample(len(rows)) < _OWN, of_class, other)
        of_class[rng.random_sample(len(rows)) >= self.informative_share] = -1
        for c, choice in enumerate(self.informative):
            chosen = np.flatnonzero(of_class == c)
            if len(choice):
                terms[chosen] = choice[rng.randint(len(choice), size=len(chosen))]
        return terms


def annotate(
    rng: np.random.RandomState,
    hierarchy: Hierarchy,
    follows: _Indices,
    informative: list[_Indices],
    density: float,
) -> csr_array:
    """A closed matrix in which `density` of the cells are 1, as nearly as whole annotations allow.

    `follows` is the class that each row follows, `informative` the informative terms of each class. How many
    annotations the density takes is not known in advance: each adds its ancestors, many of which the row already has.
    So the annotations form one sequence, which grows until the density is exceeded and is then cut where the density
    comes nearest. First each row gets one annotation, then each term without children, so that few rows and columns
    stay empty; then come the others.
    """
    n_samples, n_features = len(follows), len(hierarchy)
    leaves = np.flatnonzero(np.diff(hierarchy.adjacency.indptr) == 0)
    popularity = rng.lognormal(sigma=_TERM_SPREAD, size=n_features) * _INNER_POPULARITY
    popularity[leaves] /= _INNER_POPULARITY
    closure_size = np.diff(hierarchy.ancestor_matrix.indptr) + 1
    per_row = density * n_features / np.average(closure_size, weights=popularity)
    row_weight = rng.lognormal(sigma=_ROW_SPREAD, size=n_samples)
    share = min(_INFORMATIVE_AT_MOST, _INFORMATIVE / per_row)
    source = _Source(np.cumsum(row_weight), np.cumsum(popularity), follows, informative, share)

    each_row = rng.permutation(n_samples)
    rows = np.concatenate([each_row, source.draw_rows(rng, len(leaves))])
    terms = np.concatenate([source.draw_terms(rng, each_row), rng.permutation(leaves)])
    # The first batch is 1.5 times what would suffice if rows shared no ancestors; further ones double the sequence.
    target, batch = round(density * n_samples * n_features), 1 + round(1.5 * per_row * n_samples)
    for _ in range(_ROUNDS):
        more = source.draw_rows(rng, batch)
        rows, terms = np.concatenate([rows, more]), np.concatenate([terms, source.draw_terms(rng, more)])
        # A repeated annotation adds nothing; the first of its kind keeps its place in the sequence.
        fresh = np.sort(np.unique(rows * n_features + terms, return_index=True)[1])
        rows, terms = rows[fresh], terms[fresh]
        cells, since = _close(rows, terms, hierarchy)
        if len(cells) >= target:
            break
        batch = len(rows)
    return _matrix(cells[since <= _cut(since, target)], (n_samples, n_features))


def _draw(rng: np.random.RandomState, cumulated: NDArray[np.float64], size: int) -> _Indices:
    return np.asarray(np.searchsorted(cumulated, rng.random_sample(size) * cumulated[-1], side="right"))


def _close(rows: _Indices, terms: _Indices, hierarchy: Hierarchy) -> tuple[_Indices, _Indices]:
    """The cells (row * d + column) that are 1 after closure, sorted, and the first annotation that sets each."""
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


def _cut(since: _Indices, target: int) -> int:
    """The last annotation to keep for the number of cells to be nearest to `target`."""
    reached = np.cumsum(np.bincount(since))
    return int(np.argmin(np.abs(reached - target)))


def _matrix(cells: _Indices, shape: tuple[int, int]) -> csr_array:
    rows, columns = np.divmod(cells, shape[1])
    indptr = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
    return csr_array((np.ones(len(cells), dtype=np.uint8), columns.astype(np.int32), indptr), shape=shape)
