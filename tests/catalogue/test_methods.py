"""Methods by name and import path: what is made, how it is called, and what is tuned around it."""

import inspect

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from hietan import classifiers
from hietan.catalogue import METHODS, make_estimator, method_names, method_sets
from hietan.catalogue._estimators import make_methods
from hietan.classifiers._base import PairBayes
from hietan.classifiers._solvers.leave_one_out import ALPHA_GRID
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation._study.fingerprint import method_fingerprint
from hietan.exceptions import CatalogueError
from hietan.scores import cross_validate, metrics_of
from hietan.scores.cross_validation import configure


def informative_data(n_rows=80):
    """Rows whose class is a feature, so that any method that learns at all ranks them well."""
    data = make_hierarchical_classification(n_rows, 15, random_state=1)
    column = int(np.argmin(np.abs(data.X.mean(axis=0) - 0.5)))
    y = np.asarray(data.X.toarray()[:, column], dtype=np.intp)
    return type(data)(**{**vars(data), "y": y})


def test_every_classifier_is_registered():
    ours = {getattr(classifiers, name) for name in classifiers.__all__}
    made = {getattr(entry.make, "func", entry.make) for entry in METHODS.values()}  # some with parameters
    assert {kind for kind in ours if hasattr(kind, "predict")} <= made


def test_every_entry_can_be_shown():
    titles = [entry.title for entry in METHODS.values()]
    assert len(set(titles)) == len(titles) and all(titles)
    assert all(entry.idea and entry.when and entry.name == name for name, entry in METHODS.items())


def test_sets():
    sets = method_sets()
    assert sets["all"] == method_names() == tuple(METHODS)
    trees = ("tan", "hie-tan", "hie-tan-lite", "hre-tan")
    assert sets["bayes"] == (*trees, "hie-aode-lite")
    assert sets["paper"] == (*(f"{name}-laplace" for name in trees), "hie-aode-lite", "proximal-graph")
    assert sets["new"] == ("hie-ban", "hie-logistic") and set(sets["new"]).isdisjoint(sets["paper"])
    assert set(sets["modern"]).isdisjoint(sets["paper"] + sets["new"])
    both = [*sets["bayes"], *(name for name in sets["paper"] if name != "hie-aode-lite")]
    assert [m.name for m in make_methods(["bayes", "paper"])] == both  # each once
    lazy = {f"{s}-{m}" for s in ("hip", "mr", "hip-mr") for m in ("nb", "tan")} | {"hnb", "rnb"}
    eager = {f"{s}-{m}" for s in ("gtd", "shsel", "tsel") for m in ("nb", "tan", "logistic-balanced")}
    assert set(sets["aire"]) == lazy | eager | {"bernoulli-nb", "tan", "logistic-l2-balanced"}


@pytest.mark.parametrize("name", method_names())
def test_every_registered_method_learns(name):
    (method,) = make_methods([name])
    if "forest" in name:
        method.estimator.set_params(n_estimators=20)
    if "boosting" in name:
        method.estimator.set_params(max_iter=10, min_samples_leaf=5)
    # TSEL stops at the first peak of each path: it need not come to the column that is the class.
    least = 0.6 if name.startswith("tsel-") else 0.9
    assert metrics_of(cross_validate(method.estimator, informative_data(), n_splits=2))["auc"] > least


def test_lambda_is_that_of_the_study_unless_the_method_says_its_own():
    usual = make_estimator("proximal-graph")
    assert (usual.lam, usual.lam_relative) == (None, 0.1)
    assert make_estimator("proximal-graph", lam=0.5).lam == 0.5
    assert make_estimator("proximal-graph:lam=0.1", lam=0.5).lam == 0.1
    (tuned,) = make_methods(["proximal-graph"], lam="tuned")
    assert (tuned.estimator.lam, tuned.tuning) == (None, "nested")


def test_lambda_as_a_fraction_and_the_criterion_that_chooses_it():
    (fixed,) = make_methods(["proximal-graph"], lam_relative=0.1)
    assert (fixed.estimator.lam, fixed.estimator.lam_relative, fixed.tuning) == (None, 0.1, "none")
    (by_auc,) = make_methods(["proximal-graph"], lam="tuned", lam_criterion="auc")
    (by_loss,) = make_methods(["proximal-graph"], lam="tuned")
    assert (by_auc.estimator.criterion, by_auc.tuning, by_auc.setting) == ("auc", "nested", "")
    assert method_fingerprint(by_auc.estimator) != method_fingerprint(
        by_loss.estimator
    )  # never mixed in a journal
    own = make_estimator("proximal-graph:lam_relative=0.2", lam=0.5)
    assert (own.lam, own.lam_relative) == (None, 0.2)
    own = make_estimator("proximal-graph:lam=0.5", lam_relative=0.2)
    assert (own.lam, own.lam_relative) == (0.5, None)
    own = make_estimator("proximal-graph:criterion=gmean")
    assert (own.lam, own.lam_relative, own.criterion) == (None, None, "gmean")
    with pytest.raises(CatalogueError, match="lam_relative is 2; expected a number from 1e-10 to 1"):
        make_methods(["proximal-graph"], lam_relative=2)
    with pytest.raises(CatalogueError, match="unknown criterion 'aic'"):
        make_methods(["proximal-graph"], lam="tuned", lam_criterion="aic")


def smoothings(specs, **options):
    """The smoothing behind each name in a study's tables."""
    return {m.name: m.estimator.get_params().get("smoothing") for m in make_methods(specs, **options)}


def test_a_name_in_a_table_has_one_smoothing():
    assert smoothings(["hie-tan", "hie-tan-laplace"]) == {"hie-tan": "odds", "hie-tan-laplace": "laplace"}
    assert smoothings(["hie-tan", "hie-aode-lite"]) == {"hie-tan": "odds", "hie-aode-lite": "laplace"}
    assert set(smoothings(["paper"]).values()) == {"laplace", None}  # proximalGraph smooths nothing
    laplace = {"hie-tan-laplace": "laplace"}
    assert smoothings(["hie-tan"], smoothings=["laplace"]) == laplace
    assert smoothings(["hie-tan", "hie-tan-laplace"], smoothings=["laplace"]) == laplace
    assert smoothings(["hie-tan-laplace", "hie-aode"], smoothings=["odds"]) == {
        "hie-tan": "odds",
        "hie-aode-odds": "odds",
    }
    assert smoothings(["hietan.HieTAN"], smoothings=["pooled"]) == {"HieTAN-pooled": "pooled"}
    assert smoothings(["hie-ban"], smoothings=["laplace", "pooled"]) == {
        "hie-ban-laplace": "laplace",
        "hie-ban-pooled": "pooled",
    }
    assert {m.setting for m in make_methods(["bayes", "paper"])} == {"alpha=1", ""}  # ranked in one table


def test_every_title_names_the_smoothing_of_the_paper_s_methods():
    for entry in METHODS.values():
        parameters = entry.make().get_params()
        found = {value for key, value in parameters.items() if key.rpartition("__")[2] == "smoothing"}
        if found and entry.name not in method_sets()["new"]:
            (smoothing,) = found
            assert entry.title.endswith(f"({smoothing.title() if smoothing == 'laplace' else smoothing})")


@pytest.mark.parametrize(
    "name", [name for name in classifiers.__all__ if hasattr(getattr(classifiers, name), "fit")]
)
def test_every_docstring_begins_with_the_default_smoothing(name):
    classifier = getattr(classifiers, name)
    smoothing = classifier().get_params().get("smoothing")
    if smoothing is not None and issubclass(classifier, PairBayes):
        text = inspect.getdoc(classifier)
        shown = {"odds": "odds", "laplace": "Laplace"}[smoothing]
        assert text.partition("\n")[0].endswith(f"with {shown} smoothing by default.")
        assert smoothing == "laplace" or 'smoothing="laplace"' in text.partition("Parameters")[0]


def test_every_class_weighted_baseline_is_called_balanced():
    for entry in METHODS.values():
        parameters = entry.make().get_params()
        weights = [v for key, v in parameters.items() if key.rpartition("__")[2] == "class_weight"]
        is_weighted = any(weight is not None for weight in weights)
        if entry.name not in method_sets()["new"]:
            assert is_weighted == ("balanced" in entry.name) == ("balanced" in entry.title), entry.name
    assert METHODS["logistic-l2"].make().get_params()["class_weight"] is None
    plain, balanced = (METHODS[name].make() for name in ("logistic-l2", "logistic-l2-balanced"))
    assert plain.get_params() == {**balanced.get_params(), "class_weight": None}


def test_a_method_can_choose_its_own_alpha():
    (chosen,) = make_methods(["hie-ban:alpha=None"])
    assert (chosen.estimator.alpha, chosen.tuning) == (None, "nested")


def test_hie_logistic_is_nested_where_it_chooses_for_itself():
    (plain,) = make_methods(["hie-logistic"], alphas=[0.5, 2])
    assert (plain.estimator.alpha, plain.setting, plain.tuning) == (1.0, "", "none")
    varied = make_methods(["hie-logistic"], alphas=[0.5, 2], smoothings=["laplace", "pooled"])
    assert [(m.estimator.alpha, m.estimator.smoothing) for m in varied] == [
        (0.5, "laplace"),
        (0.5, "pooled"),
        (2.0, "laplace"),
        (2.0, "pooled"),
    ]
    for parameter in ("ridge", "alpha"):
        (chosen,) = make_methods([f"hie-logistic:{parameter}=None"])
        assert chosen.tuning == "nested" and getattr(chosen.estimator, parameter) is None


def test_tuning_is_nested_and_named():
    nested, both = (make_methods(["tan"], tune_alpha=True, tune_threshold=t)[0] for t in (False, True))
    assert (nested.tuning, nested.setting) == ("nested", "")
    assert both.tuning == "nested+threshold"
    assert type(both.estimator).__name__ == "TunedThresholdClassifierCV"
    assert isinstance(both.estimator.estimator, GridSearchCV)


def test_columns_are_chosen_within_the_search_within_the_threshold():
    (thinned,) = make_methods(["tan"], tune_alpha=True, tune_threshold=True, min_support=3)
    assert thinned.tuning == "support=3+nested+threshold"
    inner = thinned.estimator.estimator.estimator
    assert (inner.min_support, type(inner.estimator).__name__) == (3, "TAN")
    data = make_hierarchical_classification(120, 40, random_state=1)
    search = configure(thinned.estimator, data.hierarchy, 0).fit(data.X, data.y).estimator_
    assert search.best_params_["estimator__alpha"] in ALPHA_GRID
    support = np.asarray(data.X.sum(axis=0)).ravel()
    kept = search.best_estimator_.support_
    assert (kept == ((support >= 3) & (support < len(data.y)))).all() and 0 < kept.sum() < 40


def test_alphas_are_used_and_named_to_the_last_digit():
    alphas = [1, 1.0000001, 0.5, 0.05, 0.12345678, 0.12345679, 0.1 + 0.2, 1e-7, 2e6]
    methods = make_methods(["tan"], alphas=alphas)
    assert [m.estimator.alpha for m in methods] == alphas
    labels = [m.setting.partition(",")[0].removeprefix("alpha=") for m in methods]
    assert labels[0] == "1" and labels[2:5] == ["0.5", "0.05", "0.12345678"]
    assert list(map(float, labels)) == alphas


def test_names_with_parameters_and_import_paths():
    path = "sklearn.linear_model.LogisticRegression:C=0.1,class_weight=balanced"
    methods = make_methods([path, "tan:alpha=2"])
    assert [m.name for m in methods] == ["LogisticRegression:C=0.1,class_weight=balanced", "tan:alpha=2"]
    assert methods[0].estimator.C == 0.1 and methods[1].estimator.alpha == 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tna", "unknown method 'tna'; did you mean 'tan'?"),
        ("forest", "unknown method 'forest'; did you mean 'random-forest'?"),
        ("tan,hie-tan", "to use several methods, repeat the option: --methods A --methods B"),
        ("tan:alhpa=1", "no parameter 'alhpa'; did you mean 'alpha'?"),
        ("tan:alpha", "expected parameters as name=value, found 'alpha'"),
        ("no.such.Thing", "cannot be imported"),
        (
            "os.path.join",
            "is not a scikit-learn classifier; expected the import path of a class with fit, predict",
        ),
        ("collections.OrderedDict", "is not a scikit-learn classifier"),
        ("sklearn.preprocessing.MaxAbsScaler", "is not a scikit-learn classifier"),
        ("sklearn.model_selection.GridSearchCV", "cannot be created without arguments"),
    ],
)
def test_unknown_methods_and_parameters(spec, message):
    with pytest.raises(CatalogueError) as caught:
        make_methods([spec])
    assert message in str(caught.value)


def test_nothing_but_a_classifier_is_called(tmp_path, monkeypatch):
    (tmp_path / "hostile.py").write_text(
        "from sklearn.naive_bayes import BernoulliNB\n"
        "calls = []\n"
        "def function():\n    calls.append('function')\n    return BernoulliNB()\n"
        "class Callable:\n    def __call__(self):\n        calls.append('object')\n"
        "    fit = predict = get_params = __call__\n"
        "class Plain:\n    def __init__(self):\n        calls.append('class')\n"
        "instance = Callable()\n"
    )
    (tmp_path / "ends_itself.py").write_text("raise SystemExit('bye')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("function", "instance", "Plain", "calls"):
        with pytest.raises(CatalogueError, match=f"'hostile.{name}' is not a scikit-learn classifier"):
            make_estimator(f"hostile.{name}")
    from hostile import calls

    assert calls == []
    with pytest.raises(CatalogueError, match=r"'ends_itself.Thing' cannot be imported \(bye\)"):
        make_estimator("ends_itself.Thing")


def test_unknown_smoothing():
    with pytest.raises(CatalogueError, match="unknown smoothing 'poled'; did you mean 'pooled'?"):
        make_methods(["tan"], smoothings=["laplace", "poled"])
