"""A disk in memory: quick and gone with the process, for tests and for brokers that keep nothing.

It fails where the operating system would, with the same errors, and never otherwise. What is
written stays readable until the object is dropped, so a broker that crashed can be started on it
again. A power cut cannot be played on it: it does not tell synced from un-synced.
"""

import errno
import os

from riverlog.stores.disk import Buffer

# Stretches of zeros this long are looked for: files are filled ahead of what is written.
_FILL_BYTES_MIN = 4096


class MemoryDisk:
    """A `Disk` whose root directory is there from the start; relative paths start at the root.

    Threads may use it at the same time, as long as no two of them change the same names.
    """

    def __init__(self) -> None:
        self._files: dict[str, _Content] = {}
        self._directories: dict[str, set[str]] = {"/": set()}

    def open(self, path: str) -> "MemoryFile":
        return MemoryFile(self._file_at(_whole(path)))

    def create(self, path: str) -> "MemoryFile":
        content = _Content()
        self._add(self._new_name(_whole(path)), content)
        return MemoryFile(content)

    def rename(self, source: str, target: str) -> None:
        source, target = _whole(source), _whole(target)
        if source in self._directories:
            self._move_directory(source, target)
            return
        content = self._file_at(source)
        self._check_parent(target)
        if target in self._directories:
            raise _failure(errno.EISDIR, target)
        if self._files.get(target) is content:
            return  # two names of one file: POSIX leaves both
        self._drop(source)
        self._add(target, content)

    def link(self, source: str, target: str) -> None:
        source, target = _whole(source), _whole(target)
        if source in self._directories:
            self._new_name(target)
            raise _failure(errno.EPERM, source)
        content = self._file_at(source)
        self._add(self._new_name(target), content)

    def remove(self, path: str) -> None:
        path = _whole(path)
        self._file_at(path)
        self._drop(path)

    def make_directory(self, path: str) -> None:
        path = _whole(path)
        if path not in self._directories:
            self._add_directory(self._new_name(path))

    def remove_directory(self, path: str) -> None:
        path = _whole(path)
        if self._names_in(path):
            raise _failure(errno.ENOTEMPTY, path)
        if path == "/":
            raise _failure(errno.EBUSY, path)
        self._drop_directory(path)

    def list(self, path: str) -> list[str]:
        return sorted(self._names_in(_whole(path)))

    def exists(self, path: str) -> bool:
        path = _whole(path)
        return path in self._files or path in self._directories

    def sync_directory(self, path: str) -> None:
        self._names_in(_whole(path))

    # Looking up: a path, or the operating system's error.

    def _file_at(self, path: str) -> "_Content":
        content = self._files.get(path)
        if content is None:
            raise self._no_file(path)
        return content

    def _no_file(self, path: str) -> OSError:
        if path in self._directories:
            return _failure(errno.EISDIR, path)
        return self._nothing_at(path)

    def _nothing_at(self, path: str) -> OSError:
        above = path
        while above != "/":
            above = os.path.dirname(above)
            if above in self._files:
                return _failure(errno.ENOTDIR, path)
        return _failure(errno.ENOENT, path)

    def _names_in(self, path: str) -> set[str]:
        names = self._directories.get(path)
        if names is None:
            raise _failure(errno.ENOTDIR, path) if path in self._files else self._nothing_at(path)
        return names

    def _check_parent(self, path: str) -> None:
        if os.path.dirname(path) not in self._directories:
            raise self._nothing_at(path)

    def _new_name(self, path: str) -> str:
        self._check_parent(path)
        if self.exists(path):
            raise _failure(errno.EEXIST, path)
        return path

    # Changing names.

    def _add(self, path: str, content: "_Content") -> None:
        self._files[path] = content
        self._directories[os.path.dirname(path)].add(os.path.basename(path))

    def _drop(self, path: str) -> None:
        del self._files[path]
        self._directories[os.path.dirname(path)].remove(os.path.basename(path))

    def _add_directory(self, path: str) -> None:
        self._directories[path] = set()
        self._directories[os.path.dirname(path)].add(os.path.basename(path))

    def _drop_directory(self, path: str) -> None:
        del self._directories[path]
        self._directories[os.path.dirname(path)].remove(os.path.basename(path))

    def _move_directory(self, source: str, target: str) -> None:
        self._check_parent(target)
        if target == source:
            return
        if target.startswith(f"{source}/") or source == "/":
            raise _failure(errno.EINVAL, target)
        if target in self._files:
            raise _failure(errno.ENOTDIR, target)
        if self._directories.get(target):
            raise _failure(errno.ENOTEMPTY, target)
        names = self._directories[source]
        if target not in self._directories:
            self._add_directory(target)
        for name in list(names):
            inner, moved = f"{source}/{name}", f"{target}/{name}"
            if inner in self._files:
                content = self._files[inner]
                self._drop(inner)
                self._add(moved, content)
            else:
                self._move_directory(inner, moved)
        self._drop_directory(source)


class _Content:
    """A file's bytes. Zeros at its end are counted in `size_bytes` and not kept."""

    __slots__ = ("kept", "size_bytes")

    def __init__(self) -> None:
        self.kept = bytearray()
        self.size_bytes = 0

    def read(self, position: int, size: int) -> bytes:
        end = min(position + size, self.size_bytes)
        found = bytes(self.kept[position:end])
        missing = end - position - len(found)
        return found + bytes(missing) if missing > 0 else found

    def write(self, position: int, data: Buffer) -> None:
        kept = self.kept
        end = position + len(data)
        if position < len(kept) or not _is_filling(data):
            if position > len(kept):
                kept.extend(bytes(position - len(kept)))
            kept[position:end] = data
        if end > self.size_bytes:
            self.size_bytes = end

    def truncate(self, size: int) -> None:
        del self.kept[size:]
        self.size_bytes = size


class MemoryFile:
    """A handle on a file in memory."""

    __slots__ = ("_content",)

    def __init__(self, content: _Content) -> None:
        self._content: _Content | None = content

    def read(self, position: int, size: int) -> bytes:
        return self._opened().read(position, size)

    def write(self, position: int, *parts: Buffer) -> None:
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        content = self._opened()
        if len(data):
            content.write(position, data)

    def write_out(self) -> None:
        """There is nothing behind this memory."""

    def sync(self) -> None:
        self._opened()

    def truncate(self, size: int) -> None:
        self._opened().truncate(size)

    def size(self) -> int:
        return self._opened().size_bytes

    def close(self) -> None:
        self._content = None

    def _opened(self) -> _Content:
        if self._content is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._content


def _is_filling(data: Buffer) -> bool:
    """Whether these are zeros, many of them; one look at their ends tells most others."""
    if len(data) < _FILL_BYTES_MIN or data[0] or data[-1]:
        return False
    return bytes(data).count(0) == len(data)


def _whole(path: str) -> str:
    return os.path.normpath(f"/{path.strip('/')}")


def _failure(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
