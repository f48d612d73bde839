"""The rules of groups that people argue about, as texts: record with RECORD=1, review the diff."""

import os
from pathlib import Path

import pytest

from tests.scenarios.group_script import GroupScript

TEXTS = sorted((Path(__file__).parent / "groups").glob("*.txt"))
RULE = "----"


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem.replace("_", " "))
def test_a_group_does_what_its_text_says(text: Path) -> None:
    expected = text.read_text()

    played = _play(expected)

    if os.environ.get("RECORD"):
        text.write_text(played)
    assert played == expected


def _play(text: str) -> str:
    """The text with what really happened below each line."""
    script = GroupScript()
    blocks = []
    for block in text.strip().split("\n\n"):
        given = block.split(f"\n{RULE}", 1)[0].splitlines()
        commands = [line for line in given if not line.startswith("#")]
        happened = [line for command in commands for line in script.run(command)]
        blocks.append("\n".join([*given, *([RULE, *happened] if commands else [])]))
    return "\n\n".join(blocks) + "\n"
