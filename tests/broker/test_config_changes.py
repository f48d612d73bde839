"""Changes of settings one at a time: set, delete, and lists that grow and shrink."""

import pytest

from riverlog.broker.config_changes import ConfigChange, changed
from riverlog.broker.errors import InvalidConfig
from riverlog.log.settings import LogSettings

POLICY = "cleanup.policy"
THROTTLED = "leader.replication.throttled.replicas"


def after(configs: dict[str, str], *changes: ConfigChange) -> dict[str, str]:
    return changed(configs, changes, LogSettings())


def test_what_is_not_named_stays() -> None:
    configs = {"retention.ms": "1", "segment.ms": "2"}
    assert after(configs, ConfigChange("segment.ms", "SET", "3")) == {
        "retention.ms": "1",
        "segment.ms": "3",
    }
    assert after(configs, ConfigChange("segment.ms", "DELETE")) == {"retention.ms": "1"}
    assert configs == {"retention.ms": "1", "segment.ms": "2"}


def test_deleting_what_is_not_set_is_no_mistake() -> None:
    assert after({}, ConfigChange("retention.ms", "DELETE"), ConfigChange("x", "DELETE")) == {}


@pytest.mark.parametrize(
    ("configs", "change", "result"),
    [
        ({}, ConfigChange(POLICY, "APPEND", "compact"), "delete,compact"),
        ({POLICY: "compact"}, ConfigChange(POLICY, "APPEND", "delete"), "compact,delete"),
        ({POLICY: "compact"}, ConfigChange(POLICY, "APPEND", "compact"), "compact"),
        ({POLICY: "compact"}, ConfigChange(POLICY, "APPEND", ""), "compact"),
        ({}, ConfigChange(POLICY, "SUBTRACT", "delete"), ""),
        ({POLICY: "compact, delete"}, ConfigChange(POLICY, "SUBTRACT", "delete"), "compact"),
        ({POLICY: "compact"}, ConfigChange(POLICY, "SUBTRACT", "delete"), "compact"),
    ],
)
def test_a_list_grows_and_shrinks_from_what_is_in_effect(
    configs: dict[str, str], change: ConfigChange, result: str
) -> None:
    assert after(configs, change) == {POLICY: result}


def test_several_parts_may_come_and_go_at_once() -> None:
    grown = after({}, ConfigChange(THROTTLED, "APPEND", "0:1, 1:1,2:1"))
    assert grown == {THROTTLED: "0:1,1:1,2:1"}
    assert after(grown, ConfigChange(THROTTLED, "SUBTRACT", "0:1,2:1")) == {THROTTLED: "1:1"}


@pytest.mark.parametrize("name", ["segment.ms", "no.such"])
def test_what_is_no_list_can_neither_grow_nor_shrink(name: str) -> None:
    with pytest.raises(InvalidConfig, match=f"Can't APPEND to key {name} because its type is not"):
        after({}, ConfigChange(name, "APPEND", "1"))
    with pytest.raises(InvalidConfig, match=f"Can't SUBTRACT to key {name}"):
        after({}, ConfigChange(name, "SUBTRACT", "1"))
