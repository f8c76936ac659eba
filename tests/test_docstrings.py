"""Every public name has an example in its docstring, which says what it prints."""

from __future__ import annotations

import doctest
import inspect
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mklviz as mv

CALLBACKS = find_spec("sklearn.callback") is not None


@pytest.mark.parametrize("name", mv.__all__)
def test_the_example_of_a_public_name_says_what_it_prints(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "LiveRace" and not CALLBACKS:
        pytest.skip("scikit-learn has callbacks from 1.9 on")
    monkeypatch.chdir(tmp_path)
    thing: Any = getattr(mv, name)
    known = dict(vars(thing if inspect.ismodule(thing) else inspect.getmodule(thing)))
    example = doctest.DocTestParser().get_doctest(
        inspect.getdoc(thing) or "", known | {"mv": mv, "np": np}, name, None, 0
    )
    said: list[str] = []
    assert example.examples
    assert doctest.DocTestRunner().run(example, out=said.append).failed == 0, "".join(said)
