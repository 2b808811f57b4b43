"""The tables of docs/fdr.md come from fdr.csv, and its sentences say what the numbers say."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

from hietan import HieLogistic
from hietan.datasets import build_dataset, load_ageing_genes
from hietan.models import rank_rows, read_names, train_model

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "fdr.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("fdr", ROOT / "reproduction" / "fdr.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_csv(script):
    for name, make in script.blocks().items():
        shown = PAGE.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end of {name} -->")[0]
        assert shown == make()


def test_no_mean_share_of_wrong_rows_exceeds_its_rate(script):
    rows = script.read(script.RANDOM)
    assert len(rows) == 360 == 10 * 2 * 3 * 2 * 3 and "360 combinations" in TEXT
    assert {row["runs"] for row in rows} == {"600"} and "at random 600 times each" in TEXT
    for row in rows:
        assert float(row["fdp"]) <= float(row["q"]) + 3 * float(row["error"]), row  # what was required
        assert float(row["fdp"]) <= float(row["q"]), row  # what the page states


def test_no_rate_is_exceeded_on_fresh_rows_however_many_are_equal(script):
    rows = script.read(script.FRESH)
    assert len(rows) == 144 == 4 * 3 * 2 * 2 * 3 and {row["runs"] for row in rows} == {"200"}
    for row in rows:
        assert float(row["fdp"]) <= float(row["q"]) + 3 * float(row["error"]), row
    power = [float(row["power"]) for row in rows if row["q"] == "0.3" and row["way"] == "cv"]
    few, many = power[:6], power[-6:]  # three methods and two classes each
    assert max(few) < 0.1 and min(many) > 0.8  # "lists of data with many equal rows are short"


def test_what_is_said_about_later_genes(script):
    rows = script.read(script.LATER)
    assert {(row["dataset"], row["candidates"]) for row in rows} == {("worm", "118"), ("fly", "54")}
    over = [float(row["fdp"]) - float(row["q"]) for row in rows if row["dataset"] == "worm"]
    assert 0.003 < max(over) < 0.004
    failed = {row["wanted"] for row in rows if float(row["fdp"]) > float(row["q"]) + 0.004}
    assert failed == {"pro"}
    for q, percent in (("0.2", 42), ("0.3", 57)):
        worst = max(float(r["fdp"]) for r in rows if (r["dataset"], r["wanted"], r["q"]) == ("fly", "pro", q))
        assert round(100 * worst) == percent
    assert "up to 42% of the listed genes were wrong instead of 20%, and up to 57% instead of 30%" in TEXT


def test_the_script_gives_the_numbers_of_the_csv(script):
    """One split of the fly, from the definitions alone, is what the script measures."""
    data = load_ageing_genes("fly")
    found = dict(script.split_results(data, "HieBAN", 3))
    is_training = np.random.default_rng(3).permutation(len(data.y)) < 0.75 * len(data.y)
    trained = train_model(script.HieBAN(), data.subset(rows=is_training), seed=3, folds=5)
    ranked = rank_rows(trained, data.subset(rows=~is_training), positive="pro", match=("id",))
    is_pro = dict(zip(data.instance_names, data.y == 1, strict=True))
    for q in (0.1, 0.2, 0.3):
        listed = [is_pro[row.instance] for row in ranked.select(q).rows]
        wrong, n, power, candidates = found["cv", "pro", q]
        assert (n, candidates) == (len(listed), 46)
        assert wrong == pytest.approx(1 - np.mean(listed) if listed else 0)
        assert power == pytest.approx(sum(listed) / np.sum(data.y[~is_training] == 1))


@pytest.mark.patient
def test_the_shares_of_pro_genes_in_2014_and_since(script, real_data, monkeypatch):
    monkeypatch.setenv("HIETAN_DATA", str(real_data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train, later, listed = script.later_genes("fly")
        ranked = rank_rows(train_model(HieLogistic(), train, validate=False), later, exclude=listed)
    is_pro = [data.y == data.target_names.index("pro") for data in (train, later)]
    pro_of = dict(zip(later.instance_names, is_pro[1], strict=True))
    shares = is_pro[0].mean(), np.mean([pro_of[row.instance] for row in ranked.new_rows])
    assert [f"{share:.0%}" for share in shares] == ["71%", "43%"]
    assert "71% of the fly genes with a label were pro. Of the genes added since, 43% are pro" in TEXT


@pytest.mark.slow
@pytest.mark.patient
def test_the_lists_of_a_genome(script, real_data):
    go, folder = Path(real_data) / "go-2019", Path(real_data)
    files = go / "GeneOntology_2019.01.29.obo.gz", go / "GO.goa_worm_2019.01.29.gz"
    names = read_names(folder / "genage-2025" / "genage_models_2025.csv", "symbol")
    worm = load_ageing_genes("worm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        genome = build_dataset(*files, like=worm)
        found = {}
        for way in ("cv", "split"):
            for seed in range(10):
                trained = train_model(HieLogistic(), worm, fdr=way, seed=seed)
                for wanted in ("anti", "pro"):
                    ranked = rank_rows(trained, genome, exclude=names, positive=wanted)
                    found.setdefault((way, wanted), []).append(ranked.selection_at(0.2))
    assert {selection.n_ranked for each in found.values() for selection in each} == {8343}
    rows = {key: [selection.n_rows for selection in each] for key, each in found.items()}
    assert rows["cv", "anti"][0] == 6299 and not any(rows["cv", "pro"] + rows["split", "pro"])
    assert (min(rows["cv", "anti"]), max(rows["cv", "anti"])) == (2553, 6548)
    assert (min(rows["split", "anti"]), max(rows["split", "anti"])) == (441, 7139)
    assert "lists 6,299 as anti-longevity at a rate of 20%, and none as pro-longevity" in TEXT
    assert "the list has 2,553 to 6,548 genes, and 441 to 7,139 with `--fdr-split`" in TEXT
    assert ranked.model.class_sizes["anti"] / 679 == pytest.approx(0.645, abs=5e-4)
    key = ("worm", "anti", "HieLogistic", "cv", "0.2")
    fields = ("dataset", "wanted", "method", "way", "q")
    (row,) = [r for r in script.read(script.RANDOM) if tuple(r[name] for name in fields) == key]
    assert (
        round(100 * float(row["rows"]) / float(row["candidates"])) == 42 and "42% of the candidates" in TEXT
    )
