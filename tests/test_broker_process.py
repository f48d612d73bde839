"""The broker that tests are given: it starts, stops and dies as asked, and hides nothing."""

import os
from pathlib import Path

import pytest

from tests.broker_process import BrokerProcess


def test_a_restarted_broker_is_another_process_at_the_same_address(broker: BrokerProcess) -> None:
    bootstrap, pid = broker.bootstrap, broker.pid

    broker.restart()

    assert (broker.bootstrap, broker.pid != pid) == (bootstrap, True)
    assert broker.stderr.count(f"listening address={bootstrap}") == 2


def test_a_killed_broker_is_gone_and_can_be_started_again(broker: BrokerProcess) -> None:
    bootstrap, pid = broker.bootstrap, broker.pid

    broker.kill()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    broker.start()
    assert broker.bootstrap == bootstrap


def test_a_broker_that_does_not_start_says_why(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path, "--advertise", "nowhere")

    with pytest.raises(AssertionError, match="'nowhere' is no HOST:PORT"):
        broker.start()


def test_a_broker_of_a_test_has_no_settings_of_those_who_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIVERLOG_LOG_LEVEL", "error")
    monkeypatch.setenv("RIVERLOG_SEED", "no setting at all")
    broker = BrokerProcess(tmp_path)

    broker.start()
    broker.end()


@pytest.mark.parametrize(
    "line",
    [
        "2026-01-01T00:00:00.000Z ERROR riverlog.log: sync failed file=7",
        "Traceback (most recent call last):",
    ],
)
def test_an_error_in_the_log_fails_the_test_in_the_end(tmp_path: Path, line: str) -> None:
    broker = BrokerProcess(tmp_path)
    broker.start()
    with broker.log.open("a") as log:
        log.write(f"{line}\n")

    with pytest.raises(AssertionError, match="the broker logged an error"):
        broker.end()


def test_a_broker_that_ends_by_itself_fails_the_test(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path)
    broker.start()
    os.kill(broker.pid, 9)

    with pytest.raises(AssertionError, match="the broker ended with -9"):
        broker.end()
