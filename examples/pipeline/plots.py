"""The plots of the report, as SVG that goes into a page."""

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

from examples.pipeline.customers import SEGMENTS
from examples.pipeline.gauges import Gauges, Sample
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

COLOURS = ("#1f6feb", "#e8590c", "#2b8a3e", "#9c36b5")
BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
AWAY = "#c92a2a"
_SMOOTHED_S = 5.0


def svg_of_stream(gauges: Gauges) -> str:
    """Rows a second and lag over time, micro-batches below them, and the kills."""
    return _svg(_figure_of_stream(gauges))


def write_picture(path: Path, gauges: Gauges) -> None:
    """The same as a file, in the format that its name asks for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _figure_of_stream(gauges).savefig(path, dpi=110)


def _figure_of_stream(gauges: Gauges) -> Figure:
    samples = [each for each in gauges.samples if each.acked]
    figure = Figure(figsize=(9.6, 6.0), layout="constrained")
    rates, lag, batches = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 2))
    times, came, read = _rates(samples)
    rates.plot(times, came, color=COLOURS[0], label="published")
    rates.plot(times, read, color=COLOURS[1], label="read by Spark")
    rates.set_ylabel("rows/s")
    rates.legend(**BESIDE)
    at = [each.at_s for each in samples]
    lag.fill_between(at, [each.lag for each in samples], color=COLOURS[0], alpha=0.3, lw=0)
    lag.set_ylabel("lag, rows")
    for query, colour in (("windows", COLOURS[2]), ("notices", COLOURS[3])):
        of_query = [each for each in gauges.micro_batches if each.query == query]
        batches.scatter(
            [each.at_s for each in of_query],
            [each.duration_ms / 1000 for each in of_query],
            s=10,
            color=colour,
            label=query,
        )
    batches.set_ylabel("micro-batch, s")
    batches.set_xlabel("seconds")
    batches.legend(**BESIDE)
    for axes in (rates, lag, batches):
        _dress(axes)
        _mark(axes, gauges, is_named=axes is rates)
    return figure


def svg_of_windows(revenue_cents: dict[tuple[int, str], int]) -> str:
    """Revenue of every window, by segment."""
    starts = sorted({start for start, _ in revenue_cents})
    # Steps begin at their window: the last one has to be told where it ends.
    shown = [*starts, *starts[-1:]]
    minutes = [(start - starts[0]) / 60_000 for start in starts]
    figure = Figure(figsize=(9.6, 3.0), layout="constrained")
    axes = figure.subplots()
    axes.stackplot(
        [*minutes, *(each + 5 for each in minutes[-1:])],
        [[revenue_cents.get((start, each), 0) / 100 for start in shown] for each in SEGMENTS],
        labels=SEGMENTS,
        colors=COLOURS,
        alpha=0.8,
        step="post",
    )
    axes.set_ylabel("revenue per 5 minutes")
    axes.legend(reverse=True, **BESIDE)
    axes.set_xlabel("minutes since the first order was made")
    _dress(axes)
    return _svg(figure)


def _rates(samples: list[Sample]) -> tuple[list[float], list[float], list[float]]:
    """When, and how many rows a second came and were read, each over a few seconds."""
    kept = samples[:1]
    for each in samples:
        if each.at_s - kept[-1].at_s >= _SMOOTHED_S:
            kept.append(each)
    times, came, read = [], [], []
    for before, after in pairwise(kept):
        elapsed_s = after.at_s - before.at_s
        times.append((before.at_s + after.at_s) / 2)
        came.append((after.acked - before.acked) / elapsed_s)
        read.append((after.read - before.read) / elapsed_s)
    return times, came, read


def _mark(axes: Axes, gauges: Gauges, *, is_named: bool) -> None:
    """A line where something went away, and a shade until it was back."""
    for number, event in enumerate(gauges.events):
        name, _, what = event.what.partition(" ")
        if what == "back":
            continue
        axes.axvline(event.at_s, color=AWAY, lw=1)
        for later in gauges.events[number:]:
            if later.what == f"{name} back":
                axes.axvspan(event.at_s, later.at_s, color=AWAY, alpha=0.1, lw=0)
                break
        if is_named:
            place = (event.at_s, 1.02)
            axes.annotate(event.what, place, xycoords=("data", "axes fraction"), color=AWAY)


def _dress(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    # Without a date in it, the same run gives the same bytes.
    figure.savefig(text, format="svg", metadata={"Date": None})
    found = text.getvalue()
    return found[found.index("<svg") :]
