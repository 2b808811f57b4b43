"""HTML building blocks with which hietan's objects are shown in notebooks.

Objects are cards with a title and a line of counts. The colours are translucent versions of the notebook's colours,
so they suit light and dark themes.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

FAINT = "opacity:.65"
_CARD = (
    "display:inline-block;padding:.6em 1em;border:1px solid rgba(128,128,128,.4);border-radius:6px;"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5"
)


def card(title: str, counts: Mapping[str, int | str], body: str) -> str:
    """Return HTML with a title, a line of labelled counts or texts, and a body that is already HTML.

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
    """Return a section that unfolds when you click its title. The body is already HTML."""
    return f'<details><summary style="cursor:pointer;{FAINT}">{escape(title)}</summary>{body}</details>'
