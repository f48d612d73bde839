"""Publish some records, read them as they come, then replay from an offset."""

import riverlog

with riverlog.Broker(topics={"measurements": 1}) as broker, broker.connect() as client:
    # Where a subscription begins is fixed when it is made: it sees all that is published later.
    live = client.subscribe("measurements", start="latest", count=3)
    for value in ("20.5", "20.7", "21.0"):
        where = client.publish("measurements", value, key="kitchen")
        print(f"published {value} at offset {where.offset}")

    for record in live:
        print(f"live    {record.offset}: {record.key_text()} {record.text()}")

    # Reading takes nothing away. Anyone may read again, from any offset.
    for record in client.subscribe("measurements", start=1, until="end"):
        print(f"replay  {record.offset}: {record.key_text()} {record.text()}")
