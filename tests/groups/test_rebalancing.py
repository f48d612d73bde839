"""Rules that texts do not show well: votes, the disk that fails, and what comes next when."""

from riverlog.groups.decision import Decision, Refused
from riverlog.groups.errors import CoordinatorUnavailable, RebalanceInProgress
from riverlog.groups.facts import MemberHeard
from riverlog.groups.group import NEVER_MS, Group, State
from riverlog.groups.members import Profile, chosen_protocol
from riverlog.groups.rebalancing import due, settlement, settling_failed
from riverlog.groups.settings import GroupSettings
from tests.groups.stage import Stage

SETTINGS = GroupSettings(initial_delay_ms=0)


def liking(*protocols: str) -> Profile:
    return Profile("m", None, "c", "/", 10_000, 10_000, tuple((name, b"") for name in protocols))


def completing() -> Stage:
    """Two members of generation 2, of which Bob waits for his share."""
    stage = Stage(SETTINGS)
    stage.join("alice")
    stage.join("bob")
    stage.join("alice", member_id="alice-1")
    stage.sync("bob-2", 2)
    return stage


def carry_out(stage: Stage, decision: Decision) -> None:
    for fact in decision.facts:
        stage.group.apply(fact)


def test_of_equal_votes_the_present_protocol_wins() -> None:
    split = [liking("range", "sticky"), liking("sticky", "range")]
    assert chosen_protocol(split, None) == "range"
    assert chosen_protocol(split, "sticky") == "sticky"


def test_a_protocol_that_one_member_does_not_know_gets_no_votes() -> None:
    profiles = [liking("new", "old"), liking("new", "old"), liking("old")]
    assert chosen_protocol(profiles, "new") == "old"


def test_when_the_disk_refuses_a_generation_its_members_join_again() -> None:
    stage = completing()
    decision = settling_failed(stage.group, 0, SETTINGS)
    (refused,) = decision.releases
    assert isinstance(refused, Refused)
    assert refused.member_id == "bob-2"
    assert isinstance(refused.error, CoordinatorUnavailable)
    carry_out(stage, decision)
    assert stage.group.state is State.PREPARING


def test_a_member_whose_place_the_disk_refused_may_ask_again() -> None:
    stage = Stage(SETTINGS)
    stage.join("alice", instance_id="a")
    stage.sync("alice-1", 1, instance_id="a")
    # Not through the stage, where everything is durable at once.
    stage.group.expect(settlement(stage.group, {}, 0))
    stage.join("alice", instance_id="a")
    member = stage.group.members.get("alice-2")
    assert member is not None
    assert member.awaits.name == "PLACE"
    decision = settling_failed(stage.group, 0, SETTINGS)
    assert [reply.member_id for reply in decision.releases] == ["alice-2"]
    carry_out(stage, decision)
    assert member.awaits.name == "NOTHING"
    assert stage.group.state is State.STABLE


def test_a_refusal_that_comes_too_late_changes_nothing() -> None:
    stage = completing()
    stage.join("carol")
    assert settling_failed(stage.group, 0, SETTINGS) == Decision()


def test_whoever_waits_for_a_share_hears_of_the_next_rebalance() -> None:
    stage = completing()
    stage.join("carol")
    (refused,) = stage.replies
    assert isinstance(refused, Refused)
    assert refused.member_id == "bob-2"
    assert isinstance(refused.error, RebalanceInProgress)
    assert any(isinstance(fact, MemberHeard) for fact in stage.facts)


def test_a_group_without_members_waits_for_nothing() -> None:
    assert Group("g").next_deadline_ms == NEVER_MS
    assert due(Group("g"), 10**12, 10**12, SETTINGS) is None


def test_a_leader_is_asked_once_while_the_disk_is_at_work() -> None:
    stage = completing()
    stage.group.expect(settlement(stage.group, {}, 0))
    stage.sync("alice-1", 2, {"alice-1": b"all"})
    assert stage.written == []


def test_after_the_last_member_asked_there_is_no_deadline_but_sessions() -> None:
    stage = completing()
    stage.group.expect(settlement(stage.group, {}, 0))
    stage.sync("alice-1", 2)
    assert stage.group.deadline_ms == NEVER_MS
    assert due(stage.group, 10**9, 10**9, SETTINGS) is None


def test_a_leader_is_heard_while_an_earlier_generation_is_still_written() -> None:
    stage = completing()
    stage.group.expect(settlement(stage.group, {}, 0)._replace(generation=1))
    stage.sync("alice-1", 2, {"alice-1": b"all"})
    assert len(stage.written) == 1


def test_a_share_of_an_earlier_generation_is_not_kept() -> None:
    stage = Stage(SETTINGS)
    stage.join("alice")
    stage.sync("alice-1", 1, {"alice-1": b"all"})
    stage.join("alice", member_id="alice-1")
    assert stage.group.state is State.COMPLETING
    assert [member.assignment for member in stage.group.members] == [b""]


def test_a_leader_stays_one_wherever_it_stands() -> None:
    stage = Stage(SETTINGS)
    stage.join("alice", instance_id="a")
    stage.join("bob")
    stage.join("alice", member_id="alice-1", instance_id="a")
    stage.sync("alice-1", 2, instance_id="a")
    stage.sync("bob-2", 2)
    # Back in another process, it stands behind Bob.
    stage.join("alice", instance_id="a")
    stage.join("alice", member_id="alice-3", instance_id="a")
    stage.join("bob", member_id="bob-2")
    assert stage.group.leader_id == "alice-3"


def test_a_static_member_that_waits_for_its_place_is_in_the_next_generation() -> None:
    stage = Stage(SETTINGS)
    stage.join("alice", instance_id="a")
    stage.sync("alice-1", 1, instance_id="a")
    stage.group.expect(settlement(stage.group, {}, 0))
    stage.join("alice", instance_id="a")
    assert stage.replies == []
    stage.join("bob")
    assert {reply.member_id for reply in stage.replies} == {"alice-2", "bob-3"}
    assert stage.group.generation == 2


def test_a_static_member_that_had_its_share_need_not_ask_for_it_in_its_new_process() -> None:
    stage = Stage(SETTINGS)
    stage.join("alice", instance_id="a", session_timeout_ms=1_000_000)
    stage.join("bob", session_timeout_ms=1_000_000)
    stage.join("alice", member_id="alice-1", instance_id="a", session_timeout_ms=1_000_000)
    stage.sync("alice-1", 2, instance_id="a")
    stage.join("alice", instance_id="a", session_timeout_ms=1_000_000)
    stage.wait(60_000)
    assert [member.profile.member_id for member in stage.group.members] == ["alice-3"]


def test_a_newcomer_is_not_waited_for_without_end() -> None:
    stage = Stage(SETTINGS)
    hour_ms = 3_600_000
    stage.join("alice", session_timeout_ms=1_800_000, rebalance_timeout_ms=hour_ms)
    stage.sync("alice-1", 1)
    stage.join("bob")
    # It asks again, as its connection was lost; that changes nothing.
    stage.wait(1_000)
    stage.join("bob", member_id="bob-2")
    stage.wait(SETTINGS.newcomer_timeout_ms - 1)
    assert stage.replies == []
    stage.wait(1)
    assert [reply.member_id for reply in stage.replies] == ["bob-2"]
    assert stage.group.members.get("bob-2") is None
