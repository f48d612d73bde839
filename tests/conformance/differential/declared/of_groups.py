"""Differences in what concerns groups."""

from tests.conformance.differential.differences import Difference
from tests.conformance.differential.fields import ABSENT, PRESENT

_IN_GROUP = "groups.topics.partitions"
_TOLD_ONCE = "what is named twice is told once: a reply is no larger than what there is to tell"

GROUPS = (
    Difference(
        ("coordinators are found",),
        "error_message",
        "a text",
        None,
        "no message where there is no error; Kafka's is the word NONE",
    ),
    Difference(
        ("coordinators are found",),
        "coordinators.error_message",
        "",
        None,
        "no message where there is no error; Kafka's is an empty one",
    ),
    *(
        Difference(
            ("the group without a name",),
            field,
            ...,
            ...,
            "a group without a name can do what others can, deleting its offsets included",
        )
        for field in ("error_code", "topics", "results.error_code")
    ),
    *(
        Difference((script,), field, kafka, riverlog, _TOLD_ONCE, steps=(step,))
        for script, step, field, kafka, riverlog in (
            ("a group is described twice", "twice", "groups", PRESENT, ABSENT),
            ("offsets are asked for twice", "a partition", "topics.partitions", PRESENT, ABSENT),
            ("offsets are asked for twice", "a partition", _IN_GROUP, PRESENT, ABSENT),
            ("offsets are asked for twice", "a group", "groups", PRESENT, ABSENT),
            ("offsets are asked for twice", "a group", _IN_GROUP, ABSENT, PRESENT),
        )
    ),
)
