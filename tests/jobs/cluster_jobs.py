"""Jobs on executors that are processes of their own: `cluster_jobs BOOTSTRAP DIRECTORY`.

Exports the topic `out` and imports `rows.jsonl` into the topic `in`; says on standard output when
it begins with either, and what came of it.
"""

import json
import sys
from pathlib import Path

from riverlog.jobs.export import Asked as ExportAsked
from riverlog.jobs.importing import Asked
from riverlog.jobs.on_spark.session import spark_context
from riverlog.jobs.row_records import Shape
from tests.jobs.on_spark import export, import_rows

MASTER = "local-cluster[2,1,1024]"


def main(bootstrap: str, directory: str) -> None:
    asked = Asked([f"{directory}/rows.jsonl"], shape=Shape(key="k"), import_id="x")
    with spark_context(MASTER) as context:
        tell("exporting")
        exported = export(
            context, bootstrap, "out", Path(directory, "table"), ExportAsked(rows_per_file=10)
        )
        tell(exported.row_count)
        tell("importing")
        tell(import_rows(context, bootstrap, "in", asked).published)


def tell(what: str | int) -> None:
    print(json.dumps(what), flush=True)  # noqa: T201 - what the test reads


if __name__ == "__main__":
    main(*sys.argv[1:])
