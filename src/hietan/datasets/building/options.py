"""The options of `build_dataset`: checked, brought into a standard form, and written into the provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral
from typing import Any

from hietan.datasets.building.genes import MATCHES
from hietan.datasets.duplicates import first_repeated
from hietan.datasets.readers.labels import check_policy
from hietan.datasets.readers.ontology import Ontology, choose_namespaces


@dataclass(frozen=True)
class BuildOptions:
    """The options of `build_dataset`, which documents them and holds their defaults.

    Every field has the name of its argument. `from_arguments` checks them and brings them into a standard form, except
    for `namespaces`, whose meaning depends on the ontology: see `resolved_for`.
    """

    namespaces: Any  # as given; after `resolved_for` a tuple of full names
    relations: tuple[str, ...]
    evidence: frozenset[str] | None
    taxon: str | None
    follow_replaced: bool
    min_support: int
    drop_roots: bool
    drop_constant: bool
    deduplicate: bool
    on_conflict: str
    id_column: str | None
    label_column: str | None
    mapping: Mapping[str, str] | None
    where: Mapping[str, str] | None
    match: tuple[str, ...]
    features: tuple[str, ...] | None

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
        return cls(**given)

    def resolved_for(self, ontology: Ontology) -> BuildOptions:
        """The same options with the full names of the namespaces of this ontology."""
        return replace(self, namespaces=choose_namespaces(self.namespaces, ontology))

    def as_dict(self) -> dict[str, Any]:
        """The options as JSON can hold them; given features are only counted, since the dataset names them."""
        plain = asdict(self)
        plain["evidence"] = None if self.evidence is None else sorted(self.evidence)
        plain["features"] = None if self.features is None else len(self.features)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


def _as_tuple(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


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
