"""What a broker refuses, and why; each is named for what happened."""


class UnknownTopic(Exception):
    """There is no such topic, or it has no such partition."""


class UnknownTopicId(Exception):
    """There is no topic with this id; one with its former name may exist."""


class RecordsTooLarge(Exception):
    """The batch is larger than the topic allows."""


class InvalidTimestamp(Exception):
    """A record's time is too far from ours."""


class InvalidConfig(Exception):
    """A setting of a topic is unknown or out of range."""


class InvalidTransaction(Exception):
    """The batch claims to be part of a transaction that does not exist."""


class FencedEpoch(Exception):
    """The client knows only an earlier leader; it should ask who leads now."""


class UnknownEpoch(Exception):
    """The client has heard of a later leader than this one."""
