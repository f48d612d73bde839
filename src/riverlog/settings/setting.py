"""What a setting is: one declaration from which its flag, variable and TOML key are made.

The name is Kafka's where Kafka has one, else it begins with `riverlog.`; from it come the flag
(`--num-partitions`), the variable (`RIVERLOG_NUM_PARTITIONS`) and the TOML key (`num.partitions`).
"""

from typing import NamedTuple

from riverlog.config import BrokerSettings, DoorLimits
from riverlog.groups.settings import GroupSettings
from riverlog.log.settings import LogSettings
from riverlog.settings.kinds import Kind, Value

OURS = "riverlog."

# Each of these is filled, field by field, with the settings that name it.
Filled = BrokerSettings | DoorLimits | GroupSettings | LogSettings


class Setting(NamedTuple):
    """One setting.

    Attributes:
        group: Under which heading it is shown.
        name: Kafka's name, or ours.
        kind: Which values it may have.
        default: Its value when nobody chose one; None means that there is none.
        told: What it does, in a sentence, and the reason for its default if that is not plain.
        filled: Whose field it fills, if it does.
        field: Which field that is.
        alias: A shorter flag.
    """

    group: str
    name: str
    kind: Kind
    default: Value
    told: str
    filled: type[Filled] | None = None
    field: str = ""
    alias: str = ""

    @property
    def is_kafkas(self) -> bool:
        """Whether Kafka has it by this name and with this meaning."""
        return not self.name.startswith(OURS)

    @property
    def flag(self) -> str:
        return "--" + self._short.replace(".", "-")

    @property
    def variable(self) -> str:
        return "RIVERLOG_" + self._short.replace(".", "_").upper()

    @property
    def _short(self) -> str:
        return self.name.removeprefix(OURS)


def of(
    filled: type[Filled], field: str, group: str, name: str, kind: Kind, told: str, alias: str = ""
) -> Setting:
    """A setting whose default stands with the field it fills."""
    default = filled._field_defaults[field]
    return Setting(group, name, kind, default, told, filled, field, alias)
