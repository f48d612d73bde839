"""How far a group is: it goes on where it committed, and leaves nothing out. Pure."""

from collections import defaultdict
from collections.abc import Mapping


class Progress:
    """How far one group is, in each partition; `complaints` tells of what cannot be."""

    def __init__(self, group: str) -> None:
        self.complaints: list[str] = []
        self.seen: defaultdict[str, set[int]] = defaultdict(set)
        self._group = group
        self._tried: defaultdict[str, int] = defaultdict(int)
        self._committed: defaultdict[str, int] = defaultdict(int)

    def trying(self, partition: str, offset: int) -> None:
        """A member asks to commit; it may be done from here on."""
        self._tried[partition] = max(self._tried[partition], offset)

    def committed(self, partition: str, offset: int) -> None:
        """A member was told that it is committed."""
        self._committed[partition] = max(self._committed[partition], offset)

    def began(self, partition: str, offset: int) -> None:
        """A member that was given the partition had this for its first record."""
        if not self._committed[partition] <= offset <= self._tried[partition]:
            self.complaints.append(
                f"{self._group} begins {partition} at {offset}, after {self._committed[partition]} "
                f"was committed and {self._tried[partition]} tried"
            )

    def lacking(self, ends: Mapping[str, int]) -> dict[str, list[int]]:
        """What nobody of the group has seen before these ends, the first few of each partition."""
        missing = {
            name: sorted(set(range(end)) - self.seen[name])[:5] for name, end in ends.items()
        }
        return {name: offsets for name, offsets in missing.items() if offsets}
