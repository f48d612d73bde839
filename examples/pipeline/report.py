"""The report: one HTML file with everything in it, plots too."""

import os
import platform
from html import escape
from pathlib import Path
from typing import NamedTuple

from examples.pipeline.check import Checked
from examples.pipeline.gauges import Gauges
from examples.pipeline.plots import svg_of_stream, svg_of_windows

import riverlog

STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2430 }
h1 { font-size: 1.5rem; margin-bottom: 0 } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse } td, th { padding: .15rem .8rem .15rem 0; text-align: left }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
tr.wrong td { color: #b3261e; font-weight: 600 } td { white-space: pre }
.verdict { font-size: 1.1rem; color: #1b6e3c } .verdict.wrong { color: #b3261e }
svg { max-width: 100%; height: auto }"""


class Story(NamedTuple):
    """What there is to tell of a run."""

    rows: int
    seed: int
    addresses: dict[str, str]
    versions: dict[str, str]
    restarts: int
    gauges: Gauges
    checked: Checked


def write_report(path: Path, story: Story) -> None:
    """Writes the file, over an older one if there is one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(story), encoding="utf-8")


def page(story: Story) -> str:
    """The report as HTML that needs nothing else."""
    is_right = story.checked.is_right
    verdict = "Every total is what the seed says." if is_right else "Totals differ."
    events = [(f"{event.at_s:,.1f} s", event.what) for event in story.gauges.events]
    if story.restarts:
        events.append(("", f"the driver ended by itself {story.restarts} times"))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Riverlog pipeline</title>
<style>{STYLE}</style></head><body>
<h1>{story.rows:,} orders through Riverlog and Spark</h1>
<p class="verdict{"" if is_right else " wrong"}">{verdict}</p>
<h2>The stream</h2>
{svg_of_stream(story.gauges)}
{_pairs(events)}
<h2>What came out</h2>
{svg_of_windows(story.checked.windows)}
<h2>The check: plain Python over the seed, without Spark</h2>
{_check(story.checked)}
<h2>Where and what</h2>
{_pairs([*story.addresses.items(), *_machine(story)])}
</body></html>
"""


def _check(checked: Checked) -> str:
    rows = "".join(
        f"<tr{'' if line.is_right else ' class=wrong'}><td>{escape(line.what)}</td>"
        f'<td class="number">{line.expected:,}</td><td class="number">{line.found:,}</td></tr>'
        for line in checked.lines
    )
    return f"""<table><tr><th></th><th class="number">expected</th>
<th class="number">found</th></tr>{rows}</table>
<p>Spark's sink for topics is at least once. After the kills {checked.alerts_again:,} alerts and
{checked.dead_letters_again:,} dead letters were there a second time; they carry ids, by which they
count once.</p>"""


def _pairs(pairs: list[tuple[str, str]]) -> str:
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(text)}</td></tr>" for name, text in pairs
    )
    return f"<table>{rows}</table>"


def _machine(story: Story) -> list[tuple[str, str]]:
    return [
        ("seed", str(story.seed)),
        ("Riverlog", riverlog.__version__),
        *story.versions.items(),
        ("Python", platform.python_version()),
        ("machine", f"{os.cpu_count()} processors, {platform.system()} {platform.release()}"),
    ]
