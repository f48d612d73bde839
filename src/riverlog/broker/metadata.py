"""What a broker knows for good: its cluster, its epoch, its topics. Facts before answers."""

import asyncio
from collections.abc import Callable, Mapping

from riverlog.broker.errors import UnknownTopic
from riverlog.cluster.facts import BrokerStarted, ClusterFormed, Fact, ProducerIdsTaken
from riverlog.cluster.metadata_log import MetadataLog
from riverlog.cluster.topics import Edit, TopicCreated, TopicDeleted, TopicFact, Topics
from riverlog.runtime.chance import Chance, new_uuid, uuid_text

PRODUCER_ID_BLOCK = 1000


class Metadata:
    """The facts of the metadata log, applied.

    `topics` are those whose facts are durable: what clients are told. Decisions are taken on what
    was decided before, durable or not, so that two of them never contradict each other. `applied`
    hears of every fact about a topic when it has become durable, whoever waited for it or not.
    """

    def __init__(self, log: MetadataLog, chance: Chance) -> None:
        self._log = log
        self._chance = chance
        self.topics = Topics()
        self._decided = Topics()
        self.cluster_id = ""
        self.epoch = 0
        self._next_producer_id = 0
        self._producer_ids_end = 0
        self.applied: Callable[[TopicFact], None] | None = None
        self._last_record: asyncio.Future[None] | None = None
        for fact in log.replay():
            self._decide(fact)
            self._apply(fact)
        self._next_producer_id = self._producer_ids_end

    async def start(self, epoch_seen: int, producer_id_seen: int) -> None:
        """Takes an epoch that nobody had, durably; on the first start names the cluster too.

        What was seen are the largest ones found in partitions, in case the log has lost its own.
        """
        facts: list[Fact] = [BrokerStarted(max(self.epoch, epoch_seen) + 1)]
        if not self.cluster_id:
            facts.append(ClusterFormed(uuid_text(new_uuid(self._chance))))
        if producer_id_seen >= self._producer_ids_end:
            facts.append(ProducerIdsTaken(producer_id_seen + 1))
        await self._record(*facts)
        self._next_producer_id = self._producer_ids_end

    async def create_topic(
        self, name: str, partition_count: int, configs: Mapping[str, str]
    ) -> TopicCreated:
        """Durable when it returns; raises what `Topics.decide_create` and the log raise."""
        topic_id = new_uuid(self._chance)
        fact = self._decided.decide_create(name, topic_id, partition_count, configs)
        await self._record(fact)
        return fact

    def check_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Raises what `create_topic` would raise for these, and changes nothing."""
        self._decided.decide_create(name, bytes(16), partition_count, configs)

    async def configure_topic(self, name: str, edit: Edit) -> None:
        """Durable when it returns; raises what `Topics.decide_configure` and the log raise."""
        fact = self._decided.decide_configure(name, edit)
        # Tools like to say the same again and again: what is so for good needs no new fact.
        known = (self._decided.by_name(name), self.topics.by_name(name))
        if any(topic is None or topic.configs != fact.configs for topic in known):
            await self._record(fact)

    def check_configured(self, name: str, edit: Edit) -> None:
        """Raises what `configure_topic` would raise for these, and changes nothing."""
        self._decided.decide_configure(name, edit)

    async def add_partitions(self, name: str, partition_count: int) -> None:
        """Durable when it returns; raises what `Topics.decide_add_partitions` and the log raise."""
        await self._record(self._decided.decide_add_partitions(name, partition_count))

    def check_added(self, name: str, partition_count: int) -> int:
        """How many more these are, or what `add_partitions` would raise; changes nothing."""
        self._decided.decide_add_partitions(name, partition_count)
        topic = self._decided.by_name(name)
        assert topic is not None, "or it could not grow"
        return partition_count - topic.partition_count

    async def adopt_topic(self, topic: TopicCreated) -> None:
        """Takes back a topic whose files are there and whose fact was lost."""
        if self._decided.by_name(topic.name) is None:
            await self._record(topic)

    async def delete_topic(self, topic_id: bytes) -> None:
        """Durable when it returns; raises `UnknownTopic`."""
        if self._decided.by_id(topic_id) is None:
            raise UnknownTopic("there is no such topic")
        await self._record(TopicDeleted(topic_id))

    async def new_producer_id(self) -> int:
        """An id that no producer was ever given, whatever happens next."""
        while self._next_producer_id >= self._producer_ids_end:
            end = self._next_producer_id + PRODUCER_ID_BLOCK
            await self._record(ProducerIdsTaken(end))
        self._next_producer_id += 1
        return self._next_producer_id - 1

    async def settled(self) -> None:
        """Returns when what was decided so far is durable; raises `StorageFailed` if it is not."""
        if self._last_record is not None:
            await asyncio.shield(self._last_record)

    def close(self) -> None:
        """Leaves everything durable; raises `OSError`."""
        self._log.close()

    async def _record(self, *facts: Fact) -> None:
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def told(error: Exception | None) -> None:
            if error is None:
                for fact in facts:
                    self._apply(fact)
                durable.set_result(None)
            else:
                self._decide_again()
                durable.set_exception(error)

        self._log.append(told, *facts)
        for fact in facts:
            self._decide(fact)
        self._last_record = durable
        # Whoever asked may go away; the facts do not.
        await asyncio.shield(durable)

    def _decide_again(self) -> None:
        """What was not durable yet has failed, all of it: starts from what is."""
        self._decided = Topics()
        for topic in self.topics:
            self._decided.apply(topic)

    def _decide(self, fact: Fact) -> None:
        if isinstance(fact, TopicFact):
            self._decided.apply(fact)

    def _apply(self, fact: Fact) -> None:
        match fact:
            case ClusterFormed():
                self.cluster_id = fact.cluster_id
            case BrokerStarted():
                self.epoch = fact.epoch
            case ProducerIdsTaken():
                self._producer_ids_end = max(self._producer_ids_end, fact.end)
            case _:
                self.topics.apply(fact)
                if self.applied is not None:
                    self.applied(fact)
