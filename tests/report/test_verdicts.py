"""The sentences and titles of the reports say what the numbers of the study and the model say."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import LinearSVC

from hietan import HieBAN, HieLogistic, HieTANLite
from hietan.datasets import load_ageing_genes, make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.models import rank_rows, train_model
from hietan.report import write_candidates, write_report
from hietan.report._candidates_page import candidates_summary
from hietan.report._study_page import study_summary


@pytest.fixture(scope="module")
def worm():
    return load_ageing_genes("worm", "CC")


def run(folder, datasets, methods):
    results = run_study(datasets, methods, cv=3, output=folder, explain=True)
    return results, study_summary(folder)


def auc_of(results, dataset, name):
    key = next(key for key, method in results.study.methods.items() if method.name == name)
    pooled = results.predictions[dataset, key, 0]
    return roc_auc_score(pooled.truth, pooled.log_proba[:, 1] - pooled.log_proba[:, 0])


def test_one_dataset_has_a_best_method_and_those_within_its_sampling_error(worm, tmp_path):
    methods = {"HieBAN": HieBAN(), "NB": BernoulliNB(), "coin": DummyClassifier(strategy="prior")}
    results, shown = run(tmp_path / "study", [worm], methods)
    scores = {name: auc_of(results, worm.name, name) for name in methods}
    best = max(scores, key=scores.get)
    start = f"{best} separates pro from anti genes with AUC {scores[best]:.3f} (95% interval "
    assert shown["verdict"].startswith(start)
    names = [method["name"] for method in shown["methods"]]
    pairs = shown["datasets"][0]["quality"]["pairs"]["auc"]
    close = [names[line[0]] for line in pairs if line[4] >= 0]
    assert "coin" not in close and len(close) == 1
    assert shown["verdict"].endswith(f"; {close[0]} is within the sampling error of {best}.")
    assert shown["title"] == "worm-CC: 3 methods compared, data of 2019-01-27"


def test_a_study_without_signal_says_so(tmp_path):
    data = make_hierarchical_classification(60, 15, random_state=0)
    data = replace(data, y=np.random.default_rng(0).permutation(data.y))
    _, shown = run(tmp_path / "study", [data], {"NB": BernoulliNB()})
    assert shown["verdict"].startswith(
        "No method clearly separates class1 from class0 rows. The best method, NB, "
    )
    assert shown["verdict"].endswith("; chance level is 0.5.")
    assert shown["title"] == f"{data.name}: NB"


def test_methods_without_probabilities_are_compared_by_gmean(tmp_path):
    data = make_hierarchical_classification(200, 30, random_state=1)
    _, shown = run(tmp_path / "study", [data], {"SVM": LinearSVC(), "again": LinearSVC(C=0.5)})
    assert " GMean 0." in shown["verdict"] and "AUC" not in shown["verdict"]


def test_several_datasets_have_a_best_rank(worm, tmp_path):
    fly = load_ageing_genes("fly", "CC")
    results, shown = run(tmp_path / "study", [worm, fly], {"HieBAN": HieBAN(), "NB": BernoulliNB()})
    scores = {name: [auc_of(results, data.name, name) for data in (worm, fly)] for name in ("HieBAN", "NB")}
    ranks = {
        name: np.mean([1 + (a < b) for a, b in zip(own, other, strict=True)])
        for name, own, other in (
            ("HieBAN", scores["HieBAN"], scores["NB"]),
            ("NB", scores["NB"], scores["HieBAN"]),
        )
    }
    best = min(ranks, key=ranks.get)
    start = (
        f"{best} has the best average rank by AUC on 2 datasets ({ranks[best]:.2f} of 2; its mean AUC is "
        f"{np.mean(scores[best]):.3f})"
    )
    assert shown["verdict"].startswith(start)
    assert "little power; use at least 6" in shown["verdict"]  # two datasets are no evidence
    assert shown["title"] == "worm-CC and fly-CC: 2 methods compared, data of 2019-01-27"


def test_the_date_can_be_given_and_the_report_is_the_same_every_time(worm, tmp_path):
    run(tmp_path / "study", [worm], {"NB": BernoulliNB()})
    pages = [write_report(tmp_path / "study", tmp_path / f"{k}.html").read_bytes() for k in range(2)]
    assert pages[0] == pages[1]
    dated = write_report(tmp_path / "study", tmp_path / "dated.html", date="18 November 2026").read_text()
    assert "<title>worm-CC: NB, 18 November 2026</title>" in dated
    ranked = rank_rows(train_model(HieBAN(), worm, validate=False), worm)
    page = write_candidates(ranked, tmp_path / "ranked.html").read_text()
    assert "<title>Genes of worm-CC, ranked for pro, data of 2019-01-27</title>" in page
    assert '<h1 id="title">Genes of worm-CC, ranked for pro, data of 2019-01-27</h1>' in page


def test_candidates_say_how_good_the_ranking_is_for_the_class_that_they_are_ranked_for(worm):
    trained = train_model(HieLogistic(), worm)
    held_out, y = trained.held_out, worm.y[trained.held_out.rows]
    odds = held_out.log_odds
    for positive, label, sign in (("pro", 1, 1), ("anti", 0, -1)):
        ranked = rank_rows(trained, worm, positive=positive)
        shown = candidates_summary(ranked, explained=2)
        other = "anti" if positive == "pro" else "pro"
        auc, alone = roc_auc_score(y, odds), trained.quality["annotations_auc"]
        assert shown["verdict"] == (
            f"HieLogistic separates {positive} from {other} with AUC {auc:.3f} on genes that it had not seen; "
            f"annotation counts alone have an AUC of {max(alone, 1 - alone):.3f}."
        )
        quality = shown["quality"]
        assert quality["positive"] == positive and f"ranked for {positive}" in shown["title"]
        expected = average_precision_score(y == label, sign * odds)
        assert quality["average_precision"] == pytest.approx(expected, abs=1e-9)
        assert quality["annotations_auc"] == pytest.approx(alone if label else 1 - alone)
        assert sum(n for _, _, n in quality["curve"]) == len(y)
        mean = np.average(
            [share for _, share, _ in quality["curve"]], weights=[n for _, _, n in quality["curve"]]
        )
        assert mean == pytest.approx((y == label).mean())
    bare = rank_rows(train_model(HieBAN(), worm, validate=False), worm)
    assert candidates_summary(bare, explained=2)["verdict"].startswith("HieBAN was not validated, so ")


def test_the_first_candidates_are_summed_by_branch_without_remainder(worm):
    train, rest = worm.subset(np.arange(0, len(worm.y), 2)), worm.subset(np.arange(1, len(worm.y), 2))
    for model, positive in ((HieTANLite(random_state=0), "pro"), (HieLogistic(), "anti")):
        trained = train_model(model, train)
        ranked = rank_rows(trained, rest, positive=positive)
        shown = candidates_summary(ranked, explained=20)["branches"]
        assert shown["rows"] == [20, 20] and shown["columns"][-1] == -1
        odds = ranked.log_odds[ranked.order[: ranked.n_new]]
        for means, part in zip(shown["means"], (odds[:20], odds[-20:]), strict=True):
            assert sum(means) == pytest.approx(part.mean(), abs=0.01)
        rows = ranked.X[ranked.order[:20].tolist()]
        explained = trained.classifier.explain(rows, target=ranked.model.positive_label)
        table = explained.by_branch()
        names = [trained.feature_names[column] for column in shown["columns"][:-1]]
        assert (*names, None) == table.features
        assert shown["means"][0][1:] == pytest.approx(table.mean.tolist(), abs=1e-3)
        assert shown["above"] == (table.amounts > 0).sum(axis=0).tolist()
        listed = ranked.select(0.45)
        if listed.n_new > 1:  # the list is what is summed
            assert candidates_summary(listed, explained=5)["branches"]["rows"][0] == listed.n_new


def test_one_candidate_is_not_called_candidates(worm):
    trained = train_model(HieBAN(), worm.subset(np.arange(1, len(worm.y))), validate=False)
    assert candidates_summary(rank_rows(trained, worm))["about"]["model"].startswith("1 candidate among ")
