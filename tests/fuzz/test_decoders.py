"""No bytes at all make a decoder do anything but what it declares."""

from pathlib import Path
from typing import Any

import pytest

from riverlog.kafka.apis import served
from riverlog.kernel.library import library
from riverlog.protocol import codec as protocol_codec
from riverlog.records import record
from tests.fuzz import failures
from tests.fuzz.columns import SOURCES, built_with_sanitizers, columns, fuzz_sanitized
from tests.fuzz.corpus import load
from tests.fuzz.decoder_fuzzer import attempt, fuzz, fuzz_in_processes
from tests.fuzz.seeds import seeds
from tests.fuzz.sizes import INPUTS, INPUTS_PER_S_MIN, TIMEOUT_S, fresh_seed
from tests.fuzz.targets import Target, targets
from tests.tools import require

WORKERS = 2
COLUMN_INPUTS = max(10_000, INPUTS // 100)
SANITIZED_INPUTS = max(3_000, INPUTS // 1_000)
# A fuzzer that needs more than this to find a planted bug would not find a real one.
FOUND_WITHIN = 100_000


def test_the_corpus_has_every_api_that_is_served() -> None:
    assert set(load().versions) == set(served())


def test_most_apis_were_recorded_in_several_versions() -> None:
    several = [api for api, versions in load().versions.items() if len(versions) > 1]

    assert len(several) > len(served()) / 2


def test_there_is_a_seed_for_every_version_that_is_served() -> None:
    wanted = {
        (api.key, version)
        for api in served().values()
        for version in range(api.first, api.last + 1)
    }

    assert {(seed.api, seed.version) for seed in seeds(load())} == wanted


@pytest.mark.timeout(max(TIMEOUT_S, INPUTS // INPUTS_PER_S_MIN))
def test_every_decoder_gives_a_value_or_its_declared_error() -> None:
    done, failure = fuzz_in_processes(fresh_seed(), INPUTS, WORKERS)

    assert failure is None, failures.write(failure)
    assert done > 0.99 * INPUTS


@pytest.mark.timeout(max(TIMEOUT_S, INPUTS // INPUTS_PER_S_MIN))
def test_the_kernel_and_its_fallback_agree_on_any_batches() -> None:
    require("cc")
    assert library() is not None, "the kernel was not built: install the package again"

    _, failure = fuzz(fresh_seed(), COLUMN_INPUTS, {"columns": columns()})

    assert failure is None, failures.write(failure)


@pytest.mark.timeout(max(TIMEOUT_S, INPUTS // INPUTS_PER_S_MIN))
def test_the_kernel_touches_no_byte_out_of_place(tmp_path: Path) -> None:
    require("cc")
    seed = fresh_seed()

    ran = fuzz_sanitized(built_with_sanitizers(tmp_path), seed, SANITIZED_INPUTS)

    assert ran.returncode == 0, f"seed {seed}:\n{ran.stderr}"


MENDED = [failure for failure in failures.kept() if failure.target != "tcp"]


@pytest.mark.parametrize("failure", MENDED, ids=lambda failure: failure.file_name)
def test_what_was_mended_stays_mended(failure: failures.Failure) -> None:
    aims = {**targets(), "columns": columns()}

    reasons = [attempt(aims[failure.target], data) for data in failure.inputs]

    assert reasons == [None] * len(reasons)


# Planted bugs: a fuzzer counts once it has found one.


def test_an_error_that_nobody_declared_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_codec, "_MALFORMED", (IndexError, UnicodeDecodeError))

    _, failure = fuzz("planted", FOUND_WITHIN, _only("request"))

    assert failure is not None
    assert "struct.error" in failure.reason


def test_a_count_that_is_believed_is_found() -> None:
    aim = targets()["request"]

    def believing(frame: bytes) -> None:
        declared = int.from_bytes(frame[-4:])
        bytearray(min(declared, 1 << 24))
        aim.attempt(frame)

    _, failure = fuzz("planted", FOUND_WITHIN, {"request": aim._replace(attempt=believing)})

    assert failure is not None
    assert "bytes to read" in failure.reason


def test_a_number_beyond_its_width_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_INT64_MAX", 2**80)

    _, failure = fuzz("planted", FOUND_WITHIN, _only("batch"))

    assert failure is not None


def test_a_value_that_cannot_be_written_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = protocol_codec.Codec.decode

    def forgetful(self: protocol_codec.Codec, data: bytes, position: int = 0) -> Any:  # a message
        message = decoded(self, data, position)
        if message.unknown_tags:
            message.unknown_tags = b"\x80"
        return message

    monkeypatch.setattr(protocol_codec.Codec, "decode", forgetful)

    _, failure = fuzz("planted", FOUND_WITHIN, _only("request"))

    assert failure is not None
    assert "write_tags" in failure.reason


def test_a_missing_check_in_the_kernel_is_found(tmp_path: Path) -> None:
    require("cc")
    check = "    if (*size > end - *at) return 0;\n"
    assert check in (SOURCES / "decode.c").read_text()

    ran = fuzz_sanitized(built_with_sanitizers(tmp_path, (check, "")), "planted", SANITIZED_INPUTS)

    assert "AddressSanitizer: heap-buffer-overflow" in ran.stderr


def _only(name: str) -> dict[str, Target]:
    return {name: targets()[name]}
