"""What can be wrong with a record batch; each kind is one a caller answers differently."""


class BatchError(Exception):
    """These bytes are not a record batch that can be read; sending them again will not help."""


class CorruptBatch(BatchError):
    """The bytes were damaged or cut on their way: framing, checksum or compressed data."""


class UnsupportedMagic(BatchError):
    """The batch is in another message format; the sender must use format 2."""


class InvalidRecord(BatchError):
    """The bytes arrived as sent, and what they say cannot be: the sender has to change it."""


class DecompressionTooLarge(BatchError):
    """The records inflate past the limit the reader set; send smaller batches."""
