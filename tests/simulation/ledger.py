"""What may never happen to a group, noticed as it happens."""

from collections.abc import Mapping

PARTITIONS = 4


class Broken(AssertionError):
    """A promise of groups was broken; the message says which."""


class Ledger:
    """Everything that clients were told, over all lives of the broker."""

    def __init__(self) -> None:
        self._owners: dict[tuple[int, int], str] = {}
        self._synced: dict[str, int] = {}
        self._acknowledged = [0] * PARTITIONS
        self._seen = [0] * PARTITIONS
        self.syncs = 0
        self.commits = 0

    def joined(self, member_id: str, generation: int) -> None:
        """A member is in a generation: a later one than any it had a share in, or the same."""
        if generation < self._synced.get(member_id, 0):
            raise Broken(f"{member_id} went back to generation {generation}")

    def owns(self, name: str, member_id: str, generation: int, partitions: list[int]) -> None:
        """A member was told its share; `name` outlives its process if it is static."""
        self.joined(member_id, generation)
        self._synced[member_id] = generation
        self.syncs += 1
        for partition in partitions:
            owner = self._owners.setdefault((generation, partition), name)
            if owner != name:
                raise Broken(
                    f"{owner} and {name} both have partition {partition} in generation {generation}"
                )

    def acknowledged(self, partition: int, offset: int) -> None:
        """A commit was acknowledged."""
        self.commits += 1
        self._acknowledged[partition] = max(self._acknowledged[partition], offset)

    def fetched(self, offsets: Mapping[tuple[str, int], int], topic: str) -> None:
        """What is committed was asked for: nothing acknowledged is missing, nothing went back."""
        for partition in range(PARTITIONS):
            offset = offsets.get((topic, partition), 0)
            if offset < self._acknowledged[partition]:
                raise Broken(
                    f"offset {self._acknowledged[partition]} of partition {partition} was "
                    f"acknowledged, and {offset} is committed"
                )
            if offset < self._seen[partition]:
                raise Broken(f"partition {partition} went back from {self._seen[partition]}")
            self._seen[partition] = offset
