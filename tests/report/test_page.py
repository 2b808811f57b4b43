"""The page: one file, nothing fetched, and no name that is ever read as HTML."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from hietan import HieTANLite
from hietan.evaluation import run_study
from hietan.models import rank_rows, train_model
from hietan.models.names import RowNames
from hietan.report._candidates_page import candidates_summary
from hietan.report._html import SCRIPTS, STYLES, files, render
from hietan.report._study_page import study_summary
from support.faults.nasty import NASTY, nasty_dataset

PAGE = files("hietan.report") / "page"


class Elements(HTMLParser):
    """The elements of a page as a browser would make them, and the text of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts.append(data)


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nasty")
    methods = {f"lite {NASTY[1]}": HieTANLite()}
    run_study([nasty_dataset()], methods, cv=3, output=folder, command=NASTY[0], explain=True)
    return study_summary(folder)


def test_no_name_can_leave_the_data(nasty):
    page = render(nasty)
    elements = Elements(page)
    assert [tag for tag, _ in elements.tags].count("script") == 2
    assert not any(tag == "img" for tag, _ in elements.tags)
    data, script = ("".join(elements.scripts[:-1]), elements.scripts[-1])
    assert json.loads(data) == json.loads(json.dumps(nasty))
    assert "<" not in data and "alert" not in script


def test_the_title_is_text(nasty):
    page = render({**nasty, "title": "</title><script>alert(1)</script>"})
    assert [tag for tag, _ in Elements(page).tags].count("script") == 2


def test_the_page_may_run_its_own_script_and_fetch_nothing(nasty):
    page = render(nasty)
    policy = next(a["content"] for tag, a in Elements(page).tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy
    fetching = [a for tag, a in Elements(page).tags if tag == "link" or "src" in a]
    assert not fetching


def test_the_scripts_never_write_html():
    for name in SCRIPTS:
        text = (PAGE / name).read_text(encoding="utf-8")
        banned = (
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|fetch\(|XMLHttp"
        )
        assert not re.search(banned, text), name
        assert "</script" not in text and "<!--" not in text


def test_all_parts_of_the_page_are_used():
    found = {p.relative_to(PAGE).as_posix() for p in PAGE.rglob("*") if p.is_file()}
    assert found == {"page.html", *STYLES, *SCRIPTS}


def test_candidates_are_ranked_and_both_ends_have_reasons():
    data = nasty_dataset()
    trained = train_model(HieTANLite(), data, validate=False)
    names = (*data.instance_names[:2], *(f"other{i}" for i in range(len(data.instance_names) - 2)))
    trained = replace(trained, training=replace(trained.training, names=RowNames(names)), dataset=NASTY[0])
    content = candidates_summary(rank_rows(trained, data), explained=7)
    (shown,) = content["datasets"]
    scores = shown["predictions"][0]["log_odds"]
    new, known = scores[:-2], scores[-2:]
    assert new == sorted(new, reverse=True) and known == sorted(known, reverse=True)
    ends = [*range(7), *range(len(new) - 7, len(new))]
    assert [entry["row"] for entry in shown["explained"]] == ends
    assert [entry["why"] for entry in shown["explained"]] == ["ranked high"] * 7 + ["ranked low"] * 7
    for entry in shown["explained"]:
        assert entry["methods"][0]["log_odds"] == pytest.approx(scores[entry["row"]], abs=2e-3)
    assert {shown["genes"][i] for i in shown["in_training"]} == set(data.instance_names[:2])
    assert shown["in_training"] == [len(new), len(new) + 1]
    assert {name for name, _, _ in shown["training"]} == set(data.instance_names[:2])
    assert json.loads("".join(Elements(render(content)).scripts[:-1])) == json.loads(json.dumps(content))
