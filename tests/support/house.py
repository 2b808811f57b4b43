"""Measures of the code: how full its folders are, how long its functions, who imports and calls whom.

python tests/support/house.py [ROOT] prints them as a table, for this tree or another one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "hietan"
CODE = {".py", ".hpp", ".cpp", ".js", ".css", ".html"}
LIMITS = {"top level": 18, "folder": 14, "function": 60, "file": 450}
# Named tuples, and what Python itself calls, have public names that begin with an underscore.
PUBLIC_ALL_THE_SAME = {"_replace", "_asdict", "_fields", "_make", "_exit"}


@dataclass(frozen=True, order=True)
class Place:
    """Something measured: a number, and where."""

    size: int
    where: str


@dataclass(frozen=True)
class Tree:
    """A checkout of the repository."""

    root: Path

    @property
    def package(self) -> Path:
        return self.root / "src" / PACKAGE

    @cache  # noqa: B019 - trees live as long as the program
    def modules(self) -> dict[str, ast.Module]:
        """The modules of the package by their dotted names."""
        return {self.dotted(path): ast.parse(path.read_text(encoding="utf-8")) for path in self.python()}

    def python(self) -> list[Path]:
        return sorted(self.package.rglob("*.py"))

    def dotted(self, path: Path) -> str:
        parts = path.relative_to(self.package.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def sources(self, *folders: str) -> Iterator[Path]:
        """The files of code below some folders, except for what is installed or built."""
        for folder in folders:
            for path in sorted((self.root / folder).rglob("*")):
                if path.suffix in CODE and not {"node_modules", "__pycache__"} & set(path.parts):
                    yield path

    def name(self, path: Path) -> str:
        return str(path.relative_to(self.root))


# ------------------------------------------------------------------------------------ folders and files


def top_level(tree: Tree) -> list[str]:
    """What a reader of the package sees first."""
    entries = (path.name for path in tree.package.iterdir())
    return sorted(name for name in entries if name != "__pycache__" and not name.endswith((".so", ".pyd")))


def folders(tree: Tree) -> list[Place]:
    """How many modules each folder has."""
    count: dict[str, int] = {}
    for path in tree.sources("src", "kernel", "tests", "benchmarks", "reproduction"):
        if path.stem not in ("__init__", "__main__"):  # they represent the folder itself
            folder = tree.name(path.parent)
            count[folder] = count.get(folder, 0) + 1
    return _largest_first(Place(size, folder) for folder, size in count.items())


def files(tree: Tree) -> list[Place]:
    """The lines of each file of the product."""
    return _largest_first(
        Place(len(path.read_text(encoding="utf-8").splitlines()), tree.name(path))
        for path in tree.sources("src", "kernel")
    )


def _largest_first(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: (-place.size, place.where))


# ------------------------------------------------------------------------------------ functions


def functions(tree: Tree, *suffixes: str) -> list[Place]:
    """The lines of each function, from its name to its end; docstrings do not count."""
    found = []
    for path in tree.sources("src", "kernel"):
        if path.suffix not in suffixes:
            continue
        text = path.read_text(encoding="utf-8")
        of = {".py": python_functions, ".js": javascript_functions}.get(path.suffix, cpp_functions)
        found += [Place(size, f"{tree.name(path)}:{name}") for name, size in of(text)]
    return _largest_first(found)


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) is not None else 0
            yield node.name, node.end_lineno - node.lineno + 1 - docstring


def without_strings_and_comments(text: str) -> str:
    """The same lines; every brace in them is a real one."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
    digits = re.sub(r"(?<=\d)'(?=\d)", "", text)  # 1'000'000 in C++
    return re.sub(pattern, lambda found: "\n" * found[0].count("\n"), digits, flags=re.DOTALL)


@dataclass
class Block:
    """An open pair of braces: the text before the first one, and the line on which that text begins."""

    header: str
    line: int


def blocks(text: str) -> Iterator[tuple[list[Block], Block, int]]:
    """Every pair of braces, when it ends: those around it, itself, and its last line."""
    line, header, header_line = 1, "", 1
    around: list[Block] = []
    for character in without_strings_and_comments(text):
        if character == "{":
            around.append(Block(" ".join(header.split()), header_line))
            header = ""
        elif character == "}":
            block = around.pop()
            yield list(around), block, line
            # A value in braces, among arguments or before a constructor's body, belongs to the header, which continues
            # after it.
            goes_on = _is_value(block.header)
            header, header_line = (block.header + "{}", block.line) if goes_on else ("", line)
        elif character == ";":
            header = ""
        elif not (character.isspace() and not header.strip()):
            header_line = header_line if header.strip() else line
            header += character
        line += character == "\n"


def _is_value(header: str) -> bool:
    """Whether braces behind it are not a body: Name(...) : member{...}, or call(argument, {...})."""
    initial = re.search(r"\)\s*:(?!:).*[\w>]$", header)
    argument = header.count("(") > header.count(")") and not header.endswith(("=>", ")"))
    return bool(initial or argument)


CONTROL = re.compile(r"^(?:\}?\s*else\b|if\b|for\b|while\b|switch\b|do\b|try\b|catch\b)")


def _is_cpp_function(header: str) -> bool:
    scope = re.search(r"\b(namespace|struct|class|union|enum)\b", header) and not header.endswith(")")
    return bool("(" in header and not scope and not _is_value(header) and not CONTROL.match(header))


def cpp_functions(text: str) -> Iterator[tuple[str, int]]:
    """Functions and methods; what is defined inside one belongs to it."""
    for around, block, last in blocks(text):
        if _is_cpp_function(block.header) and not any(_is_cpp_function(outer.header) for outer in around):
            name = re.findall(r"([\w~]+|operator\W+)\s*\(", block.header)
            yield (name[0] if name else block.header), last - block.line + 1


def javascript_functions(text: str) -> Iterator[tuple[str, int]]:
    """Functions, methods and arrow functions with a body, those inside others too."""
    for _, block, last in blocks(text):
        header = block.header
        arrow = header.endswith("=>")
        named = re.search(r"\bfunction\b[^()]*\(.*\)$", header)
        method = re.fullmatch(r"(?:async |static |get |set )*[\w$#]+ ?\(.*\)", header)
        if arrow or named or (method and not CONTROL.match(header)):
            found = re.search(r"(?:function\s+|const\s+|let\s+)?([\w$]+)\s*(?:=|\(|:)", header)
            yield (found[1] if found else "(anonymous)"), last - block.line + 1


# ------------------------------------------------------------------------------------ imports


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _statements(node: ast.AST, types: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if _for_types_only(child) and not types:
            continue
        yield child
        yield from _statements(child, types)


def imported(tree: Tree, module: str, types: bool = False) -> Iterator[tuple[str, str | None]]:
    """The modules of the package that one imports anywhere in it, and which name of theirs."""
    known = tree.modules()
    for node in _statements(known[module], types):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner == f"{PACKAGE}._kernel":
                    continue  # compiled: it imports nothing
                yield (inner, None) if inner in known else (str(node.module), alias.name)


def cycles(tree: Tree, types: bool = False) -> list[list[str]]:
    """Modules that need each other, by imports at the top or within functions; with `types`, for types as well."""
    graph = {m: {to for to, _ in imported(tree, m, types)} - {m} for m in tree.modules()}

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += graph.get(module, ())
        return seen

    reached = {module: reach(module) for module in graph}
    rings = {
        tuple(sorted(m for m in reached[module] if module in reached.get(m, ())))
        for module in graph
        if module in reached[module]
    }
    return sorted(map(list, rings))


def private_imports(tree: Tree) -> list[str]:
    """Private names that leave their module, and private modules that leave their room."""
    found = []
    for module in tree.modules():
        for source, name in imported(tree, module):
            room, _, last = source.rpartition(".")
            if name is not None and _is_private(name) and source != module:
                found.append(f"{module} imports {name} of {source}")
            if _is_private(last) and room != PACKAGE and not f"{module}.".startswith(f"{room}."):
                found.append(f"{module} imports {source}, private to its room")
    return sorted(set(found))


# ------------------------------------------------------------------------------------ names


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def undocumented(tree: Tree) -> list[str]:
    """Modules, and the public classes, functions, methods and properties in them, that have no docstring."""
    found = []
    for module, body in tree.modules().items():
        found += [] if ast.get_docstring(body) else [module]
        found += [f"{module}.{name}" for name in _undocumented_in(body)]
    return sorted(found)


def _undocumented_in(node: ast.Module | ast.ClassDef) -> Iterator[str]:
    for child in node.body:
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if child.name.startswith("_") or _is_another_version(child):
            continue
        if not ast.get_docstring(child):
            yield child.name
        if isinstance(child, ast.ClassDef):
            yield from (f"{child.name}.{name}" for name in _undocumented_in(child))


def _is_another_version(node: ast.AST) -> bool:
    """An overload, or the setter of a property that is documented where it is read."""
    decorators = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())]
    return any(text.endswith(("overload", ".setter", ".deleter")) for text in decorators)


def private_calls(tree: Tree) -> list[str]:
    """Private attributes of other modules' objects: `x._name`, where neither x nor the name is the module's own."""
    found = []
    for module, body in tree.modules().items():
        own = _own_private_names(body)
        for node in ast.walk(body):
            if not isinstance(node, ast.Attribute) or not _is_private(node.attr):
                continue
            if node.attr in own | PUBLIC_ALL_THE_SAME or _is_oneself(node.value):
                continue
            if ast.unparse(node) in (f"{PACKAGE}._kernel", f"{PACKAGE}._io"):
                continue
            found.append(f"{module}: {ast.unparse(node)}")
    return sorted(set(found))


def _is_oneself(node: ast.expr) -> bool:
    return ast.unparse(node) in ("self", "cls", "super()", "type(self)")


def _own_private_names(body: ast.Module) -> set[str]:
    """What a module defines, as a function, a method, a class, a variable or an attribute of its own objects."""
    names: set[str] = set()
    for node in ast.walk(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_oneself(node.value):
            names.add(node.attr)
    return names


# ------------------------------------------------------------------------------------ the table


def table(tree: Tree) -> str:
    """All measures in Markdown."""

    def longest(places: list[Place]) -> tuple[object, str]:
        return (places[0].size, places[0].where) if places else (0, "")

    def number(items: list) -> tuple[object, str]:
        shown = [" <-> ".join(item) if isinstance(item, list) else item for item in items[:3]]
        return len(items), "; ".join(shown)

    rows = {
        "entries at the top level of the package": (*number(top_level(tree))[:1], ""),
        "modules in the fullest folder": longest(folders(tree)),
        "longest file, lines": longest(files(tree)),
        "longest function, Python": longest(functions(tree, ".py")),
        "longest function, C++": longest(functions(tree, ".hpp", ".cpp")),
        "longest function, JavaScript": longest(functions(tree, ".js")),
        "import cycles, lazy imports included": number(cycles(tree)),
        "the same, with imports for types": number(cycles(tree, types=True)),
        "public names without a docstring": number(undocumented(tree)),
        "private names and modules imported": number(private_imports(tree)),
        "private attributes of others used": number(private_calls(tree)),
    }
    lines = ["| measure | value | where |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {value} | {where} |" for name, (value, where) in rows.items())])


if __name__ == "__main__":
    print(table(Tree(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2])))
