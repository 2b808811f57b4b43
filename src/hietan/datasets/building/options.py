"""The options of `build_dataset`: put into one form, checked, and written into the provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any

from hietan.datasets.building.genes import MATCHES
from hietan.datasets.readers.labels import check_policy
from hietan.datasets.readers.namespaces import choose_namespaces
from hietan.datasets.readers.ontology import Ontology


@dataclass(frozen=True)
class BuildOptions:
    """What the arguments of the same names mean; after `fitted_to`, in one form each."""

    namespaces: Any
    relations: Any
    evidence: Any
    taxon: Any
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
    match: Sequence[str]
    features: Any

    def __post_init__(self) -> None:
        check_policy(self.on_conflict)
        if not isinstance(self.min_support, Integral) or self.min_support < 1:
            raise ValueError(f"min_support is {self.min_support!r}; expected a whole number from 1")
        match = (self.match,) if isinstance(self.match, str) else tuple(self.match)
        if not match or not set(match) <= set(MATCHES):
            raise ValueError(f"match is {self.match!r}; expected some of {', '.join(MATCHES)}")
        object.__setattr__(self, "match", match)

    def fitted_to(self, ontology: Ontology) -> BuildOptions:
        return replace(
            self,
            namespaces=choose_namespaces(self.namespaces, ontology),
            relations=(self.relations,) if isinstance(self.relations, str) else tuple(self.relations),
            evidence=_codes(self.evidence),
            taxon=_taxon(self.taxon),
            features=_features(self.features),
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it; given features are only counted, since the dataset names them."""
        plain = asdict(self)
        plain["evidence"] = None if self.evidence is None else sorted(self.evidence)
        plain["features"] = None if self.features is None else len(self.features)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


def _codes(evidence: str | Iterable[str] | None) -> frozenset[str] | None:
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
        raise ValueError(f"features must be names of terms, at least one, got {features!r:.80}")
    if len(set(listed)) < len(listed):
        raise ValueError("features names a term twice")
    return listed
