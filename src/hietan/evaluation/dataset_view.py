"""A dataset as the files of a study show it: every row and column has a name, even if the data have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class DatasetView:
    """The names in a dataset, made up if it has none: x0, x1, ... for columns and 0, 1, ... for rows.

    Only `X` and `y` are required of the dataset; whatever else it has is used.

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> view = DatasetView(SimpleNamespace(X=np.zeros((2, 3)), y=np.array([0, 1]), feature_names=["a", "b", "c"]))
    >>> view.term_names, view.instance_names, view.hierarchy
    (['a', 'b', 'c'], ['0', '1'], None)
    """

    data: Any

    @property
    def feature_names(self) -> list[str]:
        """The identifiers of the columns."""
        return list(
            getattr(self.data, "feature_names", None) or (f"x{j}" for j in range(self.data.X.shape[1]))
        )

    @property
    def term_names(self) -> list[str]:
        """The readable names of the columns; their identifiers if there are none."""
        return list(getattr(self.data, "term_names", None) or self.feature_names)

    @property
    def instance_names(self) -> list[str]:
        """The names of the rows."""
        return list(getattr(self.data, "instance_names", None) or map(str, range(len(self.data.y))))

    @property
    def class_names(self) -> list[str]:
        """The names of the classes; empty if there are none."""
        return [str(name) for name in getattr(self.data, "target_names", ())]

    @property
    def symbols(self) -> list[str]:
        """The readable names of the rows; empty if there are none."""
        return list(getattr(self.data, "symbols", ()))

    @property
    def row_noun(self) -> str:
        """What a row is called."""
        return str(getattr(self.data, "row_noun", "row"))

    @property
    def hierarchy(self) -> Any:
        """The hierarchy over the columns, or None."""
        return getattr(self.data, "hierarchy", None)

    @property
    def account(self) -> dict[str, Any]:
        """What was read, used and dropped when the dataset was built; empty if it is not known."""
        provenance = getattr(self.data, "provenance", None)
        found = provenance.get("account") if isinstance(provenance, dict) else None
        return found if isinstance(found, dict) else {}
