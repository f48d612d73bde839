"""Kafka's tools for tests, in one process for all of them."""

from collections.abc import Iterator

import pytest

from tests.conformance.apache_kafka.command_line import CommandLine


@pytest.fixture(scope="session")
def command_line() -> Iterator[CommandLine]:
    opened = CommandLine()
    yield opened
    opened.close()
