"""A small application: orders come in, invoices go out. It knows nothing of tests."""

import json

import riverlog


class Shop:
    """Turns every order into an invoice."""

    def __init__(self, bootstrap: str) -> None:
        self._client = riverlog.connect(bootstrap)

    def invoice_orders(self, count: int) -> None:
        """Takes so many orders and writes their invoices."""
        orders = self._client.subscribe(
            "orders", group="shop", start="earliest", count=count, timeout_ms=10_000
        )
        for record in orders:
            order = record.json()
            total = order["price"] * order["pieces"]
            invoice = json.dumps({"order": order["number"], "total": total})
            self._client.publish("invoices", invoice, key=record.key)

    def close(self) -> None:
        self._client.close()
