"""What an export has written so far, and where in the topic it goes on. Pure: bytes in and out."""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

FORMAT = 1

_PATH = re.compile(r"partition=(0|[1-9][0-9]*)/([0-9]{20})-([0-9]{20})\.parquet")


class DataFile(NamedTuple):
    """One file of the table: rows of a partition with offsets from `start` on and before `end`."""

    partition: int
    start: int
    end: int
    row_count: int
    size_bytes: int

    @property
    def directory(self) -> str:
        """Its directory in the table's, which names the partition as Hive and Spark do."""
        return f"partition={self.partition}"

    @property
    def path(self) -> str:
        """Its path in the table's directory; the name says which offsets it has."""
        return f"{self.directory}/{self.start:020d}-{self.end - 1:020d}.parquet"


class Manifest(NamedTuple):
    """A table made of a topic. Every partition in it goes on at its `next_offsets`."""

    topic: str
    topic_id: str
    columns: tuple[str, ...]
    next_offsets: Mapping[int, int]
    files: tuple[DataFile, ...]

    @property
    def row_count(self) -> int:
        """How many rows the table has."""
        return sum(file.row_count for file in self.files)

    def reached(self, partition: int, offset: int, files: tuple[DataFile, ...] = ()) -> "Manifest":
        """The same with these files more, and a partition read up to an offset."""
        reached = {**self.next_offsets, partition: offset}
        return self._replace(next_offsets=reached, files=self.files + files)

    def to_bytes(self) -> bytes:
        """Readable for people, with one line for each file."""
        head = {
            "format": FORMAT,
            "topic": self.topic,
            "topic_id": self.topic_id,
            "columns": list(self.columns),
            "next_offsets": {str(at): offset for at, offset in sorted(self.next_offsets.items())},
        }
        lines = ",\n".join(
            json.dumps({"path": file.path, "rows": file.row_count, "bytes": file.size_bytes})
            for file in self.files
        )
        return f'{json.dumps(head)[:-1]}, "files": [\n{lines}\n]}}'.encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Manifest":
        """Raises `ValueError` when these bytes are no manifest, or one of a newer format."""
        try:
            read = json.loads(data)
            if read["format"] != FORMAT:
                raise ValueError(f"format {read['format']}, and this Riverlog knows {FORMAT}")
            return cls(
                str(read["topic"]),
                str(read["topic_id"]),
                tuple(map(str, read["columns"])),
                {int(at): int(offset) for at, offset in read["next_offsets"].items()},
                tuple(_file_of(file) for file in read["files"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{error} is missing or not what it should be") from error


def _file_of(read: Mapping[str, object]) -> DataFile:
    path, row_count, size_bytes = read["path"], read["rows"], read["bytes"]
    named = _PATH.fullmatch(path) if isinstance(path, str) else None
    if named is None or not isinstance(row_count, int) or not isinstance(size_bytes, int):
        raise ValueError(f"{path} is no file of an export")
    partition, start, last = map(int, named.groups())
    return DataFile(partition, start, last + 1, row_count, size_bytes)
