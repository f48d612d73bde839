"""Settings as keyword arguments: the names of the flags, with underscores."""

from collections.abc import Mapping

from riverlog.settings.declaration import DECLARED
from riverlog.settings.kinds import text_of
from riverlog.settings.near_misses import near_miss
from riverlog.settings.sources import InvalidSetting, Settings, resolve

# A broker in a process is told these in other ways, or they are the process's own.
_NOT_KEYWORDS = frozenset(
    {
        "riverlog.data",
        "riverlog.listen",
        "riverlog.advertise",
        "riverlog.log.level",
        "riverlog.log.json",
    }
)
_NAMES = {
    flag.removeprefix("--").replace("-", "_"): setting.name
    for setting in DECLARED.values()
    for flag in (setting.flag, setting.alias)
    if flag and setting.name not in _NOT_KEYWORDS
}

Value = int | bool | str


def settings_from(keywords: Mapping[str, Value]) -> Settings:
    """All settings, those that are not given at their defaults.

    Neither the environment nor a file is looked at: what a test starts should not depend on them.
    Raises `InvalidSetting`, which names the keyword.
    """
    flags: dict[str, str | bool] = {}
    for keyword, value in keywords.items():
        if keyword not in _NAMES:
            raise InvalidSetting(f"there is no setting '{keyword}'{near_miss(keyword, _NAMES)}")
        flags[_NAMES[keyword]] = text_of(value)
    return resolve(flags, {})
