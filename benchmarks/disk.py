"""What the disk itself can do: the bound that no broker passes."""

import os
import time
from pathlib import Path


def synced_appends_per_s(directory: Path, chunk_bytes: int, seconds: float) -> float:
    """How often a chunk can be appended to a new file and made durable, one after the other."""
    path = directory / "appends"
    chunk = bytes(chunk_bytes)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        count = 0
        begun_s = time.perf_counter()
        while (elapsed_s := time.perf_counter() - begun_s) < seconds:
            if os.write(descriptor, chunk) != chunk_bytes:
                raise OSError("the disk took only part of a chunk")
            os.fdatasync(descriptor)
            count += 1
        return count / elapsed_s
    finally:
        os.close(descriptor)
        path.unlink()
