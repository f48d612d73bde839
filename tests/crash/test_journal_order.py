"""A frame is written only when the one before it is durable: what tells a torn one from damage."""

from itertools import pairwise

import pytest

from riverlog.broker import broker
from riverlog.testing.simulated_disk import Op
from tests.crash.schedule import Saga
from tests.crash.story import SMALL_JOURNAL
from tests.crash.test_log_crashes import lean_on_the_journal

LIVES = 12


def test_no_frame_is_written_before_the_last_one_is_durable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broker, "JOURNAL_LIMITS", SMALL_JOURNAL)
    lean_on_the_journal(monkeypatch)
    assert watch_frames() > 50


def watch_frames() -> int:
    """Looks at all calls of a few lives that nothing disturbs; gives how many frames they wrote."""
    frames = 0
    for number in range(LIVES):
        saga = Saga.begin(f"order {number}")
        saga.live()
        calls: dict[str, list[Op]] = {}
        for op, path in saga.disk.trace:
            if path.endswith(".journal") and op in (Op.WRITE, Op.SYNC):
                calls.setdefault(path, []).append(op)
        for path, ops in calls.items():
            assert (Op.WRITE, Op.WRITE) not in pairwise(ops), path
            frames += ops.count(Op.WRITE) - 1
    return frames
