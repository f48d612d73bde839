"""Workers with another Python than the program has: one sentence says so."""

import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import riverlog
from riverlog.spark import SparkUnavailable
from riverlog.spark.workers import is_chosen, require_workers
from tests.tools import REPOSITORY

PROGRAM = Path(__file__).with_name("lacking.py")
RUN_S_MAX = 120


@pytest.fixture(autouse=True)
def no_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python has but its own packages."""
    monkeypatch.delenv("PYTHONPATH", raising=False)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same Python, with nothing but what comes with it."""
    place = tmp_path_factory.mktemp("bare")
    venv.create(place, symlinks=True)
    return place / "bin" / "python"


@pytest.fixture
def without_riverlog(tmp_path: Path) -> Path:
    """The same Python with the same packages, but for one."""
    place = tmp_path / "without"
    venv.create(place, symlinks=True)
    (packages,) = place.glob("lib/python*/site-packages")
    for package in Path(site.getsitepackages()[0]).iterdir():
        if "riverlog" not in package.name and package.suffix != ".pth":
            (packages / package.name).symlink_to(package)
    return place / "bin" / "python"


def script(place: Path, *lines: str) -> Path:
    place.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    place.chmod(0o755)
    return place


def told(variable: str, python: Path | str) -> str:
    with pytest.raises(SparkUnavailable) as refused:
        require_workers({variable: str(python), "PATH": os.environ["PATH"]})
    sentence = str(refused.value)
    assert sentence.startswith(f"Spark runs sources and sinks with {variable}={python}, which ")
    assert sentence.endswith(f": unset it, or set it to {sys.executable}")
    return sentence


def test_a_python_that_lacks_something_is_named(bare: Path, tmp_path: Path) -> None:
    other = script(tmp_path / "older", "echo 3.9")
    broken = script(tmp_path / "broken", "echo no such option; exit 2")

    assert "which has no riverlog and no pyarrow" in told("PYSPARK_PYTHON", bare)
    assert "is Python 3.9 while this is Python 3.1" in told("PYSPARK_PYTHON", other)
    assert "is no Python that runs here" in told("PYSPARK_DRIVER_PYTHON", broken)
    assert "is no Python that runs here" in told("PYSPARK_PYTHON", tmp_path / "nowhere")


def test_the_drivers_variable_comes_first_as_it_does_for_spark(bare: Path) -> None:
    this, other = sys.executable, str(bare)

    require_workers({"PYSPARK_DRIVER_PYTHON": this, "PYSPARK_PYTHON": other})

    with pytest.raises(SparkUnavailable, match="with PYSPARK_DRIVER_PYTHON="):
        require_workers({"PYSPARK_DRIVER_PYTHON": other, "PYSPARK_PYTHON": this})


def test_a_python_with_all_of_it_will_do_and_so_does_none(tmp_path: Path) -> None:
    wrapped = script(tmp_path / "python", f'exec {sys.executable} "$@"')

    require_workers({"PYSPARK_PYTHON": str(wrapped), "PATH": os.environ["PATH"]})
    require_workers({"PYSPARK_PYTHON": ""})

    assert not is_chosen({"PYSPARK_PYTHON": ""})


def seen(master: str, bootstrap: str, **variables: str) -> dict[str, list[str]]:
    """The lines of the error that each action of the program ends with."""
    import pyspark

    home = str(Path(pyspark.__file__).parent)
    done = subprocess.run(
        [sys.executable, PROGRAM, master, bootstrap],
        env={**os.environ, "SPARK_HOME": home, **variables},
        capture_output=True,
        text=True,
        timeout=RUN_S_MAX,
    )
    assert "read: " in done.stdout, done.stderr
    read, write = done.stdout.split("read: ")[1].split("write: ")
    return {"read": read.strip().splitlines(), "write": write.strip().splitlines()}


@pytest.mark.client("spark")
def test_the_source_is_found_without_pyarrow_and_says_so(bare: Path, tmp_path: Path) -> None:
    import pyspark

    # As Spark gives it to its workers, whatever their Python has.
    packages = Path(pyspark.__file__).parents[1]
    for name in ("pyspark", "py4j"):
        (tmp_path / name).symlink_to(packages / name)
    made = "from pyspark_riverlog import DefaultSource as s; print(s.name()); s(options={})"

    done = subprocess.run(
        [bare, "-c", made],
        env={"PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY / 'src'}"},
        capture_output=True,
        text=True,
        timeout=RUN_S_MAX,
    )

    assert done.stdout == "riverlog\n", done.stderr
    last_line = done.stderr.splitlines()[-1]
    assert "pyarrow 18.0 or newer is needed and is not installed" in last_line


@pytest.mark.client("spark")
def test_an_executor_without_riverlog_says_so(tmp_path: Path, without_riverlog: Path) -> None:
    by_place = script(
        tmp_path / "python",
        # What plans is another module than what executes tasks.
        f'[ "$3" = pyspark.worker ] && exec {without_riverlog} "$@"',
        f'exec {sys.executable} "$@"',
    )

    with riverlog.Broker(topics={"in": 1}) as broker:
        with broker.connect() as client:
            client.publish("in", "1")
        errors = seen("local[1]", broker.bootstrap, PYSPARK_PYTHON=str(by_place))

    for lines in errors.values():
        assert f"{without_riverlog}, has no riverlog: install riverlog[spark]" in "\n".join(lines)
        assert len(lines) < 10
