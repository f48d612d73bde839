"""Connections that are cut in the middle of anything: every record is there once, and in order."""

from pathlib import Path

import pytest

import riverlog
from riverlog import NewRecord
from riverlog.client.settings import ClientSettings
from tests.broker_process import BrokerProcess
from tests.client.cutting_proxy import cutting_proxy

# An answer that is larger than what a connection carries would never come through.
PATIENT = ClientSettings(
    timeout_ms=60_000, backoff_ms_min=5, backoff_ms_max=20, partition_fetch_bytes_max=3_000
)
CUTS_MIN = 20


@pytest.mark.parametrize("seed", [1, 2])
def test_records_are_there_once_and_in_order(tmp_path: Path, seed: int) -> None:
    with cutting_proxy(seed, bytes_max=30_000) as proxy:
        address = f"127.0.0.1:{proxy.port}"
        broker = BrokerProcess(tmp_path, "--advertise", address, "--num-partitions", "2")
        broker.start()
        try:
            proxy.target_port = broker.port
            with riverlog.connect(address, settings=PATIENT) as client:
                published = 0
                offsets: dict[int, list[int]] = {0: [], 1: []}
                while proxy.cut_count < CUTS_MIN or published < 500:
                    records = [
                        NewRecord(f"{n}".ljust(100), partition=n % 2)
                        for n in range(published, published + 50)
                    ]
                    for result in client.publish_batch("t", records).results():
                        offsets[result.partition].append(result.offset)
                    published += 50
                got: dict[int, list[int]] = {0: [], 1: []}
                for record in client.subscribe("t", start="earliest", count=published):
                    got[record.partition].append(int(record.text()))
                assert client.topics.offsets("t") == {p: len(got[p]) for p in got}
        finally:
            broker.end()
    for partition in (0, 1):
        assert offsets[partition] == list(range(len(offsets[partition])))
        assert got[partition] == list(range(partition, published, 2))
