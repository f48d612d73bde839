"""The guide's examples: all are Python, and what ends by itself does what it says."""

import ast
import asyncio
import re
import textwrap
from pathlib import Path

import pytest

import riverlog
from riverlog.client import errors
from tests.broker_process import BrokerProcess

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "client.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


def test_every_example_is_python() -> None:
    for block in BLOCKS:
        compile(block, "client.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_the_first_examples_run(
    shared_broker: BrokerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    sync, with_asyncio, batch = (
        block.replace("127.0.0.1:9092", shared_broker.bootstrap).replace("orders", "guide-orders")
        for block in BLOCKS[:3]
    )
    scope: dict[str, object] = {"riverlog": riverlog}
    exec(sync, scope)
    assert capsys.readouterr().out.splitlines()[-1] == "0 alice {'total': 7}"

    exec("async def main():\n" + textwrap.indent(with_asyncio, "    "), scope)
    main = scope["main"]
    assert callable(main)
    asyncio.run(main())
    # Partitions have no order among each other.
    assert capsys.readouterr().out.splitlines() in (['{"total": 7}'], ["hello"])

    with riverlog.connect(shared_broker.bootstrap) as scope["client"]:
        exec(batch, scope)


def test_every_error_is_explained() -> None:
    named = set(re.findall(r"`(\w+)`", GUIDE[GUIDE.index("| `riverlog.client.errors`") :]))
    raised = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.ClientError)
    }
    assert raised - named == {"ClientError"}
