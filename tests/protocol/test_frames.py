"""A stream is cut into the same frames however it arrives, and holds no more than arrived."""

import sys
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.protocol.frames import SEPARATE_PIECE_BYTES_MIN, FrameSplitter, framed
from riverlog.protocol.wire import WireError

FRAME_BYTES_MAX = 1 << 20
FRAMES = st.lists(st.binary(min_size=1, max_size=40), max_size=6)


def prefix(length: int) -> bytes:
    return length.to_bytes(4, "big", signed=True)


def stream_of(frames: list[bytes]) -> bytes:
    return b"".join(prefix(len(frame)) + frame for frame in frames)


def feed_in_pieces(splitter: FrameSplitter, stream: bytes, piece_bytes: int) -> list[bytes]:
    frames = []
    for start in range(0, len(stream), piece_bytes):
        frames += splitter.feed(stream[start : start + piece_bytes])
    return frames


@settings(derandomize=True, database=None)
@given(frames=FRAMES, cuts=st.lists(st.integers(0, 260)), tail=st.binary(max_size=3))
def test_any_split_of_a_stream_gives_the_same_frames(
    frames: list[bytes], cuts: list[int], tail: bytes
) -> None:
    stream = stream_of(frames) + tail
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    splitter = FrameSplitter(FRAME_BYTES_MAX)

    given_back = []
    for start, end in pairwise(edges):
        given_back += splitter.feed(stream[start:end])
        whole = sum(4 + len(frame) for frame in given_back)
        assert splitter.held_bytes == end - whole

    assert given_back == frames
    assert splitter.held_bytes == len(tail)


@pytest.mark.parametrize("piece_bytes", [1, 7, SEPARATE_PIECE_BYTES_MIN - 1, 5000, 70_000])
def test_a_long_frame_in_pieces_is_whole_again(piece_bytes: int) -> None:
    frame = bytes(range(256)) * 1024
    stream = stream_of([frame, b"next"])
    splitter = FrameSplitter(FRAME_BYTES_MAX)

    given_back = feed_in_pieces(splitter, stream, piece_bytes)

    assert given_back == [frame, b"next"]
    assert splitter.held_bytes == 0


def test_a_frame_is_bytes_whatever_it_was_held_in() -> None:
    splitter = FrameSplitter(FRAME_BYTES_MAX)
    splitter.feed(prefix(2))
    (frame,) = splitter.feed(b"ab")
    assert type(frame) is bytes


@pytest.mark.parametrize("length", [0, -1, -(2**31), FRAME_BYTES_MAX + 1, 2**31 - 1])
@pytest.mark.parametrize("piece_bytes", [1, 4, 100])
def test_a_length_out_of_bounds_raises(length: int, piece_bytes: int) -> None:
    stream = stream_of([b"fine"]) + prefix(length) + b"rest"
    with pytest.raises(WireError, match=f"a frame of {length} bytes"):
        feed_in_pieces(FrameSplitter(FRAME_BYTES_MAX), stream, piece_bytes)


def test_the_longest_frame_allowed_passes() -> None:
    frame = bytes(FRAME_BYTES_MAX)
    assert FrameSplitter(FRAME_BYTES_MAX).feed(stream_of([frame])) == [frame]


def test_an_error_leaves_held_bytes_as_it_was() -> None:
    # Who counted the bytes on the way in can count them out again when the connection closes.
    splitter = FrameSplitter(FRAME_BYTES_MAX)
    splitter.feed(prefix(8) + b"half")
    with pytest.raises(WireError):
        splitter.feed(b"half" + prefix(-1))
    assert splitter.held_bytes == 8


def test_a_declared_length_alone_costs_nothing() -> None:
    splitter = FrameSplitter(2**31 - 1)
    tracemalloc.start()
    splitter.feed(prefix(2**31 - 1))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 4096


@pytest.mark.parametrize("piece_bytes", [1, 2, 16, 1000])
def test_a_slow_trickle_is_neither_copied_again_and_again_nor_held_dearly(piece_bytes: int) -> None:
    length = 1 << 20
    piece = bytes(piece_bytes)
    splitter = FrameSplitter(length)
    splitter.feed(prefix(length) + piece)
    growths, held = 0, sys.getsizeof(splitter._held[-1])

    for _ in range(length // piece_bytes - 2):
        assert splitter.feed(piece) == []
        # A copy of what is held can only happen where its buffer grows, or where it is joined.
        if sys.getsizeof(splitter._held[-1]) != held:
            growths, held = growths + 1, sys.getsizeof(splitter._held[-1])

    assert growths < 150
    assert len(splitter._held) == 1
    assert held < 1.2 * length


def test_framed_puts_the_length_in_front() -> None:
    assert framed([b"ab", memoryview(b"cde")]) == [prefix(5), b"ab", b"cde"]
    assert framed([]) == [prefix(0)]
