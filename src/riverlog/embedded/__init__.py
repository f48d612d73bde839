"""A broker inside a Python process: `with riverlog.Broker() as broker: …`."""

from riverlog.embedded.broker import Broker

__all__ = ["Broker"]
