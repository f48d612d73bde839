"""The admin clients of Python's libraries do every task of theirs that the broker serves."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin._acl import AclOperation

from riverlog.broker.topic_configs import TOPIC_CONFIGS
from tests.broker_process import BrokerProcess
from tests.conformance.clients.admin import (
    ADMINS,
    Admin,
    AiokafkaAdmin,
    ConfluentAdmin,
    KafkaPythonAdmin,
    Refused,
)
from tests.conformance.clients.client import DEADLINE_S, Record
from tests.conformance.clients.roster import OpenClient

POLICY = "cleanup.policy"
CLUSTER_OPERATIONS = {
    AclOperation.CREATE, AclOperation.ALTER, AclOperation.DESCRIBE, AclOperation.CLUSTER_ACTION,
    AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS, AclOperation.IDEMPOTENT_WRITE,
}  # fmt: skip


@pytest.fixture(params=ADMINS)
def admin(request: pytest.FixtureRequest, shared_broker: BrokerProcess) -> Iterator[Admin]:
    """The admin client whose turn it is."""
    opened = ADMINS[request.param](shared_broker.bootstrap)
    yield opened
    opened.close()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name that no other test has."""
    name: str = request.node.name
    return "".join(letter if letter.isalnum() else "-" for letter in name)[-100:]


def own(admin: Admin, topic: str) -> dict[str, str]:
    return {name: value for name, (value, is_own) in admin.configs(topic).items() if is_own}


def test_a_topic_is_made_with_settings_grown_and_deleted(
    admin: Admin, topic: str, shared_broker: BrokerProcess, open_client: OpenClient
) -> None:
    admin.create(topic, 2, configs={"retention.ms": "1000", POLICY: "compact"})
    assert own(admin, topic) == {"retention.ms": "1000", POLICY: "compact"}
    admin.grow(topic, 4)
    another = open_client("confluent-kafka")
    assert another.describe(shared_broker.bootstrap).topics[topic] == 4
    admin.delete(topic)
    assert topic not in another.describe(shared_broker.bootstrap).topics


def test_every_setting_of_a_topic_and_of_the_broker_is_shown(admin: Admin, topic: str) -> None:
    admin.create(topic, 1)
    found = admin.configs(topic)
    assert set(found) == set(TOPIC_CONFIGS)
    assert found["max.message.bytes"] == ("1048588", False)
    of_broker = admin.broker_configs()
    assert of_broker["num.partitions"] == ("4", False)
    assert of_broker["message.max.bytes"] == ("1048588", False)


def test_settings_are_replaced(admin: Admin, topic: str) -> None:
    admin.create(topic, 1, configs={"retention.ms": "1000"})
    admin.replace(topic, {"segment.ms": "7", POLICY: "compact,delete"})
    assert own(admin, topic) == {"segment.ms": "7", POLICY: "compact,delete"}


@pytest.mark.parametrize(
    ("configs", "factor", "code"),
    [({}, 3, 38), ({"no.such.setting": "1"}, 1, 40), ({"retention.ms": "soon"}, 1, 40)],
)
def test_a_topic_that_cannot_be_is_refused(
    admin: Admin, topic: str, configs: dict[str, str], factor: int, code: int
) -> None:
    with pytest.raises(Refused) as refused:
        admin.create(topic, 1, factor, configs)
    assert refused.value.code == code


def test_what_cannot_be_changed_is_refused(admin: Admin, topic: str) -> None:
    admin.create(topic, 2)
    for count, code in ((2, 37), (1, 37)):
        with pytest.raises(Refused) as refused:
            admin.grow(topic, count)
        assert refused.value.code == code
    with pytest.raises(Refused) as refused:
        admin.replace(topic, {"segment.ms": "soon"})
    assert refused.value.code == 40
    with pytest.raises(Refused) as refused:
        admin.create(topic, 1)
    assert refused.value.code == 36
    assert own(admin, topic) == {}


@pytest.mark.parametrize("library", [ConfluentAdmin, KafkaPythonAdmin])
def test_settings_are_changed_one_by_one(
    library: type[ConfluentAdmin | KafkaPythonAdmin], topic: str, shared_broker: BrokerProcess
) -> None:
    with closing(library(shared_broker.bootstrap)) as admin:
        admin.create(topic, 1, configs={"retention.ms": "1000"})
        changes = ("segment.ms", "SET", "7"), ("retention.ms", "DELETE", None)
        admin.change(topic, *changes, (POLICY, "APPEND", "compact"))
        assert own(admin, topic) == {"segment.ms": "7", POLICY: "delete,compact"}
        admin.change(topic, (POLICY, "SUBTRACT", "delete"))
        assert own(admin, topic) == {"segment.ms": "7", POLICY: "compact"}
        with pytest.raises(Refused) as refused:
            admin.change(topic, ("segment.ms", "APPEND", "8"))
    assert refused.value.code == 40


def test_what_was_changed_is_in_effect_at_once_and_after_kill_9(
    topic: str, broker: BrokerProcess, open_client: OpenClient
) -> None:
    admin = ConfluentAdmin(broker.bootstrap)
    client = open_client("confluent-kafka")
    record = Record(partition=0, value=b"x" * 5_000, timestamp_ms=1)
    admin.create(topic, 1)
    client.produce(broker.bootstrap, topic, [record], "none")
    admin.change(topic, ("max.message.bytes", "SET", "1000"))
    admin.grow(topic, 3)
    for _ in range(2):
        # The library says nothing but that its one record did not arrive.
        with pytest.raises(Exception, match=r"(?i)too.large"):
            client.produce(broker.bootstrap, topic, [record], "none")
        small = Record(partition=2, value=b"small", timestamp_ms=2)
        client.produce(broker.bootstrap, topic, [small], "none")
        broker.kill()
        broker.start()
    assert own(admin, topic) == {"max.message.bytes": "1000"}


def test_confluents_client_sees_the_cluster_and_what_it_may_do(
    topic: str, shared_broker: BrokerProcess
) -> None:
    admin = ConfluentAdmin(shared_broker.bootstrap)
    admin.create(topic, 2)
    cluster = admin.client.describe_cluster(include_authorized_operations=True)
    found = cluster.result(DEADLINE_S)
    assert [(node.id, node.port) for node in found.nodes] == [(1, shared_broker.port)]
    assert set(found.authorized_operations) == CLUSTER_OPERATIONS
    described = admin.client.describe_topics(
        TopicCollection([topic]), include_authorized_operations=True
    )
    one = described[topic].result(DEADLINE_S)
    assert (one.name, len(one.partitions), one.is_internal) == (topic, 2, False)
    assert {AclOperation.READ, AclOperation.WRITE} <= set(one.authorized_operations)


def test_kafka_pythons_client_sees_the_cluster_pages_and_sizes(
    topic: str, shared_broker: BrokerProcess, open_client: OpenClient
) -> None:
    with closing(KafkaPythonAdmin(shared_broker.bootstrap)) as admin:
        admin.create(topic, 3)
        record = Record(partition=1, value=b"x" * 5_000, timestamp_ms=1)
        open_client("kafka-python").produce(shared_broker.bootstrap, topic, [record], "none")
        cluster = admin.client.describe_cluster()
        assert [broker["broker_id"] for broker in cluster["brokers"]] == [1]
        page = admin.client.describe_topic_partitions([topic], response_partition_limit=2)
        assert page["next_cursor"] == {"topic_name": topic, "partition_index": 2}
        rest = admin.client.describe_topic_partitions([topic], cursor=page["next_cursor"])
        assert [p["partition_index"] for p in rest["topics"][0]["partitions"]] == [2]
        assert rest["next_cursor"] is None
        ((directory,),) = (
            broker["log_dirs"] for broker in admin.client.describe_log_dirs({topic: [0, 1]})
        )
        assert directory["log_dir"] == str(shared_broker.data)
        assert 0 < directory["usable_bytes"] <= directory["total_bytes"]
        sizes = [part["partition_size"] for part in directory["topics"][0]["partitions"]]
        assert sizes[0] == 0
        assert sizes[1] >= 5_000


def test_aiokafkas_client_sees_the_cluster_and_its_topics(
    topic: str, shared_broker: BrokerProcess
) -> None:
    admin = AiokafkaAdmin(shared_broker.bootstrap)
    admin.create(topic, 2)
    assert [broker["node_id"] for broker in admin.cluster()["brokers"]] == [1]
    (found,) = admin.topics(topic)
    assert (found["topic"], len(found["partitions"])) == (topic, 2)
