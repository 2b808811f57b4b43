"""Synthetic data that resemble genes annotated with Gene Ontology terms."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.datasets.dataset import Dataset
from hietan.datasets.synthetic.annotate import annotate
from hietan.datasets.synthetic.dag import random_dag
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
    """Generate rows of hierarchical features whose classes differ in some of the terms.

    The hierarchy resembles the Gene Ontology in depth and branching. Each row collects annotations, mostly to specific
    terms, some of which are far more popular than others, and each annotation adds all ancestors of its term. So the
    rows are closed upwards, they differ in their number of ones, and many columns are copies of each other. About two
    annotations per row, but at most half of them, go to informative terms. Each informative term belongs to one class,
    in turn, and rows of that class have it more often than others.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        The numbers of rows, columns and classes (at least 2). With fewer rows than classes, some classes stay empty.
    density : float in (0, 1)
        The share of ones in `X`.
    multi_parent : float in [0, 1]
        The share of the terms below the roots that have two or more parents.
    n_informative : int
        The number of terms that depend on the class directly (their ancestors do so through them); if there are
        fewer terms, all of them do. ``provenance["informative"]`` names them.
    imbalance : float in (0, 1)
        The share of the rows in class 0; the other classes share the rest evenly. For two classes, 0.5 is balanced.
    noise : float in [0, 1]
        The share of the rows, chosen at random, whose annotations follow a class other than their own.
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
    n_samples, n_features = _whole("n_samples", n_samples, 1), _whole("n_features", n_features, 1)
    n_classes = _whole("n_classes", n_classes, 2)
    n_informative = min(_whole("n_informative", n_informative, 0), n_features)
    multi_parent, noise = _share("multi_parent", multi_parent), _share("noise", noise)
    density, imbalance = _share("density", density, inside=True), _share("imbalance", imbalance, inside=True)
    from sklearn.utils import check_random_state  # imported here: it takes 100 MB, which readers do not need

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
        provenance={
            "origin": "hietan.datasets.make_hierarchical_classification",
            "options": {
                "n_samples": n_samples,
                "n_features": n_features,
                "n_classes": n_classes,
                "density": density,
                "multi_parent": multi_parent,
                "n_informative": n_informative,
                "imbalance": imbalance,
                "noise": noise,
                "random_state": int(random_state) if isinstance(random_state, Integral) else None,
            },
            "informative": [names[i] for i in informative],
            "informative_class": [i % n_classes for i in range(n_informative)],
        },
        name="synthetic",
    )


def _whole(name: str, value: Any, low: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    if number < low:
        raise ValueError(f"{name} is {value}; expected at least {low}")
    if number > _MOST:
        raise ValueError(f"{name} is {value}; expected at most {_MOST}")
    return number


def _share(name: str, value: Any, inside: bool = False) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number: Any = value  # compared before it becomes a float, which an integer may be too large for
    if not (0 < number < 1 if inside else 0 <= number <= 1):
        bounds = "strictly between 0 and 1" if inside else "from 0 to 1"
        raise ValueError(f"{name} is {value}; expected a number {bounds}")
    return float(value)


def _classes(rng: np.random.RandomState, n_samples: int, n_classes: int, share: float) -> _Indices:
    """The class of each row: `share` of them 0, the rest in equal parts, no class empty if there are enough rows."""
    others = n_classes - 1
    first = round(share * n_samples)
    if n_samples >= n_classes:
        first = min(max(first, 1), n_samples - others)
    rest = np.arange(n_samples - first) % others + 1
    return rng.permutation(np.concatenate([np.zeros(first, dtype=np.intp), rest]))


def _flip(rng: np.random.RandomState, y: _Indices, n_classes: int, noise: float) -> _Indices:
    """The class that each row follows: its own or, for a share `noise` of the rows, another."""
    follows = y.copy()
    rows = rng.permutation(len(y))[: round(noise * len(y))]
    follows[rows] = (y[rows] + rng.randint(1, n_classes, size=len(rows))) % n_classes
    return follows


def _informative(rng: np.random.RandomState, hierarchy: Hierarchy, how_many: int) -> _Indices:
    """The informative terms: those without children first, since none of them is an ancestor of another."""
    order = rng.permutation(len(hierarchy))
    n_children = np.diff(hierarchy.adjacency.indptr)
    return order[np.argsort(n_children[order] > 0, kind="stable")][:how_many]
