"""A member that sends no heartbeats any more loses its partitions to the others."""

import threading

import riverlog

with riverlog.Broker(topics={"jobs": 1}) as broker, broker.connect() as client:
    for number in range(1, 5):
        client.publish("jobs", f"job {number}")

    # This one takes a job and never comes back. After a second it is taken for stuck and sends no
    # more heartbeats; six seconds later its group has dropped it.
    stuck = client.subscribe(
        "jobs",
        group="workers",
        start="earliest",
        processing_ms_max=1_000,
        session_timeout_ms=6_000,
    )
    print(f"stuck member takes {next(iter(stuck)).text()}")

    told = threading.Event()

    def rebalanced(change: object) -> None:
        told.set()

    # The other one joins and gets nothing at first: there is one partition, and it is taken.
    with broker.connect() as other:
        jobs = other.subscribe(
            "jobs", group="workers", start="earliest", count=4, on_rebalance=rebalanced
        )
        for record in jobs:
            print(f"healthy member does {record.text()}")
    assert told.is_set()
    stuck.close()
