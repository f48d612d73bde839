"""Leader epochs: where each begins and ends."""

from riverlog.log.epochs import NO_EPOCH, Epochs


def test_only_the_first_batch_of_an_epoch_is_remembered() -> None:
    epochs = Epochs()
    for epoch, offset in ((1, 0), (1, 5), (3, 9), (3, 12)):
        epochs.note(epoch, offset)
    assert list(epochs) == [(1, 0), (3, 9)]
    assert epochs.latest == 3


def test_an_epoch_never_falls() -> None:
    epochs = Epochs([(5, 0)])
    epochs.note(4, 10)
    assert list(epochs) == [(5, 0)]


def test_an_epoch_ends_where_the_next_one_begins() -> None:
    epochs = Epochs([(1, 0), (3, 9)])
    assert epochs.end_of(1, end_offset=20) == (1, 9)


def test_the_newest_epoch_ends_where_the_log_does() -> None:
    epochs = Epochs([(1, 0), (3, 9)])
    assert epochs.end_of(3, end_offset=20) == (3, 20)
    assert epochs.end_of(7, end_offset=20) == (3, 20)


def test_an_epoch_that_wrote_nothing_ends_with_the_one_before_it() -> None:
    assert Epochs([(1, 0), (3, 9)]).end_of(2, end_offset=20) == (1, 9)


def test_before_the_first_epoch_there_is_none() -> None:
    assert Epochs().end_of(4, end_offset=0) == (NO_EPOCH, -1)
    assert Epochs([(5, 0)]).end_of(4, end_offset=9) == (NO_EPOCH, -1)
    assert Epochs().latest == NO_EPOCH


def test_every_offset_has_the_epoch_it_was_written_at() -> None:
    epochs = Epochs([(1, 2), (3, 9)])
    assert [epochs.at(offset) for offset in (1, 2, 8, 9, 30)] == [NO_EPOCH, 1, 1, 3, 3]
