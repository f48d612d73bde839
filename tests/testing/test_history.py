"""The checker finds each kind of anomaly, and none where there is none."""

import pytest

from riverlog.testing.history import Acks, Anomaly, History, Kind, Record, check


def started(*record_ids: str, partition: str = "t-0") -> History:
    """A history in which these were sent; each carries its id as payload."""
    history = History()
    for record_id in record_ids:
        history.sent(record_id, partition, record_id.encode())
    return history


def held(*record_ids: str, first_offset: int = 0) -> list[Record]:
    return [Record(first_offset + n, name, name.encode()) for n, name in enumerate(record_ids)]


def kinds(history: History) -> set[Kind]:
    return {anomaly.kind for anomaly in check(history)}


def test_a_log_that_kept_its_promises_has_no_anomaly() -> None:
    history = started("a", "b", "unknown there", "unknown gone", "refused")
    history.acknowledged("a", 0)
    history.consumed("r", "t-0", held("a")[0])
    history.acknowledged("b", 1)
    history.refused("refused")
    history.read_back("t-0", held("a", "b", "unknown there"))
    assert check(history) == []


def test_an_acknowledged_record_that_is_absent_is_lost() -> None:
    history = started("a", "b")
    history.acknowledged("a", 0)
    history.acknowledged("b", 1)
    history.read_back("t-0", held("a"))
    assert check(history) == [Anomaly(Kind.LOST, "t-0", 1, "b")]


def test_a_record_lost_for_a_while_is_lost() -> None:
    history = started("a")
    history.acknowledged("a", 0)
    history.read_back("t-0", [])
    history.read_back("t-0", held("a"))
    assert kinds(history) == {Kind.LOST}


def test_a_record_below_the_start_offset_is_retired_and_not_lost() -> None:
    history = started("a", "b")
    history.acknowledged("a", 0)
    history.acknowledged("b", 1)
    history.consumed("r", "t-0", held("a")[0])
    history.read_back("t-0", held("b", first_offset=1), start_offset=1)
    assert check(history) == []


def test_a_start_that_goes_back_is_found() -> None:
    history = started("a", "b")
    history.may_go("t-0", 2)
    history.began_at("t-0", 2)
    history.began_at("t-0", 1)
    history.read_back("t-0", held("b", first_offset=1), start_offset=1)
    assert kinds(history) == {Kind.WENT_BACK}


def test_a_start_beyond_what_was_to_go_is_found() -> None:
    history = started("a", "b")
    history.may_go("t-0", 1)
    history.began_at("t-0", 1)
    assert kinds(history) == set()
    history.began_at("t-0", 2)
    assert kinds(history) == {Kind.TOO_MUCH_GONE}


def test_acks_1_may_go_with_the_power_and_its_offset_be_given_again() -> None:
    history = started("a", "b")
    history.acknowledged("a", 0, Acks.ONE)
    history.power_lost()
    history.acknowledged("b", 0)
    history.read_back("t-0", held("b"))
    assert check(history) == []


def test_acks_1_gone_with_the_power_may_be_sent_again() -> None:
    history = started("a", "b")
    history.acknowledged("a", 0, Acks.ONE)
    history.acknowledged("b", 1, Acks.ONE)
    history.power_lost()
    history.sent("b", "t-0", b"b")
    history.acknowledged("b", 0)
    history.read_back("t-0", held("b"))
    assert check(history) == []


def test_acks_1_may_be_seen_late_but_not_be_lost_without_a_power_cut() -> None:
    history = started("a")
    history.acknowledged("a", 0, Acks.ONE)
    history.read_back("t-0", [])
    assert kinds(history) == {Kind.LOST}
    history.read_back("t-0", held("a"))
    assert check(history) == []


def test_acks_1_followed_by_acks_all_survives_a_power_cut() -> None:
    history = started("a")
    history.acknowledged("a", 0, Acks.ONE)
    history.acknowledged("a", 0, Acks.ALL)
    history.power_lost()
    history.read_back("t-0", [])
    assert kinds(history) == {Kind.LOST}


def test_acks_0_promises_nothing() -> None:
    history = started("a")
    history.acknowledged("a", 0, Acks.NONE)
    history.read_back("t-0", [])
    assert check(history) == []


def test_one_record_at_two_offsets_is_doubled() -> None:
    history = started("unknown")
    history.read_back("t-0", held("unknown", "unknown"))
    assert check(history) == [Anomaly(Kind.DOUBLED, "t-0", 0, "unknown", "1")]


def test_a_retry_acknowledged_at_another_offset_is_doubled() -> None:
    history = started("a")
    history.acknowledged("a", 0)
    history.sent("a", "t-0", b"a")
    history.acknowledged("a", 1)
    history.read_back("t-0", held("a"))
    assert Kind.DOUBLED in kinds(history)


def test_an_offset_read_back_twice_is_doubled() -> None:
    history = started("a")
    history.read_back("t-0", held("a") + held("a"))
    assert kinds(history) == {Kind.DOUBLED}


def test_offsets_read_back_downwards_are_reordered() -> None:
    history = started("a", "b")
    history.read_back("t-0", held("a", "b")[::-1])
    assert kinds(history) == {Kind.REORDERED}


def test_a_later_send_at_an_earlier_offset_is_reordered() -> None:
    history = started("a", "b")
    history.acknowledged("b", 0)
    history.acknowledged("a", 1)
    history.read_back("t-0", held("b", "a"))
    assert check(history) == [Anomaly(Kind.REORDERED, "t-0", 0, "b", "a")]


def test_two_producers_owe_each_other_no_order() -> None:
    history = History()
    history.sent("a", "t-0", b"a", producer="p")
    history.sent("b", "t-0", b"b", producer="q")
    history.acknowledged("b", 0)
    history.acknowledged("a", 1)
    history.read_back("t-0", held("b", "a"))
    assert check(history) == []


def test_a_record_never_sent_is_a_phantom() -> None:
    history = History()
    history.read_back("t-0", held("ghost"))
    assert check(history) == [Anomaly(Kind.PHANTOM, "t-0", 0, "ghost")]


def test_a_record_sent_to_another_partition_is_a_phantom() -> None:
    history = started("a", partition="t-1")
    history.read_back("t-0", held("a"))
    assert kinds(history) == {Kind.PHANTOM}


def test_other_bytes_than_sent_are_changed() -> None:
    history = started("a")
    history.acknowledged("a", 0)
    history.read_back("t-0", [Record(0, "a", b"A")])
    assert check(history) == [Anomaly(Kind.CHANGED, "t-0", 0, "a")]


def test_one_offset_acknowledged_to_two_is_answered_twice() -> None:
    history = started("a", "b")
    history.acknowledged("a", 0)
    history.acknowledged("b", 0)
    history.read_back("t-0", held("a"))
    assert Anomaly(Kind.ANSWERED_TWICE, "t-0", 0, "b", "a") in check(history)


def test_one_offset_read_as_two_records_is_answered_twice() -> None:
    history = started("a", "b")
    history.consumed("r", "t-0", held("a")[0])
    history.consumed("q", "t-0", held("b")[0])
    assert Kind.ANSWERED_TWICE in kinds(history)


def test_an_offset_read_as_one_and_acknowledged_to_another_is_answered_twice() -> None:
    for read_first in (True, False):
        history = started("a", "b")
        if read_first:
            history.consumed("r", "t-0", held("b")[0])
        history.acknowledged("a", 0)
        history.read_back("t-0", held("b"))
        assert Kind.ANSWERED_TWICE in kinds(history)


def test_a_record_consumed_and_then_absent_has_unhappened() -> None:
    history = started("a")
    history.consumed("r", "t-0", held("a")[0])
    history.read_back("t-0", [])
    assert check(history) == [Anomaly(Kind.UNHAPPENED, "t-0", 0, "a", "r")]


def test_what_was_read_back_once_must_be_there_ever_after() -> None:
    history = started("a")
    history.read_back("t-0", held("a"))
    history.power_lost()
    history.read_back("t-0", [])
    assert kinds(history) == {Kind.UNHAPPENED}


def test_a_refused_record_that_is_there_is_found() -> None:
    history = started("a")
    history.refused("a")
    history.read_back("t-0", held("a"))
    assert check(history) == [Anomaly(Kind.REFUSED, "t-0", 0, "a")]


def test_a_refused_record_may_be_there_if_it_was_sent_again() -> None:
    history = started("a", "a")
    history.refused("a")
    history.read_back("t-0", held("a"))
    assert check(history) == []


def test_an_acknowledged_record_at_another_offset_has_moved() -> None:
    history = started("a")
    history.acknowledged("a", 0)
    history.read_back("t-0", held("a", first_offset=5))
    assert check(history) == [Anomaly(Kind.MOVED, "t-0", 0, "a", "5")]


def test_a_record_read_before_it_is_acknowledged_elsewhere_has_moved() -> None:
    history = started("a")
    history.consumed("r", "t-0", held("a", first_offset=5)[0])
    history.acknowledged("a", 0)
    history.read_back("t-0", [], start_offset=6)
    assert check(history) == [Anomaly(Kind.MOVED, "t-0", 0, "a", "5")]


def test_a_history_that_proves_nothing_is_an_error() -> None:
    unread = started("a")
    unread.acknowledged("a", 0)
    early = started("a", "b")
    early.acknowledged("a", 0)
    early.read_back("t-0", held("a"))
    early.acknowledged("b", 1)
    unsent = History()
    unsent.acknowledged("a", 0)
    unsent_too = History()
    unsent_too.refused("a")
    ambiguous = started("a")
    ambiguous.sent("a", "t-0", b"other bytes")
    for history in (unread, early, unsent, unsent_too, ambiguous):
        with pytest.raises(ValueError):
            check(history)


def test_every_kind_describes_itself_in_one_sentence() -> None:
    for kind in Kind:
        sentence = Anomaly(kind, "t-0", 7, "a", "b").describe()
        assert "t-0@7" in sentence
        assert "{" not in sentence
        assert sentence.endswith(".")
        assert sentence.count(".") == 1
