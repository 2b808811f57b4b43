"""The options of `build_dataset`: checked, brought into a standard form, and written into the provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral
from typing import Any

from hietan.datasets.building.genes import MATCHES
from hietan.datasets.duplicates import first_repeated
from hietan.datasets.readers.annotation_formats import ANNOTATION_FORMATS
from hietan.datasets.readers.labels import check_policy
from hietan.datasets.readers.ontology import Ontology, choose_namespaces
from hietan.datasets.readers.ontology_formats import ONTOLOGY_FORMATS


@dataclass(frozen=True)
class BuildOptions:
    """The options of `build_dataset`, which documents them.

    Every field has the name of its argument. `from_arguments` checks them and brings them into a standard form, except
    for `namespaces`, whose meaning depends on the ontology: see `resolved_for`.
    """

    namespaces: Any = None  # as given; after `resolved_for` a tuple of full names
    relations: tuple[str, ...] = ("is_a",)
    evidence: frozenset[str] | None = None
    taxon: str | None = None
    follow_replaced: bool = False
    min_support: int = 3
    drop_roots: bool | None = None  # None means: those that all rows have
    drop_constant: bool = False
    deduplicate: bool = False
    on_conflict: str = "drop"
    id_column: str | int | None = None
    label_column: str | int | None = None
    mapping: Mapping[str, str] | None = None
    where: Mapping[str, str] | None = None
    match: tuple[str, ...] = MATCHES
    features: tuple[str, ...] | None = None
    drop_terms: tuple[str, ...] = ()
    format: tuple[str, ...] | None = None
    edge_columns: tuple[str | int, ...] | None = None
    edge_order: str | None = None
    pair_columns: tuple[str | int, ...] | None = None
    header: bool | None = None
    bins: int = 4

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> BuildOptions:
        """The options among the arguments of `build_dataset`, by name; its other arguments are ignored."""
        given = {option.name: arguments[option.name] for option in fields(cls)}
        check_policy(given["on_conflict"])
        if not isinstance(given["min_support"], Integral) or given["min_support"] < 1:
            raise ValueError(f"min_support is {given['min_support']!r}; expected an integer of at least 1")
        given["match"] = _kinds_of_names(given["match"])
        given["relations"] = _as_tuple(given["relations"])
        given["evidence"] = _evidence_codes(given["evidence"])
        given["taxon"] = _taxon(given["taxon"])
        given["features"] = _features(given["features"])
        given["drop_terms"] = _as_tuple(given["drop_terms"])
        given["format"] = _formats(given["format"])
        for columns in ("edge_columns", "pair_columns"):
            given[columns] = None if given[columns] is None else _two_columns(columns, given[columns])
        if not isinstance(given["bins"], Integral) or given["bins"] < 2:
            raise ValueError(f"bins is {given['bins']!r}; expected an integer of at least 2")
        return cls(**given)

    @classmethod
    def with_changes(cls, **changes: Any) -> BuildOptions:
        """The default options but for these, which are checked."""
        defaults = {option.name: option.default for option in fields(cls)}
        return cls.from_arguments({**defaults, **changes})

    def format_among(self, names: Sequence[str]) -> str | None:
        """The stated format that is one of these names; None if none was stated."""
        return next((name for name in self.format or () if name in names), None)

    def resolved_for(self, ontology: Ontology) -> BuildOptions:
        """The same options with what depends on the ontology: the full names of its namespaces, and its roots."""
        drop_roots = True if self.drop_roots is None and not ontology.is_plain else self.drop_roots
        return replace(self, namespaces=choose_namespaces(self.namespaces, ontology), drop_roots=drop_roots)

    def as_dict(self) -> dict[str, Any]:
        """The options as JSON can hold them; given features are only counted, since the dataset names them."""
        plain = asdict(self)
        plain["evidence"] = None if self.evidence is None else sorted(self.evidence)
        plain["features"] = None if self.features is None else len(self.features)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


def _as_tuple(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _formats(formats: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if formats is None:
        return None
    stated = _as_tuple(formats)
    known = (*ONTOLOGY_FORMATS, *ANNOTATION_FORMATS)
    for name in stated:
        if name not in known:
            raise ValueError(f"format is {name!r}; expected one of {', '.join(known)}")
    for names in (ONTOLOGY_FORMATS, ANNOTATION_FORMATS):
        if len(twice := [name for name in stated if name in names]) > 1:
            raise ValueError(
                f"format names both {twice[0]!r} and {twice[1]!r}, which are formats of the same file"
            )
    return stated


def _two_columns(option: str, columns: Any) -> tuple[str | int, ...]:
    listed = () if isinstance(columns, str) else tuple(columns)
    if len(listed) != 2 or not all(isinstance(column, str | int) for column in listed):
        raise ValueError(f"{option} is {columns!r}; expected two columns, each by its name or position")
    return listed


def _kinds_of_names(match: str | Sequence[str]) -> tuple[str, ...]:
    kinds = _as_tuple(match)
    if not kinds or not set(kinds) <= set(MATCHES):
        raise ValueError(f"match is {match!r}; expected one or more of {', '.join(MATCHES)}")
    return kinds


def _evidence_codes(evidence: str | Iterable[str] | None) -> frozenset[str] | None:
    if evidence is None:
        return None
    listed = evidence.split(",") if isinstance(evidence, str) else evidence
    return frozenset(code.strip().upper() for code in listed)


def _taxon(taxon: str | int | None) -> str | None:
    return None if taxon is None else f"taxon:{str(taxon).removeprefix('taxon:')}"


def _features(features: Iterable[str] | None) -> tuple[str, ...] | None:
    if features is None:
        return None
    listed = () if isinstance(features, str) else tuple(features)
    if not listed or not all(isinstance(feature, str) for feature in listed):
        raise ValueError(f"features must be a list of at least one term id, got {features!r:.80}")
    if (repeated := first_repeated(listed)) is not None:
        raise ValueError(f"features must name each term once, but repeats {repeated!r}")
    return listed
