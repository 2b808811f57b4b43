"""The command `predict`: the rows of a dataset, ranked by a model."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli import _completion
from hietan.cli._messages import (
    Quiet,
    errors,
    is_watched,
    refuse_overwriting,
    say,
    tell,
    working,
)

if TYPE_CHECKING:
    from hietan.candidates import Candidates

TermUrls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PREFIX=URL",
        help="Link terms with this prefix to this address, in which {id} is the term and {code} what follows its "
        "prefix; the prefix * is for all others; may be repeated. GO, HP, MONDO, ICD10 and others are known.",
    ),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="Also show the classifier's own probabilities, without calibration.")
]
ModelFile = Annotated[Path, typer.Argument(help="A model file that `hietan fit` wrote.")]


def predict(
    model: ModelFile,
    dataset: Annotated[
        str,
        typer.Argument(
            help="The dataset with the rows to predict: a name or a file.",
            autocompletion=_completion.datasets,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")] = Path(
        "predictions.csv"
    ),
    raw: Raw = False,
    report: Annotated[
        bool,
        typer.Option("--report", help="Also write a page of candidates with reasons next to it (.html)."),
    ] = False,
    also: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="MODEL",
            help="Another model file: the page also shows what this model says, and where they agree; may "
            "be repeated.",
        ),
    ] = None,
    new_only: Annotated[
        bool,
        typer.Option(
            "--new-only", help="Leave out the rows that the model was trained on; else they come last."
        ),
    ] = False,
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Leave out the rows with these names (ids, symbols or synonyms): a name per line, or a "
            "table; may be "
            "repeated.",
        ),
    ] = None,
    exclude_column: Annotated[
        str | None, typer.Option(help="The column of names in the tables to exclude; the first unless given.")
    ] = None,
    only: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rank only the rows with these names (ids, symbols or synonyms), one per line. Choose them without "
            "looking at scores.",
        ),
    ] = None,
    fdr: Annotated[
        float | None,
        typer.Option(
            metavar="Q",
            help="Write only the rows that can be listed at this false discovery rate, such as 0.2: the share of rows "
            "in the list that are expected to be wrong.",
        ),
    ] = None,
    match: Annotated[
        str, typer.Option(help="The kinds of names by which rows are recognised, separated by commas.")
    ] = "id,symbol,synonym",
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Class by whose log-odds rows are ranked [default: the model's positive class].",
        ),
    ] = None,
    term_url: TermUrls = None,
    quiet: Quiet = False,
) -> None:
    """Rank the rows of a dataset by the log-odds of a model. Rows that it was trained on are not ranked."""
    from hietan.candidates import TrainedModel, rank_rows, read_names
    from hietan.candidates._names import check_kinds
    from hietan.catalogue import load_dataset
    from hietan.report._candidates_page import candidates_summary
    from hietan.report._html import parse_term_urls, render

    page = output.with_suffix(".html")
    with errors(output):
        kinds = tuple(part.strip() for part in match.split(",") if part.strip())
        check_kinds(kinds)
        if also and not report:
            raise ValueError("--also needs --report: what other models say is shown on the page")
        if report and output.exists() and not output.is_file():
            raise ValueError(
                f"--report writes a page next to the table, but {output} is not a file; name one with -o"
            )
        urls = parse_term_urls(term_url or ())
        for written in (output, page):
            refuse_overwriting(written, model, dataset, only, *(exclude or ()), *(also or ()))
        names = [name for path in exclude or () for name in read_names(path, exclude_column)]
        kept = None if only is None else read_names(only)
        with working("reading"):
            trained = TrainedModel.load(model)
            data = load_dataset(dataset, progress=is_watched())
        options: dict[str, Any] = {"raw": raw, "new_only": new_only, "exclude": names, "only": kept}
        with working(f"predicting {data.name}"):
            ranked = rank_rows(trained, data, match=kinds, positive=positive, **options)
        listed = ranked if fdr is None else ranked.select(fdr)
        texts = {output: listed.to_csv()}
        if report:
            command = shlex.join(["hietan", "explain", str(model), dataset])
            how: dict[str, Any] = {"match": kinds, "positive": ranked.positive or None}
            others = [rank_rows(TrainedModel.load(path), data, **how) for path in also or ()]
            with working("explaining both ends of the list") as progress:
                content = candidates_summary(
                    ranked, command=command, others=others, term_urls=urls, fdr=fdr, progress=progress
                )
            texts[page] = render(content)
        _write_together(texts)
    tell(ranked.trained.caution)
    if ranked.positive:
        tell(f"positive class: {ranked.positive}, by whose log-odds the rows are ranked")
    _tell_rows(
        ranked, len(data.instance_names), "are not candidates" if listed.selection else "are listed last"
    )
    if listed.selection is not None:
        restricted = "" if only is None else " This needs names that were chosen without looking at scores."
        say(f"{listed.selection.text}. {ranked.trained.error_rate_note}{restricted}")
    tell(f"written to {output}")
    if report:
        tell(f"report: {page}")


def _tell_rows(ranked: Candidates, n_rows: int, known: str) -> None:
    """Say how many rows are candidates, and what became of the others."""
    n_known = len(ranked.matches) - ranked.n_new
    left_out = n_rows - len(ranked.matches)
    noun = ranked.data.row_noun
    parts = [f"{ranked.n_new:,} candidates of {n_rows:,} {noun}s"]
    if n_known:
        weak = sum(found is not None and found.kind == "synonym" for found in ranked.matches)
        by_synonym = f", {weak} of them by a synonym alone" if weak else ""
        parts.append(f"{n_known} share a name with a training {noun} and {known}{by_synonym}")
    if left_out:
        parts.append(f"{left_out} left out")
    tell("; ".join(parts))
    if ranked.unrecognised:
        tell(ranked.unrecognised)


def _write_together(texts: dict[Path, str]) -> None:
    """Write several files, and replace none of them before all are complete."""
    from hietan._io.files import replacing

    with ExitStack() as stack:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(replacing(path, follow=True)).write_bytes(text.encode())
