"""One partition of a broker as a lane sees it: sequence numbers, duplicates, and a log."""

from riverlog.client.lane import Batch, Identity

REMEMBERED = 5


class OutOfSequence(Exception):
    """The batch does not follow what this producer sent before."""


class PartitionModel:
    """Keeps what is appended; takes no batch out of sequence, and none twice.

    A producer that it has nothing of may begin with any sequence, as with every broker: what it
    sent before may have been removed.
    """

    def __init__(self) -> None:
        self.log: list[bytes | None] = []
        self._recent: dict[Identity, list[tuple[int, int, int]]] = {}
        self._forgotten: set[Identity] = set()

    def forget_producers(self) -> None:
        """Loses what it knows of everyone who has appended so far."""
        self._forgotten |= set(self._recent)

    def append(self, identity: Identity, batch: Batch) -> int:
        """The offset of the batch's first record, now or when it came first."""
        if identity in self._forgotten:
            raise OutOfSequence("an unknown producer")
        recent = self._recent.setdefault(identity, [])
        sequence, count = batch.base_sequence, len(batch.records)
        assert sequence is not None
        for known, known_count, offset in recent:
            if (known, known_count) == (sequence, count):
                return offset
        expected = recent[-1][0] + recent[-1][1] if recent else sequence
        if sequence != expected:
            raise OutOfSequence(f"{sequence} instead of {expected}")
        offset = len(self.log)
        self.log += [record.value for record in batch.records]
        recent.append((sequence, count, offset))
        del recent[:-REMEMBERED]
        return offset
