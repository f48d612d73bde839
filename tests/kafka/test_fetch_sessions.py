"""Fetch sessions: what is remembered, what is told, and what ends a session."""

from collections.abc import Iterable
from itertools import count

import pytest

from riverlog.kafka import fetch_sessions
from riverlog.kafka.fetch_sessions import IDLE_MS_MIN, Fetch, FetchSessions
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)

Told = dict[tuple[str | bytes, int], int]


def asking(
    *partitions: tuple[str, int, int],
    session: int = 0,
    epoch: int = 0,
    forget: Iterable[tuple[str, int]] = (),
) -> FetchRequest:
    """A request for these topics, partitions and offsets."""
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        session_id=session,
        session_epoch=epoch,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[
                    FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1000)
                ],
            )
            for topic, index, offset in partitions
        ],
        forgotten_topics_data=[
            ForgottenTopic(topic=topic, partitions=[index]) for topic, index in forget
        ],
    )


class Clients:
    """Asks one set of sessions, over logs of which only the high watermarks are told."""

    def __init__(self) -> None:
        self.sessions = FetchSessions()
        self.now_ms = 0
        self.high_watermarks: dict[tuple[str | bytes, int], int] = {}
        self.errors: dict[tuple[str | bytes, int], ErrorCode] = {}
        self._ids = count(1)

    def begin(self, request: FetchRequest, uses_ids: bool = False) -> Fetch | ErrorCode:
        return self.sessions.begin(request, uses_ids=uses_ids, now_ms=self.now_ms)

    def reply(self, fetch: Fetch) -> FetchResponse:
        answers = []
        for wanted in fetch.wanted:
            key = wanted.topic, wanted.index
            end = self.high_watermarks.get(key, 0)
            answers.append(
                PartitionData(
                    partition_index=wanted.index,
                    error_code=self.errors.get(key, ErrorCode.NONE),
                    high_watermark=end,
                    log_start_offset=0,
                    aborted_transactions=None,
                    records=b"r" * (end - wanted.offset),
                )
            )
        return self.sessions.reply(
            fetch, answers, now_ms=self.now_ms, new_id=lambda: next(self._ids)
        )

    def fetch(self, request: FetchRequest) -> FetchResponse:
        begun = self.begin(request)
        if isinstance(begun, ErrorCode):
            return fetch_sessions.refusal(begun)
        return self.reply(begun)


def told(response: FetchResponse) -> Told:
    """For each partition in a reply, how many bytes came."""
    return {
        (topic.topic, answer.partition_index): len(answer.records or b"")
        for topic in response.responses
        for answer in topic.partitions
    }


def test_a_full_request_begins_a_session_and_is_answered_in_full() -> None:
    clients = Clients()
    response = clients.fetch(asking(("a", 0, 0), ("b", 1, 0)))
    assert response.session_id == 1
    assert told(response) == {("a", 0): 0, ("b", 1): 0}
    assert len(clients.sessions) == 1


def test_what_is_not_new_is_left_out() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0), ("b", 1, 0)))
    assert told(clients.fetch(asking(session=1, epoch=1))) == {}
    clients.high_watermarks["b", 1] = 5
    response = clients.fetch(asking(session=1, epoch=2))
    assert (response.session_id, told(response)) == (1, {("b", 1): 5})


def test_the_end_of_a_log_is_news_even_without_records() -> None:
    clients = Clients()
    clients.high_watermarks["a", 0] = 3
    clients.fetch(asking(("a", 0, 3)))
    clients.high_watermarks["a", 0] = 5
    assert told(clients.fetch(asking(("a", 0, 5), session=1, epoch=1))) == {("a", 0): 0}
    assert told(clients.fetch(asking(("a", 0, 5), session=1, epoch=2))) == {}


def test_a_partition_is_read_where_the_client_last_said() -> None:
    clients = Clients()
    clients.high_watermarks["a", 0] = 5
    assert told(clients.fetch(asking(("a", 0, 0)))) == {("a", 0): 5}
    assert told(clients.fetch(asking(("a", 0, 2), session=1, epoch=1))) == {("a", 0): 3}
    assert told(clients.fetch(asking(session=1, epoch=2))) == {("a", 0): 3}


def test_partitions_are_added_and_forgotten() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0), ("a", 1, 0)))
    added = clients.fetch(asking(("b", 0, 0), session=1, epoch=1, forget=[("a", 0), ("x", 9)]))
    assert told(added) == {("b", 0): 0}
    clients.high_watermarks = {("a", 0): 1, ("a", 1): 1, ("b", 0): 1}
    assert told(clients.fetch(asking(session=1, epoch=2))) == {("a", 1): 1, ("b", 0): 1}


def test_an_error_is_told_every_time_and_its_end_once() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0)))
    clients.errors["a", 0] = ErrorCode.KAFKA_STORAGE_ERROR
    assert told(clients.fetch(asking(session=1, epoch=1))) == {("a", 0): 0}
    assert told(clients.fetch(asking(session=1, epoch=2))) == {("a", 0): 0}
    clients.errors.clear()
    assert told(clients.fetch(asking(session=1, epoch=3))) == {("a", 0): 0}
    assert told(clients.fetch(asking(session=1, epoch=4))) == {}


def test_partitions_that_had_records_are_read_last_next_time() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0), ("b", 0, 0), ("c", 0, 0)))
    clients.high_watermarks["a", 0] = 1
    clients.fetch(asking(session=1, epoch=1))
    begun = clients.begin(asking(session=1, epoch=2))
    assert isinstance(begun, Fetch)
    assert [wanted.topic for wanted in begun.wanted] == ["b", "c", "a"]


def test_the_final_epoch_wants_no_session_and_ends_the_one_it_names() -> None:
    clients = Clients()
    assert clients.fetch(asking(("a", 0, 0), epoch=-1)).session_id == 0
    clients.fetch(asking(("a", 0, 0)))
    assert told(clients.fetch(asking(("a", 0, 0), session=1, epoch=-1))) == {("a", 0): 0}
    assert len(clients.sessions) == 0


def test_a_full_request_that_names_a_session_takes_its_place() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0)))
    assert clients.fetch(asking(("b", 0, 0), session=1)).session_id == 2
    assert clients.begin(asking(session=1, epoch=1)) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_an_unknown_session_and_a_wrong_epoch_are_told() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0)))
    unknown = clients.fetch(asking(session=7, epoch=1))
    assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert (unknown.session_id, told(unknown)) == (0, {})
    for epoch in (2, 5):
        wrong = clients.begin(asking(session=1, epoch=epoch))
        assert wrong == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert isinstance(clients.begin(asking(session=1, epoch=1)), Fetch)
    assert clients.begin(asking(session=1, epoch=1)) == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_a_reply_that_was_overtaken_is_an_error() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0)))
    slow = clients.begin(asking(session=1, epoch=1))
    quick = clients.begin(asking(session=1, epoch=2))
    assert isinstance(slow, Fetch)
    assert isinstance(quick, Fetch)
    assert clients.reply(slow).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert clients.reply(quick).error_code == ErrorCode.NONE


def test_the_epoch_after_the_largest_is_one() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0)))
    begun = clients.begin(asking(session=1, epoch=1))
    assert isinstance(begun, Fetch)
    assert begun.session is not None
    begun.session.epoch = 2**31 - 1
    assert clients.fetch(asking(session=1, epoch=2**31 - 1)).error_code == ErrorCode.NONE
    assert clients.fetch(asking(session=1, epoch=1)).error_code == ErrorCode.NONE


def test_a_session_keeps_to_names_or_to_ids() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0)))
    begun = clients.begin(asking(session=1, epoch=1), uses_ids=True)
    assert begun == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_topics_by_id_are_told_by_id() -> None:
    clients = Clients()
    topic_id = b"\x07" * 16
    partition = FetchPartition(partition=3, fetch_offset=0, partition_max_bytes=1000)
    request = asking()
    request.topics = [FetchTopic(topic_id=topic_id, partitions=[partition])]
    begun = clients.begin(request, uses_ids=True)
    assert isinstance(begun, Fetch)
    (topic,) = clients.reply(begun).responses
    assert (topic.topic_id, topic.partitions[0].partition_index) == (topic_id, 3)


def test_a_session_without_partitions_ends() -> None:
    clients = Clients()
    assert clients.fetch(asking()).session_id == 0
    clients.fetch(asking(("a", 0, 0)))
    response = clients.fetch(asking(session=1, epoch=1, forget=[("a", 0)]))
    assert (response.session_id, response.error_code, told(response)) == (0, 0, {})
    assert len(clients.sessions) == 0


def test_when_there_are_too_many_the_one_idle_for_longest_gives_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetch_sessions, "SESSIONS_MAX", 2)
    clients = Clients()
    clients.fetch(asking(("a", 0, 0)))
    clients.fetch(asking(("b", 0, 0)))
    clients.now_ms = 1
    clients.fetch(asking(session=1, epoch=1))
    clients.now_ms = IDLE_MS_MIN
    refused = clients.fetch(asking(("c", 0, 0)))
    assert (refused.session_id, told(refused)) == (0, {("c", 0): 0})
    clients.now_ms = IDLE_MS_MIN + 1
    assert clients.fetch(asking(("c", 0, 0))).session_id == 3
    assert clients.begin(asking(session=2, epoch=1)) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert clients.fetch(asking(session=1, epoch=2)).error_code == ErrorCode.NONE


def test_a_session_id_that_is_taken_is_not_given_again() -> None:
    clients = Clients()
    clients.fetch(asking(("a", 0, 0)))
    clients._ids = count(0)
    assert clients.fetch(asking(("a", 0, 0))).session_id == 2


def test_sessions_and_names_that_are_too_large_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetch_sessions, "SESSION_PARTITIONS_MAX", 2)
    clients = Clients()
    large = clients.fetch(asking(*(("a", index, 0) for index in range(3))))
    assert (large.session_id, len(told(large))) == (0, 3)
    assert clients.fetch(asking(("n" * 250, 0, 0))).session_id == 0
    clients.fetch(asking(("a", 0, 0)))
    grown = clients.begin(asking(("a", 1, 0), ("a", 2, 0), session=1, epoch=1))
    assert grown == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert len(clients.sessions) == 0


def test_all_sessions_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_sessions, "PARTITIONS_MAX", 5)
    clients = Clients()
    three = [("a", index, 0) for index in range(3)]
    assert clients.fetch(asking(*three)).session_id == 1
    assert clients.fetch(asking(*three)).session_id == 0
    assert clients.fetch(asking(*three[:2])).session_id == 2
    clients.fetch(asking(session=1, epoch=1, forget=[("a", 0), ("a", 1)]))
    assert clients.fetch(asking(*three[:2])).session_id == 3
    clients.now_ms = IDLE_MS_MIN + 1
    assert clients.fetch(asking(*three)).session_id == 4
    assert len(clients.sessions) == 2
