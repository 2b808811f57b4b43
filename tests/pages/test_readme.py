"""The README keeps its promises: it is short, its figures are those of the pages, its targets exist."""

import re
from pathlib import Path

import pytest

import hietan

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)

LOG = (ROOT / "benchmarks" / "LOG.md").read_text(encoding="utf-8")


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def section(title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)[1]


def test_it_fits_on_two_screens_with_one_picture_three_commands_and_one_example():
    assert len(README.splitlines()) <= 120
    assert len(re.findall(r"^<img |^!\[", README, re.MULTILINE)) == 1
    commands, (first, code), (shown, _) = BLOCKS
    assert (commands[0], len(commands[1].splitlines())) == ("console", 3)
    assert (first, shown) == ("python", "") and len(code.splitlines()) <= 10


def test_the_example_prints_what_is_shown(capsys):
    (_, code), (_, shown) = BLOCKS[1:]
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_the_table_of_methods_has_every_classifier():
    named = set(re.findall(r"`(\w+)`", section("The methods")))
    classifiers = {name for name in hietan.__all__ if hasattr(getattr(hietan, name), "predict")}
    assert named == classifiers | {"GTD", "SHSEL", "TSEL"}


def test_the_accuracies_are_those_of_the_page():
    rows = re.findall(r"^\| (\S.*?) \| (0\.\d{3} .*) \|$", section("How accurate?"), re.MULTILINE)
    table = (
        page("choosing-a-method.md").partition("<!-- choice -->")[2].partition("<!-- end of choice -->")[0]
    )
    shown = dict(re.findall(r"^\| (\S.*?) \| (0\..*) \|$", table, re.MULTILINE))
    assert [method for method, _ in rows] == list(shown) and len(rows) == 8
    for method, figures in rows:
        cells = shown[method].split(" | ")
        assert figures.split(" | ") == [*cells[:3], cells[4], cells[-1]]


def test_the_recommendations_are_those_of_the_page():
    text = " ".join(page("choosing-a-method.md").replace("**", "").split())
    advice = " ".join(section("How accurate?").split())
    for sentence in (
        "If rows may be incomplete, or if you need explanations, choose `HieLogistic`.",
        "If rows are complete and only accuracy counts, a random forest or logistic regression does just as well.",
    ):
        assert sentence in text and sentence in advice


SPEED = re.compile(
    r"^\| (WEKA|pyAgrum|pgmpy|scikit-bayes)[^|]*\| [^|]+ \| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE
)


def test_the_times_are_those_of_the_pages():
    log, shown = LOG, SPEED.findall(section("How fast?"))
    assert shown == SPEED.findall(page("performance.md")) and len(shown) == 4
    for library, features, ratio in shown:
        found = re.search(rf"^\| {library}\b(.*) / hietan +\| +([\d,]+) \|", log, re.MULTILINE)
        assert found[2] == ratio
        assert library == "scikit-bayes" or f"on {features.replace(',', '')} features" in found[1]
    assert "572 rows x 1191 features" in log
    milliseconds = float(re.search(r"^\| TAN fit +\| +([\d.]+) \|", log, re.MULTILINE)[1])
    assert f"fits a TAN with 1,191 features in {milliseconds:.0f} ms" in section("How fast?")


def test_the_page_on_speed_has_the_figures_of_the_log():
    log = LOG.replace(",", "")
    figures = re.findall(r"\| ([\d.,]+)(?: (?:ms|s|GB|us))? (?=\|)", page("performance.md").replace(",", ""))
    figures += re.findall(r"([\d.]+) times as long as (?:fitting|`Bern)", page("performance.md"))
    assert len(figures) > 25
    assert [
        figure for figure in figures if not re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.])", log)
    ] == []


def test_what_it_says_of_the_reproduction_is_what_the_page_says():
    assert "that the Hie-TAN paper's main result [does not reproduce]" in " ".join(README.split())
    refuted = page("reproduction.md").partition("**What does not hold**")[2].partition("**What cannot")[0]
    assert "Hie-TAN-Lite has the best average rank of the six methods (true in 0 of" in refuted


@pytest.mark.source
@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", README, re.MULTILINE)))
)
def test_make_targets_exist(target):
    assert re.search(rf"^{''.join(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
