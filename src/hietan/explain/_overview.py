"""Many explanations or trees together: which features matter, and which edges recur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hietan._runtime.optional import import_optional
from hietan.explain._explanation import Explanation
from hietan.structure import Tree


def mean_contributions(explanations: Iterable[Explanation]) -> Any:
    """How much each feature contributes over many rows, as a pandas DataFrame, the strongest first.

    `mean_absolute` and `mean` are taken over all rows; rows without the feature count as 0. `rows` is the number of
    rows that kept it.
    """
    pandas = import_optional("pandas", extra="frames", purpose="mean_contributions")
    absolute: Counter[str] = Counter()
    signed: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    names: dict[str, str] = {}
    n = 0
    for explanation in explanations:
        n += 1
        for part in explanation.contributions:
            names[part.feature] = part.name
            kept[part.feature] += 1
            absolute[part.feature] += abs(part.contribution)  # type: ignore[assignment]
            signed[part.feature] += part.contribution  # type: ignore[assignment]
    order = sorted(names, key=lambda feature: (-absolute[feature], feature))
    return pandas.DataFrame(
        {
            "feature": order,
            "name": [names[f] for f in order],
            "rows": [kept[f] for f in order],
            "mean_absolute": [absolute[f] / n for f in order],
            "mean": [signed[f] / n for f in order],
        }
    )


def edge_stability(trees: Iterable[Tree]) -> Any:
    """How often edges recur in many trees (of folds, seeds or rows), as a pandas DataFrame, the most stable first.

    An edge counts whatever its direction. `forward` is the share of its trees in which it points from `parent` to
    `child`, the more frequent direction.
    """
    pandas = import_optional("pandas", extra="frames", purpose="edge_stability")
    directed: Counter[tuple[str, str]] = Counter()
    n = 0
    for tree in trees:
        n += 1
        directed.update(tree.edges)
    rows = []
    for (parent, child), times in directed.items():
        back = directed.get((child, parent), 0)
        if times > back or (times == back and parent < child):
            rows.append((parent, child, times + back, (times + back) / n, times / (times + back)))
    rows.sort(key=lambda row: (-row[2], row[0], row[1]))
    return pandas.DataFrame(rows, columns=["parent", "child", "trees", "share", "forward"])
