"""What a process that was forked while a broker ran has of it: nothing.

Only the thread that forks goes on in the child, so the broker is the parent's alone. But the child
has every socket too, and would keep clients connected to a broker that has ended, and its port.
"""

import os
from collections.abc import Iterable
from typing import Protocol
from weakref import WeakSet


class Inherited(Protocol):
    """What a child must not keep."""

    def disown(self) -> Iterable[int]:
        """Stops to be what it is in the parent; gives the numbers of its sockets."""


_inherited: "WeakSet[Inherited]" = WeakSet()


def not_for_children(inherited: Inherited) -> None:
    """Has it disowned in every process that is forked from this one."""
    _inherited.add(inherited)


def _disown_all() -> None:
    numbers = [number for one in _inherited for number in one.disown() if number >= 0]
    if numbers:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for number in numbers:
            # Whoever closes the number later, as its finalizer does, closes this and no other.
            os.dup2(nothing, number, inheritable=False)
        os.close(nothing)


os.register_at_fork(after_in_child=_disown_all)
