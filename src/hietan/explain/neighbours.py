"""The explanation of a vote: the nearest training rows, their classes and how similar they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hietan._runtime.optional import import_optional
from hietan.explain.assemble import target_index
from hietan.explain.explanation import Explanation, Explanations
from hietan.explain.records import Removal
from hietan.hierarchy import Hierarchy


@dataclass(frozen=True)
class Neighbour:
    """A training row that votes.

    Attributes
    ----------
    row : str
        Its name: "training row 0", "training row 1", ... in the order of `fit`, unless other names are known.
    label : label
        Its class.
    common : int
        How many of the features that are kept are 1 in both rows.
    either : int
        How many of them are 1 in at least one of the two rows; 1 if there are none.
    votes : float
        How many votes it has. A row with a whole weight is listed once for each of its votes.
    """

    row: str
    label: Any
    common: int
    either: int
    votes: float = 1.0

    @property
    def similarity(self) -> float:
        """The Jaccard similarity: `common` divided by `either`."""
        return self.common / self.either


@dataclass(frozen=True)
class NeighbourExplanation(Explanation):
    """Why the nearest training rows classify one row as they do.

    Votes are not sums over features: there are no `contributions`, and `base` is the log-odds themselves (infinite
    where all neighbours agree). The reason is the `neighbours`, and over which features they are the nearest.

    Attributes
    ----------
    neighbours : tuple of Neighbour
        The rows that vote, the nearest first; none if the row keeps no feature, so that the class prior decides.
    features : tuple of str
        The features over which rows are compared.
    """

    neighbours: tuple[Neighbour, ...] = ()
    features: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per neighbour, the nearest first."""
        pandas = import_optional("pandas", extra="frames", purpose="NeighbourExplanation.to_frame")
        columns = ["row", "label", "similarity", "common", "either", "votes"]
        lines = [[getattr(found, name) for name in columns] for found in self.neighbours]
        return pandas.DataFrame(lines, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as numbers, strings, lists and dicts that JSON can hold; infinite log-odds are None."""
        known = self.log_odds if np.isfinite(self.log_odds) else None
        return {
            **super().to_dict(),
            "log_odds": known,
            "base": known,
            "features": list(self.features),
            "neighbours": [
                {
                    "row": n.row,
                    "label": str(n.label),
                    "common": n.common,
                    "either": n.either,
                    "votes": n.votes,
                }
                for n in self.neighbours
            ],
        }

    def text(self, limit: int = 15) -> str:
        """The explanation in lines of plain text, with the `limit` nearest rows listed."""
        lines = [self.headline(), ""]
        width = max((len(found.row) for found in self.neighbours[:limit]), default=0)
        lines += [f"  {found.row:<{width}}  {_vote(found)}" for found in self.neighbours[:limit]]
        if len(self.neighbours) > limit:
            lines.append(f"  and {len(self.neighbours) - limit} more")
        if self.removed:
            lines += ["", f"{len(self.removed)} features were left out of this row, for example:"]
            lines += [f"  {removal}" for removal in self.removed[:5]]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def headline(self) -> str:
        """The method, the row, the predicted class and the votes in one line."""
        start = f"{self.method}, {self.row}: {self.predicted}. P({self.target}) = {self.probability:.4g}, "
        if not self.neighbours:
            return start + "the class prior: this row keeps no feature"
        among = (
            f"the {len(self.neighbours)} nearest training rows, compared over {len(self.features)} features"
        )
        votes = sum(found.votes for found in self.neighbours if found.label == self.target)
        if all(found.votes == 1 for found in self.neighbours):
            return start + f"the votes of {votes:.0f} of {among}"
        total = sum(found.votes for found in self.neighbours)
        return start + f"{votes:.4g} of the {total:.4g} votes of {among}"

    def renamed(self, row: str, name_of: Callable[[Any], Any]) -> Self:
        """The same explanation with another name of the row, and `name_of(label)` for each label of a class."""
        voters = tuple(replace(found, label=name_of(found.label)) for found in self.neighbours)
        return replace(super().renamed(row, name_of), neighbours=voters)

    def to_html(self) -> str:
        """The neighbours as a small table in HTML; all names are escaped."""
        rows = "".join(
            f'<tr><td style="text-align:left">{escape(found.row)}</td>'
            f'<td style="text-align:left">{escape(_vote(found))}</td></tr>'
            for found in self.neighbours
        )
        return f"<div><p><strong>{escape(self.headline())}</strong></p><table><tbody>{rows}</tbody></table></div>"


def _vote(found: Neighbour) -> str:
    votes = "" if found.votes == 1 else f", {found.votes:.4g} votes"
    ones = f"{found.common} of {found.either} ones in common"
    return f"{found.label}, similarity {found.similarity:.3f} ({ones}){votes}"


def explain_votes(
    probabilities: NDArray[np.float64],
    neighbours: Sequence[Sequence[Neighbour]],
    kept: NDArray[np.uint8],
    removed: Sequence[tuple[Removal, ...]],
    *,
    method: str,
    rows: Sequence[str],
    classes: Sequence[Any],
    target: Any,
    hierarchy: Hierarchy,
) -> Explanations:
    """One explanation per row of a classifier whose nearest training rows vote.

    Parameters
    ----------
    probabilities : array of shape (n_rows, n_classes)
        The shares of the votes.
    neighbours : sequence of sequences of Neighbour
        The voters of each row, the nearest first.
    kept : array of shape (n_rows, n_features)
        Over which features rows are compared.
    removed : sequence of tuples of Removal
        The features that were left out of each row.
    method, rows, classes, target, hierarchy
        As for `explain_rows`.
    """
    explanations = Explanations()
    for r, row in enumerate(rows):
        t = target_index(target, classes, probabilities[r])
        with np.errstate(divide="ignore"):
            log_odds = float(np.log(probabilities[r, t]) - np.log(np.delete(probabilities[r], t).sum()))
        explanations.append(
            NeighbourExplanation(
                method=method,
                row=row,
                classes=tuple(classes),
                probabilities=tuple(probabilities[r].tolist()),
                target=classes[t],
                log_odds=log_odds,
                base=log_odds,
                contributions=(),
                removed=removed[r],
                hierarchy=hierarchy,
                base_name="votes of the nearest rows",
                neighbours=tuple(neighbours[r]) if kept[r].any() else (),
                features=tuple(hierarchy.features[v] for v in np.flatnonzero(kept[r])),
            )
        )
    return explanations
