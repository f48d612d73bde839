"""Jobs run against a broker in this process, without the command line."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

import riverlog
from riverlog.jobs.export import Asked as ExportAsked
from riverlog.jobs.export import Exported, make_plan, reader_of
from riverlog.jobs.export import run as run_export
from riverlog.jobs.export_directory import ExportDirectory
from riverlog.jobs.importing import Asked, Counts, Import, close_all, open_all
from riverlog.jobs.published_rows import published_rows
from riverlog.stores.disk import OsDisk
from riverlog.tables.brokers import Brokers


def import_rows(broker: riverlog.Broker, topic: str, asked: Asked) -> Counts:
    with Brokers(broker.bootstrap) as brokers:
        name = asked.import_id
        present = {} if name is None else published_rows(brokers, topic, name)
    opened = open_all(asked)
    try:
        with broker.connect() as client:
            work = Import(asked, present, None, lambda _: None)
            work.publish(opened, client, topic)
            return work.counts
    finally:
        close_all(opened)


def export(
    broker: riverlog.Broker, topic: str, path: Path, asked: ExportAsked | None = None
) -> Exported:
    with Brokers(broker.bootstrap) as brokers:
        disk = OsDisk()
        directory = ExportDirectory(disk, str(path))
        plan = make_plan(brokers, topic, directory.manifest, asked or ExportAsked())
        return run_export(plan, disk, directory, reader_of(brokers, topic), lambda _: None)


def table_at(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """The directory as any reader of Hive's layout sees it, in order."""
    table = ds.dataset(path, partitioning="hive").to_table()
    table = table.sort_by([("partition", "ascending"), ("offset", "ascending")])
    return table if columns is None else table.select(columns)


def topic_table(broker: riverlog.Broker, topic: str) -> pa.Table:
    return riverlog.read_arrow(topic, bootstrap=broker.bootstrap)
