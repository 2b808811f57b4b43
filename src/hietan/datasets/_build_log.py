"""Counts of the records that were read, used and dropped, with the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hietan._runtime.spelling import first_few

A_FEW = 0.05  # a larger share of losses causes a warning

UNKNOWN_TERM, OBSOLETE_TERM = "term unknown to the ontology", "obsolete term"
# {row} stands for the dataset's word for a row.
NO_ROW, SHARED_SYNONYM = "no {row} of this name is annotated", "synonym of several {row}s"
CONFLICTING_IDS = "same {row} under several ids, which conflict"
REPEATED_IDS, SAME_ROW = "same {row} under an earlier id", "identical row of the same class"
OF_OTHERS = "{row} is not a row"
NO_ANNOTATION = "no usable annotation"
UNKNOWN_FEATURE = "unknown to the ontology: 0 in every row"
UNDEFINED_PARENT = "parent not defined by the ontology"
LEFT_OUT = "left out on request (drop_terms)"
NO_LABEL, NO_ID, CONFLICTING_LABELS = "no label", "no id", "conflicting labels"
_LOST_LABELS = {
    NO_LABEL: "have no label",
    NO_ID: "have no id",
    CONFLICTING_LABELS: "have an id with a different label in another row",
}


@dataclass
class Tally:
    """Counts for one kind of item: how many items were read, and how many were dropped for each reason.

    An item is dropped for the first reason that applies, so the parts add up: ``read == used + all dropped``.
    `changed` counts items that were used in a different form. `examples` lists items that were dropped because
    nothing matched them.

    >>> tally = Tally("labels", read=10)
    >>> tally.drop("no label", 3)
    >>> tally.used, tally.as_dict()
    (7, {'read': 10, 'used': 7, 'dropped': {'no label': 3}})
    """

    what: str
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def drop(self, reason: str, count: int = 1) -> None:
        """Count items that are not used. A count of 0 adds no entry."""
        if count:
            self.dropped[reason] += count

    def change(self, how: str, count: int = 1) -> None:
        """Count items that are used in a different form. A count of 0 adds no entry."""
        if count:
            self.changed[how] += count

    @property
    def used(self) -> int:
        """The number of items that were not dropped."""
        return self.read - self.dropped.total()

    @property
    def why(self) -> str:
        """The reasons for dropping items, with their counts, for messages."""
        return ", ".join(f"{reason} ({count:,})" for reason, count in self.dropped.items())

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain values for JSON."""
        parts: dict[str, Any] = {"read": self.read, "used": self.used, "dropped": dict(self.dropped)}
        return parts | ({"changed": dict(self.changed)} if self.changed else {})


class Account:
    """Counts of everything that is read while a dataset is built, such as relations, annotations, label rows and terms.

    Relations are included only if some of them were dropped.

    Parameters
    ----------
    rows, terms : str
        The words for rows and terms in summaries and warnings; {row} is replaced.
    row_noun : str
        The word for a row, such as "gene".

    Examples
    --------
    >>> account = Account()
    >>> account.rows.read = 100
    >>> account.rows.drop("no usable annotation", 9)
    >>> list(account.complaints())
    ['9.0% of the labelled rows (9 of 100) have no usable annotation']
    >>> account.row_noun = "gene"
    >>> list(account.complaints())
    ['9.0% of the labelled genes (9 of 100) have no usable annotation']
    """

    def __init__(self, rows: str = "labelled {row}s", terms: str = "terms", *, row_noun: str = "row") -> None:
        self.row_noun = row_noun
        self.relations = Tally("relations between terms")
        self.annotations = Tally("annotations")
        self.label_rows = Tally("label rows")
        self.rows = Tally(rows)
        self.unlabelled = Tally("unlabelled {row}s")  # with a class for rows without a label
        self.terms = Tally(terms)
        self.table_rows = Tally("table rows")
        self.table_columns = Tally("table columns")

    def as_dict(self) -> dict[str, Any]:
        """Return the counts of everything that was read, as plain values for JSON."""
        tallies = (
            self.annotations,
            self.label_rows,
            self.rows,
            self.unlabelled,
            self.terms,
            self.table_rows,
            self.table_columns,
        )
        counted = [tally for tally in tallies if tally.read]
        if self.relations.dropped:
            counted.append(self.relations)
        return {self.worded(tally.what): self.worded(tally.as_dict()) for tally in counted}

    def complaints(self, unmatched: Sequence[str] = (), hint: str = "") -> Iterator[str]:
        """Yield a warning for each kind of item if too many items matched nothing and were dropped.

        Any loss of relations or label rows is too much, because many terms may be below a lost relation. For other
        items, the limit is a share of `A_FEW`. `unmatched` lists examples of unknown or obsolete terms, and `hint` how
        to match them.
        """
        if lost := self.relations.dropped[UNDEFINED_PARENT]:
            yield (
                f"{lost} of {self.relations.read} {self.relations.what} name a parent that the ontology does not "
                "define; annotations are not inherited along these relations, so check whether the ontology is "
                "complete"
            )
        for reason, words in _LOST_LABELS.items():
            if lost := self.label_rows.dropped[reason]:
                fate = (
                    "ids without any label count as unlabelled"
                    if reason == NO_LABEL and self.unlabelled.read
                    else "they are left out"
                )
                yield f"{lost} of {self.label_rows.read} label rows {words}; {fate}"
        no_term = f"name a term that is unknown or obsolete{_such_as(unmatched)}{hint}"
        found = (
            (self.annotations, (UNKNOWN_TERM, OBSOLETE_TERM), no_term),
            (
                self.rows,
                (NO_ROW, SHARED_SYNONYM, NO_ANNOTATION),
                f"have no usable annotation{self.lost_rows}",
            ),
            (self.terms, (UNKNOWN_FEATURE,), "are unknown to the ontology"),
        )
        for tally, reasons, complaint in found:
            lost = sum(tally.dropped[reason] for reason in reasons)
            if lost > A_FEW * tally.read:
                share = f"{100 * lost / tally.read:.1f}% of the {self.worded(tally.what)}"
                yield f"{share} ({lost} of {tally.read}) {complaint}"

    @property
    def lost_rows(self) -> str:
        """A colon and the first labelled rows without a usable annotation, or "" if there are no such rows."""
        return f": {first_few(self.rows.examples)}" if self.rows.examples else ""

    def worded(self, value: Any) -> Any:
        """Return a text, or a dict with texts as keys, after filling in the row noun."""
        if isinstance(value, dict):
            return {self.worded(key): self.worded(inner) for key, inner in value.items()}
        if value == OF_OTHERS and self.row_noun == "row":
            return "of something that is not a row"
        return value.replace("{row}", self.row_noun) if isinstance(value, str) else value


def _such_as(terms: Sequence[str]) -> str:
    """Return the end of a sentence about unmatched terms: examples, and advice if they look like term lists.

    >>> _such_as(["tea;juice", "cake"])
    ", such as 'tea;juice', 'cake'; if a field lists several terms, use format='term-lists' (--format term-lists)"
    """
    if not terms:
        return ""
    lists = "; if a field lists several terms, use format='term-lists' (--format term-lists)"
    return f", such as {', '.join(repr(term[:40]) for term in terms)}{lists if any(';' in t for t in terms) else ''}"


def account_lines(account: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return a provenance's counts as (what, line, count) tuples for a table.

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
