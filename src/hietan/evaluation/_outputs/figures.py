"""Figures of a study: critical-difference diagram, heat map, bars and boxes. Each draws into `ax` if it is given."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from hietan._io.files import atomic_write
from hietan._runtime.optional import import_optional
from hietan.evaluation._metrics import METRICS
from hietan.evaluation._outputs.tables import file_stem, method_stem, ranking_stem
from hietan.evaluation._rank_tables import Ranking, rank_incomplete
from hietan.evaluation._study.results import StudyResults

_INK, _BLUE, _GREY = "#222222", "#3b6ea5", "#b8b8b8"


def plot_critical_difference(ranking: Ranking, ax: Any = None) -> Any:
    """Average ranks on a line; a bar joins methods that Nemenyi's test cannot distinguish (Demsar 2006)."""
    if ranking.nemenyi is None:
        raise ValueError("a critical-difference diagram needs at least two methods and two datasets")
    ranks = dict(sorted(ranking.average_ranks().items(), key=lambda item: item[1]))
    k = len(ranks)
    half = (k + 1) // 2
    cliques = ranking.nemenyi.cliques(ranks)
    bottom = -0.55 * max(half, k - half) - 0.22 * len(cliques) - 0.45
    ax = _axes(ax, (7.2, 0.9 + 0.42 * -bottom))
    ax.set(xlim=(0.2, k + 0.8), ylim=(bottom, 1.25))
    ax.axis("off")
    ax.plot([1, k], [0, 0], color=_INK, lw=1.2)
    for tick in range(1, k + 1):
        ax.plot([tick, tick], [0, 0.12], color=_INK, lw=1)
        ax.text(tick, 0.2, str(tick), ha="center", va="bottom", fontsize=9)
    first = -0.45 - 0.22 * len(cliques)
    for i, (method, rank) in enumerate(ranks.items()):
        left = i < half
        y = first - 0.5 * (i if left else k - 1 - i)
        end = 0.95 if left else k + 0.05
        ax.plot([rank, rank, end], [0, y, y], color=_INK, lw=0.9)
        side = {"ha": "right", "x": end - 0.05} if left else {"ha": "left", "x": end + 0.05}
        ax.text(
            y=y,
            s=f"{method}  {rank:.2f}" if left else f"{rank:.2f}  {method}",
            va="center",
            fontsize=9,
            **side,
        )
    for i, clique in enumerate(cliques):
        y = -0.22 * (i + 1)
        ends = [ranks[clique[0]] - 0.04, ranks[clique[-1]] + 0.04]
        ax.plot(ends, [y, y], color=_BLUE, lw=3.2, solid_capstyle="butt")
    cd = ranking.nemenyi.critical_difference
    ax.plot([1, 1 + cd], [0.78, 0.78], color=_INK, lw=1.2)
    for end in (1, 1 + cd):
        ax.plot([end, end], [0.72, 0.84], color=_INK, lw=1.2)
    ax.text(
        1 + cd / 2, 0.9, f"critical difference {cd:.2f} (Nemenyi, 0.05)", ha="center", va="bottom", fontsize=8
    )
    caution = fill(" ".join(ranking.cautions), 110)
    ax.text(0.2, bottom, caution, ha="left", va="top", fontsize=7, color=_INK)
    return ax


def plot_heat_map(ranking: Ranking, ax: Any = None) -> Any:
    """The score of each method on each dataset."""
    n, k = ranking.scores.shape
    ax = _axes(ax, (1.6 + 0.85 * k, 1.4 + 0.24 * n))
    metric = METRICS[ranking.metric]
    values = metric.scale * ranking.scores
    image = ax.imshow(values, aspect="auto", cmap="viridis")
    ax.set_xticks(range(k), ranking.methods, rotation=35, ha="right", fontsize=8)
    ax.set_yticks(range(n), ranking.datasets, fontsize=7)
    low, high = float(values.min()), float(values.max())
    for i in range(n):
        for j in range(k):
            dark = values[i, j] < low + 0.6 * (high - low)
            text = f"{values[i, j]:.{metric.digits - 1}f}"  # cells are narrow
            colour = "white" if dark else "black"
            # They are within the axes, so that nothing is placed by their sizes.
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=colour, in_layout=False)
    ax.figure.colorbar(image, ax=ax, label=metric.label_with_unit)
    ax.spines[:].set_visible(False)
    return ax


def plot_bars(ranking: Ranking, ax: Any = None) -> Any:
    """The mean score of each method, best first."""
    metric = METRICS[ranking.metric]
    means = dict(sorted(ranking.means().items(), key=lambda item: item[1]))
    ax = _axes(ax, (6.0, 0.9 + 0.32 * len(means)))
    bars = ax.barh(list(means), [metric.scale * v for v in means.values()], color=_BLUE, height=0.7)
    ax.bar_label(bars, fmt=f"%.{metric.digits}f", padding=3, fontsize=8)
    ax.set_xlabel(f"mean {metric.label_with_unit} over {len(ranking.datasets)} datasets")
    ax.margins(x=0.1)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_boxes(ranking: Ranking, ax: Any = None) -> Any:
    """The scores of each method over the datasets, the best median first; a dot is a dataset."""
    metric = METRICS[ranking.metric]
    values = metric.scale * ranking.scores
    order = np.argsort(-np.median(values, axis=0), kind="stable")
    ax = _axes(ax, (1.5 + 0.8 * len(order), 3.6))
    boxes = ax.boxplot(values[:, order], showfliers=False, widths=0.55, medianprops={"color": _INK})
    for box in boxes["boxes"]:
        box.set_color(_GREY)
    offsets = np.linspace(-0.14, 0.14, len(values)) if len(values) > 1 else np.zeros(1)
    for place, j in enumerate(order, start=1):
        ax.plot(place + offsets, values[:, j], ".", color=_BLUE, ms=4, alpha=0.8)
    ax.set_xticks(
        range(1, len(order) + 1), [ranking.methods[j] for j in order], rotation=35, ha="right", fontsize=8
    )
    ax.set_ylabel(metric.label_with_unit)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_incomplete(by_share: Mapping[float, Ranking], ax: Any = None) -> Any:
    """The mean score of each method against the share of annotations that rows have lost."""
    ax = _axes(ax, (6.4, 3.8))
    first = next(iter(by_share.values()))
    metric = METRICS[first.metric]
    for k, method in enumerate(first.methods):
        means = [metric.scale * ranking.means()[method] for ranking in by_share.values()]
        ax.plot(
            list(by_share), means, marker="o", ms=4, lw=1.6, ls=("-", "--", ":")[k // 10 % 3], label=method
        )
    ax.set(xlabel="share of the most specific annotations lost", ylabel=f"mean {metric.label_with_unit}")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_usage(results: StudyResults, dataset: str, key: str, ax: Any = None, top: int = 15) -> Any:
    """The features that are kept most often: for how many rows, and in how many edges of the rows' trees."""
    view, usage = results.study.view(dataset), results.usage[dataset, key]
    features, names = view.feature_names, view.term_names
    order = usage.top(top)[::-1]
    ax = _axes(ax, (9.0, 1.0 + 0.27 * len(order)))
    ax.axis("off")
    # Rows and edges are counts of different things, so each has its own panel and scale.
    rows, edges = ax.inset_axes([0, 0, 0.46, 0.94]), ax.inset_axes([0.54, 0, 0.46, 0.94])
    _bars_with_numbers(
        rows, usage.selected[order], f"rows that keep it, of {usage.n_rows:,}", _BLUE, usage.n_rows
    )
    _bars_with_numbers(edges, usage.in_edges[order], "edges that contain it", _GREY)
    rows.set_yticks(range(len(order)), [_feature_label(features[j], names[j]) for j in order], fontsize=8)
    edges.set_yticks([])
    method = results.study.methods[key]
    how = [method.setting.replace(",", ", ")] * bool(method.setting)
    how += [f"tuned: {method.tuning}"] * (method.tuning != "none")
    title = f"{dataset}, {method.name}" + (f" ({'; '.join(how)})" if how else "")
    ax.set_title(title, fontsize=10, loc="left")
    return ax


def _bars_with_numbers(ax: Any, counts: Any, title: str, colour: str, most: int | None = None) -> None:
    longest = max(most or 0, int(max(counts, default=0)), 1)
    bars = ax.barh(range(len(counts)), counts, height=0.66, color=colour)
    ax.bar_label(bars, [f"{count:,}" for count in counts], padding=3, fontsize=8)
    ax.set(xlim=(0, 1.16 * longest), ylim=(-0.6, len(counts) - 0.4), xticks=[])
    ax.set_title(title, fontsize=8, loc="left", color=_INK)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(length=0)


def _feature_label(feature: str, name: str, longest: int = 45) -> str:
    shown = name if len(name) <= longest else name[: longest - 1].rstrip() + "…"
    return shown if name == feature else f"{shown} ({feature})"


FIGURES = {
    "critical-difference": plot_critical_difference,
    "heat-map": plot_heat_map,
    "bars": plot_bars,
    "boxes": plot_boxes,
}


def write_figures(results: StudyResults, folder: Path, *, usage: bool = False) -> list[Path]:
    """Draw all figures into `figures/` as SVG and PNG; without matplotlib draw none and return an empty list.

    With `usage`, there is also one for each dataset and method whose feature usage was counted.
    """
    try:
        _matplotlib()
    except ModuleNotFoundError:
        raise  # it is installed, but lacks something that it needs
    except ImportError:
        return []
    written = []
    for ranking in results.rankings:
        for name, plot in FIGURES.items():
            if name == "critical-difference" and ranking.nemenyi is None:
                continue
            written += _save(plot(ranking), folder / "figures" / f"{ranking_stem(ranking)}-{name}")
    for by_share in rank_incomplete(results.incomplete, results.study.datasets):
        name = f"{ranking_stem(by_share[0])}-incomplete"
        written += _save(plot_incomplete(by_share), folder / "figures" / name)
    for dataset, key in results.usage if usage else ():
        name = f"{file_stem('usage', dataset)}-{method_stem(results.study.methods[key])}"
        written += _save(plot_usage(results, dataset, key), folder / "figures" / name)
    return written


def _save(ax: Any, path: Path) -> list[Path]:
    """Write both formats; the same figure gives the same bytes."""
    written, figure = [], ax.figure
    steady = {"svg.hashsalt": "hietan", "svg.fonttype": "none"}
    never_again = {"figure.autolayout": False, "figure.constrained_layout.use": False}
    with _matplotlib().rc_context(steady | never_again):
        box = _arrange(figure)
        for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            data = io.BytesIO()
            figure.savefig(data, format=ending, bbox_inches=box, dpi=figure.dpi, metadata=metadata)
            written.append(path.parent / f"{path.name}.{ending}")
            atomic_write(written[-1], data.getvalue())
    return written


def _arrange(figure: Any, dpi: int = 150) -> Any:
    """Give everything its place, once for both formats, and return what they show: all that is drawn, and a margin."""
    figure.dpi = dpi
    renderer = _matplotlib(".backends.backend_agg").FigureCanvasAgg(figure).get_renderer()
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine(None)  # with one, every format would be drawn twice
    return figure.get_tightbbox(renderer).padded(0.1)


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    """The given axes, or those of a new figure, which is not shown in a window and need not be closed."""
    if ax is not None:
        return ax
    return _matplotlib(".figure").Figure(figsize=size, layout="constrained").subplots()


def _matplotlib(module: str = "") -> Any:
    return import_optional(f"matplotlib{module}", extra="plot", purpose="drawing figures")
