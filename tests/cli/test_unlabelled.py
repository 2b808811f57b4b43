"""Positives and unlabelled rows in the terminal: `hietan build --others`, `fit --unlabelled` and `predict --prior`."""

import csv

import numpy as np
import pandas as pd
import pytest

from hietan.datasets import Dataset, build_dataset
from hietan.exceptions import DataWarning
from hietan.models import Model, rank_rows
from hietan.models.words import bound_note


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    """300 rows; 40 of about 100 rows that have the term b2 are listed as known."""
    folder, rng = tmp_path_factory.mktemp("unlabelled"), np.random.default_rng(0)
    (folder / "edges.csv").write_text(
        "parent,child\n" + "\n".join(f"{a},{a}{i}" for a in "ab" for i in range(1, 6))
    )
    has_b2 = rng.random(300) < 0.35
    pairs = [
        f"row{i:03},{term}"
        for i in range(300)
        for term in [
            *(f"{a}{k}" for a in "ab" for k in (1, 3, 4, 5) if rng.random() < 0.4),
            *["b2"] * int(has_b2[i]),
        ]
    ]
    (folder / "pairs.csv").write_text("id,term\n" + "\n".join(pairs))
    listed = rng.choice(np.flatnonzero(has_b2), 40, replace=False)
    (folder / "known.txt").write_text("\n".join(f"row{i:03}" for i in sorted(listed)))
    built = run("build", "--edges", folder / "edges.csv", "--pairs", folder / "pairs.csv", "--labels",
                folder / "known.txt", "--others", "rest", "-o", folder / "data.hietan")  # fmt: skip
    assert built.exit_code == 0, built.output
    fitted = run("fit", folder / "data.hietan", "--unlabelled", "rest", "-o", folder / "model.hietan")
    assert fitted.exit_code == 0, fitted.output
    (folder / "fitted.txt").write_text(" ".join(fitted.output.split()))
    return folder


def test_a_list_of_names_makes_two_classes(folder):
    data = Dataset.load(folder / "data.hietan")
    names = set((folder / "known.txt").read_text().split())
    assert data.target_names == ("rest", "listed") and data.positive == "listed"
    assert {n for n, y in zip(data.instance_names, data.y, strict=True) if y == 1} == names
    assert len(data.instance_names) == len(set(data.instance_names)) > 290


def test_the_study_bias_comes_first(folder):
    text, trained = (folder / "fitted.txt").read_text(), Model.load(folder / "model.hietan")
    parts = [
        "number of annotations",
        "AUC of the model among",
        "cross-validated in 5 folds",
        bound_note(trained),
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "GMean" not in text and "precision" not in text


def test_unlabelled_rows_are_ranked(run, folder, tmp_path):
    out = tmp_path / "ranked.csv"
    result = run(
        "predict", folder / "model.hietan", folder / "data.hietan", "--prior", "0.2", "--report", "-o", out
    )
    assert result.exit_code == 0, result.output
    trained, data = Model.load(folder / "model.hietan"), Dataset.load(folder / "data.hietan")
    rows = list(csv.DictReader(out.read_text().splitlines()[1:]))
    ranked = rank_rows(trained, data, prior=0.2)
    assert [row["instance"] for row in rows] == [row.instance for row in ranked.rows]
    shown = [float(row["probability"]) if row["probability"] else None for row in rows]
    assert shown == [row.probability for row in ranked.rows] and None in shown and shown[0] is not None
    text = " ".join(result.output.split())
    auc = trained.quality["auc"]
    assert f"AUC {(auc - 0.1) / 0.8:.3f} against the others" in text
    assert (
        f"{ranked.n_new:,} unlabelled training rows are ranked, each by a model that did not see it" in text
    )
    shown = run("info", folder / "model.hietan")
    assert "rest is unlabelled" in shown.output and "GMean" not in shown.output
    explained = run("explain", folder / "model.hietan", folder / "data.hietan", "--row", rows[0]["instance"])
    assert "lift" in explained.output and "P(" not in explained.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fit", "data.hietan", "--unlabelled", "rest", "--folds", "1"), "--folds 1 does not apply"),
        (("fit", "data.hietan", "--unlabelled", "rest", "--no-validate"), "--no-validate does not apply"),
        (
            ("fit", "data.hietan", "--unlabelled", "rest", "--threshold", "gmean"),
            "--threshold does not apply",
        ),
        (
            ("fit", "data.hietan", "--unlabelled", "rest", "-m", "hie-ban", "--class-prior", "0.5,0.5"),
            "--prior",
        ),
        (("fit", "data.hietan", "--unlabelled", "rst"), "expected one of exactly two classes"),
        (("predict", "model.hietan", "data.hietan", "--fdr", "0.2"), "undiscovered positives as wrong"),
        (("predict", "model.hietan", "data.hietan", "--prior", "2"), "between 0 and 1"),
    ],
)
def test_options_without_meaning(run, folder, tmp_path, words, message):
    files = [folder / word if str(word).endswith(".hietan") else word for word in words]
    result = run(*files, "-o", tmp_path / "out")
    assert result.exit_code == 2 and message in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())


def test_rows_that_the_labels_name_are_never_others():
    """A conflict, a label that is not used, and a missing label: only the last is like a row that is not named."""
    labels = [("a", "yes"), ("b", "yes"), ("b", "no"), ("c", "maybe"), ("d", "")]
    pairs = [(name, "t") for name in "abcdef"]
    table = pd.DataFrame(labels)
    with pytest.warns(DataWarning, match="label rows have") as caught:
        data = build_dataset(
            [("root", "t")], pairs, table, mapping={"yes": "yes"}, others="rest", min_support=1
        )
    assert dict(zip(data.instance_names, data.y.tolist(), strict=True)) == {"a": 1, "d": 0, "e": 0, "f": 0}
    assert data.target_names == ("rest", "yes")
    said = {str(warning.message) for warning in caught}
    assert "1 of 5 label rows have no label; ids without any label count as unlabelled" in said


def test_others_need_labels():
    with pytest.raises(ValueError, match="there are no labels; label some rows"):
        build_dataset([("root", "t")], [("a", "t")], others="rest")
