"""The command `build`: a dataset from files."""

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
            help="The hierarchy: OBO, a CSV or TSV table of edges; or OBO-Graph JSON or OWL with the extra "
            "`ontologies`.",
        ),
    ],
    annotations: Annotated[
        Path,
        typer.Option(
            "--annotations",
            "--pairs",
            help="Which row has which terms: a table of pairs (id, term), a table `id<TAB>term;term;...`, GAF, GPAD, "
            "gene2go or HPO's phenotype.hpoa.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The dataset file to write.")],
    labels: Annotated[
        Path | None,
        typer.Option(help="A CSV or TSV file of ids with labels; without it, all annotated ids are rows."),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="The column of ids (or symbols) in the labels, by name or position.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="The column of labels, by name or position.")
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=CLASS", help="Use this label as this class and drop other labels; may be repeated."
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Read only rows with this value; may be repeated."),
    ] = None,
    match: Annotated[
        str, typer.Option(help="The kinds of names to match ids with, separated by commas.")
    ] = "id,symbol,synonym",
    on_conflict: Annotated[
        str,
        typer.Option(
            help="What to do with genes that have several labels: drop, first, majority or raise.",
            autocompletion=_completion.one_of("drop", "first", "majority", "raise"),
        ),
    ] = "drop",
    missing_labels: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT,TEXT,...",
            help="Labels that mean that a row has none, instead of NA, NaN, null and the like; empty fields always do.",
        ),
    ] = None,
    label_words: Annotated[
        str | None,
        typer.Option(
            metavar="WORD,WORD,...",
            help="Words that mean the same as the label, such as ageing,lifespan; `hietan info` lists the terms that "
            "have them in their names.",
        ),
    ] = None,
    namespaces: Annotated[
        str | None, typer.Option(help="Namespaces of the terms to keep, such as BP,CC [default: all].")
    ] = None,
    relations: Annotated[
        str, typer.Option(help="The relations along which annotations are inherited, separated by commas.")
    ] = "is_a",
    evidence: Annotated[
        str | None, typer.Option(help="The evidence codes to keep, such as IMP,IDA; all unless given.")
    ] = None,
    taxon: Annotated[
        str | None, typer.Option(help="The only organism to keep, by its NCBI taxon id.")
    ] = None,
    follow_replaced: Annotated[
        bool, typer.Option(help="Use the successors of obsolete terms (replaced_by).")
    ] = False,
    min_support: Annotated[int, typer.Option(help="Keep terms that at least this many rows have.")] = 3,
    drop_roots: Annotated[
        bool | None,
        typer.Option(
            help="Leave out the roots of the hierarchy; unless given, those of a table of edges only if all "
            "rows have them."
        ),
    ] = None,
    drop_constant: Annotated[bool, typer.Option(help="Leave out terms that all rows have.")] = False,
    deduplicate: Annotated[
        bool, typer.Option(help="Keep only the first of identical rows of a class.")
    ] = False,
    features_of: Annotated[
        Path | None, typer.Option(help="Use exactly the columns of this dataset, and none of its options.")
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            help="Use the columns and all options of this dataset, such as relations and evidence; options that you "
            "give replace its options, and a warning says so."
        ),
    ] = None,
    drop_term: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERM",
            help="Leave out this term, all terms below it and all annotations with them, for instance "
            "because they say the "
            "same as the labels; may be repeated.",
        ),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option(
            help="A further table, joined by row: its columns become ordinary features, such as `age=[30, 45)`."
        ),
    ] = None,
    bins: Annotated[
        int, typer.Option(help="Into how many bins the numbers of a column of --columns are put.")
    ] = 4,
    format: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT",
            help="The format of the hierarchy (obo, edges, obo-graph, owl) or of the annotations (gaf, "
            "gpad-1, gpad-2, "
            "gene2go, hpoa, pairs, term-lists), which are recognised unless given; may be repeated.",
        ),
    ] = None,
    edge_columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B[,RELATION]",
            help="The two columns of a table of edges and perhaps that of relations, by name or position (from 1).",
        ),
    ] = None,
    edge_order: Annotated[
        str | None,
        typer.Option(
            help="The order of these columns: parent-child or child-parent; found out unless given."
        ),
    ] = None,
    pair_columns: Annotated[
        str | None,
        typer.Option(
            metavar="ID,TERM",
            help="The columns of ids and terms in a table of annotations, by name or position.",
        ),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(help="Whether tables begin with the names of their columns; found out unless given."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The name of the dataset; the name of the file unless given.")
    ] = None,
    row_noun: Annotated[
        str | None,
        typer.Option(help="What to call a row in reports; `gene` for GAF and gene2go, otherwise `row`."),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS", help="Positive class, kept in the dataset [default: the rarer of two]."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Build a dataset from a hierarchy, annotations and labels. Three plain tables are enough."""
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


def _as_the_library_takes_them(arguments: dict[str, Any]) -> dict[str, Any]:
    """The options that were given to `build`, in the names and forms of the arguments of `build_dataset`."""
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
