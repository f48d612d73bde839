"""What a group refuses, and why; each is named for what happened."""


class GroupError(Exception):
    """A group cannot do what was asked; nothing was changed."""


class InvalidGroupId(GroupError):
    """A group needs a name."""


class InvalidMember(GroupError):
    """Something that a member says of itself cannot be kept."""


class UnknownMember(GroupError):
    """The group has no such member (any more); it should join anew, without an id."""


class MemberIdRequired(GroupError):
    """The member has been given an id; it should join again with it."""


class FencedInstance(GroupError):
    """Another process has taken the place of this static member, which should end."""


class IllegalGeneration(GroupError):
    """The member speaks of another generation than the present one; it should join again."""


class RebalanceInProgress(GroupError):
    """The group is about to begin a new generation; the member should join it."""


class InconsistentProtocol(GroupError):
    """The member has no way of sharing the work in common with all the others."""


class InvalidSessionTimeout(GroupError):
    """The session timeout is outside of what this broker allows."""


class GroupFull(GroupError):
    """The group has as many members as it may have."""


class GroupNotFound(GroupError):
    """There is no such group."""


class GroupNotEmpty(GroupError):
    """The group has members, which must leave first."""


class GroupSubscribed(GroupError):
    """The group has members that read the topic."""


class OffsetMetadataTooLarge(GroupError):
    """The text beside a committed offset is longer than this broker keeps."""


class CoordinatorLoading(GroupError):
    """What was committed is being read after a start; asking again soon will do."""


class CoordinatorUnavailable(GroupError):
    """Groups cannot be served now: their log is not there, or the disk refuses it."""
