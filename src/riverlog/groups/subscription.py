"""What consumers tell each other when they join: only the topics are of interest here."""

from struct import Struct, error

_START = Struct(">hi")
_LENGTH = Struct(">h")


def subscribed_topics(metadata: bytes) -> list[str]:
    """The topics in a consumer's subscription, of any version; none if it is something else."""
    topics = []
    try:
        _, count = _START.unpack_from(metadata)
        at = _START.size
        for _ in range(count):
            (length,) = _LENGTH.unpack_from(metadata, at)
            at += _LENGTH.size
            if length < 0 or at + length > len(metadata):
                return []
            topics.append(metadata[at : at + length].decode())
            at += length
    except (error, UnicodeDecodeError):
        return []
    return topics
