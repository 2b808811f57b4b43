"""Where the terms of ontologies are described on the web, by the prefix of their identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

ANY_TERM = "*"
"""The prefix that stands for all terms without an address of their own."""

TERM_URLS: Mapping[str, str] = MappingProxyType(
    {
        "GO": "https://www.ebi.ac.uk/QuickGO/term/{id}",
        "HP": "https://hpo.jax.org/browse/term/{id}",
        "MP": "https://www.informatics.jax.org/vocab/mp_ontology/{id}",
        "MONDO": "https://monarchinitiative.org/{id}",
        "DOID": "https://disease-ontology.org/term/{id}",
        "CL": "https://www.ebi.ac.uk/ols4/search?q={id}",
        "UBERON": "https://www.ebi.ac.uk/ols4/search?q={id}",
        "CHEBI": "https://www.ebi.ac.uk/chebi/searchId.do?chebiId={id}",
        "ICD10": "https://icd.who.int/browse10/2019/en#/{code}",
        "ICD11": "https://icd.who.int/browse/2024-01/mms/en#{code}",
        "MESH": "https://meshb.nlm.nih.gov/record/ui?ui={code}",
        "OMIM": "https://omim.org/entry/{code}",
    }
)
"""The address of the terms of each ontology; {id} stands for the identifier, {code} for what follows its prefix."""


def parse_term_urls(texts: Iterable[str]) -> dict[str, str]:
    """The addresses of terms: those of `TERM_URLS`, and those given as texts, which come first.

    Parameters
    ----------
    texts : iterable of str
        Texts such as ``ICD=https://example.org/{code}``: the prefix of the identifiers, which a colon or an underscore
        ends, and an address with {id} or {code} in it. The prefix * stands for all other terms.

    Raises
    ------
    ValueError
        If a text has another form, or the address does not begin with https:// or http://.

    Examples
    --------
    >>> parse_term_urls(["SKU=https://shop.example/{code}"])["SKU"]
    'https://shop.example/{code}'
    """
    found = dict(TERM_URLS)
    for text in texts:
        prefix, equals, url = (part.strip() for part in text.partition("="))
        if not equals or not prefix:
            raise ValueError(f"the address of terms is {text!r}; expected PREFIX=https://.../{{id}}")
        check_term_url(url)
        found[prefix] = url
    return found


def check_term_url(url: str) -> None:
    """Refuse an address that a link must not have; raises ValueError."""
    if not url.startswith(("https://", "http://")):
        raise ValueError(
            f"the address of terms is {url!r}; expected one that begins with https:// or http://"
        )
    if "{id}" not in url and "{code}" not in url:
        raise ValueError(
            f"the address of terms is {url!r}; expected {{id}} or {{code}} where the term belongs"
        )
