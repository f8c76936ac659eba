"""The Tab key: bash is asked what it would offer; zsh reads the same text, fish a line for each word."""

from __future__ import annotations

import argparse
import subprocess
from functools import cache

import pytest

import mklviz as mv
from mklviz.cli.completion import SHELLS, script
from mklviz.cli.parser import SHELLS as NAMED
from mklviz.cli.parser import make_parser
from mklviz.problem import loss_families, regularizer_families
from mklviz.scenarios import scenarios


@cache
def bash() -> str:
    return script("bash", make_parser())


def offered(*words: str, folder: str = ".") -> list[str]:
    """What bash offers for the last word."""
    given = " ".join(f"'{word}'" for word in ("mklviz", *words))
    asked = (
        f"{bash()}\nCOMP_WORDS=({given}); COMP_CWORD={len(words)}\n"
        '_mklviz mklviz "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
    return done.stdout.split()


def actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions


def below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser, by name."""
    added = [action for action in actions(parser) if isinstance(action, argparse._SubParsersAction)]
    return {name: command for action in added for name, command in action.choices.items()}


def commands() -> dict[str, argparse.ArgumentParser]:
    return below(make_parser())


def test_the_shells_are_those_of_the_help() -> None:
    assert tuple(SHELLS) == NAMED


def test_commands_are_offered_first() -> None:
    assert set(offered("")) == {*commands(), "--help", "--version"}
    assert offered("ra") == ["race"]


@pytest.mark.parametrize("command", commands())
def test_every_option_of_a_command_is_offered(command: str) -> None:
    flags = {flag for action in actions(commands()[command]) for flag in action.option_strings}
    assert flags <= set(offered(command, "-"))


def test_what_a_command_can_do_is_offered_and_then_its_options() -> None:
    actions_of_runs = below(commands()["runs"])
    assert set(offered("runs", "")) >= set(actions_of_runs)
    assert offered("runs", "li") == ["list"]
    for name, parser in actions_of_runs.items():
        assert {flag for action in actions(parser) for flag in action.option_strings} <= set(offered("runs", name, "-"))
    assert "--limit" not in offered("runs", "show", "-")


def test_names_are_offered_after_their_options(tmp_path: object) -> None:
    folder = str(tmp_path)
    for option, known in (
        ("--data", mv.list_datasets()),
        ("--loss", loss_families()),
        ("--regularizer", regularizer_families()),
        ("--solvers", mv.available_solvers()),
        ("--scenario", scenarios()),
    ):
        assert set(offered("run", option, "", folder=folder)) == set(known), option
    assert offered("run", "--data", "son") == ["sonar"]
    assert offered("run", "--C", "") == []
    assert set(offered("completion", "")) >= set(NAMED)


def test_zsh_reads_what_bash_reads() -> None:
    told = script("zsh", make_parser())
    assert told.endswith(bash())
    assert "bashcompinit" in told


def test_fish_has_a_line_for_every_option_of_every_command() -> None:
    lines = script("fish", make_parser()).splitlines()
    assert all(line.startswith("complete -c mklviz") for line in lines)
    assert all(line.replace("\\'", "").count("'") % 2 == 0 for line in lines)  # every quote is closed
    for name, command in commands().items():
        own = [line for line in lines if f"'__fish_seen_subcommand_from {name}'" in line]
        assert len(own) == (len(below(command)) or len(actions(command)))
        for action, parser in below(command).items():
            own = [line for line in lines if f"_from {name}; and __fish_seen_subcommand_from {action}'" in line]
            assert len(own) == len(actions(parser))
    (data,) = [line for line in lines if "_from run'" in line and " -l data " in line]
    assert " -r -F -a '" in data
    assert " two_moons " in data
