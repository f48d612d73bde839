"""Text that is safe to show."""


def printable(text: str) -> str:
    """The same text with line breaks and escape sequences spelt out.

    A name or a record must not draw on somebody's terminal.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
