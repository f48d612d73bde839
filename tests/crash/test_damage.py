"""Every truncation and a flip in every byte of a log's files.

The log opens, says what it found, keeps those bytes aside, and serves everything else; new records
get new offsets. What nobody could notice is listed in `_is_unseen`, with the reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from tests.crash.scene import (
    LAST_EPOCH,
    Scene,
    Stretch,
    after_damage,
    closed_scene,
    crashed_scene,
    killed_scene,
    scarred_scene,
    shortened_scene,
)

SCENES = {
    "closed": cache(closed_scene),
    "crashed": cache(crashed_scene),
    "killed": cache(killed_scene),
    "scarred": cache(scarred_scene),
    "shortened": cache(shortened_scene),
}
FILES = [(name, file) for name, scene in SCENES.items() for file in scene().files]

# Behind the batches of a file that was not closed stand zeros; a few of them stand for all.
ZEROS_TRIED = 40

OFFSET_BYTES = range(8)
EPOCH_END = 15


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file as it is found: with one byte changed at `position`, or cut there."""

    name: str
    position: int
    is_cut: bool
    data: bytes
    hit: tuple[Stretch, ...]


def cuts(scene: Scene, name: str) -> Iterator[Damaged]:
    data = scene.files[name]
    for position in range(_tried(data)):
        hit = tuple(batch for batch in scene.batches.get(name, ()) if batch.end > position)
        yield Damaged(name, position, True, data[:position], hit)


def flips(scene: Scene, name: str) -> Iterator[Damaged]:
    data = scene.files[name]
    for position in range(_tried(data)):
        hit = tuple(b for b in scene.batches.get(name, ()) if b.start <= position < b.end)
        is_epoch = bool(hit) and position - hit[0].start == EPOCH_END
        masks = [1 << bit for bit in range(8)] if is_epoch else [1 << position % 8, 0xFF]
        for mask in masks:
            changed = bytearray(data)
            changed[position] ^= mask
            yield Damaged(name, position, False, bytes(changed), hit)


def _tried(data: bytes) -> int:
    return min(len(data), len(data.rstrip(b"\0")) + ZEROS_TRIED)


@pytest.mark.parametrize(("scene_name", "name"), FILES)
def test_a_cut_file_costs_only_what_was_cut_off(scene_name: str, name: str) -> None:
    scene = SCENES[scene_name]()
    for damaged in cuts(scene, name):
        check(scene, damaged)


@pytest.mark.parametrize(("scene_name", "name"), FILES)
def test_a_changed_byte_costs_at_most_its_batch(scene_name: str, name: str) -> None:
    scene = SCENES[scene_name]()
    for damaged in flips(scene, name):
        check(scene, damaged)


def check(scene: Scene, damaged: Damaged) -> None:
    outcome = after_damage(scene, damaged.name, damaged.data)
    place = f"{damaged.name} {'cut' if damaged.is_cut else 'changed'} at {damaged.position}"
    lost = {offset for batch in damaged.hit for offset in batch.offsets}
    missing = [o for o in scene.records if o not in lost and o not in outcome.served]
    changed = [o for o, v in outcome.served.items() if scene.records.get(o) != v]
    if not (_is_misplaced(scene, damaged) or _is_doubtful(scene, damaged)):
        assert not missing, f"{place}: {missing} are not served"
        assert not changed, f"{place}: {changed} are not what was written"
    later = {**outcome.served, outcome.new_offset: b"new", outcome.new_offset + 1: b"newer"}
    assert outcome.served_later == later, f"{place}: the next start sees something else"
    if not _is_unseen(scene, damaged):
        assert outcome.damages, f"{place}: nothing was reported"
        remains = _remains(damaged)
        is_kept = not remains or any(remains in kept for kept in outcome.kept)
        assert is_kept, f"{place}: the bytes were not kept"
    if damaged.name != scene.unsure:
        assert outcome.new_offset >= scene.next_offset, f"{place}: an offset was given again"


def _remains(damaged: Damaged) -> bytes:
    """What must be found aside: the rest of the first batch that was hit, or the whole file."""
    if damaged.hit:
        found = damaged.data[damaged.hit[0].start : damaged.hit[0].end]
    elif damaged.name.endswith(".log"):
        found = damaged.data[damaged.position : damaged.position + 1]
    else:
        found = damaged.data
    return found.rstrip(b"\0")  # Zeros filled ahead are nobody's.


def _is_unseen(scene: Scene, damaged: Damaged) -> bool:
    """What cannot be noticed, by its nature."""
    if not damaged.name.endswith(".log"):
        return False
    if not any(offset in scene.records for batch in damaged.hit for offset in batch.offsets):
        # Only zeros filled ahead were cut off; or it is in a batch that was given up before.
        return damaged.is_cut or bool(damaged.hit)
    if _is_misplaced(scene, damaged) or _is_doubtful(scene, damaged):
        return True
    if damaged.name == scene.unsure and damaged.is_cut:
        # Cut between two batches it looks as if the second had never been written; and the
        # first bytes of its offset are zeros, like those filled ahead.
        return not any(damaged.data[damaged.hit[0].start :])
    return False


def _is_misplaced(scene: Scene, damaged: Damaged) -> bool:
    """Two faults in a row: behind a batch that is gone, nothing says which offset comes next."""
    batches = scene.batches.get(damaged.name, [])
    gone = [batch for batch in batches if not batch.offsets & scene.records.keys()]
    behind = {batch.end + byte for batch in gone for byte in OFFSET_BYTES}
    return not damaged.is_cut and damaged.position in behind


def _is_doubtful(scene: Scene, damaged: Damaged) -> bool:
    """No checksum covers a batch's epoch, and no checkpoint tells it here: one that could be right
    is believed, and of two that contradict each other either may be the changed one."""
    if damaged.is_cut or damaged.name != scene.unsure or not damaged.hit:
        return False
    if damaged.position - damaged.hit[0].start != EPOCH_END:
        return False
    number = scene.batches[damaged.name].index(damaged.hit[0])
    epochs = [scene.files[damaged.name][b.start + EPOCH_END] for b in scene.batches[damaged.name]]
    around = range([0, *epochs][number], LAST_EPOCH + 1)
    return damaged.data[damaged.position] in around or number == len(epochs) - 1
