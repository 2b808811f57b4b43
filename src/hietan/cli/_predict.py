"""The command `predict`, which ranks a dataset's rows with a model."""

from __future__ import annotations

import io
import json
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from itertools import chain, count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli import _completion
from hietan.cli._info import bias_lines
from hietan.cli._messages import (
    Json,
    Quiet,
    errors,
    is_watched,
    print_json,
    refuse_overwriting,
    say,
    tell,
    working,
)

if TYPE_CHECKING:
    from hietan.models import Candidates

TermUrls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PREFIX=URL",
        help="URL for links to terms with this prefix; {id} stands for the term and {code} for the part after the "
        "prefix. The prefix * matches all other prefixes. URLs for GO, HP, MONDO, ICD10 and others are built in. "
        "May be repeated.",
    ),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="Also show the classifier's raw probabilities, without calibration.")
]
Match = Annotated[
    str,
    typer.Option(
        help="Kinds of names by which training rows are recognised, separated by commas; none treats all rows as new."
    ),
]
_OF_STREAMS = ("model", "dataset", "hierarchy", "reasons", "as_json", "quiet")
_ROWS_AT_ONCE = 1000
ModelFile = Annotated[Path, typer.Argument(help="Model file written by `hietan fit`.")]


def predict(
    ctx: typer.Context,
    model: ModelFile,
    dataset: Annotated[
        str,
        typer.Argument(
            help="Dataset with the rows to predict: a name or a file. Use - to read rows of terms from standard "
            "input and write JSON lines.",
            autocompletion=_completion.datasets,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV file to write.")] = Path(
        "predictions.csv"
    ),
    raw: Raw = False,
    report: Annotated[
        bool,
        typer.Option("--report", help="Also write a report with reasons next to the CSV file (.html)."),
    ] = False,
    also: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="MODEL",
            help="Another model file to compare with in the report. May be repeated.",
        ),
    ] = None,
    new_only: Annotated[
        bool,
        typer.Option("--new-only", help="Omit training rows, which otherwise come last."),
    ] = False,
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="File of rows to omit, by id, symbol or synonym: one name per line, or a table. May be "
            "repeated.",
        ),
    ] = None,
    exclude_column: Annotated[
        str | None,
        typer.Option(
            help="Column of names in --exclude tables. [default: instance, otherwise the first column]"
        ),
    ] = None,
    only: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of rows to rank, by id, symbol or synonym, one per line. Choose them without looking at the "
            "predictions.",
        ),
    ] = None,
    fdr: Annotated[
        float | None,
        typer.Option(
            metavar="Q",
            help="False discovery rate, such as 0.2: the expected share of wrong rows in the list. Write only as many "
            "rows as this rate allows.",
        ),
    ] = None,
    match: Match = "id,symbol,synonym",
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Positive class. Rows are ranked by its log-odds. [default: the model's positive class]",
        ),
    ] = None,
    prior: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of positives among unlabelled rows, such as 0.02, for a model fitted with --unlabelled. Rows "
            "then get probabilities.",
        ),
    ] = None,
    term_url: TermUrls = None,
    hierarchy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With -: a newer or larger hierarchy than the model's. Terms that the model lacks are replaced "
            "with their ancestors in the model.",
        ),
    ] = None,
    reasons: Annotated[
        int,
        typer.Option(min=0, help="With -: number of contributions to show for each row, strongest first."),
    ] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rank the rows of a dataset by the log-odds of a model. Training rows are not ranked.

    With - in place of a dataset, rows of terms are read from the standard input: JSON lines, such as ["a", "b"] or
    {"id": "row 1", "terms": ["a", "b"]}, or a table of pairs (id, term). A JSON line is written for each row.
    """
    from hietan.catalogue import load_dataset
    from hietan.models import Model, rank_rows, read_names, words
    from hietan.report._candidates_page import candidates_summary
    from hietan.report._html import parse_term_urls, render

    page = output.with_suffix(".html")
    stopped = "all rows answered so far are complete" if dataset == "-" else "nothing was written"
    with errors(None if dataset == "-" else output, interrupted=stopped):
        if dataset == "-":
            for name in ctx.params.keys() - _OF_STREAMS:
                if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE":
                    raise ValueError(
                        f"--{name.replace('_', '-')} only applies to datasets; omit it, because rows from "
                        "standard input are written as JSON lines"
                    )
            predict_stream(typer.get_binary_stream("stdin"), model, hierarchy, reasons)
            return
        if hierarchy or reasons:
            raise ValueError(
                "--hierarchy and --reasons only apply to rows from standard input (-); omit them for a dataset"
            )
        kinds = name_kinds(match)
        if also and not report:
            raise ValueError(
                "--also needs --report, because only the report shows the predictions of other models"
            )
        if report and output.exists() and not output.is_file():
            raise ValueError(
                f"--report writes a report next to the CSV file, but {output} is not a file; choose a file with "
                "-o"
            )
        urls = parse_term_urls(term_url or ())
        for written in (output, page):
            refuse_overwriting(written, model, dataset, only, *(exclude or ()), *(also or ()))
        names = [name for path in exclude or () for name in read_names(path, exclude_column)]
        kept = None if only is None else read_names(only)
        with working("reading"):
            trained = Model.load(model)
            data = load_dataset(dataset, progress=is_watched())
        options: dict[str, Any] = {"raw": raw, "new_only": new_only, "exclude": names, "only": kept}
        with working(f"predicting {data.name}"):
            ranked = rank_rows(trained, data, match=kinds, positive=positive, prior=prior, **options)
        listed = ranked if fdr is None else ranked.select(fdr)
        texts = {output: listed.to_csv()}
        if report:
            command = shlex.join(["hietan", "explain", str(model), dataset])
            how: dict[str, Any] = {"match": kinds, "positive": ranked.positive or None}
            others = [rank_rows(Model.load(path), data, **how) for path in also or ()]
            with working("explaining both ends of the list") as progress:
                content = candidates_summary(
                    ranked, command=command, others=others, term_urls=urls, fdr=fdr, progress=progress
                )
            texts[page] = render(content)
        _write_together(texts)
    if as_json:
        chosen = None
        if listed.selection is not None:
            chosen = asdict(listed.selection) | {"text": listed.selection_text(listed.selection)}
        print_json(
            {
                "output": str(output),
                "report": str(page) if report else None,
                "rows": len(ranked.matches),
                "candidates": ranked.n_new,
                "listed": listed.n_new,
                "positive": ranked.positive,
                "selection": chosen,
                "prior": prior,
                "unlabelled_bound": trained.unlabelled_bound,
                "caution": words.caution(trained),
            }
        )
        return
    if trained.unlabelled:
        for line in [*bias_lines(trained), words.bound_note(trained)]:
            tell(line)
    tell(words.caution(ranked.model))
    if prior is not None and trained.quality is not None:
        auc = (trained.quality["auc"] - prior / 2) / (1 - prior)
        against = f"AUC {auc:.3f} against the others"
        if auc > 1:
            against = "no AUC against the others, because the share is too large for these held-out rows"
        tell(f"if {prior:.3g} of the unlabelled {data.row_noun}s are {ranked.positive}: {against}")
    if ranked.positive:
        tell(f"positive class: {ranked.positive}; rows are ranked by its log-odds")
    _tell_rows(
        ranked, len(data.instance_names), "are not candidates" if listed.selection else "are listed last"
    )
    if listed.selection is not None:
        restricted = (
            "" if only is None else " This assumes that the names were chosen without looking at scores."
        )
        say(f"{listed.selection_text(listed.selection)}. {words.error_rate_note(ranked.model)}{restricted}")
    tell(f"written to {output}")
    if report:
        tell(f"report: {page}")


def name_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of names in the option --match, checked."""
    from hietan.models.names import check_kinds

    kinds = tuple(part.strip() for part in text.split(",") if part.strip())
    check_kinds(kinds)
    return kinds


def predict_stream(stream: Any, model: Path, hierarchy: Path | None, reasons: int) -> None:
    """Predict rows of terms, and print a JSON line for each row.

    Rows are predicted together, at most 1,000 at a time. Those that have come are predicted before more are waited for.
    """
    from hietan._runtime.spelling import first_few
    from hietan.datasets import read_ontology
    from hietan.datasets._building.options import ALL_EDGES
    from hietan.exceptions import DataError
    from hietan.models import Model
    from hietan.models.serving import closed_columns, predict_terms

    trained, newer, ontology = Model.load(model), None, None
    if hierarchy is not None:
        relations, ontology = trained.provenance.get("options", {}).get("relations"), read_ontology(hierarchy)
        newer = ontology.hierarchy_of(["is_a"] if relations in (None, [ALL_EDGES]) else relations)
    closed = closed_columns(trained, newer, ontology)
    batch, strange, number = list[tuple[Any, list[str]]](), Counter[str](), count(1)

    def answer() -> None:
        found = predict_terms(trained, [row[1] for row in batch], closed, trained.unknown_terms, reasons)
        for (name, terms), prediction, n in zip(batch, found, number, strict=False):
            if 0 < len(terms) == len(prediction.unknown):
                strange[str(n if name is None else name) if len(strange) < 3 else ""] += 1
            print_json(({} if name is None else {"id": name}) | prediction.to_dict())
        batch.clear()

    def read(size: int) -> Any:
        answer()  # before more rows are waited for
        return stream.read1(size)

    try:
        # Without `seek`, the readers treat a redirected file like a pipe and refuse Parquet and gzip files.
        for row in _rows_of(SimpleNamespace(read1=read, read=stream.read, name="standard input")):
            batch.append(row)
            if len(batch) == _ROWS_AT_ONCE:
                answer()
    except DataError:  # the rows before a damaged line are answered
        answer()
        raise
    answer()
    if strange:
        say(
            f"warning: {strange.total():,} of {next(number) - 1:,} rows have only terms that the model does not know, "
            f"such as {first_few(list(filter(None, strange)))}",
            err=True,
        )


def _rows_of(stream: Any) -> Iterator[tuple[Any, list[str]]]:
    """Yield each row's name, if it has one, and its terms, from JSON lines or from a table of pairs."""
    from hietan.datasets._readers.annotations import AnnotationReader
    from hietan.datasets._readers.files import numbered_lines

    lines = numbered_lines(stream)
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None:
        return
    if first[1].lstrip()[0] in "[{":
        for number, line in chain([first], lines):
            if line.strip():
                yield _parsed(line, number)
        return
    table: Any = io.StringIO("\n" * (first[0] - 1) + "\n".join(line for _, line in chain([first], lines)))
    table.name = stream.name
    terms_of: dict[str, list[str]] = {}
    for pair in AnnotationReader(table, keep_empty=True):
        terms_of.setdefault(pair.object_id, []).extend([pair.term] if pair.term and not pair.negated else [])
    yield from terms_of.items()


def _parsed(line: str, number: int) -> tuple[Any, list[str]]:
    """Return the name and the terms of a JSON row. The name is None if the row has none."""
    from hietan.datasets._readers.phenopackets import unique_keys
    from hietan.exceptions import DataError

    try:
        found = json.loads(line, object_pairs_hook=unique_keys)
        name, terms = (found.get("id"), found.get("terms")) if isinstance(found, dict) else (None, found)
        json.dumps(name, allow_nan=False)  # JSON has no NaN, so it cannot be in an answer either
    except (ValueError, RecursionError) as error:
        raise DataError(
            f'this line is not JSON ({error}); expected a list of terms, such as ["term", ...]',
            "standard input",
            number,
        ) from None
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        raise DataError(
            f'expected ["term", ...] or {{"id": ..., "terms": ["term", ...]}} with terms as text, got {line[:80]}',
            "standard input",
            number,
        )
    return name, terms


def _tell_rows(ranked: Candidates, n_rows: int, known: str) -> None:
    """Print how many rows are candidates, and what happened to the other rows."""
    n_known = len(ranked.matches) - ranked.n_new
    left_out = n_rows - len(ranked.matches)
    noun = ranked.data.row_noun
    parts = [f"{ranked.n_new:,} candidates of {n_rows:,} {noun}s"]
    if n_known:
        weak = sum(found is not None and found.kind == "synonym" for found in ranked.matches)
        by_synonym = f" ({weak} of them recognised only by a synonym)" if weak else ""
        parts.append(f"{n_known} training {noun}s {known}{by_synonym}")
    if left_out:
        parts.append(f"{left_out} left out")
    if ranked.held_out is not None and ranked.held_out.any():
        parts.append(
            f"{int(ranked.held_out.sum()):,} unlabelled training {noun}s are ranked, each by a model that did not "
            "see it"
        )
    tell("; ".join(parts))
    if ranked.unrecognised:
        tell(ranked.unrecognised)


def _write_together(texts: dict[Path, str]) -> None:
    """Write several files, and replace none of them until all are complete."""
    from hietan._io.files import replacing

    with ExitStack() as stack:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(replacing(path, follow=True)).write_bytes(text.encode())
