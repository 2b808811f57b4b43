"""Build a dataset from an ontology, annotations and labels, with a summary of what was dropped."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hietan._runtime.spelling import first_few
from hietan.datasets._build_log import LEFT_OUT, NO_ROW, OF_OTHERS, SAME_ROW, UNDEFINED_PARENT, Account, Tally
from hietan.datasets._building.columns import Columns, choose_columns, given_columns
from hietan.datasets._building.extra_columns import (
    Attributes,
    ColumnTest,
    choose_tests,
    open_attributes,
    passed_by_rows,
)
from hietan.datasets._building.genes import GeneRows, Genes, all_rows, genes_from_annotations, labelled_rows
from hietan.datasets._building.options import ALL_EDGES, BuildOptions, build_differences, options_like
from hietan.datasets._building.sources import (
    file_hashes,
    open_annotations,
    open_labels,
    open_ontology,
    versions,
)
from hietan.datasets._building.term_lookup import TermMeanings
from hietan.datasets._dataset import Dataset
from hietan.datasets._duplicates import count_duplicates, first_of_each
from hietan.datasets._readers.annotation_formats import PHENOPACKETS, Annotation
from hietan.datasets._readers.annotations import AnnotationReader
from hietan.datasets._readers.files import TextSource
from hietan.datasets._readers.labels import Labels
from hietan.datasets._readers.ontology import Ontology
from hietan.exceptions import DataError, DataWarning
from hietan.hierarchy import Hierarchy

_TABLE_COLUMNS = Account().table_columns.what
_OF_GENES = ("gaf", "gene2go", "gpad-1", "gpad-2")
_NOUNS = {"hpoa": "disease", PHENOPACKETS: "patient"}


def build_dataset(
    ontology: Ontology | Hierarchy | Iterable[tuple[str, str]] | TextSource,
    annotations: Iterable[Annotation | tuple[str, str]] | Mapping[str, Iterable[str]] | TextSource,
    labels: Labels | Mapping[str, str] | TextSource | None = None,
    *,
    columns: Any = None,
    like: Dataset | None = None,
    name: str = "",
    row_noun: str | None = None,
    positive: str = "",
    **options: Any,
) -> Dataset:
    """Build a dataset with a row per gene and a feature per term. Each gene also gets its terms' ancestors.

    Annotations with the qualifier NOT are left out. Ids that were merged into another term are mapped to it. An
    annotation to a term counts for all of its ancestors. Two columns are related even if the path between them runs
    through terms that are not columns. ``provenance["account"]`` counts how many annotations, labels, genes and terms
    were read, dropped (by the first reason that applies) and used, and how many relations between terms were lost, if
    any.

    Parameters
    ----------
    ontology : path, open file, Ontology, Hierarchy, frame or iterable of (parent, child)
        The ontology: a file that `read_ontology` reads (OBO, an edge table and others), or the edges themselves.
    annotations : path, open file, frame, dict or iterable of Annotation
        The annotations: a file that `read_annotations` reads (GAF, GPAD, gene2go, phenotype.hpoa, or a table), a folder
        of phenopackets, or the annotations themselves. Pairs (id, term), a frame of two columns (the second may contain
        lists) and a dict {id: terms} are also accepted.
    labels : path, open file, Labels, dict, series, frame or None
        The labels: a table that `read_labels` reads, {id: label}, a series with the ids as its index, or a frame of two
        columns. None builds all annotated genes, without labels.
    columns : path, open file, frame or dict, optional
        Another table, joined by row name: its columns become ordinary features, without relations. Numbers are binned
        (`bins`), such as "age=[30, 45)"; other values become one feature each, such as "colour=red"; missing values
        (empty, NA, none or ?) become the feature "age=missing". A file contains the ids in the column `id_column` or,
        if there is no such column, in the first column. A frame contains them in its index.
    like : Dataset, optional
        A dataset whose features and options to use, for example the training data of a model that will rank these rows.
        Options that you pass replace its options, with a warning that lists the differences.
    name : str
        The dataset's name.
    row_noun : str, optional
        The word for a row in reports, such as "gene" or "patient" [default: "gene" for GAF, GPAD and gene2go files,
        "disease" for phenotype.hpoa, "patient" for phenopackets, otherwise "row"].
    positive : str
        The positive class, which metrics and rankings refer to; "" leaves it to `Dataset`.
    **options
        The fields of `BuildOptions`, such as ``min_support=3`` or ``evidence="IMP,IDA"``. `features` also accepts a
        dataset, with a warning if it was built differently.

    Returns
    -------
    Dataset

    Warns
    -----
    DataWarning
        If a relation names a parent that the ontology does not define, or if label rows have no label or conflict. If
        more than 5% of the annotations name an unknown or obsolete term, or more than 5% of the labels belong to an
        id without a usable annotation. If the features are built differently from the features of the dataset they
        come from.

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
    25.0% of the labelled rows (1 of 4) have no usable annotation: 'd'
    """
    source = like or options.get("features")
    if like is not None:
        row_noun = row_noun or like.row_noun
        options = {"features": like, **options_like(like.provenance), **options}
    if isinstance(options.get("features"), Dataset):
        options["features"] = options["features"].feature_names
    return assemble(
        ontology,
        annotations,
        labels,
        columns,
        BuildOptions(**options),
        model=source if isinstance(source, Dataset) else None,
        name=name,
        row_noun=row_noun,
        positive=positive,
        origin="hietan.datasets.build_dataset",
    )


def assemble(
    ontology: Any,
    annotations: Any,
    labels: Any,
    columns: Any,
    options: BuildOptions,
    *,
    name: str,
    row_noun: str | None,
    positive: str,
    origin: str,
    model: Dataset | None = None,
) -> Dataset:
    """Build a dataset from any sources that `build_dataset` accepts, with prepared options.

    `model` is the dataset from which the features come.
    """
    go = open_ontology(ontology, options)
    options = options.resolved_for(go)
    recorded = options.as_dict() | ({} if go.has_relations else {"relations": [ALL_EDGES]})
    hierarchy = go.hierarchy_of(options.relations)
    known_labels = open_labels(labels, options)
    if options.others and known_labels is None:
        raise ValueError(f"others is {options.others!r}, but there are no labels; label some rows (--labels)")
    account = Account(
        "{row}s" if known_labels is None else "labelled {row}s",
        "terms" if options.features is None else "requested features",
    )
    if known_labels is not None:
        account.label_rows = known_labels.tally
    account.relations.read = sum(1 for _ in go.edges(options.relations))
    account.relations.drop(UNDEFINED_PARENT, len(go.undefined_parents(options.relations)))
    stream = open_annotations(annotations, options, go)
    format = stream.format if isinstance(stream, AnnotationReader) else ""
    account.row_noun = row_noun or ("gene" if format in _OF_GENES else _NOUNS.get(format, "row"))
    left_out = _terms_to_leave_out(options.drop_terms, go, hierarchy)
    meanings = TermMeanings(
        go, options.namespaces, options.follow_replaced, left_out, options.ignore_punctuation
    )
    genes = genes_from_annotations(stream, meanings, account.annotations, options.taxon, options.evidence)
    if known_labels is None:
        rows = all_rows(genes, options.match[0], account.rows)
    else:
        rows = labelled_rows(
            known_labels,
            genes,
            options.match,
            options.on_conflict,
            account.rows,
            options.others,
            account.unlabelled,
        )
    is_nothing_labelled = account.rows.read > 0 and account.rows.used == 0
    if not rows.names or is_nothing_labelled:
        raise DataError(account.worded(_why_no_row(account, known_labels, genes, go, meanings)))
    _count_lines(stream, genes, rows, account.annotations)
    attributes = None
    if columns is not None:
        attributes = open_attributes(columns, rows.names, options.id_column, options.header)
        account.table_rows, account.table_columns = attributes.rows, attributes.columns
    rows, chosen = _choose_table(rows, genes, go, hierarchy, attributes, options, account)
    complaints = [
        *account.complaints(meanings.unmatched, meanings.punctuation_hint),
        *_odd_classes(rows.labels, account.row_noun),
        *_unknown_drop_terms(options.drop_terms, go),
    ]
    if format == PHENOPACKETS:
        complaints += _contradictions(genes, go, hierarchy)
    n_edges = sum(len(term.is_a) + len(term.relationships) for term in go.terms.values())
    if go.is_plain and n_edges > account.relations.read:
        complaints.append(
            f"{n_edges - account.relations.read:,} of {n_edges:,} edges have a relation other than "
            f"{', '.join(options.relations)} and are ignored (--relations)"
        )
    if go.is_plain and (flat := _upside_down(chosen, hierarchy, genes)):
        if options.edge_order is not None:
            raise DataError(
                f"{flat}; edge_order (--edge-order) is {options.edge_order}, so set it to the other order"
            )
        complaints.append(f"{flat}; check the edge order (--edge-order)")
    beyond_terms = any(name not in go.terms for name in options.features or ())
    if (
        model is not None
        and columns is None
        and beyond_terms
        and _TABLE_COLUMNS in model.provenance.get("account", {})
    ):
        raise DataError(
            f"{model.name or 'the dataset with these features'} has features from an extra table; pass a table "
            "with the same columns for these rows (columns, --columns)"
        )
    made_with = versions(go, stream)
    if model is not None and (
        different := build_differences({"options": recorded, "versions": made_with}, model.provenance)
    ):
        complaints.append(
            f"built differently from {model.name or 'the dataset with these features'}: {different}"
        )
    for complaint in complaints:
        warnings.warn(complaint, DataWarning, stacklevel=3)
    target_names = (
        ()
        if known_labels is None
        else tuple(dict.fromkeys([*known_labels.classes, *filter(None, [options.others])]))
    )
    number = {label: c for c, label in enumerate(target_names)}
    if model is not None and not positive and model.positive in target_names:
        positive = model.positive
    y = np.array([number.get(label, -1) for label in rows.labels], dtype=np.intp)  # -1 without labels
    data = Dataset(
        X=chosen.X,
        y=y,
        hierarchy=chosen.hierarchy(hierarchy),
        feature_names=chosen.names,
        term_names=tuple(go.terms[t].name if t in go.terms else t for t in chosen.terms),
        instance_names=tuple(rows.names),
        target_names=target_names,
        provenance={
            "origin": origin,
            "files": file_hashes(ontology, annotations, labels, columns),
            "versions": made_with,
            "options": recorded,
            "account": account.as_dict(),
            "aliases": _aliases(meanings.found, hierarchy, chosen),
            **_found_out(go, stream, known_labels, attributes, account),
            **_label_source(known_labels),
            "missing_features": list(chosen.missing),
            "empty_rows": int((np.diff(chosen.X.indptr) == 0).sum()),
            **count_duplicates(chosen.X, y),
        },
        name=name,
        symbols=rows.symbols(genes),
        synonyms=rows.synonyms(genes),
        row_noun=account.row_noun,
        positive=positive,
    )
    if data.equal_rows.warning:
        warnings.warn(data.equal_rows.warning, DataWarning, stacklevel=3)
    return data


def _why_no_row(
    account: Account, labels: Labels | None, genes: Genes, ontology: Ontology, meanings: TermMeanings
) -> str:
    """Return a sentence on why no row is left, with examples from both files."""
    rows, annotations = account.rows, account.annotations
    if labels is not None and rows.dropped[NO_ROW] == rows.read:
        known = (*genes.numbers, *genes.by_symbol)
        return (
            f"no row is left: none of the {rows.read:,} labelled ids ({first_few(list(labels.by_id))}) is the "
            f"name of a {{row}} in the annotations ({first_few(known)}); use the same kind of name in the labels "
            "and the annotations (--id-column)"
        )
    if not annotations.used:
        hint = meanings.punctuation_hint or f"; the ontology has {first_few(list(ontology.terms))}"
        unknown = f", such as {first_few(meanings.unmatched)}{hint}" if meanings.unmatched else ""
        return (
            f"no row is left, because none of {annotations.read:,} annotations can be used: "
            f"{annotations.why}{unknown}"
        )
    return f"no row is left of {rows.read:,}: {rows.why}"


def _contradictions(genes: Genes, ontology: Ontology, hierarchy: Hierarchy) -> Iterator[str]:
    """Yield a warning if objects have a term that they exclude, or a term below it."""
    denied = [(name, term) for name, each in genes.denied if (term := ontology.resolve(each)) is not None]
    position = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in denied))}
    column_of = {feature: j for j, feature in enumerate(hierarchy.features)}
    X: Any = hierarchy.close(genes.annotated([(name,) for name in position], column_of, len(hierarchy)))
    found = [(name, term) for name, term in denied if X[position[name], column_of[term]]]
    if found:
        name, term = found[0]
        yield (
            f"{len(found)} of {len(denied)} excluded terms contradict an observed term and are ignored (first: "
            f"{name[:80]} excludes {term[:80]}, but has that term or a term below it)"
        )


def _odd_classes(labels: list[str], noun: str) -> Iterator[str]:
    """Yield warnings about labels from which nothing can be learned."""
    n_classes = len(set(labels))
    if n_classes == 1 and labels[0]:
        yield f"all {len(labels):,} {noun}s have the label {labels[0]!r:.80}; a classifier needs two classes"
    alike = Counter(label.casefold() for label in set(labels))
    if same := [label for label in sorted(set(labels)) if alike[label.casefold()] > 1]:
        yield f"the labels {first_few(same)} differ only in case; if they mean the same, map them to one class (--map)"
    if n_classes > max(2, len(labels) / 2):
        yield (
            f"there are {n_classes:,} different labels for {len(labels):,} {noun}s, such as {first_few(labels)}; "
            "check the label column"
        )


def _upside_down(columns: Columns, hierarchy: Hierarchy, genes: Genes) -> str:
    """Return a warning if no features are related because only roots are annotated, otherwise ""."""
    annotated = set(genes.pairs.terms)
    if not annotated <= set(hierarchy.roots) or not hierarchy.edges or columns.hierarchy(hierarchy).edges:
        return ""
    return f"no edge relates two features, because all annotated terms ({first_few(sorted(annotated))}) are roots"


def _found_out(
    ontology: Ontology,
    stream: Iterable[Annotation],
    labels: Labels | None,
    attributes: Attributes | None,
    account: Account,
) -> dict[str, list[str]]:
    """Return what was detected in the sources: file formats and column order."""
    reader = stream if isinstance(stream, AnnotationReader) else None
    found = [f"{PurePath(reader.name).name} is in the format {reader.format}"] if reader else []
    for source in (ontology, reader, labels, attributes):
        found += source.remarks if source is not None else ()
    if account.rows.examples:
        lost = f"{len(account.rows.examples):,} labelled ids have no usable annotation{account.lost_rows}"
        found.append(f"{labels.name}: {lost}" if labels and labels.name else lost)
    return {"detected": [_without_folder(remark) for remark in found]} if found else {}


def _aliases(given: Mapping[str, str], hierarchy: Hierarchy, columns: Columns) -> dict[str, list[str]]:
    """Return the nearest features of each annotated id that is not a feature itself.

    A model needs these features to understand other ids in its training data: alternative ids, and terms too rare to
    be features.
    """
    nearest, names = dict[str, list[str]](), dict(zip(columns.terms, columns.names, strict=True))
    for j in np.argsort(hierarchy.depths, kind="stable").tolist():
        term = hierarchy.features[j]
        above = dict.fromkeys(name for parent in hierarchy.parents(term) for name in nearest[parent])
        nearest[term] = [names[term]] if term in names else list(above)
    known = set(columns.names)
    return {name: nearest[term] for name, term in given.items() if name not in known}


def _label_source(labels: Labels | None) -> dict[str, dict[str, str]]:
    """Return the file and the column that the labels come from, if they come from a file."""
    if labels is None or not labels.name:
        return {}
    return {"labels": {"file": PurePath(labels.name).name, "column": labels.column}}


def _without_folder(remark: str) -> str:
    """Return a remark about a file without the file's folder, which only describes the machine."""
    file, colon, rest = remark.partition(": ")
    return PurePath(file).name + colon + rest if colon else remark


def _terms_to_leave_out(
    drop_terms: Iterable[str], ontology: Ontology, hierarchy: Hierarchy
) -> frozenset[str]:
    """Return the terms to leave out, including all of their descendants."""
    left_out = set[str]()
    for term in drop_terms:
        current = ontology.resolve(term)
        if current is not None:
            left_out |= {current} | hierarchy.descendants(current)
    return frozenset(left_out)


def _unknown_drop_terms(drop_terms: Sequence[str], ontology: Ontology) -> Iterator[str]:
    """Yield a warning if the ontology lacks a term to leave out. Another release of the ontology may have it."""
    unknown = [term for term in drop_terms if ontology.resolve(term) is None]
    if unknown:
        yield (
            f"drop_terms (--drop-term) names {first_few(unknown)}, which the ontology does not have, so no term is "
            "left out for it; check the id, and whether the ontology calls the term by another id"
        )


def _count_lines(stream: Iterable[Annotation], genes: Genes, rows: GeneRows, tally: Tally) -> None:
    """Count what is known only after reading: malformed lines, other genes' annotations, and repetitions."""
    if isinstance(stream, AnnotationReader):
        tally.read += stream.malformed
        tally.drop("too few columns", stream.malformed)
    in_rows = {name for objects in rows.objects for name in objects}
    lines = zip(genes.numbers, genes.lines, strict=True)
    tally.drop(OF_OTHERS, sum(n for name, n in lines if name not in in_rows))
    tally.change("repeats another annotation", tally.used - genes.n_different(in_rows))


def _choose_table(
    rows: GeneRows,
    genes: Genes,
    ontology: Ontology,
    hierarchy: Hierarchy,
    attributes: Attributes | None,
    options: BuildOptions,
    account: Account,
) -> tuple[GeneRows, Columns]:
    """Return the rows and columns to keep.

    Rows are compared before roots and constant columns are dropped, and columns are counted over all rows before
    duplicates are dropped, so that neither option affects the other.
    """
    column_of = {feature: j for j, feature in enumerate(hierarchy.features)}
    X = hierarchy.close(genes.annotated(rows.objects, column_of, len(hierarchy)))
    tests = _choose_tests(attributes, ontology, options)
    if options.features is not None:
        features = tuple(name for name in options.features if name not in tests)
        columns = given_columns(X, ontology, hierarchy, features, account.terms)
    else:
        columns = choose_columns(X, ontology, options.namespaces, options.min_support, account.terms)
        # The features that are missing because annotations were left out: terms to drop at or above one of these.
        to_drop = _terms_to_leave_out(options.drop_terms, ontology, hierarchy)
        left_out = {
            above
            for term in genes.left_out
            for above in ({term} | hierarchy.ancestors(term))
            if above in to_drop
        }
        account.terms.read += len(left_out)
        account.terms.drop(LEFT_OUT, len(left_out))
    del X  # it may be as large as everything else combined
    if attributes is not None:
        further = passed_by_rows(list(tests.values()), attributes, len(rows.names))
        columns = columns.beside(further, tuple(tests), options.features)
    if options.deduplicate:
        kept, unlabelled = first_of_each(columns.X, rows.labels), account.unlabelled
        n_kept_unlabelled = sum(i >= account.rows.used for i in kept)  # they are the last rows
        unlabelled.drop(SAME_ROW, unlabelled.used - n_kept_unlabelled)
        account.rows.drop(SAME_ROW, account.rows.used + unlabelled.used - len(kept))
        rows, columns = rows.take(kept), replace(columns, X=csr_array(columns.X[kept]))
    if options.features is None:
        columns = columns.without(
            hierarchy, account.terms, roots=options.drop_roots, constant=options.drop_constant
        )
    if not columns.names:
        raise DataError(
            f"no feature is left of {account.terms.read:,} terms: {account.terms.why or 'no row has a term'}; "
            "drop fewer terms, or check the annotations"
        )
    return rows, columns


def _choose_tests(
    attributes: Attributes | None, ontology: Ontology, options: BuildOptions
) -> dict[str, ColumnTest]:
    """Return the features to make from another table, by name: the requested features, or all that enough rows have."""
    if attributes is None:
        return {}
    if options.features is None:
        tests = choose_tests(attributes, options.bins, options.min_support)
    else:
        asked = [name for name in options.features if ontology.resolve(name) is None]
        found = [ColumnTest.parse(name, attributes.values) for name in asked]
        # A name that was not made here may look like a test, but is not that test's name.
        tests = [
            test for name, test in zip(asked, found, strict=True) if test is not None and test.name == name
        ]
        attributes.columns.read = len(attributes.values)
    named = {test.name: test for test in tests}
    for name in named:
        if ontology.resolve(name) is not None:
            raise DataError(
                f"the extra table would create a feature named {name!r:.80}, but a term already has this name; "
                "rename the column"
            )
    return named
