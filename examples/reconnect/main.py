"""A broker goes away and comes back; neither the publisher nor the reader has to care."""

import tempfile
import threading

import riverlog

with tempfile.TemporaryDirectory() as data, riverlog.Broker(data=data) as broker:
    broker.create_topic("ticks", 1)
    with broker.connect() as client:
        ticks = client.subscribe("ticks", start="earliest", count=20)

        def publish() -> None:
            for number in range(20):
                client.publish("ticks", str(number))

        publisher = threading.Thread(target=publish)
        publisher.start()
        seen = []
        for record in ticks:
            seen.append(int(record.text()))
            if len(seen) == 5:
                print("the broker is killed")
                broker.crash()
                broker.start()
                print("and started again")
        publisher.join()

    print(f"{len(seen)} records read, in order and once each: {seen == list(range(20))}")
