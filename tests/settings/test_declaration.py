"""One declaration, and what everything made from it may rely on."""

import typing

import pytest

from riverlog.config import BrokerSettings, DoorLimits
from riverlog.log.settings import LogSettings
from riverlog.settings.declaration import DECLARED
from riverlog.settings.kinds import text_of
from riverlog.settings.setting import Setting
from riverlog.settings.sources import resolve

FILLED = (BrokerSettings, DoorLimits, LogSettings)
ALL = list(DECLARED.values())
NAMES = [setting.name for setting in ALL]


def test_every_field_a_broker_is_set_up_with_has_a_setting() -> None:
    for filled in FILLED:
        declared = [setting.field for setting in ALL if setting.filled is filled]
        assert sorted(declared) == sorted(filled._fields)


def test_the_defaults_are_those_the_code_has() -> None:
    settings = resolve({}, {})
    values = [settings.broker(), settings.limits(), settings.log_defaults()]
    assert values == [filled() for filled in FILLED]


def test_a_field_gets_values_of_its_own_type() -> None:
    settings = resolve({}, {})
    for built in (settings.broker(), settings.limits(), settings.log_defaults()):
        for name, kind in typing.get_type_hints(type(built)).items():
            assert type(getattr(built, name)) is kind, name


@pytest.mark.parametrize("setting", ALL, ids=NAMES)
def test_a_default_is_a_value_of_its_kind(setting: Setting) -> None:
    if setting.default is not None:
        assert setting.kind.parse(text_of(setting.default)) == setting.default


@pytest.mark.parametrize("setting", ALL, ids=NAMES)
def test_every_setting_is_explained_in_a_sentence(setting: Setting) -> None:
    assert setting.told[0].isupper()
    assert setting.told.endswith(".")


def test_flags_and_variables_are_told_apart() -> None:
    flags = [setting.flag for setting in ALL] + [s.alias for s in ALL if s.alias]
    assert len(set(flags)) == len(flags)
    assert len({setting.variable for setting in ALL}) == len(ALL)


def test_no_name_begins_with_another_one_for_in_toml_that_would_be_a_table() -> None:
    clashes = [(a, b) for a in NAMES for b in NAMES if b.startswith(a + ".")]
    assert not clashes


def test_groups_come_one_after_the_other_the_everyday_first() -> None:
    groups = [setting.group for setting in ALL]
    assert groups == sorted(groups, key=groups.index)
    assert groups[0] == "everyday"
