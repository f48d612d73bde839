"""Chance from a seed."""

from riverlog.testing.seeded_chance import SeededChance


def draw(chance: SeededChance) -> list[object]:
    return [
        chance.random_bytes(8),
        chance.below(10**9),
        chance.between(-5, 10**9),
        chance.happens(0.5),
    ]


def test_the_same_seed_gives_the_same_draws_on_every_machine() -> None:
    assert draw(SeededChance(7)) == draw(SeededChance(7))
    assert SeededChance(7).below(10**9) == 812_300_298


def test_other_seeds_give_other_draws() -> None:
    assert len({SeededChance(seed).below(2**62) for seed in range(1_000)}) == 1_000


def test_a_fork_depends_on_its_name_and_not_on_earlier_draws() -> None:
    fresh, used = SeededChance(7), SeededChance(7)
    draw(used)

    assert draw(fresh.fork("disk")) == draw(used.fork("disk"))
    assert draw(fresh.fork("disk")) != draw(fresh.fork("store"))
    assert draw(fresh.fork("a").fork("b")) == draw(SeededChance("7/a/b"))


def test_what_is_impossible_never_happens_and_what_is_certain_always_does() -> None:
    chance = SeededChance(1)

    assert not any(chance.happens(0.0) for _ in range(1_000))
    assert all(chance.happens(1.0) for _ in range(1_000))
    assert 400 < sum(chance.happens(0.5) for _ in range(1_000)) < 600


def test_between_includes_both_ends() -> None:
    chance = SeededChance(1)

    assert {chance.between(3, 5) for _ in range(100)} == {3, 4, 5}


def test_a_shuffle_keeps_every_item() -> None:
    items = list(range(50))

    SeededChance(1).shuffle(items)

    assert items != list(range(50))
    assert sorted(items) == list(range(50))
