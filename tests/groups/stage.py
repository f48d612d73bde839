"""A group on a stage: commands in, facts and replies out, everything durable at once."""

from collections.abc import Callable, Sequence

from riverlog.groups.attending import Caller, Sync, decide_heartbeat, decide_leave, decide_sync
from riverlog.groups.decision import Decision, Refused, Reply
from riverlog.groups.errors import GroupError
from riverlog.groups.facts import DurableFact, Fact, OffsetCommitted, Restored
from riverlog.groups.group import Group
from riverlog.groups.joining import Join, decide_join
from riverlog.groups.members import Profile
from riverlog.groups.offsets import Commit, decide_commit, decide_expire
from riverlog.groups.rebalancing import due
from riverlog.groups.settings import GroupSettings

# The wall clock shows this when the other one shows zero.
WALL_MS = 1_000_000


class Stage:
    """One group, and what happened to it since it was last asked: `facts` and `replies`.

    A refusal of whoever asked is a reply too.
    """

    def __init__(self, settings: GroupSettings | None = None) -> None:
        self.settings = settings or GroupSettings(initial_delay_ms=0)
        self.group = Group("readers")
        self.written: list[DurableFact] = []
        self.facts: list[Fact] = []
        self.replies: list[Reply] = []
        self.now_ms = 0
        self._ids = 0

    def join(
        self,
        client: str,
        *,
        member_id: str = "",
        instance_id: str | None = None,
        protocols: Sequence[tuple[str, bytes]] = (("range", b""),),
        protocol_type: str = "consumer",
        session_timeout_ms: int = 10_000,
        rebalance_timeout_ms: int = 60_000,
        returns_with_id: bool = False,
    ) -> None:
        profile = Profile(
            member_id,
            instance_id,
            client,
            "/127.0.0.1",
            session_timeout_ms,
            rebalance_timeout_ms,
            tuple(protocols),
        )
        if not member_id:
            self._ids += 1
        asked = Join(profile, protocol_type, f"{client}-{self._ids}", returns_with_id)
        self._do(member_id, lambda: decide_join(self.group, asked, self.now_ms, self.settings))

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: dict[str, bytes] | None = None,
        instance_id: str | None = None,
        protocol: str | None = None,
    ) -> None:
        caller = Caller(member_id, instance_id, generation)
        asked = Sync(caller, None, protocol, assignments or {})
        time_ms = WALL_MS + self.now_ms
        self._do(member_id, lambda: decide_sync(self.group, asked, self.now_ms, time_ms))

    def heartbeat(self, member_id: str, generation: int, instance_id: str | None = None) -> None:
        caller = Caller(member_id, instance_id, generation)
        self._do(member_id, lambda: decide_heartbeat(self.group, caller, self.now_ms))

    def leave(self, member_id: str, instance_id: str | None = None) -> None:
        now_ms, settings = self.now_ms, self.settings
        self._do(
            member_id, lambda: decide_leave(self.group, member_id, instance_id, now_ms, settings)
        )

    def commit(self, member_id: str, generation: int, offset: int, topic: str = "orders") -> None:
        committed = OffsetCommitted(topic, 0, offset, -1, "", WALL_MS + self.now_ms)
        asked = Commit(Caller(member_id, None, generation), [committed])
        self._do(member_id, lambda: decide_commit(self.group, asked, self.now_ms))

    def wait(self, duration_ms: int) -> None:
        """Time passes, and what it changes is changed."""
        self.now_ms += duration_ms
        self._do("", Decision)

    def expire(self) -> None:
        """Lets go of offsets that are too old."""
        time_ms = WALL_MS + self.now_ms
        self._do("", lambda: Decision(decide_expire(self.group, time_ms, self.settings)))

    def restart(self) -> None:
        """Only what is durable is known afterwards."""
        self.group = Group(self.group.group_id)
        for fact in self.written:
            self.group.apply(fact)
        self.group.apply(Restored(self.now_ms))
        self._do("", Decision)

    def _do(self, member_id: str, decide: Callable[[], Decision]) -> None:
        self.facts, self.replies = [], []
        try:
            decision: Decision | None = decide()
        except GroupError as error:
            self.replies = [Refused(member_id, error)]
            return
        while decision is not None:
            self.facts += decision.facts
            self.replies += decision.releases
            if decision.reply is not None:
                self.replies.append(decision.reply)
            for fact in decision.facts:
                if isinstance(fact, DurableFact):
                    self.written.append(fact)
                self.group.apply(fact)
            decision = due(self.group, self.now_ms, WALL_MS + self.now_ms, self.settings)
