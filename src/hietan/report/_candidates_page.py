"""Rows of a dataset ranked by a model, with reasons: the page of a report with this one part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from hietan._io.files import atomic_write
from hietan.candidates import Candidates, Validation
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
    fdr: float | None = None,
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
    fdr : float, optional
        The false discovery rate that the page shows first [default: 0.2].

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
    content = candidates_summary(candidates, term_urls=term_urls, fdr=fdr, **options)
    atomic_write(path, render(content), follow=True)
    return path


def candidates_summary(
    candidates: Candidates,
    *,
    command: str = "",
    explained: int = EXPLAINED,
    others: Sequence[Candidates] = (),
    term_urls: Mapping[str, str] = TERM_URLS,
    fdr: float | None = None,
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
    if candidates.positive:
        about += f" They are ranked by the log-odds of {candidates.positive}."
    reasons = Reasons()
    return {
        "format": FORMAT,
        "kind": "candidates",
        "title": "Ranked candidates",
        "about": {"model": about, "caution": trained.caution, "command": command, "raw": candidates.raw},
        "methods": _methods([candidates, *others], about),
        "lists": _lists(candidates, fdr or 0.2),
        "quality": None if trained.validation is None else _quality(candidates, trained.validation),
        "term_urls": dict(term_urls),
        "datasets": [
            {
                "name": "",
                "group": "",
                "positive": candidates.positive,
                "row_noun": noun,
                **_rows(candidates, others),
                "features": list(trained.feature_names),
                "names": names,
                "ontology": ontology_parents(trained.classifier.hierarchy_),
                "usage": {},
                "explained": _explained(candidates, names, explained, reasons, progress),
                "reasons": reasons.texts,
            }
        ],
    }


def _lists(candidates: Candidates, first: float) -> dict[str, Any] | None:
    """The lists at false discovery rates of 1 to 50% and at the first one shown; None if the model has no scores."""
    if candidates.p_value_ranks is None:
        return None
    chosen = candidates.selection
    rates = [first] if chosen else sorted({first, *(percent / 100 for percent in range(1, 51))})
    return {
        "first": rates.index(first),
        "lines": [(chosen or candidates.selection_at(rate)).text for rate in rates],
        "note": candidates.trained.error_rate_note,
    }


def _quality(candidates: Candidates, validation: Validation) -> dict[str, Any]:
    """The validation of the model, for its own positive class, and how far the ranking follows the annotations."""
    quality, correlation = asdict(validation), _correlation(candidates)
    quality["class_rows"] = list(quality["class_rows"])[:: candidates.trained.positive_sign]
    if correlation is not None and validation.positive not in ("", candidates.positive):
        correlation = -correlation  # of the class that the validation refers to
    note = candidates.trained.validation_note
    return {**quality, "note": note, "ranking_correlation": correlation}


def _correlation(candidates: Candidates) -> float | None:
    """Spearman's correlation of the candidates' log-odds with their number of annotations; None if it is undefined."""
    new = candidates.order[: candidates.n_new]
    annotations = np.asarray(candidates.X.sum(axis=1, dtype=np.int64)).ravel()[new]
    odds = candidates.log_odds[new]
    if not candidates.positive or len(new) < 3 or not np.ptp(annotations) or not np.ptp(odds):
        return None
    return float(spearmanr(odds, annotations).statistic)


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
        "classes": list(trained.class_names)[
            :: candidates.trained.positive_sign
        ],  # the positive one is the second of two
        "labels": [str(label) for label in trained.classifier.classes_.tolist()][
            :: candidates.trained.positive_sign
        ],
        "genes": names,
        "symbols": [data.symbols[i] for i in order] if data.symbols else [],
        "n_terms": np.asarray((candidates.X > 0).sum(axis=1)).ravel()[order].tolist(),
        "in_training": list(range(candidates.n_new, len(order))),
        "training": [[row.training_name, row.shared_name, row.training_class] for row in known],
        "predictions": {
            i: _scores(ranking, names, candidates) for i, ranking in enumerate([candidates, *others])
        },
    }


def _scores(ranking: Candidates, names: Sequence[str], first: Candidates) -> dict[str, Any]:
    """What a model says about the rows with these names; raises ValueError if it knows other rows or classes."""
    trained, classes = ranking.trained, first.trained.class_names
    if trained.class_names != classes or ranking.positive != first.positive:
        listed = (f"{', '.join(r.trained.class_names)} (positive: {r.positive})" for r in (first, ranking))
        raise ValueError(
            f"the models do not separate the same classes: {' and '.join(listed)}; rank with models of the same "
            "classes and one positive class"
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
    predicted = 1 - predicted if trained.positive_sign < 0 else predicted
    scores: dict[str, Any] = {
        "predicted": predicted[order].tolist(),
        "log_odds": decimals(ranking.log_odds[order].tolist(), 3),
    }
    if trained.calibration is not None:
        probabilities = ranking.probabilities[order]
        scores["calibrated"] = [significant(p) for p in probabilities.tolist()]
    if ranking is first and ranking.p_values is not None:
        scores["p_value"] = [significant(p) for p in ranking.p_values[order[: ranking.n_new]].tolist()]
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
    target = candidates.trained.positive_label
    for start in range(0, len(ranks), _BATCH):
        batch = ranks[start : start + _BATCH]
        X = candidates.X[candidates.order[batch].tolist()]
        explanations = model.explain(X, term_names=names, target=target)
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
    """For each listed row, the training rows that are most like it; empty if none of them is in the dataset.

    A row that shares only a synonym with a training row may be another one, so its class would mislead.
    """
    found = [candidates.matches[i] for i in candidates.order]
    known = [k for k, match in enumerate(found) if match is not None and match.kind != "synonym"]
    if not known:
        return {}
    return similar_rows(candidates.X[candidates.order.tolist()], ranks, among=known)


def _flips(
    candidates: Candidates, X: Any, explanations: Sequence[Any], tries: int
) -> Sequence[dict[str, Any] | None]:
    """What would change the answers; None where the model does not say or has a cutoff of its own."""
    trained = candidates.trained
    if trained.cutoff is not None:
        return [None] * len(explanations)
    counts = trained.classifier.counts_
    telling = by_spread(counts.ones / np.maximum(counts.class_count, 1)[:, None])
    column_of = {name: j for j, name in enumerate(trained.feature_names)}
    tries = max(1, tries)
    orders = [promising_columns(explanation, column_of, telling, tries) for explanation in explanations]
    return find_counterfactuals(trained.classifier, X.toarray(), explanations[0].hierarchy, orders, tries)
