"""From the plain dict of a report to a single HTML file that fetches nothing, with links to the terms of ontologies."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

STYLES = ("styles/base.css", "styles/parts.css", "styles/quality.css", "styles/media.css")
SCRIPTS = (
    "dom.js",
    "data.js",
    "shared/routes.js",
    "shared/takeaway.js",
    "shared/sorted_table.js",
    "overview.js",
    "quality/one_dataset.js",
    "quality/curves.js",
    "ranking.js",
    "reliability.js",
    "incomplete.js",
    "terms/beeswarm.js",
    "terms/sub_hierarchy.js",
    "terms/one_term.js",
    "terms/terms.js",
    "features.js",
    "tree.js",
    "terms/one_row.js",
    "explanation.js",
    "candidates.js",
    "row_filters.js",
    "rows.js",
    "main.js",
)
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


def render(content: Mapping[str, Any]) -> str:
    """The HTML page of a report.

    The data are in a block of JSON that is not run as a script, and no text in them can end the block. A content
    security policy lets the page run its own script, identified by its hash, and fetch nothing at all.
    """
    page = files("hietan.report") / "page"
    style = "\n".join((page / name).read_text(encoding="utf-8") for name in STYLES)
    script = "\n".join((page / name).read_text(encoding="utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    parts = {
        "policy": (
            f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
            "base-uri 'none'; form-action 'none'"
        ),
        "title": html.escape(str(content["title"])),
        "style": style,
        "data": as_json(content),
        "script": script,
    }
    pieces = (page / "page.html").read_text(encoding="utf-8").split("{{")
    return pieces[0] + "".join(
        parts[name] + rest for name, _, rest in (p.partition("}}") for p in pieces[1:])
    )


def as_json(content: Mapping[str, Any]) -> str:
    """JSON without any <, so that within HTML nothing in it can begin a tag or a comment.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script>"}'
    """
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


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
        _check_term_url(url)
        found[prefix] = url
    return found


def _check_term_url(url: str) -> None:
    """Refuse an address that a link must not have; raises ValueError."""
    if not url.startswith(("https://", "http://")):
        raise ValueError(
            f"the address of terms is {url!r}; expected one that begins with https:// or http://"
        )
    if "{id}" not in url and "{code}" not in url:
        raise ValueError(
            f"the address of terms is {url!r}; expected {{id}} or {{code}} where the term belongs"
        )
