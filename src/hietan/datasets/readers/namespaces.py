"""The three namespaces of the Gene Ontology and their abbreviations."""

from __future__ import annotations

from collections.abc import Iterable

from hietan.datasets.readers.ontology import Ontology

GO_NAMESPACES = {"BP": "biological_process", "MF": "molecular_function", "CC": "cellular_component"}


def namespace_codes(namespaces: str | Iterable[str]) -> tuple[str, ...]:
    """Any of "BP", "MF" and "CC", in this order, from "CCBP" or ("CC", "BP").

    >>> namespace_codes("ccbp")
    ('BP', 'CC')
    """
    joined = namespaces if isinstance(namespaces, str) else "".join(map(str, namespaces))
    pairs = [joined[i : i + 2].upper() for i in range(0, len(joined), 2)]
    if not pairs or len(set(pairs)) < len(pairs) or not set(pairs) <= set(GO_NAMESPACES):
        raise ValueError(
            f"namespaces is {namespaces!r}; expected BP, MF and CC, each at most once, as in 'BPCC'"
        )
    return tuple(code for code in GO_NAMESPACES if code in pairs)


def choose_namespaces(namespaces: str | Iterable[str] | None, ontology: Ontology) -> tuple[str, ...]:
    """The namespaces of `ontology` that are meant: full names, or GO's abbreviations; all for None."""
    if namespaces is None:
        return ontology.namespaces
    named = (namespaces,) if isinstance(namespaces, str) else tuple(namespaces)
    if named and all(name in ontology.namespaces for name in named):
        return named
    try:
        chosen = tuple(GO_NAMESPACES[code] for code in namespace_codes(named))
    except ValueError:
        chosen = ()
    if not chosen or not set(chosen) <= set(ontology.namespaces):
        raise ValueError(
            f"namespaces is {namespaces!r}; the ontology has {', '.join(map(repr, ontology.namespaces))}"
            ", for which GO's abbreviations BP, MF and CC do as well"
        )
    return chosen
