"""Where settings come from: flags before variables before the TOML file before defaults."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from riverlog.config import Address, BrokerSettings, DoorLimits
from riverlog.groups.settings import GroupSettings
from riverlog.log.settings import LogSettings
from riverlog.settings.declaration import DECLARED
from riverlog.settings.kinds import INT64_MAX, InvalidValue, Value, text_of
from riverlog.settings.near_misses import near_miss
from riverlog.settings.setting import Filled, Setting

PREFIX = "RIVERLOG_"
FILE_VARIABLE = "RIVERLOG_CONFIG"
DEFAULT = "default"
FILE_BYTES_MAX = 1 << 20

# Variables that begin like ours and are none of the broker's settings: which file to read, where
# the other commands find a broker, and what our own tests leave to the brokers they start.
_NOT_SETTINGS = frozenset({FILE_VARIABLE, "RIVERLOG_BOOTSTRAP", "RIVERLOG_SEED", "RIVERLOG_KILLS"})
# Kubernetes tells every container of a service named riverlog in variables of these names.
_SERVICE_LINKS = ("RIVERLOG_SERVICE_", "RIVERLOG_PORT")
_BY_VARIABLE = {setting.variable: setting for setting in DECLARED.values()}


class InvalidSetting(Exception):
    """A setting is unknown or has a value it cannot have; the message names where it stands."""


class Chosen(NamedTuple):
    """The value of a setting, and where it was chosen: a flag, a variable, a file, or nowhere."""

    setting: Setting
    value: Value
    source: str


class Settings(NamedTuple):
    """All settings of a broker, by name."""

    chosen: Mapping[str, Chosen]

    def text(self, name: str) -> str:
        """The value of a setting that is a word or a path; empty when there is none."""
        value = self.chosen[name].value or ""
        assert isinstance(value, str), name
        return value

    def is_on(self, name: str) -> bool:
        """The value of a setting that is true or false."""
        value = self.chosen[name].value
        assert isinstance(value, bool), name
        return value

    def address(self, name: str) -> Address | None:
        """The value of a setting that is an address."""
        value = self.chosen[name].value
        assert value is None or isinstance(value, Address), name
        return value

    def broker(self) -> BrokerSettings:
        return BrokerSettings(**self._fields_of(BrokerSettings))

    def groups(self) -> GroupSettings:
        return GroupSettings(**self._fields_of(GroupSettings))

    def limits(self) -> DoorLimits:
        return DoorLimits(**self._fields_of(DoorLimits))

    def log_defaults(self) -> LogSettings:
        fields = self._fields_of(LogSettings)
        fields["uses_append_time"] = self.text("log.message.timestamp.type") == "LogAppendTime"
        return LogSettings(**fields)

    # Any: the declaration gives each field a kind that fits its type, and a test says so.
    def _fields_of(self, filled: type[Filled]) -> dict[str, Any]:
        """The values of the settings that fill this one's fields."""
        return {
            chosen.setting.field: chosen.value
            for chosen in self.chosen.values()
            if chosen.setting.filled is filled
        }


def resolve(
    flags: Mapping[str, str | bool],
    environment: Mapping[str, str],
    file: str | None = None,
) -> Settings:
    """Every setting with its value; raises `InvalidSetting`, or `OSError` for an unread file.

    `flags` are by the name of the setting. Without `file`, `RIVERLOG_CONFIG` may name one.
    """
    chosen = {name: Chosen(setting, setting.default, DEFAULT) for name, setting in DECLARED.items()}
    file = file or environment.get(FILE_VARIABLE)
    if file:
        for name, written in read_file(file).items():
            if name not in DECLARED:
                hint = near_miss(name, DECLARED)
                raise InvalidSetting(f"{file}: there is no setting '{name}'{hint}")
            chosen[name] = _choose(DECLARED[name], written, file, f"{file}: {name}")
    for variable, text in sorted(environment.items()):
        if variable.startswith(PREFIX) and not _is_anothers(variable):
            if variable not in _BY_VARIABLE:
                hint = near_miss(variable, _BY_VARIABLE)
                raise InvalidSetting(f"there is no setting of the variable {variable}{hint}")
            setting = _BY_VARIABLE[variable]
            chosen[setting.name] = _choose(setting, text, variable, variable)
    for name, value in flags.items():
        flag = DECLARED[name].flag
        chosen[name] = _choose(DECLARED[name], value, flag, flag)
    return Settings(chosen)


def _is_anothers(variable: str) -> bool:
    return variable in _NOT_SETTINGS or variable.startswith(_SERVICE_LINKS)


def _choose(setting: Setting, written: object, source: str, place: str) -> Chosen:
    try:
        return Chosen(setting, setting.kind.parse(_text_in(written)), source)
    except InvalidValue as error:
        raise InvalidSetting(f"{place}: {error}") from None


def _text_in(written: object) -> str:
    """What stands in TOML, or follows a flag, as people would have typed it."""
    match written:
        case bool() | str():
            return text_of(written)
        case int() if abs(written) <= INT64_MAX:
            return text_of(written)
        case int():
            raise InvalidValue("the number is too large")
    raise InvalidValue("the value must be a text, a whole number, true or false")


def read_file(path: str) -> dict[str, object]:
    """What a TOML file says, by dotted names; raises `InvalidSetting` or `OSError`."""
    # Most starts have no file.
    import tomllib

    try:
        with open(path, "rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
        if len(data) > FILE_BYTES_MAX:
            raise InvalidSetting(f"{path}: a file of settings has at most {FILE_BYTES_MAX} bytes")
        tree = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidSetting(f"{path}: {error}") from None
    flat: dict[str, object] = {}
    for name, value in _flattened("", tree):
        if name in flat:
            raise InvalidSetting(f"{path}: {name} is set twice")
        flat[name] = value
    return flat


def _flattened(prefix: str, table: dict[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flattened(f"{prefix}{key}.", value)
        else:
            yield prefix + key, value
