"""Where a project keeps what its runs leave behind, and the settings that keep it there."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from riverlog.pipelines.errors import PipelineRefused
from riverlog.pipelines.rules import CATALOG, WAREHOUSE
from riverlog.pipelines.spec import UNSAFE, Spec
from riverlog.spark.conf import recommended_conf

DIRECTORY = "pipeline-state"
SAFE_PATH = "Spark needs a path without spaces, quotes and percent signs"
_METASTORE_URL = "spark.hadoop.javax.jdo.option.ConnectionURL"


class State(NamedTuple):
    """The directories; taking them all away begins the pipeline anew."""

    directory: Path
    tables: Path
    metastore: Path
    runs: Path


def state_of(spec: Spec) -> State:
    """Where they are: within the project."""
    directory = spec.directory / DIRECTORY
    return State(directory, directory / "tables", directory / "metastore", directory / "runs")


def conf_of(spec: Spec, given: Mapping[str, str]) -> dict[str, str]:
    """Settings for Spark as it starts: those that are given, and ours.

    The catalog remembers its tables beyond a run: Spark's own default forgets them, and then the
    next run fails because they are there.
    """
    state = state_of(spec)
    return {
        **recommended_conf(),
        CATALOG: "hive",
        _METASTORE_URL: f"jdbc:derby:;databaseName={state.metastore};create=true",
        WAREHOUSE: str(state.tables),
        "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={state.runs / 'derby.log'}",
        "spark.connect.grpc.binding.port": "0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **given,
    }


def check_state(spec: Spec) -> None:
    """Raises `PipelineRefused` if tables are there that the catalog knows nothing of."""
    state = state_of(spec)
    if UNSAFE & set(str(state.directory)):
        raise PipelineRefused(f"{state.directory}: {SAFE_PATH}")
    if not state.metastore.exists() and state.tables.is_dir():
        found = sorted(path.name for path in state.tables.iterdir())
        if found:
            raise PipelineRefused(
                f"{state.tables} has {found[0]}, which the catalog does not know, and Spark would"
                " end with LOCATION_ALREADY_EXISTS; move it away"
            )
