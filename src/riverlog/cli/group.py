"""`riverlog group`: consumer groups, their members, their lag, and setting them back."""

import argparse
from collections.abc import Callable, Mapping

from riverlog.cli.arguments import Parser, Subcommands
from riverlog.cli.connecting import EXIT_CODES, add_connection, connected
from riverlog.cli.places import add_partitions, place_of
from riverlog.cli.refusals import WELL
from riverlog.cli.tables import Cell, print_json, print_table
from riverlog.client.sync_client import Client

__all__ = ["DESCRIPTION", "EXAMPLES", "EXIT_CODES", "describe", "run"]

DESCRIPTION = "Lists, describes, resets and deletes consumer groups."
EXAMPLES = """\
Examples:
  riverlog group list
  riverlog group describe billing                     members, offsets and lag
  riverlog group reset-offsets billing --topic orders --to earliest --dry-run
  riverlog group reset-offsets billing --topic orders --to 2026-01-31T12:00:00
  riverlog group delete billing"""


def describe(parser: Parser) -> None:
    """Adds a word for each thing to do."""
    actions = Subcommands(parser, "action")
    listing = actions.add("list", "show all groups", examples=_example("list --json"))
    listing.add_argument("--json", action="store_true", help="as JSON")
    show = actions.add(
        "describe", "show members, offsets and lag", examples=_example("describe billing")
    )
    show.add_argument("group", metavar="GROUP")
    show.add_argument("--json", action="store_true", help="as JSON")
    reset = actions.add(
        "reset-offsets",
        "let a group without members go on from another place",
        examples=_example("reset-offsets billing --topic orders --to -100"),
    )
    reset.add_argument("group", metavar="GROUP")
    reset.add_argument("--topic", required=True, metavar="TOPIC")
    reset.add_argument(
        "--to",
        required=True,
        metavar="PLACE",
        help="earliest, latest, an offset, -N for the last N, or a time",
    )
    add_partitions(reset)
    reset.add_argument("--dry-run", action="store_true", help="only say what would be set")
    reset.add_argument("--json", action="store_true", help="as JSON")
    delete = actions.add("delete", "forget groups", examples=_example("delete billing"))
    delete.add_argument("groups", nargs="+", metavar="GROUP")
    for each in (listing, show, reset, delete):
        add_connection(each)


def run(options: argparse.Namespace) -> int:
    """Does what the action says."""
    with connected(options) as client:
        _ACTIONS[options.action](client, options)
    return WELL


def _list(client: Client, options: argparse.Namespace) -> None:
    groups = client.groups.list()
    if options.json:
        print_json(list(groups))
    else:
        print_table(
            ["group", "state", "type"],
            [[group.name, group.state or None, group.protocol_type or None] for group in groups],
        )


def _describe(client: Client, options: argparse.Namespace) -> None:
    group = client.groups.describe(options.group)
    progress = client.groups.progress(options.group)
    if options.json:
        print_json({**group._asdict(), "progress": list(progress)})
        return
    count = len(group.members)
    print(f"{group.name}  ({group.state}, {count} member{'s' * (count != 1)})\n")
    rows: list[list[Cell]] = [
        [
            each.topic,
            each.partition,
            each.committed,
            each.end,
            each.lag,
            None if each.member is None else each.member.client_id,
            None if each.member is None else each.member.host,
        ]
        for each in progress
    ]
    print_table(["topic", "partition", "committed", "end", "lag", "client", "host"], rows)


def _reset(client: Client, options: argparse.Namespace) -> None:
    offsets = client.groups.reset(
        options.group,
        options.topic,
        place_of(options.to, "--to"),
        partitions=options.partition,
        is_dry_run=options.dry_run,
    )
    if options.json:
        print_json({str(partition): offset for partition, offset in sorted(offsets.items())})
        return
    print("would be set:" if options.dry_run else "set:")
    rows: list[list[Cell]] = [
        [options.topic, partition, offset] for partition, offset in sorted(offsets.items())
    ]
    print_table(["topic", "partition", "offset"], rows)


def _delete(client: Client, options: argparse.Namespace) -> None:
    for name in options.groups:
        client.groups.delete(name)
        print(f"deleted {name}")


_ACTIONS: Mapping[str, Callable[[Client, argparse.Namespace], None]] = {
    "list": _list,
    "describe": _describe,
    "reset-offsets": _reset,
    "delete": _delete,
}


def _example(words: str) -> str:
    return f"Example: riverlog group {words}"
