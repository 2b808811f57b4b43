"""The commands study and compare, as a user or a script sees them."""

import csv
import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.console import Console

from hietan import catalogue
from hietan.catalogue import StudyOptions
from hietan.cli._compare import print_text_table
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import SummaryRow, read_summary
from hietan.evaluation._outputs.text_table import TextTable
from hietan.scores import METRICS
from support.paper import TABLE_3
from support.processes import contents

SMALL = "--data synthetic-0 --data synthetic-1 --folds 3".split()


def one_line(result):
    """The complaint of a command that failed as it should."""
    assert result.exit_code == 2, result.output
    lines = result.stderr.strip().splitlines()
    assert lines[-1].startswith("error: ") and "Traceback" not in result.stderr
    return lines[-1]


def test_a_study_of_one_dataset_has_no_tests_and_says_where_to_look(run, tmp_path):
    words = "--data synthetic-0 --folds 2 --methods hie-ban --methods bernoulli-nb --no-report".split()
    result = run("study", *words, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    assert "untuned; 1 dataset method average rank wins mean" in words and "Holm" not in words
    assert "the report shows the uncertainty of each score" in words
    assert "no figures" not in words and not (tmp_path / "out" / "figures").exists()


def test_a_study_without_matplotlib_says_that_it_has_no_figures(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    words = [*SMALL, *"--methods hie-ban --methods bernoulli-nb --no-report".split(), "-o", tmp_path / "out"]
    assert 'no figures: pip install "hietan[plot]"' in run("study", *words).output


@pytest.mark.slow
def test_a_study_from_the_command_line(run, tmp_path):
    out = tmp_path / "out"
    words = [*SMALL, *"--methods hie-tan-lite --methods bernoulli-nb".split(), "-o", out]
    result = run("study", *words)
    assert result.exit_code == 0, result.output
    assert "gmean, alpha=1, untuned; 2 datasets" in result.output
    assert re.search(r"hie-tan-lite\W+\d\.\d\d", result.output)
    assert {"predictions.csv", "ranks.csv", "tests.csv", "summary.json", "figures", "tables"} <= {
        path.name for path in out.iterdir()
    }
    table = (out / "tables" / "gmean-alpha=1-untuned-scores.tex").read_text()
    assert "% command: hietan study --data synthetic-0" in table and r"\toprule" in table
    before = contents(out)
    again = run("study", *words, "--jobs", 2, "-q")
    assert again.exit_code == 0 and again.output == ""
    assert contents(out) == before


def test_support_in_folds_has_tables_of_its_own(run, tmp_path):
    words = ["study", *SMALL, *"--methods tan --methods bernoulli-nb -q --no-figures -o".split()]
    plain, thinned, filed = (tmp_path / name for name in ("plain", "thinned", "filed"))
    assert run(*words, plain).exit_code == 0
    assert "belongs to a different study" in one_line(run(*words, plain, "--min-support-in-folds", 5))
    assert run(*words, thinned, "--min-support-in-folds", 5).exit_code == 0
    result = run("compare", plain, thinned)
    assert result.exit_code == 0, result.output
    titles = [f"alpha=1, {kind}; 2 datasets" for kind in ("untuned", "tuned: support=5")]
    assert all(title in result.output for title in titles)
    assert (
        len(re.findall(r"^bernoulli-nb +\d\.\d\d +\d ", result.output, re.M)) == 2
    )  # one row per table of ranks
    file = tmp_path / "study.toml"
    file.write_text(
        'data = ["synthetic-0", "synthetic-1"]\nmethods = ["tan", "bernoulli-nb"]\nfolds = 3\n'
        "min-support-in-folds = 5\n"
    )
    assert run("study", file, "-q", "--no-figures", "-o", filed).exit_code == 0
    assert contents(filed) == contents(thinned)
    assert "--min-support-in-folds 5" in (thinned / "study.json").read_text()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--data synthetic-1", "--data belongs"),
        ("--methods tan", "--methods belongs"),
        ("--folds 10", "--folds belongs"),  # as it would be without it
        ("--seeds 2", "--seeds belongs"),
        ("--alpha 0.5", "--alpha belongs"),
        ("--smoothing pooled", "--smoothing belongs"),
        ("--lam tuned", "--lam belongs"),
        ("--lam-relative 0.1", "--lam-relative belongs"),
        ("--lam-criterion auc", "--lam-criterion belongs"),
        ("--tune-alpha", "--tune-alpha belongs"),
        ("--no-tune-threshold", "--no-tune-threshold belongs"),
        ("--no-usage", "--no-usage belongs"),
        ("--min-support-in-folds 3", "--min-support-in-folds belongs"),
        ("--seeds 2 --jobs 2 --folds 4", "--folds, --seeds belong"),
    ],
)
def test_what_belongs_in_a_study_file_is_refused_beside_it(run, tmp_path, words, named):
    file = tmp_path / "study.toml"
    file.write_text('data = "synthetic-0"\nmethods = "tan"\nfolds = 3\n')
    complaint = one_line(run("study", file, *words.split(), "-o", tmp_path / "out"))
    assert f"{named} in the study file" in complaint and str(file) in complaint
    assert not (tmp_path / "out").exists()


def test_how_a_study_is_run_may_be_said_beside_its_file(run, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('data = ["synthetic-0", "synthetic-1"]\nmethods = "tan"\nfolds = 3\njobs = 1\n')
    words = "--jobs 2 --backend threads --retry-failed --no-figures --no-report --quiet"
    result = run("study", file, *words.split(), "-o", tmp_path / "out")
    assert result.exit_code == 0 and result.output == ""
    assert not (tmp_path / "out" / "figures").exists() and not (tmp_path / "out" / "report.html").exists()


def test_a_dataset_in_a_file(run, tmp_path):
    data = make_hierarchical_classification(60, 15, random_state=1)
    data.save(tmp_path / "mine.hietan")
    words = ["--data", tmp_path / "mine.hietan", *"--folds 3 --methods tan --no-figures".split()]
    result = run("study", *words, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    (tmp_path / "mine.hietan").write_bytes(b"no archive")
    assert "mine.hietan" in one_line(run("study", *words, "-o", tmp_path / "other"))


def test_a_mistake_in_a_study_file(run, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('dta = ["CE-BP"]\nmethods = "tan"')
    complaint = one_line(run("study", file, "-o", tmp_path / "out"))
    assert f"{file}: unknown key 'dta'; did you mean 'data'?" in complaint
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--data synthetic --methods hie-tan-light", "did you mean 'hie-tan-lite'?"),
        (
            "--data CE-BB --methods tan",
            "there is no dataset or file named 'CE-BB'; did you mean 'CE-BP'?",
        ),
        ("--data synthetic --methods tan:alhpa=1", "no parameter 'alhpa'; did you mean 'alpha'?"),
        ("--data synthetic --methods no.such.Thing", "cannot be imported"),
        ("--data synthetic --methods tan --smoothing poled", "did you mean 'pooled'?"),
        (
            "--data synthetic --methods tan --lam-relative 2",
            "lam_relative is 2.0; expected a number from 1e-10",
        ),
        (
            "--data synthetic --methods tan --lam-criterion auc",
            "'auc', but lambda is not tuned; set lam to 'tuned' (--lam tuned)",
        ),
        ("--data synthetic --methods tan --lam -1", "lam is '-1'; expected a number above 0"),
        ("--data synthetic --methods tan --backend magic", "backend is 'magic'"),
        ("--data synthetic-0 --methods tan --jobs 0", "n_jobs is 0; expected a whole number from 1 to 4096"),
        ("--data synthetic-0 --methods tan --folds 70", "fewer than the 70 folds"),
        ("--data synthetic-0 --methods tan --lose half", "--lose is 'half'; expected numbers from 0 to 1"),
        ("--data synthetic-0 --methods tan --lose 0.3,1.2", "expected different numbers from 0 to 1"),
        ("--data synthetic-0 --methods tan --lose 0.3,0.3", "expected different numbers from 0 to 1"),
        (
            "--data synthetic-0 --methods tan --equal-rows no",
            "equal_rows is 'no'; expected one of keep, same-fold",
        ),
        ("--data synthetic", "a study needs --data and --methods"),
        ("none.toml", "there is no study file none.toml; check the path"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, tmp_path, words, message):
    assert message in one_line(run("study", *words.split(), "-o", tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_the_help_names_the_defaults(run):
    text = " ".join(run("study", "--help").output.replace("│", " ").split())
    assert "[default: a tenth of the smallest lambda" in text
    assert "a method's name shows if it differs from the method's default" in text
    assert "laplace, pooled or odds" in text and "(paper, bayes, new, modern, aire, all)" in text
    assert set(catalogue.method_sets()) == {"paper", "bayes", "new", "modern", "aire", "all"}


def test_failed_jobs_give_exit_code_1(run, tmp_path):
    words = "--methods tan --methods tan:alpha=-1 --no-figures".split()
    result = run("study", *SMALL, *words, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "6 jobs failed" in result.output and "tan:alpha=-1" not in result.output.partition("failed")[0]
    line = (
        "tan:alpha=-1 failed on 2 of 2 datasets (every fold of synthetic-0 failed, so it was not run on the "
    )
    line += "others): "
    assert f"\n{line}ValueError: alpha must be" in result.stdout and line not in result.stderr
    compared = run("compare", tmp_path / "out")
    assert compared.exit_code == 0 and compared.stdout.startswith(line)
    (ranking,) = json.loads(run("compare", tmp_path / "out", "--json").stdout)
    assert ranking["failures"][0].startswith(line) and list(ranking["methods"]) == ["tan"]
    quiet = run("study", *SMALL, *words, "-o", tmp_path / "out", "-q")
    assert quiet.stdout == "" and quiet.stderr.startswith(f"warning: {line}")


def test_one_table_ranks_the_smoothings_by_name_and_starts_with_auc(run, tmp_path):
    words = "--methods hie-tan --methods hie-tan-laplace --no-figures --no-report".split()
    result = run("study", *SMALL, *words, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    titles = re.findall(r"^(auc|gmean), alpha=1, untuned; 2 datasets", result.stdout, re.MULTILINE)
    assert titles == ["auc", "gmean"]
    for name in ("hie-tan", "hie-tan-laplace"):
        assert len(re.findall(rf"^{name} ", result.stdout, re.MULTILINE)) == 2
    means = {
        row.method: row["gmean"] for row in read_summary(tmp_path / "out") if row.dataset == "synthetic-0"
    }
    words = "--methods hie-tan --smoothing laplace --no-figures --no-report -q".split()
    assert run("study", *SMALL, *words, "-o", tmp_path / "again").exit_code == 0
    again = {
        row.method: row["gmean"] for row in read_summary(tmp_path / "again") if row.dataset == "synthetic-0"
    }
    assert again == {"hie-tan-laplace": means["hie-tan-laplace"]}
    assert run("compare", tmp_path / "out").stdout.startswith("auc, alpha=1, untuned; 2 datasets")


def test_gmean_of_weighted_and_other_methods_is_explained_for_one_dataset(run, tmp_path):
    words = "--data synthetic-0 --folds 2 --methods logistic-l2 --methods logistic-l2-balanced --no-report".split()
    shown = " ".join(run("study", *words, "-o", tmp_path / "out").stdout.split())
    auc, _, gmean = shown.partition("gmean, untuned")
    assert "GMean favours methods with class weights (logistic-l2-balanced)" in gmean and "favours" not in auc
    assert "--tune-threshold" in gmean


def test_a_metric_that_no_method_has_is_an_answer(run, tmp_path):
    words = "--methods sklearn.svm.LinearSVC --no-report --no-figures -q".split()
    assert run("study", *SMALL, *words, "-o", tmp_path / "out").exit_code == 0
    result = run("compare", tmp_path / "out")
    assert "no method has a value of auc on every dataset; choose another --metric" in result.stdout


def test_compare_joins_directories(run, tmp_path):
    for name in ("tan", "hie-tan"):
        result = run("study", *SMALL, "--methods", name, "-o", tmp_path / name, "-q", "--no-figures")
        assert result.exit_code == 0, result.output
    result = run("compare", tmp_path / "tan", tmp_path / "hie-tan", "--metric", "auc", "--control", "tan")
    assert result.exit_code == 0, result.output
    assert "auc, alpha=1, untuned; 2 datasets" in result.output
    assert "unknown control 'tam'; did you mean 'tan'?" in one_line(
        run("compare", tmp_path / "tan", "--control", "tam")
    )
    assert "unknown metric 'auk'; did you mean 'auc'?" in one_line(
        run("compare", tmp_path / "tan", "--metric", "auk")
    )
    assert "it does not contain a study" in one_line(run("compare", tmp_path))


# Ranks of the six methods on 27 datasets, whose averages (with those of TIED on the 28th) are the paper's.
PAPER_RANKS = (
    "123645 321456 243516 123456 123546 123456 341265 124365 624351 123546 513246 325416 132465 243651 "
    "123456 125463 123456 243156 123456 154236 145632 216453 124563 326154 163254 523146 123465"
).split()
TIED = (1, 2.5, 4, 5, 2.5, 6)


@pytest.fixture
def papers_study(tmp_path):
    """A finished study in which the six methods have the average ranks that the paper's Table 3 has."""
    lines = [[int(digit) for digit in row] for row in PAPER_RANKS] + [TIED]
    with open(tmp_path / "summary.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(SummaryRow.header())
        for i, ranks in enumerate(lines):
            for method, rank in zip(TABLE_3, ranks, strict=True):
                row = SummaryRow(
                    f"d{i}", method, "", "none", 0, 100, (1 - rank / 10, *[0.5] * (len(METRICS) - 1))
                )
                writer.writerow(row.values())
    (tmp_path / "study.json").write_text(
        '{"format": 4, "groups": {}, "shared_rows": {}, "class_weighted": []}'
    )
    return tmp_path


def test_compare_prints_table_3_of_the_paper_to_every_digit(run, papers_study):
    result = run("compare", papers_study, "--metric", "gmean", "--one-sided", "--rank-decimals", 2)
    assert result.exit_code == 0, result.output
    shown = result.output.partition("Friedman")[0]  # the effect sizes are below
    for method, (rank, threshold, p) in TABLE_3.items():
        (line,) = [line for line in shown.splitlines() if line.startswith(f"{method} ")]
        cells = [*re.split(r" {2,}", line.strip()), "", ""]
        assert cells[1] == f"{rank:.2f}"
        assert [re.sub("e-0", "e-", cell) for cell in cells[4:6]] == [threshold or "", p or ""]
    words = " ".join(result.output.split())
    assert "Friedman chi-squared 50.87," in words and "Iman-Davenport F 15.41," in words
    assert "corrected for ties" in words and "greater, N = 28" in words


def test_compare_prints_effects_and_scores(run, papers_study):
    result = run("compare", papers_study, "--metric", "gmean", "--rope", 0.2, "--scores")
    assert result.exit_code == 0, result.output
    assert "gmean, untuned: differences from Hie-TAN-Lite; equivalent up to 0.2" in result.output
    (line,) = [
        line
        for line in result.output.splitlines()
        if line.startswith("TAN ") and "+" not in line and "-0.2" in line
    ]
    assert "-0.2964" in line
    assert re.search(r"d0 .*0\.900.*0\.800.*0\.700.*0\.400", result.output)
    for wrong in ("nan", "-1"):
        refused = run("compare", papers_study, "--rope", wrong)
        # typer 0.26 leaves the refusal of NaN to the library, whose message names the value.
        assert refused.exit_code == 2 and (
            "--rope" in refused.output or f"rope is {wrong};" in refused.output
        )


def test_the_best_scores_are_bold_in_a_terminal():
    console = Console(force_terminal=True, color_system="truecolor", width=80, record=True)
    print_text_table(console, TextTable("t", ("d", "a", "b"), (("x", "1", "2"),), bold=frozenset({(0, 2)})))
    printed = console.export_text(styles=True)
    assert "\x1b[1m2\x1b[0m" in printed and "\x1b[1m1\x1b[0m" not in printed


TUNED = {"lam": "tuned", "lam_criterion": "gmean"}
HARD = StudyOptions(
    ["my genes; rm.hietan", "it's.hietan", "CE-BP"],
    ["tan", "sklearn.svm.SVC:kernel='rbf',C=$HOME", "tan:alpha=2"],
    alpha=[1.0, 0.12345678],
    smoothing=["po oled"],
    lam=0.0012345678,
    usage=False,
    lose=[0.3, 0.7],
    equal_rows="not-tested",
)
PLAIN = [StudyOptions(["CE-BP"], ["proximal-graph"], **how) for how in ({}, {"lam_relative": 0.1}, TUNED)]


@pytest.mark.parametrize("options", [*PLAIN, HARD], ids=["plain", "relative", "tuned", "hard"])
def test_the_command_gives_the_study_again_in_a_shell(run, monkeypatch, options):
    asked = []
    monkeypatch.setattr(
        catalogue, "run_named_study", lambda options, *_, **__: asked.append(options) or sys.exit(0)
    )
    program, *words = shlex.split(options.command())
    run(*words)
    assert program == "hietan" and asked == [options]


def test_the_options_of_a_command_are_short():
    assert [options.lam for options in PLAIN] == [None, None, "tuned"]
    assert "--methods tan:alpha=2 " in HARD.command() and "--alpha 1 --alpha 0.12345678 " in HARD.command()


def test_python_runs_the_command_as_a_module():
    command = [sys.executable, "-m", "hietan", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and result.stdout.strip().endswith(version("hietan"))


def test_a_method_may_be_in_the_current_directory(tmp_path):
    """As a console script, which does not look there by itself."""
    (tmp_path / "mine.py").write_text("from sklearn.naive_bayes import BernoulliNB as Mine\n")
    command = [
        Path(sys.executable).with_name("hietan"),
        "study",
        "--data",
        "synthetic-0",
        "--methods",
        "mine.Mine",
    ]
    options = "--folds 2 --no-report --no-figures -q -o study".split()
    subprocess.run([*command, *options], cwd=tmp_path, check=True, capture_output=True)
    assert ",Mine," in (tmp_path / "study" / "summary.csv").read_text()
