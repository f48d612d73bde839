"""A port that stays ours while nobody listens on it."""

import sys

from riverlog.config import Address
from riverlog.kafka.listener import bound_socket


class HeldPort:
    """Holds an address, on a free port if it names none, from now until `release`.

    While a broker is down, no other program is given its port, and clients that try it are
    refused: without this, one that tries often enough is at last connected to itself, because the
    system may choose that very port for the client's own end.
    """

    def __init__(self, address: Address) -> None:
        """Raises `CannotListen` when the address is taken."""
        self._socket = bound_socket(address)
        self.address = Address(address.host, self._socket.getsockname()[1])
        if sys.platform != "linux":
            # Elsewhere a bound socket is in the way of one that listens.
            self.release()

    @property
    def descriptor(self) -> int:
        """The number of the socket that holds it; -1 when none does."""
        return self._socket.fileno()

    def release(self) -> None:
        """Lets others have it; a second release does nothing."""
        self._socket.close()
