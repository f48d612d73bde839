"""`riverlog consume`: what is printed, from where, until when, and through pipes."""

import base64
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

import riverlog
from riverlog import NewRecord
from riverlog.cli.record_formats import format_of
from riverlog.cli.record_lines import LineFormat
from riverlog.cli.refusals import Refused
from riverlog.client.outgoing import as_headers
from riverlog.client.received import ReceivedRecord
from tests.broker_process import BrokerProcess
from tests.cli.broker_commands import riverlog as run
from tests.cli.running import command

NOON_MS = int(datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp() * 1000)
MINUTE_MS = 60_000


@pytest.fixture
def topic(shared_broker: BrokerProcess) -> str:
    """0 to 9 in one partition, one for each minute after noon."""
    name = f"t-{uuid4().hex}"
    with riverlog.connect(shared_broker.bootstrap) as client:
        client.topics.create(name, partitions=1)
        client.publish_batch(
            name,
            [NewRecord(str(n), f"k{n}", {"h": "x"}, NOON_MS + n * MINUTE_MS) for n in range(10)],
        ).results()
    return name


def lines(broker: BrokerProcess, *arguments: str) -> list[bytes]:
    said = run(broker, "consume", *arguments)
    assert (said.code, said.err) == (0, b""), said
    return said.out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], b"0123456789"),
        (["--from", "7"], b"789"),
        (["--from=-2"], b"89"),
        (["--count", "3"], b"012"),
        (["--from", "2026-01-31T12:03:00", "--until", "2026-01-31T12:06:00+00:00"], b"345"),
        (["--from", "2026-01-31T13:08:00+01:00"], b"89"),
        (["--from", f"@{NOON_MS + 8 * MINUTE_MS}"], b"89"),
        (["--from", "latest", "--idle", "1"], b""),
        (["--partition", "0", "--until", "end", "--from", "9"], b"9"),
    ],
)
def test_from_and_until(
    shared_broker: BrokerProcess, topic: str, arguments: list[str], expected: bytes
) -> None:
    assert b"".join(lines(shared_broker, topic, *arguments)) == expected


def test_formats(shared_broker: BrokerProcess, topic: str) -> None:
    def one(form: str) -> bytes:
        (line,) = lines(shared_broker, topic, "--count", "1", "--format", form)
        return line

    assert one("value") == b"0"
    assert one("key-value") == b"k0\t0"
    assert one("hex") == b"0\t0\t6b30\t30"
    assert json.loads(one("json")) == {
        "topic": topic,
        "partition": 0,
        "offset": 0,
        "timestamp_ms": NOON_MS,
        "key": "k0",
        "value": "0",
        "headers": [["h", "x"]],
    }
    template = "%t/%p@%o %k=%s %K %S %T %h 100%%\\n"
    assert one(template) == f"{topic}/0@0 k0=0 2 1 {NOON_MS} h=x 100%".encode()


def test_what_is_consumed_as_json_can_be_produced_again(
    shared_broker: BrokerProcess, topic: str
) -> None:
    said = run(shared_broker, "consume", topic, "--json")
    copy = f"{topic}-copy"
    assert run(shared_broker, "produce", copy, "--json-lines", stdin=said.out).code == 0
    again = run(shared_broker, "consume", copy, "--json")
    assert again.out.replace(copy.encode(), topic.encode()) == said.out


@contextmanager
def following(broker: BrokerProcess, topic: str) -> Iterator[subprocess.Popen[bytes]]:
    words = command("consume", topic, "--follow", "--from", "9", "--bootstrap", broker.bootstrap)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], 20)
    assert ready, "nothing was flushed"
    return os.read(process.stdout.fileno(), 1000)


def test_follow_goes_on_flushes_and_ends_cleanly_on_ctrl_c(
    shared_broker: BrokerProcess, topic: str
) -> None:
    with following(shared_broker, topic) as process:
        assert next_line(process) == b"9\n"
        run(shared_broker, "produce", topic, stdin=b"new\n")
        assert next_line(process) == b"new\n"
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20)
    assert (process.returncode, complaint) == (130, b"")


def test_follow_outlives_its_broker(broker: BrokerProcess) -> None:
    run(broker, "topic", "create", "t", "-p", "1")
    run(broker, "produce", "t", stdin=b"x\n" * 9 + b"last\n")
    with following(broker, "t") as process:
        assert next_line(process) == b"last\n"
        broker.kill()
        broker.start()
        run(broker, "produce", "t", stdin=b"after\n")
        assert next_line(process) == b"after\n"


def test_a_reader_that_goes_away_is_no_error(shared_broker: BrokerProcess) -> None:
    name = f"t-{uuid4().hex}"
    run(shared_broker, "produce", name, stdin=b"0123456789\n" * 20_000)
    words = command("consume", name, "--bootstrap", shared_broker.bootstrap)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"0123456789\n"
        process.stdout.close()
        assert process.wait(20) == 141
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--from", "yesterday"], 2),
        (["--from", "@x"], 2),
        (["--from", "2026-13-01"], 2),
        (["--until", "7"], 2),
        (["--until", "2026-01-31", "--follow"], 2),
        (["--count", "-1"], 2),
        (["--format", "xml"], 2),
        (["--format", "%x"], 2),
        (["--format", "%s\\q"], 2),
        (["--format", "%"], 2),
        (["--partition", "9"], 1),
        (["--from", "99", "--follow"], 1),
    ],
)
def test_what_cannot_be_is_one_line(
    shared_broker: BrokerProcess, topic: str, arguments: list[str], code: int
) -> None:
    said = run(shared_broker, "consume", topic, *arguments)
    assert (said.code, said.out) == (code, b"")
    assert said.err.startswith(b"riverlog: ")
    assert said.err.count(b"\n") == 1


def test_a_topic_that_is_not_there_is_named(shared_broker: BrokerProcess) -> None:
    said = run(shared_broker, "consume", "no-such-topic")
    assert (said.code, said.out) == (1, b"")
    assert b"no-such-topic" in said.err


datas = st.none() | st.binary(max_size=30)
received = st.builds(
    ReceivedRecord,
    st.just("t"),
    st.integers(0, 9),
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**62),
    datas,
    datas,
    st.lists(st.tuples(st.text(max_size=5), st.none() | st.text(max_size=5).map(str.encode)))
    .map(tuple),
)  # fmt: skip


@given(received)
def test_any_record_written_as_json_is_read_back(record: ReceivedRecord) -> None:
    line = format_of("json")(record)
    ((read,), _) = next(LineFormat(is_json=True).batches([line]))
    assert (read.key, read.value) == (record.key, record.value)
    assert (read.partition, read.timestamp_ms) == (record.partition, record.timestamp_ms)
    assert as_headers(read.headers) == record.headers
    assert line.count(b"\n") == 1


@given(received, st.text(max_size=12))
def test_any_format_writes_or_is_refused(record: ReceivedRecord, text: str) -> None:
    try:
        write = format_of(text)
    except Refused:
        return
    assert isinstance(write(record), bytes)


def test_binary_values_are_base64_in_json() -> None:
    line = format_of("json")(ReceivedRecord("t", 0, 0, 0, None, b"\xff"))
    assert json.loads(line)["value_base64"] == base64.b64encode(b"\xff").decode()
