"""`riverlog produce`: lines, keys, JSON and files arrive as they were, and bad ones are named."""

import json
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

import riverlog
from riverlog.cli.record_lines import LineFormat
from riverlog.cli.refusals import Refused
from riverlog.client.received import ReceivedRecord
from tests.broker_process import BrokerProcess
from tests.cli.broker_commands import riverlog as run
from tests.cli.running import command


@pytest.fixture
def topic(shared_broker: BrokerProcess) -> str:
    name = f"t-{uuid4().hex}"
    with riverlog.connect(shared_broker.bootstrap) as client:
        client.topics.create(name, partitions=1)
    return name


def stored(broker: BrokerProcess, topic: str) -> list[ReceivedRecord]:
    with riverlog.connect(broker.bootstrap) as client:
        return list(client.subscribe(topic, start="earliest", until="end"))


def values(broker: BrokerProcess, topic: str) -> list[bytes | None]:
    return [record.value for record in stored(broker, topic)]


def test_every_line_is_a_record_whatever_its_bytes(
    shared_broker: BrokerProcess, topic: str
) -> None:
    said = run(shared_broker, "produce", topic, stdin=b"one\n\n\xff\x00\r\nlast")
    assert said == (0, b"", b"")
    assert values(shared_broker, topic) == [b"one", b"", b"\xff\x00\r", b"last"]


def test_keys_headers_and_nulls(shared_broker: BrokerProcess, topic: str) -> None:
    flags = ["-K", "\\t", "-H", "a=1", "-H", "b=x=y", "-Z", "-p", "0"]
    assert run(shared_broker, "produce", topic, *flags, stdin=b"k\tv\tw\n\t\n").code == 0
    first, second = stored(shared_broker, topic)
    assert (first.key, first.value, first.headers) == (b"k", b"v\tw", (("a", b"1"), ("b", b"x=y")))
    assert (second.key, second.value) == (None, None)


def test_json_lines_say_everything(shared_broker: BrokerProcess, topic: str) -> None:
    lines = [
        {"key": "k", "value": {"a": [1, "ü"]}, "headers": {"h": "v", "n": None}},
        {"value_base64": "/wA=", "timestamp_ms": 1_700_000_000_000, "partition": 0},
        {"key_base64": "", "value": None, "headers": [["h", "1"], ["h", "2"]]},
    ]
    text = "\n".join(map(json.dumps, lines)).encode() + b"\n\n"
    said = run(shared_broker, "produce", topic, "--json-lines", "--json", stdin=text)
    assert [json.loads(line)["offset"] for line in said.out.splitlines()] == [0, 1, 2]
    first, second, third = stored(shared_broker, topic)
    assert first.json() == {"a": [1, "ü"]}
    assert first.headers == (("h", b"v"), ("n", None))
    assert (second.value, second.timestamp_ms) == (b"\xff\x00", 1_700_000_000_000)
    assert (third.key, third.value, third.headers) == (b"", None, (("h", b"1"), ("h", b"2")))


def test_a_file_is_published_line_by_line_or_whole(
    shared_broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    lines = [b"%d" % number * 50 for number in range(5000)]
    file.write_bytes(b"\n".join(lines) + b"\n")
    said = run(shared_broker, "produce", topic, str(file), "--compression", "zstd")
    assert said.code == 0
    assert values(shared_broker, topic) == lines
    assert run(shared_broker, "produce", topic, str(file), "--whole", "-k", "all").code == 0
    assert stored(shared_broker, topic)[-1][4:6] == (b"all", file.read_bytes())


def test_each_line_typed_is_published_at_once(shared_broker: BrokerProcess, topic: str) -> None:
    words = command("produce", topic, "--verbose", "--bootstrap", shared_broker.bootstrap)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for offset in range(3):
            process.stdin.write(b"typed\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{topic}/0@{offset}\n".encode()
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_bad_line_is_named_and_those_before_it_are_kept(
    shared_broker: BrokerProcess, topic: str
) -> None:
    said = run(shared_broker, "produce", topic, "-K", ":", stdin=b"a:1\nb:2\nnone\nc:3\n")
    assert said == (2, b"", b"riverlog: line 3 has no ':'\n")
    assert values(shared_broker, topic) == [b"1", b"2"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"{", b"line 1 is no JSON"),
        (b"[1]", b"line 1 is no JSON object"),
        (b'{"vaule": 1}', b"unknown field 'vaule'"),
        (b'{"value": 1, "partition": "x"}', b"partition is a whole number"),
        (b'{"value": 1, "partition": 7}', b"has partitions 0 to 0, not 7"),
        (b'{"value_base64": "?"}', b"no base64"),
        (b'{"value": "\\ud800"}', b"no UTF-8"),
        (b'{"value": 1, "headers": [1]}', b"headers are"),
    ],
)
def test_json_that_is_no_record_is_one_line(
    shared_broker: BrokerProcess, topic: str, line: bytes, complaint: bytes
) -> None:
    said = run(shared_broker, "produce", topic, "--json-lines", stdin=line)
    assert said.code in (1, 2)
    assert complaint in said.err
    assert said.err.count(b"\n") == 1
    assert values(shared_broker, topic) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["t", "/no/such/file"],
        ["t", "/"],
        ["t", "-K", ""],
        ["t", "-K", "\\q"],
        ["t", "-H", "nothing"],
        ["t", "-p", "-1"],
        ["t", "--compression", "rar"],
        ["t", "--json-lines", "--whole"],
        [],
    ],
)
def test_what_is_asked_wrongly_is_one_line(
    shared_broker: BrokerProcess, arguments: list[str]
) -> None:
    said = run(shared_broker, "produce", *arguments)
    assert said.code == 2
    assert said.err.startswith(b"riverlog: ")
    assert said.err.count(b"\n") == 1


@given(st.lists(st.binary(max_size=8)), st.sampled_from([b"\n", b"\r\n", b"--"]), st.integers(1, 9))
def test_lines_are_the_same_however_they_are_cut(
    lines: list[bytes], delimiter: bytes, size: int
) -> None:
    text = delimiter.join(lines)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    batches = list(LineFormat(delimiter=delimiter).batches(pieces))
    expected = text.split(delimiter)
    if not expected[-1]:
        expected.pop()
    assert [record.value for records, _ in batches for record in records] == expected


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_json_line_is_a_record_or_refused(line: bytes) -> None:
    try:
        list(LineFormat(is_json=True).batches([line]))
    except Refused:
        return
