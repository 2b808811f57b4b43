"""The commands about data: `datasets`, `build`, `info` and `fetch`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from hietan.cli import completion
from hietan.cli.messages import (
    errors,
    is_quiet,
    is_watched,
    make_console,
    make_table,
    printable,
    refuse_overwriting,
    say,
    with_quiet_option,
    working,
)
from hietan.cli.quality import show_model

if TYPE_CHECKING:
    from hietan.datasets import CloseFeature, DatasetSummary

Ontology = Annotated[
    Path,
    typer.Option(
        "--ontology",
        "--edges",
        "--obo",
        help="The hierarchy: OBO, a CSV or TSV table of edges; or OBO-Graph JSON or OWL with the extra `ontologies`.",
    ),
]
Annotations = Annotated[
    Path,
    typer.Option(
        "--annotations",
        "--pairs",
        help="Which row has which terms: a table of pairs (id, term), a table `id<TAB>term;term;...`, GAF, GPAD, "
        "gene2go or HPO's phenotype.hpoa.",
    ),
]
Format = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FORMAT",
        help="The format of the hierarchy (obo, edges, obo-graph, owl) or of the annotations (gaf, gpad-1, gpad-2, "
        "gene2go, hpoa, pairs, term-lists), which are recognised unless given; may be repeated.",
    ),
]
EdgeColumns = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="The two columns of a table of edges, by name or position (from 1)."),
]
EdgeOrder = Annotated[
    str | None,
    typer.Option(help="The order of these columns: parent-child or child-parent; found out unless given."),
]
PairColumns = Annotated[
    str | None,
    typer.Option(
        metavar="ID,TERM", help="The columns of ids and terms in a table of annotations, by name or position."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(help="Whether tables begin with the names of their columns; found out unless given."),
]
Columns = Annotated[
    Path | None,
    typer.Option(
        help="A further table, joined by row: its columns become ordinary features, such as `age=[30, 45)`."
    ),
]
Bins = Annotated[int, typer.Option(help="Into how many bins the numbers of a column of --columns are put.")]
DropTerm = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TERM",
        help="Leave out this term, all terms below it and all annotations with them, for instance because they say the "
        "same as the labels; may be repeated.",
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The dataset file to write.")]
LabelFile = Annotated[
    Path | None,
    typer.Option(help="A CSV or TSV file of ids with labels; without it, all annotated ids are rows."),
]
IdColumn = Annotated[
    str | None, typer.Option(help="The column of ids (or symbols) in the labels, by name or position.")
]
LabelColumn = Annotated[str | None, typer.Option(help="The column of labels, by name or position.")]
Map = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL=CLASS", help="Use this label as this class and drop other labels; may be repeated."
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=VALUE", help="Read only rows with this value; may be repeated."),
]
Match = Annotated[str, typer.Option(help="The kinds of names to match ids with, separated by commas.")]
OnConflict = Annotated[
    str,
    typer.Option(
        help="What to do with genes that have several labels: drop, first, majority or raise.",
        autocompletion=completion.one_of("drop", "first", "majority", "raise"),
    ),
]
Namespaces = Annotated[
    str | None, typer.Option(help="The namespaces of terms to keep, such as BPCC; all unless given.")
]
Relations = Annotated[
    str, typer.Option(help="The relations along which annotations are inherited, separated by commas.")
]
Evidence = Annotated[
    str | None, typer.Option(help="The evidence codes to keep, such as IMP,IDA; all unless given.")
]
Taxon = Annotated[str | None, typer.Option(help="The only organism to keep, by its NCBI taxon id.")]
FollowReplaced = Annotated[bool, typer.Option(help="Use the successors of obsolete terms (replaced_by).")]
MinSupport = Annotated[int, typer.Option(help="Keep terms that at least this many rows have.")]
DropRoots = Annotated[
    bool | None,
    typer.Option(
        help="Leave out the roots of the hierarchy; unless given, those of a table of edges only if all rows have them."
    ),
]
DropConstant = Annotated[bool, typer.Option(help="Leave out terms that all rows have.")]
Deduplicate = Annotated[bool, typer.Option(help="Keep only the first of identical rows of a class.")]
FeaturesOf = Annotated[Path | None, typer.Option(help="Use exactly the columns of this dataset file.")]
Collection = Annotated[
    str,
    typer.Argument(
        help="ageing-genes, gene-ontology, annotations-worm (or -fly ...), genage-models, genage-human or gene2go."
    ),
]
RowNoun = Annotated[
    str | None,
    typer.Option(help="What to call a row in reports; `gene` for GAF and gene2go, otherwise `row`."),
]
Name = Annotated[str | None, typer.Option(help="The name of the dataset; the name of the file unless given.")]


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command()(datasets)
    for command in (build, info, fetch):
        app.command()(with_quiet_option(command))


def datasets() -> None:
    """List the datasets that have names, and where they come from.

    Wherever a command takes a dataset, it also takes a file that `hietan build` wrote.
    """
    from hietan.catalogue import dataset_set_notes, dataset_sets

    notes = dataset_set_notes()
    columns: dict[str, dict[str, Any]] = {"set": {"no_wrap": True}, "what it holds": {}, "datasets": {}}
    rows = [[name, notes[name], ", ".join(members)] for name, members in dataset_sets().items()]
    make_console().print(make_table("For --data and wherever a dataset is asked for", columns, rows))
    say("BP: biological process; MF: molecular function; CC: cellular component")


def build(
    ontology: Ontology,
    annotations: Annotations,
    output: Output,
    labels: LabelFile = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    map: Map = None,
    where: Where = None,
    match: Match = "id,symbol,synonym",
    on_conflict: OnConflict = "drop",
    namespaces: Namespaces = None,
    relations: Relations = "is_a",
    evidence: Evidence = None,
    taxon: Taxon = None,
    follow_replaced: FollowReplaced = False,
    min_support: MinSupport = 3,
    drop_roots: DropRoots = None,
    drop_constant: DropConstant = False,
    deduplicate: Deduplicate = False,
    features_of: FeaturesOf = None,
    drop_term: DropTerm = None,
    columns: Columns = None,
    bins: Bins = 4,
    format: Format = None,
    edge_columns: EdgeColumns = None,
    edge_order: EdgeOrder = None,
    pair_columns: PairColumns = None,
    header: Header = None,
    name: Name = None,
    row_noun: RowNoun = None,
) -> None:
    """Build a dataset from a hierarchy, annotations and labels. Three plain tables are enough."""
    arguments = dict(locals())
    from hietan.datasets import build_dataset

    with errors(output):
        refuse_overwriting(output, ontology, annotations, labels, features_of, columns)
        with working("building the dataset"):
            data = build_dataset(**_as_the_library_takes_them(arguments))
        with working("writing it"):
            data.save(output)
    if not is_quiet():
        _show(data.summary())


def _as_the_library_takes_them(arguments: dict[str, Any]) -> dict[str, Any]:
    """The options of `build`, in the names and forms of the arguments of `build_dataset`."""
    from hietan.datasets import Dataset

    output, features_of = arguments.pop("output"), arguments.pop("features_of")
    for option in ("match", "relations", "edge_columns", "pair_columns"):
        if arguments[option] is not None:
            arguments[option] = _listed(arguments[option])
    return arguments | {
        "mapping": _pairs("--map", arguments.pop("map")),
        "where": _pairs("--where", arguments["where"]),
        "drop_terms": arguments.pop("drop_term") or (),
        "features": None if features_of is None else Dataset.load(features_of).feature_names,
        "name": output.stem if arguments["name"] is None else arguments["name"],
    }


def info(
    what: Annotated[
        str,
        typer.Argument(
            help="A dataset, by a name such as worm-BP or by its file, or a model file.",
            autocompletion=completion.datasets,
        ),
    ],
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
    _show(data.summary())
    _show_closest(closest, data.target_names, data.row_noun)


def fetch(
    name: Collection,
    release: Annotated[
        str, typer.Option(help="The release: current, or a date such as 2026-06-19.")
    ] = "current",
    data_home: Annotated[Path | None, typer.Option(help="The directory where files are kept.")] = None,
    refresh: Annotated[
        bool, typer.Option(help="Download files again even if they are already there.")
    ] = False,
) -> None:
    """Find or download published files, and print where they are."""
    from hietan.datasets import fetch_collection

    with errors(interrupted="files that were already complete are kept"):
        paths = fetch_collection(name, release, data_home=data_home, refresh=refresh, progress=is_watched())
    for path in paths:
        say(path)


def _pairs(option: str, values: Iterable[str] | None) -> dict[str, str] | None:
    found = dict[str, str]()
    for value in values or ():
        key, equals, meaning = value.partition("=")
        if not equals:
            raise ValueError(f"{option} is {value!r}; expected KEY=VALUE")
        found[key.strip()] = meaning.strip()
    return found or None


def _listed(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _show(summary: DatasetSummary) -> None:
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
    from hietan.datasets import CIRCULARITY, SIGNIFICANT

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
