"""Ids and jitter, from the system's chance and from a seed."""

import base64
from collections.abc import Iterator
from uuid import RFC_4122, UUID

import pytest

from riverlog.runtime.chance import (
    Chance,
    SystemChance,
    jittered_ms,
    new_session_id,
    new_uuid,
    uuid_text,
)
from riverlog.testing.seeded_chance import SeededChance

CHANCES = pytest.mark.parametrize("chance", [SystemChance(), SeededChance(3)], ids=type)


class Extremes:
    """Chance at its worst: always the same byte, always the lowest or the highest number."""

    def __init__(self, fill: Iterator[int], is_highest: bool = False) -> None:
        self._fill = fill
        self._is_highest = is_highest

    def random_bytes(self, size: int) -> bytes:
        return bytes([next(self._fill)]) * size

    def below(self, limit: int) -> int:
        return limit - 1 if self._is_highest else 0


@CHANCES
def test_random_bytes_are_as_many_as_asked_and_differ(chance: Chance) -> None:
    assert [len(chance.random_bytes(size)) for size in (0, 1, 16, 1000)] == [0, 1, 16, 1000]
    assert chance.random_bytes(16) != chance.random_bytes(16)


@CHANCES
def test_every_number_below_the_limit_turns_up_and_no_other(chance: Chance) -> None:
    assert {chance.below(5) for _ in range(500)} == {0, 1, 2, 3, 4}
    assert chance.below(1) == 0


@CHANCES
def test_uuids_are_distinct_and_never_begin_with_a_dash_in_base64(chance: Chance) -> None:
    uuids = {new_uuid(chance) for _ in range(2_000)}

    assert len(uuids) == 2_000
    assert not any(base64.urlsafe_b64encode(uuid).startswith(b"-") for uuid in uuids)


def test_the_worst_chance_gives_no_reserved_uuid() -> None:
    assert int.from_bytes(new_uuid(Extremes(iter([0])))) >= 100
    assert new_uuid(Extremes(iter([0xF8, 0xFB, 0xF9, 0xFF])))[0] == 0xFF


@CHANCES
def test_ids_are_version_4_uuids_in_the_usual_form(chance: Chance) -> None:
    made = new_uuid(chance)

    known = UUID(bytes=made)
    assert (known.version, known.variant, str(known)) == (4, RFC_4122, uuid_text(made))


def test_session_ids_are_positive_32_bit_numbers() -> None:
    assert new_session_id(Extremes(iter(()))) == 1
    assert new_session_id(Extremes(iter(()), is_highest=True)) == 2**31 - 1


def test_jitter_only_shortens_and_only_by_the_fraction() -> None:
    chance = SeededChance(0)
    delays_ms = {jittered_ms(chance, 1_000, fraction=0.2) for _ in range(5_000)}

    assert min(delays_ms) == 800
    assert max(delays_ms) == 1_000
    assert jittered_ms(chance, 0) == 0
