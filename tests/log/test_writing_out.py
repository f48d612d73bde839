"""A file about to be synced, and alone, is begun to be written out right after the write."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from riverlog.log.commit import GroupCommit
from riverlog.stores.syncer import InlineSyncer
from riverlog.testing.simulated_disk import SimulatedDisk, SimulatedFile
from tests.log.held_syncer import HeldSyncer
from tests.log.logs import append, batch_of, open_log, write
from tests.log.test_commit import Counted


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done to files, in order."""
    noted: list[str] = []

    def noting(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted_call(*arguments: Any) -> Any:
            noted.append(name)
            return call(*arguments)

        return noted_call

    for name in ("write_out", "sync"):
        monkeypatch.setattr(SimulatedFile, name, noting(name, getattr(SimulatedFile, name)))
    return noted


async def test_one_that_was_alone_in_the_last_round_is_written_out_early(calls: list[str]) -> None:
    log = open_log(SimulatedDisk(Random(0)))
    await append(log, b"first")
    assert "write_out" not in calls
    calls.clear()
    await append(log, b"second")
    await append(log, b"third")
    assert calls == ["write_out", "sync"] * 2


async def test_it_is_written_out_once_a_round_and_never_during_one(calls: list[str]) -> None:
    syncer = HeldSyncer()
    log = open_log(SimulatedDisk(Random(0)), syncer=syncer)
    write(log, batch_of(b"first"))
    await syncer.release()
    calls.clear()
    write(log, batch_of(b"second"))
    write(log, batch_of(b"third"))
    assert await syncer.begun()
    write(log, batch_of(b"fourth"))
    assert calls == ["write_out"]
    await syncer.release()
    await syncer.release()


async def test_of_several_in_a_round_none_is_likely_to_be_alone_in_the_next() -> None:
    commit = GroupCommit(InlineSyncer())
    one, other = Counted(), Counted()
    for _ in range(2):
        assert not commit.request(one)
        assert not commit.request(other)
        await commit.idle()
    assert not commit.request(one)
    await commit.idle()
    assert commit.request(one)
    assert not commit.request(one)
    await commit.idle()
    commit.forget(one)
    assert not commit.request(one)
    await commit.idle()
