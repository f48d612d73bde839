"""The page's pictures: a dot for the median, whiskers from the smallest to the largest."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from benchmarks.peers.results import Results
from benchmarks.peers.variants import VARIANTS, Durability, Variant
from benchmarks.table import figure

SYNCED_COLOR, CACHED_COLOR = "#1b6ca8", "#e08e45"


class Panel(NamedTuple):
    """One set of dots, on a scale of powers of ten: bars would have to begin somewhere."""

    title: str
    cell: str
    figure: str
    unit: str
    scale: float = 1.0


class Picture(NamedTuple):
    """Panels side by side."""

    name: str
    caption: str
    panels: Sequence[Panel]


PICTURES = [
    Picture("bench-publishers", "Messages of 100 B acknowledged in a second, one per request", [
        Panel("one publisher", "p1-100", "per_s", "msg/s"),
        Panel("64 publishers", "p64-100", "per_s", "msg/s"),
    ]),
    Picture("bench-batched", "Messages of 100 B in a second, batched or pipelined", [
        Panel("in", "batched-100", "per_s", "msg/s"),
        Panel("out", "consume-100", "per_s", "msg/s"),
    ]),
    Picture("bench-latency", "From sent to delivered, at 1,000 messages a second", [
        Panel("p50", "latency", "p50_us", "ms", 0.001),
        Panel("p99", "latency", "p99_us", "ms", 0.001),
    ]),
    Picture("bench-footprint", "From the start of the process to the first ack, and memory then", [
        Panel("start", "start", "seconds", "s"),
        Panel("memory", "start", "memory_mb", "MB"),
    ]),
]  # fmt: skip


def draw(results: Results, directory: Path) -> list[Picture]:
    """Writes those that there are figures for, and says which."""
    directory.mkdir(parents=True, exist_ok=True)
    # Texts stay texts, and the same figures give the same file.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "riverlog", "font.size": 8}
    drawn = []
    for picture in PICTURES:
        present = [v for v in VARIANTS if _has_all(results, v, picture)]
        variants = [v for kind in Durability for v in present if v.durability is kind]
        if variants:
            _draw(results, picture, variants, directory / f"{picture.name}.svg")
            drawn.append(picture)
    return drawn


def _has_all(results: Results, variant: Variant, picture: Picture) -> bool:
    return all(results.samples(variant.key, one.cell, one.figure) for one in picture.panels)


def _draw(results: Results, picture: Picture, variants: list[Variant], path: Path) -> None:
    drawing = Figure(figsize=(8, 0.7 + 0.27 * len(variants)), layout="constrained")
    axes = drawing.subplots(1, len(picture.panels), sharey=True, squeeze=False)[0]
    rows = list(range(len(variants)))[::-1]
    for panel, axis in zip(picture.panels, axes, strict=True):
        samples = [
            [panel.scale * one for one in results.samples(v.key, panel.cell, panel.figure)]
            for v in variants
        ]
        middles = [median(one) for one in samples]
        below = [middle - min(one) for middle, one in zip(middles, samples, strict=True)]
        above = [max(one) - middle for middle, one in zip(middles, samples, strict=True)]
        colors = [_color(variant) for variant in variants]
        axis.errorbar(middles, rows, xerr=[below, above], fmt="none", ecolor=colors, lw=1.2)
        axis.scatter(middles, rows, color=colors, s=28, zorder=3)
        for row, middle in zip(rows, middles, strict=True):
            axis.annotate(figure(middle), (middle, row), (0, 4), textcoords="offset points")
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
        axis.xaxis.set_minor_formatter("")
        axis.margins(x=0.12, y=0.07)
        axis.grid(axis="x", color="#ddd", lw=0.5)
        axis.set_title(f"{panel.title}, {panel.unit}", fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(rows, [variant.title for variant in variants])
    for label, variant in zip(axes[0].get_yticklabels(), variants, strict=True):
        label.set_fontweight("bold" if variant.is_ours else "normal")
    drawing.savefig(path, metadata={"Date": None, "Creator": None})


def _color(variant: Variant) -> str:
    if variant.durability is Durability.SYNCED:
        return SYNCED_COLOR
    return CACHED_COLOR
