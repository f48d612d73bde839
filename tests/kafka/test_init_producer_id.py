"""InitProducerId: ids that nobody had before."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.serving import Serving, serving


async def ask(
    running: Serving,
    transactional_id: str | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    version: int = 4,
) -> InitProducerIdResponse:
    request = InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=1000,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )
    response: InitProducerIdResponse = await running.ask(request, version)
    return response


@pytest.mark.parametrize("version", range(6))
async def test_every_version_gives_an_id_at_epoch_zero(version: int) -> None:
    async with serving() as running:
        first = await ask(running, version=version)
        second = await ask(running, version=version)
    assert (first.error_code, first.producer_epoch) == (ErrorCode.NONE, 0)
    assert second.producer_id != first.producer_id


async def test_no_id_is_given_twice_whatever_happens_in_between() -> None:
    async with serving() as running:
        given = [(await ask(running)).producer_id]
        await running.restart()
        given.append((await ask(running)).producer_id)
        await running.cut_power()
        given.append((await ask(running)).producer_id)
    assert given == sorted(set(given))


async def test_a_producer_that_had_an_id_gets_a_new_one() -> None:
    async with serving() as running:
        old = await ask(running)
        new = await ask(running, producer_id=old.producer_id, producer_epoch=3)
    assert (new.error_code, new.producer_epoch) == (ErrorCode.NONE, 0)
    assert new.producer_id != old.producer_id


@pytest.mark.parametrize(("producer_id", "producer_epoch"), [(5, -1), (-1, 5)])
async def test_an_id_without_an_epoch_makes_no_sense(producer_id: int, producer_epoch: int) -> None:
    async with serving() as running:
        response = await ask(running, producer_id=producer_id, producer_epoch=producer_epoch)
    assert (response.error_code, response.producer_id) == (ErrorCode.INVALID_REQUEST, -1)


async def test_a_transactional_id_is_refused_for_good() -> None:
    async with serving() as running:
        response = await ask(running, transactional_id="t")
    assert response.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert (response.producer_id, response.producer_epoch) == (-1, -1)


async def test_an_empty_transactional_id_is_none() -> None:
    async with serving() as running:
        response = await ask(running, transactional_id="")
    assert (response.error_code, response.producer_id) == (ErrorCode.INVALID_REQUEST, -1)


async def test_while_the_disk_fails_producers_are_asked_to_come_back() -> None:
    async with serving() as running:
        running.disk.inject(Fault(Effect.ENOSPC, times=None, ops=frozenset({Op.WRITE, Op.SYNC})))
        refused = await ask(running)
        running.disk.clear_faults()
        given = await ask(running)
    assert refused.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert given.error_code == ErrorCode.NONE
