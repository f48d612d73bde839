"""`riverlog serve` as people meet it: one line for what they can mend, and a clean end."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.broker_process import BrokerProcess


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "riverlog", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def complaint(ended: subprocess.CompletedProcess[str]) -> str:
    """The one line a refusal consists of, besides what the log says."""
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    lines = [line for line in ended.stderr.splitlines() if line.startswith("riverlog: ")]
    assert len(lines) == 1
    return lines[0]


def test_a_second_broker_on_the_same_directory_is_refused_and_harms_nothing(
    broker: BrokerProcess,
) -> None:
    said = complaint(serve("serve", "--data", str(broker.data), "--listen", "127.0.0.1:0"))
    assert str(broker.data) in said
    assert "in use" in said
    broker.terminate()
    broker.start()


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    said = complaint(serve("serve", "--data", str(tmp_path), "--listen", "127.0.0.1:0"))
    assert "choose another directory" in said
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_data_of_a_newer_format_are_left_alone(broker: BrokerProcess) -> None:
    broker.terminate()
    from riverlog.stores.disk import OsDisk
    from riverlog.stores.small_file import write_small_file

    write_small_file(OsDisk(), f"{broker.data}/format.json", b'{"format": 2}')
    said = complaint(serve("serve", "--data", str(broker.data), "--listen", "127.0.0.1:0"))
    assert "newer Riverlog" in said
    write_small_file(OsDisk(), f"{broker.data}/format.json", b'{"format": 1}')
    broker.start()


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        said = complaint(serve("serve", "--data", str(tmp_path / "data"), "--listen", address))
    assert address in said


@pytest.mark.parametrize("address", ["nowhere", "host:", "host:65536", ":x", "::1:9092", "a:-1"])
def test_an_address_that_is_none_is_explained(tmp_path: Path, address: str) -> None:
    said = complaint(serve("serve", "--data", str(tmp_path / "data"), "--listen", address))
    assert address in said
    assert not (tmp_path / "data").exists()


def test_a_data_directory_that_is_a_file_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    assert str(path) in complaint(serve("serve", "--data", str(path), "--listen", "127.0.0.1:0"))


def test_help_teaches_with_an_example() -> None:
    told = serve("serve", "--help")
    assert told.returncode == 0
    assert "riverlog serve --data ./data" in told.stdout


def test_no_command_shows_what_there_is() -> None:
    told = serve()
    assert told.returncode == 0
    assert "serve" in told.stdout


def test_settings_come_from_a_file_and_flags_come_before_it(tmp_path: Path) -> None:
    path = tmp_path / "riverlog.toml"
    path.write_text(
        'num.partitions = 3\nriverlog.log.level = "debug"\nriverlog.listen = "[::1]:1"\n'
    )
    broker = BrokerProcess(tmp_path, "--config", str(path), "--num-partitions", "2")
    broker.start()
    try:
        admin = pytest.importorskip("confluent_kafka.admin")
        topics = admin.AdminClient({"bootstrap.servers": broker.bootstrap})
        made = topics.create_topics([admin.NewTopic("colours", -1)])
        made["colours"].result(20)
        assert len(topics.list_topics("colours", 20).topics["colours"].partitions) == 2
    finally:
        broker.kill()


def test_without_a_place_for_data_it_is_asked_for() -> None:
    assert "--data DIR" in complaint(serve("serve"))
