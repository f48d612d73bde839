"""How many rows a table has, from its files alone: Spark need not be started for that."""

import json
from pathlib import Path
from urllib.parse import unquote, urlparse

_LOG = "_spark_metadata"
_COMPACT = ".compact"


def count_rows(directory: Path) -> int | None:
    """The rows of a table of Parquet files; None if it is not there or is of another kind."""
    if not directory.is_dir():
        return None
    files = _listed(directory)
    if any(path.suffix != ".parquet" for path in files):
        return None
    import pyarrow.parquet as pq

    return sum(int(pq.read_metadata(path).num_rows) for path in files)


def table_directory(tables: Path, name: str, database: str) -> Path:
    """Where the catalog keeps a table."""
    *parents, last = name.lower().split(".")
    below = parents[-1] if parents else database.lower()
    return tables / last if below == "default" else tables / f"{below}.db" / last


def _listed(directory: Path) -> list[Path]:
    """The files that are part of the table: what a stream wrote counts once it is in its log."""
    log = directory / _LOG
    if not log.is_dir():
        return [
            path
            for path in sorted(directory.rglob("*"))
            if path.is_file() and not any(part[0] in "._" for part in _below(directory, path))
        ]
    numbers = {int(path.name.removesuffix(_COMPACT)): path for path in _entries(log)}
    compact = max((n for n, path in numbers.items() if path.name.endswith(_COMPACT)), default=0)
    files: dict[str, None] = {}
    for number, path in sorted(numbers.items()):
        if number < compact:
            continue
        for line in path.read_text("utf-8").splitlines()[1:]:
            entry = json.loads(line)
            if entry["action"] == "add":
                files[entry["path"]] = None
            else:
                files.pop(entry["path"], None)
    return [Path(unquote(urlparse(path).path)) for path in files]


def _entries(log: Path) -> list[Path]:
    found = [path for path in log.iterdir() if path.name.removesuffix(_COMPACT).isdecimal()]
    # Where there are both, the one with everything before it counts.
    return sorted(found, key=lambda path: path.name.endswith(_COMPACT))


def _below(directory: Path, path: Path) -> tuple[str, ...]:
    return path.relative_to(directory).parts
