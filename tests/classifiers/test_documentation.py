"""The documentation of every estimator names all its parameters and attributes, and says what is true of them."""

import ast
import inspect
import re

import numpy as np
import pandas as pd
import pytest

import hietan
from hietan import GTD, TAN, _kernel, classifiers, selection
from hietan.datasets import make_hierarchical_classification

ESTIMATORS = [
    estimator
    for room in (classifiers, selection)
    for estimator in (getattr(room, name) for name in room.__all__)
    if hasattr(estimator, "fit")
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)


def documented(estimator, title):
    """The entries of a section of the class docstring: name -> (type, description).

    Entries shared with another class are described there: either all ("are the same as for") or some entries, whose
    names stand together.
    """
    text = inspect.cleandoc(vars(estimator)["__doc__"])
    whole = re.search(r"The parameters and attributes are the same as for :class:`(\w+)`", text)
    if whole:
        return documented(getattr(hietan, whole[1]), title)
    lines = text.splitlines()
    start = lines.index(title)
    assert lines[start + 1] == "-" * len(title)
    entries, names, kind = {}, [], ""
    for line in lines[start + 2 :]:
        if not line:
            break
        if not line.startswith(" "):
            listed, separator, kind = line.partition(" : ")
            names = listed.split(", ")
            assert separator or len(names) > 1, f"expected 'name : type', found {line!r}"
            continue
        other = re.match(r"    As for :class:`(\w+)`\.", line)
        for name in names:
            if other:
                kind, description = documented(getattr(hietan, other[1]), title)[name]
                entries[name] = (kind, description + line[other.end() :])
            else:
                known = entries.get(name, (kind, ""))
                entries[name] = (known[0], f"{known[1]} {line.strip()}".strip())
    return entries


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


@every_estimator
def test_every_parameter_is_documented_with_its_default(estimator):
    found = documented(estimator, "Parameters")
    assert set(found) == set(parameters(estimator))
    for name, default in parameters(estimator).items():
        kind, text = found[name]
        described, separator, value = kind.partition(", default ")
        if default is inspect.Parameter.empty:
            assert not separator, f"{name} has no default"
        else:
            assert ast.literal_eval(value) == default, name
        assert described and text.endswith("."), f"{name} is described in full sentences"
        if name == "smoothing":
            kinds = ", ".join(f'"{known}"' for known in _kernel.SMOOTHINGS)
            assert kind.startswith(f"{{{kinds}}}, ")


def test_every_fitted_attribute_is_documented_and_there(fitted):
    sizes = {"n_classes": 2, "n_features": 12}
    held = {*vars(fitted), *(n for n, v in inspect.getmembers(type(fitted)) if isinstance(v, property))}
    held = {name for name in held if name.endswith("_") and not name.startswith("_")}
    known = documented(type(fitted), "Attributes")
    # Lazy trees refer to TAN, and say what they do not have.
    missing = set(
        re.findall(r"`(\w+_)`", inspect.getdoc(type(fitted)).partition(", without")[2].partition(".")[0])
    )
    only = {name for name, (_, text) in known.items() if 'Only with the model "' in text}
    assert set(known) - missing - only == held
    for name in held:
        kind, text = known[name]
        assert kind and text.endswith("."), name
        if "array of shape" in kind:
            shapes = []
            for shape in kind.partition("array of shape ")[2].split(" or "):
                parts = [part.strip() for part in shape.strip("()").split(",") if part.strip()]
                shapes.append(tuple(sizes[part] if part in sizes else int(part) for part in parts))
            assert np.shape(getattr(fitted, name)) in shapes, name


@every_estimator
def test_every_public_method_has_a_docstring(estimator):
    own = {n: v for c in estimator.__mro__ if c.__module__.startswith("hietan") for n, v in vars(c).items()}
    public = [n for n, v in own.items() if not n.startswith("_") and (callable(v) or isinstance(v, property))]
    assert [name for name in public if not inspect.getdoc(getattr(estimator, name))] == []
