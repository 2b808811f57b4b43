"""Names that would steer a terminal: every command shows their control characters instead of sending them."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

pytest.importorskip("typer")
from typer.testing import CliRunner

from hietan.cli._app import make_app
from hietan.cli._messages import printable
from hietan.datasets import make_hierarchical_classification
from hietan.hierarchy import Hierarchy
from support.gaf_lines import gaf_line

pytestmark = pytest.mark.slow

# A title, a cleared screen, the same with single-byte controls, a hyperlink of rich, a turn of direction, a new line.
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b2J\x90x\x9c\b\r[link=http://evil]x[/link][red]:bomb:\u202e\nerror: forged"
STEERING = re.compile(
    "[\x00-\x09\x0b-\x1a\x1c-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]|\x1b(?!\\[[0-9;?]*[mhlKA])"
)
FORGED = re.compile("^error: forged", re.MULTILINE)


def hostile_dataset():
    data = make_hierarchical_classification(60, 12, random_state=0)
    rename = {name: f"f{j}{EVIL}" for j, name in enumerate(data.feature_names)}
    features = tuple(rename.values())
    return replace(
        data,
        hierarchy=Hierarchy.from_edges(
            [(rename[a], rename[b]) for a, b in data.hierarchy.edges], features=features
        ),
        feature_names=features,
        term_names=tuple(f"term{EVIL}{j}" for j in range(12)),
        instance_names=tuple(f"row{i}{EVIL}" for i in range(60)),
        symbols=tuple(f"{EVIL}symbol{i}" for i in range(60)),
        target_names=(f"anti{EVIL}", f"pro{EVIL}"),
        positive=f"pro{EVIL}",
        name=f"data{EVIL}",
        provenance={"origin": EVIL, "account": {EVIL: {"read": 1, "used": 0, "dropped": {EVIL: 1}}}},
    )


def check(output, *, shows="\\x1b]0;owned"):
    """Nothing but the colours, cursor moves and line ends of our own; what was hostile is there to be read."""
    output = re.sub("\r(?=(\x1b\\[1A)?\x1b\\[2K)", "", output)  # the progress bar begins its line again
    assert not STEERING.search(output), repr(output[max(0, STEERING.search(output).start() - 40) :][:120])
    assert not FORGED.search(output)
    assert shows in output


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with a hostile dataset and a model of it, and with files to build one from."""
    place = tmp_path_factory.mktemp("hostile")
    hostile_dataset().save(place / "d.hietan")
    hostile_dataset().save(place / "d\x1b[2J\x1b]0;owned.hietan")
    for method, model in {"hie-tan-lite": "m", "hie-logistic": "regression"}.items():
        words = ["fit", str(place / "d.hietan"), "-m", method, "-o", str(place / model)]
        assert CliRunner().invoke(make_app(), words).exit_code == 0
    name = EVIL.replace("\n", "\\n").replace("\r", "")
    obo = "".join(f"[Term]\nid: T:{i}\nname: {name}\nis_a: T:{i // 2}\n" for i in range(2, 8))
    (place / "go.obo").write_text(f"{obo}[Term]\nid: T:1\n")
    (place / "round.obo").write_text(
        "[Term]\nid: A\x1b]0;owned\nis_a: B\x9b\n[Term]\nid: B\x9b\nis_a: A\x1b]0;owned\n"
    )
    (place / "wb.gaf").write_text(
        "".join(f"{gaf_line(f'P{i}{chr(27)}[2J', f'T:{i}')}\n" for i in range(2, 8))
    )
    return place


@pytest.fixture
def run(place, monkeypatch):
    """Run a command as in a terminal: rich writes colours, and click leaves escape sequences as they are."""
    monkeypatch.chdir(place)
    for variable, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "300"}.items():
        monkeypatch.setenv(variable, value)
    return lambda *words: CliRunner().invoke(make_app(), list(words), color=True)


def test_info(run):
    result = run("info", "d.hietan")
    assert result.exit_code == 0
    check(result.output)
    assert "[link=http://evil]x[/link][red]:bomb:" in result.output  # neither markup nor pictures
    missing = run("info", "no\x1b]0;owned")
    check(missing.output)


def test_build(run):
    words = "build --ontology go.obo --annotations wb.gaf -o out.hietan --min-support 1".split()
    result = run(*words, "--name", f"n{EVIL}")
    assert result.exit_code == 0, result.output
    check(result.output)
    refused = run(*("round.obo" if word == "go.obo" else word for word in words))
    assert refused.exit_code == 2 and len(refused.output.splitlines()) == 1
    check(refused.output)


def test_fetch(run):
    check(run("fetch", EVIL).output)
    home = "home\x1b]0;owned\x07"
    check(run("fetch", "genage-models", "--release", "2025", "--data-home", home).output)


def test_fit(run, place):
    result = run("fit", "d.hietan", "-o", "other\x1b[2J")
    assert result.exit_code == 0
    check(result.output)
    check(run("fit", "d.hietan", "-m", f"tan{EVIL}").output)
    check(run("fit", f"{EVIL}.hietan").output)


def test_predict(run):
    result = run("predict", "m", "d.hietan", "-o", "p\x1b]0;owned.csv", "--report")
    assert result.exit_code == 0
    check(result.output)
    make_hierarchical_classification(20, 30, random_state=5).save("small.hietan")
    check(run("predict", "m", "small.hietan").output)


def test_explain(run):
    data = hostile_dataset()
    for model in ("m", "regression"):
        result = run(
            "explain", model, "d.hietan", "--gene", data.instance_names[3], "--gene", data.symbols[4]
        )
        assert result.exit_code == 0, result.output
        check(result.output)
        assert "\\nerror: forged" in result.output
    check(run("explain", "m", "d.hietan", "--gene", data.instance_names[3], "--limit", 99).output)
    check(run("explain", "m", "d.hietan", "--gene", f"nobody{EVIL}").output)


def test_study_compare_and_report(run, place):
    methods = "--methods tan --methods bernoulli-nb --methods hip-nb --folds 2 --no-figures".split()
    result = run("study", "--data", "d\x1b[2J\x1b]0;owned.hietan", *methods, "-o", "out\x1b[2J")
    assert result.exit_code == 0, result.output
    check(result.output, shows="out\\x1b[2J")
    check(run("compare", "out\x1b[2J").output, shows="tan")
    check(run("compare", "out\x1b[2J", "--control", EVIL).output)
    check(run("compare", "nothing\x1b]0;owned").output)
    check(run("report", "out\x1b[2J", "-o", "r\x1b]0;owned.html").output)
    (place / "bad.toml").write_text('data = ["d.hietan"]\nmethods = ["tan\\u001b]0;owned"]\n')
    check(run("study", "bad.toml").output)


def test_demo(run):
    result = run("demo", "--data", "synthetic-0", "--folds", "2", "--report", "r\x1b]0;owned.html")
    assert result.exit_code == 0
    check(result.output)


@pytest.mark.patient
@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals there")
def test_in_a_real_terminal(place):
    """What arrives at the other end of a pseudo-terminal, the progress bar of a study included."""
    import pty

    main = [sys.executable, "-c", "from hietan.cli import main; main()"]
    for words in (
        ["info", "d.hietan"],
        [
            "study",
            "--data",
            "d\x1b[2J\x1b]0;owned.hietan",
            "--methods",
            "tan",
            "--folds",
            "2",
            "--no-figures",
        ],
    ):
        near, far = pty.openpty()
        with subprocess.Popen([*main, *words], cwd=place, stdin=far, stdout=far, stderr=far) as process:
            os.close(far)
            pieces = []
            try:
                while piece := os.read(near, 1 << 16):
                    pieces.append(piece)
            except OSError:  # how the end of a pseudo-terminal shows itself
                pass
        os.close(near)
        text = b"".join(pieces).decode()
        assert process.returncode == 0, text
        for steering in ("\x1b]0;", "\x1b[2J", "\x07", "\x9b", "\u202e"):
            assert steering not in text.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain äöü 日本 🧬 a\\b", "plain äöü 日本 🧬 a\\b"),
        ("\x00\x1b\x7f\x9b", r"\x00\x1b\x7f\x9b"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\u202e\u2066\u2028\ufeff\udc80", r"\u202e\u2066\u2028\ufeff\udc80"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown
    assert printable(text).encode()


def test_names_with_line_breaks_keep_their_branches(run):
    """Renaming a feature to one line moves nothing to the rest, in single rows and in their mean."""
    data = make_hierarchical_classification(100, 60, random_state=3)
    rename = {name: f"T\n{j}" for j, name in enumerate(data.feature_names)}
    edges = [(rename[a], rename[b]) for a, b in data.hierarchy.edges]
    hierarchy = Hierarchy.from_edges(edges, features=tuple(rename.values()))
    names = tuple(rename.values())
    broken = replace(data, hierarchy=hierarchy, feature_names=names, term_names=names)
    texts = []
    for name, each in (("plain", data), ("broken", broken)):
        each.save(f"{name}.hietan")
        assert run("fit", f"{name}.hietan", "-m", "tan", "-o", f"{name}-model", "-q").exit_code == 0
        words = ("explain", f"{name}-model", f"{name}.hietan", "--row", "row3", "--row", "row7")
        result = run(*words)
        assert result.exit_code == 0, result.output
        texts.append(result.output)
    plain, shown = texts
    for name, new in rename.items():
        plain = re.sub(rf"\b{re.escape(name)}\b", lambda _, new=new: new.replace("\n", "\\n"), plain)
    assert "Mean of 2 rows, by branch of the hierarchy" in shown and "the rest" in shown
    assert [line.split() for line in shown.splitlines()] == [line.split() for line in plain.splitlines()]
