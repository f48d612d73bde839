"""As many files as the system grants."""

import resource
import subprocess
import sys

from riverlog.runtime.open_files import open_files_max

PROGRAM = """
import resource
from riverlog.runtime.open_files import allow_more_open_files
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
print(allow_more_open_files(), allow_more_open_files())
"""


def test_all_that_is_granted_is_taken() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)

    assert done.stdout.split() == [b"200", b"200"]


def test_the_limit_is_the_one_in_force() -> None:
    assert open_files_max() == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
