"""What the paper says that can be checked: the rows of claims.csv, in our own words and with the paper's figures."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CLAIMS = Path(__file__).with_name("claims.csv")
TITLES = {
    "tan": "TAN",
    "hie-tan": "Hie-TAN",
    "hie-tan-lite": "Hie-TAN-Lite",
    "hre-tan": "HRE-TAN",
    "hie-aode-lite": "Hie-AODE-Lite",
    "proximal-graph": "proximalGraph",
}


@dataclass(frozen=True)
class Claim:
    """One claim of the paper.

    Attributes
    ----------
    id : str
        Its name here.
    topic : str
        The heading that it belongs under.
    kind : str
        What has to be compared; `verdicts` and `facts` have a function for each kind.
    subject, versus, figure : str
        What the claim is about: methods, terms or edges, and the paper's figure.
    where : str
        Where the paper has it.
    says : str
        The claim in our words.
    headline : str
        "yes" if the first screen of the page names it.
    """

    id: str
    topic: str
    kind: str
    subject: str
    versus: str
    figure: str
    where: str
    says: str
    headline: str


@cache
def read_claims(path: Path = CLAIMS) -> tuple[Claim, ...]:
    """All claims, in the order of the file."""
    with open(path, encoding="utf-8", newline="") as file:
        return tuple(Claim(**row) for row in csv.DictReader(file))


def paper_ranks() -> dict[str, float]:
    """The average ranks that the paper prints in its Table 3."""
    return {claim.subject: float(claim.figure) for claim in read_claims() if claim.kind == "rank"}
