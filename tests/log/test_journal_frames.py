"""The bytes of a journal file: what is found in it is what was written, whatever happened to it."""

from itertools import accumulate
from struct import Struct

from hypothesis import given
from hypothesis import strategies as st

from riverlog.log.journal_frames import (
    ALIGNMENT_BYTES,
    KEY_BYTES,
    SALT_BYTES,
    Entry,
    Frame,
    decode,
    encode,
    frame_bytes_max,
)
from riverlog.records.crc import crc32c

SALT = bytes.fromhex("8f3a6c0de1b24975")
OTHER_SALT = bytes(reversed(SALT))
INT64_MAX = 2**63 - 1
ZEROS = bytes(100)
HEAD = Struct(">8sIIII")

entries = st.builds(
    Entry,
    key=st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES),
    segment_offset=st.integers(0, INT64_MAX),
    position=st.integers(0, INT64_MAX),
    parts=st.lists(st.binary(max_size=60), max_size=3),
)
rounds = st.lists(st.lists(entries, min_size=1, max_size=4), min_size=1, max_size=4)

Told = tuple[bytes, int, int, bytes]


def entry(number: int, data: bytes, position: int = 0) -> Entry:
    return Entry(b"%020d" % number, 100 * number, position, (data,))


def told(entry: Entry) -> Told:
    return entry.key, entry.segment_offset, entry.position, b"".join(entry.parts)


def file_of(written: list[list[Entry]]) -> tuple[bytes, list[int]]:
    """A file with these frames, and where each of them ends."""
    frames = [encode(SALT, number, entries) for number, entries in enumerate(written)]
    return b"".join(frames) + ZEROS, list(accumulate(map(len, frames)))


def small_file() -> tuple[bytes, list[list[Entry]], list[int]]:
    written = [
        [entry(1, b"first"), entry(2, b"second")],
        [entry(1, b"third one", 5)],
        [entry(2, b"fourth", 6), entry(3, b"fifth"), entry(4, b"")],
    ]
    data, ends = file_of(written)
    return data, written, ends


def all_told(frames: list[Frame]) -> list[list[Told]]:
    return [list(map(told, frame.entries)) for frame in frames]


@given(rounds)
def test_what_is_encoded_is_what_is_decoded(written: list[list[Entry]]) -> None:
    data, ends = file_of(written)
    found = decode(SALT, data)
    assert all_told(found.frames) == [list(map(told, entries)) for entries in written]
    assert [frame.end for frame in found.frames] == ends
    assert (found.holes, found.torn) == ([], None)


@given(rounds)
def test_a_frame_is_aligned_and_no_longer_than_foretold(written: list[list[Entry]]) -> None:
    for number, entries in enumerate(written):
        frame = encode(SALT, number, entries)
        assert len(frame) % ALIGNMENT_BYTES == 0
        assert len(frame) <= frame_bytes_max(entries)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_decoded(data: bytes) -> None:
    assert decode(SALT, data).frames == []


@given(st.binary(max_size=120), st.integers(0, 2**32 - 1), st.integers(0, 200))
def test_even_bytes_with_a_checksum_can_be_decoded(body: bytes, count: int, size: int) -> None:
    """Only our own mistake could have written them, but a start must not fail for it."""
    behind = HEAD.pack(SALT, 0, 0, size, count)[12:] + body
    data = SALT + crc32c(behind[: 12 + size]).to_bytes(4) + behind
    for frame in decode(SALT, data).frames:
        assert sum(len(told(entry)[3]) + 40 for entry in frame.entries) <= size


def test_a_changed_byte_costs_its_frame_and_no_other() -> None:
    data, written, ends = small_file()
    starts = [0, *ends[:-1]]
    for position in range(ends[-1]):
        for mask in (1 << position % 8, 0xFF):
            changed = bytearray(data)
            changed[position] ^= mask
            hit = next(number for number, end in enumerate(ends) if position < end)
            found = decode(SALT, bytes(changed))
            rest = [list(map(told, e)) for number, e in enumerate(written) if number != hit]
            assert all_told(found.frames) == rest, position
            if hit < len(ends) - 1:
                assert (found.holes, found.torn) == ([(starts[hit], ends[hit])], None)
            else:
                assert found.holes == []
                assert found.torn is not None
                assert found.torn[0] == starts[hit]


def test_a_cut_file_keeps_its_whole_frames_and_what_is_left_is_torn() -> None:
    data, written, ends = small_file()
    for size in range(ends[-1] + 1):
        found = decode(SALT, data[:size])
        whole = sum(1 for end in ends if end <= size)
        start = [0, *ends][whole]
        assert all_told(found.frames) == [list(map(told, e)) for e in written[:whole]], size
        assert found.holes == []
        end = len(data[:size].rstrip(b"\0"))
        assert found.torn == ((start, end) if end > start else None)


def test_a_stretch_of_lost_frames_is_one_hole() -> None:
    data, written, ends = small_file()
    found = decode(SALT, bytes(ends[1]) + data[ends[1] :])
    assert all_told(found.frames) == [list(map(told, written[2]))]
    assert (found.holes, found.torn) == ([(0, ends[1])], None)


def test_a_torn_frame_is_told_from_where_it_begins_to_its_last_byte() -> None:
    data, _, ends = small_file()
    torn = data[: ends[1] + 30] + bytes(70)
    found = decode(SALT, torn)
    assert found.torn is not None
    assert found.torn == (ends[1], len(torn.rstrip(b"\0")))


def test_frames_of_another_file_are_none() -> None:
    frame = encode(OTHER_SALT, 0, [entry(1, b"data")])
    found = decode(SALT, bytes(frame) + ZEROS)
    assert (found.frames, found.holes) == ([], [])
    assert found.torn is not None


def test_records_that_look_like_frames_are_not_taken_for_frames() -> None:
    """Whoever sends them does not know the salt of the file; nor do they become frames when the
    one that holds them is damaged."""
    forged = bytes(encode(OTHER_SALT, 1, [entry(9, b"forged")]))
    data = bytearray(encode(SALT, 0, [entry(1, bytes(4) + forged * 3)]))
    data[30] ^= 1
    data += encode(SALT, 1, [entry(2, b"true")])
    assert all_told(decode(SALT, bytes(data)).frames) == [[told(entry(2, b"true"))]]


def test_a_copy_of_an_earlier_frame_inside_a_damaged_one_is_not_read_again() -> None:
    """As if someone had sent us our own journal as records."""
    first = bytes(encode(SALT, 0, [entry(1, b"data")]))
    holding = bytearray(encode(SALT, 1, [entry(2, bytes(4) + first)]))
    holding[30] ^= 1
    found = decode(SALT, first + bytes(holding) + bytes(encode(SALT, 2, [entry(3, b"last")])))
    assert [frame.number for frame in found.frames] == [0, 2]


def test_a_salt_has_the_size_that_file_names_have_room_for() -> None:
    assert len(SALT) == SALT_BYTES
