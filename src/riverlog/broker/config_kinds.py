"""The kinds of values that settings have, read as Kafka reads them; what is wrong, in its words.

Each reader takes the text a client sent and gives the value, or raises `ValueError` with the
message that clients get, in which `{name}` stands for the setting.
"""

import re
from collections.abc import Callable
from typing import Any, Literal

KindName = Literal["BOOLEAN", "STRING", "INT", "LONG", "DOUBLE", "LIST"]
Value = bool | str | int | float | tuple[str, ...]
Read = Callable[[str], Value]

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
_BOUNDS = {"INT": INT32_MAX, "LONG": INT64_MAX}
# Compiled when they are first used: a broker that starts has no need of them.
_WHOLE = r"[+-]?[0-9]{1,20}"
_DOUBLE = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_REPLICAS = r"[0-9]+:[0-9]+(,[0-9]+:[0-9]+)*"


def whole(kind: Literal["INT", "LONG"], least: int, most: int | None = None) -> Read:
    """A whole number of 32 or 64 bits, within bounds."""

    def read(text: str) -> int:
        number = _number(text, kind)
        if number < least:
            raise _wrong(number, f"Value must be at least {least}")
        if most is not None and number > most:
            raise _wrong(number, f"Value must be no more than {most}")
        return number

    return read


def gzip_level(text: str) -> int:
    """1 to 9, or -1 for whatever the library thinks best."""
    level = _number(text, "INT")
    if level != -1 and not 1 <= level <= 9:
        raise _wrong(level, "Value must be between 1 and 9 or equal to -1")
    return level


def ratio(text: str) -> float:
    """A number from 0 to 1."""
    if not re.fullmatch(_DOUBLE, text.strip()):
        raise _wrong(text, "Not a number of type DOUBLE")
    number = float(text)
    if number < 0:
        raise _wrong(number, "Value must be at least 0")
    if number > 1:
        raise _wrong(number, "Value must be no more than 1")
    return number


def boolean(text: str) -> bool:
    """True or false, in any case."""
    lower = text.strip().lower()
    if lower not in ("true", "false"):
        raise _wrong(text, "Expected value to be either true or false")
    return lower == "true"


def choice(*allowed: str) -> Read:
    """One of these words."""

    def read(text: str) -> str:
        word = text.strip()
        if word not in allowed:
            raise _wrong(word, f"String must be one of: {', '.join(allowed)}")
        return word

    return read


def some_of(*allowed: str) -> Read:
    """Any of these words, with commas between them; each counts once."""

    def read(text: str) -> tuple[str, ...]:
        words = items(text)
        if "" in words:
            raise ValueError("Configuration '{name}' values must not be empty.")
        for word in words:
            if word not in allowed:
                raise _wrong(word, f"String must be one of: {', '.join(allowed)}")
        return tuple(dict.fromkeys(words))

    return read


def replicas(text: str) -> tuple[str, ...]:
    """Replicas as PARTITION:BROKER with commas between them, or * for all, or none."""
    words = items(text)
    if text.strip() not in ("", "*") and not re.fullmatch(_REPLICAS, ",".join(words)):
        raise _wrong(
            f"[{', '.join(words)}]",
            "{name} must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
        )
    return words


def items(text: str) -> tuple[str, ...]:
    """The parts of a list as clients write it."""
    return tuple(part.strip() for part in text.split(",")) if text.strip() else ()


def written(value: Value) -> str:
    """A value as clients see it."""
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return ",".join(value)
    return str(value)


def _number(text: str, kind: Literal["INT", "LONG"]) -> int:
    if re.fullmatch(_WHOLE, text.strip()):
        number = int(text)
        if -_BOUNDS[kind] - 1 <= number <= _BOUNDS[kind]:
            return number
    raise _wrong(text, f"Not a number of type {kind}")


def _wrong(value: Any, reason: str) -> ValueError:
    # What the client sent may hold braces of its own.
    shown = str(value).replace("{", "{{").replace("}", "}}")
    return ValueError(f"Invalid value {shown} for configuration {{name}}: {reason}")
