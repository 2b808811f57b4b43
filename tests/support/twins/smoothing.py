"""Shares smoothed by their log-odds, word by word: the root by Newton's method within an interval, with many digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache


def pseudo_count(alpha: float, smoothing: str) -> float:
    """Return the number added to each class count in P(c), and to each value count in AODE's P(c, x_i)."""
    return 1.0 if smoothing == "odds" else alpha


@lru_cache(maxsize=1 << 16)
def odds_log_share(hits: int, rows: int, all_hits: int, all_rows: int, alpha: float) -> float:
    """ln theta of a class: theta = s(b), and hits - rows s(b) - alpha (b - b_0) = 0, s being the logistic function.

    b_0 is the log-odds of all classes together, q = (all_hits + 1/2) / (all_rows + 1).
    """
    with localcontext(prec=60):
        half, precision = Decimal("0.5"), Decimal(alpha)
        q = (all_hits + half) / (all_rows + 1)
        prior = (q / (1 - q)).ln()
        # alpha (b - b_0) lies between hits - rows and hits; and s(b) is nearly 0 or 1 where b is far from 0.
        low = max(prior - (rows - hits) / precision, min(prior, Decimal(-3000)))
        high = min(prior + hits / precision, max(prior, Decimal(3000)))
        b, step = (low + high) / 2, high - low
        while abs(step) > Decimal("1e-30"):
            share = 1 / (1 + (-b).exp())
            excess = hits - rows * share - precision * (b - prior)
            low, high = (b, high) if excess > 0 else (low, b)
            following = b + excess / (rows * share * (1 - share) + precision)
            if not low < following < high:  # Newton's step would leave the interval
                following = (low + high) / 2
            b, step = following, following - b
        return float(-(1 + (-b).exp()).ln())
