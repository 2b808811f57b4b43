"""The plain twin of the proximal operator: projections in the dual, group by group (Jenatton et al. 2011).

Each group g holds a share xi_g of u within the l1 ball of radius lam, on its own features; w = u - sum of the shares.
Giving every group in turn its best share converges to the optimum. Where the groups form a tree, once from the leaves
to the root is enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def project_on_l1_ball(x: np.ndarray, radius: float) -> np.ndarray:
    size = np.sort(np.abs(x))[::-1]
    if size.sum() <= radius:
        return x.copy()
    excess = (np.cumsum(size) - radius) / np.arange(1, len(x) + 1)
    threshold = excess[np.flatnonzero(size > excess)[-1]]
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0)


def prox_by_projections(
    u: np.ndarray, groups: Sequence[Sequence[int]], lam: float, max_passes: int = 100_000
) -> np.ndarray:
    """`groups` in the order in which they are visited."""
    w = u.astype(float).copy()
    shares = [np.zeros(len(group)) for group in groups]
    for _ in range(max_passes):
        before = w.copy()
        for group, share in zip(groups, shares, strict=True):
            index = list(group)
            whole = w[index] + share
            share[:] = project_on_l1_ball(whole, lam)
            w[index] = whole - share
        if np.abs(w - before).max(initial=0) < 1e-15 * max(np.abs(u).max(initial=0), 1e-300):
            break
    return w
