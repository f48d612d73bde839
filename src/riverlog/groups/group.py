"""A group: its state, and the facts that change it. The rules are in the files beside this one."""

from enum import Enum

from riverlog.groups.errors import FencedInstance, UnknownMember
from riverlog.groups.facts import (
    AssignmentAsked,
    AssignmentMade,
    DurableFact,
    Fact,
    GenerationBegan,
    GenerationSettled,
    GroupEmptied,
    GroupForgotten,
    MemberHeard,
    MemberIdGiven,
    MemberIdLapsed,
    MemberJoined,
    MemberLeft,
    MemberReplaced,
    OffsetCommitted,
    OffsetForgotten,
    RebalanceBegan,
    Restored,
    WaitEnded,
)
from riverlog.groups.members import Awaits, Member, Members, Profile

Place = tuple[str, int]
NEVER_MS = 2**63 - 1


class State(Enum):
    """Where a group is in its life, by Kafka's names."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"  # Members are joining.
    COMPLETING = "CompletingRebalance"  # The leader is sharing out the work.
    STABLE = "Stable"
    DEAD = "Dead"


class Group:
    """One group. `apply` alone changes it, live and in recovery.

    `offsets` and `settled` are what is durable. `under_way` is what is being written, in its
    order: a rule that ends or repeats what is durable must know what is about to be.
    """

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.state = State.EMPTY
        self.generation = 0
        self.protocol_type = ""
        self.protocol: str | None = None
        self.leader_id: str | None = None
        self.members = Members()
        self.given_ids: dict[str, int] = {}
        self._given_deadline_ms: int | None = NEVER_MS
        self.deadline_ms = NEVER_MS
        self.delay_left_ms: int | None = None
        self.has_newcomers = False
        self.offsets: dict[Place, OffsetCommitted] = {}
        self.settled: GenerationSettled | None = None
        self.under_way: list[DurableFact] = []

    @property
    def is_blank(self) -> bool:
        """Whether nothing would be lost by forgetting it."""
        if self.state is not State.EMPTY or self.given_ids:
            return False
        return self.settled is None and not self.offsets and not self.under_way

    @property
    def is_settling(self) -> bool:
        """Whether the present generation is being written."""
        return any(
            isinstance(fact, GenerationSettled) and fact.generation == self.generation
            for fact in self.under_way
        )

    @property
    def expected(self) -> set[Place]:
        """Where offsets are being written."""
        return {
            (fact.topic, fact.partition)
            for fact in self.under_way
            if isinstance(fact, OffsetCommitted)
        }

    @property
    def next_deadline_ms(self) -> int:
        """When time alone will next change something, at the earliest."""
        deadlines = [member.deadline_ms for member in self.members if member.can_expire]
        return min([self.deadline_ms, self.given_deadline_ms, *deadlines])

    @property
    def given_deadline_ms(self) -> int:
        """When the first of the ids lapses that were given and not used."""
        if self._given_deadline_ms is None:
            self._given_deadline_ms = min(self.given_ids.values(), default=NEVER_MS)
        return self._given_deadline_ms

    def member(self, member_id: str, instance_id: str | None) -> Member:
        """The member that asks; raises `UnknownMember`, or `FencedInstance`."""
        if instance_id is not None:
            known_id = self.members.id_of_instance(instance_id)
            if known_id is None:
                raise UnknownMember(f"group '{self.group_id}' has no instance '{instance_id}'")
            if known_id != member_id:
                raise FencedInstance(f"instance '{instance_id}' is another member by now")
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMember(f"group '{self.group_id}' has no member '{member_id}'")
        return member

    # Facts.

    def apply(self, fact: Fact) -> None:
        match fact:
            case MemberHeard():
                member = self.members.get(fact.member_id)
                if member is not None:
                    member.deadline_ms = fact.deadline_ms
            case OffsetCommitted():
                self.offsets[fact.topic, fact.partition] = fact
            case OffsetForgotten():
                self.offsets.pop((fact.topic, fact.partition), None)
            case GroupForgotten():
                self.offsets.clear()
                self.settled = None
            case GenerationSettled():
                self.settled = fact
            case Restored():
                self._restore(fact)
            case MemberIdGiven():
                # Kept, not looked for: a crowd that asks for ids makes many of them.
                self._given_deadline_ms = min(self.given_deadline_ms, fact.deadline_ms)
                self.given_ids[fact.member_id] = fact.deadline_ms
            case MemberIdLapsed():
                self._take_back(fact.member_id)
            case MemberJoined():
                self._join(fact)
            case MemberReplaced():
                self._replace(fact)
            case MemberLeft():
                self.members.remove(fact.member_id)
            case RebalanceBegan():
                self._begin_rebalance(fact)
            case GenerationBegan():
                self._begin_generation(fact)
            case GroupEmptied():
                self.state = State.EMPTY
                self.generation = fact.generation
                self.protocol = self.leader_id = None
                self.deadline_ms = NEVER_MS
            case AssignmentAsked():
                self._ask(self._existing(fact.member_id))
            case AssignmentMade():
                self._assign(fact)
            case WaitEnded():
                self._existing(fact.member_id).end_wait()

    def expect(self, fact: DurableFact) -> None:
        """Notes that a fact is being written."""
        self.under_way.append(fact)

    def expect_no_more(self, fact: DurableFact) -> None:
        """Notes that it has been written, or will not be."""
        self.under_way.remove(fact)

    def _take_back(self, member_id: str) -> None:
        if self.given_ids.pop(member_id, None) == self._given_deadline_ms:
            self._given_deadline_ms = None

    def _existing(self, member_id: str) -> Member:
        member = self.members.get(member_id)
        assert member is not None, "a fact is about a member there is"
        return member

    def _join(self, fact: MemberJoined) -> None:
        member_id = fact.profile.member_id
        self._take_back(member_id)
        member = self.members.get(member_id)
        if member is None:
            member = Member(fact.profile, fact.deadline_ms)
            member.is_new = True
            self.has_newcomers = True
        else:
            member.profile = fact.profile
        member.deadline_ms = fact.deadline_ms
        member.awaits = Awaits.GENERATION
        if not self.members:
            self.protocol_type = fact.protocol_type
        self.members.put(member)

    def _replace(self, fact: MemberReplaced) -> None:
        former = self.members.remove(fact.former_id)
        member = Member(fact.profile, fact.deadline_ms)
        member.assignment = former.assignment
        member.has_synced = former.has_synced
        member.replaces = fact.former_id
        member.awaits = Awaits.PLACE if self.state is State.STABLE else Awaits.GENERATION
        self.members.put(member)
        if self.leader_id == fact.former_id:
            self.leader_id = fact.profile.member_id

    def _begin_rebalance(self, fact: RebalanceBegan) -> None:
        self.state = State.PREPARING
        self.deadline_ms = fact.deadline_ms
        self.delay_left_ms = fact.delay_left_ms
        self.has_newcomers = False
        for member in self.members:
            if member.awaits is Awaits.ASSIGNMENT:
                member.awaits = Awaits.NOTHING
            elif member.awaits is Awaits.PLACE:
                # It has asked to join, and the generation it asked for is over.
                member.awaits = Awaits.GENERATION

    def _begin_generation(self, fact: GenerationBegan) -> None:
        self.state = State.COMPLETING
        self.generation = fact.generation
        self.protocol = fact.protocol
        self.leader_id = fact.leader_id
        self.deadline_ms = fact.deadline_ms
        self.delay_left_ms = None
        for member in self.members:
            member.assignment = b""
            member.is_new = False
            member.has_synced = False
            member.end_wait()
            member.deadline_ms = fact.at_ms + member.profile.session_timeout_ms

    def _assign(self, fact: AssignmentMade) -> None:
        self.state = State.STABLE
        for member in self.members:
            member.assignment = fact.assignments.get(member.profile.member_id, b"")
            member.end_wait()
            member.deadline_ms = fact.at_ms + member.profile.session_timeout_ms
        self._relax_when_all_have_synced()

    def _ask(self, member: Member) -> None:
        member.has_synced = True
        if self.state is State.COMPLETING:
            member.awaits = Awaits.ASSIGNMENT
        self._relax_when_all_have_synced()

    def _relax_when_all_have_synced(self) -> None:
        """There is a deadline only for those who have not asked for their share."""
        if all(member.has_synced for member in self.members):
            self.deadline_ms = NEVER_MS

    def _restore(self, fact: Restored) -> None:
        settled = self.settled
        if settled is None:
            return
        self.generation = settled.generation
        self.protocol_type = settled.protocol_type
        self.protocol = settled.protocol
        self.leader_id = settled.leader_id
        self.state = State.STABLE if settled.members else State.EMPTY
        self.members.clear()
        for each in settled.members:
            profile = Profile(
                each.member_id,
                each.instance_id,
                each.client_id,
                each.client_host,
                each.session_timeout_ms,
                each.rebalance_timeout_ms,
                ((settled.protocol or "", each.subscription),),
            )
            member = Member(profile, fact.at_ms + each.session_timeout_ms)
            member.assignment = each.assignment
            self.members.put(member)
