"""A broker under a hundred thousand changed frames lives, answers, and keeps its promises."""

import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker_process import BrokerProcess
from tests.fuzz import altered_broker, failures
from tests.fuzz.columns import built_with_sanitizers, sanitized_environment
from tests.fuzz.memory_limit import memory_limited
from tests.fuzz.sentinel import Sentinel
from tests.fuzz.siege import SETTINGS, Siege, audit, guilty, holding
from tests.fuzz.sizes import FRAMES, FRAMES_PER_S_MIN, TIMEOUT_S, fresh_seed, say
from tests.fuzz.tcp_fuzzer import SILENT_S_MAX
from tests.tools import require

MEMORY_BYTES_MAX = 512 << 20
# Computed without a word to others; by the clock it may take long where much else is done.
BUSY_S_MAX = 1
WARM_UP_FRAMES = 300
GUILTY_MAX = 20
# A fuzzer that needs more than this to find a planted bug would not find a real one.
FOUND_WITHIN = 5_000
MEMORY_FOUND_WITHIN = 1_000
SANITIZED_FRAMES = 700
SUSPECTS_MAX = 500


@pytest.fixture
def besieged(tmp_path: Path) -> Iterator[BrokerProcess]:
    process = BrokerProcess(tmp_path, *SETTINGS)
    process.start()
    yield process
    process.kill()


@pytest.mark.timeout(max(TIMEOUT_S, FRAMES // FRAMES_PER_S_MIN))
def test_a_broker_under_changed_frames_lives_and_keeps_its_promises(
    besieged: BrokerProcess, tmp_path: Path
) -> None:
    topic = f"sentinel-{secrets.token_hex(8)}"
    sentinel = Sentinel(besieged, topic)
    siege = Siege(besieged, fresh_seed(), frozenset({topic}))
    with memory_limited(besieged.pid, MEMORY_BYTES_MAX) as means, sentinel:
        siege.attack(WARM_UP_FRAMES)
        assert siege.failure is None, _told(siege.failure, tmp_path)
        siege.clear(everything=True)
        before = siege.settled(holding(besieged.pid))

        siege.attack(FRAMES)

        assert siege.failure is None, _told(siege.failure, tmp_path)
        siege.clear(everything=True)
        after = siege.settled(before)
    say(f"{means}: {before}, {after}")
    say(f"{siege.frame_count} frames; silent for {siege.silent_s_max:.2f} s at most")
    say(f"and busy for {siege.busy_s_max:.2f} s of it")
    assert siege.frame_count >= FRAMES
    assert after.excess(before) == []
    assert siege.busy_s_max < BUSY_S_MAX
    assert siege.silent_s_max < SILENT_S_MAX
    assert sentinel.written_count > 0
    assert sentinel.complaints() == []
    besieged.terminate()
    audit(besieged.data)
    besieged.start()
    assert sentinel.complaints() == []
    besieged.terminate()


def test_what_broke_a_broker_once_breaks_it_no_more(besieged: BrokerProcess) -> None:
    frames = [
        frame for failure in failures.kept() if failure.target == "tcp" for frame in failure.inputs
    ]

    assert guilty(besieged, frames) == []
    besieged.terminate()


def test_the_fuzzer_finds_an_error_that_nobody_declared(besieged: BrokerProcess) -> None:
    besieged.kill()
    besieged.program = (sys.executable, altered_broker.__file__, altered_broker.UNDECLARED)
    besieged.start()
    siege = Siege(besieged, "planted", frozenset())

    siege.attack(FOUND_WITHIN)

    assert siege.failure is not None
    assert "struct.error" in siege.failure.reason
    assert guilty(besieged, list(siege.failure.inputs)[-SUSPECTS_MAX:])


@pytest.mark.parametrize(
    ("alteration", "found"),
    [(altered_broker.LEAKING, "memory now"), (altered_broker.GREEDY, "memory at most")],
)
def test_the_fuzzer_finds_memory_that_should_not_be_taken(
    besieged: BrokerProcess, alteration: str, found: str
) -> None:
    besieged.kill()
    besieged.program = (sys.executable, altered_broker.__file__, alteration)
    besieged.start()
    siege = Siege(besieged, "planted", frozenset())
    before = holding(besieged.pid)

    siege.attack(MEMORY_FOUND_WITHIN)

    assert siege.failure is None
    assert found in " ".join(holding(besieged.pid).excess(before))


@pytest.mark.timeout(max(TIMEOUT_S, FRAMES // FRAMES_PER_S_MIN))
def test_the_kernel_of_a_broker_under_changed_frames_touches_no_byte_out_of_place(
    besieged: BrokerProcess, tmp_path: Path
) -> None:
    require("cc")
    kernel = built_with_sanitizers(tmp_path)
    besieged.kill()
    environment = [f"{name}={value}" for name, value in sanitized_environment().items()]
    alteration = f"{altered_broker.KERNEL}{kernel}"
    besieged.program = ("env", *environment, sys.executable, altered_broker.__file__, alteration)
    besieged.start()
    siege = Siege(besieged, fresh_seed(), frozenset())

    for _ in range(2):
        siege.attack(max(SANITIZED_FRAMES, FRAMES // 200))

    assert siege.failure is None, failures.write(siege.failure)
    besieged.terminate()
    assert "Sanitizer" not in besieged.stderr


def _told(failure: failures.Failure | None, directory: Path) -> str:
    """Finds the frames that did it, on a broker of their own, and keeps these; or else all."""
    assert failure is not None
    place = directory / "again"
    place.mkdir()
    again = BrokerProcess(place, *SETTINGS)
    again.start()
    try:
        found = guilty(again, list(failure.inputs))[:GUILTY_MAX]
    finally:
        again.kill()
    return failures.write(failure._replace(inputs=found or failure.inputs))
