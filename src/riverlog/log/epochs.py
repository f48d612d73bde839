"""Which leader epoch begins at which offset. Pure.

Every start of a broker leads at a new epoch, so an epoch names one uninterrupted writer: where
an epoch ends is where a consumer that saw more must step back to.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

NO_EPOCH = -1


class Epochs:
    """The epochs of one partition with the offset of their first record, both growing."""

    __slots__ = ("_epochs", "_starts")

    def __init__(self, starts: Iterable[tuple[int, int]] = ()) -> None:
        self._epochs: list[int] = []
        self._starts: list[int] = []
        for epoch, start_offset in starts:
            self.note(epoch, start_offset)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self._epochs, self._starts, strict=True))

    @property
    def latest(self) -> int:
        return self._epochs[-1] if self._epochs else NO_EPOCH

    def at(self, offset: int) -> int:
        """The epoch of the record at `offset`; -1 before the first."""
        found = bisect_right(self._starts, offset)
        return self._epochs[found - 1] if found else NO_EPOCH

    def note(self, epoch: int, base_offset: int) -> None:
        """Tells of an appended batch; only the first of an epoch is remembered."""
        if epoch > self.latest:
            self._epochs.append(epoch)
            self._starts.append(base_offset)

    def trim(self, start_offset: int) -> None:
        """Forgets the epochs that end at or before `start_offset`, where the log begins now."""
        gone = max(bisect_right(self._starts, start_offset) - 1, 0)
        del self._epochs[:gone]
        del self._starts[:gone]

    def end_of(self, epoch: int, end_offset: int) -> tuple[int, int]:
        """The largest epoch not above `epoch`, and the offset at which it ends.

        The newest epoch ends at `end_offset`, where the log does. Without any epoch to name,
        both are -1.
        """
        found = bisect_right(self._epochs, epoch)
        if not found:
            return NO_EPOCH, -1
        is_newest = found == len(self._epochs)
        return self._epochs[found - 1], end_offset if is_newest else self._starts[found]
