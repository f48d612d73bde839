"""The book of a group finds what cannot be, and nothing else."""

import pytest

from tests.ordeal.progress import Progress


@pytest.fixture
def progress() -> Progress:
    """Offset 3 was committed and 5 tried."""
    progress = Progress("billing")
    progress.trying("orders-0", 3)
    progress.committed("orders-0", 3)
    progress.trying("orders-0", 5)
    return progress


@pytest.mark.parametrize("offset", [3, 4, 5])
def test_a_member_may_begin_where_the_group_has_or_may_have_committed(
    progress: Progress, offset: int
) -> None:
    progress.began("orders-0", offset)
    assert progress.complaints == []


def test_a_commit_that_went_back_is_a_complaint(progress: Progress) -> None:
    progress.began("orders-0", 2)
    assert progress.complaints == [
        "billing begins orders-0 at 2, after 3 was committed and 5 tried"
    ]


def test_records_that_are_left_out_are_a_complaint(progress: Progress) -> None:
    progress.began("orders-0", 6)
    progress.began("orders-1", 1)
    assert len(progress.complaints) == 2


def test_what_nobody_has_seen_is_told(progress: Progress) -> None:
    progress.seen["orders-0"].update({0, 1, 3})
    assert progress.lacking({"orders-0": 5, "orders-1": 1}) == {"orders-0": [2, 4], "orders-1": [0]}
    progress.seen["orders-0"].update({2, 4})
    assert progress.lacking({"orders-0": 5, "orders-1": 0}) == {}
