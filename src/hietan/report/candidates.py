"""Genes without labels, ranked by a model, with reasons: the same page with one part of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.evaluation.outputs.compact import Reasons, compact, decimals, ontology_parents

FORMAT = 1
EXPLAINED = 100


def candidates_summary(
    model: Any,
    X: Any,
    log_odds: NDArray[np.float64],
    *,
    rows: Sequence[str],
    features: Sequence[str],
    names: Sequence[str],
    classes: Sequence[str],
    symbols: Sequence[str] = (),
    trained_on: Sequence[str] = (),
    about: str = "",
    caution: str = "",
    command: str = "",
    explained: int = EXPLAINED,
) -> dict[str, Any]:
    """What the page of ranked candidates shows, as plain values; the first `explained` of them have reasons.

    Parameters
    ----------
    model : fitted classifier of this package
    X : the rows, with the model's columns in its order
    log_odds : array of shape (n,)
        What the rows are ranked by, the highest first.
    rows, features, names, classes : sequences of str
        What rows, columns and classes are called; `names` are the readable names of the columns.
    symbols : sequence of str
        Readable names of the rows; empty where there are none.
    trained_on : sequence of str
        Rows of these names are marked: the model knew their class.
    about, caution, command : str
        What the model is, what it cannot tell, and the command that explains a row, without the row.
    """
    order = np.argsort(-log_odds, kind="stable")
    known = set(trained_on)
    reasons = Reasons()
    top = order[:explained].tolist()
    found = model.explain(X[top], term_names=list(names)) if top and hasattr(model, "explain") else []
    predicted = np.searchsorted(model.classes_, model.predict(X))
    return {
        "format": FORMAT,
        "kind": "candidates",
        "title": "Ranked candidates",
        "about": {"model": about, "caution": caution, "command": command},
        "methods": [{"key": "model", "name": type(model).__name__, "description": about}],
        "datasets": [
            {
                "name": "",
                "group": "",
                "classes": list(classes),
                "labels": [str(label) for label in model.classes_.tolist()],
                "genes": [rows[i] for i in order.tolist()],
                "symbols": [symbols[i] for i in order.tolist()] if symbols else [],
                "in_training": [place for place, i in enumerate(order.tolist()) if rows[i] in known],
                "predictions": {
                    0: {
                        "predicted": predicted[order].tolist(),
                        "log_odds": decimals(log_odds[order].tolist(), 3),
                    }
                },
                "features": list(features),
                "names": list(names),
                "ontology": ontology_parents(model.hierarchy_),
                "usage": {},
                "reasons": reasons.texts,
                "explained": [
                    {"row": place, "why": "ranked high", "methods": {0: compact(explanation, reasons)}}
                    for place, explanation in enumerate(found)
                ],
            }
        ],
    }
