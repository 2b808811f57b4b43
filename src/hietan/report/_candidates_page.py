"""The report on ranked candidates, with reasons for each candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from hietan._io.files import atomic_write
from hietan.evaluation._outputs.report_data import (
    Reasons,
    compact,
    data_date,
    decimals,
    ontology_parents,
    significant,
    similar_rows,
)
from hietan.explain._branches import cut_branches
from hietan.models import Candidates, words
from hietan.report._html import TERM_URLS, render
from hietan.report._verdicts import candidates_title, candidates_verdict

FORMAT = 1
EXPLAINED = 50
_BATCH = 10


def write_candidates(
    candidates: Candidates,
    output: str | Path,
    *,
    command: str = "",
    explained: int = EXPLAINED,
    others: Sequence[Candidates] = (),
    term_urls: Mapping[str, str] = TERM_URLS,
    fdr: float | None = None,
    date: str | None = None,
) -> Path:
    """Write the ranked candidates as a single HTML file that works offline.

    Parameters
    ----------
    candidates : Candidates
        Ranked rows, from `hietan.models.rank_rows`.
    output : path
        The file to write.
    command : str
        The shell command that explains a row, without the row; shown with each row.
    explained : int
        Number of candidates to explain at each end of the list.
    others : sequence of Candidates
        The same rows ranked by other models; the report shows each model's prediction and where they agree.
    term_urls : mapping of str to str
        URLs that describe terms, by identifier prefix; see `hietan.report.parse_term_urls`.
    fdr : float, optional
        The false discovery rate that the report shows first [default: 0.2].
    date : str, optional
        The date in the title. By default, it is the date of the ranked data: the latest date in their file versions.

    Examples
    --------
    >>> import tempfile
    >>> from hietan import HieTANLite
    >>> from hietan.models import rank_rows, train_model
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(60, 20, random_state=0)
    >>> ranked = rank_rows(train_model(HieTANLite(), data), data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_candidates(ranked, f"{folder}/candidates.html").name
    'candidates.html'
    """
    path = Path(output)
    options: dict[str, Any] = {"command": command, "explained": explained, "others": others}
    content = candidates_summary(candidates, term_urls=term_urls, fdr=fdr, date=date, **options)
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
    date: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return the candidates report's content as plain values; see `write_candidates` for the parameters.

    `progress` is called with the number of rows explained so far and the total.
    """
    model, data = candidates.model, candidates.data
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    names = [terms[feature] for feature in model.feature_names]
    noun = data.row_noun if data.row_noun != "row" else model.row_noun
    about = (
        f"{candidates.n_new:,} candidate{'' if candidates.n_new == 1 else 's'} among {len(data.instance_names):,} "
        f"{noun}s of {data.name or 'a dataset'}, ranked by {words.description(model)}."
    )
    if candidates.positive:
        about += f" Rows are ordered by the log-odds of {candidates.positive}."
    reasons = Reasons()
    return {
        "format": FORMAT,
        "kind": "candidates",
        "title": candidates_title(candidates, noun, data_date(data.provenance), date),
        "verdict": candidates_verdict(candidates, noun),
        "about": {"model": about, "caution": words.caution(model), "command": command, "raw": candidates.raw}
        | ({"unlabelled": words.bound_note(model)} if model.unlabelled else {}),
        "methods": _methods([candidates, *others], about),
        "lists": _lists(candidates, fdr or 0.2),
        "branches": _branches(candidates, explained),
        "quality": _quality(candidates),
        "term_urls": dict(term_urls),
        "datasets": [
            {
                "name": "",
                "group": "",
                "positive": candidates.positive,
                "row_noun": noun,
                **_rows(candidates, others),
                "features": list(model.feature_names),
                "names": names,
                "ontology": ontology_parents(model.classifier.hierarchy_),
                "usage": {},
                "explained": _explained(candidates, names, explained, reasons, progress),
                "reasons": reasons.texts,
            }
        ],
    }


def _lists(candidates: Candidates, first: float) -> dict[str, Any] | None:
    """Return the list sizes at false discovery rates of 1 to 50%, or None if the model has no such rates."""
    if candidates.p_value_ranks is None:
        return None
    chosen = candidates.selection
    first = chosen.fdr if chosen else first
    rates = [first] if chosen else sorted({first, *(percent / 100 for percent in range(1, 51))})
    found = [chosen or candidates.selection_at(rate) for rate in rates]
    return {
        "first": rates.index(first),
        "lines": [candidates.selection_text(selection) for selection in found],
        "limits": [selection.limit for selection in found],
        "rates": rates,
        "note": words.error_rate_note(candidates.model),
    }


def _quality(candidates: Candidates) -> dict[str, Any] | None:
    """Return the model's quality, and how closely the ranking follows annotation counts; None without held-out rows."""
    quality = candidates.model.quality
    if quality is None:
        return None
    note = words.quality_note(candidates.model)
    positive = (
        candidates.positive if len(quality["class_rows"]) == 2 else ""
    )  # metrics of more classes are means
    about = {"positive": positive, "note": note, "ranking_correlation": _correlation(candidates)}
    return {**quality, **about}


def _branches(candidates: Candidates, explained: int) -> dict[str, Any] | None:
    """Return the shared branches of the rows at the top and at the end of the list, or None if there are none.

    The top is the list at the given false discovery rate if it has these rows, and otherwise the explained
    candidates.
    """
    model, n_new = candidates.model.classifier, candidates.n_new
    first = range(n_new if candidates.selection else min(explained, n_new))
    if len(first) < 2 or not hasattr(model, "contributions") or not model.hierarchy_.adjacency.nnz:
        return None
    last = range(max(n_new - explained, len(first)), n_new)
    X = candidates.X[candidates.order[[*first, *last]].tolist()]
    found, base = model.contributions(X, target=candidates.model.positive_label, return_base=True)
    n = len(first)
    cut = cut_branches(model.hierarchy_, np.asarray(found[:n].mean(axis=0)).ravel(), None, 8)
    if not cut.columns:
        return None
    rest = 1 - cut.shares.sum(axis=1)
    amounts = np.column_stack([base, found @ np.column_stack([cut.shares, rest])])
    return {
        "rows": [n, len(last)],
        "columns": [*cut.columns, -1],
        "means": [
            decimals(part.mean(axis=0).tolist(), 3) for part in (amounts[:n], amounts[n:]) if len(part)
        ],
        "above": (amounts[:n, 1:] > 0).sum(axis=0).tolist(),
    }


def _correlation(candidates: Candidates) -> float | None:
    """Return Spearman's correlation between the candidates' log-odds and annotation counts, or None if undefined."""
    new = candidates.order[: candidates.n_new]
    annotations = np.asarray(candidates.X.sum(axis=1, dtype=np.int64)).ravel()[new]
    odds = candidates.log_odds[new]
    if not candidates.positive or len(new) < 3 or not np.ptp(annotations) or not np.ptp(odds):
        return None
    return float(spearmanr(odds, annotations).statistic)


def _methods(rankings: Sequence[Candidates], about: str) -> list[dict[str, str]]:
    """Return the models, each with a unique name."""
    kinds = [type(ranking.model.classifier).__name__ for ranking in rankings]
    names = [
        kind if kinds.count(kind) == 1 else f"{kind} {1 + kinds[:i].count(kind)}"
        for i, kind in enumerate(kinds)
    ]
    described = [about, *(words.description(ranking.model) for ranking in rankings[1:])]
    keys = ["model", *(f"model-{i}" for i in range(2, len(rankings) + 1))]
    return [
        {"key": key, "name": name, "description": text}
        for key, name, text in zip(keys, names, described, strict=True)
    ]


def _rows(candidates: Candidates, others: Sequence[Candidates]) -> dict[str, Any]:
    """Return the rows in list order: candidates first, then training rows."""
    model, data, order = candidates.model, candidates.data, candidates.order.tolist()
    names = [data.instance_names[i] for i in order]
    label_of = dict(zip(model.class_names, model.classifier.classes_.tolist(), strict=True))
    known = candidates.rows[candidates.n_new :]
    return {
        "classes": list(model.classes),
        "labels": [str(label_of[name]) for name in model.classes],
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
    """Return a model's predictions for the named rows. Raise ValueError unless it ranked the same rows and classes as
    `first`.
    """
    model = ranking.model
    each = [(r.model.classes, r.positive, r.model.unlabelled) for r in (first, ranking)]
    if each[0] != each[1]:
        listed = (
            f"{', '.join(names)} (positive: {wanted}, unlabelled: {other or 'none'})"
            for names, wanted, other in each
        )
        raise ValueError(
            f"the models differ in their classes, positive class or unlabelled class ({' and '.join(listed)}); use "
            "models in which all three are the same"
        )
    place = {name: i for i, name in enumerate(ranking.data.instance_names)}
    missing = [name for name in names if name not in place]
    if missing:
        raise ValueError(
            f"another model did not rank {missing[0]!r} and {len(missing) - 1} other rows; rank the same rows "
            "with all models, and include the training rows of every model"
        )
    order = [place[name] for name in names]
    scores: dict[str, Any] = {
        "predicted": ranking.scores.predicted[order].tolist(),
        "log_odds": decimals(ranking.log_odds[order].tolist(), 3),
    }
    shown = {"calibrated": ranking.probabilities if model.calibration is not None else None}
    for name, values in {**shown, "lift": ranking.lifts}.items():
        if values is not None:
            scores[name] = [
                None if value != value else significant(value) for value in values[order].tolist()
            ]
    if ranking is first and ranking.p_values is not None:
        scores["p_value"] = [significant(p) for p in ranking.p_values[order[: ranking.n_new]].tolist()]
    if ranking is first and ranking.p_value_ranks is not None:
        scores["p_rank"] = ranking.p_value_ranks[order[: ranking.n_new]].tolist()
    return scores


def _explained(
    candidates: Candidates,
    names: list[str],
    n_rows: int,
    reasons: Reasons,
    progress: Callable[[int, int], None] | None,
) -> list[dict[str, Any]]:
    """Return explanations of the first and last candidates. `reasons` collects the texts that they share."""
    model, n_new = candidates.model.classifier, candidates.n_new
    ranks = sorted({*range(min(n_rows, n_new)), *range(max(n_new - n_rows, 0), n_new)})
    if not n_new:  # all rows are known: the first of them stand for the others
        ranks = list(range(min(n_rows, len(candidates.matches))))
    if not ranks or not hasattr(model, "explain"):
        return []
    found = []
    similar = _similar(candidates, ranks)
    target = candidates.model.positive_label
    for start in range(0, len(ranks), _BATCH):
        batch = ranks[start : start + _BATCH]
        X = candidates.X[candidates.order[batch].tolist()]
        explanations = model.explain(X, term_names=names, target=target)
        for rank, explanation in zip(batch, explanations, strict=True):
            entry = {
                "row": rank,
                "why": "ranked high" if rank < n_rows else "ranked low",
                "methods": {0: compact(explanation, reasons)},
            }
            found.append({**entry, "similar": similar[rank]} if similar else entry)
        if progress is not None:
            progress(len(found), len(ranks))
    return found


def _similar(candidates: Candidates, ranks: Sequence[int]) -> dict[int, list[list[float]]]:
    """Return the most similar training rows for each listed row, or an empty result if the dataset contains
    none of them.

    A row that shares only a synonym with a training row may be a different one, so its class would mislead.
    """
    found = [candidates.matches[i] for i in candidates.order]
    known = [k for k, match in enumerate(found) if match is not None and match.kind != "synonym"]
    return {} if not known else similar_rows(candidates.X[candidates.order.tolist()], ranks, among=known)
