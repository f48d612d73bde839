"""`riverlog job export` killed with -9 at any moment: the table never has a row twice."""

import subprocess
import time
from pathlib import Path
from random import Random

import riverlog
from tests.cli.running import command
from tests.jobs.topics import export, table_at, topic_table

KILLS = 6


def test_a_table_grows_to_the_whole_topic_through_kills(tmp_path: Path) -> None:
    path = tmp_path / "table"
    chance = Random(5)
    seen = [0]
    with riverlog.Broker(topics={"t": 2}) as broker:
        with broker.connect() as client:
            client.publish_batch("t", [f"value {n}" for n in range(40_000)]).results()
        words = ["job", "export", "t", str(path), "--rows-per-file", "50", "-b", broker.bootstrap]
        for _ in range(KILLS):
            process = subprocess.Popen(command(*words), stdout=subprocess.DEVNULL)
            deadline = time.monotonic() + 30
            while file_count(path) <= seen[-1] and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(chance.random() / 50)
            process.kill()
            process.wait()
            seen.append(file_count(path))
            offsets = table_at(path, ["partition", "offset"]).to_pylist()
            assert len({(row["partition"], row["offset"]) for row in offsets}) == len(offsets)

        export(broker, "t", path)

        expected = topic_table(broker, "t")
        found = table_at(path, expected.column_names)
        assert found.to_pylist() == expected.to_pylist()
        assert seen == sorted(set(seen)), "every run has added files"
        assert seen[-1] < 800, "none had come to the end"


def file_count(path: Path) -> int:
    return len(list(path.glob("partition=*/*.parquet")))
