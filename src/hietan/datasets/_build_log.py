"""Book-keeping: how much was read, how much of it was used, and why the rest was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

A_FEW = 0.05  # losses above this share deserve a warning

UNKNOWN_TERM, OBSOLETE_TERM = "term unknown to the ontology", "obsolete term"
# Where the account is shown, {row} is what the dataset calls its rows.
NO_ROW, SHARED_SYNONYM = "no {row} of this name is annotated", "synonym of several {row}s"
CONFLICTING_IDS = "same {row} under several ids, which conflict"
REPEATED_IDS = "same {row} under an earlier id"
OF_OTHERS = "{row} is no row"
NO_ANNOTATION = "no usable annotation"
UNKNOWN_FEATURE = "unknown to the ontology: 0 throughout"
UNDEFINED_PARENT = "parent not defined by the ontology"
LEFT_OUT = "left out on request (drop_terms)"
NO_LABEL, NO_ID, CONFLICTING_LABELS = "no label", "no id", "conflicting labels"
_LOST_LABELS = {
    NO_LABEL: "have no label",
    NO_ID: "have no id",
    CONFLICTING_LABELS: "have an id with another label in another row",
}


@dataclass
class Tally:
    """How many things of one kind were read, and how many of them were dropped for which reason.

    A thing is dropped for the first reason that applies, so the parts add up: ``read == used + all dropped``.
    `changed` counts things that were used, but in a different form from the one in which they were read.

    >>> tally = Tally("labels", read=10)
    >>> tally.drop("no label", 3)
    >>> tally.used, tally.as_dict()
    (7, {'read': 10, 'used': 7, 'dropped': {'no label': 3}})
    """

    what: str
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, count: int = 1) -> None:
        """Count things that are not used; a count of 0 leaves no entry."""
        if count:
            self.dropped[reason] += count

    def change(self, how: str, count: int = 1) -> None:
        """Count things that are used in another form; a count of 0 leaves no entry."""
        if count:
            self.changed[how] += count

    @property
    def used(self) -> int:
        """The number of things that were read and not dropped."""
        return self.read - self.dropped.total()

    @property
    def why(self) -> str:
        """The reasons for which things were dropped, with their numbers, for messages."""
        return ", ".join(f"{reason} ({count:,})" for reason, count in self.dropped.items())

    def as_dict(self) -> dict[str, Any]:
        """The tally as plain values that JSON can hold."""
        parts: dict[str, Any] = {"read": self.read, "used": self.used, "dropped": dict(self.dropped)}
        return parts | ({"changed": dict(self.changed)} if self.changed else {})


class Account:
    """The tallies of a dataset that is being built: relations, annotations, label rows, rows, terms, a further table.

    Relations appear in it only if some of them were dropped.

    Parameters
    ----------
    rows, terms : str
        What the rows and the terms are called in the account and in warnings; {row} is filled in.
    row_noun : str
        What a row is called, such as "gene".

    Examples
    --------
    >>> account = Account()
    >>> account.rows.read = 100
    >>> account.rows.drop("no usable annotation", 9)
    >>> list(account.complaints())
    ['9.0 % of the labelled rows (9 of 100) have no usable annotation']
    >>> account.row_noun = "gene"
    >>> list(account.complaints())
    ['9.0 % of the labelled genes (9 of 100) have no usable annotation']
    """

    def __init__(self, rows: str = "labelled {row}s", terms: str = "terms", *, row_noun: str = "row") -> None:
        self.row_noun = row_noun
        self.relations = Tally("relations between terms")
        self.annotations = Tally("annotations")
        self.label_rows = Tally("label rows")
        self.rows = Tally(rows)
        self.terms = Tally(terms)
        self.table_rows = Tally("table rows")
        self.table_columns = Tally("table columns")

    def as_dict(self) -> dict[str, Any]:
        """The tallies of everything that was read, as plain values that JSON can hold."""
        tallies = (
            self.annotations,
            self.label_rows,
            self.rows,
            self.terms,
            self.table_rows,
            self.table_columns,
        )
        counted = [tally for tally in tallies if tally.read]
        if self.relations.dropped:
            counted.append(self.relations)
        return {self.worded(tally.what): self.worded(tally.as_dict()) for tally in counted}

    def complaints(self, unmatched: Sequence[str] = ()) -> Iterator[str]:
        """A sentence for each kind of thing of which too much was lost because nothing matched.

        Any loss of relations is too much, since there may be many terms below one, and so is any loss of label rows; of
        other things, a share above `A_FEW` is. `unmatched` has examples of terms that are unknown or obsolete.
        """
        if lost := self.relations.dropped[UNDEFINED_PARENT]:
            yield (
                f"{lost} of {self.relations.read} {self.relations.what} name a parent that the ontology does not "
                "define; annotations do not spread along them, so check whether the ontology is complete"
            )
        for reason, words in _LOST_LABELS.items():
            if lost := self.label_rows.dropped[reason]:
                yield f"{lost} of {self.label_rows.read} label rows {words}; they are left out"
        no_term = f"name a term that is unknown or obsolete{_such_as(unmatched)}"
        found = (
            (self.annotations, (UNKNOWN_TERM, OBSOLETE_TERM), no_term),
            (self.rows, (NO_ROW, SHARED_SYNONYM, NO_ANNOTATION), "have no usable annotation"),
            (self.terms, (UNKNOWN_FEATURE,), "are unknown to the ontology"),
        )
        for tally, reasons, complaint in found:
            lost = sum(tally.dropped[reason] for reason in reasons)
            if lost > A_FEW * tally.read:
                share = f"{100 * lost / tally.read:.1f} % of the {self.worded(tally.what)}"
                yield f"{share} ({lost} of {tally.read}) {complaint}"

    def worded(self, value: Any) -> Any:
        """A text, or the texts in the keys of a dict, with the noun for a row."""
        if isinstance(value, dict):
            return {self.worded(key): self.worded(inner) for key, inner in value.items()}
        if value == OF_OTHERS and self.row_noun == "row":
            return "of something that is not a row"
        return value.replace("{row}", self.row_noun) if isinstance(value, str) else value


def _such_as(terms: Sequence[str]) -> str:
    """The end of a sentence about terms that nothing matched: examples, and what to do if they are lists of terms.

    >>> _such_as(["tea;juice", "cake"])
    ", such as 'tea;juice', 'cake'; where a field lists several terms, use format='term-lists' (--format term-lists)"
    """
    if not terms:
        return ""
    lists = "; where a field lists several terms, use format='term-lists' (--format term-lists)"
    return f", such as {', '.join(repr(term[:40]) for term in terms)}{lists if any(';' in t for t in terms) else ''}"


def account_lines(account: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """The account of a provenance as (what, line, count), ready to be shown as a table.

    >>> account_lines({"labels": {"read": 10, "used": 7, "dropped": {"no label": 3}}})
    [('labels', 'read', 10), ('', 'dropped: no label', 3), ('', 'used', 7)]
    """
    lines: list[tuple[str, str, int]] = []
    for what, parts in account.items():
        lines.append((what, "read", parts["read"]))
        lines += [("", f"dropped: {why}", count) for why, count in parts.get("dropped", {}).items()]
        lines.append(("", "used", parts["used"]))
        lines += [("", f"of which: {how}", count) for how, count in parts.get("changed", {}).items()]
    return lines
