"""Jobs as the command line runs them, with their pieces on Spark."""

from pathlib import Path

from pyspark import SparkContext

from riverlog.client.settings import ClientSettings
from riverlog.jobs.export import Asked as ExportAsked
from riverlog.jobs.export import Exported, make_plan
from riverlog.jobs.export_directory import ExportDirectory
from riverlog.jobs.importing import Asked, Counts, OnBad
from riverlog.jobs.on_spark import exporting, import_target, importing
from riverlog.stores.disk import OsDisk
from riverlog.tables.brokers import SETTINGS, Brokers


def export(
    context: SparkContext, bootstrap: str, topic: str, path: Path, asked: ExportAsked
) -> Exported:
    with Brokers(bootstrap) as brokers:
        directory = ExportDirectory(OsDisk(), str(path))
        plan = make_plan(brokers, topic, directory.manifest, asked)
        return exporting.run(context, plan, directory, (bootstrap, SETTINGS), lambda _: None)


def import_rows(
    context: SparkContext, bootstrap: str, topic: str, asked: Asked, on_bad: OnBad | None = None
) -> Counts:
    assert asked.import_id is not None
    target = import_target.Target(bootstrap, ClientSettings(), topic, asked.import_id)
    partition_count = import_target.partition_count_of(target)
    present = import_target.present_rows(context, target)
    read = importing.read_files(context, asked, present, partition_count, on_bad, lambda _: None)
    importing.publish(context, read, target, lambda _: None)
    return read.counts
