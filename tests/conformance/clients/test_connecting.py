"""Every client connects, agrees on versions, and sees the cluster and its topics as they are."""

from tests.broker_process import BrokerProcess
from tests.conformance.clients.client import Client, Lack
from tests.conformance.clients.roster import ALL, CREATORS, OpenClient, with_each


@with_each(ALL)
def test_a_client_sees_the_cluster_and_its_topics(
    client: Client, shared_broker: BrokerProcess, open_client: OpenClient
) -> None:
    made = {f"seen-by-{client.name}-1": 1, f"seen-by-{client.name}-3": 3}
    another = open_client("aiokafka" if client.name == "confluent-kafka" else "confluent-kafka")
    another.create_topics(shared_broker.bootstrap, made)

    cluster = client.describe(shared_broker.bootstrap)

    assert cluster.brokers == ((1, shared_broker.host, shared_broker.port),)
    assert cluster.controller_id == 1
    assert {topic: cluster.topics.get(topic) for topic in made} == made
    if Lack.CLUSTER_ID not in client.lacks:
        assert cluster.cluster_id == another.describe(shared_broker.bootstrap).cluster_id


@with_each(CREATORS)
def test_a_client_creates_topics(client: Client, shared_broker: BrokerProcess) -> None:
    made = {f"made-by-{client.name}-1": 1, f"made-by-{client.name}-7": 7}

    client.create_topics(shared_broker.bootstrap, made)

    cluster = client.describe(shared_broker.bootstrap)
    assert {topic: cluster.topics.get(topic) for topic in made} == made
