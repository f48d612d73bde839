"""`riverlog config`: every setting, its value here, and where that was chosen."""

import argparse
import json
import textwrap
from collections.abc import Mapping

from riverlog.cli.arguments import Parser
from riverlog.cli.refusals import REFUSED, WELL, Refused
from riverlog.cli.setting_flags import add_flags, chosen_settings
from riverlog.cli.tables import print_json, print_table
from riverlog.settings.declaration import DECLARED
from riverlog.settings.kinds import Value, people_text, text_of
from riverlog.settings.near_misses import near_miss
from riverlog.settings.setting import OURS
from riverlog.settings.sources import DEFAULT, Chosen, InvalidSetting, Settings

DESCRIPTION = """\
Shows the settings a broker would have if it were started here with these flags, variables and
this file, and where each was chosen. With a NAME, explains that one."""
EXAMPLES = """\
Examples:
  riverlog config                                 all of them
  riverlog config num.partitions                  what it does, and how to set it
  riverlog config --toml > riverlog.toml          a file to edit, then: riverlog serve --config …
  RIVERLOG_NUM_PARTITIONS=8 riverlog config --json"""

EXIT_CODES: Mapping[type[Exception], int] = {InvalidSetting: REFUSED}
WIDTH = 88


def describe(parser: Parser) -> None:
    """Adds the name of a setting, the ways to show them, and a flag for each."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the setting to explain")
    shown_as = parser.add_mutually_exclusive_group()
    shown_as.add_argument("--json", action="store_true", help="as JSON")
    shown_as.add_argument("--toml", action="store_true", help="as a TOML file with explanations")
    add_flags(parser)
    parser.usage = f"{parser.prog} [NAME] [--json | --toml] [--config FILE] [--SETTING VALUE ...]"


def run(options: argparse.Namespace) -> int:
    """Shows them; raises `Refused` for a name that is none."""
    settings = chosen_settings(options)
    shown = list(settings.chosen.values())
    if options.name is not None:
        shown = [_named(options.name, settings)]
    if options.json:
        facts = [_facts(chosen) for chosen in shown]
        print_json(facts[0] if options.name is not None else facts)
    elif options.toml:
        print(_toml(shown), end="")
    elif options.name is not None:
        print(_explained(shown[0]))
    else:
        print_table(
            ["setting", "value", "from", "default", "of"],
            [
                [
                    chosen.setting.name,
                    people_text(chosen.setting.kind, chosen.value) or None,
                    chosen.source,
                    people_text(chosen.setting.kind, chosen.setting.default) or None,
                    "Kafka" if chosen.setting.is_kafkas else "Riverlog",
                ]
                for chosen in shown
            ],
        )
    return WELL


def _named(name: str, settings: Settings) -> Chosen:
    """The setting people mean, whether they write its name, its flag or its variable."""
    for chosen in settings.chosen.values():
        setting = chosen.setting
        if name in (setting.name, setting.name.removeprefix(OURS), setting.flag, setting.variable):
            return chosen
    raise Refused(f"there is no setting '{name}'{near_miss(name, DECLARED)}")


def _facts(chosen: Chosen) -> dict[str, object]:
    setting = chosen.setting
    return {
        "name": setting.name,
        "value": _plain(chosen.value),
        "default": _plain(setting.default),
        "source": chosen.source,
        "kafka": setting.is_kafkas,
        "unit": setting.kind.name if setting.kind.units else None,
        "flag": setting.flag,
        "variable": setting.variable,
        "allowed": setting.kind.rule,
        "told": setting.told,
    }


def _plain(value: Value) -> Value:
    """A value as JSON and TOML have it: numbers and truths as they are, all else as text."""
    return value if value is None or isinstance(value, int) else text_of(value)


def _explained(chosen: Chosen) -> str:
    setting = chosen.setting
    told = textwrap.fill(setting.told, WIDTH)
    default = people_text(setting.kind, setting.default) or "none"
    value = people_text(setting.kind, chosen.value) or "none"
    return f"""\
{setting.name}  ({"Kafka's name" if setting.is_kafkas else "Riverlog's own"})

{told}

  value     {value}  (from: {chosen.source})
  default   {default}
  allowed   {setting.kind.rule}
  flag      {setting.flag}
  variable  {setting.variable}
  TOML      {_toml_line(chosen)}"""


def _toml(shown: list[Chosen]) -> str:
    """A file that sets what was chosen, and shows all else as it is by default, in comments."""
    lines = ["# Settings of a Riverlog broker: riverlog serve --config THIS-FILE"]
    group = ""
    for chosen in shown:
        if chosen.setting.group != group:
            group = chosen.setting.group
            lines += ["", f"## {group[0].upper()}{group[1:]}"]
        lines.append("")
        lines += textwrap.wrap(
            chosen.setting.told, WIDTH, initial_indent="# ", subsequent_indent="# "
        )
        lines.append(f"# Allowed: {chosen.setting.kind.rule}.")
        is_chosen = chosen.source != DEFAULT
        lines.append(_toml_line(chosen) if is_chosen else f"# {_toml_line(chosen)}")
    return "\n".join(lines) + "\n"


def _toml_line(chosen: Chosen) -> str:
    value = _plain(chosen.value)
    if value is None:
        return f'{chosen.setting.name} = ""'
    text = text_of(value)
    return f"{chosen.setting.name} = {text if isinstance(value, int) else _quoted(text)}"


def _quoted(text: str) -> str:
    """A basic string of TOML; raises `Refused` for a path that is no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refused(f"TOML has no way to write the path '{text}'") from None
    # JSON's strings are TOML's, but for one letter.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
