"""What a broker still has after it was killed, and whether that is all it promised."""

from collections.abc import Mapping

from riverlog.testing.history import History, check
from tests.broker_process import BrokerProcess
from tests.crash_real.wire import Batch, wired

COMPLAINTS_MAX = 20

Logs = dict[str, list[Batch]]


def read_back_after_death(
    broker: BrokerProcess, history: History, partitions: Mapping[str, int]
) -> Logs:
    """Kills the broker, starts it again, and reads everything into the history, and as logs."""
    broker.kill()
    broker.start()
    with wired(broker, history) as wire:
        return {
            f"{topic}-{index}": wire.read_back(topic, index) for topic, index in each(partitions)
        }


def complaints(history: History) -> list[str]:
    """The first anomalies of a history, in words; none if every promise was kept."""
    return [anomaly.describe() for anomaly in check(history)][:COMPLAINTS_MAX]


def end_offsets(logs: Logs) -> dict[str, int]:
    """What the next record of each partition would follow."""
    return {name: batches[-1].next_offset if batches else 0 for name, batches in logs.items()}


def each(partitions: Mapping[str, int]) -> list[tuple[str, int]]:
    """Every partition of topics that have so many, by topic and index."""
    return [(topic, index) for topic, count in partitions.items() for index in range(count)]
