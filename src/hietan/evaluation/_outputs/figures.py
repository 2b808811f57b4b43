"""Draw a study's figures, which show ranks, incomplete rows and used features."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from hietan._io.files import atomic_write
from hietan._runtime.optional import import_optional
from hietan.evaluation._outputs.tables import ranking_stem
from hietan.evaluation._rank_tables import Ranking, rank_incomplete
from hietan.evaluation._study.results import StudyResults
from hietan.scores.metrics import METRICS

_INK, _BLUE, _GREY = "#222222", "#3b6ea5", "#b8b8b8"


def plot_critical_difference(ranking: Ranking, ax: Any = None) -> Any:
    """Draw average ranks on a line. A bar joins methods that Nemenyi's test cannot distinguish (Demsar 2006)."""
    if ranking.nemenyi is None:
        raise ValueError(
            "a critical-difference diagram needs at least two methods and two datasets, but the ranking has "
            f"{len(ranking.methods)} and {len(ranking.datasets)}"
        )
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


def plot_incomplete(by_share: Mapping[float, Ranking], ax: Any = None) -> Any:
    """Draw each method's mean score against the share of lost annotations."""
    ax = _axes(ax, (6.4, 3.8))
    first = next(iter(by_share.values()))
    metric = METRICS[first.metric]
    for k, method in enumerate(first.methods):
        means = [ranking.means()[method] for ranking in by_share.values()]
        ax.plot(
            list(by_share), means, marker="o", ms=4, lw=1.6, ls=("-", "--", ":")[k // 10 % 3], label=method
        )
    ax.set(xlabel="share of the most specific annotations lost", ylabel=f"mean {metric.label}")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def write_figures(results: StudyResults, folder: Path) -> list[Path]:
    """Draw all figures into `figures/` as SVG and PNG. Return an empty list if matplotlib is not installed."""
    try:
        _matplotlib()
    except ModuleNotFoundError:
        raise  # it is installed, but one of its requirements is not
    except ImportError:
        return []
    written = []
    for ranking in results.rankings:
        if ranking.nemenyi is not None:
            name = f"{ranking_stem(ranking)}-critical-difference"
            written += _save(plot_critical_difference(ranking), folder / "figures" / name)
    for by_share in rank_incomplete(results.incomplete, results.study.datasets):
        name = f"{ranking_stem(by_share[0])}-incomplete"
        written += _save(plot_incomplete(by_share), folder / "figures" / name)
    return written


def _save(ax: Any, path: Path) -> list[Path]:
    """Write both formats. The same figure always gives the same bytes."""
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
    """Lay out the figure once for both formats, and return the box to show: all drawings and a margin."""
    figure.dpi = dpi
    renderer = _matplotlib(".backends.backend_agg").FigureCanvasAgg(figure).get_renderer()
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine(None)  # with one, every format would be drawn twice
    return figure.get_tightbbox(renderer).padded(0.1)


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the given axes, or axes in a new figure that needs no window and need not be closed."""
    if ax is not None:
        return ax
    return _matplotlib(".figure").Figure(figsize=size, layout="constrained").subplots()


def _matplotlib(module: str = "") -> Any:
    return import_optional(f"matplotlib{module}", extra="plot", purpose="drawing figures")
