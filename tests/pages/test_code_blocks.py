"""Every block of code in the README and in docs/ runs and prints what the page shows; every command can be read."""

import contextlib
import importlib.util
import io
import itertools
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
    "positives.md": "test_positives_page.py",
    "scikit-learn.md": "test_scikit_learn_page.py",
    "selections.md": "test_selections_page.py",
    "taxonomies.md": "test_taxonomies_page.py",
    "services.md": "test_services_page.py",
}
HERE = [name for name in PYTHON if name not in RUN_BY]
DOWNLOADS = "fetch_ageing_genes"


def blocks(name):
    """The blocks of a page: (words after the fence, content) of each."""
    page = ROOT / name if name == "README.md" else ROOT / "docs" / name
    return [(info.split(), text) for info, text in BLOCK.findall(page.read_text(encoding="utf-8"))]


def run_page(name, wanted):
    """Run the blocks of Python of a page in order, and compare what they print with the block of text that follows."""
    known, printed = {"__name__": "__main__"}, None
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
    if program in ("python", "python3"):
        return words[0] == "-m" and importlib.util.find_spec(words[1]) is not None
    if program in ("curl", "uvicorn"):
        return words[0] in ("service:app", "http://127.0.0.1:8000/predict")
    known = {("pip", "install"), ("dask", "scheduler"), ("dask", "worker"), (".", "env/bin/activate")}
    return (program, words[0]) in known


def marked(name):
    """A page as a parameter; commands of make can be checked in the source tree alone."""
    uses_make = any(program == "make" for program, *_ in commands(name))
    return pytest.param(name, marks=pytest.mark.source if uses_make else ())


@pytest.mark.parametrize("name", [marked(page.name) for page in PAGES if commands(page.name)])
def test_commands_can_be_read(name):
    for program, *words in commands(name):
        assert read_command(program, words), (program, words)


def prose_commands():
    """The commands in running text, as (page, words); bare names of commands and placeholders are left out."""
    for page in PAGES:
        prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for span in re.findall(r"`((?:hietan|make|python -m) [^`]+)`", prose):
            words = shlex.split(" ".join(span.split()).replace("π", "0.02"))
            if len(words) > 2 and not {"...", "NAME", "COMMAND"} & set(words):
                yield page.name, words


@pytest.mark.source
def test_commands_in_prose_name_options_that_exist():
    """A command in a sentence may be a part of one, such as `hietan fit --fdr-split`."""
    typer = pytest.importorskip("typer")
    from hietan.cli._app import make_app

    known = typer.main.get_command(make_app()).commands
    found = list(prose_commands())
    assert len(found) > 20
    for name, (program, command, *words) in found:
        if program == "hietan" and command in known:
            options = {
                option for param in known[command].params for option in (*param.opts, *param.secondary_opts)
            }
            assert {word for word in words if word.startswith("--")} <= options, (name, command, words)
        else:
            assert read_command(program, [command, *words]), (name, program, command)


def test_datasets_that_commands_name_exist():
    from hietan.catalogue import dataset_names, dataset_sets

    known = {*dataset_names(), *dataset_sets()}
    listed = [*prose_commands(), *((page.name, words) for page in PAGES for words in commands(page.name))]
    named = {
        (name, value)
        for name, words in listed
        for option, value in itertools.pairwise(words)
        if option == "--data"
    }
    assert len(named) > 8
    assert [each for each in named if not each[1].endswith(".hietan") and each[1] not in known] == []


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
