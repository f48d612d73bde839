"""Ends: of clients that are busy, of threads that wait, of programs that are interrupted."""

import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import pytest

import riverlog
from riverlog.client.errors import ClientError, Closed, InvalidArgument, Unconfirmed
from riverlog.client.outgoing import Published
from riverlog.client.sync_client import Client
from riverlog.kafka.apis import Context
from riverlog.protocol.messages.produce import ProduceRequest
from tests.broker_process import BrokerProcess
from tests.kafka.door import listening


def test_closing_ends_every_subscription_and_its_thread(
    shared_broker: BrokerProcess, topic: str
) -> None:
    before = threading.active_count()
    with riverlog.connect(shared_broker.bootstrap) as client:
        deliveries = [client.subscribe(topic, on_record=print) for _ in range(3)]
        deliveries.append(client.subscribe(topic, group=topic, on_record=print))
        waiting = client.subscribe(topic)
    for delivery in deliveries:
        delivery.wait(timeout_ms=10_000)
    with pytest.raises(Closed):
        next(waiting)
    waiting.close()
    assert threading.active_count() == before


def test_closing_twice_is_once(shared_broker: BrokerProcess) -> None:
    client = riverlog.connect(shared_broker.bootstrap)
    client.close()
    client.close()
    with pytest.raises(Closed):
        client.topics.list()


def test_a_thread_that_waits_is_told_that_the_client_was_closed() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        client = riverlog.connect(f"127.0.0.1:{silent.getsockname()[1]}")
        failures: list[ClientError] = []

        def publish() -> None:
            try:
                client.publish("t", "v")
            except ClientError as failure:
                failures.append(failure)

        thread = threading.Thread(target=publish)
        thread.start()
        time.sleep(0.1)
        client.close(timeout_ms=0)
        thread.join(10)
    assert [type(failure) for failure in failures] == [Closed]


async def test_what_is_under_way_at_the_end_is_unconfirmed() -> None:
    async def never(request: ProduceRequest, context: Context) -> None:
        await asyncio.sleep(60)

    async with listening(produce=never) as door:
        async with riverlog.connect_async(str(door.address)) as client:
            publishing = await client.publish_batch("t", ["v"])
            await asyncio.sleep(0.2)
            await client.close(timeout_ms=10)
        with pytest.raises(Unconfirmed):
            await publishing


def test_a_callback_that_would_wait_for_itself_is_told_so(client: Client, topic: str) -> None:
    told: Future[BaseException] = Future()

    def publish_more(_: Future[Published]) -> None:
        try:
            client.publish(topic, "more")
        except InvalidArgument as refused:
            told.set_result(refused)

    (future,) = client.publish_batch(topic, ["v"]).futures()
    future.add_done_callback(publish_more)
    assert "callback" in str(told.result(10))


def test_ctrl_c_does_not_wait_for_a_broker_that_does_not_answer() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        words = [sys.executable, "-m", "riverlog", "produce", "t", "--bootstrap", address]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.write(b"line\n")
            process.stdin.flush()
            accepted, _ = silent.accept()
            with accepted:
                start = time.monotonic()
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (130, b"")
    assert time.monotonic() - start < 5
