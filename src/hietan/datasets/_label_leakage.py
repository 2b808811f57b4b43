"""Features that say nearly the same as the label: where labels and features rest on the same observations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlogy

from hietan._runtime.number_checks import check_integer
from hietan.datasets._dataset import Dataset

CIRCULARITY = (
    "Labels and features may rest on the same observations: a gene that was found to change lifespan is annotated with "
    "lifespan. Such a feature makes a model look better than it is for rows that were not observed yet. If a feature "
    "listed here repeats the label, build the data again without it and the terms below it: "
    "hietan build --drop-term TERM."
)
MOST_LISTED = 1_000_000
SIGNIFICANT = 0.001
"""The p-value below which the closeness of a feature to the label is not chance."""

# Words that mean the same in the names of terms and of labels.
_SAME_MEANING = (
    frozenset({"lifespan", "longevity", "ageing", "aging", "senescence"}),
    frozenset({"cancer", "tumor", "tumour", "neoplasm", "carcinoma", "malignant", "malignancy"}),
    frozenset({"death", "dead", "died", "mortality", "lethal", "lethality", "survival"}),
    frozenset({"diabetes", "diabetic"}),
)
# Words that are in the names of too many labels and terms to mean anything, such as a class called "positive".
_EMPTY_WORDS = frozenset(
    [
        "anti",
        "pro",
        "positive",
        "negative",
        "regulation",
        "influence",
        "class",
        "label",
        "group",
        "type",
        "true",
        "false",
        "effect",
        "process",
        "with",
        "without",
        "from",
        "other",
        "none",
        "unknown",
        "models",
        "model",
        "data",
        "labels",
        "table",
        "human",
        "genes",
        "gene",
    ]
)


@dataclass(frozen=True)
class CloseFeature:
    """A feature, and how close it is to the label.

    Attributes
    ----------
    feature, name : str
        Its identifier, and its readable name.
    class_rows : tuple of int
        How many rows of each class have it.
    auc : float or None
        The area under the ROC curve of the feature alone, at least 0.5; None if there are not two classes.
    information : float
        The share of the label's entropy that the feature explains: mutual information divided by the entropy.
    p_value : float
        The probability of at least this much information between independent variables (G-test), times the number of
        features (Bonferroni), at most 1.
    word : str
        A word of the feature's name that is a word of the label, or means the same; "" if there is none.
    """

    feature: str
    name: str
    class_rows: tuple[int, ...]
    auc: float | None
    information: float
    p_value: float
    word: str = ""

    @property
    def is_suspicious(self) -> bool:
        """Whether the feature explains a tenth of the label beyond chance, or is called like the label."""
        return bool(self.word) or (self.information >= 0.1 and self.p_value < SIGNIFICANT)


def closest_features(data: Dataset, limit: int = 8) -> tuple[CloseFeature, ...]:
    """The features that explain most of the label, and those that are called like it.

    Parameters
    ----------
    data : Dataset
        A dataset with labels; without labels there are no such features.
    limit : int
        The number of features of each kind: those with the most information, and those with a word of the label in
        their name.

    Returns
    -------
    tuple of CloseFeature
        Those that are called like the label first, then the most informative first.

    Examples
    --------
    >>> from hietan.datasets import make_hierarchical_classification
    >>> closest = closest_features(make_hierarchical_classification(200, 30, random_state=0), 2)
    >>> [(found.feature, round(found.auc, 2), found.is_suspicious) for found in closest]
    [('T:0000010', 0.55, False), ('T:0000015', 0.55, False)]
    """
    check_integer("limit", limit, 1, MOST_LISTED)
    labels = np.unique(data.y)
    if not data.is_labelled or len(labels) < 2:
        return ()
    ones = np.stack(
        [
            np.asarray(data.X[np.flatnonzero(data.y == c)].sum(axis=0, dtype=np.int64)).ravel()
            for c in range(len(data.target_names))
        ]
    )
    sizes = np.bincount(data.y, minlength=len(data.target_names))
    information, p_values = _information(ones, sizes)
    words = _words_of_the_label(data)
    named = {
        j: next(word for word in _words(name) if word in words)
        for j, name in enumerate(data.term_names)
        if not words.isdisjoint(_words(name))
    }
    order = np.argsort(-information, kind="stable").tolist()
    by_name = [j for j in order if j in named][:limit]
    chosen = [*by_name, *(j for j in order[:limit] if j not in by_name)]
    return tuple(
        CloseFeature(
            data.feature_names[j],
            data.term_names[j],
            tuple(ones[:, j].tolist()),
            _auc(ones[:, j], sizes),
            float(information[j]),
            float(p_values[j]),
            named.get(j, ""),
        )
        for j in chosen
    )


def _information(
    ones: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share of the label's entropy that each feature explains, and the p-values of the G-test."""
    n, n_features, zeros = int(sizes.sum()), ones.shape[1], sizes[:, None] - ones
    entropy = float(xlogy(n, n) - xlogy(sizes, sizes).sum())  # n times the entropy of the label
    # n times its entropy given the feature, from the counts of the two values in each class
    given = sum(xlogy(value.sum(0), value.sum(0)) - xlogy(value, value).sum(0) for value in (ones, zeros))
    mutual = np.maximum(entropy - np.asarray(given, dtype=np.float64), 0)
    p_values = np.minimum(chdtrc((sizes > 0).sum() - 1, 2 * mutual) * n_features, 1.0)
    return mutual / entropy, p_values


def _auc(ones: NDArray[np.int64], sizes: NDArray[np.int64]) -> float | None:
    if len(sizes) != 2:
        return None
    shares = ones / sizes
    return float(0.5 + abs(shares[1] - shares[0]) / 2)


def _words_of_the_label(data: Dataset) -> frozenset[str]:
    """The words of the classes, of the column of labels and of the dataset, with those that mean the same."""
    options = data.provenance.get("options")
    given = options if isinstance(options, dict) else {}
    mapping = given.get("mapping")
    texts = [*data.target_names, data.name, str(given.get("label_column") or "")]
    texts += map(str, mapping) if isinstance(mapping, dict) else []
    words = {word for text in texts for word in _words(text)}
    return frozenset(words).union(*(same for same in _SAME_MEANING if same & words))


def _words(text: str) -> Iterable[str]:
    """The words of at least four letters that mean something, in lower case.

    >>> list(_words("negative regulation of multicellular organism aging"))
    ['multicellular', 'organism', 'aging']
    """
    return (word for word in re.findall(r"[^\W\d_]{4,}", text.lower()) if word not in _EMPTY_WORDS)
