"""The command `info`, which shows what a dataset or a model contains, and a model's quality on rows it never saw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding

from hietan.cli import _completion
from hietan.cli._messages import (
    Json,
    Quiet,
    errors,
    is_watched,
    make_console,
    make_table,
    print_json,
    printable,
    say,
    working,
)

if TYPE_CHECKING:
    from hietan.datasets import CloseFeature, Dataset
    from hietan.models import Model

_TEXTS = ("dataset", "kind", "what happened", "feature", "name", "what", "value")  # columns of text
MOST_CLASSES = 12  # more are counted, not listed


def info(
    what: Annotated[
        list[str],
        typer.Argument(
            help="Dataset (a name such as worm-BP, or a file) or model file. Several datasets, or a set such as "
            "ageing-2025, are listed in one table.",
            autocompletion=_completion.studied_datasets,
        ),
    ],
    label_words: Annotated[
        str,
        typer.Option(
            metavar="WORD,WORD,...",
            help="Synonyms of the label, such as ageing,lifespan. Terms that contain them are listed.",
        ),
    ] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what a dataset or a model contains.

    For a dataset: its origin, what was dropped, identical rows, and features that are named like the label or unusually
    strong. For several datasets: their sizes and identical rows. For a model: its training data, and how good it is on
    rows that it never saw.
    """
    from hietan.catalogue import load_datasets
    from hietan.datasets import closest_features
    from hietan.models import Model
    from hietan.persistence import is_model

    with errors():
        if len(what) == 1 and is_model(what[0]):
            trained = Model.load(what[0])
            if as_json:
                print_json(model_facts(trained))
            else:
                show_model(trained)
            return
        if models := [name for name in what if is_model(name)]:
            raise ValueError(
                f"{models[0]} is a model; show it alone, or score it on a dataset with `hietan evaluate MODEL DATASET`"
            )
        with working("reading"):
            data, *others = load_datasets(what, progress=is_watched())
        if as_json:
            print_json([_dataset_facts(each) for each in (data, *others)] if others else _dataset_facts(data))
            return
        if others:
            make_console().print(_listed([data, *others]))
            if warned := [each.name for each in (data, *others) if each.equal_rows.warning]:
                say(
                    f"warning: far more pairs contradict each other than expected in {', '.join(warned)}",
                    err=True,
                )
            return
        words = [word.strip() for word in label_words.split(",") if word.strip()]
        named, strong = closest_features(data, words=words)
    show_dataset(data)
    if data.equal_rows.warning:
        say(f"warning: {data.equal_rows.warning}", err=True)
    _show_close("Features named like the label", named, data)
    _show_close("Unusually strong features, each alone", strong, data)
    if data.is_labelled and not named:
        say("no feature is named like the label; list synonyms of the label with --label-words", err=True)
    if named:
        from hietan.datasets._label_leakage import CIRCULARITY

        listed = ", ".join(found.feature for found in named[:3]) + (" ..." if len(named) > 3 else "")
        say(f"warning: {len(named)} features are named like the label: {listed}. {CIRCULARITY}", err=True)


def _dataset_facts(data: Dataset) -> dict[str, Any]:
    """Return a dataset in the form that `info --json` prints."""
    summary = data.summary()
    return {
        "name": summary.name,
        "rows": summary.n_rows,
        "features": summary.n_features,
        "classes": dict(summary.classes),
        "positive": summary.positive,
        "density": summary.density,
        "hierarchy": summary.hierarchy,
        "annotations_auc": summary.annotations_auc,
        "equal_rows": asdict(data.equal_rows),
        "provenance": {key: value for key, value in data.provenance.items() if key != "aliases"},
    }


def model_facts(trained: Model) -> dict[str, Any]:
    """Return the model facts that `info --json` and `fit --json` print."""
    from hietan.models import words

    return {
        "description": words.description(trained),
        "method": trained.method,
        "dataset": trained.dataset,
        "seed": trained.seed,
        "features": len(trained.feature_names),
        "classes": trained.class_sizes,
        "positive": trained.positive,
        "unlabelled": trained.unlabelled,
        "unlabelled_bound": trained.unlabelled_bound,
        "stored": stored_facts(trained),
        "calibration": trained.calibration,
        "cutoff": trained.cutoff,
        "validation": trained.quality,
        "caution": words.caution(trained),
    }


def stored_facts(trained: Model) -> dict[str, Any]:
    """Return what a model file tells about single training rows."""
    from hietan.models.names import RowNames

    has_names = isinstance(trained.training.names, RowNames)
    n = len(trained.training)
    return {
        "row_names": n if has_names else 0,
        "hashed_names": not has_names,
        "labels": n,
        "feature_hashes": n,
        "held_out_scores": 0 if trained.held_out is None else len(trained.held_out),
    }


def stored_line(trained: Model) -> str:
    """Return a sentence about what a model file tells about single training rows."""
    stored, noun = stored_facts(trained), trained.row_noun
    names, advice, more = "the name, ", " To leave out the names, use hietan fit --no-row-names.", []
    if stored["hashed_names"]:
        names, advice, more = "", "", ["hashes of the names in another order"]
    if stored["held_out_scores"]:
        more.append(f"{stored['held_out_scores']:,} held-out scores")
    also = f" It also contains {' and '.join(more)}." if more else ""
    rows = f"{stored['labels']:,} training {noun}s"
    each = f"{names}the class, a hash of the features and their number"
    return f"For each of {rows}, the file contains {each}.{also}{advice}"


def _listed(datasets: Sequence[Dataset]) -> Padding:
    """Return a table with one line per dataset and the totals."""
    names = ("dataset", "rows", "features", "have an equal", "pairs", "different classes", "expected")
    rows: list[list[Any]] = []
    for data in datasets:
        equal = data.equal_rows
        classes = [equal.contradictions, equal.expected] if len(data.target_names) > 1 else ["", ""]
        rows.append([data.name, *data.X.shape, equal.rows, equal.pairs, *classes])
    rows.append(
        ["total", *(sum(row[k] or 0 for row in rows) if k != 2 else "" for k in range(1, len(names)))]
    )
    return _table("Datasets and their equal rows", names, rows)


def show_dataset(data: Dataset) -> None:
    """Print a dataset's contents, what was dropped, how many rows are identical, and where the data come from."""
    console, summary = make_console(), data.summary()
    name = printable(summary.name)
    console.print(f"{name}: {summary.n_rows:,} rows, {summary.n_features:,} features", style="bold")
    listed = [f"{label} {count:,}" for label, count in summary.classes]
    if len(listed) > MOST_CLASSES:
        listed[MOST_CLASSES:] = [f"{len(listed) - MOST_CLASSES:,} more classes"]
    classes = ", ".join(listed) or "no labels"
    shape = ", ".join(f"{what} {count:,}" for what, count in summary.hierarchy.items())
    console.print(f"{printable(classes)}; {summary.density:.2%} ones; {shape}")
    if summary.annotations_auc is not None:
        positive, auc = printable(summary.positive), summary.annotations_auc
        console.print(
            f"positive class: {positive}; number of annotations (with ancestors) alone: AUC {auc:.3f}",
            highlight=False,
        )
    console.print(str(data.equal_rows), highlight=False)
    if summary.account:
        console.print(_table("What was dropped", ("kind", "what happened", "count"), summary.account))
    console.print(_table("Most common features", ("feature", "name", "rows"), summary.commonest))
    if summary.facts:
        console.print(_table("Origin", ("what", "value"), summary.facts))


def _show_close(title: str, features: Sequence[CloseFeature], data: Dataset) -> None:
    """Print any features that are close to the label."""
    if not features:
        return
    rows = []
    for found in features:
        name = f"{found.name} ({found.word})" if found.word else found.name
        auc = "" if found.auc is None else f"{found.auc:.3f}"
        counts = " / ".join(map(str, found.class_rows))
        rows.append([found.feature, name, counts, auc, f"{100 * found.information:.1f}%"])
    right = {"justify": "right"}
    options = {
        "feature": {"no_wrap": True},
        "name": {},
        printable(f"{data.row_noun}s: {' / '.join(data.target_names)}"): right,
        "AUC": right,
        "of the label": right,
    }
    make_console().print(make_table(f"{title} (with its share of the label's entropy)", options, rows))


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Padding:
    options = {
        column: {"justify": "left" if column in _TEXTS else "right", "overflow": "fold"} for column in columns
    }
    written = {int: "{:,}", float: "{:,.1f}"}
    cells = ((written.get(type(cell), "{}").format(cell) for cell in row) for row in rows)
    return make_table(title, options, cells)


_MEASURES = {  # key of `Model.quality`: (label, meaning)
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


def _of_class(name: str, label: str, positive: str) -> str:
    """Return a metric's label with the class it refers to."""
    return f"{label} ({positive})" if positive and name == "average_precision" else label


def quality_line(trained: Model) -> str:
    """Return one line that reports the model's quality on held-out rows."""
    quality = trained.quality
    assert quality is not None
    positive = trained.positive if len(trained.class_names) == 2 else ""  # metrics of more classes are means
    values = {
        _of_class(name, label, positive): quality[name]
        for name, (label, _) in _MEASURES.items()
        if "log" not in name
    }
    listed = ", ".join(f"{label} {value:.3f}" for label, value in values.items() if value is not None)
    n_rows = sum(quality["class_rows"])
    how = f"cross-validated in {quality['folds']} folds, on {n_rows:,} {trained.row_noun}s"
    if trained.unlabelled:
        how += f", {positive} against {trained.unlabelled} (unlabelled)"
    if quality["folds"] == 1:
        why = "the model was fitted without them" if trained.is_split else "--folds 5 cross-validates"
        how = f"measured on {n_rows:,} {trained.row_noun}s held out once ({why})"
    return f"{how}: {listed}"


def bias_lines(trained: Model) -> list[str]:
    """Return lines on how well the number of annotations alone predicts the classes and the model's log-odds."""
    quality, noun = trained.quality, trained.row_noun
    if quality is None or quality["annotations_auc"] is None:
        return []
    alone = f"number of annotations (with ancestors) alone: AUC {quality['annotations_auc']:.3f} ({trained.positive})"
    if quality["annotations_correlation"] is not None:
        alone += (
            f"; rank correlation of this number with the log-odds: {quality['annotations_correlation']:+.2f}"
        )
    halves = [("at most", quality["few_auc"]), ("more than", quality["many_auc"])]
    parts = [
        f"{noun}s with {limit} {quality['median_annotations']:g} annotations: {auc:.3f}"
        for limit, auc in halves
        if auc is not None
    ]
    return [alone, *([f"AUC of the model among {', '.join(parts)}"] if parts else [])]


def show_model(trained: Model) -> None:
    """Print a model's method, training data and quality."""
    from hietan.models import words

    console = make_console()
    console.print(printable(words.description(trained)), style="bold", highlight=False)
    classes = (f"{label} {size}" for label, size in trained.class_sizes.items())
    console.print(
        printable(f"{', '.join(classes)}; {len(trained.feature_names):,} features; method {trained.method}"),
        highlight=False,
    )
    if trained.positive:
        apart = f"; {trained.unlabelled} is unlabelled" if trained.unlabelled else ""
        console.print(printable(f"positive class: {trained.positive}{apart}"), highlight=False)
    if trained.cutoff is not None:
        console.print(
            printable(f"{trained.positive} is predicted at log-odds of {trained.cutoff:.4g} or more"),
            highlight=False,
        )
    console.print(printable(stored_line(trained)), highlight=False)
    if trained.quality is None:
        console.print("not validated: fit it again with --validate to measure and calibrate it")
        return
    _show_quality(trained)
    more = ""
    if trained.unlabelled:
        more = words.bound_note(trained)
    elif trained.held_out is not None and trained.held_out.log_proba is not None and trained.positive:
        more = words.error_rate_note(trained)
    console.print(printable(f"{words.caution(trained)} {more}".strip()), highlight=False)


def _show_quality(trained: Model) -> None:
    from hietan.models import words

    quality, console = trained.quality, make_console()
    assert quality is not None
    positive = trained.positive if len(trained.class_names) == 2 else ""  # metrics of more classes are means
    n_rows = sum(quality["class_rows"])
    prevalence = 1 / len(quality["class_rows"])  # the mean over the classes
    if positive:
        prevalence = quality["class_rows"][-1] / n_rows
    rows = [
        [_of_class(name, label, positive), f"{quality[name]:.3f}", meaning.format(prevalence=prevalence)]
        for name, (label, meaning) in _MEASURES.items()
        if quality[name] is not None
    ]
    columns = {"measure": {"no_wrap": True}, "value": {"justify": "right"}, "": {}}
    title = (
        f"Cross-validated in {quality['folds']} folds: each of {n_rows} {trained.row_noun}s was predicted by "
        "a model that had not seen it"
    )
    if quality["folds"] == 1:
        title = (
            f"Measured on {n_rows:,} {trained.row_noun}s, held out once and predicted by a model fitted to "
            "the others"
        )
    measures, bias = [make_table(title, columns, rows)], [printable(line) for line in bias_lines(trained)]
    for part in [*bias, *measures] if trained.unlabelled else [*measures, *bias]:
        console.print(part, highlight=False)
    if quality["curve"]:
        bins = [[f"{p:.2f}", f"{share:.2f}", f"{n:,}"] for p, share, n in quality["curve"]]
        heads = (f"calibrated P({positive})", "observed share", f"{trained.row_noun}s")
        console.print(make_table("Calibration", {printable(h): {"justify": "right"} for h in heads}, bins))
    if note := words.quality_note(trained):
        console.print(printable(note), highlight=False)
