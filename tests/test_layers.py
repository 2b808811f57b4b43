"""Imports point one way: files -> matrix + hierarchy -> structure -> classifiers -> studies -> report -> cli."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import hietan

SOURCE = Path(hietan.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
# What each room may know, besides itself, `exceptions` and the rooms whose names begin with an underscore.
MAY_IMPORT = {
    "exceptions": set(),
    "hierarchy": set(),
    "structure": {"hierarchy"},
    "explain": {"hierarchy", "structure"},
    "classifiers": {"hierarchy", "structure", "explain"},
    "selection": {"hierarchy", "structure", "explain", "classifiers"},
    "persistence": {"hierarchy", "structure", "classifiers", "selection"},
    "datasets": {"hierarchy"},
    "evaluation": set(),
    "catalogue": {"classifiers", "selection", "datasets", "evaluation"},
    "candidates": {"datasets", "evaluation", "persistence", "explain"},
    "report": {"hierarchy", "explain", "evaluation", "candidates"},
    "cli": {"classifiers", "datasets", "evaluation", "catalogue", "candidates", "persistence", "report"},
}


def name_of(file):
    """The module of a file, as it is imported."""
    parts = ("hietan", *file.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in FILES}
KERNEL = "hietan._kernel"  # compiled


def is_for_type_checkers(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def nodes_below(node, typing):
    """All nodes below; with what only a type checker sees, or without."""
    for child in ast.iter_child_nodes(node):
        if typing or not is_for_type_checkers(child):
            yield child
            yield from nodes_below(child, typing)


@cache
def imported_names(file, typing=False):
    """The dotted names within hietan that a file imports, wherever in the file."""
    found = []
    for node in nodes_below(ast.parse(file.read_text(encoding="utf-8")), typing):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide where they point"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.startswith("hietan.")]


def imported_rooms(file):
    """The rooms of hietan that a file imports, wherever in the file."""
    return {name.split(".")[1] for name in imported_names(file)}


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_point_one_way(room):
    for file in [*SOURCE.glob(f"{room}.py"), *SOURCE.glob(f"{room}/**/*.py")]:
        strangers = {r for r in imported_rooms(file) if not r.startswith("_")} - MAY_IMPORT[room]
        assert strangers <= {room, "exceptions"}, f"{file.relative_to(SOURCE)} imports {strangers}"


def test_every_room_is_known():
    rooms = {
        path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert {room for room in rooms if not room.startswith("_")} == set(MAY_IMPORT)


def test_private_rooms_stand_below_every_other():
    for file in [*SOURCE.glob("_*.py"), *SOURCE.glob("_*/**/*.py")]:
        if file != SOURCE / "__init__.py":
            others = {room for room in imported_rooms(file) if not room.startswith("_")}
            assert others <= {"exceptions"}, f"{file.relative_to(SOURCE)} imports {others}"


# ------------------------------------------------------------------ cycles


def import_graph(typing):
    """Which modules each module imports; a name of a package is the package, unless it is a module of it."""
    graph = {}
    for module, file in MODULES.items():
        names = (name for name in imported_names(file, typing) if name != KERNEL)
        homes = {name if name in MODULES else name.rpartition(".")[0] for name in names}
        graph[module] = homes & MODULES.keys() - {module}
    return graph


def cycles(graph):
    """The sets of modules that all import each other, directly or through others."""

    def reached(start):
        seen, todo = set(), list(graph[start])
        while todo:
            module = todo.pop()
            if module not in seen:
                seen.add(module)
                todo += graph[module]
        return seen

    below = {module: reached(module) for module in graph}
    knots = {frozenset(m for m in below[module] if module in below[m]) for module in graph}
    return {tuple(sorted(knot)) for knot in knots if knot}


def test_the_search_finds_cycles():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert cycles(graph) == {("b", "c")}


@pytest.mark.parametrize("typing", [False, True], ids=["run time", "type checking"])
def test_no_modules_import_each_other(typing):
    """Not within functions either."""
    assert cycles(import_graph(typing)) == set()


# ------------------------------------------------------------------ private names


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name != "_"


def private_imports(module, file):
    """What a module imports that is private to another one, or to another folder."""
    for name in imported_names(file, typing=True):
        parts = name.split(".")
        is_module = name in MODULES or name == KERNEL
        if is_private(parts[-1]) and not is_module:
            yield name
        for k in range(2, len(parts)):  # names right below hietan are for every room
            folder = ".".join(parts[:k])
            if is_private(parts[k]) and is_module and not f"{module}.".startswith(f"{folder}."):
                yield name


def test_nobody_imports_private_names():
    """A module whose name begins with an underscore is for its own folder, and a private name for its own module."""
    found = {(module, name) for module, file in MODULES.items() for name in private_imports(module, file)}
    old_pickles = ("hietan.hierarchy", "hietan.hierarchy._hierarchy._unpickle")  # they look for it there
    assert found <= {old_pickles}


def private_attributes(tree):
    """Private names that a module looks up on objects other than `self`, `cls` and `super()`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls", "super()"):
                yield node.attr, node.lineno


def names_defined(tree):
    """Functions, attributes of `self` and class attributes that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("module", MODULES)
def test_private_attributes_are_those_of_the_module_itself(module):
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    own = set(names_defined(tree))
    strange = [(name, line) for name, line in private_attributes(tree) if name not in own]
    assert not strange, f"{module} uses private names of other modules: {strange}"


# ------------------------------------------------------------------ other habits


def test_the_library_does_not_print():
    for file in FILES:
        if "cli" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
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
import hietan.candidates, hietan.catalogue, hietan.report
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("command", ["--version", "--help", "study --help", "fit --help", "build --help"])
def test_the_command_line_starts_without_the_library(command):
    """A word of help should not take seconds; NumPy and scikit-learn are nearly all of them."""
    code = f"""
import sys
from hietan.cli.app import make_app
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


def test_every_public_name_is_there():
    assert all(getattr(hietan, name) is not None for name in hietan.__all__)
    assert set(hietan.__all__) <= set(dir(hietan))
    with pytest.raises(AttributeError, match="no attribute 'Hietan'"):
        hietan.Hietan  # noqa: B018
