"""Requests that decode and mean harm: changed field by field, through our own tables."""

import struct
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, TypeVar

from riverlog.protocol.schema import Field
from riverlog.protocol.wire import uvarint
from tests.fuzz.batches import SEEDS as BATCHES
from tests.fuzz.batches import BatchMutator
from tests.fuzz.mutation import EDGES, VARINTS, Mutator
from tests.fuzz.seeds import Seed

NAMES = (
    "", " ", ".", "..", "../x", "a/b", "/etc/passwd", "\0", "a\0b", "a.b", "a_b", "é", "𝄞",
    "x" * 249, "x" * 250, "x" * 32767, "9" * 400, "1", "-1", "true", "NaN",
    "__consumer_offsets", "__transaction_state", "retention.ms", "cleanup.policy",
    "segment.bytes", "consumer", "range", "\ud7ff",
)  # fmt: skip

BITS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
UNSIGNED = {"uint16", "uint32"}

# Waiting is what these ask for: a long one holds up the connection, and shows nothing.
PATIENCE = {"max_wait_ms", "rebalance_timeout_ms", "timeout_ms", "session_timeout_ms"}
PATIENCE_MS_MAX = 40
# Whoever asks for a hundred thousand partitions gets them, and everybody's metadata are long then.
MODESTY = {"num_partitions", "count"}

COPIES_MAX = 40
REQUEST_BYTES_MAX = 200_000

T = TypeVar("T")


class Vocabulary:
    """Names and numbers that mean something to the broker just now."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.topic_ids: list[bytes] = []

    def learn(self, word: str) -> None:
        """Keeps a word for later, in place of an older one where there are many."""
        if word not in self.words:
            self.words.append(word)
            if len(self.words) > 64:
                del self.words[16]


class MessageMutator:
    """Gives requests that differ from a seed in some field, and are encoded as they should be."""

    def __init__(self, chance: Random, vocabulary: Vocabulary) -> None:
        self._chance = chance
        self._vocabulary = vocabulary
        self._batches = BatchMutator(chance)
        self._bytes = Mutator(chance, BATCHES)
        self._values: dict[str, Callable[[Any], Any]] = {
            "boolean": lambda value: not value,
            "float64": lambda value: self._one_of((0.0, -1.0, float("nan"), float("inf"))),
            "uuid": lambda value: self._topic_id(),
            "string": lambda value: self._name(),
            "data": self._data,
            "records": self._records,
        }

    def mutated(self, seed: Seed) -> bytes:
        """The frame of a changed message; the seed's own where the change cannot be written."""
        message = seed.message()
        structs = list(_structs(message))
        for _ in range(1 + int(self._chance.random() * 3)):
            self._change(self._one_of(structs), seed.version)
        try:
            frame = seed.with_message(message)
        except (struct.error, ValueError, TypeError, AttributeError):
            return seed.frame
        return frame if len(frame) < REQUEST_BYTES_MAX else seed.frame

    def _change(self, part: Any, version: int) -> None:
        fields = [field for field in part.FIELDS if version in field.versions]
        if not fields or self._chance.random() < 0.03:
            part.unknown_tags = self._tags()
            return
        field = self._one_of(fields)
        value = getattr(part, field.name)
        if version in field.nullable and self._chance.random() < 0.15:
            setattr(part, field.name, None)
        elif field.kind == "array":
            setattr(part, field.name, self._array(field, list(value or ())))
        elif field.kind in BITS:
            setattr(part, field.name, self._number(field))
        elif field.kind != "structure":
            setattr(part, field.name, self._values[field.kind](value))

    def _array(self, field: Field, items: list[Any]) -> list[Any]:
        kind = self._chance.random()
        if kind < 0.2:
            return []
        if kind < 0.5 and items:
            return items * (1 + int(self._chance.random() ** 4 * COPIES_MAX))
        if isinstance(field.of, type):
            return [field.of(**{inner.name: inner.default for inner in field.of.FIELDS})]  # type: ignore[attr-defined]  # a table
        element = field.of()
        if element.kind in BITS:
            return [*items, self._number(element)]
        return [*items, self._values[element.kind](b"")]

    def _number(self, field: Field) -> int:
        if field.name in PATIENCE and self._chance.random() < 0.95:
            return int(self._chance.random() * PATIENCE_MS_MAX)
        if field.name in MODESTY and self._chance.random() < 0.95:
            return int(self._chance.random() * 12) - 2
        bits = BITS[field.kind]
        if self._chance.random() < 0.5:
            value = int(self._chance.random() * 12) - 2
        else:
            value = self._one_of(EDGES)
        value &= (1 << bits) - 1
        if field.kind in UNSIGNED or value < 1 << (bits - 1):
            return value
        return value - (1 << bits)

    def _name(self) -> str:
        words = self._vocabulary.words
        if words and self._chance.random() < 0.7:
            return self._one_of(words)
        return self._one_of(NAMES)

    def _topic_id(self) -> bytes:
        known = self._vocabulary.topic_ids
        if known and self._chance.random() < 0.7:
            return self._one_of(known)
        return bytes(16) if self._chance.random() < 0.5 else self._chance.randbytes(16)

    def _data(self, value: bytes | None) -> bytes:
        return self._bytes.mutated(value or b"")

    def _records(self, value: memoryview | None) -> bytes:
        batch = bytes(value) if value else self._one_of(BATCHES)
        return self._batches.mutated(batch)

    def _tags(self) -> bytes:
        tag = self._one_of((0, 1, 2, 7, 63, 1 << 20, (1 << 32) - 1))
        data = self._one_of((b"", b"\0", b"\x01", b"\xff" * 40, *VARINTS))
        return uvarint(tag) + uvarint(len(data)) + data

    def _one_of(self, values: Sequence[T]) -> T:
        return values[int(self._chance.random() * len(values))]


def _structs(message: Any) -> Iterator[Any]:
    """A message and the structs inside it; of a long array, which stays packed, none."""
    yield message
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if field.kind == "structure" and value is not None:
            yield from _structs(value)
        elif field.kind == "array" and isinstance(field.of, type) and isinstance(value, list):
            for element in value:
                yield from _structs(element)
