"""Every numeric parameter of the public names, with every odd number: accepted with a sound result, or refused."""

import inspect
import math
import re
import warnings
from dataclasses import asdict, is_dataclass
from typing import get_type_hints

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import hietan
from hietan import datasets, evaluation, structure
from hietan.catalogue._estimators import make_methods
from hietan.cli._app import make_app
from hietan.datasets import make_hierarchical_classification
from hietan.exceptions import HietanError
from hietan.models import train_model
from hietan.scores import cross_validate
from hietan.selection import MinSupport
from hietan.structure._rows import BinaryRows
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
    """Whether there is neither NaN nor infinity in the numbers of a result."""
    if is_dataclass(result):
        result = vars(result) if hasattr(result, "__dict__") else asdict(result)
    if isinstance(result, dict):
        return all(map(sound, result.values()))
    if isinstance(result, list | tuple):
        return all(map(sound, result))
    if isinstance(result, float):
        return math.isfinite(result)
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
    fitted = model.fit(X, Y)
    return fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else fitted.transform(X)


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


# How to call the public functions that take a number: everything but the number that is odd.
CALLS = {
    make_hierarchical_classification: {"n_samples": 20, "n_features": 6},
    cross_validate: {"estimator": hietan.TAN(), "dataset": DATA, "n_splits": 3},
    structure.prox_graph: {"u": np.linspace(-1, 1, 8), "hierarchy": DATA.hierarchy, "lam": 0.1},
    BinaryRows.from_matrix: {"X": X},
    train_model: {"estimator": hietan.TAN(), "data": DATA},
    datasets.closest_features: {"data": DATA},
    make_methods: {"names": ["tan", "proximal-graph"]},
    DATA.hierarchy.violations: {"X": X},
    datasets.BuildOptions: {},
}


def built(call):
    return datasets.build_dataset if call is datasets.BuildOptions else call


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_arguments_of_functions(tmp_path, call):
    faults, known = Faults(f"odd arguments of {call.__qualname__}"), dict(CALLS[call])
    if call is datasets.BuildOptions:
        for name, text in (("ontology", OBO), ("annotations", GAF), ("labels", CSV)):
            (tmp_path / name).write_text(text)
            known[name] = tmp_path / name
    parameters = [name for name in numeric(call) if name not in ("average_ranks", "scores")]
    assert parameters
    for parameter in parameters:
        for value in ODD:
            attempt(
                faults,
                f"{parameter}={value!r:.30}",
                lambda p=parameter, v=value: built(call)(**{**known, p: v}),
            )
    faults.finish()


# ------------------------------------------------------------------ the command line

ODD_TEXTS = ("-1", "0", "-0.0", "0.5", "nan", "inf", "-inf", "1e308", "1e-320", "9" * 30, "9" * 500, "x", "")
STUDY = (
    "study --data DATA --methods tan --methods proximal-graph --folds 2 --no-figures --no-report -q -o OUT"
)
COMMANDS = {
    "build": "build --ontology OBO --annotations GAF --labels CSV -o OUT",
    "compare": "compare STUDY",
    "demo": "demo --data DATA --folds 2 --genes 1",
    "evaluate": "evaluate MODEL DATA",
    "explain": "explain MODEL DATA --gene x0",
    "fit": "fit DATA -m tan -o OUT",
    "predict": "predict MODEL DATA -o OUT",
    "study": STUDY,
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    DATA.save(folder / "DATA")
    train_model(hietan.TAN(), DATA, method="tan").save(folder / "MODEL")
    evaluation.run_study([DATA], {"TAN": hietan.TAN(), "HIP": hietan.HIPNB()}, cv=2, output=folder / "STUDY")
    for name, text in (("OBO", OBO), ("GAF", GAF), ("CSV", CSV)):
        (folder / name).write_text(text)
    return folder


def numeric_options(command):
    """The options of a command that take a number."""
    hints = get_type_hints(command.callback)
    return [
        option.opts[0]
        for option in command.params
        if option.name == "lam" or re.search(r"\b(int|float)\b", str(hints.get(option.name)))
    ]


APP = typer.main.get_command(make_app())


def test_no_command_that_takes_a_number_is_forgotten():
    assert {name for name, command in APP.commands.items() if numeric_options(command)} == set(COMMANDS)


def ending_of(words):
    """The exit code of a command, or the exception that it lets through."""
    try:
        return APP.main(words, prog_name="hietan")
    except SystemExit as ended:
        return ended.code
    except Exception as error:
        return error


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_commands(tmp_path, inputs, name, capsys):
    """Accepted, or refused in a line and before anything is written."""
    faults = Faults(f"odd options of {name}")
    for option in numeric_options(APP.commands[name]):
        for number, text in enumerate(ODD_TEXTS):
            out = tmp_path / f"{option}-{number}"
            words = [
                str(out) if word == "OUT" else str(inputs / word) if word.isupper() else word
                for word in COMMANDS[name].split()
            ]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # otherwise a job that warns would fail in these tests
                ended = ending_of([*words, f"{option}={text}"])
            faults.injected += 1
            faults.refused += ended != 0
            case = f"{name} {option}={text:.40}: {ended!r}: {''.join(capsys.readouterr())[-300:]}"
            if ended not in (0, 2):
                faults.note("foreign", case)
            elif ended and out.exists():
                faults.note("changed", f"{case}; refused, but after it was begun")
    faults.finish()


def test_a_row_to_explain_is_looked_for_before_the_jobs_run(tmp_path, inputs):
    words = STUDY.replace("DATA", str(inputs / "DATA")).replace("OUT", str(tmp_path / "out")).split()
    result = CliRunner().invoke(make_app(), [*words, "--genes", "nobody"])
    assert result.exit_code == 2 and "no dataset in the study contains row 'nobody'" in result.output
    assert not (tmp_path / "out").exists()
