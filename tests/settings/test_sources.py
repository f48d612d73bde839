"""Where settings come from, which wins, and what is said of mistakes."""

from pathlib import Path

import pytest

from riverlog.settings.sources import InvalidSetting, resolve


def file(directory: Path, text: str) -> str:
    path = directory / "riverlog.toml"
    path.write_text(text)
    return str(path)


def test_flags_come_before_variables_before_the_file_before_defaults(tmp_path: Path) -> None:
    path = file(tmp_path, "num.partitions = 7\nmax.connections = 7\nlog.roll.ms = 7\n")
    variables = {"RIVERLOG_NUM_PARTITIONS": "8", "RIVERLOG_MAX_CONNECTIONS": "8"}
    settings = resolve({"num.partitions": "9"}, variables, path)
    chosen = settings.chosen
    assert chosen["num.partitions"][1:] == (9, "--num-partitions")
    assert chosen["max.connections"][1:] == (8, "RIVERLOG_MAX_CONNECTIONS")
    assert chosen["log.roll.ms"][1:] == (7, path)
    assert chosen["log.segment.bytes"].source == "default"
    assert settings.broker().num_partitions == 9
    assert settings.limits().connections_max == 8
    assert settings.log_defaults().segment_ms == 7


def test_a_variable_may_name_the_file(tmp_path: Path) -> None:
    path = file(tmp_path, "num.partitions = 7")
    assert resolve({}, {"RIVERLOG_CONFIG": path}).broker().num_partitions == 7
    other = tmp_path / "other.toml"
    other.write_text("num.partitions = 6")
    assert resolve({}, {"RIVERLOG_CONFIG": path}, str(other)).broker().num_partitions == 6


@pytest.mark.parametrize(
    "text",
    ["num.partitions = 7", '"num.partitions" = 7', "[num]\npartitions = 7", 'num.partitions = "7"'],
)
def test_a_key_may_be_written_in_every_way_toml_has(tmp_path: Path, text: str) -> None:
    assert resolve({}, {}, file(tmp_path, text)).broker().num_partitions == 7


@pytest.mark.parametrize(
    ("text", "value"),
    [("65536", 65536), ("64KiB", 65536), ("64 kib", 65536), ("1MiB", 1 << 20), ("20b", 20)],
)
def test_sizes_have_units(text: str, value: int) -> None:
    assert resolve({"log.segment.bytes": text}, {}).log_defaults().segment_bytes == value


@pytest.mark.parametrize(
    ("text", "value"), [("5", 5), ("5ms", 5), ("5s", 5_000), ("2m", 120_000), ("7d", 604_800_000)]
)
def test_times_have_units(text: str, value: int) -> None:
    assert resolve({"log.roll.ms": text}, {}).log_defaults().segment_ms == value


@pytest.mark.parametrize(("text", "value"), [("true", True), ("FALSE", False)])
def test_truths_are_spelt_out(text: str, value: bool) -> None:
    variables = {"RIVERLOG_AUTO_CREATE_TOPICS_ENABLE": text}
    assert resolve({}, variables).broker().auto_create_topics is value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("num.partitions", "0"),
        ("num.partitions", "100001"),
        ("num.partitions", "4KiB"),
        ("num.partitions", "four"),
        ("num.partitions", "٤"),
        ("num.partitions", "9" * 5000),
        ("log.segment.bytes", "2GiB"),
        ("log.segment.bytes", "-1"),
        ("log.segment.bytes", "1.5MiB"),
        ("log.roll.ms", "1y"),
        ("log.message.timestamp.type", "createtime"),
        ("auto.create.topics.enable", "1"),
        ("riverlog.listen", "nowhere"),
        ("riverlog.data", ""),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_place(name: str, text: str) -> None:
    variable = "RIVERLOG_" + name.removeprefix("riverlog.").replace(".", "_").upper()
    with pytest.raises(InvalidSetting, match=f"^{variable}: "):
        resolve({}, {variable: text})
    with pytest.raises(InvalidSetting, match=r"^--"):
        resolve({name: text}, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("num.partition = 4", "there is no setting 'num.partition'; did you mean num.partitions?"),
        ("num = 4", "there is no setting 'num'"),
        ("[empty]", "there is no setting 'empty'"),
        ("num.partitions = 1.5", "num.partitions: the value must be a text, a whole number"),
        ("num.partitions = [4]", "num.partitions: the value must be"),
        ("num.partitions.x = 4", "there is no setting 'num.partitions.x'"),
        (f"num.partitions = 0x{'f' * 9000}", "num.partitions: the number is too large"),
        (f"num.partitions = {'9' * 9000}", ""),
        ("num.partitions = true", "num.partitions: 'true' is not a whole number"),
        ('num.partitions = 4\n"num.partitions" = 5', "num.partitions is set twice"),
        ("num.partitions =", "Invalid value"),
        (f"a = {'[' * 3000}", ""),
        ("#" * (1 << 20) + "##", "at most 1048576 bytes"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_name(tmp_path: Path, text: str, said: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(InvalidSetting) as caught:
        resolve({}, {}, path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidSetting, match="binary"):
        resolve({}, {}, str(tmp_path / "binary"))
    with pytest.raises(FileNotFoundError):
        resolve({}, {}, str(tmp_path / "missing"))


def test_an_unknown_variable_is_refused_and_guessed() -> None:
    with pytest.raises(InvalidSetting, match="did you mean RIVERLOG_NUM_PARTITIONS"):
        resolve({}, {"RIVERLOG_NUM_PARTITION": "4"})


@pytest.mark.parametrize(
    "variable",
    ["RIVERLOG_BOOTSTRAP", "RIVERLOG_SERVICE_HOST", "RIVERLOG_PORT", "RIVERLOG_PORT_9092_TCP"],
)
def test_variables_of_others_that_begin_like_ours_are_left_alone(variable: str) -> None:
    resolve({}, {variable: "tcp://10.0.0.1:9092", "PATH": "/bin"})
