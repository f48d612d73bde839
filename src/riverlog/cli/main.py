"""`riverlog`: the command people type.

Exit codes: 0 all went well, 1 it was tried and failed, 2 it was asked for wrongly.
"""

import io
import os
import sys
from collections.abc import Mapping, Sequence

from riverlog.cli import refusals
from riverlog.cli.arguments import flags_of
from riverlog.cli.commands import COMMANDS, load, parser_of
from riverlog.cli.refusals import Failed, Refused, line_of
from riverlog.settings.near_misses import near_miss


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code; what went wrong is one line on standard error."""
    for stream in (sys.stdout, sys.stderr):
        # Paths and records may hold what the terminal's encoding has no letter for.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    known: Mapping[type[Exception], int] = {}
    words = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in words if not word.startswith("-")), "")
    try:
        if name and name not in COMMANDS:
            raise Refused(f"there is no command '{name}'{near_miss(name, COMMANDS)}")
        parser = parser_of(name)
        options, unknown = parser.parse_known_args(words)
        if unknown:
            hint = near_miss(unknown[0], flags_of(parser))
            raise Refused(f"'{unknown[0]}' has no meaning here{hint}")
        if options.command is None:
            parser.print_help()
            code = refusals.WELL
        else:
            command = load(options.command)
            known = command.EXIT_CODES
            code = command.run(options)
        sys.stdout.flush()
        return code
    except SystemExit as ended:
        # How argparse ends after `--help` and `--version`.
        return int(ended.code or 0)
    except KeyboardInterrupt:
        return refusals.INTERRUPTED
    except BrokenPipeError:
        # Python would write what is left when it exits, and complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return refusals.UNREAD
    except tuple(known) as error:
        return _end(error, next(known[kind] for kind in type(error).__mro__ if kind in known))
    except Refused as error:
        return _end(error, refusals.REFUSED)
    except Failed as error:
        return _end(error, refusals.FAILED)
    except OSError as error:
        # With a name it is about a file somebody asked for; without, about what was under way.
        return _end(error, refusals.FAILED if error.filename is None else refusals.REFUSED)


def _end(error: Exception, code: int) -> int:
    print(line_of(error), file=sys.stderr)
    return code
