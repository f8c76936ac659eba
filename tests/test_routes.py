"""Every route of the dashboard asked with hostile parts: the process lives, and nothing is imported by its name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE = 300.0
SERVED = Path(__file__).with_name("_routes.py")


@pytest.mark.parametrize("code", ["right-1", pytest.param("", marks=pytest.mark.full)])
def test_no_route_ends_the_process_imports_a_module_or_breaks_down(code: str) -> None:
    done = subprocess.run([sys.executable, SERVED, code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["imported"] == []
    assert told["broken"] == []
    assert len(told["routes"]) >= 10
    assert {"/components/%s", "/explorer", "/static/%s", "/static/extensions/%s"} <= set(told["routes"])
    assert told["asked"] >= 500
    assert told["component"] == "200"  # what is there is found
