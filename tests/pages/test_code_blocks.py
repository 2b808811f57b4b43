"""Every block of code in the README and in docs/ runs and prints what the page shows; every command can be read."""

import contextlib
import importlib.util
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PYTHON = [page.name for page in PAGES if re.search(r"^```python", page.read_text("utf-8"), re.MULTILINE)]
# Pages with a test of their own, which runs their blocks.
RUN_BY = {
    "candidates.md": "test_candidates_page.py",
    "data.md": "test_data_page.py",
    "own-data.md": "test_own_data_page.py",
    "scikit-learn.md": "test_scikit_learn_page.py",
    "selections.md": "test_selections_page.py",
}
HERE = [name for name in PYTHON if name not in RUN_BY]
DOWNLOADS = "fetch_ageing_genes"


def blocks(name):
    """The blocks of a page: (words after the fence, content) of each."""
    page = ROOT / name if name == "README.md" else ROOT / "docs" / name
    return [(info.split(), text) for info, text in BLOCK.findall(page.read_text(encoding="utf-8"))]


def given_for(name):
    """What a page takes for granted in its fragments of code."""
    if name != "performance.md":
        return {}
    from hietan import HieTANLite
    from hietan.datasets import make_hierarchical_classification

    data = make_hierarchical_classification(60, 20, random_state=0)
    parts = [(data.X[:30], data.y[:30]), (data.X[30:], data.y[30:])]
    return {
        "HieTANLite": HieTANLite,
        "hierarchy": data.hierarchy,
        "chunks": parts,
        "dask": pytest.importorskip("dask"),
        "paths": range(2),
        "load": lambda i: parts[i][0],
        "load_labels": lambda i: parts[i][1],
    }


def run_page(name, wanted):
    """Run the blocks of Python of a page in order, and compare what they print with the block of text that follows."""
    known, printed = {"__name__": "__main__", **given_for(name)}, None
    for words, text in blocks(name):
        if words[:1] == ["python"] and wanted(text):
            if len(words) > 1:  # a file
                Path(words[1]).write_text(text, encoding="utf-8")
                continue
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(text, name, "exec"), known)
            printed = output.getvalue()
        elif words in ([], ["text"]) and printed:
            assert text == printed
            printed = None


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty directory for what a page writes; modules in it can be imported, and the catalogue stays as it was."""
    import matplotlib as mpl

    from hietan.catalogue import METHODS

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before, methods = set(sys.modules), dict(METHODS)
    mpl.use("Agg")
    yield
    METHODS.clear()
    METHODS.update(methods)
    for module in set(sys.modules) - before:
        if getattr(sys.modules[module], "__file__", None) and str(tmp_path) in sys.modules[module].__file__:
            del sys.modules[module]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.patient) if name == "clusters.md" else name for name in HERE],
)
def test_the_code_of_a_page_runs_and_prints_what_is_shown(name, elsewhere):
    pytest.importorskip("pandas")
    run_page(name, lambda text: DOWNLOADS not in text)


def test_code_that_downloads(real_data, elsewhere):
    for name in HERE:
        run_page(name, lambda text: DOWNLOADS in text)


@pytest.mark.parametrize(("name", "test"), RUN_BY.items())
def test_the_other_pages_are_run_by_their_own_tests(name, test):
    assert name in PYTHON
    text = (Path(__file__).parent / test).read_text(encoding="utf-8")
    assert name in text and re.search(r"exec\(|doctest\.testfile", text)


# ------------------------------------------------------------------------------------ commands


def commands(name):
    """The commands of a page, each as a list of words."""
    shell = "".join(text for words, text in blocks(name) if words in (["sh"], ["console"]))
    lines = (shlex.split(line, comments=True) for line in shell.replace("\\\n", " ").splitlines())
    return [words for words in lines if words]


def read_command(program, words):
    """Whether a program would understand the words; of ours, names of options, values and their types are checked."""
    if program == "hietan":
        typer = pytest.importorskip("typer")
        from hietan.cli._app import make_app

        application = typer.main.get_command(make_app())
        if words[0].startswith("-"):
            return words[0] in {option for known in application.params for option in known.opts}
        return application.commands[words[0]].make_context(words[0], words[1:]) is not None
    if program == "make":
        return re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    if program == "python":
        return words[0] == "-m" and importlib.util.find_spec(words[1]) is not None
    return (program, words[0]) in {("pip", "install"), ("dask", "scheduler"), ("dask", "worker")}


def marked(name):
    """A page as a parameter; commands of make can be checked in the source tree alone."""
    uses_make = any(program == "make" for program, *_ in commands(name))
    return pytest.param(name, marks=pytest.mark.source if uses_make else ())


@pytest.mark.parametrize("name", [marked(page.name) for page in PAGES if commands(page.name)])
def test_commands_can_be_read(name):
    for program, *words in commands(name):
        assert read_command(program, words), (program, words)


@pytest.mark.patient
@pytest.mark.parametrize("name", ["ten-minutes.md", "adding-a-method.md"])
def test_commands_on_the_genes_of_the_package_run(name, elsewhere):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from hietan.cli._app import make_app

    run_page(name, lambda text: "def fit" in text)  # the files of the page
    for program, *words in commands(name):
        if words[0] != "demo":  # it has tests of its own
            ended = CliRunner().invoke(make_app(), words)
            assert program == "hietan" and ended.exit_code == 0, (words, ended.output)
