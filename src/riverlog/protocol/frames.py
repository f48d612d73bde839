"""Cuts a stream of bytes into length-prefixed frames."""

from riverlog.protocol.wire import Buffer, WireError

PREFIX_BYTES = 4

# A piece costs some fifty bytes beside its own; from this size on that is worth saving a copy.
SEPARATE_PIECE_BYTES_MIN = 4096


class FrameSplitter:
    """Takes bytes as they arrive, gives whole frames without their prefix, in order.

    What it holds is what has arrived, however small the pieces: a declared length alone costs
    nothing. A large frame is put together once, from the pieces themselves. After a `WireError`
    the place in the stream is lost, and the splitter with it.
    """

    __slots__ = ("_frame_bytes", "_frame_bytes_max", "_held", "held_bytes")

    def __init__(self, frame_bytes_max: int) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._held: list[bytes | bytearray | memoryview] = []
        # How much of an unfinished frame is kept here, its prefix included if that is whole.
        self.held_bytes = 0
        # The length of that frame; 0 while its prefix is not whole.
        self._frame_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that `data` completes; raises `WireError` for a length out of bounds.

        An error leaves `held_bytes` as it was.
        """
        frames: list[bytes] = []
        position = 0
        if self.held_bytes:
            wanted = (self._frame_bytes or 0) + PREFIX_BYTES
            position = wanted - self.held_bytes
            if position > len(data):
                self._hold(data)
                self.held_bytes += len(data)
                return frames
            if self._frame_bytes:
                frames.append(b"".join((*self._held, memoryview(data)[:position])))
            else:
                data = b"".join((*self._held, data))
                position = 0
        size = len(data)
        length = 0
        while position + PREFIX_BYTES <= size:
            length = int.from_bytes(data[position : position + PREFIX_BYTES], "big", signed=True)
            if not 0 < length <= self._frame_bytes_max:
                raise WireError(
                    f"a frame of {length} bytes; 1 to {self._frame_bytes_max} are accepted"
                )
            end = position + PREFIX_BYTES + length
            if end > size:
                break
            frames.append(data[position + PREFIX_BYTES : end])
            position = end
            length = 0
        self._held = []
        self._frame_bytes = length
        self.held_bytes = size - position
        if length:
            position += PREFIX_BYTES
        if position < size:
            self._hold(data[position:] if position * 2 > size else memoryview(data)[position:])
        return frames

    def _hold(self, data: bytes | memoryview) -> None:
        if len(data) >= SEPARATE_PIECE_BYTES_MIN:
            self._held.append(data)
        elif self._held and isinstance(self._held[-1], bytearray):
            self._held[-1] += data
        else:
            self._held.append(bytearray(data))


def framed(parts: list[Buffer]) -> list[Buffer]:
    """Puts the length of `parts` in front of them."""
    return [sum(map(len, parts)).to_bytes(PREFIX_BYTES, "big"), *parts]
