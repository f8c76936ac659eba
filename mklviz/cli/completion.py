"""Completion of commands, options and names with the Tab key: ``mklviz completion bash | zsh | fish``.

The shell reads the printed text when it starts. The text calls no program: it lists what exists when it is printed. zsh
reads the text for bash, by its own bashcompinit.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mklviz.plugins import names

_NAMED = {
    "data": "mklviz.datasets",
    "loss": "mklviz.problem.losses",
    "regularizer": "mklviz.problem.regularizers",
    "solver": "mklviz.solvers",
    "solvers": "mklviz.solvers",
}
_FILES = ("FILE", "TABLE", "MODEL")  # in what `--help` calls a value


@dataclass(frozen=True)
class _Option:
    """An option, or what follows a command without one: its flags, help, whether and which values follow."""

    flags: tuple[str, ...]
    help: str
    takes: bool
    values: tuple[str, ...]
    files: bool


@dataclass(frozen=True)
class _Command:
    name: str
    help: str
    options: tuple[_Option, ...]


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the text that teaches a shell the words that `parser` reads."""
    return SHELLS[shell](list(_commands(parser)))


def _commands(parser: argparse.ArgumentParser, above: str = "") -> Iterator[_Command]:
    """Yield the commands; what one of them can do comes before itself, as "runs list" before "runs"."""
    (added,) = _below(parser)
    helps = {action.dest: action.help or "" for action in added._choices_actions}
    for name, command in added.choices.items():
        if _below(command):
            yield from _commands(command, f"{name} ")
        yield _Command(above + name, helps.get(name, ""), tuple(_option(action) for action in command._actions))


def _below(parser: argparse.ArgumentParser) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]


def _option(action: argparse.Action) -> _Option:
    takes, package = action.nargs != 0, Path(__file__).parents[1]
    values: tuple[str, ...] = tuple(action.choices or ())
    if takes and action.dest in _NAMED:
        values = tuple(names(_NAMED[action.dest]))
        if action.dest == "data":  # whose tables are files beside the modules
            tables = (file.name for file in package.joinpath("datasets", "tables").glob("*.csv*"))
            values = tuple(
                sorted({*(name.replace("-", "_") for name in values), *(n.partition(".")[0] for n in tables)})
            )
    elif takes and action.dest == "scenario":  # which are read and not imported: that takes a second
        values = tuple(sorted(file.stem for file in (package / "scenarios").glob("*.md")))
    elif action.dest == "claims":
        values = tuple(
            claim["name"] for claim in json.loads((package / "reproduce/results.json").read_bytes())["claims"]
        )
    files = takes and (action.type is Path or any(word in str(action.metavar) for word in _FILES))
    return _Option(tuple(action.option_strings), action.help or "", takes, values, files)


def _bash(commands: list[_Command]) -> str:
    cases = [f'        "{command.name} "*)\n{_bash_command(command)}            ;;' for command in commands]
    first = " ".join(command.name for command in commands if " " not in command.name)
    return _BASH.format(commands=first, cases="\n".join(cases))


def _bash_command(command: _Command) -> str:
    """Return the case of one command: what follows an option, and otherwise the options themselves."""
    lines = ['            case "$3" in']
    for option in command.options:
        if option.takes and option.flags:
            ends = "_mklviz_files" if option.files else ":"
            known = f'_mklviz_words "{" ".join(option.values)}"'
            lines.append(f"                {'|'.join(option.flags)}) {known}; {ends}; return ;;")
    flags = " ".join(flag for option in command.options for flag in option.flags)
    follows = [option for option in command.options if not option.flags]
    values = " ".join(value for option in follows for value in option.values)
    lines += ["            esac", f'            _mklviz_words "{flags} {values}"']
    if any(option.files for option in follows):
        lines.append("            _mklviz_files")
    return "\n".join(lines) + "\n"


def _zsh(commands: list[_Command]) -> str:
    return f"autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: list[_Command]) -> str:
    lines = ["complete -c mklviz -f"]
    for command in commands:
        *above, name = command.name.split()
        where = f"__fish_seen_subcommand_from {above[0]}" if above else "__fish_use_subcommand"
        lines.append(f"complete -c mklviz -n {_quoted(where)} -a {name} -d {_quoted(command.help)}")
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in (*above, name))
        for option in command.options if not _has_actions(command, commands) else ():
            line = f"complete -c mklviz -n {_quoted(seen)}"
            for flag in option.flags:
                line += f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
            if option.takes and option.flags:
                line += " -r"
            line += " -F" if option.files else ""
            line += f" -a {_quoted(' '.join(option.values))}" if option.values else ""
            lines.append(f"{line} -d {_quoted(option.help)}")
    return "\n".join(lines) + "\n"


def _has_actions(command: _Command, commands: list[_Command]) -> bool:
    """Return whether a command's options are those of what it can do, such as "runs list"."""
    return any(other.name.startswith(f"{command.name} ") for other in commands)


def _quoted(text: str) -> str:
    """Return a text in the single quotes of fish."""
    inside = " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{inside}'"


_BASH = """\
# names separated by commas are completed one by one
_mklviz_words() {{
    local cur="${{COMP_WORDS[$COMP_CWORD]}}" before=""
    case "$cur" in
        *,*) before="${{cur%,*}},"; cur="${{cur##*,}}" ;;
    esac
    local word
    for word in $(compgen -W "$1" -- "$cur"); do
        COMPREPLY+=("$before$word")
    done
}}
_mklviz_files() {{
    local word
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(compgen -f -- "${{COMP_WORDS[$COMP_CWORD]}}")
}}
_mklviz() {{
    COMPREPLY=()
    if [ "$COMP_CWORD" -le 1 ]; then
        _mklviz_words "{commands} --help --version"
        return
    fi
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}} " in
{cases}
    esac
}}
complete -o filenames -F _mklviz mklviz
"""
SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
