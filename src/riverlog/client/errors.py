"""What can go wrong for a caller of the client; each kind is one to act on differently."""


class ClientError(Exception):
    """What was asked could not be done; the message says why."""


class Unreachable(ClientError):
    """No broker could be connected to in time: check the address, or wait for the broker."""


class TimedOut(ClientError):
    """The time given was not enough. Nothing was changed: asking again is safe."""


class Unconfirmed(ClientError):
    """It was sent and no answer came. It may have been done: asking again may do it twice."""


class UnknownTopic(ClientError):
    """There is no such topic, or no such partition of it: create it, or mend the name."""


class UnknownGroup(ClientError):
    """There is no such group: mend the name, or let somebody join it."""


class GroupInUse(ClientError):
    """The group has members, and what was asked would pull the ground from under them."""


class TopicExists(ClientError):
    """The topic to be created exists already."""


class TooLarge(ClientError):
    """The broker takes no record this large: send less, or raise `max.message.bytes`."""


class OffsetOutOfRange(ClientError):
    """The offset to read from is not in the log (any more): choose where to go on from."""


class NotAuthorized(ClientError):
    """The broker knows what is asked for and does not allow it to us."""


class Unsupported(ClientError):
    """The broker does not serve this call, or no version of it that we speak."""


class InvalidArgument(ClientError, ValueError):
    """What was passed in cannot be, and nothing was done: mend it."""


class CorruptRecords(ClientError):
    """What the broker gave us is damaged or no record batch; reading it again will not help."""


class Closed(ClientError):
    """The client was closed before this was done."""


class Refused(ClientError):
    """The broker said no. `code` is Kafka's name of the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type["Refused"], tuple[str, str]]:
        return Refused, (self.code, str(self))
