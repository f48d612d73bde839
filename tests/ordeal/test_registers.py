"""The checker of single values finds what cannot be true, and nothing else."""

import pytest

from tests.ordeal.registers import Registers

OFFSET = "billing orders-0"


@pytest.fixture
def registers() -> Registers:
    """Offset 3 was acknowledged; 4 and 5 were tried."""
    registers = Registers("offset")
    registers.tried(OFFSET, 3)
    registers.settled(OFFSET)
    registers.tried(OFFSET, 4)
    registers.tried(OFFSET, 5)
    return registers


@pytest.mark.parametrize("value", [3, 4, 5])
def test_what_was_settled_or_tried_since_may_be_found(registers: Registers, value: int) -> None:
    registers.found({OFFSET: value})
    assert registers.complaints == []


def test_an_acknowledged_value_that_is_gone_is_a_complaint(registers: Registers) -> None:
    registers.found({})
    assert registers.complaints == [
        "offset billing orders-0 is None and can only be one of [3, 4, 5]"
    ]


def test_an_older_value_than_the_settled_one_is_a_complaint(registers: Registers) -> None:
    registers.settled(OFFSET)
    registers.found({OFFSET: 4})
    assert len(registers.complaints) == 1


def test_what_was_found_once_stays(registers: Registers) -> None:
    registers.found({OFFSET: 5})
    registers.found({OFFSET: 4})
    assert registers.complaints == ["offset billing orders-0 is 4 and can only be one of [5]"]


def test_a_deleted_thing_that_comes_back_is_a_complaint(registers: Registers) -> None:
    registers.tried(OFFSET, None)
    registers.settled(OFFSET)
    registers.found({OFFSET: 5})
    assert len(registers.complaints) == 1


def test_what_was_never_acknowledged_may_be_missing_for_good() -> None:
    registers = Registers("offset")
    registers.tried(OFFSET, 3)
    registers.found({})
    assert registers.complaints == []
    registers.found({OFFSET: 3})
    assert len(registers.complaints) == 1, "it was not there, and nobody asked again"


def test_what_nobody_asked_for_is_a_complaint(registers: Registers) -> None:
    registers.found({OFFSET: 5, "ghost": 1})
    assert registers.complaints == ["offset ghost is 1 and nobody asked for it"]
