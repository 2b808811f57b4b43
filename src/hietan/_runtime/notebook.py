"""The look of objects that show themselves in a notebook, as values of the attribute `style`.

Colours are the notebook's own, thinned out, so that light and dark themes both work.
"""

BOX = (
    "display:inline-block;padding:.6em 1em;border:1px solid rgba(128,128,128,.4);border-radius:6px;"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5"
)
FAINT = "opacity:.65"
