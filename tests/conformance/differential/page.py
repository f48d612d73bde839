"""Writes docs/compatibility.md from the tables: what is served, tried, different, not there yet.

`python -m tests.conformance.differential.page` writes it; a test checks that it was.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import EllipsisType

from riverlog.kafka.apis import served
from riverlog.protocol.api_keys import ApiKey
from tests.conformance.apache_kafka.command_line import CLASSES
from tests.conformance.clients.roster import MAKERS
from tests.conformance.differential.declared import DIFFERENCES
from tests.conformance.differential.differences import NORMALISED, Difference
from tests.conformance.differential.fields import ABSENT, PRESENT, Value
from tests.conformance.differential.scripts import SCRIPTS

PAGE = Path(__file__).parents[3] / "docs" / "compatibility.md"

INTRODUCTION = """\
# Compatibility

Riverlog speaks the Kafka protocol. This page says how much of it, how that is known, and where its
replies differ from Apache Kafka's. It is written from the tables that the broker and the tests use:
`python -m tests.conformance.differential.page` writes it anew.
"""

TRIED = """\
## What is tried

Each of these runs unmodified against a broker in the tests.
"""

COMPARED = """\
## Replies beside Apache Kafka's

{count} scripts of requests, ordinary ones and wrong ones, are sent to Apache Kafka 4.2 and to
Riverlog at every version that Riverlog serves (`tests/conformance/differential/scripts`). Every
field of every reply is compared. A difference that is not declared fails the test, and so does a
declared one that is no longer there.

The order of elements in an array is not compared. Of these fields, whose values cannot be equal,
only that there is one is compared:
"""

MEANT = """\
### Different on purpose

After each reason, the fields: Apache Kafka's value, then ours.
"""
NOT_YET = "### Different until it is done\n"

ELSEWHERE = """\
## Different where no reply shows it

* `acks=1` and `acks=0` are synced like `acks=all`, only later than the reply; consumers see what is
  durable, and nothing else.
* By age, retention takes one segment of a partition in a pass: a clock that jumps deletes little.
  A record's time counts at most up to its arrival, so one from the future keeps nothing for ever.
* A partition remembers 20,000 idempotent producers, those silent for longest are forgotten first,
  and all after a day of silence by the broker's clock.
* What an idempotent producer sent behind a batch that the disk refused is refused with that error,
  KAFKA_STORAGE_ERROR, until that batch has come again; for Kafka it is out of order.
* `__consumer_offsets` has 4 partitions; it is kept short by the broker, without compaction.
* A new group waits 100 ms for more members, where Kafka waits 3 s.
"""

MISSING = """\
## Not there yet

APIs whose messages we can read and write, and which are not served:
{missing}.

Besides: TLS; the newer consumer group protocol and share groups; quotas; followers, as there is one
broker; tiered storage.
"""


def render() -> str:
    """The whole page."""
    return "\n".join(
        [
            INTRODUCTION,
            *_served(),
            TRIED,
            f"* **Clients**: {', '.join(MAKERS)} (`tests/conformance/clients`).",
            f"* **Kafka's own tools**, from its jars: {', '.join(CLASSES)} "
            "(`tests/conformance/apache_kafka`).\n",
            COMPARED.format(count=len(SCRIPTS)),
            *_normalised(),
            MEANT,
            *_declared(one for one in DIFFERENCES if one.is_meant),
            NOT_YET,
            *_declared(one for one in DIFFERENCES if not one.is_meant),
            ELSEWHERE,
            MISSING.format(missing=", ".join(_name(key) for key in ApiKey if key not in served())),
        ]
    )


def apis_of(difference: Difference) -> list[ApiKey]:
    """The APIs of the scripts that a difference is found in."""
    return sorted({SCRIPTS[script].api for script in difference.scripts})


def _served() -> Iterator[str]:
    yield "## What is served\n\n| API | key | versions |\n|---|---|---|"
    for key, api in sorted(served().items()):
        note = ""
        if api.first_advertised != api.first:
            note = f", advertised from {api.first_advertised} for the sake of older clients"
        versions = f"{api.first}-{api.last}" if api.last > api.first else str(api.first)
        yield f"| {_name(api.key)} | {key} | {versions}{note} |"
    yield ""


def _normalised() -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for field, rule in NORMALISED.items():
        by_reason.setdefault(rule.why, []).append(f"`{field}`")
    yield from (f"* {', '.join(fields)}: {why}." for why, fields in by_reason.items())
    yield ""


def _declared(differences: Iterable[Difference]) -> Iterator[str]:
    by_reason: dict[str, list[Difference]] = {}
    for difference in differences:
        by_reason.setdefault(difference.why, []).append(difference)
    for why, same in by_reason.items():
        names = dict.fromkeys(_name(key) for one in same for key in apis_of(one))
        fields = dict.fromkeys(map(_field, same))
        yield f"* **{', '.join(names)}**: {why}. {'; '.join(fields)}."
    yield ""


def _field(difference: Difference) -> str:
    place = f"`{difference.field}`"
    if difference.key is not None:
        place += f" of `{difference.key}`"
    if difference.kafka is ... and difference.riverlog is ...:
        return place
    return f"{place}: {_shown(difference.kafka)} → {_shown(difference.riverlog)}"


_WORDS: dict[Value, str] = {PRESENT: "there", ABSENT: "left out", "": "empty"}


def _shown(value: Value | EllipsisType) -> str:
    if isinstance(value, EllipsisType):
        return "any"
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return "zero" if not any(value) else value.hex()
    return _WORDS.get(value) or str(value)


def _name(key: ApiKey) -> str:
    return key.name.title().replace("_", "")


if __name__ == "__main__":
    PAGE.write_text(render())
