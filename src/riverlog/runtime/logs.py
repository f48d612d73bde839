"""Log lines: a fixed phrase, then `key=value` pairs. Text for people or JSON for machines.

`log = logs.get(__name__)`, then `log.info("segment sealed", topic="orders", size_bytes=67108864)`.
Lines go to the standard library's loggers, so whoever embeds a broker decides where they end up;
only the command line calls `configure`.
"""

import logging
import time

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


class Log:
    """Where one module writes. What nobody listens to is never rendered."""

    __slots__ = ("_logger",)

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def debug(self, phrase: str, /, **fields: object) -> None:
        """For the developer: anything as frequent as requests belongs here."""
        self._write(logging.DEBUG, phrase, fields, None)

    def info(self, phrase: str, /, **fields: object) -> None:
        """What an operator would want to know at night."""
        self._write(logging.INFO, phrase, fields, None)

    def warning(
        self, phrase: str, /, *, failure: BaseException | None = None, **fields: object
    ) -> None:
        """Someone should look; with `failure`, its traceback follows."""
        self._write(logging.WARNING, phrase, fields, failure)

    def error(
        self, phrase: str, /, *, failure: BaseException | None = None, **fields: object
    ) -> None:
        """We broke a promise; with `failure`, its traceback follows."""
        self._write(logging.ERROR, phrase, fields, failure)

    def _write(
        self, level: int, phrase: str, fields: dict[str, object], failure: BaseException | None
    ) -> None:
        self._logger.log(level, Line(phrase, fields), exc_info=failure, stacklevel=3)


def get(name: str) -> Log:
    """The log of a module, given its `__name__`."""
    return Log(logging.getLogger(name))


def configure(level: str = "info", *, json: bool = False) -> None:
    """Sends this process's log to standard error, in place of wherever it went before.

    `level` is one of `LEVELS` and holds for our own lines; of other packages' lines only
    warnings and errors are shown.
    """
    if level not in LEVELS:
        raise ValueError(f"the log level is one of {', '.join(LEVELS)}, not {level!r}")
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if json else TextFormatter())
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(max(LEVELS[level], logging.WARNING))
    logging.getLogger("riverlog").setLevel(LEVELS[level])


class Line:
    """A phrase and its fields; as a string, the text form, whoever's handler asks for it."""

    __slots__ = ("fields", "phrase")

    def __init__(self, phrase: str, fields: dict[str, object]) -> None:
        self.phrase = phrase
        self.fields = fields

    def __str__(self) -> str:
        return " ".join((self.phrase, *(f"{k}={_quoted(v)}" for k, v in self.fields.items())))


class TextFormatter(logging.Formatter):
    """`2026-11-15T09:26:31.123Z INFO riverlog.log.segment: segment sealed topic=orders`."""

    def format(self, record: logging.LogRecord) -> str:
        head = f"{_timestamp(record)} {record.levelname} {record.name}: {record.getMessage()}"
        if record.exc_info:
            return f"{head}\n{self.formatException(record.exc_info)}"
        return head


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, then the fields, then any traceback."""

    def format(self, record: logging.LogRecord) -> str:
        from json import dumps  # Costs a start-up that logs text nothing.

        line = record.msg if isinstance(record.msg, Line) else Line(record.getMessage(), {})
        entry: dict[str, object] = {
            "time": _timestamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": line.phrase,
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        for key, value in line.fields.items():
            entry[f"{key}_" if key in entry else key] = _scalar(value)
        return dumps(entry)


def _timestamp(record: logging.LogRecord) -> str:
    seconds, milliseconds = divmod(int(record.created * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{milliseconds:03}Z"


def _quoted(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if text and text.isprintable() and not any(mark in text for mark in ' "=\\'):
        return text
    from json import dumps  # As above: most lines have nothing to quote.

    # Escaped down to ASCII, so that no value can start a line or steer a terminal.
    return dumps(text)


def _scalar(value: object) -> object:
    # JSON has no NaN and no infinities; what it does not know is written as text.
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
