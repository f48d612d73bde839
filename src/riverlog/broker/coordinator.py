"""The coordinator of consumer groups: asks the rules, keeps what they decide, tells who waits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from riverlog.broker.deadlines import Deadlines
from riverlog.broker.group_loading import GroupLoading
from riverlog.broker.group_log import GroupLog
from riverlog.broker.offsets_topic import OffsetsTopic
from riverlog.groups.attending import Caller, Sync, decide_heartbeat, decide_leave, decide_sync
from riverlog.groups.decision import Decision, Refused, Reply
from riverlog.groups.errors import (
    CoordinatorUnavailable,
    GroupError,
    InvalidGroupId,
    InvalidMember,
    RebalanceInProgress,
)
from riverlog.groups.facts import DurableFact, OffsetCommitted
from riverlog.groups.group import NEVER_MS, Group, Place
from riverlog.groups.joining import Join, decide_join
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
from riverlog.groups.rebalancing import due, settling_failed
from riverlog.groups.settings import GroupSettings
from riverlog.log.errors import LogClosed, StorageFailed
from riverlog.runtime.chance import Chance, new_uuid, uuid_text
from riverlog.runtime.clock import Clock
from riverlog.runtime.tasks import Supervisor

Told = Callable[[Reply], None]
Written = Callable[[GroupError | None], None]

# Somewhat less than the format of records can hold: a member's id is made of such a name.
NAME_BYTES_MAX = 32_000
CLIENT_ID_LENGTH_MAX = 255
SMALL_PROFILE_BYTES = 4_096

# So many records for each that matters are kept before a log is condensed.
LENGTH_PER_FACT = 4


class Coordinator:
    """All groups of a broker; belongs to one event loop.

    Every method that names a group raises `CoordinatorUnavailable` while there is no log for it,
    and `CoordinatorLoading` while that is being read.
    """

    def __init__(
        self, topic: OffsetsTopic, clock: Clock, chance: Chance, settings: GroupSettings
    ) -> None:
        self._topic = topic
        self._clock = clock
        self._chance = chance
        self.settings = settings
        self._tasks = Supervisor(clock, chance)
        self._groups: dict[str, Group] = {}
        self._loading = GroupLoading(topic, clock, self._tasks, self._groups, self._follow)
        self._deadlines = Deadlines(clock, self._tasks, self._look_again)
        self._waiting: dict[tuple[str, str], Told] = {}
        self._is_stopping = False
        self._expires = False

    # Start and end.

    def start(self) -> None:
        """Begins to read what there is, and to let go of what is too old."""
        if self._topic.exists and not self._expires:
            self._expires = True
            self._tasks.start("keep committed offsets", self._keep_house)

    @property
    def is_prepared(self) -> bool:
        """Whether there is a place for groups."""
        return self._topic.exists

    async def prepare(self) -> None:
        """There is a place for groups when it returns; raises what making a topic raises."""
        await self._topic.ensure()
        self.start()

    def stop_waiting(self) -> None:
        """Tells whoever waits for others to ask again; the broker is about to stop."""
        self._is_stopping = True
        error = CoordinatorUnavailable("the broker is stopping")
        waiting, self._waiting = self._waiting, {}
        for (_, member_id), told in waiting.items():
            told(Refused(member_id, error))

    async def close(self) -> None:
        """Nothing of it runs any more when it returns."""
        await self._tasks.close()

    # Members.

    def join(
        self,
        group_id: str,
        profile: Profile,
        protocol_type: str,
        told: Told,
        *,
        returns_with_id: bool,
    ) -> None:
        """Tells, maybe much later, in which generation the member is, or why in none."""
        _check_texts(profile, protocol_type)
        name = profile.instance_id or profile.client_id[:CLIENT_ID_LENGTH_MAX]
        new_id = f"{name}-{uuid_text(new_uuid(self._chance))}"
        asked = Join(profile, protocol_type, new_id, returns_with_id)
        group = self._group(_fitting(_named(group_id)))
        self._check_room(group, profile)
        decision = decide_join(group, asked, self._clock.monotonic_ms(), self.settings)
        self._answer(group, decision, told)

    def sync(self, group_id: str, asked: Sync, told: Told) -> None:
        """Tells what the member's share of the work is, once the leader has said."""
        group = self._group(_named(group_id))
        now_ms, time_ms = self._clock.monotonic_ms(), self._clock.now_ms()
        self._answer(group, decide_sync(group, asked, now_ms, time_ms), told)

    def heartbeat(self, group_id: str, caller: Caller) -> None:
        """Raises what the member has to know; a `GroupError`."""
        group = self._group(_named(group_id))
        decision = decide_heartbeat(group, caller, self._clock.monotonic_ms())
        for fact in decision.facts:
            group.apply(fact)
        if isinstance(decision.reply, Refused):
            raise decision.reply.error

    def leave(self, group_id: str, member_id: str, instance_id: str | None) -> None:
        """The member is gone when it returns; raises a `GroupError`."""
        group = self._group(_named(group_id))
        now_ms = self._clock.monotonic_ms()
        decision = decide_leave(group, member_id, instance_id, now_ms, self.settings)
        self._carry_out(group, decision)
        self._follow(group)

    # Offsets.

    def check_offset(self, offset: OffsetCommitted) -> None:
        """Raises why this one cannot be committed, whoever asks."""
        check_metadata(offset, self.settings)

    def commit(self, group_id: str, asked: Commit, written: Written) -> None:
        """Tells when the offsets are durable, or why they are not; raises a `GroupError`."""
        group = self._group(_fitting(group_id))
        self._check_room(group)
        decision = decide_commit(group, asked, self._clock.monotonic_ms())
        self._carry_out(group, decision, written)

    def offsets(self, group_id: str) -> Mapping[Place, OffsetCommitted]:
        """What the group has committed, durably; nothing for one that nobody knows."""
        return self._group(group_id).offsets if self._topic.exists else {}

    def forget(self, group_id: str, places: Sequence[Place], written: Written) -> None:
        """Tells when committed offsets are gone, whatever there was of them."""
        group = self._known(group_id)
        self._write(group, decide_forget(group, places), written)

    def check_forgettable(self, group_id: str) -> None:
        """Raises why no offset of the group may be deleted."""
        check_forgettable(self._known(group_id))

    def check_unread(self, group_id: str, topic: str) -> None:
        """Raises `GroupSubscribed` if members of the group read the topic."""
        check_unread(self._known(group_id), topic)

    def forget_topic(self, topic: str) -> None:
        """Lets go of all offsets in a topic that is gone."""
        self._loading.begin_all()
        for group in list(self._groups.values()):
            self._write(group, decide_forget_topic(group, topic), _nobody)

    # Groups.

    def delete(self, group_id: str, written: Written) -> None:
        """Tells when a group and its offsets are gone; raises a `GroupError`."""
        group = self._known(group_id)
        self._write(group, decide_delete(group), written)

    def find(self, group_id: str) -> Group | None:
        """The group, if there is one; look, do not apply."""
        group = self._group(group_id) if self._topic.exists else None
        return None if group is None or group.is_blank else group

    def all_groups(self) -> Iterator[Group]:
        """Every group there is; raises `CoordinatorLoading`."""
        self._loading.check_all()
        return (group for group in self._groups.values() if not group.is_blank)

    # From decisions to what is true.

    def _known(self, group_id: str) -> Group:
        """The group, or one that is blank: rules know what to say of it."""
        return self._group(group_id) if self._topic.exists else Group(group_id)

    def _group(self, group_id: str) -> Group:
        if self._is_stopping:
            raise CoordinatorUnavailable("the broker is stopping")
        self._loading.check(group_id)
        return self._groups.get(group_id) or Group(group_id)

    def _check_room(self, group: Group, profile: Profile | None = None) -> None:
        """Raises `CoordinatorUnavailable`: when others have left, there will be room again."""
        is_new = group.group_id not in self._groups
        if is_new and len(self._groups) >= self.settings.groups_max:
            raise CoordinatorUnavailable(f"there are {len(self._groups)} groups, as many as may be")
        # What is small is bounded by the number of members, and not worth adding up.
        if profile is not None and profile.size_bytes > SMALL_PROFILE_BYTES:
            members = (member for known in self._groups.values() for member in known.members)
            taken_bytes = sum(member.profile.size_bytes for member in members)
            if taken_bytes + profile.size_bytes > self.settings.members_bytes_max:
                raise CoordinatorUnavailable(f"members have said {taken_bytes} bytes already")

    def _answer(self, group: Group, decision: Decision, told: Told) -> None:
        self._carry_out(group, decision)
        if decision.reply is not None:
            told(decision.reply)
        if decision.waits_as is not None:
            key = group.group_id, decision.waits_as
            earlier = self._waiting.pop(key, None)
            if earlier is not None:
                error = RebalanceInProgress("the member has asked again")
                earlier(Refused(decision.waits_as, error))
            self._waiting[key] = told
        self._follow(group)

    def _carry_out(self, group: Group, decision: Decision, written: Written | None = None) -> None:
        if decision.facts:
            self._groups[group.group_id] = group
        durable: list[DurableFact] = []
        for fact in decision.facts:
            if isinstance(fact, DurableFact):
                durable.append(fact)
            else:
                group.apply(fact)
        for reply in decision.releases:
            told = self._waiting.pop((group.group_id, reply.member_id), None)
            if told is not None:
                told(reply)
        if durable or written is not None:
            self._write(group, durable, written or partial(self._settled, group))

    def _follow(self, group: Group) -> None:
        """Carries out all that follows from what is true by now."""
        now_ms, time_ms = self._clock.monotonic_ms(), self._clock.now_ms()
        while (decision := due(group, now_ms, time_ms, self.settings)) is not None:
            self._carry_out(group, decision)
        if group.is_blank:
            if self._groups.pop(group.group_id, None) is not None:
                self._loading.log_of(group.group_id).rebase(group.group_id, None)
            return
        deadline_ms = group.next_deadline_ms
        if deadline_ms < NEVER_MS and not self._is_stopping:
            # Never for this very moment: a rule that forgot to act must not stop the loop.
            self._deadlines.note(group.group_id, max(deadline_ms, now_ms + 1))

    def _look_again(self, group_id: str) -> None:
        group = self._groups.get(group_id)
        if group is not None:
            self._follow(group)

    def _write(self, group: Group, facts: Sequence[DurableFact], written: Written) -> None:
        """Facts become true once they are durable, in the order they were written."""
        if not facts:
            written(None)
            return

        def told(error: Exception | None) -> None:
            for fact in facts:
                group.expect_no_more(fact)
                if error is None:
                    group.apply(fact)
            written(None if error is None else CoordinatorUnavailable(str(error)))
            self._follow(group)

        self._groups[group.group_id] = group
        for fact in facts:
            group.expect(fact)
        try:
            self._loading.log_of(group.group_id).append(group.group_id, facts, told)
        except (StorageFailed, LogClosed, OSError) as error:
            told(error)

    def _settled(self, group: Group, error: GroupError | None) -> None:
        if error is not None:
            now_ms = self._clock.monotonic_ms()
            self._carry_out(group, settling_failed(group, now_ms, self.settings))

    async def _keep_house(self) -> None:
        while True:
            self._loading.begin_all()
            for log in self._loading.logs_read():
                await self._condense(log)
            await self._clock.sleep_ms(self.settings.retention_check_ms)
            time_ms = self._clock.now_ms()
            for group in list(self._groups.values()):
                self._write(group, decide_expire(group, time_ms, self.settings), _nobody)

    async def _condense(self, log: GroupLog) -> None:
        """Writes each group down anew, as it stands, and lets go of what came before.

        There is no compaction: without this, a start would read every commit there ever was.
        """
        group_ids = [group_id for group_id in log.group_ids if group_id in self._groups]
        facts_kept = sum(1 + len(self._groups[group_id].offsets) for group_id in group_ids)
        if log.length <= self.settings.log_length_min + LENGTH_PER_FACT * facts_kept:
            return
        for group_id in group_ids:
            if (group := self._groups.get(group_id)) is not None:
                self._write_anew(log, group)
            await self._clock.sleep_ms(0)
        # What fails now, the next time will do.
        with suppress(StorageFailed, LogClosed, OSError):
            await log.settled()
            await log.trim()

    def _write_anew(self, log: GroupLog, group: Group) -> None:
        base_offset = log.next_offset

        def written(error: GroupError | None) -> None:
            if error is None:
                log.rebase(group.group_id, base_offset)

        facts = standing(group)
        if facts:
            self._write(group, facts, written)


def _nobody(_error: GroupError | None) -> None:
    """If the disk refuses, the next time will do."""


def _named(group_id: str) -> str:
    if not group_id:
        raise InvalidGroupId("a group needs a name")
    return group_id


def _fitting(group_id: str) -> str:
    if len(group_id.encode()) > NAME_BYTES_MAX:
        raise InvalidGroupId(f"a group's name has at most {NAME_BYTES_MAX} bytes")
    return group_id


def _check_texts(profile: Profile, protocol_type: str) -> None:
    names = [name for name, _ in profile.protocols]
    for text in (profile.instance_id or "", protocol_type, *names):
        if len(text.encode()) > NAME_BYTES_MAX:
            raise InvalidMember(f"a name has at most {NAME_BYTES_MAX} bytes")
