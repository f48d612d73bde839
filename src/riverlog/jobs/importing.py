"""Rows of files into a topic: in order, once each within a run, and across runs if they are marked.

Without an id, a second run publishes every row again: at least once. With one, every record says
which row it is, and a run first reads what the topic has: whatever happened to the run before,
and even if it was killed, each row is published once. Nobody else may run it meanwhile.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from riverlog.client.errors import ClientError
from riverlog.client.outgoing import NewRecord
from riverlog.client.sync_client import Client
from riverlog.client.sync_publishing import SyncPublishing
from riverlog.config import MIB
from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.import_marks import HEADER, RowSet, mark
from riverlog.jobs.row_files import BadRow, RowFile, open_rows
from riverlog.jobs.row_records import BadValue, Shape

# What is handed to the client at once, and how many of these may be unconfirmed.
ROWS_AT_ONCE = 1000
BYTES_AT_ONCE = MIB
AHEAD_MAX = 16

# Hears of a row that is left out: the file and what is wrong. Without one, the first ends it all.
OnBad = Callable[[str, BadRow], None]


class Asked(NamedTuple):
    """What to import, and how rows become records."""

    paths: Sequence[str]
    file_format: str | None = None
    shape: Shape = Shape()
    import_id: str | None = None
    delimiter: str = ","


class Counts(NamedTuple):
    """Rows that are durable in the topic, that were there before, and that were left out."""

    published: int = 0
    present: int = 0
    bad: int = 0


class Opened(NamedTuple):
    """A file that is known to have the columns asked for."""

    path: str
    rows: RowFile

    @property
    def name(self) -> str:
        """What its rows are marked with: the same wherever the file lies."""
        return os.path.basename(self.path)


def open_all(asked: Asked) -> list[Opened]:
    """Opens every file before the first row is published; raises `JobRefused`, `OSError`."""
    opened: list[Opened] = []
    try:
        for path in asked.paths:
            opened.append(Opened(path, open_rows(path, asked.file_format, asked.delimiter)))
            asked.shape.check(path, opened[-1].rows.columns)
        if asked.import_id is not None and len({file.name for file in opened}) < len(opened):
            raise JobRefused(
                "two files have the same name, and rows are marked with it: rename one"
            )
    except BaseException:
        close_all(opened)
        raise
    return opened


def close_all(opened: Sequence[Opened]) -> None:
    """Closes what `open_all` has opened."""
    for file in opened:
        file.rows.close()


class Sending:
    """Records on their way to a topic, of which only so many may be unconfirmed."""

    def __init__(self, client: Client, topic: str, on_durable: Callable[[int], None]) -> None:
        self._client = client
        self._topic = topic
        self._on_durable = on_durable
        self._ahead: deque[SyncPublishing] = deque()

    def send(self, records: Sequence[NewRecord]) -> None:
        """Sends more; raises `ClientError`, perhaps for what was sent before."""
        self._ahead.append(self._client.publish_batch(self._topic, records))
        self.settle(AHEAD_MAX)

    def settle(self, left: int = 0) -> None:
        """Returns when no more than so many calls of `send` are unconfirmed."""
        while len(self._ahead) > left:
            publishing = self._ahead.popleft()
            publishing.results()
            self._on_durable(len(publishing))


class Import:
    """One run. `counts` are true at any time, also after a failure."""

    def __init__(
        self,
        asked: Asked,
        present: Mapping[str, RowSet],
        on_bad: OnBad | None,
        on_bytes: Callable[[int], None],
    ) -> None:
        self._asked = asked
        self._present = present
        self._on_bad = on_bad
        self._on_bytes = on_bytes
        self.counts = Counts()

    def check(self, opened: Sequence[Opened]) -> None:
        """Reads all rows and publishes none; raises `JobFailed` for the first bad one."""
        for records in self._batches(opened):
            self._count(published=len(records))

    def publish(self, opened: Sequence[Opened], client: Client, topic: str) -> None:
        """Publishes all rows; raises `JobFailed`. Those before a bad row are in the topic then."""
        sending = Sending(client, topic, lambda count: self._count(published=count))
        try:
            try:
                for records in self._batches(opened):
                    sending.send(records)
            except JobFailed as failure:
                sending.settle()
                raise JobFailed(f"{failure}; {self._told(topic)}") from None
            sending.settle()
        except ClientError as error:
            if not self.counts.published:
                raise
            raise JobFailed(f"{error}; {self._told(topic)}") from error

    def records_of(self, file: Opened) -> Iterator[NewRecord]:
        """The records of a file that are not in the topic; raises `JobFailed` for a bad row."""
        present = self._present.get(file.name, RowSet())
        shape, import_id = self._asked.shape, self._asked.import_id
        for row in file.rows.rows():
            if isinstance(row, BadRow):
                self._leave_out(file, row)
                continue
            if row.number in present:
                self._count(present=1)
                continue
            marks = () if import_id is None else ((HEADER, mark(import_id, file.name, row.number)),)
            try:
                yield shape.record(row, *marks)
            except BadValue as error:
                self._leave_out(file, BadRow(row.number, str(error)))

    def _told(self, topic: str) -> str:
        if not self.counts.published:
            return "no row was published"
        told = f"{self.counts.published} rows are in {topic}"
        if self._asked.import_id is None:
            return f"{told}, and another run adds them again (see --id)"
        return f"{told}, and another run adds only the others"

    def _batches(self, opened: Sequence[Opened]) -> Iterator[list[NewRecord]]:
        """Records in pieces; those before a bad row come before it is raised."""
        records: list[NewRecord] = []
        size_bytes = 0
        try:
            for record, read_bytes in self._records(opened):
                records.append(record)
                size_bytes += len(record.value or b"")
                if len(records) == ROWS_AT_ONCE or size_bytes >= BYTES_AT_ONCE:
                    yield records
                    self._on_bytes(read_bytes)
                    records, size_bytes = [], 0
        except JobFailed:
            if records:
                yield records
            raise
        if records:
            yield records

    def _records(self, opened: Sequence[Opened]) -> Iterator[tuple[NewRecord, int]]:
        """Each record, and how much of all files was read by then."""
        read_bytes = 0
        for file in opened:
            for record in self.records_of(file):
                yield record, read_bytes + file.rows.read_bytes
            read_bytes += file.rows.read_bytes

    def _leave_out(self, file: Opened, row: BadRow) -> None:
        if self._on_bad is None:
            raise JobFailed(f"{file.path}, row {row.number}: {row.reason}")
        self._count(bad=1)
        self._on_bad(file.path, row)

    def _count(self, *, published: int = 0, present: int = 0, bad: int = 0) -> None:
        so_far = self.counts
        self.counts = Counts(
            so_far.published + published, so_far.present + present, so_far.bad + bad
        )
