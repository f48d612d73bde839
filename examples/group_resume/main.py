"""A consumer group remembers where it was: the next member goes on from there."""

import riverlog

with riverlog.Broker(topics={"orders": 1}) as broker, broker.connect() as client:
    for number in range(1, 7):
        client.publish("orders", f"order {number}")

    # The first member takes three, and leaves. What it took counts as done when it asks for more
    # or closes.
    for record in client.subscribe("orders", group="shipping", start="earliest", count=3):
        print(f"first member ships {record.text()}")

    # The second one has never seen the topic; its group has.
    for record in client.subscribe("orders", group="shipping", start="earliest", count=3):
        print(f"second member ships {record.text()}")

    # Another group is another reader, with a place of its own.
    count = sum(
        1 for _ in client.subscribe("orders", group="billing", start="earliest", timeout_ms=500)
    )
    print(f"billing has seen {count} orders")
