"""Where an epoch ended, as clients are told: how far one that read in it can have come at most."""

from riverlog.log.epochs import NO_EPOCH
from riverlog.log.partition import Partition


def end_of(log: Partition, epoch: int) -> tuple[int, int]:
    """The largest epoch not above `epoch`, and its end; the newest ends at the high watermark.

    An epoch of which no record is left ends where the next one begins. One that is yet to come,
    or is none, has no end: both are -1.
    """
    if not 0 <= epoch <= log.leader_epoch:
        return NO_EPOCH, -1
    found = log.epochs.end_of(epoch, log.high_watermark)
    if found[0] == NO_EPOCH:
        return epoch, next((start for _, start in log.epochs), log.high_watermark)
    return found
