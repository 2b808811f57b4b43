"""The command `evaluate`, which tests a model on labelled rows that it never saw."""

from __future__ import annotations

from typing import Annotated

import typer

from hietan.cli import _completion
from hietan.cli._messages import (
    Json,
    Quiet,
    errors,
    is_watched,
    make_console,
    make_table,
    print_json,
    say,
    working,
)
from hietan.cli._predict import Match, ModelFile, name_kinds


def evaluate(
    model: ModelFile,
    dataset: Annotated[
        str,
        typer.Argument(help="Labelled dataset: a name or a file.", autocompletion=_completion.datasets),
    ],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    match: Match = "id,symbol,synonym",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score a model on labelled rows that it never saw.

    The result is compared with the model's own validation. Training rows are left out. Intervals are 95% bootstrap
    intervals over rows.
    """
    from hietan.catalogue import load_dataset
    from hietan.models import Model, evaluate_model, words
    from hietan.scores import METRICS

    with errors():
        kinds = name_kinds(match)
        with working("reading"):
            trained = Model.load(model)
            data = load_dataset(dataset, progress=is_watched())
        with working("evaluating"):
            found = evaluate_model(trained, data, seed=seed, match=kinds)
    if as_json:
        print_json(found.to_dict())
        return
    noun, rows = data.row_noun, []
    for name, measured in found.metrics.items():
        before = "" if measured.validated is None else f"{measured.validated:.3f}"
        label = METRICS[name].label if name in METRICS else name.replace("_", " ")
        interval = f"{measured.low:.3f} to {measured.high:.3f}"
        rows.append([label, f"{measured.value:.3f}", interval, before, "drifted" if measured.drifted else ""])
    classes = ", ".join(f"{name} {n:,}" for name, n in found.class_rows.items())
    left_out = f"; {found.left_out:,} training {noun}s are left out" if found.left_out else ""
    say(
        f"{words.description(trained)}, on {sum(found.class_rows.values()):,} {noun}s of {data.name}: {classes}"
        f"{left_out}"
    )
    columns = {"metric": {"no_wrap": True}} | {
        h: {"justify": "right"} for h in ("value", "95% interval", "validation")
    }
    make_console().print(make_table("New rows and validation", {**columns, "": {}}, rows))
    bins = [[f"{p:.2f}", f"{share:.2f}", f"{n:,}"] for p, share, n in found.curve]
    if bins:
        heads = (f"P({trained.positive})", "observed share", f"{noun}s")
        make_console().print(make_table("Calibration", {head: {"justify": "right"} for head in heads}, bins))
    if found.positive_share is not None and found.validated_share is not None:
        say(
            f"share of {trained.positive}: {found.positive_share:.1%} here, {found.validated_share:.1%} in the "
            "validation"
        )
    if found.validated_annotations is not None:
        say(
            f"median number of annotations: {found.median_annotations:g} here, {found.validated_annotations:g} in the "
            "validation"
        )
    if any(measured.drifted for measured in found.metrics.values()):
        say("drifted: the value is worse than in the validation by more than sampling error")
