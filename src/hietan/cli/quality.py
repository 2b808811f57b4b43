"""What the terminal shows about a model: what it was fitted to, and how good it is on rows that it never saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hietan.cli.messages import make_console, make_table, printable

if TYPE_CHECKING:
    from hietan.candidates import TrainedModel

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
