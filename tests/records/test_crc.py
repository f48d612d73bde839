"""The checksum against published values, in pieces, and over every kind of buffer."""

import pytest

from riverlog.records.crc import crc32c


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_the_published_values_come_out(data: bytes, expected: int) -> None:
    assert crc32c(data) == expected


def test_a_checksum_goes_on_from_the_one_before() -> None:
    assert crc32c(b"56789", crc32c(b"1234")) == crc32c(b"123456789")


def test_every_kind_of_buffer_gives_the_same() -> None:
    data = bytes(range(256))
    inside = memoryview(b"xx" + data + b"yy")[2:-2]
    assert crc32c(data) == crc32c(bytearray(data)) == crc32c(inside)
