"""Rows of a dataset ranked by a model, with reasons: the page of a report with this one part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from hietan._io.files import atomic_write
from hietan.candidates import Candidates
from hietan.evaluation._outputs.counterfactuals import by_spread, find_counterfactuals, promising_columns
from hietan.evaluation._outputs.report_data import (
    Reasons,
    compact,
    decimals,
    ontology_parents,
    significant,
    similar_rows,
)
from hietan.report._html import TERM_URLS, render

FORMAT = 1
EXPLAINED = 50
_BATCH = 10
_FLIP_TRIES = 4000  # single changes that are tried, over all explained rows: each is a prediction


def write_candidates(
    candidates: Candidates,
    output: str | Path,
    *,
    command: str = "",
    explained: int = EXPLAINED,
    others: Sequence[Candidates] = (),
    term_urls: Mapping[str, str] = TERM_URLS,
) -> Path:
    """Write the page of ranked candidates as one HTML file that needs no network and no server.

    Parameters
    ----------
    candidates : Candidates
        Ranked rows, from `hietan.candidates.rank_rows`.
    output : path
        The file to write.
    command : str
        The shell command that explains a row, without the row; shown with each row.
    explained : int
        How many candidates are explained at each end of the list.
    others : sequence of Candidates
        The same rows ranked by other models: the page shows what each of them says, and where they agree.
    term_urls : mapping of str to str
        Where terms are described, by the prefix of their identifiers; see `hietan.report.parse_term_urls`.

    Examples
    --------
    >>> import tempfile
    >>> from hietan import HieTANLite
    >>> from hietan.candidates import rank_rows, train_model
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(60, 20, random_state=0)
    >>> ranked = rank_rows(train_model(HieTANLite(), data), data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_candidates(ranked, f"{folder}/candidates.html").name
    'candidates.html'
    """
    path = Path(output)
    options: dict[str, Any] = {"command": command, "explained": explained, "others": others}
    content = candidates_summary(candidates, term_urls=term_urls, **options)
    atomic_write(path, render(content))
    return path


def candidates_summary(
    candidates: Candidates,
    *,
    command: str = "",
    explained: int = EXPLAINED,
    others: Sequence[Candidates] = (),
    term_urls: Mapping[str, str] = TERM_URLS,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """What the page of ranked candidates shows, as plain values; see `write_candidates` for the parameters.

    `progress` is called with the number of rows that are explained and the number of all that will be.
    """
    trained, data = candidates.trained, candidates.data
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    names = [terms[feature] for feature in trained.feature_names]
    noun = data.row_noun if data.row_noun != "row" else trained.row_noun
    about = (
        f"{candidates.n_new:,} candidates among {len(data.instance_names):,} {noun}s of {data.name or 'a dataset'}, "
        f"ranked by {trained.description}."
    )
    reasons = Reasons()
    return {
        "format": FORMAT,
        "kind": "candidates",
        "title": "Ranked candidates",
        "about": {"model": about, "caution": trained.caution, "command": command},
        "methods": _methods([candidates, *others], about),
        "quality": None if trained.validation is None else asdict(trained.validation),
        "term_urls": dict(term_urls),
        "datasets": [
            {
                "name": "",
                "group": "",
                "row_noun": noun,
                **_rows(candidates, others),
                "features": list(trained.feature_names),
                "names": names,
                "ontology": ontology_parents(trained.classifier.hierarchy_),
                "usage": {},
                "class_sizes": list(trained.class_sizes),
                "term_counts": list(map(list, trained.term_counts)),
                "explained": _explained(candidates, names, explained, reasons, progress),
                "reasons": reasons.texts,
            }
        ],
    }


def _methods(rankings: Sequence[Candidates], about: str) -> list[dict[str, str]]:
    """The models, each with a name of its own."""
    kinds = [type(ranking.trained.classifier).__name__ for ranking in rankings]
    names = [
        kind if kinds.count(kind) == 1 else f"{kind} {1 + kinds[:i].count(kind)}"
        for i, kind in enumerate(kinds)
    ]
    described = [about, *(ranking.trained.description for ranking in rankings[1:])]
    keys = ["model", *(f"model-{i}" for i in range(2, len(rankings) + 1))]
    return [
        {"key": key, "name": name, "description": text}
        for key, name, text in zip(keys, names, described, strict=True)
    ]


def _rows(candidates: Candidates, others: Sequence[Candidates]) -> dict[str, Any]:
    """The rows as they are listed: the candidates first, then the rows that the model was trained on."""
    trained, data, order = candidates.trained, candidates.data, candidates.order.tolist()
    names = [data.instance_names[i] for i in order]
    known = candidates.rows[candidates.n_new :]
    return {
        "classes": list(trained.class_names),
        "labels": [str(label) for label in trained.classifier.classes_.tolist()],
        "genes": names,
        "symbols": [data.symbols[i] for i in order] if data.symbols else [],
        "n_terms": np.asarray((candidates.X > 0).sum(axis=1)).ravel()[order].tolist(),
        "in_training": list(range(candidates.n_new, len(order))),
        "training": [[row.training_name, row.shared_name, row.training_class] for row in known],
        "predictions": {
            i: _scores(ranking, names, trained.class_names) for i, ranking in enumerate([candidates, *others])
        },
    }


def _scores(ranking: Candidates, names: Sequence[str], classes: Sequence[str]) -> dict[str, Any]:
    """What a model says about the rows with these names; raises ValueError if it knows other rows or classes."""
    trained = ranking.trained
    if tuple(trained.class_names) != tuple(classes):
        raise ValueError(
            f"the models do not separate the same classes: {list(classes)} and {list(trained.class_names)}; "
            "rank with models of the same classes"
        )
    place = {name: i for i, name in enumerate(ranking.data.instance_names)}
    missing = [name for name in names if name not in place]
    if missing:
        raise ValueError(
            f"another model did not rank {missing[0]!r} and {len(missing) - 1} more of the rows; rank the same rows "
            "with all models, and keep those that any of them was trained on"
        )
    order = [place[name] for name in names]
    predicted = np.searchsorted(trained.classifier.classes_, ranking.labels)
    scores = {
        "predicted": predicted[order].tolist(),
        "log_odds": decimals(ranking.log_odds[order].tolist(), 3),
    }
    if trained.calibration is not None:
        probabilities = ranking.calibrated_probabilities()[order]
        scores["calibrated"] = [significant(p) for p in probabilities.tolist()]
    return scores


def _explained(
    candidates: Candidates,
    names: list[str],
    n_rows: int,
    reasons: Reasons,
    progress: Callable[[int, int], None] | None,
) -> list[dict[str, Any]]:
    """The explanations of the first and of the last candidates; `reasons` collects the texts that they share."""
    model, n_new = candidates.trained.classifier, candidates.n_new
    ranks = sorted({*range(min(n_rows, n_new)), *range(max(n_new - n_rows, 0), n_new)})
    if not n_new:  # all rows are known: the first of them stand for the others
        ranks = list(range(min(n_rows, len(candidates.matches))))
    if not ranks or not hasattr(model, "explain"):
        return []
    found = []
    similar = _similar(candidates, ranks)
    for start in range(0, len(ranks), _BATCH):
        batch = ranks[start : start + _BATCH]
        X = candidates.X[candidates.order[batch].tolist()]
        explanations = model.explain(X, term_names=names)
        flips = _flips(candidates, X, explanations, _FLIP_TRIES // len(ranks))
        for rank, explanation, flip in zip(batch, explanations, flips, strict=True):
            shown = compact(explanation, reasons)
            if flip is not None:
                shown["flip"] = flip
            entry = {
                "row": rank,
                "why": "ranked high" if rank < n_rows else "ranked low",
                "methods": {0: shown},
            }
            found.append({**entry, "similar": similar[rank]} if similar else entry)
        if progress is not None:
            progress(len(found), len(ranks))
    return found


def _similar(candidates: Candidates, ranks: Sequence[int]) -> dict[int, list[list[float]]]:
    """For each listed row, the training rows that are most like it; empty if none of them is in the dataset."""
    known = range(candidates.n_new, len(candidates.matches))
    if not known:
        return {}
    return similar_rows(candidates.X[candidates.order.tolist()], ranks, among=known)


def _flips(
    candidates: Candidates, X: Any, explanations: Sequence[Any], tries: int
) -> Sequence[dict[str, Any] | None]:
    """What would change the answers; None where the model does not say or has a cutoff of its own."""
    trained = candidates.trained
    if trained.cutoff is not None or not trained.term_counts or not trained.class_sizes:
        return [None] * len(explanations)
    sizes = np.maximum(np.array(trained.class_sizes, dtype=np.float64), 1)
    telling = by_spread(np.array(trained.term_counts, dtype=np.float64) / sizes[:, None])
    column_of = {name: j for j, name in enumerate(trained.feature_names)}
    tries = max(1, tries)
    orders = [promising_columns(explanation, column_of, telling, tries) for explanation in explanations]
    return find_counterfactuals(trained.classifier, X.toarray(), explanations[0].hierarchy, orders, tries)
