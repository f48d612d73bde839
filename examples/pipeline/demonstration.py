"""The demonstration, from its first process to its last: what is started and killed when."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from examples.pipeline import customers, orders
from examples.pipeline.display import Display, bar
from examples.pipeline.driver import Driver
from examples.pipeline.gauges import Gauges
from examples.pipeline.processes import Broken, Broker, Program

import riverlog
from riverlog.runtime.clock import SystemClock

TOPICS = {orders.TOPIC: orders.PARTITIONS, customers.TOPIC: 1, "alerts": 2, "dead-letters": 2}

# As shares of all rows: when something is killed, and how far the producer may go before that is
# done. There is always more to come, so that whoever is back has something to go on with.
DRIVER_KILLED_AT_READ = 0.25
DRIVER_KILLED_AT_DURABLE = 0.35
UNTIL_DRIVER_IS_KILLED = 0.5
UNTIL_DRIVER_IS_BACK = 0.65
BROKER_KILLED_AT = 0.7
UNTIL_BROKER_IS_BACK = 0.9
BROKER_AWAY_S = 1.0

FIRST_ROWS = 2000
ROWS_PER_S_MAX = 14_000
STREAM_S_MIN = 15
PATIENCE_S = 600
_LOOK_S = 0.25


class Asked(NamedTuple):
    """What to show; without kills everything else is the same."""

    rows: int
    seed: int
    drops_a_row: bool = False
    kills: bool = True


class Demonstration:
    """All processes, and what was seen of them; `close` leaves none running."""

    def __init__(self, asked: Asked, directory: Path, display: Display) -> None:
        self.table = directory / "windows"
        self.broker = Broker(directory)
        self._asked = asked
        self._directory = directory
        self._display = display
        self._producer: Program | None = None
        self._driver: Driver | None = None

    def run(self) -> Gauges:
        """Returns when every order has gone through, whatever was killed meanwhile."""
        self.broker.start()
        where = f"{self.broker.bootstrap}, data in {self.broker.data}"
        self._display.step("broker", where)
        with riverlog.connect(self.broker.bootstrap) as client:
            for topic, partitions in TOPICS.items():
                # Their times are those of the orders: by them they would soon be too old.
                client.topics.create(topic, partitions=partitions, configs={"retention.ms": "-1"})
            self._import_customers()
            gauges = Gauges(client, SystemClock())
            driver = self._started_driver(gauges)
            producer = self._started_producer()
            self._stream(gauges, driver, producer)
            self._finish(gauges, driver, producer)
        return gauges

    @property
    def driver(self) -> Driver:
        """The driver that was started."""
        assert self._driver is not None, "it was not started"
        return self._driver

    def close(self) -> None:
        """Kills whatever still runs; the broker is asked first, and killed if it does not end."""
        for each in (self._producer, self._driver):
            if each is not None:
                each.kill()
        self.broker.stop()

    def _import_customers(self) -> None:
        path = self._directory / "customers.csv"
        customers.write_customers(path, self._asked.seed)
        command = [sys.executable, "-m", "riverlog", "job", "import", str(path), customers.TOPIC]
        command += ["--key", "customer", "--id", "pipeline", "--bootstrap", self.broker.bootstrap]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Broken(f"the import failed: {done.stderr.strip()}")
        self._display.step("customers", f"riverlog job import {path.name}: {done.stdout.strip()}")

    def _started_driver(self, gauges: Gauges) -> Driver:
        dropped = ""
        if self._asked.drops_a_row:
            dropped = orders.Orders(self._asked.seed).good_one(self._asked.rows // 2)
        driver = Driver(self._directory, self.broker.bootstrap, dropped)
        self._driver = driver
        driver.start()
        self._watch(gauges, "Spark to start", lambda: driver.is_ready)
        self._display.step("Spark", f"{driver.versions['Spark']}, {driver.versions['master']}")
        for name, where in driver.addresses.items():
            self._display.more(name, where)
        return driver

    def _started_producer(self) -> Program:
        rate = min(self._asked.rows / STREAM_S_MIN, ROWS_PER_S_MAX)
        self._producer = Program(
            "producer",
            self.broker.bootstrap,
            str(self._asked.seed),
            str(rate),
            log=self._directory / "producer.log",
        )
        return self._producer

    def _stream(self, gauges: Gauges, driver: Driver, producer: Program) -> None:
        rows = self._asked.rows
        # A stream's first micro-batch takes ten times as long as any other.
        producer.tell(f"until {FIRST_ROWS}")
        self._watch(gauges, "the first orders to be read", lambda: gauges.read >= FIRST_ROWS)
        self._display.step("first orders", "read: both queries are warm")
        if self._asked.kills:
            self._kill_driver(gauges, driver, producer)
            self._kill_broker(gauges, producer)
        producer.tell(f"until {rows}")
        self._watch(gauges, "all orders to be durable", lambda: gauges.acked >= rows)
        self._display.step("orders", f"{rows:,} published and durable")

    def _kill_driver(self, gauges: Gauges, driver: Driver, producer: Program) -> None:
        rows = self._asked.rows
        producer.tell(f"until {int(rows * UNTIL_DRIVER_IS_KILLED)}")
        acked, read = rows * DRIVER_KILLED_AT_DURABLE, rows * DRIVER_KILLED_AT_READ
        self._watch(
            gauges, "orders to be read", lambda: gauges.acked >= acked and gauges.read >= read
        )
        driver.kill()
        gauges.happened("driver killed")
        done = gauges.read
        self._display.step("kill -9", f"Spark's driver and executors, {done:,} orders read", "✗")
        producer.tell(f"until {int(rows * UNTIL_DRIVER_IS_BACK)}")
        driver.start()
        self._watch(gauges, "the driver to go on", lambda: driver.is_ready and gauges.read > done)
        gauges.happened("driver back")
        self._display.step("Spark", f"goes on from its checkpoint: {driver.addresses['Spark UI']}")

    def _kill_broker(self, gauges: Gauges, producer: Program) -> None:
        rows = self._asked.rows
        producer.tell(f"until {int(rows * UNTIL_BROKER_IS_BACK)}")
        due = rows * BROKER_KILLED_AT
        self._watch(gauges, "orders to be published", lambda: gauges.acked >= due)
        self.broker.kill()
        gauges.happened("broker killed")
        self._hear(gauges)
        acked, read = gauges.acked, gauges.read
        self._display.step("kill -9", f"the broker, {acked:,} orders durable", "✗")
        time.sleep(BROKER_AWAY_S)
        self.broker.start()
        gauges.happened("broker back")
        producer.tell(f"until {rows}")
        self._watch(
            gauges, "the broker to go on", lambda: gauges.acked > acked and gauges.read > read
        )
        self._display.step("broker", f"goes on with its log: {self.broker.bootstrap}")

    def _finish(self, gauges: Gauges, driver: Driver, producer: Program) -> None:
        self._watch(gauges, "all orders to be read", lambda: gauges.has_read(self._asked.rows))
        # Only now: whatever came after it would be too old for the watermark.
        producer.tell(f"close {self._asked.rows}")
        self._watch(gauges, "the closing order", lambda: producer.exit_code == 0)
        driver.finish()
        self._watch(gauges, "Spark to finish", lambda: driver.has_finished)
        self._display.step("Spark", "all orders read, every window closed")

    def _watch(self, gauges: Gauges, what: str, is_done: Callable[[], bool]) -> None:
        """Shows how it stands until that is so; raises `Broken` if it never will be."""
        deadline_s = gauges.now_s + PATIENCE_S
        while True:
            self._hear(gauges)
            gauges.look()
            if is_done():
                return
            if gauges.now_s > deadline_s:
                raise Broken(f"waited {PATIENCE_S} s for {what}: see the logs in {self._directory}")
            self._display.live(self._standing(gauges, what))
            time.sleep(_LOOK_S)

    def _hear(self, gauges: Gauges) -> None:
        restarts = self.driver.restarts
        for fact in self.driver.heard():
            gauges.hear(fact)
        if self.driver.restarts > restarts:
            gauges.happened("driver ended")
            self._display.step("Spark", "the driver ended by itself, and is started again", "!")
        if self._producer is not None:
            for fact in self._producer.heard():
                gauges.hear(fact)
            if self._producer.exit_code:
                raise Broken(f"the producer ended: see {self._producer.log}")

    def _standing(self, gauges: Gauges, what: str) -> str:
        if self._producer is None:
            return f"waiting for {what}"
        came, read = gauges.rates()
        text = f"{bar(gauges.read / self._asked.rows)}  {came:,.0f} rows/s in, {read:,.0f} read"
        text += f", lag {gauges.lag or 0:,}"
        if gauges.micro_batches:
            text += f", micro-batch {gauges.micro_batches[-1].duration_ms:,} ms"
        return f"{text}; waiting for {what}"
