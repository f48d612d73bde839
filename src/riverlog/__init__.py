"""Riverlog: an event log that speaks the Kafka protocol."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riverlog.client.async_client import AsyncClient, connect_async
    from riverlog.client.outgoing import NewRecord, Published
    from riverlog.client.received import ReceivedRecord
    from riverlog.client.source import Rebalance
    from riverlog.client.sync_client import Client, connect
    from riverlog.embedded import Broker
    from riverlog.tables.reading import read_arrow, read_arrow_batches

__version__ = "0.1.0.dev0"
__all__ = [
    "connect",
    "Client",
    "connect_async",
    "AsyncClient",
    "NewRecord",
    "Published",
    "ReceivedRecord",
    "Rebalance",
    "Broker",
    "read_arrow",
    "read_arrow_batches",
    "__version__",
]

# Where each public name lives. They are loaded when they are first used: `import riverlog` alone
# costs next to nothing, and a broker never loads the client.
_HOMES = {
    "connect": "riverlog.client.sync_client",
    "Client": "riverlog.client.sync_client",
    "connect_async": "riverlog.client.async_client",
    "AsyncClient": "riverlog.client.async_client",
    "NewRecord": "riverlog.client.outgoing",
    "Published": "riverlog.client.outgoing",
    "ReceivedRecord": "riverlog.client.received",
    "Rebalance": "riverlog.client.source",
    "Broker": "riverlog.embedded",
    "read_arrow": "riverlog.tables.reading",
    "read_arrow_batches": "riverlog.tables.reading",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'riverlog' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value
