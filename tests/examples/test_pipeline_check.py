"""The demonstration's check, over results made without Spark: right ones and wrong ones."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples.pipeline.check import Checked, checked
from examples.pipeline.customers import customers
from examples.pipeline.expected import Day
from examples.pipeline.found import committed_files
from examples.pipeline.orders import PARTITIONS, Orders, Row

import riverlog

SEED = 3
ROWS = 3000


class Result:
    """A result as Spark would leave it; whatever is wrong with it is put in by a test."""

    def __init__(self, broker: riverlog.Broker, table: Path) -> None:
        self.broker = broker
        self.table = table
        self.rows = [*Orders(SEED).rows(0, ROWS), Orders(SEED).closing(ROWS)]
        self.day = Day({each.customer: each for each in customers(SEED)})
        for number, row in enumerate(self.rows[:-1]):
            self.day.take(row, number // PARTITIONS)

    def write(self) -> None:
        with self.broker.connect() as client:
            client.publish_batch("orders", [record(row) for row in self.rows]).results()
            client.publish_batch("customers", [str(each) for each in customers(SEED)]).results()
            alerts = [alert(*each) for each in self.day.alerts.items()]
            client.publish_batch("alerts", alerts).results()
            bad = [dead_letter(*each) for each in self.day.dead_letters.items()]
            client.publish_batch("dead-letters", bad).results()
        self.commit(
            0, [(start, segment, *total) for (start, segment), total in self.day.windows.items()]
        )

    def commit(self, number: int, rows: list[tuple[int, str, int, int, int]]) -> None:
        """Adds a file to the table, as a micro-batch does."""
        path = self.file(number, rows)
        log = self.table / "_spark_metadata" / str(number)
        log.parent.mkdir(exist_ok=True)
        log.write_text("v1\n" + json.dumps({"path": path.as_uri(), "action": "add"}))

    def file(self, number: int, rows: list[tuple[int, str, int, int, int]]) -> Path:
        self.table.mkdir(exist_ok=True)
        path = self.table / f"part {number}.parquet"
        names = ("start", "segment", "orders", "items", "revenue_cents")
        part = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        starts = part["start"].cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))
        pq.write_table(part.set_column(0, "start", starts), path)
        return path

    def check(self) -> Checked:
        return checked(SEED, ROWS, self.broker.bootstrap, self.table)

    def wrong(self) -> list[str]:
        return [line.what.strip() for line in self.check().lines if not line.is_right]


def alert(order: str, cents: int) -> riverlog.NewRecord:
    return riverlog.NewRecord(json.dumps({"total_cents": cents}), headers={"order": order})


def dead_letter(place: str, reason: str) -> riverlog.NewRecord:
    return riverlog.NewRecord(b"", headers={"place": place, "reason": reason})


def record(row: Row) -> riverlog.NewRecord:
    return riverlog.NewRecord(
        row.value, row.key, timestamp_ms=row.arrival_ms, partition=row.partition
    )


@pytest.fixture
def result(tmp_path: Path) -> Iterator[Result]:
    topics = {"orders": PARTITIONS, "customers": 1, "alerts": 1, "dead-letters": 1}
    with riverlog.Broker(topics=topics) as broker:
        yield Result(broker, tmp_path / "windows")


def test_a_right_result_is_right(result: Result) -> None:
    result.write()

    assert result.wrong() == []
    assert result.check().is_right


def test_a_window_that_lacks_an_order_is_told(result: Result) -> None:
    window, total = next(iter(result.day.windows.items()))
    result.day.windows[window] = total._replace(orders=total.orders - 1)

    result.write()

    assert result.wrong() == [
        "each with the right totals",
        "orders in windows",
        "doubled orders left out",
    ]


def test_a_window_that_is_there_twice_is_told(result: Result) -> None:
    result.write()
    (start, segment), total = next(iter(result.day.windows.items()))

    result.commit(1, [(start, segment, *total)])

    assert result.wrong() == ["there twice"]


def test_a_file_in_no_commit_is_no_part_of_the_table(result: Result) -> None:
    result.write()

    left = result.file(1, [(0, "town", 1, 1, 1)])

    assert left not in committed_files(result.table)
    assert result.wrong() == []


def test_an_order_that_is_in_the_log_twice_is_told(result: Result) -> None:
    result.rows.insert(1000, result.rows[998])

    result.write()

    assert result.wrong() == ["orders in the log", "each at its offset, unchanged"]


def test_an_order_that_was_changed_in_the_log_is_told(result: Result) -> None:
    result.rows[1000] = result.rows[1000]._replace(arrival_ms=0)

    result.write()

    assert result.wrong() == ["each at its offset, unchanged"]


def test_a_lost_alert_is_told_and_a_doubled_one_counts_once(result: Result) -> None:
    order, cents = result.day.alerts.popitem()
    result.write()
    assert result.wrong() == ["alerts", "each of the right order", "their totals, cents"]

    with result.broker.connect() as client:
        client.publish_batch("alerts", [alert(order, cents)] * 2).results()

    assert result.wrong() == []
    assert result.check().alerts_again == 1


def test_a_dead_letter_with_another_reason_is_told(result: Result) -> None:
    place = next(iter(result.day.dead_letters))
    result.day.dead_letters[place] = "bad luck"

    result.write()

    wrong = result.wrong()
    assert wrong[-1] == "each of the right row"
    assert "dead letters" not in wrong
