"""Members with different clients share a topic, while some come, go, are killed and paused."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest
from confluent_kafka import Producer

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from tests.broker_process import BrokerProcess
from tests.conformance.clients.client import Client
from tests.conformance.clients.confluent_client import ConfluentClient
from tests.conformance.clients.raw_connection import connected
from tests.conformance.groups.member import TOOLS, Member
from tests.conformance.groups.settled import generations, partitions_of

GROUP, TOPIC = "readers", "orders"
PARTITIONS = 12
PORTION = 600
WAIT_S_MAX = 45

CLIENTS = (
    "confluent-kafka",
    "kafka-python",
    "aiokafka",
    "kafka-clients",
    "kafkajs",
    "platformatic",
)


class Company:
    """The members of one group, past and present, and what there is for them to read."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker
        self.members: list[Member] = []
        self.past: list[Member] = []
        self.written = 0
        client: Client = ConfluentClient()
        client.create_topics(broker.bootstrap, {TOPIC: PARTITIONS})

    def enter(self, client: str) -> Member:
        """One more member; it has a name that nobody had."""
        name = f"{client}-{len(self.members) + len(self.past)}"
        member = Member(client, self.broker.bootstrap, GROUP, TOPIC, name)
        self.members.append(member)
        return member

    def exit(self, member: Member, by: Callable[[Member], None]) -> None:
        """One less: `by` is how it ends."""
        self.members.remove(member)
        self.past.append(member)
        by(member)

    def write(self) -> None:
        """Some more to read, in every partition."""
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "linger.ms": 5})
        for number in range(PORTION):
            producer.produce(TOPIC, str(number).encode(), partition=number % PARTITIONS)
        assert producer.flush(WAIT_S_MAX) == 0
        self.written += PORTION // PARTITIONS

    def read(self) -> set[tuple[int, int]]:
        """What anyone has read, and committed."""
        return {each for member in self.members + self.past for each in list(member.read)}

    def until_shared(self) -> None:
        """Waits until everyone has something, and together they have everything."""
        _until(lambda: _is_shared(self.members), lambda: f"not shared: {_shares(self.members)}")

    def until_read(self) -> None:
        """Waits until everything written has been read."""
        everything = {(p, o) for p in range(PARTITIONS) for o in range(self.written)}
        _until(
            lambda: everything <= self.read(),
            lambda: f"unread: {sorted(everything - self.read())[:10]}; {_shares(self.members)}",
        )


@pytest.fixture
def company(broker: BrokerProcess) -> Iterator[Company]:
    company = Company(broker)
    yield company
    for member in list(company.members):
        company.exit(member, Member.kill)


@pytest.mark.client("java")
@pytest.mark.client("node")
def test_clients_of_all_kinds_share_a_topic_through_thick_and_thin(company: Company) -> None:
    by_client = {client: company.enter(client) for client in CLIENTS}
    company.write()
    company.until_shared()
    company.until_read()

    # One is killed, one sleeps through its session, one leaves, one comes.
    company.exit(by_client["kafka-python"], Member.kill)
    by_client["aiokafka"].pause()
    company.exit(by_client["confluent-kafka"], Member.leave)
    company.enter("confluent-kafka")
    company.write()
    awake = [member for member in company.members if member is not by_client["aiokafka"]]
    _until(lambda: _is_shared(awake), lambda: f"not shared: {_shares(awake)}")
    company.until_read()
    by_client["aiokafka"].go_on()
    company.until_shared()

    # So is the broker; whatever it acknowledged, it still knows.
    company.write()
    company.until_read()
    acknowledged = company.read()
    company.broker.kill()
    company.broker.start()
    committed = _committed(company.broker)
    for partition, offset in acknowledged:
        assert committed[partition] > offset
    company.write()
    company.until_read()
    company.until_shared()

    _check_generations(company)


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(name, marks=[pytest.mark.client(TOOLS[name])] if name in TOOLS else [])
        for name in CLIENTS
    ],
)
def test_a_member_that_comes_back_resumes_where_it_stopped(client: str, company: Company) -> None:
    company.write()
    first = company.enter(client)
    company.until_read()
    company.exit(first, Member.leave)
    company.write()
    second = company.enter(client)
    company.until_read()

    assert not set(first.read) & set(second.read)


def _check_generations(company: Company) -> None:
    """No partition had two owners in one generation, and nobody believed otherwise."""
    told: dict[str, set[tuple[int, ...]]] = {}
    for settled in generations(company.broker, GROUP):
        shares = {each.client_id: partitions_of(each.assignment) for each in settled.members}
        owners = Counter(partition for share in shares.values() for partition in share)
        assert all(count == 1 for count in owners.values()), (settled.generation, shares)
        for client_id, share in shares.items():
            told.setdefault(client_id, set()).add(tuple(share))
    for member in company.members + company.past:
        for share in member.assignments:
            assert not share or tuple(share) in told[member.name], (member.name, share)


def _committed(broker: BrokerProcess) -> dict[int, int]:
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=None)])
    code = int(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    with connected(broker) as connection:
        # Just started, it may still be reading what it kept.
        while code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            (group,) = connection.ask(request, 8, OffsetFetchResponse).groups
            code = group.error_code
    assert code == ErrorCode.NONE
    (topic,) = group.topics
    return {each.partition_index: each.committed_offset for each in topic.partitions}


def _is_shared(members: Sequence[Member]) -> bool:
    owned = sorted(partition for member in members for partition in member.partitions)
    return owned == list(range(PARTITIONS)) and all(member.partitions for member in members)


def _shares(members: Sequence[Member]) -> dict[str, list[int]]:
    return {member.name: member.partitions for member in members}


def _until(is_so: Callable[[], bool], otherwise: Callable[[], str]) -> None:
    deadline = time.monotonic() + WAIT_S_MAX
    while not is_so():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.02)
