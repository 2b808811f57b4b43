"""The options of `build_dataset`, which are checked, normalised and recorded in the provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral
from typing import Any

from hietan.datasets._building.genes import MATCHES
from hietan.datasets._duplicates import first_repeated
from hietan.datasets._readers.annotation_formats import ANNOTATION_FORMATS
from hietan.datasets._readers.labels import check_policy
from hietan.datasets._readers.ontology import Ontology, choose_namespaces
from hietan.datasets._readers.ontology_formats import ONTOLOGY_FORMATS
from hietan.datasets._readers.tables import MISSING_VALUES


@dataclass(frozen=True)
class BuildOptions:
    """The options of `build_dataset`; each field is one of its keywords.

    The options are checked and normalised, except for `namespaces`, whose meaning depends on the ontology: see
    `resolved_for`.

    Parameters
    ----------
    namespaces : str or iterable of str, optional
        The namespaces to use: "BP", "MF", "CC", as "BP,CC" or as a list, or full names [default: all]. Annotations to
        terms of other namespaces are left out.
    relations : iterable of str, default ("is_a",)
        The relations along which annotations are inherited: is_a, and other relations in the ontology, such as
        part_of.
    evidence : str or iterable of str, optional
        The evidence codes to keep, such as "IMP,IDA" or a list of them [default: all].
    taxon : int or str, optional
        The NCBI number of the organism whose annotations count; needed for gene2go, which contains all organisms.
    follow_replaced : bool, default False
        Whether an annotation to an obsolete term counts for the term that replaced it, if there is exactly one.
    ignore_punctuation : bool, default False
        Whether an unknown term counts for the term that differs from it only in case and punctuation, such as K563 for
        K56.3.
    min_support : int, default 3
        The smallest number of rows that must have a term; rarer terms are left out.
    drop_roots : bool, optional
        Whether to leave out terms that have children but no parent [default: yes; for an edge table or a `Hierarchy`,
        which may have many roots, only roots that all rows have].
    drop_constant : bool, default False
        Whether to leave out terms that all rows have.
    deduplicate : bool, default False
        Whether to keep only the first of several rows of one class that are identical (roots included).
    on_conflict : {"drop", "first", "majority", "raise"}, default "drop"
        How to treat a gene with different labels; see `read_labels`.
    id_column, label_column : str or int, optional
        The id and label columns in the label table; see `read_labels`.
    mapping : dict, optional
        Maps labels of the table to class names; see `read_labels`.
    where : dict, optional
        Maps columns of the label table to values: only rows with these values count.
    others : str, default ""
        The class of all annotated rows without a label: rows that the table does not name, names without a label, or
        names only in rows excluded by `where`. "" leaves them out. Rows with conflicting labels or a label that is not
        in `mapping` are always left out.
    missing_labels : str or iterable of str, optional
        The texts in the label column that mean `no label` [default: NA, NaN, null and the like]. An empty field always
        means it.
    match : sequence of {"id", "symbol", "synonym"}, default all three
        The kinds of names by which an id in the label table is matched to a gene, in order of precedence. Without
        labels, the first kind names the rows.
    features : iterable of str, optional
        The exact columns, in this order, for example a trained model's. Terms unknown to the ontology become columns of
        0 and are counted; `min_support`, `drop_roots` and `drop_constant` have no effect.
    drop_terms : str or iterable of str, default ()
        Terms to leave out with all terms below them. Their annotations are ignored, so they do not count for ancestors
        either. Use it for terms that repeat the labels.
    format : str or iterable of str, optional
        The format of the ontology (obo, edges, paths, codes, obo-graph, owl), of the annotations (gaf, gpad-1, gpad-2,
        gene2go, hpoa, pairs, term-lists, phenopackets), or of both [default: detected].
    edge_columns : two or three of str or int, optional
        The two columns of an edge table and, optionally, the relation column, by name or by position, counted from 1;
        see `read_edges`.
    edge_order : {"parent-child", "child-parent"}, optional
        Which of the two columns of an edge table is the parent; see `read_edges`.
    separator : str, optional
        The text between two names in a path in a hierarchy of paths; see `read_ontology`.
    prefix_codes : bool, default False
        Whether the hierarchy is a list of codes that begin with their parent's code; see `read_ontology`.
    pair_columns : (str or int, str or int), optional
        The id and term columns in a table of pairs or term lists; see `read_annotations`.
    header : bool, optional
        Whether plain tables have a header row [default: detected].
    bins : int, default 4
        The number of bins, of about equal size, for each numeric column in `columns`.
    label_words : str or iterable of str, default ()
        Synonyms of the label, such as "ageing,lifespan"; `closest_features` looks for them in term names.
    """

    namespaces: Any = None  # as given; after `resolved_for` a tuple of full names
    relations: tuple[str, ...] = ("is_a",)
    evidence: frozenset[str] | None = None
    taxon: str | None = None
    follow_replaced: bool = False
    ignore_punctuation: bool = False
    min_support: int = 3
    drop_roots: bool | None = None  # None means: roots that all rows have
    drop_constant: bool = False
    deduplicate: bool = False
    on_conflict: str = "drop"
    id_column: str | int | None = None
    label_column: str | int | None = None
    mapping: Mapping[str, str] | None = None
    where: Mapping[str, str] | None = None
    others: str = ""
    missing_labels: tuple[str, ...] | None = None  # after the check, the texts themselves
    match: tuple[str, ...] = MATCHES
    features: tuple[str, ...] | None = None
    drop_terms: tuple[str, ...] = ()
    format: tuple[str, ...] | None = None
    edge_columns: tuple[str | int, ...] | None = None
    edge_order: str | None = None
    separator: str | None = None
    prefix_codes: bool = False
    pair_columns: tuple[str | int, ...] | None = None
    header: bool | None = None
    bins: int = 4
    label_words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_policy(self.on_conflict)
        if not isinstance(self.min_support, Integral) or self.min_support < 1:
            raise ValueError(f"min_support is {self.min_support!r}; expected an integer of at least 1")
        if self.separator == "":
            raise ValueError("separator is ''; expected the text between two names in a path, such as ' > '")
        if not isinstance(self.bins, Integral) or self.bins < 2:
            raise ValueError(f"bins is {self.bins!r}; expected an integer of at least 2")
        standard = {
            "match": _kinds_of_names(self.match),
            "relations": listed(self.relations),
            "evidence": None
            if self.evidence is None
            else frozenset(code.strip().upper() for code in listed(self.evidence)),
            "taxon": None if self.taxon is None else f"taxon:{str(self.taxon).removeprefix('taxon:')}",
            "features": _features(self.features),
            "drop_terms": (self.drop_terms,) if isinstance(self.drop_terms, str) else tuple(self.drop_terms),
            "missing_labels": listed(MISSING_VALUES if self.missing_labels is None else self.missing_labels),
            "label_words": listed(self.label_words),
            "format": _formats(self.format),
            "edge_columns": _columns("edge_columns", self.edge_columns, 3),
            "pair_columns": _columns("pair_columns", self.pair_columns, 2),
        }
        for name, value in standard.items():
            object.__setattr__(self, name, value)

    def format_among(self, names: Sequence[str]) -> str | None:
        """Return the first requested format that is one of these names, or None."""
        return next((name for name in self.format or () if name in names), None)

    def resolved_for(self, ontology: Ontology) -> BuildOptions:
        """Return the options with ontology-dependent values filled in: full namespace names and roots."""
        drop_roots = True if self.drop_roots is None and not ontology.is_plain else self.drop_roots
        return replace(
            self,
            namespaces=choose_namespaces(self.namespaces, ontology),
            relations=ontology.known_relations(self.relations),
            drop_roots=drop_roots,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the options as JSON values. For features, only their number is returned, because the dataset lists
        them.
        """
        plain = asdict(self)
        plain["evidence"] = None if self.evidence is None else sorted(self.evidence)
        plain["features"] = None if self.features is None else len(self.features)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


def listed(words: Any) -> tuple[Any, ...]:
    """Return the comma-separated parts of a text, or a list's entries. Empty parts are dropped unless all are empty.

    >>> listed("is_a, part_of,"), listed(",")
    (('is_a', 'part_of'), ('',))
    """
    if not isinstance(words, str):
        return tuple(words)
    return tuple(filter(None, map(str.strip, words.split(",")))) or ("",)


def _formats(formats: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if formats is None:
        return None
    stated = listed(formats)
    known = (*ONTOLOGY_FORMATS, *ANNOTATION_FORMATS)
    for name in stated:
        if name not in known:
            raise ValueError(f"format is {name!r}; expected one of {', '.join(known)}")
    return stated


def _columns(option: str, columns: Any, most: int) -> tuple[str | int, ...] | None:
    if columns is None:
        return None
    found = listed(columns)
    if not 2 <= len(found) <= most or not all(isinstance(column, str | int) for column in found):
        count = "two columns" if most == 2 else "two columns and optionally a relation column"
        raise ValueError(f"{option} is {columns!r}; expected {count}, each by name or position")
    return found


def _kinds_of_names(match: str | Sequence[str]) -> tuple[str, ...]:
    kinds = listed(match)
    if not kinds or not set(kinds) <= set(MATCHES):
        raise ValueError(f"match is {match!r}; expected one or more of {', '.join(MATCHES)}")
    return kinds


def _features(features: Iterable[str] | None) -> tuple[str, ...] | None:
    if features is None:
        return None
    listed = () if isinstance(features, str) else tuple(features)
    if not listed or not all(isinstance(feature, str) for feature in listed):
        raise ValueError(f"features must be a list of at least one term id, got {features!r:.80}")
    if (repeated := first_repeated(listed)) is not None:
        raise ValueError(f"features must name each term once, but repeats {repeated!r}")
    return listed


# ---------------------------------------------------------------------------------------- one dataset like another

ALL_EDGES = "all edges"
"""The relation that a provenance records if the edges do not name their relations."""
# Options that change the meaning of a feature, with their names in messages and the meaning of no choice.
_COMPARED = {
    "relations": ("relations", "none"),
    "namespaces": ("namespaces", "all"),
    "evidence": ("evidence codes", "all"),
    "taxon": ("organism", "any"),
    "drop_terms": ("dropped terms", "none"),
    "follow_replaced": ("replacement of obsolete terms", "no"),
    "ignore_punctuation": ("ignored punctuation", "no"),
}


def options_like(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with which a dataset was built, read from its provenance.

    `features` is left out, because the dataset itself lists the features. `deduplicate` and `others` are left out,
    because they choose rows.
    """
    recorded = _recorded(provenance, "options")
    if "relations" not in recorded:
        raise ValueError(
            "the dataset does not record how it was built, so its options cannot be reused; use only its "
            "features (features, --features-of)"
        )
    known = {field.name for field in fields(BuildOptions)} - {"features", "deduplicate", "others"}
    taken = {name: value for name, value in recorded.items() if name in known and value is not None}
    return {name: value for name, value in taken.items() if value != [ALL_EDGES]}


def build_differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    """Return how two datasets' features were built differently, or "" if there is no known difference.

    >>> there = {"options": {"relations": ["is_a"], "evidence": ["IDA"]}}
    >>> build_differences({"options": {"relations": ["is_a", "part_of"], "evidence": None}}, there)
    'relations is_a, part_of instead of is_a; evidence codes all instead of IDA'
    """
    ours, theirs = _recorded(here, "options"), _recorded(there, "options")
    pairs = [(words, ours.get(name), theirs.get(name), none) for name, (words, none) in _COMPARED.items()]
    if "relations" not in ours or "relations" not in theirs:
        pairs = []
    new, old = (_recorded(provenance, "versions").get("ontology") for provenance in (here, there))
    if new and old:
        pairs.append(("ontology", new, old, ""))
    shown = ((words, _shown(one, none), _shown(other, none)) for words, one, other, none in pairs)
    return "; ".join(f"{words} {one} instead of {other}" for words, one, other in shown if one != other)


_TABLES = ("files", "versions", "options", "aliases", "account", "labels")
_LISTED_OPTIONS = ("namespaces", "relations", "evidence", "taxon", "drop_terms")


def check_provenance(provenance: Mapping[str, Any]) -> None:
    """Raise ValueError if an entry of a provenance that hietan reads has another shape than `build_dataset` gives it.

    >>> check_provenance({"options": {"namespaces": 5}})
    Traceback (most recent call last):
    ValueError: the provenance's option 'namespaces' is 5; expected a list of names
    """
    for part in _TABLES:
        if not isinstance(provenance.get(part, {}), dict):
            raise ValueError(
                f"the provenance's entry {part!r} is {provenance[part]!r:.80}; expected an object with names"
            )
    for option in _LISTED_OPTIONS:
        value = provenance.get("options", {}).get(option)
        if not (value is None or isinstance(value, str) or _is_texts(value)):
            raise ValueError(f"the provenance's option {option!r} is {value!r:.80}; expected a list of names")
    for name, terms in provenance.get("aliases", {}).items():
        if not _is_texts(terms):
            raise ValueError(f"the alias {name!r:.80} stands for {terms!r:.80}; expected a list of features")
    for what, parts in provenance.get("account", {}).items():
        if not _is_account(parts):
            raise ValueError(
                f"the provenance counts {what!r:.80} as {parts!r:.80}; expected the numbers read and used, and "
                "numbers by reason"
            )
    if not _is_texts(provenance.get("detected", [])):
        raise ValueError(
            f"the provenance's entry 'detected' is {provenance['detected']!r:.80}; expected a list of texts"
        )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


def _is_account(parts: Any) -> bool:
    if not isinstance(parts, dict):
        return False
    reasons = [parts.get(name, {}) for name in ("dropped", "changed")]
    if not all(isinstance(each, dict) for each in reasons):
        return False
    numbers = [parts.get("read"), parts.get("used"), *(n for each in reasons for n in each.values())]
    return all(type(n) is int for n in numbers)


def _recorded(provenance: Mapping[str, Any], part: str) -> dict[str, Any]:
    found = provenance.get(part)
    return found if isinstance(found, dict) else {}


def _shown(value: Any, none: str) -> str:
    if isinstance(value, list):
        value = ", ".join(sorted(map(str, value)))
    return "yes" if value is True else str(value or none)[:200]
