"""The command `build`, which makes a dataset from files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from hietan.cli import _completion
from hietan.cli._info import show_dataset
from hietan.cli._messages import (
    Quiet,
    errors,
    is_quiet,
    refuse_overwriting,
    say,
    working,
)


def build(
    ctx: typer.Context,
    ontology: Annotated[
        Path,
        typer.Option(
            "--ontology",
            "--edges",
            "--obo",
            help="Hierarchy file in OBO format, or a table of edges, paths (`Animals > Pets > Dogs`) or codes "
            "(ICD-10, MeSH). Install the extra `ontologies` to read OBO-Graph JSON and OWL.",
        ),
    ],
    annotations: Annotated[
        Path,
        typer.Option(
            "--annotations",
            "--pairs",
            help="Annotation file: a table of pairs (id, term), a table `id<TAB>term;term;...`, GAF, GPAD, "
            "gene2go, HPO's phenotype.hpoa or a folder of phenopackets.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Dataset file to write.")],
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Table of ids with labels, or one id per line. Without it, all annotated ids become rows."
        ),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column of ids (or symbols) in the label table, by name or position.")
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="Column of labels, by name or position.")] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=CLASS",
            help="Class to use for this label. Labels without a class are dropped. May be repeated.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Read only label rows with this value in this column. May be repeated.",
        ),
    ] = None,
    others: Annotated[
        str,
        typer.Option(metavar="CLASS", help="Class for all annotated rows without a label."),
    ] = "",
    match: Annotated[
        str, typer.Option(help="Kinds of names to match ids by, separated by commas.")
    ] = "id,symbol,synonym",
    on_conflict: Annotated[
        str,
        typer.Option(
            help="How to treat rows with several labels: drop, first, majority or raise.",
            autocompletion=_completion.one_of("drop", "first", "majority", "raise"),
        ),
    ] = "drop",
    missing_labels: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT,TEXT,...",
            help="Values that mean `no label`, instead of NA, NaN, null and similar values. Empty fields always "
            "mean `no label`.",
        ),
    ] = None,
    label_words: Annotated[
        str | None,
        typer.Option(
            metavar="WORD,WORD,...",
            help="Synonyms of the label, such as ageing,lifespan. `hietan info` lists the terms that contain them.",
        ),
    ] = None,
    namespaces: Annotated[
        str | None, typer.Option(help="Namespaces of the terms to keep, such as BP,CC. [default: all]")
    ] = None,
    relations: Annotated[
        str, typer.Option(help="Relations along which annotations are inherited, separated by commas.")
    ] = "is_a",
    evidence: Annotated[
        str | None, typer.Option(help="Evidence codes to keep, such as IMP,IDA. [default: all]")
    ] = None,
    taxon: Annotated[
        str | None, typer.Option(help="NCBI taxon id of the organism to keep. [default: all]")
    ] = None,
    follow_replaced: Annotated[
        bool, typer.Option(help="Replace obsolete terms with their successors (replaced_by).")
    ] = False,
    ignore_punctuation: Annotated[
        bool,
        typer.Option(
            help="Match terms that differ only in case and punctuation, such as K563 and K56.3.",
        ),
    ] = False,
    min_support: Annotated[
        int, typer.Option(help="Keep terms that are present in at least this many rows.")
    ] = 3,
    drop_roots: Annotated[
        bool | None,
        typer.Option(
            help="Leave out the roots of the hierarchy. [default: yes; for an edge table, only if they are "
            "present in all rows]"
        ),
    ] = None,
    drop_constant: Annotated[
        bool, typer.Option(help="Leave out terms that are present in all rows.")
    ] = False,
    deduplicate: Annotated[
        bool, typer.Option(help="Keep only the first of several identical rows with the same class.")
    ] = False,
    features_of: Annotated[
        Path | None, typer.Option(help="Use exactly the features of this dataset, but not its options.")
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            help="Use the features and all options of this dataset, such as relations and evidence. If you set "
            "an option yourself, your value is used, with a warning."
        ),
    ] = None,
    drop_term: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERM",
            help="Leave out this term, all terms below it and their annotations, for example because they "
            "repeat the labels. May be repeated.",
        ),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option(
            help="Another table, joined to the rows by id. Its columns become ordinary features, such as `age=[30, "
            "45)`."
        ),
    ] = None,
    bins: Annotated[int, typer.Option(help="Number of bins for each numeric column of --columns.")] = 4,
    format: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of the hierarchy (obo, edges, paths, codes, obo-graph, owl) or of the annotations (gaf, "
            "gpad-1, gpad-2, gene2go, hpoa, pairs, term-lists, phenopackets). May be repeated. [default: detected]",
        ),
    ] = None,
    edge_columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B[,RELATION]",
            help="The two columns of an edge table, and optionally a relation column, by name or position (from 1).",
        ),
    ] = None,
    edge_order: Annotated[
        str | None,
        typer.Option(help="Order of the edge columns: parent-child or child-parent. [default: detected]"),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            help="Text between two names in a path of the hierarchy, such as ' > ' or ';'. [default: detected]"
        ),
    ] = None,
    prefix_codes: Annotated[
        bool,
        typer.Option(
            "--prefix-codes",
            help="Read the hierarchy as codes that begin with their parent's code, as E11.9 is below E11. With "
            "--separator, codes are split at the separator instead. [default: detected]",
        ),
    ] = False,
    pair_columns: Annotated[
        str | None,
        typer.Option(
            metavar="ID,TERM",
            help="Columns of ids and terms in an annotation table, by name or position.",
        ),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(help="Whether tables have a header row. [default: detected]"),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the dataset. [default: the file name]")] = None,
    row_noun: Annotated[
        str | None,
        typer.Option(
            help="Word for a row in reports. [default: gene for GAF, GPAD and gene2go, disease for phenotype.hpoa, "
            "patient for phenopackets, otherwise row]"
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Positive class to store in the dataset. [default: the rarer of two classes]",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Build a dataset from a hierarchy, annotations and labels. Three plain tables are enough.

    Each file may be CSV, TSV, gzipped or zipped or, with the extra `tables`, Parquet, Arrow or Excel.
    """
    arguments = dict(locals())
    from hietan.datasets import build_dataset

    with errors(output):
        refuse_overwriting(output, ontology, annotations, labels, features_of, like, columns)
        with working("building the dataset"):
            data = build_dataset(**_as_the_library_takes_them(arguments))
        with working("writing it"):
            data.save(output)
    if not is_quiet():
        show_dataset(data)
        say(f"dataset: {output}")


def _as_the_library_takes_them(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the options given to `build`, renamed to the arguments of `build_dataset`."""
    from hietan.catalogue import load_dataset

    context, output = arguments.pop("ctx"), arguments.pop("output")
    given = {
        name: value
        for name, value in arguments.items()
        if context.get_parameter_source(name).name != "DEFAULT" and name != "quiet"
    }
    made: dict[str, tuple[str, Any]] = {
        "map": ("mapping", lambda values: _pairs("--map", values)),
        "where": ("where", lambda values: _pairs("--where", values)),
        "drop_term": ("drop_terms", tuple),
        "like": ("like", lambda path: load_dataset(str(path))),
        "features_of": ("features", lambda path: load_dataset(str(path))),
    }
    for option, (name, make) in made.items():
        if option in given:
            given[name] = make(given.pop(option))
    return {"name": output.stem} | given


def _pairs(option: str, values: Iterable[str]) -> dict[str, str]:
    found = dict[str, str]()
    for value in values:
        key, equals, meaning = value.partition("=")
        if not equals:
            raise ValueError(f"{option} is {value!r}; expected KEY=VALUE")
        found[key.strip()] = meaning.strip()
    return found
