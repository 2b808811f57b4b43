"""docs/selections.md: its tables come from aire.csv, and its examples run."""

import doctest
from pathlib import Path

from reproduction.aire import measure, page

PAGE = page.PAGE.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_file():
    assert page.filled(PAGE) == PAGE


def test_every_method_was_measured_on_every_dataset_with_every_seed():
    rows = measure.read_results()
    seeds = {row["seed"] for row in rows}
    wanted = {(d, m, s) for d in measure.DATASETS for m in measure.TITLES for s in seeds}
    assert len(rows) == len(wanted) and {tuple(row[key] for key in measure.KEYS) for row in rows} == wanted
    assert len(measure.DATASETS) == 28 and "0" in seeds
    shown = {method for methods in page.SELECTIONS.values() for method in methods.values()}
    assert shown == set(measure.TITLES)


def test_the_first_seed_agrees_with_an_independent_prototype():
    rows = [row for row in measure.read_results() if row["seed"] == "0"]
    prototype = {"hip-nb": "0.630", "mr-nb": "0.557", "hip-mr-nb": "0.509", "hnb": "0.534", "rnb": "0.551"}
    for method, gmean in prototype.items():
        assert f"{page.mean(page.of(rows, method), 'gmean'):.3f}" == gmean
    for method, gmean in {"gtd-logistic-balanced": 0.613, "shsel-logistic-balanced": 0.606}.items():
        assert 0 < page.mean(page.of(rows, method), "gmean") - gmean < 0.015
    lazy = ["hip-nb", "mr-nb", "hip-mr-nb", "hnb", "rnb"]
    for metric in ("gmean", "auc"):
        assert max(lazy, key=lambda name: page.mean(page.of(rows, name), metric)) == "hip-nb"


def test_the_examples_run():
    assert Path(page.PAGE).name == "selections.md"
    result = doctest.testfile(str(page.PAGE), module_relative=False)
    assert (result.attempted, result.failed) == (14, 0)
