"""Write a report's title, and a conclusion of one or two sentences, from the numbers in the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hietan.models import Candidates


def study_title(content: Mapping[str, Any], date: str | None) -> str:
    """Return the title of a study's report, which names the datasets, the methods and the date."""
    names = [data["name"] for data in content["datasets"]]
    named = _listed(names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more datasets"])
    methods = [method["name"] for method in content["methods"]]
    compared = methods[0] if len(methods) == 1 else f"{len(methods)} methods compared"
    return f"{named}: {compared}{_dated(date, [data['date'] for data in content['datasets']])}"


def candidates_title(candidates: Candidates, noun: str, data_date: str, date: str | None) -> str:
    """Return the title of a candidates report, which names the rows, the ranked class and the date."""
    wanted = f", ranked for {candidates.positive}" if candidates.positive else ", ranked"
    return f"{noun.capitalize()}s of {candidates.data.name or 'a dataset'}{wanted}{_dated(date, [data_date])}"


def _dated(date: str | None, data_dates: Sequence[str]) -> str:
    """Return the given date, or the data's date range, formatted for the end of a title."""
    ends = sorted({f(filter(None, data_dates), default="") for f in (min, max)})
    found = (f"data of {' to '.join(ends)}" if any(ends) else "") if date is None else date
    return f", {found}" if found else ""


def study_verdict(content: Mapping[str, Any]) -> str:
    """Return a sentence about the best method, its quality, and the methods that are not clearly worse."""
    data, rankings, metrics = content["datasets"], content["rankings"], content["metrics"]
    names = [method["name"] for method in content["methods"]]
    if len(data) == 1 and data[0].get("quality"):
        return _of_one_dataset(data[0], names, metrics)
    return _of_ranking(rankings[0], names, metrics[rankings[0]["metric"]]) if rankings else ""


def _of_one_dataset(data: Mapping[str, Any], names: Sequence[str], metrics: Mapping[str, Any]) -> str:
    found, (other, wanted) = data["quality"]["methods"], data["classes"]
    # A method without log-odds has no AUC.
    score = "auc" if any(each["scores"]["auc"][0] is not None for each in found.values()) else "gmean"
    pairs = data["quality"]["pairs"][score]  # of other methods with the best one
    best = pairs[0][1] if pairs else max(found, key=lambda m: found[m]["scores"][score][0] or 0)
    value, low, high = found[best]["scores"][score]
    reached = f"{metrics[score]['label']} {value:.3f} (95% interval {low:.3f} to {high:.3f})"
    what = f"{wanted} from {other} {data['row_noun']}s"
    if low <= 0.5:
        return (
            f"No method clearly separates {what}. The best method, {names[best]}, reaches {reached}; chance "
            "level is 0.5."
        )
    close = [names[m] for m, _, _, _, highest, _ in pairs if highest >= 0]
    return f"{names[best]} separates {what} with {reached}" + _others(
        close, len(pairs), f"within the sampling error of {names[best]}"
    )


def _of_ranking(ranking: Mapping[str, Any], names: Sequence[str], metric: Mapping[str, Any]) -> str:
    ranks, label = ranking["ranks"], metric["label"]
    # Tests compare the other methods with the control, which is the best one.
    control = ranking["control"]
    place = ranks.index(min(ranks)) if control is None else ranking["methods"].index(control)
    best = names[ranking["methods"][place]]
    mean = f"{ranking['means'][place]:.3f}"
    if len(ranking["datasets"]) == 1:
        return f"{best} has the highest {label}: {mean}."
    found = (
        f"{best} has the best average rank by {label} on {len(ranking['datasets'])} datasets "
        f"({ranks[place]:.2f} of {len(ranks)}; its mean {label} is {mean})"
    )
    close = [names[m] for m, _, p in ranking["holm"] if p >= 0.05]
    words = f"not significantly different from {best} (Holm's test, 5% level)"
    return " ".join([found + _others(close, len(ranking["holm"]), words), *ranking["cautions"]])


def _others(close: Sequence[str], n_others: int, words: str) -> str:
    """Return the end of a sentence about methods that are not clearly worse than the best method."""
    named = f"{len(close)} of {n_others} other methods" if len(close) > 3 else _listed(close)
    named = f"{named or 'no other method'} {'is' if len(close) < 2 else 'are'}"
    return f"; {named} {words}." if n_others else "."


def candidates_verdict(candidates: Candidates, noun: str) -> str:
    """Return a sentence on how well the model separates held-out rows, compared with the annotation count alone."""
    model = candidates.model
    kind, quality = type(model.classifier).__name__, model.quality
    if quality is None or quality["auc"] is None:
        return f"{kind} was not validated, so the quality of this ranking is unknown."
    classes = tuple(reversed(model.classes))
    separated = " from ".join(classes) if len(classes) == 2 else f"{len(classes)} classes"
    if model.unlabelled:
        separated = (
            f"known {candidates.positive} from unlabelled {noun}s (some may also be {candidates.positive})"
        )
    alone = quality["annotations_auc"]
    more = "" if alone is None else f"; annotation counts alone have an AUC of {max(alone, 1 - alone):.3f}"
    return (
        f"{kind} separates {separated} with AUC {quality['auc']:.3f} on {noun}s that it had not seen{more}."
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
