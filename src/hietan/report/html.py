"""From the plain dict of a report to a single HTML file that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
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
