"""`hietan fit --fdr-split`, `hietan predict --fdr` and `--only`."""

import csv

import pytest

from hietan.datasets import Dataset, make_hierarchical_classification
from hietan.models import Model, rank_rows

PROMISE = (
    "A false discovery rate is the expected share of wrong rows in the whole list, not in its first rows. "
    "It applies to rows like the training rows. Here, wrong means class0. "
)


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    data = make_hierarchical_classification(400, 40, random_state=3)
    data.save(folder / "all.hietan")
    data.subset(rows=slice(250)).save(folder / "known.hietan")
    for name, words in {"model": (), "split": ("--fdr-split",), "bare": ("--no-validate",)}.items():
        result = run(
            "fit",
            folder / "known.hietan",
            "-m",
            "hie-ban",
            "--positive",
            "class1",
            "-o",
            folder / name,
            *words,
        )
        assert result.exit_code == 0, result.output
        (folder / f"{name}.txt").write_text(result.output)
    return folder


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize(("model", "rows"), [("model", "250 training"), ("split", "83 held-out")])
def test_the_list_is_written_and_described(run, folder, tmp_path, model, rows):
    out = tmp_path / "listed.csv"
    result = run("predict", folder / model, folder / "all.hietan", "--fdr", "0.4", "--report", "-o", out)
    assert result.exit_code == 0, result.output
    ranked = rank_rows(Model.load(folder / model), Dataset.load(folder / "all.hietan"))
    chosen = ranked.select(0.4)
    text = ranked.selection_text(chosen.selection)
    assert text in words(result.output) and PROMISE in words(result.output)
    assert f"of 150 rows; with {rows} rows, no list can be shorter than" in text
    table = list(csv.DictReader(out.read_text().splitlines()[1:]))
    assert [row["instance"] for row in table] == [row.instance for row in chosen.rows]
    assert [float(row["p_value"]) for row in table] == [row.p_value for row in chosen.new_rows]
    page = (tmp_path / "listed.html").read_text()
    assert text in page and PROMISE.strip() in page  # the page ranks all rows


def test_a_list_that_is_not_possible(run, folder, tmp_path):
    out = tmp_path / "listed.csv"
    result = run("predict", folder / "model", folder / "all.hietan", "--fdr", "0.001", "-o", out)
    assert result.exit_code == 0
    # 150 / (0.001 * 251) = 597.6
    assert (
        "at a false discovery rate of 0.1%: none of 150 rows can be listed; with 250 training rows, no list can "
        "be shorter than 598"
    ) in words(result.output)
    assert len(out.read_text().splitlines()) == 2  # the comment and the heading


def test_what_fit_and_info_state(run, folder):
    assert "measured on 83 rows held out once (the model was fitted without them)" in words(
        (folder / "split.txt").read_text()
    )
    said = words(run("info", folder / "split").output)
    assert "HieBAN, trained on 167 rows of synthetic (83 more were held out)" in said
    assert (
        PROMISE + "For such rows, the rate is proven, because the model was fitted without the held-out rows."
        in said
    )
    assert PROMISE + "No theorem covers cross-validated scores" in words(run("info", folder / "model").output)
    assert "false discovery rate" not in run("info", folder / "bare").output


def test_only_the_named_rows_are_ranked(run, folder, tmp_path):
    names, out = tmp_path / "names.txt", tmp_path / "out.csv"
    names.write_text("row300\nROW301\nnobody\nrow2\n")
    result = run("predict", folder / "model", folder / "all.hietan", "--only", names, "-o", out)
    assert result.exit_code == 0
    assert "1 of the 4 names to keep are not names of a row of synthetic: 'nobody'" in words(result.output)
    table = list(csv.DictReader(out.read_text().splitlines()[1:]))
    assert {row["instance"] for row in table} == {"row300", "row301", "row2"}
    result = run(
        "predict", folder / "model", folder / "all.hietan", "--only", names, "--fdr", "0.5", "-o", out
    )
    # 2 / (0.5 * 251), rounded up
    assert "of 2 rows" in result.output and "no list can be shorter than 1" in words(result.output)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "predict BARE ALL --fdr 0.2",
            "false discovery rates need held-out scores, but the model has none; fit it",
        ),
        (
            "predict MODEL ALL --fdr 0",
            "fdr is 0.0; expected a false discovery rate between 0 and 1, such as 0.2",
        ),
        ("predict MODEL ALL --fdr 20", "fdr is 20.0; expected a false discovery rate between 0 and 1"),
        ("predict MODEL ALL --only NOBODY", "none of the 1 names to keep is the name of a row of synthetic"),
        ("predict MODEL ALL --only missing.txt", "missing.txt does not exist"),
        (
            "fit KNOWN -m hie-ban --fdr-split --folds 5",
            "validates the model on a third of the rows; omit folds",
        ),
        (
            "fit KNOWN -m hie-ban --fdr-split --no-validate",
            "validates the model on a third of the rows; omit folds",
        ),
    ],
)
def test_bad_input(run, folder, tmp_path, line, message):
    (tmp_path / "nobody").write_text("nobody\n")
    paths = {name.upper(): folder / name for name in ("model", "bare")}
    paths |= {"ALL": folder / "all.hietan", "KNOWN": folder / "known.hietan", "NOBODY": tmp_path / "nobody"}
    result = run(*[paths.get(word, word) for word in line.split()], "-o", tmp_path / "out")
    assert result.exit_code == 2 and message in result.stderr, result.output
    assert len(result.stderr.splitlines()) == 1 and not (tmp_path / "out").exists()
