"""A flag for every setting, made from the declaration, and the settings that were chosen."""

import argparse

from riverlog.cli.arguments import Parser
from riverlog.config import environment
from riverlog.settings.declaration import DECLARED
from riverlog.settings.kinds import people_text
from riverlog.settings.setting import Setting
from riverlog.settings.sources import FILE_VARIABLE, Settings, resolve


def add_flags(parser: Parser) -> None:
    """Adds `--config` and one flag for each setting, the everyday ones first."""
    parser.usage = f"{parser.prog} [--config FILE] [--SETTING VALUE ...]"
    parser.add_argument(
        "--config", metavar="FILE", help=f"a TOML file with settings, or set {FILE_VARIABLE}"
    )
    groups = {
        setting.group: parser.add_argument_group(setting.group) for setting in DECLARED.values()
    }
    for setting in DECLARED.values():
        _add_flag(groups[setting.group], setting, setting.flag, _help(setting))
        if setting.alias:
            _add_flag(groups[setting.group], setting, setting.alias, argparse.SUPPRESS)


def chosen_settings(options: argparse.Namespace) -> Settings:
    """The settings from flags, variables and file; raises `InvalidSetting` or `OSError`."""
    given = vars(options)
    flags = {name: given[name] for name in DECLARED if given.get(name) is not None}
    return resolve(flags, environment(), options.config)


def _add_flag(
    group: argparse._ArgumentGroup,  # it has no public name
    setting: Setting,
    flag: str,
    told: str,
) -> None:
    if setting.kind.is_boolean:
        group.add_argument(
            flag,
            dest=setting.name,
            action=argparse.BooleanOptionalAction,
            default=None,
            help=told,
        )
    else:
        group.add_argument(flag, dest=setting.name, metavar=setting.kind.name, help=told)


def _help(setting: Setting) -> str:
    default = people_text(setting.kind, setting.default)
    told = f"{setting.told} [{default}]" if default else setting.told
    # To argparse a percent sign is the beginning of a name.
    return told.replace("%", "%%")
