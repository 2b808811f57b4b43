"""The site is whole: every page is reached, every link leads somewhere, and every public name is in the reference."""

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hietan

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("sections/*.md"))]
PROJECT = [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG")]
# What the build makes of other files (docs/conf.py).
MADE = {DOCS / "generated" / path.name.lower(): path for path in PROJECT}
EXAMPLES = sorted((DOCS / "examples").glob("plot_*.py"))
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def source(path):
    """The page a path stands for."""
    return MADE.get(path.resolve(), path)


def anchors(page):
    """The anchors of the headings of a page, as web sites make them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [
        re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()) for title in titles
    ]
    return {title.strip().replace(" ", "-") for title in plain}


@pytest.mark.source
@pytest.mark.parametrize("page", PAGES + PROJECT, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\((?!https?://|mailto:)([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = source((page.parent / path).resolve()) if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.source
@pytest.mark.parametrize("page", [*PAGES, *PROJECT[:2]], ids=lambda path: path.name)
def test_targets_and_files_that_are_named_exist(page):
    text, makefile = page.read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"`make ([a-z0-9-]+)", text)
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
    rooms = "benchmarks|kernel|packaging|reproduction|src|tests"
    files = re.findall(rf"\b((?:{rooms})/[\w/]+\.(?:cpp|hpp|json|md|py|sh))\b", text)
    assert [file for file in files if not (ROOT / file).exists()] == []


def toctrees():
    """The pages that the tables of contents name, without suffix, relative to docs/."""
    found = set()
    for page in [DOCS / "index.md", *DOCS.glob("sections/*.md")]:
        for block in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            for line in block.splitlines():
                if line and not line.startswith(":"):
                    name = re.sub(r".*<(.*)>$", r"\1", line)
                    found.add((page.parent / name).resolve().relative_to(DOCS).as_posix())
    return found


def test_every_page_has_a_place_in_the_site():
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES[1:]} - {"index"}
    made = {path.relative_to(DOCS).with_suffix("").as_posix() for path in MADE} | {"generated/gallery/index"}
    assert toctrees() == pages | made


def test_cards_lead_somewhere():
    cards = re.findall(r"^:link: (\S+)$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(cards) >= 6
    assert all((DOCS / f"{card}.md").exists() or card == "generated/gallery/index" for card in cards)


# ------------------------------------------------------------------------------------ the reference


def public_packages():
    """The package and its parts that say which of their names are public."""
    names = [
        "hietan",
        *(part.name for part in pkgutil.walk_packages(hietan.__path__, "hietan.") if part.ispkg),
    ]
    for name in names:
        if "._" not in name:
            package = importlib.import_module(name)
            if hasattr(package, "__all__"):
                yield name, package


def documented():
    """The objects of the reference, by their names in it."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^(?:   ~|\.\. py:data:: )(hietan\.[\w.]+)$", page, re.MULTILINE)
    assert len(names) == len(set(names)), "a name is listed twice"
    return {
        name: getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
        for name in names
    }


def test_every_public_name_is_in_the_reference():
    objects = documented()
    for name, package in public_packages():
        missing = [
            public
            for public in package.__all__
            if f"{name}.{public}" not in objects
            and not any(getattr(package, public) is each for each in objects.values())
        ]
        assert missing == [], name


def test_the_reference_has_every_error_and_only_public_names():
    objects = documented()
    public = {f"{name}.{each}" for name, package in public_packages() for each in package.__all__}
    errors = {
        f"hietan.exceptions.{name}"
        for name, each in vars(hietan.exceptions).items()
        if isinstance(each, type)
    }
    assert errors <= set(objects) <= public | errors


# ------------------------------------------------------------------------------------ the gallery


def test_the_gallery_has_pictures():
    """`make docs` runs every example; here, they are only looked at."""
    assert len(EXAMPLES) >= 8
    for path in EXAMPLES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        title, line, empty, *_ = ast.get_docstring(tree).splitlines()
        assert len(line) == len(title) and set(line) == {"="} and empty == "", path.name
        assert "plt.subplots(" in path.read_text(encoding="utf-8"), path.name
        imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert any(module.startswith("hietan") for module in imported), path.name
        assert all(importlib.util.find_spec(module) for module in imported), path.name
