r"""Bytes as people type them on a command line: \n, \t, \r, \0, \\, \xNN, and all else as it is."""

import os
import re

from riverlog.cli.refusals import Refused

_ESCAPE = re.compile(rb"\\(?:([ntr0\\])|x([0-9a-fA-F]{2})|(.?))", re.DOTALL)
_MEANT = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}


def unescaped(text: str, flag: str) -> bytes:
    """The bytes that are meant; raises `Refused`, naming the flag."""

    def meant(found: re.Match[bytes]) -> bytes:
        letter, digits, other = found.groups()
        if other is not None:
            raise Refused(rf"{flag} '{text}': a backslash goes with n, t, r, 0, \ or xNN")
        return _MEANT[letter] if letter is not None else bytes.fromhex(digits.decode())

    made = _ESCAPE.sub(meant, os.fsencode(text))
    if not made:
        raise Refused(f"{flag} needs at least one letter")
    return made
