"""The Spark program: `python -m examples.pipeline.streaming_job BOOTSTRAP DIRECTORY [DROPPED]`.

Two queries read the orders. One removes what is bad or doubled, joins the customers, and counts
orders and revenue of every segment in windows of five minutes: a Parquet table. The other sends
large orders to the topic `alerts`, and what is bad, with the reason, to `dead-letters`.

**The result does not depend on how rows fall into micro-batches.** What is too late is told by the
record's own timestamp, never by the watermark. The watermark only says when a window may be
forgotten, and is so far behind that no row in time can miss its window.
"""

import sys
from pathlib import Path
from threading import Event, Thread

from examples.pipeline.gauges import NOTICES_GROUP, WINDOWS_GROUP
from examples.pipeline.session import addresses, started
from examples.pipeline.telling import listen, say
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StreamingQuery

ALERTS = "alerts"
DEAD_LETTERS = "dead-letters"

LATENESS_S_MAX = 600
WINDOW = "5 minutes"
# Lateness, and what one partition may be ahead of another by, and as much again.
WATERMARK = "30 minutes"

TRIGGER = "1500 milliseconds"
ROWS_PER_TRIGGER_MAX = 200_000
_LOOK_S = 0.3

SHAPE = (
    "order string, customer long, item string, quantity long, cents long, at long, broken string"
)
NEEDED = ("order", "customer", "item", "quantity", "cents", "at")


def main(bootstrap: str, directory: str, dropped: str = "") -> None:
    """Runs both queries until it is told `finish`: then all that was published is done."""
    place, at = Path(directory), {"kafka.bootstrap.servers": bootstrap}
    spark = started()
    is_to_finish = Event()
    Thread(target=listen, args=(lambda _: is_to_finish.set(),), daemon=True).start()
    customers = known_customers(spark, at)

    def orders(group: str) -> DataFrame:
        reader = spark.readStream.format("riverlog").options(**at, subscribe="orders")
        reader = reader.option("startingOffsets", "earliest").option("kafka.group.id", group)
        reader = reader.option("maxOffsetsPerTrigger", ROWS_PER_TRIGGER_MAX)
        return judged(reader.load(), customers)

    queries = [
        windows(orders(WINDOWS_GROUP), dropped)
        .writeStream.queryName("windows")
        .trigger(processingTime=TRIGGER)
        .format("parquet")
        .options(path=str(place / "windows"), checkpointLocation=str(place / "checkpoint-windows"))
        .start(),
        notices(orders(NOTICES_GROUP))
        .writeStream.queryName("notices")
        .trigger(processingTime=TRIGGER)
        .format("riverlog")
        .options(**at, checkpointLocation=str(place / "checkpoint-notices"))
        .start(),
    ]
    say(ready=True, **addresses(spark))
    while not is_to_finish.wait(_LOOK_S):
        tell_progress(queries)
    for query in queries:
        query.processAllAvailable()
    tell_progress(queries)
    for query in queries:
        query.stop()
    spark.stop()
    say(finished=True)


def known_customers(spark: SparkSession, at: dict[str, str]) -> DataFrame:
    """The customers as they are now: a few, so they are kept here and sent along with tasks."""
    rows = spark.read.format("riverlog").options(**at, subscribe="customers").load()
    shape = "customer string, segment string, limit_cents string"
    found = rows.select(sf.from_json(sf.col("value").cast("string"), shape).alias("row")).select(
        sf.col("row.customer").cast("long").alias("known_customer"),
        "row.segment",
        sf.col("row.limit_cents").cast("long").alias("limit_cents"),
    )
    # Made of what was read: Spark would otherwise read the topic again in every micro-batch.
    return spark.createDataFrame(found.toArrow())


def judged(records: DataFrame, customers: DataFrame) -> DataFrame:
    """Every record with its order, its customer, and the reason why it is bad, or null."""
    text = sf.col("value").cast("string")
    order = sf.from_json(text, SHAPE, {"columnNameOfCorruptRecord": "broken"})
    opened = records.select("key", "value", "partition", "offset", "timestamp", order.alias("o"))
    joined = opened.join(
        sf.broadcast(customers), sf.col("o.customer") == sf.col("known_customer"), "left"
    )
    at = sf.timestamp_millis("o.at")
    return joined.select(
        "*",
        at.alias("at"),
        (sf.col("o.quantity") * sf.col("o.cents")).alias("total_cents"),
        reason(at).alias("reason"),
    )


def reason(at: Column) -> Column:
    """Why a record is bad: the first of these that holds."""
    is_broken = sf.col("o.broken").isNotNull()
    for name in NEEDED:
        is_broken = is_broken | sf.col(f"o.{name}").isNull()
    lateness_s = sf.col("timestamp").cast("double") - at.cast("double")
    return (
        sf.when(sf.col("o").isNull() | is_broken, "malformed")
        .when(sf.col("o.quantity") < 1, "quantity")
        .when(sf.col("segment").isNull(), "unknown customer")
        .when(lateness_s > LATENESS_S_MAX, "too late")
    )


def windows(rows: DataFrame, dropped: str) -> DataFrame:
    """Orders, items and revenue by window and segment; each order once."""
    good = rows.where(sf.col("reason").isNull()).where(sf.col("o.order") != dropped)
    once = good.withWatermark("at", WATERMARK).dropDuplicatesWithinWatermark(["key"])
    totals = once.groupBy(sf.window("at", WINDOW), "segment").agg(
        sf.count("*").alias("orders"),
        sf.sum("o.quantity").alias("items"),
        sf.sum("total_cents").alias("revenue_cents"),
    )
    return totals.select(
        sf.col("window.start").alias("start"), "segment", "orders", "items", "revenue_cents"
    )


def notices(rows: DataFrame) -> DataFrame:
    """Records for two topics: bad rows as they came, and large orders, each order once."""
    is_bad = sf.col("reason").isNotNull()
    place = sf.concat_ws("/", "partition", "offset")
    alert = sf.to_json(sf.struct("o.order", "o.customer", "segment", "total_cents", "limit_cents"))
    told = rows.select(
        sf.when(is_bad, sf.lit(DEAD_LETTERS)).otherwise(sf.lit(ALERTS)).alias("topic"),
        "key",
        sf.when(is_bad, sf.col("value")).otherwise(alert.cast("binary")).alias("value"),
        sf.when(is_bad, sf.array(header("reason", sf.col("reason")), header("place", place)))
        .otherwise(sf.array(header("order", sf.col("o.order"))))
        .alias("headers"),
        # A bad row has no time of its own that could be trusted.
        sf.when(is_bad, sf.col("timestamp")).otherwise(sf.col("at")).alias("noticed_at"),
        sf.when(is_bad, place).otherwise(sf.col("o.order")).alias("id"),
        (is_bad | (sf.col("total_cents") > sf.col("limit_cents"))).alias("is_noticed"),
    )
    watched = told.withWatermark("noticed_at", WATERMARK).where("is_noticed")
    once = watched.dropDuplicatesWithinWatermark(["id"])
    return once.select("topic", "key", "value", "headers")


def header(name: str, text: Column) -> Column:
    """A header of a record."""
    return sf.struct(sf.lit(name).alias("key"), text.cast("binary").alias("value"))


def tell_progress(queries: list[StreamingQuery]) -> None:
    """Says what the last micro-batches were like; raises what has ended a query."""
    for query in queries:
        failure = query.exception()
        if failure is not None:
            raise failure
        last = query.lastProgress
        if last is not None:
            say(
                query=query.name,
                batch=last.batchId,
                rows=last.numInputRows,
                duration_ms=last.durationMs.get("triggerExecution", 0),
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
