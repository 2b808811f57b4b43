"""The parts of a dataset as plain values, which storage and summary use without knowing `Dataset`."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan.hierarchy import Hierarchy


class DatasetParts(TypedDict):
    """The arguments of `Dataset`, which documents them."""

    X: csr_array
    y: NDArray[np.intp]
    hierarchy: Hierarchy
    feature_names: tuple[str, ...]
    term_names: tuple[str, ...]
    instance_names: tuple[str, ...]
    target_names: tuple[str, ...]
    provenance: dict[str, Any]
    name: str
    symbols: tuple[str, ...]
    synonyms: tuple[tuple[str, ...], ...]
    row_noun: str
