"""Chance, through one port: ids and jitter come from a `Chance`, so that a seed can replay them."""

import os
from typing import Protocol

_INT32_MAX = 2**31 - 1


class Chance(Protocol):
    """A source of random numbers; the system's own is fit for secrets."""

    def random_bytes(self, size: int) -> bytes:
        """Gives `size` bytes, each value as likely as any other."""

    def below(self, limit: int) -> int:
        """Gives a whole number from 0 to `limit - 1`, each as likely; `limit` is at least 1."""


class SystemChance:
    """Random numbers from the operating system, never the same twice."""

    __slots__ = ()

    def random_bytes(self, size: int) -> bytes:
        return os.urandom(size)

    def below(self, limit: int) -> int:
        # 16 bytes make the remainder's bias smaller than anyone could ever measure.
        return int.from_bytes(os.urandom(16), "big") % limit


def new_uuid(chance: Chance) -> bytes:
    """A new id for a topic, a member or a cluster; `uuid_text` writes it out.

    It is a version 4 UUID, so it is never one of those that Kafka reserves (zero, one and the
    few after them). The standard library's class would cost every start two milliseconds.
    """
    while True:
        uuid = bytearray(chance.random_bytes(16))
        uuid[6] = uuid[6] & 0x0F | 0x40
        uuid[8] = uuid[8] & 0x3F | 0x80
        # Kafka prints ids in URL-safe base64. Of those, the ones that begin with these six bits
        # begin with a dash, and command lines would take them for options.
        if uuid[0] >> 2 != 0b111110:
            return bytes(uuid)


def uuid_text(uuid: bytes) -> str:
    """The id as people write it: 8-4-4-4-12 digits."""
    digits = uuid.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def new_session_id(chance: Chance) -> int:
    """A new id for a fetch session: 1 to 2**31 - 1, as zero stands for "no session"."""
    return 1 + chance.below(_INT32_MAX)


def jittered_ms(chance: Chance, delay_ms: int, fraction: float = 0.2) -> int:
    """A delay up to `fraction` shorter, so that those who failed together come back apart."""
    return delay_ms - chance.below(int(delay_ms * fraction) + 1)
