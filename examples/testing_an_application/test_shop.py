"""Tests of the shop: a real broker for each, in memory, with faults on demand."""

import json
from collections.abc import Iterator

import pytest
from shop import Shop

from riverlog import Broker

pytestmark = pytest.mark.riverlog(topics={"orders": 1, "invoices": 1})


@pytest.fixture
def shop(riverlog_broker: Broker) -> Iterator[Shop]:
    shop = Shop(riverlog_broker.bootstrap)
    yield shop
    shop.close()


def order(broker: Broker, number: int) -> None:
    with broker.connect() as client:
        content = {"number": number, "price": 7, "pieces": 3}
        client.publish("orders", json.dumps(content), key="anna")


def invoices(broker: Broker) -> list[object]:
    with broker.connect() as client:
        found = client.subscribe("invoices", start="earliest", until="end")
        return [record.json() for record in found]


def test_an_order_becomes_an_invoice(riverlog_broker: Broker, shop: Shop) -> None:
    order(riverlog_broker, 1)

    shop.invoice_orders(1)

    assert invoices(riverlog_broker) == [{"order": 1, "total": 21}]


def test_a_lost_reply_makes_no_second_invoice(riverlog_broker: Broker, shop: Shop) -> None:
    order(riverlog_broker, 1)
    # The invoice is written, and then the connection breaks before the shop hears of it.
    riverlog_broker.faults.drop_connections("Produce", after=True)

    shop.invoice_orders(1)

    assert invoices(riverlog_broker) == [{"order": 1, "total": 21}]


def test_a_crash_of_the_broker_loses_no_order(riverlog_broker: Broker, shop: Shop) -> None:
    order(riverlog_broker, 1)
    riverlog_broker.faults.crash()
    order(riverlog_broker, 2)

    shop.invoice_orders(2)

    assert [invoice["order"] for invoice in invoices(riverlog_broker)] == [1, 2]
