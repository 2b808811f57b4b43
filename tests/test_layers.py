"""Imports point one way: files -> matrix + hierarchy -> structure -> classifiers -> studies -> report -> cli."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "hietan"
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
pytestmark = pytest.mark.source
# What each room may know, besides itself, `exceptions` and the rooms whose names begin with an underscore.
MAY_IMPORT = {
    "exceptions": set(),
    "hierarchy": set(),
    "structure": {"hierarchy"},
    "explain": {"hierarchy", "structure"},
    "classifiers": {"hierarchy", "structure", "explain"},
    "selection": {"hierarchy", "structure", "explain", "classifiers"},
    "persistence": {"hierarchy", "structure", "classifiers", "selection", "scores"},
    "datasets": {"hierarchy"},
    "scores": set(),
    "evaluation": {"scores"},
    "catalogue": {"classifiers", "selection", "datasets", "scores", "evaluation"},
    "models": {"hierarchy", "explain", "persistence", "datasets", "scores"},
    "report": {"explain", "models", "scores", "evaluation"},
    "cli": {
        "explain",
        "classifiers",
        "selection",
        "datasets",
        "evaluation",
        "catalogue",
        "scores",
        "models",
        "persistence",
        "report",
    },
}


def imported_rooms(file):
    """The packages of ours that a file imports from, at its top, in functions or from the front door.

    Imports under `if TYPE_CHECKING` do not count.
    """
    waiting = [TREES[file]]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        waiting += ast.iter_child_nodes(node)
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file} has relative imports"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("hietan."))


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_point_one_way(room):
    for file in [*SOURCE.glob(f"{room}.py"), *SOURCE.glob(f"{room}/**/*.py")]:
        strangers = {r for r in imported_rooms(file) if not r.startswith("_")} - MAY_IMPORT[room]
        if file == SOURCE / "evaluation" / "_study" / "results.py":
            strangers -= {"report"}  # StudyResults.report shows the report of a study
        assert strangers <= {room, "exceptions"}, f"{file.relative_to(SOURCE)} imports {strangers}"


def test_the_stated_orders_agree_with_the_rules():
    root = SOURCE.parents[1]
    text = (root / "docs" / "adding-a-method.md").read_text(encoding="utf-8")
    order = re.findall(r"`(\w+)`", re.search(r"The order is (.*?)\.", text, re.DOTALL)[1])
    assert {*order, "datasets", "scores", "evaluation", "exceptions"} == set(MAY_IMPORT)
    for k, room in enumerate(order):
        assert MAY_IMPORT[room] <= {*order[:k], "datasets", "scores", "evaluation"}, room
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    stated = re.search(r"Imports point one way: (.*?)\.", text, re.DOTALL)[1]
    assert [word for word in re.findall(r"\w+", stated) if word in order] == order


def test_every_room_is_known():
    rooms = {
        path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert {room for room in rooms if not room.startswith("_")} == set(MAY_IMPORT)


def test_private_rooms_stand_below_every_other():
    for file in [*SOURCE.glob("_*.py"), *SOURCE.glob("_*/**/*.py")]:
        if file not in (SOURCE / "__init__.py", SOURCE / "__main__.py"):
            others = {room for room in imported_rooms(file) if not room.startswith("_")}
            assert others <= {"exceptions"}, f"{file.relative_to(SOURCE)} imports {others}"


def test_the_library_does_not_print():
    for file, tree in TREES.items():
        if "cli" in file.parts:
            continue
        for node in ast.walk(tree):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
            assert called != "print", f"{file.relative_to(SOURCE)} prints"


def test_reading_files_does_not_load_scikit_learn():
    """It is three quarters of the import's memory."""
    code = "import sys, hietan, hietan.datasets; hietan.Hierarchy; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_library_half_of_the_commands_needs_no_typer():
    code = """
import sys
sys.modules["typer"] = sys.modules["rich"] = None
import hietan.models, hietan.catalogue, hietan.report
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("command", ["--version", "--help", "study --help", "fit --help", "build --help"])
def test_the_command_line_starts_without_the_library(command):
    """A word of help should not take seconds; NumPy and scikit-learn are nearly all of them."""
    code = f"""
import sys
from hietan.cli._app import make_app
try:
    make_app()({command.split()})
except SystemExit as end:
    assert not end.code, end.code
heavy = {{"sklearn", "scipy", "numpy", "pandas", "hietan.datasets", "hietan.evaluation"}} & set(sys.modules)
sys.exit(f"loaded: {{sorted(heavy)}}" if heavy else 0)
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "hietan" in ended.stdout or "Usage" in ended.stdout
