"""The same scripts for Apache Kafka and for Riverlog: every field of every reply is compared."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from riverlog.kafka.apis import served
from tests.conformance.clients.raw_connection import Listening
from tests.conformance.differential.comparison import (
    Mismatch,
    explains,
    mismatches,
    summary,
)
from tests.conformance.differential.conversation import Conversation, Told
from tests.conformance.differential.declared import DIFFERENCES
from tests.conformance.differential.script import Script
from tests.conformance.differential.scripts import SCRIPTS


@pytest.mark.client("apache-kafka")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_replies_differ_only_as_declared(
    brokers: tuple[Listening, Listening], script: Script
) -> None:
    found = [one for version in script.versions for one in _mismatches(brokers, script, version)]

    declared = [difference for difference in DIFFERENCES if script.name in difference.scripts]
    undeclared = [one for one in found if not any(explains(each, one) for each in declared)]
    unfound = [each for each in declared if not any(explains(each, one) for one in found)]
    if undeclared or unfound:
        pytest.fail(summary(undeclared, unfound), pytrace=False)


def test_every_version_of_every_api_that_is_served_has_a_script() -> None:
    asked = {(script.api, version) for script in SCRIPTS.values() for version in script.versions}
    assert asked == {
        (key, version)
        for key, api in served().items()
        for version in range(api.first, api.last + 1)
    }


def _mismatches(
    brokers: tuple[Listening, Listening], script: Script, version: int
) -> list[Mismatch]:
    now_ms = time.time_ns() // 1_000_000
    # At the same time: either spends most of it waiting.
    with ThreadPoolExecutor(len(brokers)) as pool:
        told = pool.map(lambda broker: _told(broker, script, version, now_ms), brokers)
        kafka, riverlog = told
    return list(mismatches(kafka, riverlog))


def _told(broker: Listening, script: Script, version: int, now_ms: int) -> list[Told]:
    with closing(Conversation(broker, script.name, version, now_ms)) as talk:
        script.run(talk)
    return talk.told
