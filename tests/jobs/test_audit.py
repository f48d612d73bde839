"""Segments checked from their files: one changed byte is found, and nothing else is blamed."""

from pathlib import Path
from random import Random

import pytest

from riverlog.jobs import audit
from riverlog.jobs.audit import Checked, Stretch, check, check_all
from riverlog.kernel.library import library
from riverlog.log.segment import hash_of
from riverlog.records.batch import split
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.record import Record
from tests.cli.data_on_disk import batch, batches
from tests.tools import require


@pytest.fixture(autouse=True, scope="module")
def _kernel() -> None:
    """Where there is no C compiler the audit has nothing of its own to test."""
    require("cc")
    assert library() is not None, "the kernel was not built: install the package again"


def stretch_of(path: Path, data: bytes, *, is_sealed: bool = True) -> Stretch:
    path.write_bytes(data)
    headers = [header for _, header in split(data)]
    sealed = hash_of(data) if is_sealed else None
    return Stretch(str(path), len(data), headers[0].base_offset, headers[-1].next_offset, sealed)


def is_sound(stretch: Stretch) -> bool | None:
    return check(stretch, lambda _: None).is_sound


@pytest.mark.parametrize("codec", list(Codec))
def test_what_was_written_is_sound(tmp_path: Path, codec: Codec) -> None:
    read: list[int] = []
    stretch = stretch_of(tmp_path / "s.log", batches(100, 50, codec))

    checked = check(stretch, read.append)

    assert checked == Checked(stretch, is_sound=True)
    assert sum(read) == stretch.size_bytes


def test_every_changed_byte_of_a_sealed_segment_is_found(tmp_path: Path) -> None:
    data = batches(0, 4)
    stretch = stretch_of(tmp_path / "s.log", data)
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 1 << position % 8
        (tmp_path / "s.log").write_bytes(changed)

        assert is_sound(stretch) is False, position


def test_without_a_seal_only_an_epoch_that_still_rises_goes_unseen(tmp_path: Path) -> None:
    data = batches(0, 4)
    stretch = stretch_of(tmp_path / "s.log", data, is_sealed=False)
    unseen = set()
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 1
        (tmp_path / "s.log").write_bytes(changed)
        if is_sound(stretch):
            unseen.add(position)

    *_, (last, _) = split(data)
    assert unseen <= set(range(12, 16)) | set(range(last + 12, last + 16))


@pytest.mark.parametrize(
    "data",
    [
        batch(0) + batch(8),
        batch(0) + batch(0),
        batch(0, epoch=2) + batch(4, epoch=1),
        batch(4),
        batch(0)[:-1],
        batch(0) + bytes(100),
        batch(0) + batch(4)[:30],
        b"",
    ],
    ids=["gap", "twice", "epoch falls", "other start", "cut", "zeros", "torn", "empty"],
)
def test_batches_that_do_not_follow_each_other_are_not_sound(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "s.log").write_bytes(data)
    stretch = Stretch(str(tmp_path / "s.log"), max(len(data), 10), 0, 8, None)

    assert is_sound(stretch) is False


def test_batches_larger_than_what_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "WINDOW_BYTES", 1000)
    sizes = [10, 5_000, 900, 939, 940, 2_000, 1]
    data = b"".join(
        build_batch([Record(n, 0, None, bytes(size))], base_offset=n)
        for n, size in enumerate(sizes)
    )
    stretch = stretch_of(tmp_path / "s.log", data)

    assert is_sound(stretch) is True
    for _ in range(20):
        changed = bytearray(data)
        changed[Random(len(data)).randrange(len(data))] ^= 1
        (tmp_path / "s.log").write_bytes(changed)
        assert is_sound(stretch) is False


def test_more_batches_than_are_told_of_at_once(tmp_path: Path) -> None:
    data = b"".join(build_batch([Record(n, 0, None, b"")], base_offset=n) for n in range(9_000))
    stretch = stretch_of(tmp_path / "s.log", data)

    assert is_sound(stretch) is True
    assert is_sound(stretch._replace(next_offset=9_001)) is False


def test_many_are_checked_in_their_order_and_a_lost_one_is_no_damage(tmp_path: Path) -> None:
    stretches = [stretch_of(tmp_path / f"{n}.log", batches(n, 5)) for n in range(20)]
    (tmp_path / "3.log").unlink()
    (tmp_path / "7.log").write_bytes(batches(8, 5))

    checked = list(check_all(stretches, 4, lambda _: None))

    assert [each.stretch for each in checked] == stretches
    assert {n: each.is_sound for n, each in enumerate(checked) if not each.is_sound} == {
        3: None,
        7: False,
    }


def test_without_the_kernel_nothing_is_called_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stretch = stretch_of(tmp_path / "s.log", batches(0, 2))
    monkeypatch.setattr(audit, "library", lambda: None)

    assert is_sound(stretch) is False
