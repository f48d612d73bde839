"""`riverlog completion`: a script for the shell, made from the same tree that reads commands."""

import argparse
from collections.abc import Iterator, Mapping

from riverlog.cli.arguments import Parser, actions_by_flag, positionals_of, words_of
from riverlog.cli.commands import COMMANDS, parser_of
from riverlog.cli.completion_scripts import SCRIPTS, Flag, Place
from riverlog.cli.refusals import WELL

DESCRIPTION = "Prints a script that lets a shell complete commands, flags and their values."
EXAMPLES = """\
Examples:
  eval "$(riverlog completion bash)"                                    in ~/.bashrc
  riverlog completion zsh > "${fpath[1]}/_riverlog"                     then start a new zsh
  riverlog completion fish > ~/.config/fish/completions/riverlog.fish"""

EXIT_CODES: Mapping[type[Exception], int] = {}

_FILE_NAMES = frozenset({"PATH", "DIR", "FILE"})


def describe(parser: Parser) -> None:
    """Adds which shell it is for."""
    parser.add_argument("shell", choices=sorted(SCRIPTS), help="which shell it is for")


def run(options: argparse.Namespace) -> int:
    """Prints the script."""
    print(SCRIPTS[options.shell](list(places(parser_of(*COMMANDS)))), end="")
    return WELL


def places(parser: argparse.ArgumentParser, path: str = "") -> Iterator[Place]:
    """Every place there is, the outermost first."""
    below = words_of(parser)
    words = {word: _first_line(summary) for word, (summary, _) in below.items()}
    flags = [_flag(name, action) for name, action in actions_by_flag(parser).items()]
    takes_file = False
    for action in positionals_of(parser):
        words |= dict.fromkeys(_values(action), "")
        takes_file = takes_file or action.metavar in _FILE_NAMES
    yield Place(path, words, tuple(flags), takes_file)
    for word, (_, next_) in below.items():
        yield from places(next_, f"{path}/{word}")


def _flag(name: str, action: argparse.Action) -> Flag:
    takes_value = action.nargs != 0
    takes_file = takes_value and action.metavar in _FILE_NAMES
    values = tuple(_values(action)) if takes_value else ()
    return Flag(name, _first_line(action.help), takes_value, takes_file, values)


def _values(action: argparse.Action) -> list[str]:
    """The words an argument may be, where they can be counted."""
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return metavar.split("|") if "|" in metavar else []


def _first_line(text: str | None) -> str:
    """Enough of a help text for a list."""
    line, _, _ = (text or "").replace("%%", "%").partition("\n")
    return line.split(". ")[0].split(" [")[0].rstrip(".")
