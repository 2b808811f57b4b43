"""The command `info`: what a dataset or a model holds, and how good a model is on rows that it never saw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from hietan.cli import _completion
from hietan.cli._messages import (
    Quiet,
    errors,
    is_watched,
    make_console,
    make_table,
    printable,
    say,
    working,
)

if TYPE_CHECKING:
    from hietan.candidates import TrainedModel
    from hietan.datasets import CloseFeature, DatasetSummary


def info(
    what: Annotated[
        str,
        typer.Argument(
            help="A dataset, by a name such as worm-BP or by its file, or a model file.",
            autocompletion=_completion.datasets,
        ),
    ],
    quiet: Quiet = False,
) -> None:
    """Show what a dataset or a model holds.

    For a dataset: where it comes from, what was lost on the way, and the features that are suspiciously close to the
    label. For a model: what it was fitted to, and how good it is on rows that it never saw.
    """
    from hietan.candidates import TrainedModel
    from hietan.catalogue import load_dataset
    from hietan.datasets import closest_features
    from hietan.persistence import is_model

    with errors():
        if is_model(what):
            show_model(TrainedModel.load(what))
            return
        with working("reading"):
            data = load_dataset(what, progress=is_watched())
        closest = closest_features(data)
    show_dataset(data.summary())
    _show_closest(closest, data.target_names, data.row_noun)


def show_dataset(summary: DatasetSummary) -> None:
    """Print what a dataset holds, what was lost on the way and where it comes from."""
    console = make_console()
    name = printable(summary.name)
    console.print(f"{name}: {summary.n_rows:,} rows, {summary.n_features:,} features", style="bold")
    classes = ", ".join(f"{label} {count:,}" for label, count in summary.classes) or "no labels"
    shape = ", ".join(f"{what} {count:,}" for what, count in summary.hierarchy.items())
    console.print(f"{printable(classes)}; {summary.density:.2%} ones; {shape}")
    if summary.account:
        console.print(_table("What was lost on the way", ("kind", "what happened", "count"), summary.account))
    console.print(_table("Most common features", ("feature", "name", "rows"), summary.commonest))
    if summary.facts:
        console.print(_table("Where it comes from", ("what", "value"), summary.facts))


def _show_closest(closest: Sequence[CloseFeature], classes: Sequence[str], noun: str) -> None:
    """Print the features that are close to the label, and a warning if some of them seem to repeat it."""
    from hietan.datasets._label_leakage import CIRCULARITY, SIGNIFICANT

    if not closest:
        return
    rows = []
    for found in closest:
        name = f"{found.name} (called like the label: {found.word})" if found.word else found.name
        auc = "" if found.auc is None else f"{found.auc:.3f}"
        share = f"{100 * found.information:.1f} %{' *' if found.p_value < SIGNIFICANT else ''}"
        rows.append([found.feature, name, " / ".join(map(str, found.class_rows)), auc, share])
    right = {"justify": "right"}
    options = {
        "feature": {"no_wrap": True},
        "name": {},
        printable(f"{noun}s: {' / '.join(classes)}"): right,
        "AUC": right,
        "of the label": right,
    }
    title = (
        "Features closest to the label: each alone, its AUC and the share of the label's entropy that it explains "
        "(* p < 0.001, G-test with Bonferroni's correction)"
    )
    make_console().print(make_table(title, options, rows))
    suspicious = [found.feature for found in closest if found.is_suspicious]
    if suspicious:
        named = ", ".join(map(printable, suspicious[:3])) + (" ..." if len(suspicious) > 3 else "")
        say(f"warning: {len(suspicious)} features may repeat the label: {named}. {CIRCULARITY}", err=True)


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    options = {
        column: {"justify": "right" if column in ("count", "rows") else "left", "overflow": "fold"}
        for column in columns
    }
    cells = ((f"{cell:,}" if isinstance(cell, int) else cell for cell in row) for row in rows)
    return make_table(title, options, cells)


_MEASURES = {  # attribute of `Validation`: (label, what it says)
    "auc": ("AUC", "0.5 by chance, 1 at best"),
    "average_precision": ("average precision", "{prevalence:.3f} by chance, 1 at best"),
    "gmean": ("GMean", "geometric mean of the recalls; 1 at best"),
    "log_loss": ("log loss", "of the raw probabilities; 0 at best"),
    "calibrated_log_loss": ("log loss, calibrated", "of the calibrated probabilities; 0 at best"),
    "calibration_error": (
        "calibration error",
        "mean distance of calibrated probabilities from observed shares",
    ),
}


def quality_line(trained: TrainedModel) -> str:
    """The quality of a model on rows that were held out, in one line."""
    quality = trained.validation
    assert quality is not None
    values = {label: getattr(quality, name) for name, (label, _) in _MEASURES.items() if "log" not in name}
    listed = ", ".join(f"{label} {value:.3f}" for label, value in values.items() if value is not None)
    how = f"cross-validated in {quality.folds} folds, on {quality.n_rows} {trained.row_noun}s"
    if quality.is_held_out_once:
        how = f"measured on {quality.n_rows:,} {trained.row_noun}s held out once (--folds 5 cross-validates)"
    return f"{how}: {listed}"


def show_model(trained: TrainedModel) -> None:
    """Print what a model is, what it was fitted to, and how good it is."""
    console = make_console()
    console.print(printable(trained.description), style="bold", highlight=False)
    sizes = trained.class_sizes or ("",) * len(trained.class_names)
    classes = (f"{label} {size}".strip() for label, size in zip(trained.class_names, sizes, strict=True))
    console.print(
        printable(f"{', '.join(classes)}; {len(trained.feature_names):,} features; method {trained.method}"),
        highlight=False,
    )
    if trained.cutoff is not None:
        console.print(
            printable(f"{trained.class_names[1]} is predicted from log-odds of {trained.cutoff:.4g} on"),
            highlight=False,
        )
    if trained.validation is None:
        console.print("not validated: fit it again with --validate to measure and calibrate it")
        return
    _show_quality(trained)
    console.print(printable(trained.caution), highlight=False)


def _show_quality(trained: TrainedModel) -> None:
    quality, console = trained.validation, make_console()
    assert quality is not None
    prevalence = quality.class_rows[-1] / quality.n_rows
    rows = [
        [label, f"{getattr(quality, name):.3f}", words.format(prevalence=prevalence)]
        for name, (label, words) in _MEASURES.items()
        if getattr(quality, name) is not None
    ]
    columns = {"measure": {"no_wrap": True}, "value": {"justify": "right"}, "": {}}
    title = (
        f"Cross-validated in {quality.folds} folds: each of {quality.n_rows} {trained.row_noun}s was predicted by a "
        "model that never saw it"
    )
    if quality.is_held_out_once:
        title = (
            f"Measured on {quality.n_rows:,} {trained.row_noun}s that were held out once, and predicted by a model "
            "of all others"
        )
    console.print(make_table(title, columns, rows))
    if quality.curve:
        bins = [[f"{p:.2f}", f"{share:.2f}", f"{n:,}"] for p, share, n in quality.curve]
        heads = (f"calibrated P({trained.class_names[1]})", "observed share", f"{trained.row_noun}s")
        console.print(make_table("Calibration", {printable(h): {"justify": "right"} for h in heads}, bins))
