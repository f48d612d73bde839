"""Whatever is typed, set or written into a file: an exit code, one line at most, no traceback."""

import io
from pathlib import Path
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riverlog.cli.arguments import flags_of
from riverlog.cli.commands import COMMANDS, parser_of
from riverlog.cli.main import main
from riverlog.settings.declaration import DECLARED
from tests.cli.running import Ended, run_here

# What a process can be given: any text without a zero, bytes that are no text as surrogates.
# It never begins to serve, connect or measure: these need more than what is drawn here.
texts = st.text(st.characters(exclude_characters="\0"), max_size=30)
values = texts | st.sampled_from(["0", "-1", "4", "1KiB", "7d", "true", "[::1]:0", "a:1", "info"])
HARMLESS = [name for name in COMMANDS if name in ("config", "inspect", "completion")]
FLAGS = sorted(set(flags_of(parser_of(*HARMLESS))))


def check(ended: Ended) -> None:
    assert ended.code in (0, 1, 2), ended
    assert "Traceback" not in ended.err
    if ended.code == 2:
        assert ended.complaint
    else:
        assert ended.err == ""


@settings(deadline=None)
@given(st.lists(values | st.sampled_from([*HARMLESS, *FLAGS]), max_size=6))
def test_any_command_line(words: list[str]) -> None:
    if not {"serve", "doctor"} & set(words[:1]):
        check(run_here(*words))


@settings(deadline=None)
@given(
    st.sampled_from(HARMLESS),
    st.lists(st.tuples(st.sampled_from(FLAGS), st.lists(values, max_size=2)), max_size=4),
)
def test_any_flags_of_a_command_with_any_values(
    name: str, flags: list[tuple[str, list[str]]]
) -> None:
    check(run_here(name, *(word for flag, given_ in flags for word in (flag, *given_))))


# Nobody listens there: whatever is well formed ends with one line, when a second has passed.
NOWHERE = ["--bootstrap", "127.0.0.1:1", "--timeout", "1"]
ASKING = ["topic", "produce", "consume", "group"]
ASKING_FLAGS = sorted(set(flags_of(parser_of(*ASKING))) - {"--bootstrap", "-b", "--timeout"})
VERBS = ["create", "list", "describe", "alter", "delete", "reset-offsets"]


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(ASKING),
    st.lists(values | st.sampled_from(VERBS), max_size=2),
    st.lists(st.tuples(st.sampled_from(ASKING_FLAGS), st.lists(values, max_size=2)), max_size=3),
)
def test_any_words_for_a_command_that_asks_a_broker(
    name: str, words: list[str], flags: list[tuple[str, list[str]]]
) -> None:
    given_ = [word for flag, values_ in flags for word in (flag, *values_)]
    # Records are bytes: the commands read and write below the text of the standard streams.
    err = io.StringIO()
    with (
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one line\n"))),
        mock.patch("sys.stdout", io.TextIOWrapper(io.BytesIO())),
        mock.patch("sys.stderr", err),
    ):
        code = main([name, *words, *given_, *NOWHERE])
    assert code in (0, 1, 2)
    assert "Traceback" not in err.getvalue()
    assert err.getvalue().count("\n") == (code != 0), err.getvalue()


# What comes last counts: with these, neither of them ever begins.
STARTING = {"serve": ["--listen", "nowhere"], "doctor": ["--data", "/no/such/place"]}
STARTING_FLAGS = sorted(set(flags_of(parser_of(*STARTING))))


@settings(deadline=None)
@given(
    st.sampled_from(sorted(STARTING)),
    st.lists(st.tuples(st.sampled_from(STARTING_FLAGS), st.lists(values, max_size=2)), max_size=4),
)
def test_any_flags_of_a_command_that_starts_something(
    name: str, flags: list[tuple[str, list[str]]]
) -> None:
    given_ = [word for flag, values_ in flags for word in (flag, *values_)]
    check(run_here(name, *given_, *STARTING[name]))


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([setting.variable for setting in DECLARED.values()])
        | st.text("ABC_", max_size=5).map(lambda name: f"RIVERLOG_{name}"),
        values,
        max_size=4,
    )
)
def test_any_variables(variables: dict[str, str]) -> None:
    # A variable's text is made of bytes of the machine's encoding, or of surrogates for others.
    encodable = {name: text for name, text in variables.items() if _is_of_this_machine(text)}
    check(run_here("config", variables=encodable))


toml_values = st.one_of(
    st.integers().map(str),
    st.booleans().map(lambda value: str(value).lower()),
    st.floats().map(str),
    st.sampled_from(['"x"', '"4KiB"', "[1]", "{a = 1}", "1979-05-27", "0xffffffffffffffffff", "'"]),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(list(DECLARED)) | st.text("abc.[]", max_size=9), toml_values)
    ).map(lambda pairs: "\n".join(f"{name} = {value}" for name, value in pairs).encode())
    | st.binary(max_size=60)
)
def test_any_file_of_settings(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "riverlog.toml"
    path.write_bytes(content)
    check(run_here("config", "--config", str(path)))
    check(run_here("serve", "--config", str(path), "--num-partitions", "none"))


def _is_of_this_machine(text: str) -> bool:
    try:
        text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
