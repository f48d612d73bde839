"""The C kernel under changed batches: in this process, or watched by the compiler's sanitizers.

`python -m tests.fuzz.columns SEED COUNT [KERNEL]` tries so many batches on a kernel of one's own
building, which the sanitizers end the process of at the first byte read or written out of place.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from riverlog.kernel import fallback, native
from riverlog.kernel import library as kernel_library
from riverlog.kernel.decoding import Decoded, UnreadableBatch
from riverlog.kernel.wanted import Wanted
from tests.fuzz.batches import SEEDS, BatchMutator
from tests.fuzz.decoder_fuzzer import fuzz
from tests.fuzz.targets import INFLATED_BYTES_MAX, Mutate, Target
from tests.tools import REPOSITORY

SOURCES = REPOSITORY / "src" / "riverlog" / "kernel"
SANITIZERS = "-fsanitize=address,undefined"
WANTED = Wanted("orders", 3)
# Both ways are taken for one batch in so many: the one in Python is slow.
COMPARED_EVERY = 8

FLOOR_BYTES = 64 << 20


def columns() -> Target:
    """Batches to columns; made of whole batches, one after the other."""
    return Target("columns", 1, SEEDS, read_columns, _of_runs, 64, FLOOR_BYTES)


def read_columns(data: bytes) -> None:
    """The kernel gives rows or `UnreadableBatch`; so does the fallback, and the same rows."""
    ours = _decoded(native, data)
    if len(data) % COMPARED_EVERY == 0:
        theirs = _decoded(fallback, data)
        assert (ours is None) == (theirs is None), "one of them can read it"
        if ours is not None and theirs is not None:
            assert ours.consumed_bytes == theirs.consumed_bytes
            assert _table(ours).equals(_table(theirs)), "the rows differ"


def _decoded(way: object, data: bytes) -> Decoded | None:
    try:
        decoded: Decoded = way.decode(data, WANTED, False, INFLATED_BYTES_MAX)  # type: ignore[attr-defined]  # one of two modules
    except UnreadableBatch:
        return None
    return decoded


def _table(decoded: Decoded) -> pa.Table:
    table = pa.Table.from_batches(decoded.rows, WANTED.schema)
    table.validate(full=True)
    return table


def _of_runs(chance: Random, given: Sequence[bytes]) -> Mutate:
    mutator = BatchMutator(chance)

    def mutated(batch: bytes) -> bytes:
        data = mutator.mutated(batch)
        if chance.random() < 0.3:
            data = given[int(chance.random() * len(given))] + data
        return data

    return mutated


def built_with_sanitizers(directory: Path, planted: tuple[str, str] = ("", "")) -> Path:
    """Builds the kernel; with one of its lines replaced, if a bug is wanted.

    Ends the test where the compiler has no sanitizers.
    """
    for path in SOURCES.glob("*.[ch]"):
        source = path.read_text()
        (directory / path.name).write_text(source.replace(*planted) if planted[0] else source)
    built = directory / kernel_library.LIBRARY_NAME
    flags = ["-O1", "-g", "-std=gnu11", "-shared", "-fPIC", SANITIZERS, "-fno-sanitize-recover=all"]
    files = sorted(directory.glob("*.c"))
    done = subprocess.run(["cc", *flags, "-o", built, *files], capture_output=True, text=True)
    if "cannot find" in done.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert done.returncode == 0, done.stderr
    return built


def sanitized_environment() -> dict[str, str]:
    """What a process needs that loads such a kernel."""
    library = ["cc", "-print-file-name=libasan.so"]
    preloaded = subprocess.run(library, check=True, capture_output=True, text=True).stdout.strip()
    return {
        "LD_PRELOAD": preloaded,
        # Python itself keeps much at its end. Arrow's own pools would hide where a buffer ends.
        "ASAN_OPTIONS": "detect_leaks=0",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "PYTHONMALLOC": "malloc",
    }


def fuzz_sanitized(kernel: Path, seed: str, count: int) -> subprocess.CompletedProcess[str]:
    """Tries batches on that kernel in a process of its own, which ends with 0 if all went well."""
    environment = {**os.environ, **sanitized_environment()}
    command = [sys.executable, "-m", "tests.fuzz.columns", seed, str(count), str(kernel)]
    return subprocess.run(
        command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, timeout=280
    )


def main(seed: str, count: str, kernel: str) -> int:
    # The kernel is looked for beside the module that loads it.
    kernel_library.__file__ = str(Path(kernel).with_name("library.py"))
    assert kernel_library.library() is not None, f"{kernel} does not load"
    done, failure = fuzz(seed, int(count), {"columns": columns()})
    if failure is not None:
        sys.stderr.write(f"{failure.reason}\n{failure.inputs}\n")
    return 0 if failure is None and done >= int(count) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
