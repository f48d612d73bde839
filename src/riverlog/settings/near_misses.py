"""Guessing what somebody meant to write."""

from collections.abc import Iterable

LENGTH_MAX = 100


def near_miss(word: str, words: Iterable[str]) -> str:
    """What to add to "there is no …" when one of the words is close to this one; else nothing."""
    # Only mistakes need it.
    from difflib import get_close_matches

    near = get_close_matches(word[:LENGTH_MAX], list(words), n=1)
    return f"; did you mean {near[0]}?" if near else ""
