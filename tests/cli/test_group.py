"""`riverlog group`: lag, members, setting back and deleting, as people use it."""

import json
from collections.abc import Iterator
from uuid import uuid4

import pytest

import riverlog
from riverlog.client.sync_client import Client
from tests.broker_process import BrokerProcess
from tests.cli.broker_commands import Said
from tests.cli.broker_commands import riverlog as run


@pytest.fixture
def client(shared_broker: BrokerProcess) -> Iterator[Client]:
    with riverlog.connect(shared_broker.bootstrap, client_id="reader") as connected:
        yield connected


@pytest.fixture
def name(client: Client) -> str:
    """A topic with ten records in one partition, and a group of the same name that read four."""
    chosen = f"g-{uuid4().hex}"
    client.topics.create(chosen, partitions=1)
    client.publish_batch(chosen, [str(number) for number in range(10)]).results()
    assert len(list(client.subscribe(chosen, group=chosen, start="earliest", count=4))) == 4
    return chosen


def told(said: Said) -> str:
    assert (said.code, said.err) == (0, b""), said
    return said.out.decode()


def failed(said: Said, code: int = 1) -> str:
    assert (said.code, said.out) == (code, b""), said
    assert said.err.startswith(b"riverlog: ")
    assert said.err.count(b"\n") == 1
    return said.err.decode()


def test_a_group_is_listed_and_its_lag_told(shared_broker: BrokerProcess, name: str) -> None:
    listed = told(run(shared_broker, "group", "list"))
    assert [line.split() for line in listed.splitlines() if name in line] == [
        [name, "Empty", "consumer"]
    ]
    assert name in [
        each["name"] for each in json.loads(told(run(shared_broker, "group", "list", "--json")))
    ]
    described = told(run(shared_broker, "group", "describe", name)).splitlines()
    assert described[0] == f"{name}  (Empty, 0 members)"
    assert described[-1].split() == [name, "0", "4", "10", "6", "-", "-"]


def test_members_are_shown_and_guard_their_offsets(
    shared_broker: BrokerProcess, client: Client, name: str
) -> None:
    with client.subscribe(name, group=name) as reading:
        assert next(reading).text() == "4"
        facts = json.loads(told(run(shared_broker, "group", "describe", name, "--json")))
        assert facts["state"] == "Stable"
        (progress,) = facts["progress"]
        assert (progress["committed"], progress["end"], progress["lag"]) == (4, 10, 6)
        assert progress["member"]["client_id"] == "reader"
        back = ["reset-offsets", name, "--topic", name, "--to", "earliest"]
        assert "members" in failed(run(shared_broker, "group", *back))
        failed(run(shared_broker, "group", "delete", name))
    assert next(client.subscribe(name, group=name)).text() == "4"


def test_a_group_is_set_back_and_goes_on_from_there(
    shared_broker: BrokerProcess, client: Client, name: str
) -> None:
    back = ["group", "reset-offsets", name, "--topic", name]
    dry = told(run(shared_broker, *back, "--to", "-3", "--dry-run"))
    assert dry.splitlines()[0] == "would be set:"
    assert dry.splitlines()[-1].split() == [name, "0", "7"]
    assert client.groups.progress(name)[0].committed == 4
    assert json.loads(told(run(shared_broker, *back, "--to", "2", "--json"))) == {"0": 2}
    assert next(client.subscribe(name, group=name)).text() == "2"


def test_a_deleted_group_is_gone(shared_broker: BrokerProcess, name: str) -> None:
    assert told(run(shared_broker, "group", "delete", name)) == f"deleted {name}\n"
    assert name in failed(run(shared_broker, "group", "delete", name))
    assert name in failed(run(shared_broker, "group", "describe", name))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["paint", "g"],
        ["describe"],
        ["reset-offsets", "g"],
        ["reset-offsets", "g", "--topic", "t", "--to", "soon"],
        ["reset-offsets", "g", "--topic", "t", "--to", "1", "-p", "x"],
    ],
)
def test_what_is_asked_wrongly_is_one_line(
    shared_broker: BrokerProcess, arguments: list[str]
) -> None:
    failed(run(shared_broker, "group", *arguments), code=2)
