"""`riverlog topic` as people use it."""

import json
import socket
from uuid import uuid4

import pytest

from tests.broker_process import BrokerProcess
from tests.cli.running import Ended, run_here


@pytest.fixture
def name() -> str:
    return f"t-{uuid4().hex}"


def topic(broker: BrokerProcess, *arguments: str) -> Ended:
    return run_here("topic", *arguments, variables={"RIVERLOG_BOOTSTRAP": broker.bootstrap})


def told(ended: Ended) -> str:
    assert ended.code == 0, ended
    return ended.out


def failed(ended: Ended, code: int = 1) -> str:
    assert (ended.code, ended.out) == (code, ""), ended
    assert ended.err.startswith("riverlog: ")
    assert ended.err.count("\n") == 1
    return ended.err


def test_a_topic_from_beginning_to_end(shared_broker: BrokerProcess, name: str) -> None:
    made = topic(shared_broker, "create", name, "-p", "2", "--set", "retention.ms=1000")
    assert told(made) == f"created {name}\n"
    listed = told(topic(shared_broker, "list")).splitlines()
    assert listed[0].split() == ["topic", "partitions", "replicas", "id"]
    assert [line.split()[:3] for line in listed if name in line] == [[name, "2", "1"]]

    described = told(topic(shared_broker, "describe", name)).splitlines()
    assert described[0].startswith(f"{name}  (2 partitions, id ")
    assert described[2].split()[-3:] == ["earliest", "latest", "records"]
    assert described[3].split() == ["0", "1", "1", "1", "0", "0", "0"]
    assert described[-1].split() == ["retention.ms", "1000"]

    altered = topic(shared_broker, "alter", name, "--partitions", "3", "--unset", "retention.ms")
    assert told(altered) == f"altered {name}\n"
    (facts,) = json.loads(told(topic(shared_broker, "describe", name, "--json")))
    assert [each["partition"] for each in facts["partitions"]] == [0, 1, 2]
    assert facts["offsets"]["2"] == {"earliest": 0, "latest": 0}
    assert facts["configs"] == {}

    assert told(topic(shared_broker, "delete", name)) == f"deleted {name}\n"
    names = [each["name"] for each in json.loads(told(topic(shared_broker, "list", "--json")))]
    assert name not in names


def test_all_configs_are_shown_when_asked_for(shared_broker: BrokerProcess, name: str) -> None:
    told(topic(shared_broker, "create", name))
    assert "cleanup.policy" in told(topic(shared_broker, "describe", name, "--configs"))


def test_what_exists_or_is_gone_may_be_content_enough(
    shared_broker: BrokerProcess, name: str
) -> None:
    told(topic(shared_broker, "create", name))
    assert "exists" in failed(topic(shared_broker, "create", name))
    assert "exists" in told(topic(shared_broker, "create", name, "--if-not-exists"))
    told(topic(shared_broker, "delete", name))
    assert name in failed(topic(shared_broker, "delete", name))
    told(topic(shared_broker, "delete", name, "--if-exists"))
    assert name in failed(topic(shared_broker, "describe", name))


@pytest.mark.parametrize(
    "arguments",
    [
        ["create", "bad/name"],
        ["create", "fine", "--partitions", "0"],
        ["create", "fine", "--partitions", "many"],
        ["create", "fine", "--set", "retention.ms"],
        ["create", "fine", "--set", "=1"],
        ["create", "fine", "--set", "retention.ms=soon"],
        ["alter", "fine"],
        ["create"],
        ["paint", "fine"],
        ["list", "--bootstrap", "nowhere"],
    ],
)
def test_what_is_asked_wrongly_is_one_line(
    shared_broker: BrokerProcess, arguments: list[str]
) -> None:
    failed(topic(shared_broker, *arguments), code=2)


def test_no_broker_is_one_line() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        ended = run_here("topic", "list", "--bootstrap", address, "--timeout", "1")
    assert f"{address}: connection refused" in failed(ended)
