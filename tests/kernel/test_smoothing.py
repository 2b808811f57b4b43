"""Odds smoothing in the kernel against its root with sixty digits."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hietan import HieBAN, HieTAN
from hietan.classifiers import AODE
from support.twins.smoothing import odds_log_share

COUNTS = st.one_of(st.integers(0, 30), st.integers(0, 3000))


def rows_of(hits, misses):
    """One feature, present in hits[c] and absent in misses[c] rows of each class c."""
    X = np.concatenate([[1] * h + [0] * m for h, m in zip(hits, misses, strict=True)])
    return X[:, None], np.repeat([0, 1], np.add(hits, misses))


def assert_roots(model, hits, misses, alpha):
    totals, rows = (sum(hits), sum(misses)), np.add(hits, misses).tolist()
    present = model.predict_joint_log_proba([[1]])[0] - np.log([0.3, 0.7])
    absent = model.predict_joint_log_proba([[0]])[0] - np.log([0.3, 0.7])
    for c in (0, 1):
        one = odds_log_share(hits[c], rows[c], totals[0], sum(totals), alpha)
        zero = odds_log_share(misses[c], rows[c], totals[1], sum(totals), alpha)
        assert present[c] == pytest.approx(one, rel=1e-12, abs=1e-12)
        assert absent[c] == pytest.approx(zero, rel=1e-12, abs=1e-12)


@given(
    hits=st.tuples(COUNTS, COUNTS),
    misses=st.tuples(COUNTS, COUNTS),
    alpha=st.one_of(st.floats(0.01, 100), st.sampled_from([1e-300, 1e-12, 1e-3, 1e6, 1e200])),
)
@example(hits=(0, 1), misses=(438, 240), alpha=1.0)
@example(hits=(0, 3000), misses=(3000, 0), alpha=1e-300)
def test_shares_are_the_roots(hits, misses, alpha):
    """Of a network and of a tree, which look their roots up in different ways."""
    hits = tuple(h + (h + m == 0) for h, m in zip(hits, misses, strict=True))  # a class has rows
    X, y = rows_of(hits, misses)
    for make in (HieBAN, HieTAN):
        model = make(smoothing="odds", alpha=alpha, class_prior=[0.3, 0.7]).fit(X, y)
        assert_roots(model, hits, misses, alpha)


def test_evidence_is_in_proportion_to_its_support():
    """The examples of the definition: 1 and 7 of 241 rows against 0 of 438, and large counts."""

    def log_ratio(smoothing, hits, rows):
        X, y = rows_of(hits, np.subtract(rows, hits))
        joint = HieBAN(smoothing=smoothing, class_prior=[0.5, 0.5]).fit(X, y).predict_joint_log_proba([[1]])
        return float(joint[0, 1] - joint[0, 0])

    rare = {s: [round(log_ratio(s, (0, n), (438, 241)), 2) for n in (1, 7)] for s in ("pooled", "odds")}
    assert rare == {"pooled": [6.02, 6.36], "odds": [0.84, 2.14]}
    common = [log_ratio(s, (200, 150), (400, 200)) for s in ("laplace", "pooled", "odds")]
    assert np.ptp(common) < 0.01


def test_class_shares_and_those_of_estimators_keep_a_pseudo_count_of_one():
    X, y = rows_of((3, 1), (4, 5))
    for make in (HieBAN, HieTAN, AODE):
        joint = [make(smoothing="odds", alpha=a).fit(X, y).predict_joint_log_proba([[1]]) for a in (1, 1e9)]
        if make is AODE:  # one feature: its estimator is P(c, x) alone
            np.testing.assert_allclose(joint[0], joint[1], rtol=1e-14)
            np.testing.assert_allclose(np.exp(joint[0][0]), [(3 + 1) / (13 + 4), (1 + 1) / (13 + 4)])
        else:  # with so much smoothing, the feature is the same in both classes
            assert np.exp(joint[1][0, 0] - joint[1][0, 1]) == pytest.approx((7 + 1) / (6 + 1), rel=1e-6)
