"""The README keeps its promises: its code runs and prints what it says, its links and targets exist."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)


def test_the_first_example_prints_the_tree_shown(capsys):
    (kind, code), (_, shown) = BLOCKS[:2]
    assert kind == "python"
    exec(code, {})
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("code", [code for kind, code in BLOCKS[2:] if kind == "python"])
def test_the_other_examples_run(code, request):
    if "fetch_ageing_genes" in code:
        request.getfixturevalue("real_data")
    mpl.use("Agg")
    exec(code, {})


@pytest.mark.parametrize("link", re.findall(r"\]\((?!http)([^)#]+)", README))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", README, re.MULTILINE)))
)
def test_make_targets_exist(target):
    assert re.search(rf"^{''.join(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
