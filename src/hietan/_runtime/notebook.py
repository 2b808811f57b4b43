"""The look that all objects share in a notebook, and the way from an estimator to its page in the documentation.

Objects are cards with a title and a line of counts. The colours are translucent versions of the notebook's own, so they
suit both light and dark themes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from importlib.metadata import metadata
from typing import ClassVar

FAINT = "opacity:.65"
_CARD = (
    "display:inline-block;padding:.6em 1em;border:1px solid rgba(128,128,128,.4);border-radius:6px;"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5"
)


def card(title: str, counts: Mapping[str, int | str], body: str) -> str:
    """HTML with a title, a line of labelled counts, which may be texts, and a body that is already HTML.

    >>> "<b>1,200</b>" in card("Dataset <1>", {"rows": 1200}, "<p>more</p>")
    True
    """
    cells = "".join(
        f'<span style="margin-right:1.2em"><b>{_shown(count)}</b> <span style="{FAINT}">{escape(what)}</span></span>'
        for what, count in counts.items()
    )
    return (
        f'<div style="{_CARD}"><div style="font-weight:600">{escape(title)}</div>'
        f"<div>{cells}</div>{body}</div>"
    )


def _shown(count: int | str) -> str:
    return escape(count) if isinstance(count, str) else f"{count:,}"


def details(title: str, body: str) -> str:
    """A section that unfolds when its title is clicked; the body is already HTML."""
    return f'<details><summary style="cursor:pointer;{FAINT}">{escape(title)}</summary>{body}</details>'


def documentation_address() -> str:
    """The address of the documentation site, without a slash at the end; "" if none is known.

    It is the environment variable HIETAN_DOCS, such as the folder that `make docs` has written as a file:// address;
    otherwise the address of the documentation in the metadata of the package, if it has one.
    """
    known = os.environ.get("HIETAN_DOCS", "")
    if not known:
        addresses = dict(line.split(", ", 1) for line in metadata("hietan").get_all("Project-URL", []))
        known = addresses.get("Documentation", "")
    return known.rstrip("/")


class Documented:
    """An estimator with a page in the API reference.

    In notebooks, scikit-learn links the name of such an estimator and those of its parameters to the page, and shows
    the description of a parameter where the mouse points at it.
    """

    documented_in: ClassVar[str] = "hietan"
    """The package under whose name the reference lists the class."""
    _doc_link_module = "hietan"

    @property
    def _doc_link_template(self) -> str:
        address = documentation_address()
        return f"{address}/generated/api/{{path}}.html" if address else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"path": f"{self.documented_in}.{type(self).__name__}"}
