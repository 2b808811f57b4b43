"""The problem that everything is measured on, and a small file that carries it to other processes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hietan import Hierarchy
from hietan.datasets import fetch_ageing_genes

N_ROWS, N_FEATURES = 572, 1191


def load() -> tuple[np.ndarray, np.ndarray, Hierarchy, str]:
    """X (uint8), y, the hierarchy and a sentence about them: worm genes, or synthetic rows of the same shape."""
    try:
        data = fetch_ageing_genes("worm", "BPMFCC")
        origin = "Ageing-related worm genes with all GO terms (CE-BPMFCC)"
    except FileNotFoundError as missing:
        from hietan.datasets import make_hierarchical_classification

        data = make_hierarchical_classification(N_ROWS, N_FEATURES, imbalance=0.62, random_state=0)
        origin = f"Synthetic data, because the worm genes were not found ({str(missing).partition(';')[0]})"
    X = np.ascontiguousarray(data.X.toarray(), dtype=np.uint8)
    sentence = f"{origin}: {X.shape[0]} rows x {X.shape[1]} features, {X.mean():.1%} ones"
    return X, np.asarray(data.y), data.hierarchy, sentence


def save(path: str, X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy) -> None:
    A = sp.csr_array(hierarchy.adjacency)
    np.savez(path, X=X, y=y, indptr=A.indptr, indices=A.indices)


def read(path: str) -> tuple[np.ndarray, np.ndarray, Hierarchy]:
    with np.load(path) as saved:
        X, y, indptr, indices = (saved[name] for name in ("X", "y", "indptr", "indices"))
    A = sp.csr_array((np.ones(indices.size, dtype=np.uint8), indices, indptr), shape=(X.shape[1],) * 2)
    return X, y, Hierarchy.from_adjacency(A)
