"""Replies that nobody reads: one bound for all, and the slowest pay for it."""

from riverlog.kafka.unread_replies import UnreadReplies


class Client:
    """A connection that is never really there."""

    def __init__(self, host: str) -> None:
        self.host = host

    def abort(self) -> None:
        """Nobody has to."""


ALICE, BOB, CAROL = Client("alice"), Client("bob"), Client("carol")


def test_those_who_let_replies_wait_for_longest_are_cut_off() -> None:
    unread = UnreadReplies(100)
    assert unread.note(ALICE, 40) == []
    assert unread.note(BOB, 60) == []
    assert unread.note(CAROL, 50) == [ALICE, BOB]
    assert (unread.bytes_total, unread.room_bytes) == (50, 50)


def test_whoever_has_read_is_the_last_to_be_cut_off() -> None:
    unread = UnreadReplies(100)
    unread.note(ALICE, 40)
    unread.note(BOB, 40)
    unread.forget(ALICE)
    unread.note(ALICE, 40)
    assert unread.note(CAROL, 40) == [BOB]


def test_a_single_reply_beyond_the_bound_is_not_cut_off() -> None:
    unread = UnreadReplies(100)
    assert unread.note(ALICE, 1_000) == []
    assert unread.room_bytes == 0
    unread.forget(ALICE)
    unread.forget(ALICE)
    assert unread.room_bytes == 100
