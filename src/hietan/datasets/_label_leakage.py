"""Features that nearly repeat the label because both come from the same observations."""

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
    "Labels and features may come from the same observations: a gene that was found to change lifespan is annotated "
    "with lifespan. Such a feature makes a model look better than it is for rows that have not been observed yet. If a "
    "feature repeats the label, build the data again without it and the terms below it: hietan build --drop-term TERM."
)
MOST_LISTED = 1_000_000
SIGNIFICANT = 0.001
"""The p-value below which a feature's association with the label is considered significant."""

# Synonyms in the names of terms and labels.
_SAME_MEANING = (
    frozenset({"lifespan", "longevity", "ageing", "aging", "senescence"}),
    frozenset({"cancer", "tumor", "tumour", "neoplasm", "carcinoma", "malignant", "malignancy"}),
    frozenset({"death", "dead", "died", "mortality", "lethal", "lethality", "survival"}),
    frozenset({"diabetes", "diabetic"}),
)
# Words that are too common in the names of labels and terms to mean anything, such as a class called "positive".
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
    """A feature, with measures of its association with the label.

    Attributes
    ----------
    feature, name : str
        Its identifier, and its readable name.
    class_rows : tuple of int
        The number of rows of each class that have it.
    auc : float or None
        The area under the ROC curve of the feature alone, at least 0.5; None if there are not two classes.
    information : float
        The share of the label's entropy that the feature explains: mutual information divided by the entropy.
    p_value : float
        The probability of at least this much information between independent variables (G-test), times the number of
        features (Bonferroni), at most 1.
    word : str
        A word in the feature's name that is a word of the label or a synonym; "" if there is none.
    """

    feature: str
    name: str
    class_rows: tuple[int, ...]
    auc: float | None
    information: float
    p_value: float
    word: str = ""

    @property
    def is_strong(self) -> bool:
        """Whether the feature alone explains a tenth or more of the label's entropy, and significantly so."""
        return self.information >= 0.1 and self.p_value < SIGNIFICANT


def closest_features(
    data: Dataset, limit: int = 8, *, words: Iterable[str] = ()
) -> tuple[tuple[CloseFeature, ...], tuple[CloseFeature, ...]]:
    """Return features with names that resemble the label, and features that are unusually strong.

    A name shows that a feature may repeat the label. Strength alone does not, because the feature may be real evidence.

    Parameters
    ----------
    data : Dataset
        A dataset with labels; without labels there are no such features.
    limit : int
        The largest number of features in each of the two lists.
    words : iterable of str
        Synonyms of the label, such as "lifespan", in addition to the dataset's `label_words` and the words of the
        classes, the label column, the label file and the dataset's name.

    Returns
    -------
    named, strong : tuple of CloseFeature
        The features with a word of the label in their name; and features that alone explain a tenth of the label or
        more, beyond chance. The most informative come first; a feature may be in both.

    Examples
    --------
    >>> from hietan.datasets import load_ageing_genes
    >>> named, strong = closest_features(load_ageing_genes("worm"), 2, words=["ageing"])
    >>> [(found.name, found.word) for found in named], strong
    ([('determination of adult lifespan', 'lifespan'), ('aging', 'aging')], ())
    """
    check_integer("limit", limit, 1, MOST_LISTED)
    labels = np.unique(data.y)
    if not data.is_labelled or len(labels) < 2:
        return (), ()
    ones = np.stack(
        [
            np.asarray(data.X[np.flatnonzero(data.y == c)].sum(axis=0, dtype=np.int64)).ravel()
            for c in range(len(data.target_names))
        ]
    )
    sizes = np.bincount(data.y, minlength=len(data.target_names))
    information, p_values = _information(ones, sizes)
    known = _words_of_the_label(data, words)
    named = {
        j: found
        for j, name in enumerate(data.term_names)
        if (found := next(filter(known.__contains__, _words(name)), ""))
    }
    order = np.argsort(-information, kind="stable").tolist()

    def close(j: int) -> CloseFeature:
        return CloseFeature(
            data.feature_names[j],
            data.term_names[j],
            tuple(ones[:, j].tolist()),
            _auc(ones[:, j], sizes),
            float(information[j]),
            float(p_values[j]),
            named.get(j, ""),
        )

    strongest = map(close, order[:limit])
    return tuple(close(j) for j in order if j in named)[:limit], tuple(s for s in strongest if s.is_strong)


def _information(
    ones: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of the label's entropy that each feature explains, and p-values from the G-test."""
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


def _words_of_the_label(data: Dataset, more: Iterable[str]) -> frozenset[str]:
    """Return words from the classes, the dataset, the label column and the label file, with their synonyms."""
    options, source = (data.provenance.get(part) for part in ("options", "labels"))
    given = options if isinstance(options, dict) else {}
    mapping, listed = given.get("mapping"), given.get("label_words")
    texts = [*data.target_names, data.name, str(given.get("label_column") or "")]
    texts += map(str, mapping) if isinstance(mapping, dict) else []
    texts += map(str, source.values()) if isinstance(source, dict) else []
    stated = {
        word for text in (*more, *(listed if isinstance(listed, list) else ())) for word in _words(str(text))
    }
    found = {word for text in texts for word in _words(text) if len(word) > 3} - _EMPTY_WORDS
    words = stated | found
    return frozenset(words).union(*(same for same in _SAME_MEANING if same & words))


def _words(text: str) -> list[str]:
    """Return a text's words in lower case.

    >>> _words("negative regulation of ageing (2)")
    ['negative', 'regulation', 'of', 'ageing']
    """
    return re.findall(r"[^\W\d_]+", text.lower())
