"""What values settings may have: how each is read from text or TOML, and written down again."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from riverlog.config import Address, InvalidAddress, parse_address

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

Value = int | bool | str | Address | None

_TRUTHS = ("true", "false")
_NO_UNITS: Mapping[str, int] = {}
_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_TIMES = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_NUMBER = re.compile(r"(-?[0-9]{1,19}) ?([A-Za-z]*)", re.ASCII)


class InvalidValue(Exception):
    """The text is no value of this kind; the message says what would be."""


class Kind(NamedTuple):
    """A kind of value.

    Attributes:
        name: What stands for a value in help texts.
        parse: Reads what people write; raises `InvalidValue`.
        rule: What is allowed, for people.
        units: What may follow a number, and how much it stands for.
        choices: All there are, where they can be counted.
    """

    name: str
    parse: Callable[[str], Value]
    rule: str
    units: Mapping[str, int] = _NO_UNITS
    choices: tuple[str, ...] = ()

    @property
    def is_boolean(self) -> bool:
        return self.choices == _TRUTHS


def number(least: int = 0, most: int = INT64_MAX) -> Kind:
    """A whole number without a unit."""
    return _scaled("N", _NO_UNITS, least, most, "")


def size(least: int = 0, most: int = INT64_MAX) -> Kind:
    """A number of bytes; people may write 64KiB, 128MiB, 1GiB."""
    return _scaled("BYTES", _SIZES, least, most, ", or like 64KiB, 16MiB, 1GiB")


def duration(least: int = 0, most: int = INT64_MAX) -> Kind:
    """A time in milliseconds; people may write 500ms, 30s, 15m, 12h, 7d."""
    return _scaled("MS", _TIMES, least, most, ", or like 30s, 15m, 12h, 7d")


def boolean() -> Kind:
    """Yes or no."""

    def parse(text: str) -> bool:
        if text.lower() not in _TRUTHS:
            raise InvalidValue(f"'{text}' is neither true nor false")
        return text.lower() == "true"

    return Kind("BOOL", parse, "true or false", choices=_TRUTHS)


def choice(*choices: str) -> Kind:
    """One of these words."""
    rule = "one of " + ", ".join(choices)

    def parse(text: str) -> str:
        if text not in choices:
            raise InvalidValue(f"'{text}' is not {rule}")
        return text

    return Kind("|".join(choices), parse, rule, choices=choices)


def path() -> Kind:
    """A place on the disk."""

    def parse(text: str) -> str:
        if not text or "\0" in text:
            raise InvalidValue("a path has at least one letter, and none that is zero")
        return text

    return Kind("PATH", parse, "a path")


def address() -> Kind:
    """A host and a port."""

    def parse(text: str) -> Address:
        try:
            return parse_address(text)
        except InvalidAddress as error:
            raise InvalidValue(str(error)) from None

    return Kind("HOST:PORT", parse, "HOST:PORT, or :PORT for loopback")


def text_of(value: Value) -> str:
    """A value as `parse` would read it again; nothing at all for one that is not set."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def people_text(kind: Kind, value: Value) -> str:
    """A value in the largest unit it is a whole number of: 128MiB, 7d."""
    if isinstance(value, bool) or not isinstance(value, int):
        return text_of(value)
    if value in (-1, INT64_MAX):
        return "no limit"
    for unit, factor in reversed(list(kind.units.items())):
        if value and value % factor == 0:
            return f"{value // factor}{unit}"
    return str(value)


def _scaled(name: str, units: Mapping[str, int], least: int, most: int, hint: str) -> Kind:
    bounds = f"from {least} up" if most == INT64_MAX else f"from {least} to {most}"
    rule = f"a whole number {bounds}{hint}"

    factors = {"": 1} | {unit.lower(): factor for unit, factor in units.items()}

    def parse(text: str) -> int:
        written = _NUMBER.fullmatch(text)
        factor = None if written is None else factors.get(written[2].lower())
        if written is None or factor is None or not least <= int(written[1]) * factor <= most:
            raise InvalidValue(f"'{text}' is not {rule}")
        return int(written[1]) * factor

    return Kind(name, parse, rule, units)
