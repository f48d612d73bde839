"""Writing several parts to a socket as they lie, without putting them together first."""

import asyncio
import os
from collections.abc import Sequence

from riverlog.protocol.wire import Buffer

# Below this, putting them together is quicker than to tell the system of each.
GATHERED_BYTES_MIN = 16 << 10
# Systems take at least so many in one call.
PARTS_MAX = 1024

_CAN_GATHER = hasattr(os, "writev")


def write_gathered(transport: asyncio.Transport, parts: Sequence[Buffer]) -> None:
    """Sends `parts` one after the other, after all that the transport still has to send.

    What the socket does not take at once is left to the transport, and so is every error.
    """
    if (
        sum(map(len, parts)) < GATHERED_BYTES_MIN
        or len(parts) > PARTS_MAX
        or transport.get_write_buffer_size()
        or not _CAN_GATHER
        # What goes over TLS must not go past it.
        or transport.get_extra_info("sslcontext") is not None
        or (socket := transport.get_extra_info("socket")) is None
    ):
        transport.write(b"".join(parts))
        return
    try:
        sent = os.writev(socket.fileno(), parts)
    except OSError:
        sent = 0
    for part in parts:
        if sent < len(part):
            transport.write(memoryview(part)[sent:])
        sent = max(sent - len(part), 0)
