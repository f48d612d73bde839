"""Several partitions, keys that choose among them, and values that are any bytes at all."""

import struct
from collections import defaultdict

import riverlog

READING = struct.Struct(">Id")  # sensor, value

with riverlog.Broker(topics={"readings": 3}) as broker, broker.connect() as client:
    records = [
        riverlog.NewRecord(
            value=READING.pack(sensor, sensor + step / 10),
            key=f"sensor-{sensor}",
            headers={"unit": "°C"},
        )
        for step in range(4)
        for sensor in (1, 2, 3)
    ]
    # Sent together; what went where is known for each of them.
    places = client.publish_batch("readings", records).results()
    print(f"{len(places)} readings published")

    found = defaultdict(list)
    for record in client.subscribe("readings", start="earliest", until="end"):
        sensor, value = READING.unpack(record.value or b"")
        unit = (record.header("unit") or b"").decode()
        found[record.partition, sensor].append(f"{value:.1f}{unit}")
    for (partition, sensor), values in sorted(found.items()):
        print(f"partition {partition}, sensor {sensor}: {', '.join(values)}")
