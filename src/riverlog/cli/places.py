"""Places in a topic as people write them."""

from datetime import UTC, datetime

from riverlog.cli.arguments import Parser, whole_number
from riverlog.cli.refusals import Refused
from riverlog.client.offsets import Place


def add_partitions(parser: Parser) -> None:
    """Adds `--partition`, which may be given again."""
    parser.add_argument(
        "--partition",
        "-p",
        action="append",
        type=whole_number(0, 2**31 - 1),
        metavar="N",
        help="only this one; may be given again",
    )


def place_of(text: str, flag: str) -> Place:
    """Reads a place; raises `Refused`, naming the flag."""
    if text == "earliest":
        return "earliest"
    if text == "latest":
        return "latest"
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 19:
        return int(text)
    try:
        if text.startswith("@"):
            return datetime.fromtimestamp(int(text[1:]) / 1000, UTC)
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        raise Refused(
            f"{flag} '{text}' is no place: say earliest, latest, an offset, or a time like"
            " 2026-01-31T12:00:00"
        ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
