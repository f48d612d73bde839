"""The settings of a topic as clients see them, and where each comes from."""

from riverlog.broker.configs_in_effect import in_effect
from riverlog.broker.topic_configs import TOPIC_CONFIGS
from riverlog.log.settings import LogSettings


def test_values_are_shown_as_they_were_understood_with_where_they_come_from() -> None:
    configs = {"retention.ms": " +7 ", "cleanup.policy": "compact , delete", "preallocate": "TRUE"}
    defaults = LogSettings(segment_bytes=5000, segment_ms=60)
    shown = {config.name: config for config in in_effect(configs, defaults)}
    assert list(shown) == list(TOPIC_CONFIGS)
    assert [shown[name].value for name in configs] == ["7", "compact,delete", "true"]
    assert shown["retention.ms"][3:] == ("topic", (("retention.ms", "7", "topic"),))
    assert shown["preallocate"][3:] == (
        "topic",
        (("preallocate", "true", "topic"), ("log.preallocate", "false", "default")),
    )
    assert shown["segment.bytes"][1:] == (
        "5000",
        "INT",
        "broker",
        (("log.segment.bytes", "5000", "broker"), ("log.segment.bytes", "134217728", "default")),
    )
    assert shown["segment.ms"][3:] == ("broker", (("log.roll.ms", "60", "broker"),))
    assert shown["segment.jitter.ms"][1:] == ("0", "LONG", "default", ())


def test_a_stored_value_that_nobody_can_read_is_shown_as_it_is() -> None:
    shown = {c.name: c.value for c in in_effect({"segment.bytes": "lots"}, LogSettings())}
    assert shown["segment.bytes"] == "lots"
