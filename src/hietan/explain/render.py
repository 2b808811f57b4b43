"""An explanation as text and as HTML."""

from __future__ import annotations

from html import escape

from hietan.explain.records import Contribution, ExplanationRecord


def as_text(explanation: ExplanationRecord, limit: int) -> str:
    """Lines of plain text, with the `limit` strongest features listed individually."""
    shown, rest = explanation.strongest[:limit], explanation.strongest[limit:]
    lines = [(explanation.base_label, explanation.base, "")]
    lines += [(_label(part), part.contribution, _probabilities(part)) for part in shown]
    if rest:
        lines.append((f"{len(rest)} weaker features", sum(part.contribution for part in rest), ""))
    lines += [(what, value, "") for what, value in explanation.other]
    lines.append(("log-odds", explanation.log_odds, ""))
    width = max(len(label) for label, _, _ in lines)
    text = [headline(explanation), ""]
    text += [f"  {label:<{width}}  {value:+9.3f}  {note}".rstrip() for label, value, note in lines]
    if any(part.probabilities for part in shown):
        text += ["", "  In brackets: P(value | class) for " + _classes(explanation)]
    if explanation.removed:
        text += [
            "",
            f"{len(explanation.removed)} features were left out as redundant in this row, for example:",
        ]
        text += [f"  {removal}" for removal in explanation.removed[:5]]
    return "\n".join(text)


def headline(explanation: ExplanationRecord) -> str:
    """The method, the row, the predicted class and the log-odds in one line."""
    return (
        f"{explanation.method}, {explanation.row}: {explanation.predicted}. P({explanation.target}) = "
        f"{explanation.probability:.4g}, log-odds {explanation.log_odds:+.3f}, from {len(explanation.contributions)} "
        f"features"
    )


def _classes(explanation: ExplanationRecord) -> str:
    return ", ".join(str(label) for label in explanation.classes)


def _label(part: Contribution) -> str:
    given = "" if part.parent is None else f" given {part.parent} = {part.parent_value:g}"
    name = "" if part.name == part.feature else f" ({part.name})"
    return f"{part.feature} = {part.value:g}{name}{given}"


def _probabilities(part: Contribution) -> str:
    if part.probabilities is None:
        return ""
    return "[" + ", ".join(f"{p:.3f}" for p in part.probabilities) + "]"


def as_html(explanation: ExplanationRecord, limit: int = 15) -> str:
    """A small table with bars; all names are escaped, colours work on light and dark pages."""
    shown, rest = explanation.strongest[:limit], explanation.strongest[limit:]
    lines = [(explanation.base_label, explanation.base)]
    lines += [(_label(part), part.contribution) for part in shown]
    if rest:
        lines.append((f"{len(rest)} weaker features", sum(part.contribution for part in rest)))
    lines += list(explanation.other)
    largest = max(abs(value) for _, value in lines) or 1.0
    rows = "".join(
        f'<tr><td style="text-align:left">{escape(label)}</td><td style="text-align:right">{value:+.3f}</td>'
        f'<td style="width:12em"><div style="height:.8em;width:{50 * abs(value) / largest:.1f}%;'
        f"margin-left:{50 if value >= 0 else 50 - 50 * abs(value) / largest:.1f}%;"
        f'background:{"#4393c3" if value >= 0 else "#d6604d"}"></div></td></tr>'
        for label, value in lines
    )
    removed = ""
    if explanation.removed:
        items = "".join(f"<li>{escape(str(removal))}</li>" for removal in explanation.removed)
        removed = f"<details><summary>{len(explanation.removed)} features left out</summary><ul>{items}</ul></details>"
    return (
        f"<div><p><strong>{escape(headline(explanation))}</strong></p><table><thead><tr>"
        f'<th style="text-align:left">feature</th><th>contribution</th><th></th></tr></thead><tbody>{rows}'
        f'<tr><th style="text-align:left">log-odds</th><th style="text-align:right">{explanation.log_odds:+.3f}</th>'
        f"<th></th></tr></tbody></table>{removed}</div>"
    )
