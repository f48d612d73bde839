"""What the door says of clients: enough to see what happens, and never a flood."""

import asyncio

import pytest

from riverlog.kafka.door_log import LINES_MAX, WINDOW_S, DoorLog
from riverlog.runtime import logs
from riverlog.testing.virtual_loop import run


def test_a_flood_is_told_in_a_few_lines_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    log = DoorLog(logs.get("riverlog.door"))

    async def flood() -> None:
        for _ in range(1_000):
            log.info("connection cut off", "10.0.0.1", "a frame of 0 bytes")
        log.warning("connection refused", "10.0.0.1")
        await asyncio.sleep(WINDOW_S)
        log.info("connection cut off", "10.0.0.1", "a frame of 0 bytes")

    with caplog.at_level("INFO", "riverlog.door"):
        run(flood())
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == LINES_MAX + 2
    assert lines[LINES_MAX] == "connection refused client=10.0.0.1"
    assert lines[-1].endswith(f"left_out_before={1_000 - LINES_MAX}")
