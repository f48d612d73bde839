"""Which commands there are. Each is a module of its own, and only the one asked for is loaded."""

from argparse import Namespace
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from riverlog import __version__
from riverlog.cli.arguments import Parser, Subcommands, new_parser

DESCRIPTION = "An event log that speaks the Kafka protocol."
EXAMPLES = """\
First steps:
  riverlog serve --data ./data      a broker on 127.0.0.1:9092; point any Kafka client at it
  riverlog COMMAND --help           what a command does, with examples
"""


class Command(Protocol):
    """What the module of a command holds."""

    DESCRIPTION: str
    EXAMPLES: str

    EXIT_CODES: Mapping[type[Exception], int]
    """Errors whose message is the one line people are shown, and the exit code that goes along.

    `Refused` and `Failed` are known to all commands and need not be here, nor `OSError`, which
    is 2 if it names a file and 1 if not.
    """

    def describe(self, parser: Parser) -> None:
        """Adds what may follow the command's name."""

    def run(self, options: Namespace) -> int:
        """Does it, and gives the exit code."""


class Listed(NamedTuple):
    """Where a command is, and what the list of commands says of it."""

    module: str
    summary: str


# In the order people meet them.
COMMANDS = {
    "serve": Listed("riverlog.cli.serve", "run a broker until it is told to stop"),
    "topic": Listed("riverlog.cli.topic", "create, list, describe, alter and delete topics"),
    "produce": Listed("riverlog.cli.produce", "publish lines, JSON or files to a topic"),
    "consume": Listed("riverlog.cli.consume", "print the records of a topic"),
    "group": Listed("riverlog.cli.group", "list, describe, reset and delete consumer groups"),
    "job": Listed("riverlog.cli.job", "import, export and audit whole topics"),
    "pipeline": Listed("riverlog.cli.pipeline", "make, check, run and show pipelines on Spark"),
    "config": Listed("riverlog.cli.config", "show every setting, and where its value comes from"),
    "inspect": Listed("riverlog.cli.inspect", "look at the files of a broker, and verify them"),
    "doctor": Listed("riverlog.cli.doctor", "say what this disk and machine can do"),
    "completion": Listed("riverlog.cli.completion", "let your shell complete commands and flags"),
}


def load(name: str) -> Command:
    """The module of a command."""
    # A module is one by its names, which type checkers cannot see through an import by name.
    return cast(Command, import_module(COMMANDS[name].module))


def parser_of(*names: str) -> Parser:
    """The parser of the command line, in which only these commands have their arguments."""
    parser = new_parser("riverlog", DESCRIPTION, EXAMPLES)
    parser.add_argument("--version", action="version", version=f"riverlog {__version__}")
    commands = Subcommands(parser, "command", is_required=False)
    for name, (_, summary) in COMMANDS.items():
        if name in names:
            command = load(name)
            command.describe(commands.add(name, summary, command.DESCRIPTION, command.EXAMPLES))
        else:
            commands.add(name, summary)
    return parser
