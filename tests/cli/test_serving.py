"""`hietan predict MODEL -`, `hietan evaluate` and `--json`, as commands."""

import contextlib
import gzip
import json
import subprocess
import sys
import threading
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

import hietan
from hietan.cli._app import make_app
from hietan.datasets import Dataset, build_dataset, make_hierarchical_classification
from hietan.models import Model, evaluate_model, rank_rows, train_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serving")
    data = make_hierarchical_classification(300, 40, random_state=3)
    data.save(folder / "all.hietan")
    train_model(hietan.HieLogistic(), data.subset(rows=slice(200)), positive="class1").save(
        folder / "model.hietan"
    )
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    return Model.load(folder / "model.hietan")


@pytest.fixture
def predict(folder):
    app = make_app()
    return lambda text, *words: CliRunner().invoke(
        app, ["predict", str(folder / "model.hietan"), "-", *map(str, words)], input=text
    )


def lines(result):
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_an_interrupted_stream_does_not_deny_its_answers(predict, monkeypatch):
    def stop(*arguments):
        print("an answer")
        raise KeyboardInterrupt

    monkeypatch.setattr("hietan.cli._predict.predict_stream", stop)
    result = predict("")
    assert result.exit_code == 130 and "nothing was written" not in result.output
    assert "interrupted; all rows answered so far are complete" in result.output


def test_json_lines_in_and_out(predict, trained):
    rows = [[trained.feature_names[k], "strange"] for k in range(12)]
    text = "\n".join(
        [json.dumps(row) for row in rows[:6]]
        + [""]
        + [json.dumps({"id": k, "terms": rows[k]}) for k in range(6, 12)]
    )
    found = lines(predict(text, "--reasons", 2))
    expected = [each.to_dict() for each in trained.predict(rows, reasons=2)]
    assert found == [*expected[:6], *({"id": k} | expected[k] for k in range(6, 12))]
    assert found[0]["unknown"] == ["strange"] and len(found[0]["reasons"]) == 2


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize("heading", ["", "id{}term\n"])
def test_a_table_of_pairs(predict, trained, separator, heading):
    a, b, c = trained.feature_names[3], trained.feature_names[20], trained.feature_names[30]
    pairs = [("x", a), ("y", b), ("x", c), ("012", a)]
    text = heading.format(separator) + "\n".join(separator.join(pair) for pair in pairs)
    expected = [each.to_dict() for each in trained.predict([[a, c], [b], [a]])]
    assert lines(predict(text)) == [
        {"id": name} | found for name, found in zip(("x", "y", "012"), expected, strict=True)
    ]


def test_rows_without_terms_are_answered(predict, trained):
    term = trained.feature_names[3]
    (nothing,) = trained.predict([[]])
    for text in (f"id,term\na,{term}\nb,\nc,{term}\n", f"a\t{term};{term}\nb\t\nc\t{term}\n"):
        found = lines(predict(text))
        assert [each["id"] for each in found] == ["a", "b", "c"] and found[1]["log_odds"] == nothing.log_odds
    assert lines(predict('{"id": "b", "terms": []}')) == [{"id": "b"} | nothing.to_dict()]


def test_rows_of_unknown_terms_are_counted_at_the_end(predict, trained):
    term = trained.feature_names[3]
    result = predict(f'["x"]\n["{term}", "x"]\n{{"id": "p", "terms": ["y", "z"]}}\n[]\n')
    assert len(lines(result)) == 4
    assert (
        "warning: 2 of 4 rows have only terms that the model does not know, such as '1', 'p'" in result.stderr
    )
    assert not predict(f'["{term}", "x"]').stderr
    assert "warning: 2,000 of 2,000 rows" in (error := predict('["x"]\n' * 2000).stderr)
    assert error.endswith("such as '1', '2', '3'\n")


@pytest.fixture
def stream(folder):
    """The command as a process with pipes."""
    command = [sys.executable, "-m", "hietan", "predict", str(folder / "model.hietan"), "-"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as process:
        yield process
        process.kill()


def test_a_line_is_answered_before_the_next_one_comes(stream):
    for _ in range(2):
        stream.stdin.write(b'["x"]\n')
        stream.stdin.flush()
        assert json.loads(stream.stdout.readline())["unknown"] == ["x"]


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(stream):
    def write():
        with contextlib.suppress(BrokenPipeError):
            stream.stdin.write(b'["x"]\n' * 20_000)

    writer = threading.Thread(target=write)
    writer.start()
    stream.stdout.readline()
    stream.stdout.close()
    assert stream.wait(60) != 0 and stream.stderr.read() == b""
    writer.join()


def test_ids_of_the_training_table(run, tmp_path):
    """A model understands all ids that its training data have: alternative ids, last names, and rare terms."""
    (tmp_path / "paths.csv").write_text(
        "id;path\n1;Animals\n2;Animals > Pets\n3;Animals > Pets > Dogs\n4;Food\n5;Food > Tea\n6;Food > Milk\n"
    )
    given = ["3", "Dogs", "Animals>Pets>Dogs", "2", "5", "Tea", "Food", "Milk"]
    (tmp_path / "pairs.csv").write_text(
        "id,term\n" + "".join(f"r{i}\t{given[i % 8]}\n".replace("\t", ",") for i in range(48))
    )
    (tmp_path / "labels.csv").write_text(
        "id,label\n" + "".join(f"r{i},{'yn'[i % 8 < 4]}\n" for i in range(48))
    )
    words = ["--edges", tmp_path / "paths.csv", "--pairs", tmp_path / "pairs.csv"]
    built = run(
        "build", *words, "--labels", tmp_path / "labels.csv", "--min-support", 10, "-o", tmp_path / "d"
    )
    assert built.exit_code == 0, built.output
    data = Dataset.load(tmp_path / "d")
    assert "Food > Milk" not in data.feature_names
    assert run("fit", tmp_path / "d", "-o", tmp_path / "m", "--no-validate").exit_code == 0
    trained = Model.load(tmp_path / "m")
    found = trained.predict([[term] for term in given])
    assert not trained.unknown_terms
    assert [each.log_odds for each in found] == rank_rows(trained, data, match=("id",)).log_odds[:8].tolist()
    assert trained.predict([["6"], ["Food > Milk"]]) == [found[7]] * 2  # other names of what the table has
    newer = (tmp_path / "paths.csv").read_text() + "7;Animals > Pets > Dogs > Puppies\n"
    (tmp_path / "newer.csv").write_text(newer)
    words = ["predict", str(tmp_path / "m"), "-", "--hierarchy", str(tmp_path / "newer.csv")]
    for each in lines(CliRunner().invoke(make_app(), words, input='["7"]\n["Puppies"]\n["Dogs"]\n')):
        assert each == found[1].to_dict()


def test_a_newer_hierarchy(predict, trained, tmp_path):
    parent = trained.feature_names[20]
    (tmp_path / "edges.csv").write_text(f"parent,child\n{parent},new\n")
    (without,) = lines(predict('["new"]'))
    (found,) = lines(predict('["new"]', "--hierarchy", tmp_path / "edges.csv"))
    assert without["unknown"] == ["new"] and found == trained.predict([[parent]])[0].to_dict()


ONTOLOGY = """
[Term]
id: Top
namespace: x

[Term]
id: P
namespace: x
is_a: Top

[Term]
id: Other
namespace: x
is_a: Top

[Term]
id: Label
namespace: x
alt_id: OldLabel
is_a: P

[Term]
id: Y
namespace: y
relationship: part_of P
"""


def test_a_newer_ontology(run, tmp_path):
    """Merged terms keep their meaning. Dropped terms and other namespaces are left out, as in the training data."""
    (tmp_path / "old.obo").write_text(f"{ONTOLOGY}\n[Term]\nid: A\nnamespace: x\nis_a: P\n")
    new = "[Term]\nid: {}\nnamespace: {}\nis_a: {}\n\n"
    (tmp_path / "new.obo").write_text(
        f"{ONTOLOGY}\n[Term]\nid: N\nnamespace: x\nalt_id: A\nis_a: P\n\n"
        + "".join(
            new.format(*each) for each in [("P2", "x", "P"), ("Y2", "y", "Y"), ("BelowLabel", "x", "Label")]
        )
    )
    rows = {f"r{i}": [["A"], ["Other"], ["P"]][i % 3] for i in range(60)}
    labels = {name: "yn"[i % 3 == 1] for i, name in enumerate(rows)}
    how = {"namespaces": "x", "relations": "is_a,part_of", "drop_terms": "OldLabel", "drop_roots": False}
    data = build_dataset(tmp_path / "old.obo", rows, labels, **how)
    trained = train_model(hietan.HieLogistic(), data, validate=False)
    trained.save(tmp_path / "model.hietan")
    a, p, nothing = (each.to_dict() for each in trained.predict([["A"], ["P"], []]))
    assert len({each["log_odds"] for each in (a, p, nothing)}) == 3
    words = ["predict", str(tmp_path / "model.hietan"), "-", "--hierarchy", str(tmp_path / "new.obo")]
    left_out = ["Label", "OldLabel", "BelowLabel", "Y", "Y2"]
    text = "".join(json.dumps([term]) + "\n" for term in ("A", "P", "P2", *left_out))
    found = lines(CliRunner().invoke(make_app(), words, input=text))
    assert found == [a, p, p, *(nothing | {"unknown": [term]} for term in left_out)]


@pytest.mark.parametrize("table", ["a,b\nc,d\n", "x,y,z\nc,d,e\nf,g,h\n"])
def test_an_unclear_hierarchy_can_be_corrected_in_the_file(predict, tmp_path, table):
    path = tmp_path / "edges.csv"
    path.write_text(table)
    error = " ".join(predict("[]", "--hierarchy", path).stderr.split())
    assert (
        "name" in error
        and "parent and child in the first row" in error
        and "for `hietan build`: --edge" in error
    )
    path.write_text("parent,child,since\n" + table)
    assert len(lines(predict("[]", "--hierarchy", path))) == 1


def test_negated_annotations_do_not_count(predict, trained):
    term = trained.feature_names[20]
    negated, plain = lines(predict(f"id,term,qualifier\na,{term},NOT\nb,{term},\n"))
    nothing, something = trained.predict([[], [term]])
    assert (negated["log_odds"], plain["log_odds"]) == (nothing.log_odds, something.log_odds)


def test_the_hierarchy_of_a_model_from_a_plain_table(run, tmp_path):
    (tmp_path / "edges.csv").write_text(
        "parent,child\n" + "".join(f"{a},{a}{i}\n" for a in "ab" for i in range(4))
    )
    (tmp_path / "newer.csv").write_text((tmp_path / "edges.csv").read_text() + "a1,new\n")
    (tmp_path / "pairs.csv").write_text(
        "id,term\n" + "".join(f"r{i},{'ab'[i % 2]}{i % 4}\n" for i in range(40))
    )
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"r{i},{'yn'[i % 2]}\n" for i in range(40)))
    files = [
        word for kind in ("edges", "pairs", "labels") for word in (f"--{kind}", tmp_path / f"{kind}.csv")
    ]
    assert run("build", *files, "-o", tmp_path / "data").exit_code == 0
    assert run("fit", tmp_path / "data", "--no-validate", "-o", tmp_path / "model").exit_code == 0
    words = ["predict", str(tmp_path / "model"), "-", "--hierarchy", str(tmp_path / "newer.csv")]
    old, new = lines(CliRunner().invoke(make_app(), words, input='["a1"]\n["new"]'))
    assert old == new


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("[1, 2", "this line is not JSON"),
        ('{"id": 1, "id": 2, "terms": []}', "the key 'id' occurs twice in an object"),
        ("[12]", "with terms as text, got [12]"),
        ('[["a"]]', "with terms as text"),
        ("[null]", "with terms as text"),
        ('{"id": 1}', "with terms as text"),
        ('"a"', "with terms as text"),
        ('{"id": NaN, "terms": []}', "this line is not JSON"),
        ('{"id": [1e999], "terms": []}', "this line is not JSON"),
        ("[" * 100_000, "this line is not JSON"),
    ],
)
def test_a_damaged_line_is_named_and_the_lines_before_it_are_answered(predict, trained, bad, message):
    good = json.dumps([trained.feature_names[3]])
    result = predict("\n".join([good] * 1500 + [bad, good]))
    assert result.exit_code == 2
    error = " ".join(result.stderr.split())
    assert "standard input" in error and "1501" in error and message in error
    assert len(result.stdout.splitlines()) == 1500


@pytest.mark.parametrize(
    "content", [gzip.compress(b'["x"]', mtime=1), b"PAR1\x15\x00\x15", b"PK\x03\x04\x14\x00"]
)
def test_binary_data_on_standard_input(predict, stream, content):
    through_a_pipe = b" ".join(stream.communicate(content)[1].split()).decode()
    from_a_file = predict(content)
    assert (from_a_file.exit_code, stream.returncode) == (2, 2)
    assert " ".join(from_a_file.stderr.split()) == through_a_pipe
    assert "standard input, line 1: expected text, but this is binary data" in through_a_pipe
    assert "decompress it" in through_a_pipe and "`hietan build` also reads Parquet" in through_a_pipe


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('\n\na,x\nb,"x\n', "standard input, line 4: this line is not valid CSV"),
        ("a,b,c\nd,e,f\n", "standard input: "),
    ],
)
def test_a_damaged_table_is_called_standard_input(predict, table, message):
    result = predict(table)
    assert result.exit_code == 2 and " ".join(result.stderr.split()).startswith(f"error: {message}")


@pytest.mark.patient
def test_a_line_without_end_needs_little_memory(folder):
    """256 MB in one line are refused long before they are in memory."""
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); "
        "from hietan.cli import main; sys.argv = ['hietan', 'predict', sys.argv[1], '-']; main()"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(folder / "model.hietan")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    try:
        process.stdin.write(b'["')
        for _ in range(256):
            process.stdin.write(b"x" * (1 << 20))
    except BrokenPipeError:
        pass
    out, error = process.communicate()
    assert process.returncode == 2 and not out and b"the line is longer than" in error


def test_nothing_in_nothing_out(predict):
    assert lines(predict("")) == [] == lines(predict("\n\n"))


@pytest.mark.parametrize(
    "words", [("--fdr", "0.2"), ("--report",), ("-o", "x.csv"), ("--match", "id"), ("--exclude-column", "x")]
)
def test_options_of_datasets(predict, words):
    result = predict("[]", *words)
    assert (
        result.exit_code == 2
        and "only applies to datasets; omit it, because rows from standard input are written as JSON lines"
        in result.stderr
    )


def test_info_of_a_model_and_a_dataset(run, folder):
    result = run("info", folder / "model.hietan", folder / "all.hietan")
    assert (
        result.exit_code == 2
        and "score it on a dataset with `hietan evaluate MODEL DATASET`" in result.stderr
    )


def test_options_of_the_standard_input(run, folder):
    result = run("predict", folder / "model.hietan", folder / "all.hietan", "--reasons", "2")
    assert result.exit_code == 2 and "only apply to rows from standard input" in result.output


# ------------------------------------------------------------------------------------ evaluate, --json


def test_evaluate(run, folder, trained, monkeypatch):
    monkeypatch.setattr("hietan.models.evaluating.DRAWS", 30)
    expected = evaluate_model(trained, Dataset.load(folder / "all.hietan"))
    result = run("evaluate", folder / "model.hietan", folder / "all.hietan")
    assert result.exit_code == 0, result.output
    auc = expected.metrics["auc"]
    for part in (
        f"{auc.value:.3f}",
        f"{auc.low:.3f} to {auc.high:.3f}",
        f"{auc.validated:.3f}",
        "200 training rows are left out",
    ):
        assert part in " ".join(result.output.split())
    shown = run("evaluate", folder / "model.hietan", folder / "all.hietan", "--json")
    assert json.loads(shown.stdout) == json.loads(json.dumps(expected.to_dict()))


def test_evaluate_needs_new_labelled_rows(run, folder, tmp_path):
    Dataset.load(folder / "all.hietan").subset(rows=slice(200)).save(tmp_path / "known.hietan")
    result = run("evaluate", folder / "model.hietan", tmp_path / "known.hietan")
    assert result.exit_code == 2 and "no labelled rows except the model's training rows" in result.output


def test_json_of_info_fit_and_predict(run, folder, trained, tmp_path):
    data = Dataset.load(folder / "all.hietan")
    shown = json.loads(run("info", folder / "all.hietan", "--json").stdout)
    assert (shown["rows"], shown["features"], shown["classes"]) == (300, 40, {"class0": 150, "class1": 150})
    several = json.loads(run("info", "worm-CC", "worm-MF", "--json").stdout)
    assert [each["name"] for each in several] == ["worm-CC", "worm-MF"]
    model = json.loads(run("info", folder / "model.hietan", "--json").stdout)
    assert model["validation"] == json.loads(json.dumps(trained.quality))
    out = tmp_path / "again.hietan"
    fitted = json.loads(run("fit", folder / "all.hietan", "-m", "hie-ban", "-o", out, "--json").stdout)
    assert fitted["output"] == str(out) and fitted["classes"] == {"class0": 150, "class1": 150}
    words = (
        "predict",
        folder / "model.hietan",
        folder / "all.hietan",
        "-o",
        tmp_path / "r.csv",
        "--fdr",
        "0.3",
        "--json",
    )
    ranked = json.loads(run(*words).stdout)
    expected = rank_rows(trained, data)
    assert (ranked["rows"], ranked["candidates"]) == (300, expected.n_new)
    selection = expected.selection_at(0.3)
    shown = asdict(selection) | {"text": expected.selection_text(selection)}
    assert ranked["selection"] == json.loads(json.dumps(shown))


def test_json_of_compare(run, tmp_path):
    study = run(
        "study",
        "--data",
        "fly-CC",
        "--methods",
        "hie-ban",
        "--methods",
        "tan",
        "--folds",
        "3",
        "-q",
        "-o",
        tmp_path,
    )
    assert study.exit_code == 0, study.output
    (ranking,) = json.loads(run("compare", tmp_path, "--json").stdout)
    assert set(ranking["methods"]) == {"hie-ban", "tan"} and ranking["datasets"] == ["fly-CC"]
    assert sorted(each["average_rank"] for each in ranking["methods"].values()) == [1, 2]
