"""What the project says about itself in files that other tools read: they fit together, and what they name exists."""

import importlib.util
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.source
yaml = pytest.importorskip("yaml", reason="the files are YAML; Dask installs a reader")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def makefile():
    """Read when it is asked for: an installed package has no Makefile beside its tests."""
    return (ROOT / "Makefile").read_text(encoding="utf-8")


def read(*path):
    return yaml.safe_load(ROOT.joinpath(*path).read_text(encoding="utf-8"))


def steps(workflow):
    return [step for job in read(workflow)["jobs"].values() for step in job["steps"]]


def load_script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_oldest():
    return load_script("oldest").oldest_requirements


def defined_targets():
    return set(re.findall(r"^([a-z0-9-]+):", makefile(), re.MULTILINE))


def make_targets(text):
    return re.findall(r"\bmake ([a-z0-9-]+)", text)


def test_ci_runs_the_targets_that_contributing_lists():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    listed = re.search(
        r"CI runs (.*?)\.\n", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert make_targets(script) == make_targets(listed[1])
    assert set(make_targets(script)) <= defined_targets()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_that_exist_and_pin_actions(workflow):
    called = {target for step in steps(workflow) for target in make_targets(step.get("run", ""))}
    assert called <= defined_targets()
    actions = {step["uses"] for step in steps(workflow) if "uses" in step}
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in actions), actions
    fetching = [step for step in steps(workflow) if "checkout" in step.get("uses", "")]
    assert all(step["with"]["persist-credentials"] is False for step in fetching)
    jobs = read(workflow)["jobs"]
    publishing = {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})}
    assert publishing <= {"publish"} and read(workflow)["permissions"] == {"contents": "read"}


def test_versions_and_licences_agree_everywhere():
    citation, recipe = read("CITATION.cff"), read("packaging", "conda", "recipe.yaml")
    assert (
        citation["version"]
        == recipe["context"]["version"]
        == PROJECT["project"]["version"]
        == version("hietan")
    )
    licence = PROJECT["project"]["license"]
    assert citation["license"] == recipe["about"]["license"] == licence == "BSD-3-Clause"
    assert recipe["about"]["license_file"] == PROJECT["project"]["license-files"]
    assert all((ROOT / name).is_file() for name in PROJECT["project"]["license-files"])


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = read("packaging", "conda", "recipe.yaml")["requirements"]
    run = {each.replace(" ", "") for each in recipe["run"]}
    extras = PROJECT["project"]["optional-dependencies"]
    assert run == {*PROJECT["project"]["dependencies"], *extras["cli"], "python>=3.11"}
    assert {each.replace(" ", "") for each in recipe["host"]} >= set(PROJECT["build-system"]["requires"])


def test_the_makefile_builds_with_what_the_project_asks_for():
    (needs,) = re.findall(r"^BUILD_NEEDS := (.*)$", makefile(), re.MULTILINE)
    assert [each.strip("'") for each in needs.split()] == PROJECT["build-system"]["requires"]


def test_every_dependency_has_an_oldest_version():
    groups = PROJECT["dependency-groups"]
    pinned = load_oldest()(PROJECT, ["all", *groups])
    assert all("==" in each.partition(";")[0] for each in pinned)
    names = {re.split(r"[=\[]", each)[0] for each in pinned}
    assert {"nanobind", "numpy", "typer", "pytest", "ruff", "xgboost"} <= names
    with pytest.raises(ValueError, match="'numpy' has no lower bound"):
        load_oldest()({**PROJECT, "project": {"dependencies": ["numpy"]}}, [])


def test_the_constraints_of_ci_are_within_the_bounds_of_the_project():
    requirements = pytest.importorskip("packaging.requirements")
    lines = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    pinned = {re.sub(r"[._]", "-", name).lower(): number for name, number in pinned.items()}
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    extras = [
        each for extra, needs in project["optional-dependencies"].items() if extra != "all" for each in needs
    ]
    for text in [*project["dependencies"], *extras, *groups["test"], *groups["lint"]]:
        needed = requirements.Requirement(text)
        assert needed.name in pinned or needed.name == "shap"
        assert needed.specifier.contains(pinned.get(needed.name, "99")), text


def test_what_is_missing_is_named_before_anything_is_set_up(monkeypatch, tmp_path):
    script = load_script("prerequisites")
    oldest = tuple(map(int, re.search(r"(\d+)\.(\d+)", PROJECT["project"]["requires-python"]).groups()))
    assert oldest == script.OLDEST
    monkeypatch.setattr(script.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(script.sys, "version_info", (3, 9))
    monkeypatch.setattr(script.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("CXX", "no-such-compiler")
    packages = re.findall(r"apt install ([\w+-]+)", "".join(script.missing()))
    assert packages == ["python3-venv", "python3-dev", "g++"] and "3.9 is too old" in script.missing()[0]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(packages) <= set(re.search(r"`apt install (.*?)`", readme)[1].split())


def test_nothing_for_development_is_published():
    assert not {"test", "lint", "peers", "docs", "dev"} & set(PROJECT["project"]["optional-dependencies"])
    assert any(each.startswith("nanobind>=") and "<" in each for each in PROJECT["build-system"]["requires"])


def test_templates_and_hooks_can_be_read():
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert read(path)
    hooks = read(".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert {hook["id"] for hook in hooks} == {"ruff-check", "ruff-format", "mypy", "clang-format"}


def test_the_paper_cites_what_its_bibliography_has():
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    keys = re.findall(
        r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(re.findall(r"@([a-z]+\d{4})", text)) == set(keys) and len(keys) == len(set(keys))
    assert not re.search(r"\d\.\d", text.partition("# Summary")[2]), "figures change: the pages have them"
