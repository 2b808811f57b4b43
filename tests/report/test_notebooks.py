"""What a notebook shows: names of rows, classes and terms; results, trees and hierarchies as HTML and SVG."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from hietan import HIPNB, TAN, HieLogistic, HieTANLite, LazySelection, ProximalGraph
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.report import show_report
from hietan.selection import MinSupport
from support.faults.nasty import nasty_dataset

DATA = make_hierarchical_classification(60, 15, random_state=3)


@pytest.fixture(scope="module")
def clf():
    return HieTANLite(hierarchy=DATA.hierarchy, random_state=0).fit(DATA.X, DATA.y)


@pytest.fixture(scope="module")
def results():
    return run_study([DATA], {"lite": HieTANLite(), "<b>NB": HIPNB()}, cv=2, seeds=2, explain=True)


def test_a_row_of_a_dataset_is_explained_by_its_name(clf):
    name = DATA.instance_names[7]
    (named,) = clf.explain(DATA, name)
    (plain,) = clf.explain(DATA.X[[7]], term_names=DATA.term_names)
    assert (
        named.row == name
        and named.classes == tuple(DATA.target_names)
        and named.target == DATA.target_names[1]
    )
    assert named.log_odds == plain.log_odds and named.contributions == plain.contributions
    assert f"P({DATA.target_names[1]})" in named.text() and name in named.text()
    both = clf.explain(DATA, [DATA.instance_names[2], name], target=DATA.target_names[0])
    assert [one.row for one in both] == [DATA.instance_names[2], name] and both[1].log_odds == -named.log_odds
    assert len(clf.explain(DATA)) == 60


def test_wrapped_models_explain_datasets_too():
    model = MinSupport(TAN(hierarchy=DATA.hierarchy), min_support=3).fit(DATA.X, DATA.y)
    (named,) = model.explain(DATA, DATA.instance_names[0])
    assert named.row == DATA.instance_names[0] and named.target == DATA.target_names[1]


def test_classes_have_the_names_of_a_dataset_only_if_the_model_predicts_its_codes():
    name, names = DATA.instance_names[0], np.array(DATA.target_names)
    for labels in (names[DATA.y], DATA.y + 1, DATA.y == 1, DATA.y - 1.0):
        model = TAN(hierarchy=DATA.hierarchy, random_state=0).fit(DATA.X, labels)
        for target in (None, *model.classes_.tolist()):
            (explained,) = model.explain(DATA, name, target=target)
            assert explained.classes == tuple(model.classes_.tolist())
            assert explained.target == (explained.classes[1] if target is None else target)
    with pytest.raises(ValueError, match=re.escape(repr(DATA.target_names[0]))):
        model.explain(DATA, name, target=DATA.target_names[0])


@pytest.mark.parametrize(
    "make", [TAN, HieLogistic, lambda **options: ProximalGraph(lam=0.01, **options), LazySelection]
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_contributions_of_a_dataset_are_those_of_all_its_rows(make, wrapped):
    model = make(hierarchy=DATA.hierarchy)
    model = (MinSupport(model, min_support=3) if wrapped else model).fit(DATA.X, DATA.y)

    def dense(found):
        return found.toarray() if hasattr(found, "toarray") else found

    np.testing.assert_array_equal(dense(model.contributions(DATA)), dense(model.contributions(DATA.X)))
    np.testing.assert_array_equal(
        dense(model.contributions(DATA, target=DATA.target_names[0])),
        dense(model.contributions(DATA.X, target=0)),
    )


def test_symbols_name_rows(clf):
    from dataclasses import replace

    data = replace(DATA, symbols=tuple(f"sym{i}" for i in range(60)))
    assert clf.explain(data, "sym4")[0].log_odds == clf.explain(data, data.instance_names[4])[0].log_odds


def test_unknown_rows_are_refused(clf):
    with pytest.raises(ValueError, match="no row 'nobody'; its row names include '"):
        clf.explain(DATA, "nobody")
    with pytest.raises(ValueError, match=r"no row 'ROW-3'; did you mean 'row3'\?"):
        clf.explain(DATA, "ROW-3")
    for number in (0, np.int64(3)):
        with pytest.raises(TypeError, match=r"are chosen by name; .* pass data\.instance_names\[0\]"):
            clf.explain(DATA, number)
    with pytest.raises(TypeError, match="X is not a dataset"):
        clf.explain(DATA.X, "row3")


def test_explanations_are_a_list_that_is_shown(clf):
    found = clf.explain(DATA, DATA.instance_names[:3])
    page = found._repr_html_()
    assert page.count("<details") >= 3 and all(name in page for name in DATA.instance_names[:3])
    frame = found.to_frame()
    assert frame["row"].nunique() == 3 and len(frame) == sum(len(one.contributions) for one in found)


def test_results_are_a_frame_and_a_card(results):
    frame = results.to_frame()
    assert len(frame) == 4 and frame["gmean"].tolist() == [row["gmean"] for row in results.summary]
    page = results._repr_html_()
    assert "&lt;b&gt;NB" in page and "<b>NB" not in page and "average rank" not in page
    assert repr(results) == "StudyResults(1 datasets, 2 methods, 2 folds, 2 seeds)"


def test_a_report_is_shown_in_a_frame(results, tmp_path):
    shown = show_report(results, height=500)

    class Frame(HTMLParser):
        def handle_starttag(self, tag, attrs):
            self.found = tag, dict(attrs)

    parser = Frame()
    parser.feed(shown._repr_html_())
    tag, attributes = parser.found
    assert (
        tag == "iframe"
        and "height:500px" in attributes["style"]
        and "allow-same-origin" not in attributes["sandbox"]
    )
    (data,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', attributes["srcdoc"], re.S
    )
    assert json.loads(data) == json.loads(json.dumps(shown.content))
    assert shown.content["datasets"][0]["explained"] and shown.content["datasets"][0]["quality"]


def test_results_show_their_own_report(results):
    shown = results.report(height=400)
    assert shown == show_report(results, height=400) and repr(shown) == repr(show_report(results))


def test_one_explanation_is_shown_unfolded(clf):
    one = clf.explain(DATA, DATA.instance_names[7])
    assert one._repr_html_() == one[0].to_html()


def test_trees_and_summaries_are_cards(clf):
    (tree,) = clf.trees(DATA.X[:1])
    assert str(tree).splitlines()[0] in tree._repr_html_() and "<pre" in tree._repr_html_()
    data = nasty_dataset()
    assert "<script>alert" not in data.summary()._repr_html_() and DATA.name in DATA.summary()._repr_html_()
