"""What goes wrong at an embedded broker when a test says so; any Kafka client sees it.

    with broker.faults.delay("Fetch", 300):
        ...
    broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=3)
    broker.faults.drop_connections("Produce", after=True)

APIs and errors go by Kafka's names. Nothing is in the way of a request while there are no faults
of its API: they are put into the broker's table of handlers, and taken out again.
"""

from typing import TYPE_CHECKING, overload

from riverlog.kafka.apis import Apis
from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.fault import Fault
from riverlog.testing.faulty_apis import faulty_api

if TYPE_CHECKING:
    from riverlog.embedded.broker import Broker

_API_KEYS = {key.name.replace("_", "").lower(): key for key in ApiKey}


class Faults:
    """The faults of one broker; they outlive its restarts."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._faults: list[Fault] = []
        self._removed: list[Fault] = []

    def delay(self, api: str, delay_ms: int, *, times: int | None = None) -> Fault:
        """Has replies of an API leave so much later; what was asked is done at once."""
        if delay_ms < 0:
            raise ValueError("a delay is 0 ms or more")
        fault = self._new(api, times)
        fault.delay_ms = delay_ms
        return self._add(fault)

    def fail(self, api: str, error: int | str, *, times: int | None = 1) -> Fault:
        """Refuses requests of an API with an error, by its name or its code; nothing is done.

        A request whose reply has no place for an error is served as ever and not counted. A
        Produce request that wants no reply (acks=0) has its connection broken, as with Kafka.
        """
        fault = self._new(api, times)
        fault.error = error_named(error)
        return self._add(fault)

    @overload
    def drop_connections(self) -> None: ...

    @overload
    def drop_connections(
        self, api: str, *, times: int | None = 1, after: bool = False
    ) -> Fault: ...

    def drop_connections(
        self, api: str | None = None, *, times: int | None = 1, after: bool = False
    ) -> Fault | None:
        """Breaks every connection now; or, with an API, those that its next requests come by.

        A request is then not read at all, or with `after` done but never answered.
        """
        if api is None:
            self._broker.running.drop_connections()
            return None
        fault = self._new(api, times)
        fault.hangs_up_after = after
        fault.hangs_up_before = not after
        return self._add(fault)

    def crash(self) -> None:
        """Ends the broker as `kill -9` would, and starts it again at once."""
        self._broker.crash()
        self._broker.start()

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        self._removed += self._faults
        self._faults.clear()
        self._install()

    def remove(self, fault: Fault) -> None:
        """See `Fault.remove`."""
        if fault in self._faults:
            self._faults.remove(fault)
            self._removed.append(fault)
            self._install()

    def install_in(self, apis: Apis, served: Apis) -> None:
        """Makes `apis` what is `served`, with every fault in it; for its own loop to call."""
        for key, api in served.items():
            faults = [fault for fault in self._faults if fault.key == key]
            apis[key] = faulty_api(api, faults) if faults else api
        for fault in self._removed:
            fault.let_go()
        self._removed.clear()

    def let_go(self) -> None:
        """Has all replies leave that are held back; for the broker's own loop to call."""
        for fault in self._faults:
            fault.let_go()

    def _new(self, api: str, times: int | None) -> Fault:
        return Fault(self, api_named(api), times)

    def _add(self, fault: Fault) -> Fault:
        self._faults.append(fault)
        self._install()
        return fault

    def _install(self) -> None:
        if self._broker.is_running:
            self._broker.running.install(self)


def api_named(name: str) -> ApiKey:
    """The API that Kafka calls so, like "ListOffsets"; raises `ValueError`."""
    key = _API_KEYS.get(name.replace("_", "").lower())
    if key is None:
        raise ValueError(f"Kafka has no API '{name}'; write it like Produce or ListOffsets")
    return key


def error_named(error: int | str) -> ErrorCode:
    """The error of this code or name, like "NOT_LEADER_OR_FOLLOWER"; raises `ValueError`."""
    try:
        found = ErrorCode[error.upper()] if isinstance(error, str) else ErrorCode(error)
    except (KeyError, ValueError):
        raise ValueError(f"Kafka has no error {error!r}") from None
    if found is ErrorCode.NONE:
        raise ValueError("the code 0 says that all went well")
    return found
