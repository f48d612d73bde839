"""Groups under seeded schedules of joins, leaves, timeouts, lost replies and crashes.

A failure names its seed: `GroupStory(seed).play()` plays it again.
"""

from collections.abc import Callable, Sequence

import pytest

from riverlog.broker.group_log import GroupLog
from riverlog.groups import offsets
from riverlog.groups.attending import Caller
from riverlog.groups.facts import DurableFact, Restored
from riverlog.groups.group import Group
from riverlog.groups.members import Member
from riverlog.log.waiting import Told
from tests.simulation.group_story import GroupStory
from tests.simulation.ledger import Broken

SCHEDULES = 2_000
CHUNKS = 10
# So many schedules a planted bug may live through.
PATIENCE = 150

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_schedule_breaks_a_promise(chunk: int) -> None:
    syncs = commits = 0

    for seed in range(chunk, SCHEDULES, CHUNKS):
        story = _played(seed)
        syncs += story.ledger.syncs
        commits += story.ledger.commits

    assert syncs > SCHEDULES // CHUNKS * 3, "too few generations to be worth the name"
    assert commits > SCHEDULES // CHUNKS * 20, "too few commits to be worth the name"


def _answers_before_the_disk(patch: pytest.MonkeyPatch) -> None:
    append = GroupLog.append

    def hasty(log: GroupLog, group_id: str, facts: Sequence[DurableFact], told: Told) -> None:
        append(log, group_id, facts, lambda _error: None)
        told(None)

    patch.setattr(GroupLog, "append", hasty)


def _takes_commits_of_any_generation(patch: pytest.MonkeyPatch) -> None:
    def lenient(group: Group, caller: Caller) -> Member:
        return group.member(caller.member_id, caller.instance_id)

    patch.setattr(offsets, "present_member", lenient)


def _forgets_the_generation_at_a_restart(patch: pytest.MonkeyPatch) -> None:
    restore = Group._restore

    def forgetful(group: Group, fact: Restored) -> None:
        restore(group, fact)
        group.generation = 0

    patch.setattr(Group, "_restore", forgetful)


def _never_gives_a_member_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Member, "can_expire", False)


def _gives_everyone_the_same_share(patch: pytest.MonkeyPatch) -> None:
    assign = Group._assign

    def generous(group: Group, fact: object) -> None:
        assign(group, fact)  # type: ignore[arg-type]  # only passed on
        for member in group.members:
            member.assignment = bytes(range(4))

    patch.setattr(Group, "_assign", generous)


def _lets_go_of_what_still_matters(patch: pytest.MonkeyPatch) -> None:
    trim = GroupLog.trim

    async def greedy(log: GroupLog) -> None:
        for group_id in log.group_ids:
            log.rebase(group_id, None)
        await trim(log)

    patch.setattr(GroupLog, "trim", greedy)


@pytest.mark.parametrize(
    "plant",
    [
        _answers_before_the_disk,
        _takes_commits_of_any_generation,
        _forgets_the_generation_at_a_restart,
        _never_gives_a_member_up,
        _gives_everyone_the_same_share,
        _lets_go_of_what_still_matters,
    ],
    ids=lambda plant: plant.__name__.strip("_"),
)
def test_a_planted_bug_is_caught(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)

    with pytest.raises(Broken):
        _play_many(PATIENCE)


def _play_many(count: int) -> None:
    for seed in range(count):
        GroupStory(seed).play()


def _played(seed: int) -> GroupStory:
    story = GroupStory(seed)
    try:
        story.play()
    except BaseException as failure:
        failure.add_note(f"schedule {seed}")
        raise
    return story
