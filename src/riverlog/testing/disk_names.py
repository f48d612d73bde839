"""The names on a simulated disk: as the running system sees them, and as the platter may.

Every creation, move and removal is one change that outlives a power cut whole or not at all, and
independently of the changes around it, until a sync of a directory it touches makes it certain.
"""

import errno
from collections.abc import Iterator
from random import Random

from riverlog.testing.disk_contents import Content, Survival
from riverlog.testing.disk_faults import failure


class Directory:
    """Names and what they are; `durable` is what is left if every un-synced change is lost."""

    __slots__ = ("durable", "names")

    def __init__(self) -> None:
        self.names: dict[str, Node] = {}
        self.durable: dict[str, Node] = {}


Node = Directory | Content
Slot = tuple[Directory, str, Node | None]
"""A name in a directory, and what it stands for from now on."""


class Names:
    """The tree of directories from the root, which is always there."""

    def __init__(self) -> None:
        self.root = Directory()
        self._unsynced: list[tuple[Slot, ...]] = []

    def find(self, path: str) -> Node:
        """What `path` names, or the operating system's error."""
        node: Node = self.root
        for part in parts_of(path):
            if not isinstance(node, Directory):
                raise failure(errno.ENOTDIR, path)
            if part not in node.names:
                raise failure(errno.ENOENT, path)
            node = node.names[part]
        return node

    def find_file(self, path: str) -> Content:
        node = self.find(path)
        if isinstance(node, Directory):
            raise failure(errno.EISDIR, path)
        return node

    def find_directory(self, path: str) -> Directory:
        node = self.find(path)
        if not isinstance(node, Directory):
            raise failure(errno.ENOTDIR, path)
        return node

    def locate(self, path: str) -> tuple[Directory, str]:
        """The directory a name stands or would stand in, and its last part."""
        *above, name = parts_of(path) or [""]
        if not name:
            raise failure(errno.EBUSY, path)
        node = self.find("/".join(above))
        if not isinstance(node, Directory):
            raise failure(errno.ENOTDIR, path)
        return node, name

    def change(self, *slots: Slot) -> None:
        """Sets all these names at once."""
        for directory, name, node in slots:
            _set(directory.names, name, node)
        self._unsynced.append(slots)

    def move(self, source: str, target: str) -> None:
        """Renames by the rules of POSIX."""
        node = self.find(source)
        old_directory, old_name = self.locate(source)
        directory, name = self.locate(target)
        replaced = directory.names.get(name)
        if replaced is node:
            return  # two names of one file: POSIX leaves both
        if isinstance(node, Directory):
            above = parts_of(source)
            if parts_of(target)[: len(above)] == above:
                raise failure(errno.EINVAL, target)
            if isinstance(replaced, Content):
                raise failure(errno.ENOTDIR, target)
            if replaced is not None and replaced.names:
                raise failure(errno.ENOTEMPTY, target)
        elif isinstance(replaced, Directory):
            raise failure(errno.EISDIR, target)
        self.change((old_directory, old_name, None), (directory, name, node))

    def sync(self, directory: Directory) -> None:
        """Makes every change that touches `directory` durable, its other half included."""
        waiting: list[tuple[Slot, ...]] = []
        for change in self._unsynced:
            if any(touched is directory for touched, _, _ in change):
                for touched, name, node in change:
                    _set(touched.durable, name, node)
                # An older change of the same name has had its day: it must not come back later.
                settled = {(id(touched), name) for touched, name, _ in change}
                waiting = [
                    tuple(slot for slot in older if (id(slot[0]), slot[1]) not in settled)
                    for older in waiting
                ]
            else:
                waiting.append(change)
        self._unsynced = [change for change in waiting if change]

    def cut_power(self, survival: Survival, chance: Random) -> None:
        """Becomes what the platter holds, names and contents."""
        for change in self._unsynced:
            if survival is Survival.NOTHING:
                continue
            if survival is Survival.RANDOM and chance.random() < 0.5:
                continue
            for directory, name, node in change:
                _set(directory.durable, name, node)
        self._unsynced.clear()
        for node in _walk(self.root, durable=True):
            if isinstance(node, Directory):
                node.names = dict(node.durable)
            else:
                node.cut_power(survival, chance)

    def files(self) -> Iterator[Content]:
        """Every file that has a name."""
        return (node for node in _walk(self.root, durable=False) if isinstance(node, Content))

    def copy(self) -> "Names":
        """The same tree with the same future."""
        copies: dict[int, Node] = {}

        def copied(node: Node) -> Node:
            if id(node) in copies:
                return copies[id(node)]
            if isinstance(node, Content):
                copies[id(node)] = node.copy()
                return copies[id(node)]
            directory = copies[id(node)] = Directory()
            directory.names = {name: copied(inner) for name, inner in node.names.items()}
            directory.durable = {name: copied(inner) for name, inner in node.durable.items()}
            return directory

        def copied_slot(slot: Slot) -> Slot:
            directory, name, node = slot
            inside = copied(directory)
            assert isinstance(inside, Directory)
            return inside, name, None if node is None else copied(node)

        names = Names()
        root = copied(self.root)
        assert isinstance(root, Directory)
        names.root = root
        names._unsynced = [tuple(map(copied_slot, change)) for change in self._unsynced]
        return names


def parts_of(path: str) -> list[str]:
    """The names along a path; a relative one starts at the root."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    assert ".." not in parts, "the simulated disk does not climb"
    return parts


def _set(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def _walk(root: Directory, *, durable: bool) -> Iterator[Node]:
    seen: set[int] = set()
    ahead: list[Node] = [root]
    while ahead:
        node = ahead.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, Directory):
            ahead.extend((node.durable if durable else node.names).values())
