"""The README keeps its promises: it is short, its figures are those of the pages, its targets exist."""

import re
from pathlib import Path

import pytest

import hietan

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def section(title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)[1]


def test_it_fits_on_two_screens_with_one_picture_two_commands_and_one_example():
    assert len(README.splitlines()) <= 120
    assert len(re.findall(r"^!\[", README, re.MULTILINE)) == 1
    commands, (first, code), (shown, _) = BLOCKS
    assert (commands[0], len(commands[1].splitlines())) == ("console", 2)
    assert (first, shown) == ("python", "") and len(code.splitlines()) <= 10


def test_the_example_prints_what_is_shown(capsys):
    (_, code), (_, shown) = BLOCKS[1:]
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_the_table_of_methods_has_every_classifier():
    named = set(re.findall(r"`(\w+)`", section("The methods")))
    classifiers = {name for name in hietan.__all__ if hasattr(getattr(hietan, name), "predict")}
    assert len(classifiers) == 12 and classifiers <= named
    assert named - classifiers == {"GTD", "SHSEL", "TSEL", "HierarchyFilter"}


def test_the_accuracies_are_those_of_the_page():
    rows = re.findall(
        r"^\| (\S.*?) \| (0\.\d{3} .*) \|$", section("How accurate, and how fast?"), re.MULTILINE
    )
    table = page("accuracy.md").partition("<!-- choice -->")[2].partition("<!-- end of choice -->")[0]
    shown = dict(re.findall(r"^\| (\S.*?) \| (0\..*) \|$", table, re.MULTILINE))
    assert [method for method, _ in rows] == list(shown) and len(rows) == 8
    for method, figures in rows:
        cells = shown[method].split(" | ")
        assert figures.split(" | ") == [*cells[:3], cells[4], cells[-1]]


def test_the_recommendations_are_those_of_the_page():
    advice = re.findall(r"^- (.*)[.:]", section("How accurate, and how fast?"), re.MULTILINE)
    text = " ".join(page("accuracy.md").split())
    assert len(advice) == 3
    for sentence in advice:
        assert re.split("[:.]", sentence)[0] in text


def test_the_times_are_those_of_the_page():
    times, text = page("performance.md"), " ".join(section("How accurate, and how fast?").split())
    data = re.search(r"On (\d+) genes with ([\d,]+) terms", text)
    assert f"{data[1]} rows x {data[2].replace(',', '')} features" in times

    def figure(name):
        return re.search(rf"^\| {re.escape(name)} +\| +([\d,.]+) \|", times, re.MULTILINE)[1]

    assert f"fits a TAN in {float(figure('TAN fit')):.0f} ms" in text
    assert f"Hie-TAN-Lite in {float(figure('Hie-TAN-Lite predict')):.0f} ms" in text
    for peer, words in (
        ("WEKA", "WEKA's TAN takes {} times as long"),
        ("pyAgrum", "pyAgrum's TAN takes {} times as long (256 terms) as ours"),
        ("pgmpy", "pgmpy's {} times (64 terms)"),
        ("scikit-bayes", "scikit-bayes's AODE takes {} times as long"),
    ):
        ratio = re.search(rf"^\| {peer}\b.* / ours +\| +([\d,]+) \|", times, re.MULTILINE)
        assert words.format(ratio[1]) in text
    assert "pyAgrum 3.3.1's TAN on 256 features" in times and "pgmpy 1.1.2's TAN on 64 features" in times


def test_what_it_says_of_the_reproduction_is_what_the_page_says():
    assert "best average rank, [does not reproduce]" in " ".join(README.split())
    refuted = page("reproduction.md").partition("**What does not hold**")[2].partition("**What cannot")[0]
    assert "Hie-TAN-Lite has the best average rank of the six methods: true in 0 of" in refuted


@pytest.mark.source
@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", README, re.MULTILINE)))
)
def test_make_targets_exist(target):
    assert re.search(rf"^{''.join(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
