"""Every numeric parameter of the public names, with every odd number: accepted with a sound result, or refused."""

import inspect
import math
import warnings

import numpy as np
import pytest

import hietan
from hietan import datasets, evaluation, structure
from hietan.candidates import train_model
from hietan.catalogue import make_methods
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import pooled_predictions
from hietan.exceptions import HietanError
from hietan.selection import MinSupport
from support.faults import Faults
from support.faults.text_files import CSV, GAF, OBO

HUGE = (2**63, -(2**63), 10**400)
ODD = (0, -1, -0.0, 0.5, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, *HUGE)
REFUSED = (ValueError, TypeError, HietanError)
DATA = make_hierarchical_classification(30, 8, random_state=0)
X, Y = DATA.X.toarray(), DATA.y
ESTIMATORS = (*(name for name in hietan.__all__ if hasattr(getattr(hietan, name), "fit")), "MinSupport")


def numeric(call):
    """The parameters of a callable that take a number."""
    found = inspect.signature(call).parameters.values()
    named = [p for p in found if p.name in ("random_state", "seed", "seeds", "lam")]
    by_default = [p for p in found if type(p.default) in (int, float) or "float" in str(p.annotation)]
    by_type = [p for p in found if str(p.annotation).split(" | ")[0] in ("int", "float")]
    return list(dict.fromkeys(p.name for p in (*named, *by_default, *by_type)))


def sound(result):
    """Whether there is a NaN or an infinity in the numbers of a result."""
    return not isinstance(result, np.ndarray) or result.dtype.kind != "f" or bool(np.isfinite(result).all())


def attempt(faults, case, call):
    faults.injected += 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call()
    except REFUSED:
        faults.refused += 1
    except Exception as error:
        faults.note("foreign", f"{case}: {type(error).__name__}: {error}")
    else:
        if not sound(result):
            faults.note("changed", f"{case}: {result}")


def fitted_answer(name, parameters):
    if name == "MinSupport":
        return MinSupport(**parameters).fit(X, Y).transform(X)
    known = {"max_iter": 5} if name == "ProximalGraph" and "max_iter" not in parameters else {}
    model = getattr(hietan, name)(hierarchy=DATA.hierarchy, **parameters, **known)
    return model.fit(X, Y).predict_proba(X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_of_estimators(name):
    kind = MinSupport if name == "MinSupport" else getattr(hietan, name)
    faults, parameters = Faults(f"odd parameters of {name}"), numeric(kind)
    assert parameters
    for parameter in parameters:
        for value in ODD:
            case = f"{name}({parameter}={value!r:.30})"
            attempt(faults, case, lambda p=parameter, v=value: fitted_answer(name, {p: v}))
    faults.finish()


ELSEWHERE = ("job_timeout",)  # starts processes; tests/evaluation/test_time_limit.py tries what it may be
RANKS = {"a": 1.2, "b": 2.0, "c": 2.8}
# How to call the public functions that take a number: everything but the number that is odd.
CALLS = {
    make_hierarchical_classification: {"n_samples": 20, "n_features": 6},
    pooled_predictions: {"estimator": hietan.TAN(), "data": DATA, "n_splits": 3},
    evaluation.run_study: {"datasets": [DATA], "methods": {"TAN": hietan.TAN()}, "cv": 2},
    evaluation.nemenyi: {"average_ranks": RANKS, "n_datasets": 5},
    structure.prox_graph: {"u": np.linspace(-1, 1, 8), "hierarchy": DATA.hierarchy, "lam": 0.1},
    structure.BinaryRows.from_matrix: {"X": X},
    train_model: {"estimator": hietan.TAN(), "data": DATA},
    make_methods: {"names": ["tan", "proximal-graph"]},
    DATA.hierarchy.violations: {"X": X},
    datasets.build_dataset: {"ontology": None, "annotations": None, "labels": None},
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_arguments_of_functions(tmp_path, call):
    faults, known = Faults(f"odd arguments of {call.__qualname__}"), dict(CALLS[call])
    if call is datasets.build_dataset:
        for name, text in (("ontology", OBO), ("annotations", GAF), ("labels", CSV)):
            (tmp_path / name).write_text(text)
            known[name] = tmp_path / name
    parameters = [name for name in numeric(call) if name not in ELSEWHERE]
    assert parameters
    for parameter in parameters:
        for value in ODD:
            attempt(
                faults, f"{parameter}={value!r:.30}", lambda p=parameter, v=value: call(**{**known, p: v})
            )
    faults.finish()
