"""Where inputs that broke something are kept, and what to do with them."""

import hashlib
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
FAILURES = REPOSITORY / ".fuzz" / "failures"
KEPT = Path(__file__).with_name("kept")


class Failure(NamedTuple):
    """What broke, by which inputs, and why; the seed is that of the run."""

    target: str
    inputs: Sequence[bytes]
    reason: str
    seed: str

    @property
    def file_name(self) -> str:
        digest = hashlib.sha256(b"\n".join(self.inputs)).hexdigest()[:12]
        return f"{self.target.replace(' ', '-')}-{digest}.txt"


def write(failure: Failure, directory: Path = FAILURES) -> str:
    """Keeps the inputs; gives what to say about it, with the way to make it a regression test."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / failure.file_name
    lines = [f"# {line}" for line in (f"seed {failure.seed}", *failure.reason.splitlines())]
    lines += [b64encode(zlib.compress(data)).decode() for data in failure.inputs]
    path.write_text("\n".join([failure.target, *lines, ""]))
    return (
        f"{failure.target}, seed {failure.seed}: {failure.reason}\n"
        f"kept in {path}; once it is mended, move it to tests/fuzz/kept, where it is tried for ever"
    )


def read(path: Path) -> Failure:
    """What `write` wrote."""
    target, *lines = path.read_text().splitlines()
    inputs = [zlib.decompress(b64decode(line)) for line in lines if not line.startswith("#")]
    notes = [line[2:] for line in lines if line.startswith("#")]
    return Failure(target, inputs, "\n".join(notes[1:]), notes[0].removeprefix("seed "))


def kept() -> list[Failure]:
    """Every failure that was mended: none of them may come back."""
    return [read(path) for path in sorted(KEPT.glob("*.txt"))]
