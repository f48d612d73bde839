"""One process per data directory: the operating system keeps the lock and frees it at any death."""

import fcntl
import os
from contextlib import suppress
from types import TracebackType


class AlreadyInUse(Exception):
    """Another process has the directory; stop it, or use another directory."""


class DirectoryLock:
    """Holds an existing directory until `release`, or until this process is gone.

    The lock is on the directory itself: it leaves no file behind in one that turns out not to be
    ours, and no file whose removal would let a second process in.
    """

    def __init__(self, path: str) -> None:
        """Takes the lock at once, or raises `AlreadyInUse`; `OSError` if there is no directory."""
        self._descriptor: int | None = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            if not isinstance(error, BlockingIOError):
                raise
            raise AlreadyInUse(
                f"{path} is in use by another process; stop that one or choose another directory"
            ) from None

    def release(self) -> None:
        """Lets the next one in; a second release does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            # Closing is not enough where a forked process has the descriptor too.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def __enter__(self) -> "DirectoryLock":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()
