"""From an ontology, annotations and labels to a dataset, with an account of what was lost on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hietan.datasets.building.assemble import assemble
from hietan.datasets.building.genes import MATCHES
from hietan.datasets.building.options import BuildOptions
from hietan.datasets.dataset import Dataset
from hietan.datasets.readers.annotation import Annotation
from hietan.datasets.readers.files import TextSource
from hietan.datasets.readers.labels import Labels
from hietan.datasets.readers.ontology import Ontology
from hietan.hierarchy import Hierarchy


def build_dataset(
    ontology: Ontology | Hierarchy | Iterable[tuple[str, str]] | TextSource,
    annotations: Iterable[Annotation | tuple[str, str]] | Mapping[str, Iterable[str]] | TextSource,
    labels: Labels | Mapping[str, str] | TextSource | None = None,
    *,
    columns: Any = None,
    namespaces: str | Iterable[str] | None = None,
    relations: Iterable[str] = ("is_a",),
    evidence: str | Iterable[str] | None = None,
    taxon: str | int | None = None,
    follow_replaced: bool = False,
    min_support: int = 3,
    drop_roots: bool | None = None,
    drop_constant: bool = False,
    deduplicate: bool = False,
    on_conflict: str = "drop",
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    mapping: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    match: Sequence[str] = MATCHES,
    features: Iterable[str] | None = None,
    drop_terms: str | Iterable[str] = (),
    format: str | Iterable[str] | None = None,
    edge_columns: Sequence[str | int] | None = None,
    edge_order: str | None = None,
    pair_columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    bins: int = 4,
    name: str = "",
    row_noun: str | None = None,
) -> Dataset:
    """Build a dataset: a row per gene, a column per term, a 1 where the gene has the term or one below it.

    Annotations that say NOT are left out; ids that were merged into another term are mapped to it; an annotation to a
    term counts for all its ancestors; and two columns are related even if the path between them runs through terms that
    are not columns. ``provenance["account"]`` says how many annotations, labels, genes and terms were read, dropped
    (for the first reason that applies) and used, and how many relations between terms, if any, were lost.

    Parameters
    ----------
    ontology : path, open file, Ontology, Hierarchy, frame or iterable of (parent, child)
        The ontology: a file that `read_ontology` reads (OBO, a table of edges and others), or the edges themselves.
    annotations : path, open file, frame, dict or iterable of Annotation
        The annotations: a file that `read_annotations` reads (GAF, GPAD, gene2go, phenotype.hpoa, or a table), or
        single annotations, for which pairs (id, term), a frame of two columns and a dict {id: terms} are accepted, too.
    labels : path, open file, Labels, dict, series, frame or None
        The labels: a table that `read_labels` reads, {id: label}, a series with the ids as its index, or a frame of two
        columns. None builds all annotated genes, without labels.
    columns : path, open file, frame or dict, optional
        A further table, joined by the names of the rows: each of its columns becomes ordinary features, related to
        nothing. Numbers are binned (`bins`), such as "age=[30, 45)", other values become a feature each, such as
        "colour=red"; missing ones (empty, NA, NaN or ?) become the feature "age=missing". A file has the ids in the
        column `id_column`, if it has one of that name, or else in the first; a frame has them in its index.
    namespaces : str or iterable of str, optional
        The namespaces to use: "BP", "MF", "CC", joined or listed, or full names; all if not given. Annotations to
        terms of other namespaces are left out.
    relations : iterable of str
        The relations along which an annotation spreads upwards: is_a, and others that the ontology has, such as
        part_of.
    evidence : str or iterable of str, optional
        The evidence codes that count, such as "IMP,IDA" or a list of them; all if not given.
    taxon : int or str, optional
        The NCBI number of the organism whose annotations count; needed for gene2go, which holds all organisms.
    follow_replaced : bool
        Whether an annotation to an obsolete term counts for the term that replaced it, if there is exactly one.
    min_support : int
        The smallest number of rows that must have a term; other terms are left out.
    drop_roots : bool, optional
        Whether to leave out terms that have children but no parent. If not given, those of an ontology are left out;
        those of a table of edges or a `Hierarchy`, which may have many roots, only if all rows have them.
    drop_constant : bool
        Whether to leave out terms that all rows have.
    deduplicate : bool
        Whether to keep only the first of several rows of one class that are identical (roots included).
    on_conflict : {"drop", "first", "majority", "raise"}
        What to do with a gene that has different labels; see `read_labels`.
    id_column, label_column : str or int, optional
        The columns of ids and labels in the table of labels; see `read_labels`.
    mapping : dict, optional
        Maps labels of the table to names of classes; see `read_labels`.
    where : dict, optional
        Maps columns of the table of labels to values: only rows with these values count.
    match : sequence of {"id", "symbol", "synonym"}
        The kinds of names by which an id in the table of labels is matched to a gene, in order of precedence.
        Without labels, the first kind is used to name the rows.
    features : iterable of str, optional
        The exact columns, in this order, for example those of a trained model. Terms that the ontology does not know
        become columns of 0 and are counted; `min_support`, `drop_roots` and `drop_constant` have no effect.
    drop_terms : str or iterable of str
        Terms to leave out together with all terms below them: annotations with any of them are ignored, so that their
        ancestors do not have them either. Use it for terms that say the same as the labels.
    format : str or iterable of str, optional
        The format of the ontology (obo, edges, obo-graph, owl), of the annotations (gaf, gpad-1, gpad-2, gene2go, hpoa,
        pairs, term-lists), or of both; recognised by the content if not given.
    edge_columns : (str or int, str or int), optional
        The two columns of a table of edges, by name or by position, counted from 1; see `read_edges`.
    edge_order : {"parent-child", "child-parent"}, optional
        Which of the two columns of a table of edges is the parent; see `read_edges`.
    pair_columns : (str or int, str or int), optional
        The columns of ids and terms in a table of pairs or term lists; see `read_annotations`.
    header : bool, optional
        Whether the first row of plain tables holds the names of the columns; found out if not given.
    bins : int
        Into how many bins, of about equal size, the numbers of a column in `columns` are put.
    name : str
        The name of the dataset.
    row_noun : str, optional
        What a row is called in reports, such as "gene" or "patient"; unless given, "gene" if the annotations are a GAF,
        GPAD or gene2go file, "disease" if they are phenotype.hpoa, otherwise "row".

    Returns
    -------
    Dataset

    Warns
    -----
    DataWarning
        If any relation names a parent that the ontology does not define, if more than 5 % of the annotations name a
        term that is unknown or obsolete, or if more than 5 % of the labels belong to an id without a usable annotation.

    Examples
    --------
    >>> import io
    >>> obo = "\\n".join(f"[Term]\\nid: T:{i}\\nis_a: T:{i // 2}" for i in range(2, 8)) + "\\n[Term]\\nid: T:1\\n"
    >>> annotations = [Annotation("a", "T:4"), Annotation("b", "T:5"), Annotation("c", "T:6")]
    >>> labels = {"a": "yes", "b": "yes", "c": "no", "d": "no"}
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     data = build_dataset(io.StringIO(obo), annotations, labels, min_support=1)
    >>> data.feature_names, data.X.toarray().tolist()
    (('T:2', 'T:3', 'T:4', 'T:5', 'T:6'), [[1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [0, 1, 0, 0, 1]])
    >>> data.provenance["account"]["labelled rows"]
    {'read': 4, 'used': 3, 'dropped': {'no row of this name is annotated': 1}}
    >>> print(caught[0].message)
    25.0 % of the labelled rows (1 of 4) have no usable annotation
    """
    options = BuildOptions.from_arguments(locals())
    parts = assemble(
        ontology,
        annotations,
        labels,
        columns,
        options,
        name=name,
        row_noun=row_noun,
        origin="hietan.datasets.build_dataset",
    )
    return Dataset(**parts)
