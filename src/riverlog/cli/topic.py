"""`riverlog topic`: create, list, describe, alter and delete topics."""

import argparse
from collections.abc import Callable, Mapping, Sequence

from riverlog.cli.arguments import Parser, Subcommands, whole_number
from riverlog.cli.connecting import EXIT_CODES, add_connection, connected
from riverlog.cli.refusals import WELL, Refused
from riverlog.cli.tables import Cell, print_json, print_table
from riverlog.client.errors import TopicExists, UnknownTopic, Unsupported
from riverlog.client.metadata import TopicView
from riverlog.client.sync_client import Client
from riverlog.client.topics import TopicConfig

__all__ = ["DESCRIPTION", "EXAMPLES", "EXIT_CODES", "describe", "run"]

DESCRIPTION = "Creates, lists, describes, changes and deletes topics."
EXAMPLES = """\
Examples:
  riverlog topic create orders --partitions 6 --set retention.ms=604800000
  riverlog topic list
  riverlog topic describe orders
  riverlog topic alter orders --partitions 12 --unset retention.ms
  riverlog topic delete orders"""

PARTITIONS_MAX = 100_000


def describe(parser: Parser) -> None:
    """Adds a word for each thing to do."""
    actions = Subcommands(parser, "action")
    create = actions.add("create", "make a topic", examples=_example("create orders -p 6"))
    create.add_argument("topics", nargs=1, metavar="TOPIC")
    _add_partitions(create, "how many partitions [the broker's num.partitions]")
    create.add_argument(
        "--replication-factor", type=whole_number(1, 32767), metavar="N", help="[the broker's]"
    )
    _add_set(create)
    create.add_argument("--if-not-exists", action="store_true", help="be content if it exists")
    listing = actions.add("list", "show all topics", examples=_example("list --json"))
    listing.add_argument("--internal", action="store_true", help="the brokers' own topics too")
    listing.add_argument("--json", action="store_true", help="as JSON")
    show = actions.add("describe", "show topics closely", examples=_example("describe orders"))
    show.add_argument("topics", nargs="+", metavar="TOPIC")
    show.add_argument("--configs", action="store_true", help="all configs, defaults included")
    show.add_argument("--json", action="store_true", help="as JSON")
    alter = actions.add(
        "alter", "change a topic", examples=_example("alter orders --set retention.ms=86400000")
    )
    alter.add_argument("topics", nargs=1, metavar="TOPIC")
    _add_partitions(alter, "how many partitions it shall have; only more than before")
    _add_set(alter)
    alter.add_argument(
        "--unset", action="append", default=[], metavar="NAME", help="put back to the default"
    )
    delete = actions.add("delete", "delete topics for good", examples=_example("delete orders"))
    delete.add_argument("topics", nargs="+", metavar="TOPIC")
    delete.add_argument("--if-exists", action="store_true", help="be content if it is gone")
    for each in (create, listing, show, alter, delete):
        add_connection(each)


def run(options: argparse.Namespace) -> int:
    """Does what the action says."""
    with connected(options) as client:
        _ACTIONS[options.action](client, options)
    return WELL


def _create(client: Client, options: argparse.Namespace) -> None:
    name = options.topics[0]
    try:
        client.topics.create(
            name,
            partitions=options.partitions,
            replication_factor=options.replication_factor,
            configs=_pairs(options.set),
        )
    except TopicExists:
        if not options.if_not_exists:
            raise
        print(f"{name} exists already")
    else:
        print(f"created {name}")


def _list(client: Client, options: argparse.Namespace) -> None:
    topics = [topic for topic in client.topics.list() if options.internal or not topic.is_internal]
    if options.json:
        print_json([_facts(topic) for topic in topics])
        return
    rows: list[list[Cell]] = [
        [topic.name, len(topic.partitions), _replicas(topic), str(topic.topic_id)]
        for topic in topics
    ]
    print_table(["topic", "partitions", "replicas", "id"], rows)


def _describe(client: Client, options: argparse.Namespace) -> None:
    told = []
    for number, name in enumerate(options.topics):
        topic = client.topics.describe(name)
        starts = client.topics.offsets(name, "earliest")
        ends = client.topics.offsets(name, "latest")
        configs = _configs(client, name, are_all=options.configs)
        if options.json:
            offsets = {
                str(partition): {"earliest": starts[partition], "latest": ends[partition]}
                for partition in sorted(ends)
            }
            told.append({**_facts(topic), "offsets": offsets, "configs": dict(configs)})
            continue
        if number:
            print()
        count = len(topic.partitions)
        print(f"{topic.name}  ({count} partition{'s' * (count != 1)}, id {topic.topic_id})\n")
        print_table(
            ["partition", "leader", "replicas", "in sync", "earliest", "latest", "records"],
            [
                [
                    each.partition,
                    each.leader,
                    ",".join(map(str, each.replicas)),
                    ",".join(map(str, each.in_sync)),
                    starts[each.partition],
                    ends[each.partition],
                    ends[each.partition] - starts[each.partition],
                ]
                for each in topic.partitions
            ],
        )
        if configs:
            print()
            print_table(["config", "value"], configs)
    if options.json:
        print_json(told)


def _alter(client: Client, options: argparse.Namespace) -> None:
    name = options.topics[0]
    changes: dict[str, str | None] = {**_pairs(options.set), **dict.fromkeys(options.unset)}
    if not changes and options.partitions is None:
        raise Refused("nothing to change: say --partitions, --set or --unset")
    if changes:
        client.topics.set_configs(name, changes)
    if options.partitions is not None:
        client.topics.add_partitions(name, options.partitions)
    print(f"altered {name}")


def _delete(client: Client, options: argparse.Namespace) -> None:
    for name in options.topics:
        try:
            client.topics.delete(name)
        except UnknownTopic:
            if not options.if_exists:
                raise
            print(f"{name} is not there")
        else:
            print(f"deleted {name}")


_ACTIONS: Mapping[str, Callable[[Client, argparse.Namespace], None]] = {
    "create": _create,
    "list": _list,
    "describe": _describe,
    "alter": _alter,
    "delete": _delete,
}


def _add_partitions(parser: Parser, told: str) -> None:
    parser.add_argument(
        "--partitions", "-p", type=whole_number(1, PARTITIONS_MAX), metavar="N", help=told
    )


def _add_set(parser: Parser) -> None:
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a config of the topic"
    )


def _example(words: str) -> str:
    return f"Example: riverlog topic {words}"


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Refused(f"'{text}' is no NAME=VALUE, like retention.ms=86400000")
        pairs[name] = value
    return pairs


def _configs(client: Client, name: str, *, are_all: bool) -> list[tuple[str, str | None]]:
    try:
        configs: Sequence[TopicConfig] = client.topics.configs(name)
    except Unsupported:
        return []
    return [(each.name, each.value) for each in configs if are_all or not each.is_default]


def _replicas(topic: TopicView) -> int:
    return max((len(partition.replicas) for partition in topic.partitions), default=0)


def _facts(topic: TopicView) -> dict[str, object]:
    return {
        "name": topic.name,
        "id": str(topic.topic_id),
        "internal": topic.is_internal,
        "partitions": list(topic.partitions),
    }
