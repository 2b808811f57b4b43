"""The figures of docs/benchmarks.md, made from docs/accuracy*.csv alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from reproduction.accuracy.collect import DOCS, file_of
from reproduction.accuracy.methods import COMPARED, SHOWN
from reproduction.pages import read_csv

IMAGES = DOCS / "images"
# The part and its rows, and what the panel is called.
PANELS = {
    ("published", "without an equal"): "28 published datasets\n(rows without an equal)",
    ("packaged", "all"): "14 packaged datasets\n(annotations of 2019)",
    ("later", "all"): "genes listed after 2014\n(annotations of 2019)",
}
LEADER, OTHERS = COMPARED[0], COMPARED[1:]
COLOURS = dict(
    zip(
        COMPARED,
        ("#000000", "#0072b2", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#e69f00", "#999999"),
        strict=True,
    )
)
MARKS = dict(zip(COMPARED, "osD^vPX*", strict=True))


def select(table: Iterable[Mapping[str, str]], /, **wanted: str) -> list[Mapping[str, str]]:
    """Return the rows with these values.

    >>> select([{"a": "1"}, {"a": "2"}], a="2")
    [{'a': '2'}]
    """
    return [row for row in table if all(row[name] == value for name, value in wanted.items())]


def mean_of(rows: Iterable[Mapping[str, str]], name: str) -> float:
    """Return the mean of a column."""
    return float(np.mean([float(row[name]) for row in rows]))


def draw() -> None:
    """Draw all figures."""
    import matplotlib

    matplotlib.use("Agg")
    draw_choice()
    draw_calibration()
    draw_curves()


def _axes(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    return plt.subplots(
        rows, columns, figsize=(width, height), layout="constrained", squeeze=False, **options
    )


def _save(figure: Any, name: str) -> None:
    figure.savefig(IMAGES / f"accuracy-{name}.png", dpi=130, metadata={"Software": None})


def _line(axis: Any, x: Any, y: Any, method: str, **options: Any) -> None:
    width = 2.2 if method == LEADER else 1.2
    axis.plot(
        x,
        y,
        color=COLOURS[method],
        marker=MARKS[method],
        ms=4,
        lw=width,
        label=SHOWN.get(method, method),
        **options,
    )


def draw_choice() -> None:
    """Draw HieLogistic minus seven others, and AUC against the share of lost annotations, on three kinds of sets."""
    differences, lost = read_csv(file_of("differences")), read_csv(file_of("lost"))
    figure, axes = _axes(2, 3, 9, 6.4, sharey="row")
    for column, ((part, kind), title) in enumerate(PANELS.items()):
        top, bottom = axes[:, column]
        for i, other in enumerate(OTHERS):
            wanted = {"part": part, "rows": kind, "lost": "0", "other": other, "organism": "all"}
            (row,) = select(differences, metric="auc", **wanted)
            middle, low, high = (float(row[name]) for name in ("difference", "low", "high"))
            (row,) = select(differences, metric="auc_within_folds", **wanted)
            top.plot(float(row["difference"]), -i, MARKS[other], mfc="none", mec=COLOURS[other])
            top.errorbar(
                middle,
                -i,
                xerr=[[middle - low], [high - middle]],
                fmt=MARKS[other],
                color=COLOURS[other],
                capsize=3,
            )
        top.axvline(0, color="black", lw=0.8)
        top.set(
            title=title,
            yticks=range(0, -len(OTHERS), -1),
            yticklabels=[SHOWN.get(other, other) for other in OTHERS],
        )
        top.set(
            xlabel="AUC of HieLogistic minus other", xlim=(-0.09, 0.09), xticks=[-0.08, -0.04, 0, 0.04, 0.08]
        )
        for method in COMPARED:
            own = select(lost, part=part, rows=kind, method=method)
            shares = list(dict.fromkeys(row["lost"] for row in own))
            _line(
                bottom,
                [float(s) for s in shares],
                [mean_of(select(own, lost=s), "auc") for s in shares],
                method,
            )
        bottom.set(xlabel="share of most specific annotations lost", xticks=[0, 0.15, 0.3, 0.5, 0.7, 0.9])
    axes[1, 0].set_ylabel("AUC")
    figure.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    _save(figure, "choice")


def draw_calibration() -> None:
    """Draw the share of positive genes against the predicted probability."""
    rows = read_csv(file_of("calibration"))
    figure, axes = _axes(1, 2, 8, 4.4, sharey=True)
    for axis, part in zip(axes[0], ("published", "packaged"), strict=True):
        axis.plot([0, 1], [0, 1], color="black", lw=0.8, ls=":")
        for method in COMPARED:
            own = [row for row in select(rows, part=part, method=method) if int(row["rows"]) >= 20]
            _line(
                axis, [float(row["probability"]) for row in own], [float(row["share"]) for row in own], method
            )
        axis.set(title=f"{part} datasets", xlabel="mean predicted probability of pro-longevity")
    axes[0, 0].set_ylabel("share of pro-longevity genes")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    _save(figure, "calibration")


def draw_curves() -> None:
    """Draw AUC against the number of training rows, with closed features and as annotated."""
    rows = read_csv(file_of("curves"))
    titles = {
        "diseases": "diseases, dominant or recessive",
        "worm-BPMFCC": "worm genes, pro- or anti-longevity",
    }
    figure, axes = _axes(1, 2, 8, 4.4)
    for axis, (data, title) in zip(axes[0], titles.items(), strict=True):
        own = select(rows, data=data, lost="0")
        for method in dict.fromkeys(row["method"] for row in own):
            for features, style in (("closed", "-"), ("as annotated", ":")):
                part = select(own, method=method, features=features)
                if part:
                    x, y = ([float(row[name]) for row in part] for name in ("training_rows", "auc"))
                    _line(axis, x, y, method, ls=style)
                    if features != "closed":
                        axis.lines[-1].set_label(f"{SHOWN.get(method, method)}, as annotated")
        sizes = [row["training_rows"] for row in select(own, method=LEADER, features="closed")]
        axis.set(
            title=title,
            xlabel="training rows",
            xscale="log",
            xticks=[int(s) for s in sizes],
            xticklabels=sizes,
        )
        axis.minorticks_off()
    axes[0, 0].set_ylabel("AUC")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    _save(figure, "curves")
