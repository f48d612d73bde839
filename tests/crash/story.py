"""What outlives a broker: its clients, what they have sent, and what they were told."""

from collections import Counter
from dataclasses import dataclass, field, replace

from riverlog.log.damage import Damage
from riverlog.log.journal import JournalLimits
from riverlog.testing.history import Acks, History
from riverlog.testing.seeded_chance import SeededChance

TOPIC = "orders"
PARTITIONS = 2
UNANSWERED_MAX = 5
# So small that its files are full, caught up with and removed all the time.
SMALL_JOURNAL = JournalLimits(file_bytes=1500, files_max=4)


@dataclass(slots=True)
class Batch:
    """Records sent together: their ids with what they hold."""

    records: tuple[tuple[str, bytes], ...]
    base_sequence: int
    is_in_flight: bool = False


@dataclass(slots=True)
class Producer:
    """A client that sends batches of one to three records in order.

    With a producer id it sends what it got no answer for again, in this life of the broker or a
    later one, and has up to `unanswered_max` batches under way. Without, a failure is the end of
    a batch.
    """

    name: str
    partition: int
    acks: Acks
    producer_id: int = -1
    unanswered_max: int = 1
    sequence: int = 0
    sent_count: int = 0
    answered_count: int = 0
    has_given_up: bool = False
    unanswered: list[Batch] = field(default_factory=list)

    @property
    def is_idempotent(self) -> bool:
        return self.producer_id >= 0

    def new_batch(self, chance: SeededChance) -> Batch:
        records = []
        for _ in range(chance.between(1, 3)):
            self.sent_count += 1
            payload = bytes([chance.below(256)]) * chance.below(200)
            records.append((f"{self.name}/{self.sent_count}", payload))
        batch = Batch(tuple(records), self.sequence)
        self.sequence += len(records)
        return batch

    def copy(self) -> "Producer":
        return replace(self, unanswered=[replace(batch) for batch in self.unanswered])


@dataclass(slots=True)
class Story:
    """The clients of a broker and all they have seen, over as many lives as it has.

    `errors` are exceptions that nothing handled; `topics` says of every further topic whether it
    must be there (True), must not (False) or may be (None); `refusals` counts batches that the disk
    did not take, by partition.
    """

    seed: str
    chance: SeededChance
    producers: list[Producer]
    history: History = field(default_factory=History)
    damages: list[Damage] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    producer_ids: list[int] = field(default_factory=list)
    topics: dict[str, bool | None] = field(default_factory=dict)
    errors: list[BaseException] = field(default_factory=list)
    failed_reads: int = 0
    refusals: Counter[str] = field(default_factory=Counter)

    @classmethod
    def begin(cls, seed: int | str) -> "Story":
        producers = [
            Producer("careful", 0, Acks.ALL, producer_id=1_000_007),
            Producer("quick", 0, Acks.ONE),
            Producer("plain", 1, Acks.ALL),
            Producer("pipelined", 1, Acks.ALL, 1_000_008, unanswered_max=UNANSWERED_MAX),
        ]
        return cls(str(seed), SeededChance(seed), producers)

    def fork(self, name: str) -> "Story":
        """The same past with another future."""
        seed = f"{self.seed}/{name}"
        return Story(
            seed,
            SeededChance(seed),
            [producer.copy() for producer in self.producers],
            History(self.history.events),
            list(self.damages),
            list(self.epochs),
            list(self.producer_ids),
            dict(self.topics),
            list(self.errors),
        )
