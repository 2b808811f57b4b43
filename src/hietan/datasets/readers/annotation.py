"""One annotation, whatever file it comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Annotation(NamedTuple):
    """One statement that an object (a gene, a disease, an item of a shop) has a term; the fields are those of the file.

    Attributes
    ----------
    object_id, term : str
        The ids of the object and of the term.
    symbol : str
        The symbol or readable name of the object; "" where the file has none, as in gene2go.
    qualifier : str
        The qualifiers in one string; see `qualifiers`.
    evidence, aspect : str
        The evidence code; "P", "F" or "C" for the namespace of a GO term.
    taxon : str
        The organism, such as "taxon:6239".
    synonym_field : str
        The synonyms in one string; see `synonyms`.
    line : int or None
        The number of the line in the file.

    Examples
    --------
    >>> Annotation("P12345", "GO:0008340", "daf-2", qualifier="NOT|involved_in").negated
    True
    """

    object_id: str
    term: str
    symbol: str = ""
    qualifier: str = ""
    evidence: str = ""
    aspect: str = ""
    taxon: str = ""
    synonym_field: str = ""
    line: int | None = None

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """The single qualifiers, which are separated by `|` in GAF and by a blank in gene2go."""
        return tuple(re.split(r"[| ]", self.qualifier)) if self.qualifier else ()

    @property
    def negated(self) -> bool:
        """Whether the statement is that the object does *not* have the term."""
        return "NOT" in self.qualifier and "NOT" in self.qualifiers

    @property
    def synonyms(self) -> tuple[str, ...]:
        """Other names of the object."""
        return tuple(filter(None, self.synonym_field.split("|")))


class PairBlock(NamedTuple):
    """Many annotations that say nothing but which object has which term: their ids and their terms, side by side."""

    ids: Sequence[str]
    terms: Sequence[str]
