"""Groups in text: commands above the line, what came of them below it."""

from riverlog.groups.decision import Joined, Refused, Reply, Synced
from riverlog.groups.facts import (
    Fact,
    GenerationSettled,
    MemberHeard,
    MemberJoined,
    MemberReplaced,
    OffsetCommitted,
)
from riverlog.groups.settings import GroupSettings
from tests.groups.stage import Stage


class GroupScript:
    """Runs one file's commands, one after the other, on one group.

    A command is a verb, a name and options: `join alice id=alice-1 protocols=range,sticky at=900`.
    Clients are named; members have the name of their client and a number. `at` moves the clock on.
    """

    def __init__(self) -> None:
        self._stage = Stage()

    def run(self, command: str) -> list[str]:
        """What happened: facts, replies, and the group as it is then."""
        words = command.split()
        options = dict(word.split("=", 1) for word in words if "=" in word)
        verb, *names = [word for word in words if "=" not in word]
        stage = self._stage
        if verb == "settings":
            numbers = {name: int(value) for name, value in options.items()}
            stage.settings = GroupSettings()._replace(**numbers)
            return ["ok"]
        passed_ms = int(options.pop("at", stage.now_ms)) - stage.now_ms
        lines = []
        if passed_ms:
            stage.wait(passed_ms)
            lines = self._happened()
        match verb:
            case "join":
                self._join(names[0], options)
            case "sync":
                shares = {
                    member: share.encode()
                    for member, share in (
                        each.split(":") for each in options.get("give", "").split(",") if each
                    )
                }
                stage.sync(
                    names[0],
                    int(options["generation"]),
                    shares,
                    options.get("instance"),
                    options.get("protocol"),
                )
            case "heartbeat":
                stage.heartbeat(names[0], int(options["generation"]), options.get("instance"))
            case "leave":
                member_id = names[0] if names else ""
                stage.leave(member_id, options.get("instance"))
            case "commit":
                member_id = names[0] if names else ""
                stage.commit(member_id, int(options["generation"]), int(options["offset"]))
            case "expire":
                stage.expire()
            case "restart":
                stage.restart()
            case "wait":
                return [*(lines or ["nothing"]), self._state()]
            case _:
                raise AssertionError(f"no such verb: {verb}")
        return [*lines, *(self._happened() or ["ok"]), self._state()]

    def _join(self, client: str, options: dict[str, str]) -> None:
        metadata = options.get("metadata", "").encode()
        names = options.get("protocols", "range").split(",")
        self._stage.join(
            client,
            member_id=options.get("id", ""),
            instance_id=options.get("instance"),
            protocols=[(name, metadata) for name in names],
            protocol_type=options.get("type", "consumer"),
            session_timeout_ms=int(options.get("session", 10_000)),
            rebalance_timeout_ms=int(options.get("rebalance", 60_000)),
            returns_with_id="ids-first" in options.get("with", ""),
        )

    def _happened(self) -> list[str]:
        stage = self._stage
        facts = [_fact(fact) for fact in stage.facts if not isinstance(fact, MemberHeard)]
        return facts + [_reply(reply) for reply in stage.replies]

    def _state(self) -> str:
        group = self._stage.group
        members = ", ".join(member.profile.member_id for member in group.members) or "none"
        parts = [f"= {group.state.value}, generation {group.generation}, members: {members}"]
        if group.leader_id is not None:
            parts.append(f"leader: {group.leader_id}")
        if group.offsets:
            parts.append(f"offset: {group.offsets['orders', 0].offset}")
        return ", ".join(parts)


def _fact(fact: Fact) -> str:
    match fact:
        case MemberJoined():
            return f"MemberJoined(member_id={fact.profile.member_id!r})"
        case MemberReplaced():
            return f"MemberReplaced({fact.former_id!r} by {fact.profile.member_id!r})"
        case GenerationSettled():
            shares = {member.member_id: member.assignment for member in fact.members}
            return f"GenerationSettled(generation={fact.generation}, {shares})"
        case OffsetCommitted():
            return f"OffsetCommitted({fact.topic}-{fact.partition}: {fact.offset})"
    return str(fact)


def _reply(reply: Reply) -> str:
    match reply:
        case Refused():
            return f"-> {reply.member_id or 'it'} is refused: {type(reply.error).__name__}"
        case Synced():
            return f"-> {reply.member_id} has {reply.assignment!r}"
        case Joined():
            members = [member_id for member_id, _, _ in reply.members]
            whole = f", members {', '.join(members)}" if members else ""
            place = f", in the place of {reply.replaces}" if reply.replaces else ""
            return (
                f"-> {reply.member_id} is in generation {reply.generation}, {reply.protocol}, "
                f"leader {reply.leader_id}{whole}{place}"
            )
