"""Spark's driver and executors: started, killed with -9, started again on their checkpoint."""

from pathlib import Path
from typing import Any

from examples.pipeline.processes import Broken, Program
from examples.pipeline.session import driver_environment

RESTARTS_MAX = 5


class Driver:
    """The streaming job as processes. Where it was is in its checkpoint: a start goes on there.

    Attributes:
        is_ready: Whether both queries run, since the last start.
        restarts: How often it had to be started again though nobody had killed it.
        addresses: Where its parts are, by name.
        versions: What it is, by name.
    """

    def __init__(self, directory: Path, bootstrap: str, dropped: str) -> None:
        self.is_ready = False
        self.restarts = 0
        self.addresses: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self._directory = directory
        self._arguments = (bootstrap, str(directory), dropped)
        self._program: Program | None = None
        self._is_finishing = False

    @property
    def has_finished(self) -> bool:
        """Whether it has ended as it was told to."""
        return self._is_finishing and self._running.exit_code == 0

    def start(self) -> None:
        """Begins, or goes on; `is_ready` comes later."""
        self.is_ready = False
        self._program = Program(
            "streaming_job",
            *self._arguments,
            log=self._directory / "driver.log",
            environment=driver_environment(self._directory),
        )

    def finish(self) -> None:
        """Asks it to go through all that was published, and to end."""
        self._is_finishing = True
        self._running.tell("finish")

    def kill(self) -> None:
        """Driver, executors and their workers are gone when this returns."""
        if self._program is not None:
            self._program.kill()

    def heard(self) -> list[dict[str, Any]]:  # whatever its JSON says
        """What it has said; if it has ended by itself, it is started again."""
        facts = self._running.heard()
        for fact in facts:
            if fact.get("ready"):
                self.is_ready = True
                self.addresses = {"Spark UI": fact["ui"], "executors": " ".join(fact["executors"])}
                self.versions = {"Spark": fact["spark"], "master": fact["master"]}
        if self._running.exit_code is not None and not self.has_finished:
            self._start_again()
        return facts

    @property
    def _running(self) -> Program:
        assert self._program is not None, "it was not started"
        return self._program

    def _start_again(self) -> None:
        self.kill()
        self.restarts += 1
        if self.restarts > RESTARTS_MAX:
            raise Broken(f"Spark's driver ended {self.restarts} times: see {self._running.log}")
        self.start()
        if self._is_finishing:
            self.finish()
