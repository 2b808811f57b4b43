"""The paper's Table S1 on the real data: its terms are kept for every row, as those of few others are."""

import pytest

from hietan import HieTANLite
from hietan.datasets import fetch_ageing_genes
from hietan.evaluation import run_study


@pytest.mark.parametrize(
    ("organism", "terms", "at_most"),
    [("fly", ("GO:0044702", "GO:0003006"), 14), ("yeast", ("GO:0006725", "GO:0003006"), 12)],
)
def test_the_terms_of_table_s1_are_kept_for_every_row(real_data, organism, terms, at_most):
    data = fetch_ageing_genes(organism, "BP", data_home=real_data)
    results = run_study([data], {"Hie-TAN-Lite": HieTANLite()})
    (usage,) = results.usage.values()
    assert usage.n_rows == len(data.y)
    for term in terms:
        assert usage.selected[data.feature_names.index(term)] == usage.n_rows
    assert (usage.selected == usage.n_rows).sum() <= at_most  # of about 700
