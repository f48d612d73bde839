"""Two brokers' replies to one script, laid side by side."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.conformance.differential.conversation import Told
from tests.conformance.differential.differences import NORMALISED, Difference
from tests.conformance.differential.fields import ABSENT, PRESENT, Fields, Value, general


class Mismatch(NamedTuple):
    """One field that is not the same in both replies."""

    step: str
    version: int
    path: str
    kafka: Value
    riverlog: Value


def mismatches(kafka: Sequence[Told], riverlog: Sequence[Told]) -> Iterator[Mismatch]:
    """What is different once that which must differ is set aside."""
    assert [one.step for one in kafka] == [one.step for one in riverlog], "scripts took two ways"
    for theirs, ours in zip(kafka, riverlog, strict=True):
        yield from _in_one(theirs, normalised(theirs.fields), normalised(ours.fields))


def normalised(fields: Fields) -> Fields:
    """Values that cannot be equal replaced by what can be said of both."""
    shown = dict(fields)
    for path, value in fields.items():
        rule = NORMALISED.get(general(path).rpartition(".")[2])
        if rule is not None:
            shown[path] = rule.shown(value)
    return shown


def explains(difference: Difference, mismatch: Mismatch) -> bool:
    """Whether this is the mismatch that was declared."""
    return (
        difference.field == general(mismatch.path)
        and mismatch.version in difference.versions
        and (not difference.steps or mismatch.step in difference.steps)
        and (difference.key is None or f"[{difference.key}]" in mismatch.path)
        and (difference.kafka is ... or difference.kafka == mismatch.kafka)
        and (difference.riverlog is ... or difference.riverlog == mismatch.riverlog)
    )


def _in_one(told: Told, kafka: Fields, riverlog: Fields) -> Iterator[Mismatch]:
    lacking: tuple[str, ...] = ()
    for path in sorted(kafka.keys() | riverlog.keys()):
        theirs, ours = kafka.get(path, ABSENT), riverlog.get(path, ABSENT)
        # An element that one of them lacks is told once, not again for each of its fields.
        if theirs != ours and not path.startswith(lacking or ("\0",)):
            yield Mismatch(told.step, told.version, path, theirs, ours)
            if PRESENT in (theirs, ours):
                lacking += (f"{path}.", f"{path}[")


def summary(undeclared: Sequence[Mismatch], unfound: Sequence[Difference]) -> str:
    """What is wrong, for people; what is the same in several versions is said once."""
    lines = []
    versions: dict[tuple[str, str, Value, Value], list[int]] = {}
    for one in undeclared:
        path = one.path.replace(f"-v{one.version}-", "-v*-")
        versions.setdefault((one.step, path, one.kafka, one.riverlog), []).append(one.version)
    for (step, path, kafka, riverlog), found in versions.items():
        lines.append(f"v{','.join(map(str, found))} {step}: {path}")
        lines.append(f"    Kafka:    {kafka!r}\n    Riverlog: {riverlog!r}")
    lines += [f"declared, but no longer found: {difference}" for difference in unfound]
    return "\n".join(["replies differ, and declared/ does not say so:", *lines])
