"""What may stand where on a command line, written as scripts for bash, zsh and fish."""

import shlex
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Flag(NamedTuple):
    """A flag: what help says of it, and what may follow it."""

    name: str
    told: str
    takes_value: bool
    takes_file: bool
    values: tuple[str, ...]


class Place(NamedTuple):
    """A place on the command line: behind these words, which words and flags may come."""

    path: str
    words: dict[str, str]
    flags: tuple[Flag, ...]
    takes_file: bool


def bash(places: list[Place]) -> str:
    """A script to be evaluated in a `.bashrc`."""
    values = _by_reply(places, files="_riverlog_files", words="_riverlog_words {}", none=":")
    offers = [
        f"    {shlex.quote(place.path)}) _riverlog_words "
        f"{shlex.quote(' '.join([*place.words, *(flag.name for flag in place.flags)]))}"
        f"{'; _riverlog_files' if place.takes_file else ''} ;;"
        for place in places
    ]
    return _BASH.format(
        paths=_paths(places, "|"), values="\n".join(values), offers="\n".join(offers)
    )


def zsh(places: list[Place]) -> str:
    """A file for a directory of `$fpath`."""
    values = _by_reply(places, files="_files", words="_riverlog_words {}", none=":")
    offers = []
    for place in places:
        listed = [*place.words.items(), *((flag.name, flag.told) for flag in place.flags)]
        items = " ".join(shlex.quote(_zsh_item(name, told)) for name, told in listed)
        files = "; _files" if place.takes_file else ""
        here = f"    {shlex.quote(place.path)}) offers=({items})"
        offers.append(f"{here}; _describe riverlog offers{files} ;;")
    return _ZSH.format(
        paths=_paths(places, "|"), values="\n".join(values), offers="\n".join(offers)
    )


def fish(places: list[Place]) -> str:
    """A file for fish's directory of completions."""
    lines = []
    for place in places:
        here = f"complete -c riverlog -n 'test (__riverlog_place) = riverlog{place.path}'"
        if place.takes_file:
            lines.append(f"{here} -F")
        for word, told in place.words.items():
            lines.append(f"{here} -a {_fish_quoted(word)} -d {_fish_quoted(told)}")
        for flag in place.flags:
            kind = "-l" if flag.name.startswith("--") else "-s"
            line = f"{here} {kind} {flag.name.lstrip('-')} -d {_fish_quoted(flag.told)}"
            if flag.takes_value:
                line += " -r -F" if flag.takes_file else " -x"
            if flag.values:
                line += f" -a {_fish_quoted(' '.join(flag.values))}"
            lines.append(line)
    return _FISH.format(paths=_paths(places, " ", "riverlog"), lines="\n".join(lines))


SCRIPTS: Mapping[str, Callable[[list[Place]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _by_reply(places: list[Place], *, files: str, words: str, none: str) -> list[str]:
    """One branch of a `case` for all flags behind which the same may follow."""
    flags: dict[str, list[str]] = {}
    for place in places:
        for flag in place.flags:
            if flag.takes_file:
                reply = files
            elif flag.values:
                reply = words.format(shlex.quote(" ".join(flag.values)))
            else:
                reply = none
            if flag.takes_value:
                flags.setdefault(reply, []).append(f"{place.path}:{flag.name}")
    return [f"    {'|'.join(patterns)}) {reply}; return ;;" for reply, patterns in flags.items()]


def _paths(places: list[Place], between: str, before: str = "") -> str:
    """The paths of all places but the outermost, which is where one begins."""
    return between.join(before + place.path for place in places if place.path)


def _zsh_item(name: str, told: str) -> str:
    return f"{name}:{told}" if told else name


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_BASH = """\
# Completes riverlog in bash: eval "$(riverlog completion bash)"
_riverlog_words() {{
    COMPREPLY=($(compgen -W "$1" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}

_riverlog_files() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} IFS=$'\\n'
    if [[ $current != -* ]]; then
        # Not in the bash of macOS, where directories then get no slash.
        compopt -o filenames 2> /dev/null
        COMPREPLY+=($(compgen -f -- "$current"))
    fi
}}

_riverlog() {{
    local place= index
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        case "$place/${{COMP_WORDS[index]}}" in
        {paths}) place="$place/${{COMP_WORDS[index]}}" ;;
        esac
    done
    case "$place:${{COMP_WORDS[COMP_CWORD - 1]}}" in
{values}
    esac
    case "$place" in
{offers}
    esac
}}
complete -F _riverlog riverlog
"""

_ZSH = """\
#compdef riverlog
# Completes riverlog in zsh: put this into a directory of $fpath, as _riverlog.
_riverlog_words() {{
    compadd -- ${{=1}}
}}

_riverlog() {{
    local place= index
    local -a offers
    for ((index = 2; index < CURRENT; index++)); do
        case "$place/${{words[index]}}" in
        {paths}) place="$place/${{words[index]}}" ;;
        esac
    done
    case "$place:${{words[CURRENT - 1]}}" in
{values}
    esac
    case "$place" in
{offers}
    esac
}}
_riverlog "$@"
"""

_FISH = """\
# Completes riverlog in fish: put this into ~/.config/fish/completions/riverlog.fish
function __riverlog_place
    set -l place riverlog
    for word in (commandline -opc)[2..-1]
        switch $place/$word
            case {paths}
                set place $place/$word
        end
    end
    echo $place
end
complete -c riverlog -f
{lines}
"""
