"""The public names are listed twice, for users and for type checkers: both lists say the same."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import hietan


def names_for_type_checkers():
    """Each name under `if TYPE_CHECKING` with the module that it is imported from."""
    tree = ast.parse(Path(hietan.__file__).read_text(encoding="utf-8"))
    (block,) = [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    return {alias.name: statement.module for statement in block.body for alias in statement.names}


def test_both_lists_have_the_same_names():
    assert sorted(names_for_type_checkers()) == sorted(set(hietan.__all__) - {"__version__"})


@pytest.mark.parametrize(("name", "home"), names_for_type_checkers().items())
def test_a_name_is_what_type_checkers_take_it_for(name, home):
    assert getattr(hietan, name) is getattr(import_module(home), name)


def test_every_classifier_and_selection_can_be_imported_from_the_top():
    classifiers, selection = import_module("hietan.classifiers"), import_module("hietan.selection")
    estimators = {name for name in classifiers.__all__ if hasattr(getattr(classifiers, name), "fit")}
    estimators |= {name for name in selection.__all__ if hasattr(getattr(selection, name), "transform")}
    assert estimators == {name for name in hietan.__all__ if hasattr(getattr(hietan, name), "fit")}


@pytest.mark.parametrize(
    ("name", "unneeded"), [("HierarchyWarning", "numpy"), ("Hierarchy", "sklearn"), ("Tree", "sklearn")]
)
def test_a_name_loads_no_more_than_it_needs(name, unneeded):
    code = f"import sys, hietan; hietan.{name}; sys.exit({unneeded!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
