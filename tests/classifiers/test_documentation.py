"""The documentation of every estimator is written in its class, and says what is true of it."""

import ast
import inspect
from itertools import groupby

import numpy as np
import pandas as pd
import pytest

import hietan
from hietan import GTD, TAN, classifiers, selection
from hietan.datasets import make_hierarchical_classification

ESTIMATORS = [
    estimator
    for room in (classifiers, selection)
    for estimator in (getattr(room, name) for name in room.__all__)
    if hasattr(estimator, "fit")
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)


def section(estimator, title):
    """The entries of a section of the class docstring: name -> (type, description)."""
    lines = inspect.cleandoc(vars(estimator)["__doc__"]).splitlines()
    start = lines.index(title)
    assert lines[start + 1] == "-" * len(title)
    entries, name = {}, ""
    for line in lines[start + 2 :]:
        if not line:
            break
        if line.startswith(" "):
            entries[name][1].append(line.strip())
        else:
            name, separator, kind = line.partition(" : ")
            assert separator and name not in entries, f"expected 'name : type', found {line!r}"
            entries[name] = (kind, [])
    return {name: (kind, " ".join(words)) for name, (kind, words) in entries.items()}


# What is another thing in one classifier than in all others, and so has a description of its own.
OF_ITS_OWN_KIND = {
    "LazySelection": {"counts_", "root_order_"},
    "GTD": {"scores_"},
    "SHSEL": {"scores_"},
    "TSEL": {"scores_"},
    "HieBAN": {"alpha", "smoothing", "counts_", "feature_log_prob_", "calibrate", "temperature_"},
    "HierarchyEncoder": {"hierarchy", "min_support", "support_", "hierarchy_"},
    "ProximalGraph": {"class_weight"},
    "HieLogistic": {"alpha", "class_weight", "counts_", "coef_", "intercept_", "n_iter_", "gap_"},
}


def parameters(estimator):
    signature = inspect.signature(estimator.__init__)
    return {name: p.default for name, p in signature.parameters.items() if name != "self"}


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda e: e.__name__)
def fitted(request):
    data = make_hierarchical_classification(40, 12, density=0.3, random_state=0)
    X = pd.DataFrame(data.X.toarray(), columns=data.feature_names)
    estimator = request.param
    needed = {"estimator": TAN(), "selector": GTD(), "hierarchy": data.hierarchy}
    required = [name for name, default in parameters(estimator).items() if default is inspect.Parameter.empty]
    return estimator(**{name: needed[name] for name in required}).fit(X, data.y)


def test_all_estimators_are_found():
    names = {estimator.__name__ for estimator in ESTIMATORS}
    assert names >= {"TAN", "HieTAN", "HieTANLite", "HRETAN", "AODE", "HieAODE", "HieAODELite", "HIPNB"}
    assert "HieBAN" in names
    assert names >= {
        "ProximalGraph",
        "MinSupport",
        "SelectedColumns",
        "LazySelection",
        "GTD",
        "SHSEL",
        "TSEL",
    }


@every_estimator
def test_the_constructor_and_the_docstring_are_in_the_source_of_the_class(estimator):
    (definition,) = ast.parse(inspect.getsource(estimator)).body
    (constructor,) = [
        node for node in definition.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    written = [a.arg for a in constructor.args.args[1:] + constructor.args.kwonlyargs]
    assert written == list(parameters(estimator))
    assert constructor.args.vararg is None and constructor.args.kwarg is None
    assert inspect.cleandoc(ast.get_docstring(definition)) == inspect.getdoc(estimator)


@every_estimator
def test_all_kinds_of_smoothing_are_named(estimator):
    if "smoothing" in parameters(estimator):
        kind, text = section(estimator, "Parameters")["smoothing"]
        kinds = ", ".join(f'"{name}"' for name in classifiers.SMOOTHINGS)
        assert kind.startswith(f"{{{kinds}}}, ") and all(
            f'"{name}"' in text for name in classifiers.SMOOTHINGS
        )


@every_estimator
def test_every_parameter_is_documented_in_its_place_with_its_default(estimator):
    documented = section(estimator, "Parameters")
    assert list(documented) == list(parameters(estimator))
    for name, default in parameters(estimator).items():
        kind, text = documented[name]
        described, separator, value = kind.partition(", default ")
        if default is inspect.Parameter.empty:
            assert not separator, f"{name} has no default"
        else:
            found = ast.literal_eval(value)
            assert found == default and type(found) is type(default), name
        assert described and text.endswith("."), f"{name} is described in full sentences"


def test_every_fitted_attribute_is_documented_and_there(fitted):
    estimator = type(fitted)
    held = {*vars(fitted), *(n for n, v in inspect.getmembers(estimator) if isinstance(v, property))}
    documented = section(estimator, "Attributes")
    not_always = set(of_some_models(estimator))
    held = {name for name in held if name.endswith("_") and not name.startswith("_")}
    assert set(documented) - not_always == held - not_always
    for name, (kind, text) in documented.items():
        assert (name in not_always or hasattr(fitted, name)) and kind and text.endswith("."), name


def of_some_models(estimator):
    """The attributes that only some values of the parameter `model` give: name -> that value."""
    documented = {name: text for name, (_, text) in section(estimator, "Attributes").items()}
    words = 'Only with the model "'
    return {n: t.partition(words)[2].partition('"')[0] for n, t in documented.items() if words in t}


@every_estimator
def test_attributes_of_some_models_are_there_with_these_alone(estimator):
    for name, model in of_some_models(estimator).items():
        for other in ("naive-bayes", "tan", "nearest"):
            fitted = estimator(model=other).fit(np.eye(4), [0, 1, 0, 1])
            assert hasattr(fitted, name) == (other == model), name


def test_documented_shapes_are_those_of_the_arrays(fitted):
    sizes = {"n_classes": 2, "n_features": 12}
    for name, (kind, _) in section(type(fitted), "Attributes").items():
        if "array of shape" in kind and name not in of_some_models(type(fitted)):
            shapes = []
            for shape in kind.partition("array of shape ")[2].split(" or "):
                parts = [part.strip() for part in shape.strip("()").split(",") if part.strip()]
                shapes.append(tuple(sizes[part] if part in sizes else int(part) for part in parts))
            assert np.shape(getattr(fitted, name)) in shapes, name


@pytest.mark.parametrize("title", ["Parameters", "Attributes"])
def test_what_estimators_share_is_described_with_the_same_words(title):
    entries = sorted(
        (name, *entry)
        for e in ESTIMATORS
        for name, entry in section(e, title).items()
        if name not in OF_ITS_OWN_KIND.get(e.__name__, ())
    )
    for name, same in groupby(entries, key=lambda entry: entry[0]):
        assert len(set(same)) == 1, f"{name} has several descriptions"


@every_estimator
def test_every_public_method_has_a_docstring(estimator):
    own = {n: v for c in estimator.__mro__ if c.__module__.startswith("hietan") for n, v in vars(c).items()}
    public = [n for n, v in own.items() if not n.startswith("_") and (callable(v) or isinstance(v, property))]
    assert [name for name in public if not inspect.getdoc(getattr(estimator, name))] == []


def test_a_notebook_links_each_parameter_to_its_description(fitted, monkeypatch):
    monkeypatch.setenv("HIETAN_DOCS", "file:///docs/")
    estimator = type(fitted)
    package = "hietan" if hasattr(hietan, estimator.__name__) else "hietan.selection"
    page = f"file:///docs/generated/api/{package}.{estimator.__name__}.html"
    shown = fitted._repr_html_()
    assert f'href="{page}"' in shown
    if "param-doc-link" in shown:  # scikit-learn 1.8 and later
        for name in parameters(estimator):
            assert f'href="{page}#:~:text={name}' in shown
    monkeypatch.delenv("HIETAN_DOCS")
    assert "/generated/api/" not in fitted._repr_html_()  # no address of the site is known
