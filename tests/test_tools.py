"""Outside tools: missing ones skip by name here, and fail where nothing may be skipped."""

from pathlib import Path

import pytest

from tests import tools


def test_a_missing_tool_skips_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match=r"^kcat is not installed$"):
        tools.require("kcat")


def test_a_missing_tool_fails_in_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match=r"^kcat is not installed$"):
        tools.require("kcat")


def test_a_tool_of_two_commands_needs_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "java").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert tools.lacking("java") == "mvn is not installed"


def test_a_tool_may_need_a_python_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "java").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(tools.PACKAGES, "spark", "no_such_package")

    assert tools.lacking("spark") == "no_such_package is not installed"


def test_a_tool_that_is_there_is_no_hindrance(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "kcat").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    tools.require("kcat")
