"""What can go wrong with a log; each is named for what happened."""


class StorageFailed(Exception):
    """The disk did not take the records. Reads go on, and so do other partitions."""


class OffsetOutOfRange(Exception):
    """There is no such offset: it was removed already, or is yet to come."""


class LogClosed(Exception):
    """The topic was deleted, or the broker is stopping."""
