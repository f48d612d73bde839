"""docs/benchmarks.md, made from what a run has saved."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.peers.aims import judged
from benchmarks.peers.own_clients import LIBRARIES
from benchmarks.peers.plots import draw
from benchmarks.peers.results import Results
from benchmarks.peers.variants import BY_KEY, VARIANTS, Durability, Variant
from benchmarks.table import FOREIGN_SHARE_MAX, figure, spread

# How it was measured and what is fair about it, which no run changes.
NOTES = Path(__file__).with_name("notes.md")
NONE = "-"
PUBLISH_COLUMNS = {
    "1 publisher, 100 B": "p1-100",
    "1 publisher, 1 KiB": "p1-1024",
    "64 publishers, 100 B": "p64-100",
    "64 publishers, 1 KiB": "p64-1024",
    "batched, 100 B": "batched-100",
    "batched, 1 KiB": "batched-1024",
}
CLIENT_COLUMNS = {
    "one by one": "client-singly",
    "batched": "client-batched",
    "read": "client-consume",
    "librdkafka in C, in": "librdkafka-batched",
    "librdkafka in C, out": "librdkafka-consume",
}


def write_page(results: Results, path: Path) -> None:
    """The page, and its pictures in `pictures` beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures = draw(results, path.parent / "pictures")
    parts = [
        _head(results),
        "## Aims\n",
        _aims(results),
        "## Messages acknowledged in a second\n",
        *(f"![{one.caption}](pictures/{one.name}.svg)\n" for one in pictures[:2]),
        "Median [smallest .. largest] of the rounds. Blue in the pictures: synced before the ack;"
        " orange: in the page cache.\n",
        *(_published(results, durability) for durability in Durability),
        "## Messages read in a second, and end to end\n",
        *(f"![{one.caption}](pictures/{one.name}.svg)\n" for one in pictures[2:3]),
        _read(results),
        "## Start, memory, disk\n",
        *(f"![{one.caption}](pictures/{one.name}.svg)\n" for one in pictures[3:]),
        _footprint(results),
        "## Each one's own client, from Python\n",
        _clients(results),
        "## What an ack means, seen from outside\n",
        _durability(results),
        NOTES.read_text(),
        _troubles(results),
    ]
    path.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


def _head(results: Results) -> str:
    data = results.data
    versions = {BY_KEY[key].program: told for key, told in data["variants"].items()}
    shares = results.foreign_shares()
    rounds = 1 + max((visit["round"] for visit in data["visits"]), default=-1)
    trial = "**A quick trial: these figures mean nothing.**\n\n" if data.get("is_quick") else ""
    on = (
        "{processor}, {processors} processors, {memory_gb} GB of memory, Linux {kernel},"
        " {file_system}, Python {python}"
    ).format_map(data["machine"])
    return f"""# Riverlog beside its peers

<!-- Written by `make bench`; do not edit. -->

{trial}* **When, where:** {data["begun"][:10]}, {rounds} rounds, {on}.
* **Servers:** {_listed(versions)}.
* **Clients:** one driver in C for all; apart from it {_listed(data["clients"])}.
* **Noise:** others took {median(shares):.0%} of the processors in the median cell and
  {max(shares):.0%} in the worst. What was taken beside more than {FOREIGN_SHARE_MAX:.0%} in most
  rounds is marked `~`, and says little.
* Only ratios carry over to other machines.
"""


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _aims(results: Results) -> str:
    found = judged(results)
    met = sum(one.verdict.startswith("met") for one in found)
    measured = sum(bool(one.samples) for one in found)
    rows = [
        [one.wanted.what, one.beside, one.ratio, str(one.wanted.aim), one.verdict] for one in found
    ]
    return (
        f"{met} of {measured} are met. Each is Riverlog over the peer in the same round: the median"
        " of those ratios, and the smallest and largest.\n\n"
        + _table(["", "beside", "ratio", "aim", ""], rows)
    )


def _published(results: Results, durability: Durability) -> str:
    rows = [
        [variant.title, *(_rate(results, variant, cell) for cell in PUBLISH_COLUMNS.values())]
        for variant in _measured(results)
        if variant.durability is durability
    ]
    if not rows:
        return ""
    if durability is Durability.SYNCED and results.data["disk"]:
        disk = {size: [one[size] for one in results.data["disk"]] for size in ("100", "1024")}
        bounds = [spread(disk["100"]), spread(disk["1024"])]
        rows.append(["*append + fdatasync, no server*", *bounds, "", "", "", ""])
    title = f"**{durability.value.capitalize()}**\n\n"
    return title + _table(["msg/s", *PUBLISH_COLUMNS], rows)


def _read(results: Results) -> str:
    rows = [
        [
            variant.title,
            variant.durability.value,
            _rate(results, variant, "consume-100"),
            _rate(results, variant, "consume-1024"),
            _cell(results, variant, "latency", "p50_us", 0.001),
            _cell(results, variant, "latency", "p99_us", 0.001),
        ]
        for variant in _measured(results)
    ]
    titles = ["", "an ack means", "100 B, msg/s", "1 KiB, msg/s"]
    return _table([*titles, "end to end p50, ms", "p99, ms"], rows)


def _footprint(results: Results) -> str:
    rows = []
    for variant in _measured(results):
        million = results.data["million"].get(variant.key, {})
        rows.append([
            variant.title,
            _cell(results, variant, "start", "seconds"),
            _cell(results, variant, "start", "memory_mb"),
            figure(million["memory_mb"]) if million else NONE,
            figure(million["disk_mb"]) if million else NONE,
        ])  # fmt: skip
    titles = ["", "start to first ack, s", "memory then, MB"]
    after = ["memory after a million x 100 B, MB", "disk for a million, MB"]
    return _table([*titles, *after], rows)


def _clients(results: Results) -> str:
    rows = [
        [
            variant.title,
            LIBRARIES[variant.program].title,
            *(_rate(results, variant, cell) for cell in CLIENT_COLUMNS.values()),
        ]
        for variant in _measured(results)
    ]
    rows = [row for row in rows if set(row[2:]) != {NONE}]
    return _table(["100 B, msg/s", "client", *CLIENT_COLUMNS], rows)


def _durability(results: Results) -> str:
    rows = []
    for variant in VARIANTS:
        found = results.data["durability"].get(variant.key)
        if found is None:
            continue
        if "missing" in found:
            rows.append([variant.title, *[NONE] * 4, found["missing"], found["integrity"]])
            continue
        seen = found["class"]
        if seen != variant.durability.value:
            seen = f"**{seen}**, and not what is said above"
        batched = f"{found['batched_syncs']} syncs, {figure(found['batched_p50_ms'])} ms"
        delivered = f"{figure(found['delivered_p50_ms'])} ms"
        one = [f"{found['syncs_per_ack']:.2f}", f"{figure(found['p50_ms'])} ms"]
        rows.append([variant.title, *one, batched, delivered, seen, found["integrity"]])
    titles = ["", "sync calls per ack", "ack", "batched ack", "delivered", "so it is", "read back"]
    return (
        "Each sync call counted, then held up for 20 ms: how long an ack takes then, one of many"
        " under way, and how long until a consumer is given the message.\n\n" + _table(titles, rows)
    )


def _troubles(results: Results) -> str:
    skipped, failures = results.data["skipped"], results.data["failures"]
    lines = [f"* left out: {title}; {how}" for title, how in skipped.items()]
    lines += [f"* {one['what']}: {' '.join(one['why'].split())[:300]}" for one in failures]
    return "## What is missing\n\n" + "\n".join(lines) + "\n" if lines else ""


def _measured(results: Results) -> Iterator[Variant]:
    visited = {visit["variant"] for visit in results.data["visits"]}
    return (variant for variant in VARIANTS if variant.key in visited)


def _rate(results: Results, variant: Variant, cell: str) -> str:
    return _cell(results, variant, cell, "per_s")


def _cell(results: Results, variant: Variant, cell: str, name: str, scale: float = 1.0) -> str:
    samples = [scale * one for one in results.samples(variant.key, cell, name)]
    if not samples:
        return NONE
    return spread(samples) + (" ~" if results.is_noisy(variant.key, cell) else "")


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"
