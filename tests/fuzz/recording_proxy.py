"""Stands between clients and a broker, and keeps every request that passes."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import cast

from riverlog.protocol.frames import FrameSplitter
from tests.fuzz.corpus import Frame

FRAME_BYTES_MAX = 1 << 27
READ_BYTES = 1 << 16


class RecordingProxy(socketserver.ThreadingTCPServer):
    """Forwards its port to `target_port`; `frames` has what went that way, by `client`."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Forwarding)
        self.port = self.server_address[1]
        self.target_port = 0
        self.client = ""
        self.frames: list[Frame] = []


class _Forwarding(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        proxy = cast(RecordingProxy, self.server)  # its own server, always
        there = socket.create_connection(("127.0.0.1", proxy.target_port))
        threading.Thread(target=_pump, args=(there, self.request), daemon=True).start()
        splitter = FrameSplitter(FRAME_BYTES_MAX)
        with suppress(OSError), there:
            while data := self.request.recv(READ_BYTES):
                proxy.frames += [Frame(proxy.client, frame) for frame in splitter.feed(data)]
                there.sendall(data)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(READ_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def recording_proxy() -> Iterator[RecordingProxy]:
    """A running proxy; say where it leads by its `target_port`."""
    with RecordingProxy() as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
