"""A new project: small, runs at once, and says in its files how to go on."""

import json
import os
import re
from pathlib import Path

from riverlog.pipelines.errors import PipelineRefused
from riverlog.pipelines.spec import UNSAFE
from riverlog.pipelines.state import DIRECTORY, SAFE_PATH

SPEC_FILE = "spark-pipeline.yml"
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")

_SPEC = """\
# What runs, with which settings, and where it keeps how far it is.
name: {name}

# Checkpoints of the streams. Spark wants a full path: change it when the project moves.
storage: {storage}

configuration:
  # Where the brokers are; the definitions ask for it by this name.
  spark.riverlog.bootstrap: {bootstrap}
  # Tasks for a join or an aggregation. Spark's own default of 200 is for a cluster.
  spark.sql.shuffle.partitions: "4"

libraries:
  - glob:
      include: transformations/**
"""

_STREAMS = '''\
"""The topic {source} as a table, and what is large in it back into the topic {sink}.

Spark gives every file of definitions its session as `spark`.
"""

from pyspark import pipelines as dp
from pyspark.sql import functions as F

BROKERS = {{"kafka.bootstrap.servers": spark.conf.get("spark.riverlog.bootstrap")}}
COLUMNS = "id BIGINT, customer STRING, amount DOUBLE"


# A table that grows: every run adds what came into the topic since the last one. One flow for one
# table! Two that write into the same plain Parquet table lose rows, and `validate` refuses them.
@dp.table(comment="Every order, as it was sent")
def orders():
    records = (
        spark.readStream.format("riverlog")
        .options(**BROKERS)
        .option("subscribe", {source_text})
        # Where the first run begins; without it, at what comes after that run has started.
        .option("startingOffsets", "earliest")
        # Lag shows under this name: riverlog group describe {group}
        .option("kafka.group.id", {group_text})
        .load()
    )
    order = F.from_json(F.col("value").cast("string"), COLUMNS).alias("order")
    return records.select(order, "timestamp").select("order.*", "timestamp")


# A sink leads out of the pipeline. It writes at least once: a run that is repeated after a
# failure may write some records again, so give them a key by which doubles can be told.
dp.create_sink("large_orders", "riverlog", {{**BROKERS, "topic": {sink_text}}})


@dp.append_flow(target="large_orders", name="large_orders_flow")
def large_orders_flow():
    large = spark.readStream.table("orders").where("amount >= 100")
    return large.selectExpr("string(id) AS key", "to_json(struct(*)) AS value")
'''

_TOTALS = """\
-- A materialized view is made anew by every run, from all of its table.
CREATE MATERIALIZED VIEW totals AS
SELECT customer, count(*) AS orders, sum(amount) AS amount
FROM orders
GROUP BY customer;
"""

_README = """\
# {title}

A pipeline on Spark: topic `{source}` → table `orders` → view `totals`, and orders of 100 and more
→ topic `{sink}`.

    riverlog topic create {source}
    echo '{{"id": 1, "customer": "Ada", "amount": 120.5}}' | riverlog produce {source}
    riverlog pipeline validate      what would lose rows or fail later, before it does
    riverlog pipeline run           once over everything new; again later, only what came since
    riverlog pipeline status        runs, rows in each table, lag of each source

| | |
|---|---|
| `{spec}` | the settings: where the brokers are, where state is kept |
| `transformations/` | the definitions, in Python and SQL |
| `{state}/tables` | the tables, as Parquet files: DuckDB, pandas and Spark read them |
| `{state}/checkpoints`, `metastore` | how far each stream is, and which tables there are |
| `{state}/runs` | the log of every run |

Taking `{state}` away begins anew: everything is read again, and written to `{sink}` again.
"""


def create_project(directory: Path, bootstrap: str, source: str, sink: str) -> list[Path]:
    """Writes the files and gives their paths; raises `PipelineRefused` before it overwrites any."""
    directory = Path(os.path.abspath(directory))
    name = directory.name
    if not name or not str(directory).isprintable() or UNSAFE & set(str(directory)):
        raise PipelineRefused(f"{directory}: {SAFE_PATH}")
    for topic in (source, sink):
        if not _TOPIC.fullmatch(topic):
            raise PipelineRefused(f"'{topic}' is no name of a topic")
    group = f"{re.sub(r'[^a-zA-Z0-9._-]', '-', name)}-orders"
    texts = {
        SPEC_FILE: _SPEC.format(
            name=_quoted(name),
            storage=_quoted(f"file://{directory / DIRECTORY / 'checkpoints'}"),
            bootstrap=_quoted(bootstrap),
        ),
        "transformations/orders.py": _STREAMS.format(
            source=source,
            sink=sink,
            group=group,
            source_text=_quoted(source),
            sink_text=_quoted(sink),
            group_text=_quoted(group),
        ),
        "transformations/totals.sql": _TOTALS,
        "README.md": _README.format(
            title=name, source=source, sink=sink, spec=SPEC_FILE, state=DIRECTORY
        ),
        ".gitignore": f"{DIRECTORY}/\n__pycache__/\n",
    }
    paths = {directory / path: text for path, text in texts.items()}
    for path in paths:
        if os.path.lexists(path):
            raise PipelineRefused(f"{path} is there already and is left as it is")
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    return list(paths)


def _quoted(text: str) -> str:
    # What JSON quotes, Python and YAML read as the same text.
    return json.dumps(text, ensure_ascii=False)
