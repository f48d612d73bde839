"""Compression bombs: what a gigabyte in disguise costs, and what an honest batch does."""

import gzip
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import cramjam
import lz4.frame  # type: ignore[import-untyped]  # it ships no types
import pytest
import zstandard

from riverlog.records.compression import Codec, compress, decompress
from riverlog.records.errors import DecompressionTooLarge

MIB = 1 << 20
SIZE_MAX = 8 * MIB
ZEROS = bytes(16 * MIB)


def one_zstd_frame(window_log: int) -> bytes:
    """A gigabyte in a single frame that does not say how long it is."""
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=window_log)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return b"".join(stream.compress(ZEROS) for _ in range(64)) + stream.flush()


def snappy_blocks() -> bytes:
    block = bytes(cramjam.snappy.compress_raw(bytes(32768)))
    return b"\x82SNAPPY\0\0\0\0\1\0\0\0\1" + (struct.pack(">i", len(block)) + block) * 32768


BOMBS: dict[str, tuple[Codec, Callable[[], bytes]]] = {
    "gzip": (Codec.GZIP, lambda: gzip.compress(ZEROS) * 64),
    "lz4": (Codec.LZ4, lambda: lz4.frame.compress(ZEROS, block_size=7) * 64),
    "zstd frames": (Codec.ZSTD, lambda: zstandard.compress(ZEROS) * 64),
    "zstd frame": (Codec.ZSTD, lambda: one_zstd_frame(20)),
    "zstd frame with a wide window": (Codec.ZSTD, lambda: one_zstd_frame(27)),
    "snappy blocks": (Codec.SNAPPY, snappy_blocks),
    "snappy that declares a gigabyte": (
        Codec.SNAPPY,
        lambda: b"\x80\x80\x80\x80\x04" + bytes(1019),
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_within_the_limit_of_python_memory(name: str) -> None:
    codec, make = BOMBS[name]
    bomb = make()

    tracemalloc.start()
    try:
        with pytest.raises(DecompressionTooLarge):
            decompress(codec, bomb, SIZE_MAX)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < SIZE_MAX + MIB


CHILD = """
import sys
from pathlib import Path
from riverlog.records.compression import Codec, decompress
from riverlog.records.errors import DecompressionTooLarge

def peak_kib():
    # Not ru_maxrss: a new process inherits that one from the process that started it.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

bomb = Path(sys.argv[2]).read_bytes()
before = peak_kib()
try:
    decompress(Codec(int(sys.argv[1])), bomb, int(sys.argv[3]))
except DecompressionTooLarge:
    print(peak_kib() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_within_twice_the_limit_of_all_memory(name: str, tmp_path: Path) -> None:
    codec, make = BOMBS[name]
    path = tmp_path / "bomb"
    path.write_bytes(make())

    command = [sys.executable, "-c", CHILD, str(int(codec)), str(path), str(SIZE_MAX)]
    child = subprocess.run(command, capture_output=True, text=True, check=True)

    # Above twice the limit: the decoders' own tables, and a block of lz4 in and out (4 MiB each).
    assert int(child.stdout) * 1024 < 2 * SIZE_MAX + 10 * MIB


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_small_batch_under_a_large_limit_costs_little(codec: Codec) -> None:
    packed = compress(codec, b"a small and honest batch" * 40)

    tracemalloc.start()
    try:
        decompress(codec, packed, 1 << 30)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 256 * 1024
