"""Differences in what concerns settings: those of topics, and those of the protocol."""

from riverlog.broker.topic_configs import TOPIC_CONFIGS
from tests.conformance.differential.differences import Difference
from tests.conformance.differential.fields import ABSENT, PRESENT

_SHOWING_SETTINGS = (
    ("topics.configs", (
        "topics are made", "defaults are filled in", "what is only checked is not made",
        "more partitions than kafka makes at once",
        "names that cannot be are refused", "names that collide as metrics",
        "a name twice in one request", "replicas may be assigned", "settings are kept",
        "topics end",
    )),
    ("results.configs", ("every setting of a topic", "some settings of a topic")),
)  # fmt: skip

SETTINGS = (
    *(
        Difference(
            ("settings are asked for twice",),
            field,
            kafka,
            riverlog,
            "what is named twice is told once: a reply is no larger than what there is to tell",
        )
        for field, kafka, riverlog in (
            ("results", PRESENT, ABSENT),
            ("results.configs", ABSENT, PRESENT),
        )
    ),
    *(
        Difference(
            scripts,
            field,
            ABSENT,
            PRESENT,
            "settings of our own",
            key=own,
        )
        for field, scripts in _SHOWING_SETTINGS
        for own in TOPIC_CONFIGS
        if own.startswith("riverlog.")
    ),
    *(
        Difference(
            scripts,
            f"{field}.value",
            "1073741824",
            "134217728",
            "smaller segments by default: they are what is checked, kept aside and deleted",
            key="segment.bytes",
        )
        for field, scripts in _SHOWING_SETTINGS
    ),
    *(
        Difference(
            scripts,
            f"{field}.config_source",
            3,
            5,
            "a default of our own, where Kafka writes its default into new clusters",
            key="min.insync.replicas",
        )
        for field, scripts in _SHOWING_SETTINGS
    ),
    Difference(
        ("some settings of the broker",),
        "results.configs.read_only",
        False,
        True,
        "settings of the broker are changed where it is started, not while it runs",
        key="message.max.bytes",
    ),
    Difference(
        ("settings of groups and of metrics",),
        "results.configs",
        PRESENT,
        ABSENT,
        "groups and metrics of clients have no settings: those of Kafka are of what is not served",
        is_meant=False,
        steps=("group", "metrics"),
    ),
    Difference(
        ("settings of what does not exist",),
        "results.error_message",
        "",
        "a text",
        "every refusal says what was wrong, where Kafka leaves this one to the error code",
        steps=("unknown topic",),
    ),
)

API_VERSIONS = (
    *(
        Difference(
            ("ranges of what we serve",),
            field,
            ...,
            ...,
            "features are advertised with what they promise: nothing so far",
            is_meant=False,
        )
        for field in ("finalized_features", "finalized_features_epoch", "supported_features")
    ),
)
