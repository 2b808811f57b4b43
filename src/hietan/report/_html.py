"""Turn a report's content into a single self-contained HTML file, with links to ontology terms."""

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
"""The address of each ontology's terms; {id} stands for the identifier, {code} for the part after the prefix."""


def render(content: Mapping[str, Any]) -> str:
    """Return a report as HTML.

    The data are in a JSON block that is not run as a script, and no text in them can end the block. A content security
    policy allows only the report's own script, identified by its hash, and blocks all network access.
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
    """Return JSON without the character <, so that the JSON cannot begin an HTML tag or comment.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script>"}'
    """
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def parse_term_urls(texts: Iterable[str]) -> dict[str, str]:
    """Return the term URLs: the given URLs first, then `TERM_URLS`.

    Parameters
    ----------
    texts : iterable of str
        Texts such as ``ICD=https://example.org/{code}``: an identifier prefix, which ends at a colon or an
        underscore, and a URL that contains {id} or {code}. The prefix * stands for all other terms.

    Raises
    ------
    ValueError
        If a text has another form, or the URL does not begin with https:// or http://.

    Examples
    --------
    >>> parse_term_urls(["SKU=https://shop.example/{code}"])["SKU"]
    'https://shop.example/{code}'
    """
    found = dict(TERM_URLS)
    for text in texts:
        prefix, equals, url = (part.strip() for part in text.partition("="))
        if not equals or not prefix:
            raise ValueError(f"the term URL is {text!r}; expected PREFIX=https://.../{{id}}")
        _check_term_url(url)
        found[prefix] = url
    return found


def _check_term_url(url: str) -> None:
    """Raise ValueError if a URL is not allowed in a link."""
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"the term URL is {url!r}; expected a URL that begins with https:// or http://")
    if "{id}" not in url and "{code}" not in url:
        raise ValueError(f"the term URL is {url!r}; expected a URL that contains {{id}} or {{code}}")
