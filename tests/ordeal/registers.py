"""Values that are set, answered and found again, and whether what is found can be true. Pure.

The same rule holds for whatever a broker keeps one value of: that a topic is there, a setting, an
offset of a group. Each has one writer, who asks for one thing at a time.
"""

from collections.abc import Mapping

Value = str | int | None


class Registers:
    """What each register of a kind may hold: what was settled last, and all that was tried since.

    Before anything is settled it may hold None. `complaints` tells of what cannot be true.
    """

    def __init__(self, kind: str) -> None:
        self.complaints: list[str] = []
        self._kind = kind
        self._possible: dict[str, list[Value]] = {}

    def tried(self, name: str, value: Value) -> None:
        """Somebody asks for this value, and does not know yet what becomes of it."""
        self._possible.setdefault(name, [None]).append(value)

    def settled(self, name: str) -> None:
        """What was tried last was acknowledged: nothing older may come back."""
        self._possible[name] = self._possible[name][-1:]

    def found(self, values: Mapping[str, Value]) -> None:
        """All of them were looked at, after a death; what was found is settled by that."""
        for name, value in values.items():
            if name not in self._possible:
                self._complain(name, value, "nobody asked for it")
        for name, possible in self._possible.items():
            value = values.get(name)
            if value not in possible:
                self._complain(name, value, f"can only be one of {possible}")
            self._possible[name] = [value]

    def _complain(self, name: str, value: Value, why: str) -> None:
        self.complaints.append(f"{self._kind} {name} is {value!r} and {why}")
