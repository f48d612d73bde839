"""Cuts a stream of bytes into length-prefixed frames."""

from riverlog.protocol.wire import Buffer, WireError

PREFIX_BYTES = 4

# A piece costs some fifty bytes beside its own; from this size on that is worth saving a copy.
SEPARATE_PIECE_BYTES_MIN = 4096


class FrameSplitter:
    """Takes bytes as they arrive, gives whole frames without their prefix, in order.

    What it holds is what has arrived, however small the pieces: a declared length alone costs
    nothing. After a `WireError` the place in the stream is lost, and the splitter with it.
    """

    __slots__ = ("_frame_bytes_max", "_held", "_held_bytes", "_wanted_bytes")

    def __init__(self, frame_bytes_max: int) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._held: list[bytes | bytearray] = []
        self._held_bytes = 0
        self._wanted_bytes = PREFIX_BYTES

    @property
    def held_bytes(self) -> int:
        """How much of an unfinished frame is kept here; an error leaves it as it was."""
        return self._held_bytes

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that `data` completes; raises `WireError` for a length out of bounds."""
        held_bytes = self._held_bytes + len(data)
        if held_bytes < self._wanted_bytes:
            self._hold(data)
            self._held_bytes = held_bytes
            return []
        if self._held:
            data = b"".join((*self._held, data))
            self._held = []
        frames = []
        position, size = 0, len(data)
        wanted = PREFIX_BYTES
        while position + PREFIX_BYTES <= size:
            length = int.from_bytes(data[position : position + PREFIX_BYTES], "big", signed=True)
            if not 0 < length <= self._frame_bytes_max:
                raise WireError(
                    f"a frame of {length} bytes; 1 to {self._frame_bytes_max} are accepted"
                )
            end = position + PREFIX_BYTES + length
            if end > size:
                wanted = PREFIX_BYTES + length
                break
            frames.append(data[position + PREFIX_BYTES : end])
            position = end
        if position < size:
            self._hold(data[position:] if position else data)
        self._held_bytes = size - position
        self._wanted_bytes = wanted
        return frames

    def _hold(self, data: bytes) -> None:
        if len(data) >= SEPARATE_PIECE_BYTES_MIN:
            self._held.append(data)
        elif self._held and isinstance(self._held[-1], bytearray):
            self._held[-1] += data
        else:
            self._held.append(bytearray(data))


def framed(parts: list[Buffer]) -> list[Buffer]:
    """Puts the length of `parts` in front of them."""
    return [sum(map(len, parts)).to_bytes(PREFIX_BYTES, "big"), *parts]
