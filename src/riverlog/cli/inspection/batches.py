"""Batches and records one by one, printed as the walk through a segment comes to them."""

import base64
from datetime import UTC, datetime, timedelta

from riverlog.cli.inspection.small_files import Find, Finding
from riverlog.cli.printable import printable
from riverlog.cli.tables import StreamedTable, print_json_line
from riverlog.records.batch import BatchHeader
from riverlog.records.errors import BatchError
from riverlog.records.record import Record, iterate

# Far beyond what any broker takes, and little enough for any machine.
DECOMPRESSED_BYTES_MAX = 256 << 20

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BATCH_COLUMNS = [
    ("position", -10), ("offsets", 17), ("records", -7), ("bytes", -9), ("codec", 6),
    ("epoch", -5), ("newest record", 24), ("producer", 14), ("crc", 8),
]  # fmt: skip
_RECORD_COLUMNS = [("offset", -12), ("time", 24), ("key", 12), ("value", 24), ("headers", 0)]


class Shown:
    """What of a log is shown: its batches or its records, from an offset on, up to a number."""

    def __init__(
        self, *, records: bool, as_json: bool, start_offset: int, count: int | None, find: Find
    ) -> None:
        self._records = records
        self._as_json = as_json
        self._start_offset = start_offset
        self._left = count
        self._find = find
        self._table: StreamedTable | None = None
        self._path = ""

    def begin(self, path: str) -> None:
        """Tells which segment the next batches are from."""
        self._path = path
        self._table = None

    def show(self, header: BatchHeader, position: int, data: memoryview) -> None:
        """Prints a batch, or its records, if they are wanted."""
        if self._left == 0 or header.next_offset <= self._start_offset:
            return
        if not self._records:
            if self._as_json:
                self._print_line(batch_facts(header, position))
            else:
                self._print_row(_BATCH_COLUMNS, _batch_cells(header, position))
            return
        try:
            for record in iterate(data, decompressed_bytes_max=DECOMPRESSED_BYTES_MAX):
                if record.offset < self._start_offset or self._left == 0:
                    continue
                if self._as_json:
                    self._print_line(record_facts(record))
                else:
                    self._print_row(_RECORD_COLUMNS, _record_cells(record))
        except BatchError as error:
            told = f"the records from offset {header.base_offset} on cannot be read: {error}"
            self._find(Finding(self._path, position, header.size_bytes, told, is_damage=False))

    def _print_line(self, facts: dict[str, object]) -> None:
        self._count()
        print_json_line(facts)

    def _print_row(self, columns: list[tuple[str, int]], cells: list[str | int]) -> None:
        self._count()
        if self._table is None:
            print(printable(self._path))
            self._table = StreamedTable(columns)
        self._table.print(cells)

    def _count(self) -> None:
        if self._left is not None:
            self._left -= 1


def time_text(timestamp_ms: int) -> str:
    """A time for people, in UTC; the number itself where no calendar reaches."""
    try:
        moment = _EPOCH + timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        return str(timestamp_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def batch_facts(header: BatchHeader, position: int) -> dict[str, object]:
    """A batch as JSON shows it."""
    return {
        "position": position,
        "size_bytes": header.size_bytes,
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "record_count": header.record_count,
        "codec": header.codec.name.lower(),
        "leader_epoch": header.leader_epoch,
        "base_timestamp_ms": header.base_timestamp_ms,
        "max_timestamp_ms": header.max_timestamp_ms,
        "uses_append_time": header.uses_append_time,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "is_transactional": header.is_transactional,
        "is_control": header.is_control,
        "crc": f"{header.crc:08x}",
    }


def record_facts(record: Record) -> dict[str, object]:
    """A record as `riverlog consume` shows it in JSON, and `riverlog produce` takes it."""
    return {
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        **_bytes_facts("key", record.key),
        **_bytes_facts("value", record.value),
        "headers": [[key, None if data is None else _text(data)] for key, data in record.headers],
    }


def _bytes_facts(name: str, data: bytes | None) -> dict[str, object]:
    """Bytes that are no text are in base64, under a name that says so."""
    if data is None:
        return {name: None}
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode()}


def _batch_cells(header: BatchHeader, position: int) -> list[str | int]:
    producer = f"{header.producer_id}/{header.base_sequence}" if header.has_producer else "-"
    return [
        position,
        f"{header.base_offset}..{header.last_offset}",
        header.record_count,
        header.size_bytes,
        header.codec.name.lower(),
        header.leader_epoch,
        time_text(header.max_timestamp_ms),
        producer,
        f"{header.crc:08x}",
    ]


def _record_cells(record: Record) -> list[str | int]:
    headers = ", ".join(f"{key}={_text(data)}" for key, data in record.headers)
    return [
        record.offset,
        time_text(record.timestamp_ms),
        _text(record.key),
        _text(record.value),
        headers,
    ]


def _text(data: bytes | None) -> str:
    return "null" if data is None else data.decode(errors="backslashreplace")
