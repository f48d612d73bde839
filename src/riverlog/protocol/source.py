"""Lines of Python on their way to a function, and the names they refer to."""

import struct
from collections.abc import Callable
from typing import Any

# Compiled functions by class, so that a struct used twice is compiled once per version.
Compiled = dict[Any, Callable[..., Any]]


class Source:
    """A function being written. Its lines may name what was put into `scope`."""

    __slots__ = ("lines", "scope")

    def __init__(self, **scope: Any) -> None:
        self.scope = scope
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        self.lines.append(line)

    def constant(self, value: Any) -> str:
        """A name for a value."""
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def struct_call(self, method: str, layout: str) -> str:
        """A name for `pack` or `unpack_from` of a run of big-endian fields."""
        name = f"{method}_{layout.replace('?', 'bool')}"
        self.scope[name] = getattr(struct.Struct(">" + layout), method)
        return name

    def build(self, name: str) -> Callable[..., Any]:
        """The function of this name that the lines define."""
        exec("\n".join(self.lines), self.scope)
        built: Callable[..., Any] = self.scope[name]
        return built
