"""What a file of SQL defines, from its text alone: statements that make outputs and flows."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from riverlog.pipelines.graph import RIVERLOG, Flow, Graph, Kind, Output

# Comments and texts are passed over whole: what stands in them means nothing here.
_TOKEN = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<text> '(?:[^'\\]|\\.|'')*(?:'|\Z) | "(?:[^"\\]|\\.)*(?:"|\Z) )
    | (?P<word> (?:`[^`]*`|[\w$]+) (?: \s*\.\s* (?:`[^`]*`|[\w$]+) )* )
    | (?P<end> ; )
    | (?P<other> \S )
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS: dict[tuple[str, ...], Kind] = {
    ("STREAMING", "TABLE"): "table",
    ("TABLE",): "table",
    ("MATERIALIZED", "VIEW"): "materialized view",
    ("TEMPORARY", "VIEW"): "view",
    ("VIEW",): "view",
}


class Word(NamedTuple):
    """A name, a keyword or a sign, and the line it stands on."""

    text: str
    line: int

    @property
    def keyword(self) -> str:
        """As SQL compares it."""
        return self.text.upper()


def read_sql(text: str, file: str) -> Graph:
    """What the statements define; those of other kinds are passed over."""
    outputs: list[Output] = []
    flows: list[Flow] = []
    for words in _statements(text):
        place = f"{file}:{words[0].line}"
        rest = _after(words, "CREATE")
        if rest is None:
            continue
        for skipped in (("OR", "REFRESH"), ("OR", "REPLACE")):
            rest = _after(rest, *skipped) or rest
        if (flow := _after(rest, "FLOW")) is not None:
            flows += _flow(flow, place)
            continue
        for keywords, kind in _KINDS.items():
            if (definition := _after(rest, *keywords)) is not None:
                definition = _after(definition, "IF", "NOT", "EXISTS") or definition
                if definition:
                    _define(definition, kind, place, outputs, flows)
                break
    return Graph(tuple(outputs), tuple(flows))


def plain_name(text: str) -> str:
    """A name of one or more parts without its quotes."""
    return ".".join(part.strip().strip("`") for part in text.split("."))


def _define(
    words: list[Word], kind: Kind, place: str, outputs: list[Output], flows: list[Flow]
) -> None:
    name = plain_name(words[0].text)
    keywords = [word.keyword for word in words]
    query = keywords.index("AS") if "AS" in keywords else len(keywords)
    used = keywords.index("USING", 0, query) if "USING" in keywords[:query] else None
    using = None if used is None or used + 1 >= query else plain_name(words[used + 1].text).lower()
    has_options = using == RIVERLOG and "OPTIONS" in keywords[:query]
    options: dict[str, str | None] = {"OPTIONS": None} if has_options else {}
    outputs.append(Output(name, kind, using, options, False, place))
    if query < len(keywords) and kind != "view":
        flows.append(Flow(name, name, place))


def _flow(words: list[Word], place: str) -> Iterator[Flow]:
    """`CREATE FLOW name AS INSERT INTO target …` or `AS AUTO CDC INTO target …`."""
    keywords = [word.keyword for word in words]
    if "AS" in keywords and "INTO" in keywords[keywords.index("AS") :]:
        into = keywords.index("INTO", keywords.index("AS"))
        if into + 1 < len(words):
            yield Flow(plain_name(words[0].text), plain_name(words[into + 1].text), place)


def _after(words: list[Word], *keywords: str) -> list[Word] | None:
    """What follows these keywords, or None if the words do not begin with them."""
    if [word.keyword for word in words[: len(keywords)]] == list(keywords):
        return words[len(keywords) :]
    return None


def _statements(text: str) -> Iterator[list[Word]]:
    words: list[Word] = []
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "end":
            if words:
                yield words
            words = []
        elif token.lastgroup in ("word", "other"):
            words.append(Word(token[0], text.count("\n", 0, token.start()) + 1))
    if words:
        yield words
