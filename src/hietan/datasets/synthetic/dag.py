"""Random hierarchies that resemble the Gene Ontology.

Measured on the GO of 2014 (39,394 terms below its roots), on what is left of it in the 28 ageing-gene datasets (75
to 1,338 terms), and on ten hierarchies made here (300 and 1,000 terms, half of them with several parents):

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

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

_Indices = NDArray[np.intp]

_DEPTH_PER_LOG_FEATURE = 0.6
_IN_TURN = (
    0.6  # share of children that are dealt out to the parents in turn; the others prefer popular parents
)
_POPULARITY_SPREAD = 1.2  # standard deviation of the log of a parent's popularity
_CLIMB = 0.4  # probability that a further parent is taken from one level higher, and again from there
_NEARNESS = (
    0.3  # one over the mean distance, within a level, of a further parent from the first parent's line
)
_FURTHER_PARENT = 0.27  # probability that a term with two or more parents gets one more


def random_dag(rng: np.random.RandomState, n_features: int, multi_parent: float) -> csr_array:
    """The adjacency (parent in the row) of a DAG.

    The share `multi_parent` of the terms below the roots has two or more parents, as far as the levels above allow.
    """
    depth = rng.poisson(_DEPTH_PER_LOG_FEATURE * np.log(n_features), size=n_features)
    bounds = np.concatenate(
        [[0], np.cumsum(np.unique(depth, return_counts=True)[1])]
    )  # levels that drew no term are left out
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
    """One parent for each term, in the level above; -1 for the roots.

    Level k holds the terms from bounds[k] to bounds[k + 1], ordered like their parents, so that neighbours have
    near relatives above them.
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
    """Whether the level above each term holds more than one."""
    level = np.searchsorted(bounds, terms, side="right") - 1
    return np.asarray(np.diff(bounds)[level - 1] > 1)


def _further_parents(
    rng: np.random.RandomState, bounds: _Indices, first: _Indices, children: _Indices
) -> _Indices:
    """Another parent for each child: a neighbour of its first parent, or of an ancestor of that parent.

    In GO the parents of a term share most of their ancestors; parents drawn from a whole level would not. Neighbours
    within a level do, because `_first_parents` orders each level like the one above. So each child climbs a few steps
    up the line of its first parents, and from there goes a few places to the left or right, around the end of the
    level if need be, but never back to the line itself.
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
