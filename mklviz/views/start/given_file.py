"""The file that ``mklviz desktop FILE`` opens with: a race of its runs, or a table as data of one's own."""

from __future__ import annotations

import os
from pathlib import Path

from mklviz.errors import MklvizError
from mklviz.record.bundle import read_bundle
from mklviz.views.explorer.explorer import Explorer

__all__ = ["GIVEN", "open_given"]

GIVEN = "MKLVIZ_OPEN"  # in the environment: the file's path


def open_given(explorer: Explorer) -> None:
    """Open the file that this process was given, once; what is wrong with it stands on the page."""
    path = Path(os.environ.pop(GIVEN, ""))
    if not path.name:
        return
    content = path.read_bytes()
    try:
        traces = read_bundle(content, path.name)
    except MklvizError:  # a table, which says by itself what is wrong with it
        explorer.sidebar.data.file.param.update(filename=path.name, size=len(content), value=content)
        return
    store, keys, wrong = explorer.session.store, list[str](), ""
    try:
        keys = store.import_file(content, path.name) if store.enabled else []
    except MklvizError as error:  # such as a full disk: the race is shown all the same
        wrong = str(error)
    refusal = explorer.open_race(traces, keys[0] if keys else "") or wrong
    explorer.alert.param.update(object=refusal, visible=bool(refusal))
