"""The explanation of one prediction, as a result object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from hietan._runtime.notebook import card, details
from hietan._runtime.optional import import_optional
from hietan.explain import plots
from hietan.explain.records import ExplanationRecord
from hietan.explain.render import as_html, as_text, headline


class Explanations(list["Explanation"]):
    """The explanations of some rows: a list that a notebook shows row by row, each to be unfolded."""

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per contribution; the columns of `Explanation.to_frame`, after the row.

        Explanations by nearest rows have a row per neighbour, named in the column "neighbour".
        """
        pandas = import_optional("pandas", extra="frames", purpose="Explanations.to_frame")
        frames = [one.to_frame().rename(columns={"row": "neighbour"}).assign(row=one.row) for one in self]
        if not frames:
            return pandas.DataFrame()
        whole = pandas.concat(frames, ignore_index=True)
        return whole[["row", *(name for name in whole.columns if name != "row")]]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        if len(self) == 1:
            return self[0].to_html()
        parts = (details(one.headline(), one.to_html()) for one in self)
        return card("Explanations", {"rows": len(self)}, "".join(parts))


@dataclass(frozen=True)
class Explanation(ExplanationRecord):
    """Why a classifier classifies one row as it does.

    The log-odds of the class `target` against the others are `base` (the class prior, or an intercept) plus the
    contributions of the features plus the terms in `other`, which belong to no feature. They add up to the model's own
    log-odds.

    Attributes
    ----------
    method : str
        The name of the classifier.
    row : str
        The label of the row in a data frame, or its number.
    classes : tuple
        The labels of the classes.
    probabilities : tuple of float
        The predicted probability of each class.
    target : label
        The class whose log-odds are explained.
    log_odds : float
        The log-odds of `target` against all other classes.
    base : float
        What the log-odds start from: the contribution of the class prior, or the intercept of a regression.
    contributions : sequence of Contribution
        The contributions of the features, in the order of the columns; `strongest` has them by size.
    other : tuple of (str, float)
        Further terms and their names.
    removed : tuple of Removal
        The features that were left out for this row.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    has_tree : bool
        Whether each feature may depend on another one (its parent).
    base_name : str
        What `base` is: "class prior" or "intercept".
    """

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per contribution, the strongest first."""
        pandas = import_optional("pandas", extra="frames", purpose="Explanation.to_frame")
        columns = ["feature", "name", "value", "parent", "parent_value", "contribution"]
        frame = pandas.DataFrame(
            [[getattr(part, c) for c in columns] for part in self.strongest], columns=columns
        )
        for c, label in enumerate(self.classes):
            frame[f"p({label})"] = [p.probabilities[c] if p.probabilities else None for p in self.strongest]
        return frame

    def to_dict(self) -> dict[str, Any]:
        """The explanation as numbers, strings, lists and dicts that JSON can hold."""
        return {
            "method": self.method,
            "row": self.row,
            "classes": [str(label) for label in self.classes],
            "probabilities": list(self.probabilities),
            "predicted": str(self.predicted),
            "target": str(self.target),
            "log_odds": self.log_odds,
            "base": self.base,
            "contributions": [
                {
                    "feature": part.feature,
                    "name": part.name,
                    "value": part.value,
                    "parent": part.parent,
                    "parent_value": part.parent_value,
                    "probabilities": None if part.probabilities is None else list(part.probabilities),
                    "contribution": part.contribution,
                }
                for part in self.contributions
            ],
            "other": [{"what": what, "contribution": value} for what, value in self.other],
            "removed": [
                {"feature": r.feature, "name": r.name, "value": r.value, "by": r.by, "reason": r.reason}
                for r in self.removed
            ],
        }

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` of the kept features, an edge from each parent to its child."""
        networkx = import_optional("networkx", extra="frames", purpose="Explanation.to_networkx")
        graph = networkx.DiGraph()
        for part in self.contributions:
            graph.add_node(part.feature, name=part.name, value=part.value, contribution=part.contribution)
        graph.add_edges_from((p.parent, p.feature) for p in self.contributions if p.parent is not None)
        return graph

    def text(self, limit: int = 15) -> str:
        """The explanation in lines of plain text, with the `limit` strongest features listed individually."""
        return as_text(self, limit)

    def __str__(self) -> str:
        return self.text()

    def headline(self) -> str:
        """The method, the row, the predicted class and the log-odds in one line."""
        return headline(self)

    def to_html(self) -> str:
        """The explanation as a small table in HTML; all names are escaped."""
        return as_html(self)

    def renamed(self, row: str, name_of: Callable[[Any], Any]) -> Self:
        """The same explanation with another name of the row, and `name_of(label)` for each label of a class."""
        return replace(self, row=row, classes=tuple(map(name_of, self.classes)), target=name_of(self.target))

    def _repr_html_(self) -> str:
        return self.to_html()

    def plot_contributions(self, ax: Any = None, *, limit: int = 15) -> Any:
        """A waterfall from the base value to the log-odds, showing the strongest features; returns the axes."""
        return plots.plot_contributions(self, ax, limit)

    def plot_tree(self, ax: Any = None, *, labels: int = 12) -> Any:
        """The learned tree, layer by layer, over the hierarchy's own edges; returns the axes.

        Colours show the contributions; the features with the `labels` strongest ones are named.
        """
        return plots.plot_tree(self, ax, labels)
