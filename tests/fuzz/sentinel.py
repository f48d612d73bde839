"""A client that behaves, beside many that do not: what it was promised must be kept."""

import threading
from types import TracebackType

from riverlog.testing.history import History
from tests.broker_process import BrokerProcess
from tests.crash_real.judgement import complaints
from tests.crash_real.wire import wired

PAUSE_S = 0.02
PAYLOAD_BYTES = 100
JOIN_S_MAX = 30


class Sentinel:
    """Writes records one at a time, in a thread, while a `with` block runs."""

    def __init__(self, broker: BrokerProcess, topic: str) -> None:
        self.history = History()
        self.failures: list[str] = []
        self._broker = broker
        self._topic = topic
        self._written = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._write_until_over, daemon=True)
        with wired(broker) as wire:
            wire.create_topic(topic)

    @property
    def written_count(self) -> int:
        return self._written

    def __enter__(self) -> "Sentinel":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join(JOIN_S_MAX)
        assert not self._thread.is_alive(), "the sentinel has no answer"

    def complaints(self) -> list[str]:
        """Reads everything back; what is missing, changed, doubled or in another order."""
        with wired(self._broker, self.history) as wire:
            wire.read_back(self._topic)
        return [*self.failures, *complaints(self.history)]

    def _write_until_over(self) -> None:
        try:
            with wired(self._broker, self.history) as wire:
                while not self._is_over.wait(PAUSE_S):
                    payload = f"{self._written} ".encode() * (PAYLOAD_BYTES // 8)
                    produced = wire.produce(self._topic, (f"s/{self._written}", payload))
                    if not produced.is_acknowledged:
                        self.failures.append(f"record {self._written}: {produced.error.name}")
                    self._written += 1
        except (OSError, AssertionError) as failure:
            self.failures.append(f"the sentinel lost its connection: {failure!r}")
