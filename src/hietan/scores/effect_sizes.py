"""Effect sizes and a Bayesian test, which measure how much two methods differ over datasets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from hietan._runtime.number_checks import check_number

ROPE = 0.01
"""The default limit up to which a difference between two scores counts as practically equivalent."""
DRAWS = 50_000
# Differences of scores are rounded to this many decimals: 0.62 - 0.61 must not count as more than 0.01.
_DECIMALS = 12


@dataclass(frozen=True)
class SignedRankPosterior:
    """A Bayesian signed-rank test's result: three probabilities that add up to 1.

    Attributes
    ----------
    left, rope, right : float
        The probabilities that the differences are mostly below the region of practical equivalence, within it, and
        above it.
    width : float
        The region of practical equivalence is from -width to width.
    """

    left: float
    rope: float
    right: float
    width: float


def rank_biserial(differences: ArrayLike) -> float:
    """Return the matched-pairs rank-biserial correlation, which is the effect size for Wilcoxon's signed-rank test.

    Nonzero differences are ranked by size. The result is the positive differences' share of the rank sum minus the
    negative differences' share. It is 1 if all differences are positive, -1 if all are negative, and 0 if both sides
    weigh the same or all differences are 0.

    >>> rank_biserial([0.1, 0.2, -0.3, 0.4])
    0.4
    """
    d = _finite(differences)
    kept = d[d != 0]
    if not kept.size:
        return 0.0
    ranks = rankdata(np.abs(kept))
    return float((ranks * np.sign(kept)).sum() / ranks.sum())


def bayesian_signed_rank(
    differences: ArrayLike,
    *,
    rope: float = ROPE,
    prior: float = 0.5,
    n_draws: int = DRAWS,
    seed: int = 0,
) -> SignedRankPosterior:
    """Run the Bayesian signed-rank test with a region of practical equivalence (Benavoli et al. 2017).

    The prior of the differences' distribution is a Dirichlet process with all its weight at 0. Each draw from the
    posterior gives random weights to the observed differences and to 0. It counts which of three cases has the largest
    share of all pairs of differences: a mean below -rope, between -rope and rope, or above rope. A pair whose mean is
    on a border counts half on each side.

    Parameters
    ----------
    differences : array of shape (n_datasets,)
        The difference of two methods on each dataset.
    rope : float
        Half the width of the region of practical equivalence; 0 leaves only the sides.
    prior : float
        The weight of the prior; an observed difference has weight 1.
    n_draws : int
        The number of draws. With 50,000, the standard error of the probabilities is at most 0.0022.
    seed : int
        The seed for the draws: the same differences always give the same probabilities.

    References
    ----------
    Benavoli, Corani, Demsar & Zaffalon (2017), Time for a change: a tutorial for comparing multiple classifiers
    through Bayesian analysis, JMLR 18(77).

    Examples
    --------
    >>> bayesian_signed_rank([0.05, 0.04, 0.06, 0.05, 0.03, 0.04, 0.05, 0.02]).right > 0.99
    True
    >>> bayesian_signed_rank([0.001, -0.002, 0.0, 0.001, -0.001, 0.003]).rope > 0.99
    True
    """
    check_number("rope", rope, 0, np.inf)
    d = _finite(differences)
    observed = np.concatenate([[0.0], d])
    sums = np.round(observed[:, None] + observed, _DECIMALS)
    border = round(2 * rope, _DECIMALS)
    weights = dirichlet_draws(len(d), prior, n_draws, seed)
    left, right = (_shares(weights, np.heaviside(sign * sums - border, 0.5)) for sign in (-1, 1))
    # Rounded, so that equally frequent cases do not differ in their last bits.
    shares = np.round(np.stack([left, 1 - left - right, right]), _DECIMALS)
    largest = shares == shares.max(axis=0)
    below, within, above = (largest / largest.sum(axis=0)).mean(axis=1).tolist()
    return SignedRankPosterior(left=below, rope=within, right=above, width=float(rope))


@lru_cache(maxsize=4)
def dirichlet_draws(n: int, prior: float, n_draws: int, seed: int) -> NDArray[np.float64]:
    """Return weights for the prior and n observations, of shape (n_draws, n + 1). Each row adds up to 1.

    They do not depend on the observations, so comparisons over the same number of datasets share them.
    """
    drawn: NDArray[np.float64] = np.random.default_rng(seed).dirichlet([prior, *[1.0] * n], n_draws)
    drawn.flags.writeable = False
    return drawn


def _shares(weights: NDArray[np.float64], counted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the total weight of all counted pairs in each draw."""
    shares: NDArray[np.float64] = ((weights @ counted) * weights).sum(axis=1)
    return shares


def _finite(differences: ArrayLike) -> NDArray[np.float64]:
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or not d.size:
        raise ValueError(f"differences must have one value per dataset, got shape {d.shape}")
    if not np.isfinite(d).all():
        raise ValueError(
            "differences contains missing or infinite values; remove the datasets with such values"
        )
    return np.round(d, _DECIMALS)
