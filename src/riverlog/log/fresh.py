"""What was written to a segment and is not known to be durable yet, for as long as it is little."""

from riverlog.records.crc import Buffer

# From here on a batch is worth a sync of its own file: in the journal it would be written twice.
FRESH_BYTES_MAX = 64 * 1024


class Fresh:
    """The batches from `start` to the end of one segment, kept for the journal.

    When they become too many they are let go, and `is_whole` is False until the file itself has
    been synced to its end.
    """

    __slots__ = ("_batches", "_end", "is_whole", "start")

    def __init__(self, start: int) -> None:
        self.start = self._end = start
        self.is_whole = True
        self._batches: list[tuple[int, Buffer, Buffer]] = []

    @property
    def parts(self) -> list[Buffer]:
        return [part for _, *parts in self._batches for part in parts]

    def add(self, size_bytes: int, start: Buffer, rest: Buffer) -> None:
        """Tells of a batch, in two parts, that was written at the end."""
        self._end += size_bytes
        if self._end - self.start > FRESH_BYTES_MAX:
            self.let_go()
        elif self.is_whole:
            self._batches.append((self._end, start, rest))

    def let_go(self) -> None:
        """Holds nothing until the file itself has been synced to its end."""
        self.is_whole = False
        self._batches.clear()

    def durable_to(self, position: int) -> None:
        """Lets go of everything before `position`, where a batch ends."""
        self.start = max(self.start, position)
        if self.start >= self._end:
            self.is_whole = True
            self._batches.clear()
        elif self.is_whole:
            self._batches = [batch for batch in self._batches if batch[0] > position]
