"""Open files, as few as can be: opened when they are needed, closed when others are."""

from collections import OrderedDict

from riverlog.stores.disk import Disk, File


class Handles:
    """A bounded set of open files, owned by one thread.

    A file that is lent stays open until it is given back, however many there are; so the bound
    holds for files at rest. Threads get the file itself while it is lent, never this set.
    """

    def __init__(self, disk: Disk, open_max: int) -> None:
        self._disk = disk
        self._open_max = open_max
        self._resting: OrderedDict[str, File] = OrderedDict()
        self._lent: dict[str, tuple[File, int]] = {}
        self._dropped: set[str] = set()

    def use(self, path: str) -> File:
        """The open file, for use before any other call here: later it may have been closed."""
        file = self._resting.get(path)
        if file is not None:
            self._resting.move_to_end(path)
            return file
        lent = self._lent.get(path)
        if lent is not None:
            return lent[0]
        file = self._disk.open(path)
        self._rest(path, file)
        return file

    def lend(self, path: str) -> File:
        """The open file; give it back with `give_back`, once for every `lend`."""
        lent = self._lent.get(path)
        if lent is not None:
            self._lent[path] = (lent[0], lent[1] + 1)
            return lent[0]
        file = self._resting.pop(path, None)
        if file is None:
            file = self._disk.open(path)
        self._lent[path] = (file, 1)
        return file

    def give_back(self, path: str) -> None:
        """Ends what `lend` began; nothing is left to do after `close`."""
        file, count = self._lent.pop(path, (None, 0))
        if file is None:
            return
        if count > 1:
            self._lent[path] = (file, count - 1)
        elif path in self._dropped:
            self._dropped.discard(path)
            file.close()
        else:
            self._rest(path, file)

    def is_lent(self, path: str) -> bool:
        """Whether anybody has the file."""
        return path in self._lent

    def keep(self, path: str, file: File) -> None:
        """Takes over a file that was just created."""
        self._rest(path, file)

    def drop(self, path: str) -> None:
        """Closes the file, or has it closed when the last reader has given it back."""
        file = self._resting.pop(path, None)
        if file is not None:
            file.close()
        elif path in self._lent:
            self._dropped.add(path)

    def close(self) -> None:
        """Closes everything, lent or not."""
        for file in [*self._resting.values(), *(file for file, _ in self._lent.values())]:
            file.close()
        self._resting.clear()
        self._lent.clear()

    def _rest(self, path: str, file: File) -> None:
        self._resting[path] = file
        while len(self._resting) > self._open_max:
            _, oldest = self._resting.popitem(last=False)
            oldest.close()
