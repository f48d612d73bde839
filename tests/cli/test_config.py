"""`riverlog config`: every setting, and a file that can be fed back in."""

import json
import tomllib
from pathlib import Path

import pytest

from riverlog.settings.declaration import DECLARED
from tests.cli.running import run, run_here

CHOSEN = ["--num-partitions", "9", "--data", 'a "b" \\ c\td\u2028e\x7f\n😀', "--log-roll-ms", "2h"]


def test_all_are_shown_with_value_source_and_default() -> None:
    told = run("config", "--num-partitions", "9", variables={"RIVERLOG_LOG_LEVEL": "debug"})
    assert (told.code, told.err) == (0, "")
    rows = {line.split()[0]: line.split()[1:] for line in told.out.splitlines()}
    assert rows["num.partitions"] == ["9", "--num-partitions", "4", "Kafka"]
    assert rows["riverlog.log.level"] == ["debug", "RIVERLOG_LOG_LEVEL", "info", "Riverlog"]
    assert rows["log.segment.bytes"] == ["128MiB", "default", "128MiB", "Kafka"]
    assert set(rows) == {"setting", *DECLARED}


def test_json_has_the_plain_values() -> None:
    told = run_here("config", "--json", *CHOSEN)
    settings = {setting["name"]: setting for setting in json.loads(told.out)}
    assert set(settings) == set(DECLARED)
    assert settings["log.roll.ms"]["value"] == 7_200_000
    assert settings["riverlog.data"]["value"] == CHOSEN[3]
    assert settings["riverlog.listen"]["default"] == "127.0.0.1:9092"


def test_the_template_fed_back_in_gives_the_same_settings(tmp_path: Path) -> None:
    template = tmp_path / "riverlog.toml"
    template.write_text(run_here("config", "--toml", *CHOSEN).out)
    again = json.loads(run_here("config", "--json", "--config", str(template)).out)
    flags = json.loads(run_here("config", "--json", *CHOSEN).out)
    assert [setting["value"] for setting in again] == [setting["value"] for setting in flags]
    sources = {setting["name"]: setting["source"] for setting in again}
    assert sources["num.partitions"] == str(template)
    assert sources["max.connections"] == "default"


def test_every_line_of_the_template_may_be_taken_in(tmp_path: Path) -> None:
    lines = run_here("config", "--toml").out.splitlines()
    settings = [line.removeprefix("# ") for line in lines if " = " in line and "``" not in line]
    assert len(tomllib.loads("\n".join(settings))) > 0
    assert len(settings) == len(DECLARED)
    wanted = [line for line in settings if not line.endswith('= ""')]
    template = tmp_path / "riverlog.toml"
    template.write_text("\n".join(wanted))
    told = run_here("config", "--json", "--config", str(template))
    assert all(setting["value"] == setting["default"] for setting in json.loads(told.out))


@pytest.mark.parametrize("name", ["num.partitions", "--num-partitions", "RIVERLOG_NUM_PARTITIONS"])
def test_one_is_explained_by_any_of_its_names(name: str) -> None:
    told = run_here("config", "--", name)
    assert told.code == 0, told
    for word in ("num.partitions = 4", "--num-partitions", "RIVERLOG_NUM_PARTITIONS", "100000"):
        assert word in told.out


def test_a_name_that_is_none_is_guessed() -> None:
    assert "did you mean num.partitions?" in run_here("config", "num.partition").complaint


def test_a_path_that_is_no_text_cannot_be_put_into_toml() -> None:
    assert "TOML" in run_here("config", "--toml", "--data", "\udcff").complaint
