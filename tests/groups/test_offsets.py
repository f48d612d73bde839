"""Who may commit, and what is let go of when."""

import pytest

from riverlog.groups.attending import Caller
from riverlog.groups.errors import (
    GroupNotEmpty,
    GroupNotFound,
    GroupSubscribed,
    IllegalGeneration,
    OffsetMetadataTooLarge,
)
from riverlog.groups.facts import (
    GroupForgotten,
    MemberJoined,
    OffsetCommitted,
    OffsetForgotten,
)
from riverlog.groups.group import Group
from riverlog.groups.members import Profile
from riverlog.groups.offsets import (
    Commit,
    check_forgettable,
    check_metadata,
    check_unread,
    decide_commit,
    decide_delete,
    decide_expire,
    decide_forget,
    decide_forget_topic,
    standing,
)
from riverlog.groups.settings import DAY_MS, GroupSettings
from tests.groups.stage import WALL_MS, Stage

SETTINGS = GroupSettings()
SUBSCRIPTION = b"\0\3" + b"\0\0\0\1" + b"\0\6orders" + b"\xff\xff\xff\xff"


def committed(topic: str = "orders", partition: int = 0, time_ms: int = 0) -> OffsetCommitted:
    return OffsetCommitted(topic, partition, 5, -1, "", time_ms)


def reading_orders(protocol_type: str = "consumer") -> Stage:
    """A stable group that has offsets in `orders`, which it reads, and in `invoices`."""
    stage = Stage()
    stage.join("alice", protocols=[("range", SUBSCRIPTION)], protocol_type=protocol_type)
    stage.sync("alice-1", 1)
    stage.commit("alice-1", 1, 5, "orders")
    stage.commit("alice-1", 1, 5, "invoices")
    return stage


def test_a_group_that_nobody_knows_has_no_generation_to_commit_in() -> None:
    asked = Commit(Caller("m", None, 3), [committed()])
    with pytest.raises(IllegalGeneration):
        decide_commit(Group("g"), asked, 0)


def test_a_text_beside_an_offset_is_measured_in_bytes() -> None:
    fits = committed()._replace(metadata="ö" * 2_048)
    check_metadata(fits, SETTINGS)
    with pytest.raises(OffsetMetadataTooLarge):
        check_metadata(fits._replace(metadata="ö" * 2_049), SETTINGS)


def test_only_a_group_without_members_is_deleted() -> None:
    stage = reading_orders()
    with pytest.raises(GroupNotEmpty):
        decide_delete(stage.group)
    stage.leave("alice-1")
    assert decide_delete(stage.group) == [
        OffsetForgotten("orders", 0),
        OffsetForgotten("invoices", 0),
        GroupForgotten(),
    ]
    with pytest.raises(GroupNotFound):
        decide_delete(Group("g"))


def test_deleting_a_group_ends_what_is_about_to_be_written_too() -> None:
    group = Group("g")
    group.expect(committed("orders", 1))
    assert OffsetForgotten("orders", 1) in decide_delete(group)


def test_offsets_of_a_topic_that_is_read_stay() -> None:
    stage = reading_orders()
    check_forgettable(stage.group)
    check_unread(stage.group, "invoices")
    with pytest.raises(GroupSubscribed):
        check_unread(stage.group, "orders")
    places = [("invoices", 0), ("invoices", 1)]
    assert decide_forget(stage.group, places) == [OffsetForgotten("invoices", 0)]


def test_what_members_of_another_kind_read_is_not_known() -> None:
    stage = reading_orders("connect")
    with pytest.raises(GroupNotEmpty):
        check_forgettable(stage.group)
    stage.leave("alice-1")
    check_forgettable(stage.group)
    with pytest.raises(GroupNotFound):
        check_forgettable(Group("g"))


def test_a_topic_that_is_gone_takes_its_offsets_with_it() -> None:
    stage = reading_orders()
    assert decide_forget_topic(stage.group, "orders") == [OffsetForgotten("orders", 0)]


def test_a_stable_group_loses_only_what_it_does_not_read() -> None:
    stage = reading_orders()
    week_later_ms = WALL_MS + 7 * DAY_MS
    assert decide_expire(stage.group, week_later_ms - 1, SETTINGS) == []
    assert decide_expire(stage.group, week_later_ms, SETTINGS) == [OffsetForgotten("invoices", 0)]


def test_a_group_of_another_kind_loses_nothing_while_it_has_members() -> None:
    stage = reading_orders("connect")
    assert decide_expire(stage.group, WALL_MS + 100 * DAY_MS, SETTINGS) == []


def test_a_group_without_generations_counts_from_each_commit() -> None:
    group = Group("g")
    group.apply(committed("orders", 0, time_ms=0))
    group.apply(committed("orders", 1, time_ms=1_000))
    assert decide_expire(group, 7 * DAY_MS, SETTINGS) == [OffsetForgotten("orders", 0)]
    assert decide_expire(group, 7 * DAY_MS + 1_000, SETTINGS)[-1] == GroupForgotten()


def test_an_offset_that_was_given_a_time_keeps_to_it() -> None:
    group = Group("g")
    group.apply(committed()._replace(expires_ms=500))
    assert decide_expire(group, 499, SETTINGS) == []
    assert decide_expire(group, 500, SETTINGS) == [OffsetForgotten("orders", 0), GroupForgotten()]


def test_an_offset_that_is_being_committed_again_does_not_expire() -> None:
    group = Group("g")
    group.apply(committed())
    group.expect(committed())
    assert decide_expire(group, 100 * DAY_MS, SETTINGS) == []
    group.expect_no_more(committed())
    assert decide_expire(group, 100 * DAY_MS, SETTINGS) != []


def test_nothing_expires_while_members_join() -> None:
    group = Group("g")
    group.apply(committed())
    stage = Stage(GroupSettings(initial_delay_ms=1_000))
    stage.group = group
    stage.join("alice")
    assert decide_expire(group, 100 * DAY_MS, SETTINGS) == []


def test_deleting_a_group_leaves_who_joined_meanwhile() -> None:
    group = Group("g")
    group.apply(committed())
    profile = Profile("m", None, "c", "/", 10_000, 10_000, (("range", b""),))
    group.apply(MemberJoined(profile, "consumer", 10_000))
    group.apply(GroupForgotten())
    assert not group.offsets
    assert group.members.get("m") is not None


def test_what_stands_is_what_will_be_true_once_all_is_written() -> None:
    stage = reading_orders()
    group = stage.group
    assert standing(group) == [group.settled, *group.offsets.values()]
    group.expect(OffsetForgotten("orders", 0))
    group.expect(committed("invoices", 0, time_ms=9))
    group.expect(committed("invoices", 1))
    assert standing(group) == [
        group.settled,
        committed("invoices", 0, time_ms=9),
        committed("invoices", 1),
    ]
    group.expect(GroupForgotten())
    assert standing(group) == []
