"""From an ontology, annotations and labels to a dataset, with an account of what was lost on the way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.datasets.building.coincidences import coincidences
from hietan.datasets.building.columns import Columns, choose_columns, given_columns
from hietan.datasets.building.genes import MATCHES, Genes, collect
from hietan.datasets.building.options import BuildOptions
from hietan.datasets.building.rows import Rows, all_rows, first_of_each, labelled_rows
from hietan.datasets.building.tally import OBSOLETE_TERM, UNKNOWN_TERM, Account, Tally
from hietan.datasets.dataset import Dataset
from hietan.datasets.readers.annotations import Annotation, AnnotationReader, read_annotations
from hietan.datasets.readers.files import TextSource, is_path, sha256_of, split_archive
from hietan.datasets.readers.formats import read_ontology
from hietan.datasets.readers.labels import Labels, labels_from_mapping, read_labels
from hietan.datasets.readers.ontology import Ontology
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
) -> Dataset:
    """Build a dataset: a row per gene, a column per term, a 1 where the gene has the term or one below it.

    Annotations that say NOT are left out; ids that were merged into another term are mapped to it; terms count
    for all their ancestors, and two columns are related also where the path between them runs through terms
    that are no columns. ``provenance["account"]`` says how many annotations, labels, genes and terms were read,
    dropped (for the first reason that applies) and used.

    Parameters
    ----------
    ontology : Ontology, path or open file
        As `read_ontology` takes it.
    annotations : path, open file or iterable of Annotation
        GAF or gene2go. A pair (gene, term) does as an annotation.
    labels : path, open file, Labels, dict or None
        A table as `read_labels` takes it, or {id: label}. None builds all annotated genes, without labels.
    namespaces : str or iterable of str, optional
        "BP", "MF", "CC", joined or listed, or full names; all if not given. Annotations to terms of other
        namespaces are left out.
    relations : iterable of str
        Along which an annotation spreads upwards: is_a, and others that the ontology has, such as part_of.
    evidence : str or iterable of str, optional
        Evidence codes that count ("IMP,IDA" or a list); all if not given.
    taxon : int or str, optional
        Only annotations of this organism (its NCBI number); needed for gene2go, which holds all organisms.
    follow_replaced : bool
        Whether an annotation to an obsolete term counts for the term it was replaced by, if there is just one.
    min_support : int
        Terms of fewer rows are left out.
    drop_roots : bool
        Whether terms that have children but no parent are left out.
    drop_constant : bool
        Whether terms that all rows have are left out.
    deduplicate : bool
        Whether rows that are identical (roots included) and of one class are kept once.
    on_conflict : {"drop", "first", "majority", "raise"}
        What to do with a gene that has different labels; see `read_labels`.
    id_column, label_column, mapping, where
        How to read the table of labels; see `read_labels`.
    match : sequence of {"id", "symbol", "synonym"}
        Which names of a gene an id in the table of labels may be, in order of precedence. Without labels, rows
        are named by the first.
    features : iterable of str, optional
        Exactly these columns in this order, as a trained model expects them. Terms that the ontology does not
        know are columns of 0 and counted; `min_support`, `drop_roots` and `drop_constant` play no part.
    name : str
        What to call the dataset.

    Returns
    -------
    Dataset

    Warns
    -----
    DataWarning
        Where more than 5 % of the annotations name no living term, or of the labels no annotated gene.

    Examples
    --------
    >>> import io
    >>> obo = "\\n".join(f"[Term]\\nid: T:{i}\\nis_a: T:{i // 2}" for i in range(2, 8)) + "\\n[Term]\\nid: T:1"
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
    options = BuildOptions(
        namespaces=namespaces,
        relations=relations,
        evidence=evidence,
        taxon=taxon,
        follow_replaced=follow_replaced,
        min_support=min_support,
        drop_roots=drop_roots,
        drop_constant=drop_constant,
        deduplicate=deduplicate,
        on_conflict=on_conflict,
        id_column=id_column,
        label_column=label_column,
        mapping=mapping,
        where=where,
        match=match,
        features=features,
    )
    go = ontology if isinstance(ontology, Ontology) else read_ontology(ontology)
    options = options.fitted_to(go)
    hierarchy = go.hierarchy_of(options.relations)
    account = _account(labels, options)
    settled = _settle_labels(labels, options, account)
    stream = _stream(annotations)
    genes = collect(stream, _LivingTerms(go, options), account.annotations, options.taxon, options.evidence)
    rows = _rows(settled, genes, options, account)
    _count_lines(stream, genes, rows, account.annotations)
    rows, columns = _table(rows, genes, go, hierarchy, options, account)
    for complaint in account.complaints():
        warnings.warn(complaint, DataWarning, stacklevel=2)
    files = _hashes(ontology, annotations, labels)
    origin = {"origin": "hietan.datasets.build_dataset", "files": files, "versions": _versions(go, stream)}
    settings = {"options": options.as_dict(), "account": account.as_dict()}
    y, target_names = _classes(rows, settled)
    return Dataset(
        X=columns.X,
        y=y,
        hierarchy=columns.hierarchy(hierarchy),
        feature_names=columns.names,
        term_names=tuple(go.terms[t].name if t in go.terms else t for t in columns.terms),
        instance_names=tuple(rows.names),
        target_names=target_names,
        provenance={**origin, **settings, **_remarks(columns, y)},
        name=name,
        symbols=rows.symbols(genes),
    )


def _account(labels: Any, options: BuildOptions) -> Account:
    genes = "genes" if labels is None else "labelled genes"
    return Account(genes, "terms" if options.features is None else "features asked for")


def _settle_labels(labels: Any, options: BuildOptions, account: Account) -> Labels | None:
    if labels is None:
        return None
    if isinstance(labels, Labels):
        settled = labels
    elif isinstance(labels, Mapping):
        settled = labels_from_mapping(labels)
    else:
        settled = read_labels(
            labels,
            id_column=options.id_column,
            label_column=options.label_column,
            mapping=options.mapping,
            where=options.where,
            on_conflict=options.on_conflict,
        )
    account.label_rows = settled.tally
    return settled


def _stream(annotations: Any) -> Iterable[Annotation]:
    if is_path(annotations) or hasattr(annotations, "read"):
        return read_annotations(annotations)
    if isinstance(annotations, AnnotationReader):
        return annotations
    if isinstance(annotations, Iterable):
        return (each if isinstance(each, Annotation) else Annotation(*each) for each in annotations)
    raise TypeError(
        f"annotations must be a path, an open file or an iterable of Annotation, got {annotations!r}"
    )


class _LivingTerms:
    """The living term of the chosen namespaces that an annotation means, or a note why there is none."""

    def __init__(self, ontology: Ontology, options: BuildOptions) -> None:
        self.ontology, self.follow = ontology, options.follow_replaced
        self.namespaces = frozenset(options.namespaces or ())

    def __call__(self, term_id: str, tally: Tally) -> str | None:
        current = self.ontology.resolve(term_id)
        if current is None:
            tally.drop(UNKNOWN_TERM)
            return None
        how = "mapped from an alternative id" if current != term_id else ""
        if self.ontology.terms[current].is_obsolete:
            current, how = (
                self.ontology.successor(current) if self.follow else None,
                "mapped to a replacement",
            )
            if current is None:
                tally.drop(OBSOLETE_TERM)
                return None
        if self.ontology.terms[current].namespace not in self.namespaces:
            tally.drop("other namespace")
            return None
        if how:
            tally.change(how)
        return current


def _rows(labels: Labels | None, genes: Genes, options: BuildOptions, account: Account) -> Rows:
    if labels is None:
        rows = all_rows(genes, options.match[0], account.genes)
    else:
        rows = labelled_rows(labels, genes, options.match, options.on_conflict, account.genes)
    if not rows.names:
        raise DataError(f"no row is left; what was read and dropped: {account.as_dict()}")
    return rows


def _count_lines(stream: Iterable[Annotation], genes: Genes, rows: Rows, tally: Tally) -> None:
    """Enter what is known only after reading: lines that were no annotations, and genes that are no rows."""
    if isinstance(stream, AnnotationReader):
        tally.read += stream.malformed
        tally.drop("too few columns", stream.malformed)
    in_rows = {name for objects in rows.objects for name in objects}
    tally.drop("gene is no row", sum(n for name, n in genes.lines.items() if name not in in_rows))
    different = sum(len(genes.terms[name]) for name in in_rows)
    tally.change("says the same as another", tally.used - different)


def _table(
    rows: Rows,
    genes: Genes,
    ontology: Ontology,
    hierarchy: Hierarchy,
    options: BuildOptions,
    account: Account,
) -> tuple[Rows, Columns]:
    column_of = {feature: j for j, feature in enumerate(hierarchy.features)}
    X = hierarchy.close(rows.annotated_with(genes, column_of, len(hierarchy)))
    if options.features is not None:
        columns = given_columns(X, ontology, hierarchy, options.features, account.terms)
    else:
        columns = choose_columns(X, ontology, options.namespaces, options.min_support, account.terms)
    if options.deduplicate:
        kept = first_of_each(columns.X, rows.labels)
        account.genes.drop("identical row of the same class", len(rows.names) - len(kept))
        rows, columns = rows.take(kept), columns.rows(kept)
    if options.features is None:
        chosen = {"roots": options.drop_roots, "constant": options.drop_constant}
        columns = columns.without(hierarchy, account.terms, **chosen)
    if not columns.names:
        raise DataError(f"no feature is left; what was read and dropped: {account.as_dict()}")
    return rows, columns


def _classes(rows: Rows, labels: Labels | None) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    if labels is None:
        return np.full(len(rows.names), -1), ()
    number = {label: c for c, label in enumerate(labels.classes)}
    return np.array([number[label] for label in rows.labels], dtype=np.intp), labels.classes


def _hashes(*sources: Any) -> dict[str, str]:
    """The SHA-256 of each source that is a file, or was read from one, by its name."""
    found = {}
    for source in sources:
        name = source if is_path(source) else getattr(source, "source", getattr(source, "name", None))
        if is_path(name):
            path, member = split_archive(name)
            if path.is_file():
                found[(PurePath(path.name) / member).as_posix()] = sha256_of(path)
    return found


def _versions(ontology: Ontology, stream: Iterable[Annotation]) -> dict[str, str]:
    header = stream.header if isinstance(stream, AnnotationReader) else {}
    annotations = {f"annotations, {key}": value for key, value in header.items()}
    return {"hietan": version("hietan"), "ontology": ontology.version, **annotations}


def _remarks(columns: Columns, y: NDArray[np.intp]) -> dict[str, Any]:
    empty = int((np.diff(columns.X.indptr) == 0).sum())
    return {"missing_features": list(columns.missing), "empty_rows": empty, **coincidences(columns.X, y)}
