"""Sentences about a model and its lists, for the command line, reports and tables."""

from __future__ import annotations

from hietan.models.model import Model
from hietan.scores.rates import Selection


def description(model: Model) -> str:
    """Return a short description of the model."""
    kind, n = type(model.classifier).__name__, len(model.training)
    if model.held_out is None or not model.is_split:
        return f"{kind}, trained on {n:,} {model.row_noun}s of {model.dataset}"
    n_held_out = len(model.held_out)
    return (
        f"{kind}, trained on {n - n_held_out:,} {model.row_noun}s of {model.dataset} ({n_held_out:,} more were held "
        "out)"
    )


def caution(model: Model) -> str:
    """Return a caution about the limits of this model's ranks and probabilities."""
    noun = model.row_noun
    if model.unlabelled:
        return (
            f"This model ranks unlabelled {noun}s ({model.unlabelled}) by how much they resemble {model.positive}. "
            f"Known {noun}s are often well studied, so check the study bias first. {probability_note(model)}"
        )
    classes = model.classes
    if len(classes) == 2:
        return (
            f"This model separates {classes[0]} from {classes[1]}; {noun}s that are neither are also ranked. "
            f"{probability_note(model)}"
        )
    more = f" and {len(classes) - 8} more" if len(classes) > 8 else ""
    refers = "" if model.positive else " Log-odds and P refer to the most probable class."
    return (
        f"This model separates the classes {', '.join(classes[:8])}{more}; {noun}s that are none of them are also "
        f"ranked.{refers} {probability_note(model)}"
    )


def probability_note(model: Model) -> str:
    """Return a sentence about the class frequencies that the probabilities assume, and about their calibration."""
    noun, positive = model.row_noun, model.positive
    no_better = f"On held-out {noun}s, the model ranks no better than chance"
    if model.unlabelled and model.calibration is None:
        return f"{no_better}, so lifts are not shown."
    if model.unlabelled:
        return (
            f"Lift is a ratio: how often {noun}s like this occur among {positive}, divided by how often they occur "
            f"among unlabelled {noun}s."
        )
    if model.calibration is not None and model.held_out is not None:
        prior = getattr(model.classifier, "class_prior", None)
        share = float(model.held_out.is_positive.mean())
        if prior is not None:
            share = float(prior[model.class_names.index(positive)])
        return (
            f"P({positive}) is calibrated on held-out {noun}s, for data with {share:.1%} {positive}. "
            f"The class {positive} is predicted if P is {model.border:.2f} or more."
        )
    held_out = model.held_out
    if held_out is not None and held_out.log_proba is not None and len(model.class_names) == 2:
        return f"{no_better}. {raw_note(model)}"
    return raw_note(model)


def raw_note(model: Model) -> str:
    """Return a sentence about the class frequencies that the raw probabilities assume."""
    weight = getattr(model.classifier, "class_weight", None)
    if getattr(model.classifier, "class_prior", None) is not None:
        frequencies = "the class frequencies in class_prior"
    elif isinstance(weight, str):
        frequencies = "equally frequent classes"
    elif weight is not None:
        frequencies = "weighted classes"
    else:
        frequencies = "the class frequencies of the training data"
    return f"P is not calibrated. It is the classifier's raw probability, which assumes {frequencies}."


def quality_note(model: Model) -> str:
    """Return a note on the quality's class frequencies, or "" if the probabilities assume the same frequencies."""
    if model.calibration is None or getattr(model.classifier, "class_prior", None) is None:
        return ""
    return (
        "The calibrated log loss, the calibration error and the curve use the class frequencies of the "
        f"held-out {model.row_noun}s, not the frequencies in class_prior."
    )


def bound_note(model: Model) -> str:
    """Return a sentence about the largest plausible share of positives among unlabelled rows."""
    share, noun = model.unlabelled_bound, model.row_noun
    if share is None or share >= 1:
        return f"The data give no upper bound for the share of {model.positive} among the unlabelled {noun}s."
    return (
        f"With 95% confidence, at most {share:.1%} of the unlabelled {noun}s belong to {model.positive!r}, if the "
        f"known {noun}s are a random sample of this class. If well-studied {noun}s were labelled first, the share can "
        "be higher."
    )


def held_out_rows(model: Model) -> str:
    """Return the plural noun for the rows on which false discovery rates are based."""
    is_part = model.held_out is not None and len(model.held_out) < len(model.training)
    return f"{'held-out' if is_part else 'training'} {model.row_noun}s"


def error_rate_note(model: Model) -> str:
    """Return a short explanation of what a false discovery rate means for this model."""
    noun, others = model.row_noun, [name for name in model.class_names if name != model.positive]
    proof = "No theorem covers cross-validated scores; fit the model with --fdr-split for a proven rate."
    if model.is_split:
        proof = f"For such rows, the rate is proven, because the model was fitted without the {held_out_rows(model)}."
    return (
        f"A false discovery rate is the expected share of wrong {noun}s in the whole list, not in its first rows. It "
        f"applies to {noun}s like the training {noun}s. Here, wrong means {' or '.join(others[:8])}. {proof}"
    )


def selection_text(selection: Selection, model: Model, noun: str) -> str:
    """Return the size of a list with a false discovery rate in a sentence without a full stop."""
    assert model.held_out is not None
    rate = f"at a false discovery rate of {100 * selection.fdr:g}%"
    held_out = f"{len(model.held_out):,} {held_out_rows(model)}"
    shortest = f"with {held_out}, no list can be shorter than {selection.shortest:,}"
    if selection.n_rows:
        return f"{rate}: {selection.n_rows:,} of {selection.n_ranked:,} {noun}s; {shortest}"
    return (
        f"{rate}: none of {selection.n_ranked:,} {noun}s can be listed; {shortest}; choose a higher rate, or restrict "
        "the candidates by name (--only)"
    )
