"""Completion of commands, options and names with the Tab key: ``mklviz completion bash | zsh | fish``.

The shell reads the printed text when it starts. The text calls no program: it lists what exists when it is printed. zsh
reads the text for bash, by its own bashcompinit.
"""

from __future__ import annotations

import argparse
import json
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


_Commands = dict[str, tuple[str, list[argparse.Action]]]  # by their names: their help, and what they take


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the text that teaches a shell the words that `parser` reads."""
    return SHELLS[shell](_commands(parser))


def _commands(parser: argparse.ArgumentParser, above: str = "") -> _Commands:
    """Return the commands; what one of them can do comes before itself, as "runs list" before "runs"."""
    (added,) = _below(parser)
    helps = {action.dest: action.help or "" for action in added._choices_actions}
    commands: _Commands = {}
    for name, command in added.choices.items():
        if _below(command):
            commands |= _commands(command, f"{name} ")
        commands[above + name] = helps.get(name, ""), command._actions
    return commands


def _below(parser: argparse.ArgumentParser) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]


def _values(action: argparse.Action) -> list[str]:
    """Return the words that may follow an option, or a command, as far as they are known."""
    takes, package = action.nargs != 0, Path(__file__).parents[1]
    if takes and action.dest in _NAMED:
        values = names(_NAMED[action.dest])
        if action.dest == "data":  # whose tables are files beside the modules
            tables = (file.name for file in package.joinpath("datasets", "tables").glob("*.csv*"))
            values = sorted({*(name.replace("-", "_") for name in values), *(n.partition(".")[0] for n in tables)})
        return values
    if takes and action.dest == "scenario":  # which are read and not imported: that takes a second
        return sorted(file.stem for file in (package / "scenarios").glob("*.md"))
    if action.dest == "claims":
        return [claim["name"] for claim in json.loads((package / "reproduce/results.json").read_bytes())["claims"]]
    return [*(action.choices or ())]


def _takes_files(action: argparse.Action) -> bool:
    return action.nargs != 0 and (action.type is Path or any(word in str(action.metavar) for word in _FILES))


def _bash(commands: _Commands) -> str:
    cases = [f'        "{name} "*)\n{_bash_command(actions)}            ;;' for name, (_, actions) in commands.items()]
    first = " ".join(name for name in commands if " " not in name)
    return _BASH.format(commands=first, cases="\n".join(cases))


def _bash_command(actions: list[argparse.Action]) -> str:
    """Return the case of one command: what follows an option, and otherwise the options themselves."""
    lines = ['            case "$3" in']
    for action in actions:
        if action.nargs != 0 and action.option_strings:
            ends = "_mklviz_files" if _takes_files(action) else ":"
            known = f'_mklviz_words "{" ".join(_values(action))}"'
            lines.append(f"                {'|'.join(action.option_strings)}) {known}; {ends}; return ;;")
    flags = " ".join(flag for action in actions for flag in action.option_strings)
    follows = [action for action in actions if not action.option_strings]
    values = " ".join(value for action in follows for value in _values(action))
    lines += ["            esac", f'            _mklviz_words "{flags} {values}"']
    if any(map(_takes_files, follows)):
        lines.append("            _mklviz_files")
    return "\n".join(lines) + "\n"


def _zsh(commands: _Commands) -> str:
    return f"autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: _Commands) -> str:
    lines = ["complete -c mklviz -f"]
    for called, (text, actions) in commands.items():
        *above, name = called.split()
        where = f"__fish_seen_subcommand_from {above[0]}" if above else "__fish_use_subcommand"
        lines.append(f"complete -c mklviz -n {_quoted(where)} -a {name} -d {_quoted(text)}")
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in (*above, name))
        if any(other.startswith(f"{called} ") for other in commands):  # whose options are those of what it can do
            continue
        for action in actions:
            line = f"complete -c mklviz -n {_quoted(seen)}"
            for flag in action.option_strings:
                line += f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
            if action.nargs != 0 and action.option_strings:
                line += " -r"
            line += " -F" if _takes_files(action) else ""
            values = " ".join(_values(action))
            line += f" -a {_quoted(values)}" if values else ""
            lines.append(f"{line} -d {_quoted(action.help or '')}")
    return "\n".join(lines) + "\n"


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
