"""Mistakes that newcomers make with models and candidates: what each command says to them."""

import csv
from dataclasses import replace

import pytest

from hietan.catalogue import load_dataset, make_estimator
from hietan.models import train_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, data with the same columns and other names, data without labels, and lists of names."""
    folder = tmp_path_factory.mktemp("newcomer")
    data = replace(
        load_dataset("synthetic-0"), symbols=tuple(f"sym-{i}" for i in range(150)), row_noun="gene"
    )
    trained = data.subset(rows=slice(0, 100))
    trained.save(folder / "known.hietan")
    train_model(make_estimator("hip-nb"), trained, method="hip-nb").save(folder / "model.hietan")
    data.save(folder / "data.hietan")
    others = replace(data, instance_names=tuple(f"X{i}" for i in range(150)), symbols=(), name="others")
    others.save(folder / "others.hietan")
    bare = replace(data, y=data.y * 0 - 1, target_names=(), positive="", name="bare")
    bare.save(folder / "bare.hietan")
    (folder / "list.txt").write_text("SYM-120\nrow121\nnobody\n")
    (folder / "list.csv").write_text("number,symbol\n7,sym-130\n8,sym-131\n")
    (folder / "strangers.txt").write_text("nobody\n")
    (folder / "empty.txt").write_text("\n")
    (folder / "notes.md").write_bytes(b"\x89PNG\0")
    return folder


CLI_MISTAKES = {
    "a parameter that the method does not have": (
        "fit data.hietan -m proximal-graph --smoothing pooled -o OUT",
        "error: method 'proximal-graph' has no parameter smoothing; methods with this parameter: ",
    ),
    "a parameter given twice": (
        "fit data.hietan -m tan:alpha=1 --alpha 2 -o OUT",
        "error: alpha is set twice, in the method 'tan:alpha=1' and as an option; remove one of them",
    ),
    "a misspelt smoothing": (
        "fit data.hietan -m tan --smoothing poold -o OUT",
        "error: smoothing must be one of laplace, pooled, odds; got 'poold'",
    ),
    "an alpha of 0": (
        "fit data.hietan -m tan --alpha 0 -o OUT",
        "error: alpha must be a number above 0",
    ),
    "a lambda that is a word": (
        "fit data.hietan -m proximal-graph --lam small -o OUT",
        "error: lam is 'small'; expected a number above 0, or 'tuned' to choose it",
    ),
    "class priors in percent": (
        "fit data.hietan -m tan --class-prior 30,70 -o OUT",
        "error: class_prior must contain a probability above 0 for each of the 2 classes, with a sum of 1",
    ),
    "class priors that are no numbers": (
        "fit data.hietan -m tan --class-prior equal -o OUT",
        "error: --class-prior is 'equal'; expected numbers separated by commas, such as 0.5,0.5",
    ),
    "a threshold in percent": (
        "fit data.hietan -m tan --threshold 30 -o OUT",
        "error: threshold is 30.0; expected a probability between 0 and 1, or 'gmean' to choose the threshold",
    ),
    "a tuned threshold without folds": (
        "fit data.hietan -m tan --threshold gmean --no-validate -o OUT",
        "error: the threshold 'gmean' is chosen during validation, which is switched off; switch it on, or",
    ),
    "data without labels": (
        "fit bare.hietan -m tan -o OUT",
        "error: bare has no labels to learn from; fit a model to a labelled dataset, and use that model to rank "
        "these rows",
    ),
    "a symbol with a letter wrong": (
        "explain model.hietan data.hietan --row sim-14",
        "error: synthetic-0 has no gene 'sim-14'; did you mean 'sym-14'?",
    ),
    "a symbol without its hyphen": (
        "explain model.hietan data.hietan --row sym14",
        "error: synthetic-0 has no gene 'sym14'; did you mean 'sym-14'?",
    ),
    "a dataset where the model belongs": (
        "predict data.hietan model.hietan -o OUT",
        "error: data.hietan: expected a hietan model, found 'hietan dataset'; write",
    ),
    "a kind of name that does not exist": (
        "predict model.hietan data.hietan --match name -o OUT",
        "error: match is ('name',); expected one or more of id, symbol, synonym",
    ),
    "a list of names that is empty": (
        "predict model.hietan data.hietan --exclude empty.txt -o OUT",
        "error: empty.txt: the file contains no names; expected one name per line, or a table",
    ),
    "a column that the list does not have": (
        "predict model.hietan data.hietan --exclude list.csv --exclude-column symbols -o OUT",
        "error: list.csv: there is no column 'symbols'; did you mean 'symbol'?",
    ),
    "a list that is not text": (
        "predict model.hietan data.hietan --exclude notes.md -o OUT",
        "error: notes.md, line 1: expected text, but this is binary data (it contains a NUL byte); decompress it",
    ),
    "an address without a place for the term": (
        "predict model.hietan data.hietan --report --term-url GO=https://example.org -o OUT",
        "error: the term URL is 'https://example.org'; expected a URL that contains {id} or {code}",
    ),
    "an address that a browser would run": (
        "predict model.hietan data.hietan --report --term-url GO=javascript:{id} -o OUT",
        "error: the term URL is 'javascript:{id}'; expected a URL that begins with https:// or http://",
    ),
    "a misspelt name of a dataset": (
        "info CE-PB",
        "error: there is no dataset or file named 'CE-PB'; did",
    ),
    "a file that is not there": (
        "info goods.hietan",
        "error: there is no dataset or file named 'goods.hietan'; `hietan datasets` lists the names",
    ),
}


@pytest.mark.parametrize("mistake", CLI_MISTAKES)
def test_a_mistake_is_explained_in_one_line(run, folder, tmp_path, monkeypatch, mistake):
    monkeypatch.chdir(folder)
    words, message = CLI_MISTAKES[mistake]
    result = run(*[tmp_path / "out" if word == "OUT" else word for word in words.split()])
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith(message)
    assert not (tmp_path / "out").exists()


CLI_TRAPS = {
    "names to exclude that nobody has": (
        "predict model.hietan data.hietan --exclude strangers.txt -o OUT",
        "warning: none of the 1 names to exclude is the name of a gene of synthetic-0; hietan compared ids such "
        "as 'row0', 'row1' and symbols such as 'sym-0', 'sym-1' with names such as 'nobody'",
    ),
}


def test_rows_under_other_names_are_mentioned_without_a_warning(run, folder, tmp_path):
    result = run("predict", folder / "model.hietan", folder / "others.hietan", "-o", tmp_path / "out")
    line = (
        "all 150 genes of others are new: none has the same name as one of the 100 training genes; "
        "hietan compared ids such"
    )
    assert line in result.output and "warning" not in result.output


@pytest.mark.parametrize("trap", CLI_TRAPS)
def test_a_trap_is_pointed_out(run, folder, tmp_path, monkeypatch, trap):
    monkeypatch.chdir(folder)
    words, message = CLI_TRAPS[trap]
    result = run(*[tmp_path / "out" if word == "OUT" else word for word in words.split()])
    assert result.exit_code == 0 and result.stderr == message + "\n"


def ranked(path):
    return [row["instance"] for row in csv.DictReader(path.read_text().splitlines()[1:]) if row["rank"]]


def test_candidates_are_neither_known_nor_excluded(run, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    out = tmp_path / "p.csv"
    result = run("predict", "model.hietan", "data.hietan", "-o", out)
    assert "50 candidates of 150 genes; 100 training genes are listed last" in result.output
    assert set(ranked(out)) == {f"row{i}" for i in range(100, 150)}
    rows = list(csv.DictReader(out.read_text().splitlines()[1:]))
    assert [row["rank"] for row in rows] == [*map(str, range(1, 51)), *[""] * 100]
    data = load_dataset("synthetic-0")
    label = dict(zip(data.instance_names, data.y, strict=True))
    for row in rows[50:]:
        assert row["training_name"] == row["instance"] and row["in_training"] == "True"
        assert row["training_class"] == data.target_names[label[row["instance"]]]
    lists = ["--exclude", "list.txt", "--exclude", "list.csv"]
    assert run("predict", "model.hietan", "data.hietan", "-o", out, "--new-only", *lists[:2]).exit_code == 0
    assert set(ranked(out)) == {f"row{i}" for i in range(100, 150)} - {"row120", "row121"}
    assert len(out.read_text().splitlines()) == 2 + 48
    words = ["--new-only", "--exclude", "list.csv", "--exclude-column", "symbol"]
    result = run("predict", "model.hietan", "data.hietan", "-o", out, *words)
    assert set(ranked(out)) == {f"row{i}" for i in range(100, 150)} - {"row130", "row131"}
    assert "48 candidates of 150 genes; 102 left out" in result.output
    # A training gene stays in the list, below the candidates, even if it is among the names to exclude.
    (tmp_path / "both.txt").write_text("row5\nrow120\n")
    result = run("predict", "model.hietan", "data.hietan", "-o", out, "--exclude", tmp_path / "both.txt")
    assert "49 candidates of 150 genes; 100 training genes are listed last; 1 left out" in result.output
    assert set(ranked(out)) == {f"row{i}" for i in range(100, 150)} - {"row120"}
    assert run("predict", "model.hietan", "known.hietan", "-o", out, "--new-only", "--report").exit_code == 0
    assert ranked(out) == []  # nothing is left, and that is no error


def test_a_model_is_not_replaced_unless_it_is_named(run, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["fit", folder / "known.hietan", "-m", "hip-nb", "--no-validate"]
    assert "written to known-hip-nb.hietan" in run(*words).output
    before = (tmp_path / "known-hip-nb.hietan").read_bytes()
    result = run(*words)
    assert result.exit_code == 2 and result.stderr == (
        "error: known-hip-nb.hietan already exists; choose another file with --output, or replace it with --force\n"
    )
    assert (tmp_path / "known-hip-nb.hietan").read_bytes() == before
    assert run(*words, "--force").exit_code == run(*words, "-o", "known-hip-nb.hietan").exit_code == 0


def test_info_shows_the_quality_of_a_model_and_features_close_to_the_label(
    run, folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    assert run("fit", "data.hietan", "-m", "hip-nb", "-o", tmp_path / "all.hietan").exit_code == 0
    result = run("info", tmp_path / "all.hietan")
    assert result.exit_code == 0, result.output
    assert "HIPNB, trained on 150 genes of synthetic-0" in result.output
    assert (
        "Cross-validated in 5 folds: each of 150 genes was predicted by a model that had not seen it"
        in result.output
    )
    assert all(
        word in result.output
        for word in ("\nAUC ", "\nGMean ", "\naverage precision ", "calibrated P(class1)")
    )
    data = load_dataset("synthetic-0")
    leaking = replace(
        data, term_names=("survival after class0 disease", *data.term_names[1:]), name="survival"
    )
    leaking.save(tmp_path / "leaking.hietan")
    result = run("info", tmp_path / "leaking.hietan")
    assert "survival after class0 disease (survival)" in result.stdout
    assert result.stderr.startswith(
        "warning: 1 features are named like the label: T:0000000. Labels and features may come"
    )
    assert "hietan build --drop-term TERM" in result.stderr
    plain = run("info", "synthetic-0", "--label-words", "term")
    assert plain.stdout.startswith("synthetic-0: 150 rows") and "None" not in plain.stdout


def test_rows_that_are_held_out_once_are_said_to_be(run, folder, tmp_path, monkeypatch):
    """By the command, by `hietan info` and by the page; a validation that is switched off has no folds."""
    monkeypatch.setenv("COLUMNS", "200")
    known, model = folder / "known.hietan", tmp_path / "once.hietan"
    result = run("fit", known, "-m", "hip-nb", "--folds", "1", "-o", model)
    assert result.exit_code == 0, result.output
    assert "measured on 20 genes held out once (--folds 5 cross-validates): AUC 0." in result.output
    said = "Measured on 20 genes, held out once and predicted by a model fitted to the others"
    assert said in run("info", model).output
    assert (
        run("predict", model, folder / "others.hietan", "--report", "-o", tmp_path / "p.csv").exit_code == 0
    )
    assert '"folds":1,' in (tmp_path / "p.html").read_text().replace(" ", "")
    again = run("fit", known, "-m", "hip-nb", "--folds", "3", "-o", model)
    assert "cross-validated in 3 folds, on 100 genes: AUC 0." in again.output
    refused = run("fit", known, "-m", "hip-nb", "--folds", "3", "--no-validate", "-o", model)
    assert refused.exit_code == 2
    assert (
        "error: folds is 3, but validation is switched off; omit folds, or switch on validation"
        in refused.stderr
    )


def test_options_reach_the_model(run, folder, tmp_path):
    from hietan.models import Model

    out, data = tmp_path / "m.hietan", folder / "known.hietan"
    words = (
        "-m tan --alpha 0.5 --smoothing pooled --class-prior 0.4,0.6 --threshold 0.7 --row-noun worm".split()
    )
    assert run("fit", data, *words, "--no-validate", "-o", out).exit_code == 0
    trained = Model.load(out)
    model = trained.classifier
    assert (model.alpha, model.smoothing, list(model.class_prior)) == (0.5, "pooled", [0.4, 0.6])
    assert trained.row_noun == "worm" and trained.cutoff == pytest.approx(0.8473, abs=1e-4)  # ln(0.7 / 0.3)
    assert (
        run("fit", data, "-m", "proximal-graph", "--lam", "0.01", "--no-validate", "-o", out).exit_code == 0
    )
    trained = Model.load(out)
    assert trained.classifier.lam == 0.01 and trained.quality is None and trained.calibration is None


def test_quiet_commands_print_only_results(run, folder, tmp_path):
    data, model, out = folder / "data.hietan", folder / "model.hietan", tmp_path / "out"
    for words in (["fit", data, "-m", "hip-nb", "-o", out], ["predict", model, data, "-o", out, "--report"]):
        loud, quiet = run(*words), run(*words, "--quiet")
        assert loud.exit_code == quiet.exit_code == 0 and loud.output and not quiet.output
    assert run("explain", model, data, "--row", "SYM-3", "-q").output.startswith("HIPNB, row3 (sym-3): ")
    commands = [
        "build",
        "info",
        "fetch",
        "fit",
        "predict",
        "explain",
        "methods",
        "report",
        "study",
        "compare",
        "demo",
    ]
    for command in commands:
        assert "--quiet" in run(command, "--help").output, command
    assert not run(
        "fit", data, "-m", "hip-nb", "-o", out, "-q"
    ).output  # and nothing of it stays for the next command
    assert run("fit", data, "-m", "hip-nb", "-o", out).output


def test_work_is_shown_where_somebody_watches(run, folder, tmp_path, monkeypatch):
    from hietan.cli import _messages as messages

    monkeypatch.setattr(messages, "is_watched", lambda: True)
    with messages.working("fitting") as progress:
        assert progress is not None
        progress(1, 6)
    monkeypatch.setattr(messages, "is_watched", lambda: False)
    with messages.working("fitting") as progress:
        assert progress is None
