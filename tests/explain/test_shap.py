"""Explanations in shap's own class, and its own plots of them."""

import sys

import numpy as np
import pytest

import hietan
from hietan.datasets import load_ageing_genes


@pytest.fixture(scope="module")
def worm():
    return load_ageing_genes("worm", "CC")


@pytest.mark.parametrize("name", ["HieLogistic", "HieTANLite", "HieAODE", "ProximalGraph"])
def test_values_add_up_with_the_base_values_and_shap_draws_them(worm, name):
    shap = pytest.importorskip("shap", reason='shap is not installed: pip install "hietan[shap]"')
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    options = {"lam": 0.002} if name == "ProximalGraph" else {}
    model = getattr(hietan, name)(hierarchy=worm.hierarchy, **options).fit(worm.X, worm.y)
    explained = model.explain(worm, worm.instance_names[:20])
    found = explained.to_shap()
    assert isinstance(found, shap.Explanation) and found.values.shape == (20, worm.X.shape[1])
    total = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(total, [one.log_odds for one in explained], atol=1e-9)
    np.testing.assert_array_equal(found.data, worm.X[:20].toarray())
    assert found.feature_names == list(worm.term_names)
    for plot in (shap.plots.bar, shap.plots.beeswarm):
        plot(found, show=False)
        plt.close("all")
    shap.plots.waterfall(found[0], show=False)
    texts = [text.get_text() for text in plt.gca().figure.findobj(plt.Text)]
    assert any(part.name in text for part in explained[0].strongest[:3] for text in texts)
    plt.close("all")


def test_without_shap_the_extra_is_named(worm, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    model = hietan.HieBAN(hierarchy=worm.hierarchy).fit(worm.X, worm.y)
    with pytest.raises(ImportError, match=r'pip install "hietan\[shap\]"'):
        model.explain(worm, worm.instance_names[:1]).to_shap()
