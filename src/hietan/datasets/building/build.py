"""From an ontology, annotations and labels to a dataset, with an account of what was lost on the way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.datasets.account import UNDEFINED_PARENT, Account, Tally
from hietan.datasets.building.columns import Columns, choose_columns, given_columns
from hietan.datasets.building.genes import MATCHES, Genes, LivingTerms, genes_from_annotations
from hietan.datasets.building.options import BuildOptions
from hietan.datasets.building.rows import GeneRows, all_rows, labelled_rows
from hietan.datasets.building.sources import file_hashes, open_annotations, open_labels, versions
from hietan.datasets.dataset import Dataset
from hietan.datasets.duplicates import count_duplicates, first_of_each
from hietan.datasets.readers.annotations import Annotation, AnnotationReader
from hietan.datasets.readers.files import TextSource
from hietan.datasets.readers.labels import Labels
from hietan.datasets.readers.ontology import Ontology
from hietan.datasets.readers.ontology_formats import read_ontology
from hietan.exceptions import DataError, DataWarning
from hietan.hierarchy import Hierarchy


def build_dataset(
    ontology: Ontology | TextSource,
    annotations: Iterable[Annotation | tuple[str, str]] | TextSource,
    labels: Labels | Mapping[str, str] | TextSource | None = None,
    *,
    namespaces: str | Iterable[str] | None = None,
    relations: Iterable[str] = ("is_a",),
    evidence: str | Iterable[str] | None = None,
    taxon: str | int | None = None,
    follow_replaced: bool = False,
    min_support: int = 3,
    drop_roots: bool = True,
    drop_constant: bool = False,
    deduplicate: bool = False,
    on_conflict: str = "drop",
    id_column: str | None = None,
    label_column: str | None = None,
    mapping: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    match: Sequence[str] = MATCHES,
    features: Iterable[str] | None = None,
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
    ontology : Ontology, path or open file
        The ontology, or a file that `read_ontology` reads.
    annotations : path, open file or iterable of Annotation
        The annotations: a GAF or gene2go file, or single annotations. A pair (gene, term) is accepted as one.
    labels : path, open file, Labels, dict or None
        The labels: a table that `read_labels` reads, or {id: label}. None builds all annotated genes, without
        labels.
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
    drop_roots : bool
        Whether to leave out terms that have children but no parent.
    drop_constant : bool
        Whether to leave out terms that all rows have.
    deduplicate : bool
        Whether to keep only the first of several rows of one class that are identical (roots included).
    on_conflict : {"drop", "first", "majority", "raise"}
        What to do with a gene that has different labels; see `read_labels`.
    id_column, label_column : str, optional
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
    name : str
        The name of the dataset.
    row_noun : str, optional
        What a row is called in reports, such as "gene" or "patient"; unless given, "gene" if the annotations are a GAF
        or gene2go file, otherwise "row".

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
    >>> data.provenance["account"]["labelled genes"]
    {'read': 4, 'used': 3, 'dropped': {'no gene of this name is annotated': 1}}
    >>> print(caught[0].message)
    25.0 % of the labelled genes (1 of 4) have no usable annotation
    """
    options = BuildOptions.from_arguments(locals())
    go = ontology if isinstance(ontology, Ontology) else read_ontology(ontology)
    options, hierarchy = options.resolved_for(go), go.hierarchy_of(options.relations)
    known_labels = open_labels(labels, options)
    account = _open_account(known_labels, options)
    _count_relations(go, options, account.relations)
    stream = open_annotations(annotations)
    living_term = LivingTerms(go, options.namespaces, options.follow_replaced)
    genes = genes_from_annotations(stream, living_term, account.annotations, options.taxon, options.evidence)
    rows = _choose_rows(known_labels, genes, options, account)
    _count_lines(stream, genes, rows, account.annotations)
    rows, columns = _choose_table(rows, genes, go, hierarchy, options, account)
    for complaint in account.complaints():
        warnings.warn(complaint, DataWarning, stacklevel=2)
    y, target_names = _classes(rows, known_labels)
    return Dataset(
        X=columns.X,
        y=y,
        hierarchy=columns.hierarchy(hierarchy),
        feature_names=columns.names,
        term_names=tuple(go.terms[t].name if t in go.terms else t for t in columns.terms),
        instance_names=tuple(rows.names),
        target_names=target_names,
        provenance={
            "origin": "hietan.datasets.build_dataset",
            "files": file_hashes(ontology, annotations, labels),
            "versions": versions(go, stream),
            "options": options.as_dict(),
            "account": account.as_dict(),
            **_remarks(columns, y),
        },
        name=name,
        symbols=rows.symbols(genes),
        synonyms=rows.synonyms(genes),
        row_noun=row_noun or ("gene" if isinstance(stream, AnnotationReader) else "row"),
    )


def _open_account(labels: Labels | None, options: BuildOptions) -> Account:
    genes = "genes" if labels is None else "labelled genes"
    account = Account(genes, "terms" if options.features is None else "features asked for")
    if labels is not None:
        account.label_rows = labels.tally
    return account


def _count_relations(ontology: Ontology, options: BuildOptions, tally: Tally) -> None:
    tally.read = sum(1 for _ in ontology.edges(options.relations))
    tally.drop(UNDEFINED_PARENT, len(ontology.undefined_parents(options.relations)))


def _choose_rows(labels: Labels | None, genes: Genes, options: BuildOptions, account: Account) -> GeneRows:
    if labels is None:
        rows = all_rows(genes, options.match[0], account.genes)
    else:
        rows = labelled_rows(labels, genes, options.match, options.on_conflict, account.genes)
    if not rows.names:
        raise DataError(f"no row is left; what was read and dropped: {account.as_dict()}")
    return rows


def _count_lines(stream: Iterable[Annotation], genes: Genes, rows: GeneRows, tally: Tally) -> None:
    """Count what is known only after reading: malformed lines, annotations of other genes, and repetitions."""
    if isinstance(stream, AnnotationReader):
        tally.read += stream.malformed
        tally.drop("too few columns", stream.malformed)
    in_rows = {name for objects in rows.objects for name in objects}
    tally.drop("gene is no row", sum(n for name, n in genes.lines.items() if name not in in_rows))
    different = sum(len(genes.terms[name]) for name in in_rows)
    tally.change("says the same as another", tally.used - different)


def _choose_table(
    rows: GeneRows,
    genes: Genes,
    ontology: Ontology,
    hierarchy: Hierarchy,
    options: BuildOptions,
    account: Account,
) -> tuple[GeneRows, Columns]:
    """The rows and columns that are kept.

    Rows are compared before roots and constant columns are dropped, and columns are counted over all rows before
    duplicates are dropped, so that neither option changes what the other keeps.
    """
    column_of = {feature: j for j, feature in enumerate(hierarchy.features)}
    X = hierarchy.close(rows.annotated_with(genes, column_of, len(hierarchy)))
    if options.features is not None:
        columns = given_columns(X, ontology, hierarchy, options.features, account.terms)
    else:
        columns = choose_columns(X, ontology, options.namespaces, options.min_support, account.terms)
    if options.deduplicate:
        kept = first_of_each(columns.X, rows.labels)
        account.genes.drop("identical row of the same class", len(rows.names) - len(kept))
        rows, columns = rows.take(kept), columns.take_rows(kept)
    if options.features is None:
        columns = columns.without(
            hierarchy, account.terms, roots=options.drop_roots, constant=options.drop_constant
        )
    if not columns.names:
        raise DataError(f"no feature is left; what was read and dropped: {account.as_dict()}")
    return rows, columns


def _classes(rows: GeneRows, labels: Labels | None) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    if labels is None:
        return np.full(len(rows.names), -1), ()
    number = {label: c for c, label in enumerate(labels.classes)}
    return np.array([number[label] for label in rows.labels], dtype=np.intp), labels.classes


def _remarks(columns: Columns, y: NDArray[np.intp]) -> dict[str, Any]:
    empty = int((np.diff(columns.X.indptr) == 0).sum())
    return {"missing_features": list(columns.missing), "empty_rows": empty, **count_duplicates(columns.X, y)}
