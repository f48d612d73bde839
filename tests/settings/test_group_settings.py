"""What is chosen for groups reaches them."""

from riverlog.groups.settings import DAY_MS, GroupSettings
from riverlog.settings.sources import resolve


def test_without_a_choice_groups_have_their_defaults() -> None:
    assert resolve({}, {}).groups() == GroupSettings()


def test_choices_reach_groups_under_kafkas_names() -> None:
    flags = {"group.initial.rebalance.delay.ms": "3000", "offsets.retention.minutes": "1440"}
    chosen = resolve(flags, {"RIVERLOG_GROUP_MAX_SIZE": "5"}).groups()
    assert chosen.initial_delay_ms == 3_000
    assert chosen.retention_ms == DAY_MS
    assert chosen.size_max == 5
