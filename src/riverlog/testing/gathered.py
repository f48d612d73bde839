"""Several batches at once, gathered in Python: what the express lane gathers in C."""

from collections.abc import Sequence

from riverlog.log.batches import Mark
from riverlog.records.batch import assign_offsets, read_header

_MARK_BYTES = 4096
_NO_TIME_MS = -1


class Gathered:
    """Batches as they came from producers, for `append_all`; see `Batches`."""

    def __init__(self, batches: Sequence[bytes]) -> None:
        self._batches = batches
        self._headers = [read_header(batch) for batch in batches]
        times_ms = [header.base_timestamp_ms for header in self._headers]
        self.size_bytes = sum(map(len, batches))
        self.record_count = sum(header.record_count for header in self._headers)
        self.time_min_ms = min(
            (time_ms for time_ms in times_ms if time_ms != _NO_TIME_MS), default=_NO_TIME_MS
        )
        self.time_max_ms = max(header.max_timestamp_ms for header in self._headers)
        self.batch_bytes_max = max(map(len, batches))
        self.has_producers = any(header.has_producer for header in self._headers)

    def placed(self, base_offset: int, leader_epoch: int) -> tuple[bytearray, list[Mark]]:
        data = bytearray()
        marks: list[Mark] = []
        time_max_ms, marked = _NO_TIME_MS, 0
        for batch, header in zip(self._batches, self._headers, strict=True):
            if len(data) - marked >= _MARK_BYTES:
                marked = len(data)
                marks.append(Mark(marked, base_offset, time_max_ms))
            data += batch
            assign_offsets(data, len(data) - len(batch), base_offset, leader_epoch)
            base_offset += header.record_count
            time_max_ms = max(time_max_ms, header.max_timestamp_ms)
        return data, marks
