"""Map annotated terms to current ontology terms."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hietan._runtime.spelling import bare_name, by_bare_name
from hietan.datasets._build_log import LEFT_OUT, OBSOLETE_TERM, UNKNOWN_TERM, Tally
from hietan.datasets._readers.ontology import Ontology

_EXAMPLES = 3


class Meaning(NamedTuple):
    """The current term for an annotated term, with a note on how it was found or why it does not exist."""

    term: str | None
    change: str = ""
    reason: str = ""


class TermMeanings:
    """A lookup of the current term for each annotated term, within some namespaces. Each term is looked up once.

    Parameters
    ----------
    ontology : Ontology
        The terms.
    namespaces : iterable of str
        The namespaces that count.
    follow_replaced : bool
        Whether an obsolete term stands for its replacement.
    to_leave_out : collection of str
        The current terms that are left out on request.
    ignore_punctuation : bool
        Whether an unknown term stands for the term that differs from it only in case and punctuation.

    Attributes
    ----------
    left_out : set of str
        The terms to leave out that occurred.
    unmatched : list of str
        The first few terms that are unknown or obsolete, as examples.
    """

    def __init__(
        self,
        ontology: Ontology,
        namespaces: Iterable[str],
        follow_replaced: bool,
        to_leave_out: Collection[str] = (),
        ignore_punctuation: bool = False,
    ) -> None:
        self.ontology, self.follow_replaced = ontology, follow_replaced
        self.ignore_punctuation = ignore_punctuation
        self.namespaces, self.to_leave_out = frozenset(namespaces), to_leave_out
        self.left_out, self.unmatched = set[str](), list[str]()
        self._position: dict[str, int] = {}  # of each term in the lists below
        self._meanings: list[Meaning] = []
        self._numbers, self._is_counted = array("q"), bytearray()

    @property
    def found(self) -> dict[str, str]:
        """A mapping from each id of an annotated term to the current term."""
        pairs = zip(self._position, self._meanings, strict=True)
        used = {given: meaning.term for given, meaning in pairs if meaning.term is not None}
        terms = self.ontology.terms
        return {name: term for term in used.values() for name in (term, *terms[term].alt_ids)} | used

    def __call__(self, term_id: str, tally: Tally) -> str | None:
        """Return the current term's id, or None if there is none. The tally records the reason."""
        position = self._position.get(term_id)
        if position is None:
            self._position[term_id] = position = len(self._meanings)
            self._meanings.append(self.find(term_id))
        meaning = self._meanings[position]
        _count(meaning, 1, tally)
        return meaning.term

    def numbers(
        self, term_ids: Sequence[str], number_of: Callable[[str], int], tally: Tally
    ) -> NDArray[np.int64]:
        """Return the number of the current term for each annotation.

        Annotations without a current term get -1 and are counted.

        Parameters
        ----------
        term_ids : sequence of str
            The terms of the annotations.
        number_of : callable
            Returns the number of a current term; the same function must be passed every time.
        tally : Tally
            Counts the annotations without a current term or with a changed one.
        """
        at = self._position
        positions = np.array([at.setdefault(term_id, len(at)) for term_id in term_ids], dtype=np.int64)
        # The new terms are the last ones, because a dict keeps its order.
        new = list(islice(reversed(at), len(at) - len(self._meanings)))
        self._meanings += map(self.find, reversed(new))
        for meaning in self._meanings[len(self._numbers) :]:
            self._numbers.append(-1 if meaning.term is None else number_of(meaning.term))
            self._is_counted.append(bool(meaning.change or meaning.reason))
        counted = positions[np.frombuffer(self._is_counted, dtype=np.bool_)[positions]]
        in_order, counts = np.unique(counted, return_counts=True)  # in order of appearance
        for position, count in zip(in_order.tolist(), counts.tolist(), strict=True):
            _count(self._meanings[position], count, tally)
        return np.frombuffer(self._numbers, dtype=np.int64)[positions]

    def find(self, term_id: str) -> Meaning:
        """Return the meaning of an annotated term, without storing it."""
        current = self.ontology.resolve(term_id)
        change = "" if current == term_id else "mapped from an alternative id"
        if current is None and self.ignore_punctuation:
            current = self._by_bare_name.get(bare_name(term_id))
            change = "mapped to an id with other punctuation"
        if current is None:
            return self._no_match(term_id, UNKNOWN_TERM)
        if self.ontology.terms[current].is_obsolete:
            current = self.ontology.successor(current) if self.follow_replaced else None
            change = "mapped to a replacement"
            if current is None:
                return self._no_match(term_id, OBSOLETE_TERM)
        if self.ontology.terms[current].namespace not in self.namespaces:
            return Meaning(None, reason="other namespace")
        if current in self.to_leave_out:
            self.left_out.add(current)
            return Meaning(None, reason=LEFT_OUT)
        return Meaning(current, change)

    @property
    def punctuation_hint(self) -> str:
        """Return a hint if an unknown term differs from a term only in punctuation, otherwise ""."""
        for given, position in self._position.items():
            meant = self._by_bare_name.get(bare_name(given))
            if meant is not None and self._meanings[position].reason == UNKNOWN_TERM:
                return (
                    f"; the ontology has {meant!r:.80} for {given!r:.80}, so ignore case and punctuation "
                    "(ignore_punctuation, --ignore-punctuation)"
                )
        return ""

    @cached_property
    def _by_bare_name(self) -> dict[str, str]:
        """Return the term for each name without punctuation that belongs to a single term."""
        return by_bare_name(self.ontology.terms)

    def _no_match(self, term_id: str, reason: str) -> Meaning:
        if len(self.unmatched) < _EXAMPLES:
            self.unmatched.append(term_id)
        return Meaning(None, reason=reason)


def _count(meaning: Meaning, count: int, tally: Tally) -> None:
    if meaning.reason:
        tally.drop(meaning.reason, count)
    elif meaning.change:
        tally.change(meaning.change, count)
