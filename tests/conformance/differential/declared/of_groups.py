"""Differences in what concerns groups."""

from tests.conformance.differential.differences import Difference

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
)
