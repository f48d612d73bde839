"""Reading a command line: the standard library's way, but with one line for a mistake."""

import argparse
from collections.abc import Callable
from typing import NoReturn

from riverlog.cli.refusals import Refused

INT64_MAX = 2**63 - 1


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` that raises `Refused` instead of printing its usage and exiting."""

    def error(self, message: str) -> NoReturn:
        raise Refused(f"{message} (`{self.prog} --help` tells more)")


def new_parser(name: str, description: str, examples: str) -> Parser:
    """A parser whose texts keep their line breaks.

    Flags are written out in full: an abbreviation in somebody's script would break on the day
    another flag begins with the same letters.
    """
    return Parser(
        name,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


class Subcommands:
    """The words that may follow a command; `dest` is where the chosen one is found."""

    def __init__(self, parser: Parser, dest: str, *, is_required: bool = True) -> None:
        self._action = parser.add_subparsers(
            dest=dest, title="commands", metavar="COMMAND", required=is_required
        )

    def add(self, name: str, summary: str, description: str = "", examples: str = "") -> Parser:
        """One more word, with a line for the list of them and a page of its own."""
        return self._action.add_parser(
            name,
            help=summary,
            description=description or summary,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )


def flags_of(parser: argparse.ArgumentParser) -> list[str]:
    """Every flag that may be given here, or behind a word that may be given here."""
    flags = list(actions_by_flag(parser))
    for _, below in words_of(parser).values():
        flags += flags_of(below)
    return flags


# There is no public way to ask a parser what it knows, so these look behind its curtain.


def actions_by_flag(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The flags of a parser, those that help shows."""
    actions = parser._option_string_actions  # noqa: SLF001
    return {flag: act for flag, act in actions.items() if act.help != argparse.SUPPRESS}


def positionals_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments that are no flags and no words with more behind them."""
    return [
        action
        for action in parser._actions  # noqa: SLF001
        if not action.option_strings and not isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
    ]


def words_of(
    parser: argparse.ArgumentParser,
) -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """The words that may follow here: what help says of each, and the parser behind it."""
    return {
        listed.dest: (listed.help or "", action.choices[listed.dest])
        for action in parser._actions  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        for listed in action._choices_actions  # noqa: SLF001
    }


def whole_number(least: int, most: int = INT64_MAX) -> Callable[[str], int]:
    """For `type=`: a whole number between two others."""

    def parse(text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number")
        if not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not between {least} and {most}")
        return int(text)

    return parse
