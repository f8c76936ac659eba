"""Faults of libraries that mklviz works around: each test shows the fault, and fails when the workaround may go.

`apps/docs/developing/defences.md` lists them. A fault that newer releases mend counts until the oldest release that
`pyproject.toml` allows has the mend, so a test that asks for the fault runs on the releases that have it.
"""

import importlib
import inspect
import io
import re
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import bokeh
import panel as pn
import pytest
from bokeh.core.has_props import HasProps
from bokeh.core.serialization import Serializer
from bokeh.models import Div
from bokeh.server import session
from numba import njit

from mklviz.views.host import panel_setup

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "apps" / "docs" / "developing" / "defences.md").read_text(encoding="utf-8")
SCRIPT = (Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.js").read_text(encoding="utf-8")


def release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, to be compared."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


BOKEH, PANEL = release(bokeh.__version__), release(pn.__version__)


def gone(what: str) -> str:
    """Return what a test says where a fault has gone."""
    return f"{what} no longer needs a workaround: remove it, and its line in apps/docs/developing/defences.md."


def test_every_file_and_test_of_a_defence_exists() -> None:
    tests = re.findall(r"`(tests/\w+\.py)::(\w+)`", PAGE)
    assert len(tests) > 30
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file, _ in tests}
    assert [name for file, name in tests if f"def {name}(" not in texts[file]] == []
    files = re.findall(r"^\| `([\w/.]+\.(?:py|js))` \|", PAGE, re.MULTILINE)
    assert len(files) > 40
    assert [file for file in files if not (ROOT / "mklviz" / file).exists()] == []


def test_every_module_of_the_server_stands_among_the_defences_or_defends_nothing() -> None:
    plain = {"__init__", "native_window", "desktop"}
    named = set(re.findall(r"`server/(\w+)\.py`", PAGE))
    assert {path.stem for path in (ROOT / "mklviz" / "server").glob("*.py")} - plain <= named


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="newer Pythons may have the bound of cpython#156002")
def test_python_unpacks_all_of_a_bzip2_member_at_once() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("zeros", bytes(20_000_000))
    tracemalloc.start()
    try:
        with zipfile.ZipFile(packed) as archive, archive.open("zeros") as member:
            member.read(1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most > 5_000_000, gone("zipfile (ArchiveMember of mklviz/unpacking.py)")


def test_numba_refuses_a_function_that_it_has_no_place_to_cache() -> None:
    names: dict[str, Any] = {}
    exec(compile("def double(x):\n    return x + x\n", "/nowhere/double.py", "exec"), names)
    try:
        njit(cache=True)(names["double"])
    except RuntimeError:
        return
    pytest.fail(gone("numba#5566 (mklviz/compiled.py)"))


@pytest.mark.full  # compiles
def test_numba_does_not_look_at_files_of_what_a_function_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    inner, outer = tmp_path / "cached_inner.py", tmp_path / "cached_outer.py"
    head = "from numba import njit\n"
    outer.write_text(f"{head}from cached_inner import f\n@njit(cache=True)\ndef g():\n    return f()\n")
    for answer in (1, 2):
        inner.write_text(f"{head}@njit(cache=True)\ndef f():\n    return {answer}\n")
        for name in ("cached_inner", "cached_outer"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        last = importlib.import_module("cached_outer").g()
    assert last == 1, gone("numba#1833 (mklviz/compiled.py)")


def test_panel_imports_whatever_module_the_address_of_a_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named_by_an_address.py").write_text("class Anything: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    handler: Any = type("Handler", (), {"_resource_attrs": ["css"]})()
    with pytest.raises(Exception, match="Resource type not found"):
        panel_setup._parse(handler, "named_by_an_address/Anything/css/file")
    assert sys.modules.pop("named_by_an_address", None) is not None, gone("views/host/panel_setup.py")


def test_panel_answers_a_queued_change_without_the_lock() -> None:
    from panel.reactive import Syncable

    panel_setup.answer_with_lock()
    own = [getattr(Syncable, name) for name in ("_change_coroutine", "_event_coroutine")]
    answers = [each.__wrapped__.__wrapped__ for each in own]  # below the lock and the wait for the page
    assert not any(hasattr(answer, "lock") for answer in answers), gone("views/host/panel_setup.py")


def test_bokeh_works_out_the_defaults_of_a_class_again_for_each_model() -> None:
    source = inspect.getsource(HasProps)
    method = re.search(r"@classmethod\n    def _overridden_defaults\(cls\).*?return \w+\n", source, re.DOTALL)
    assert "cache" not in method[0], gone("views/host/panel_setup.py")


def test_bokeh_writes_a_reference_to_every_model_of_the_page_for_each_message() -> None:
    asked: list[Div] = []

    class Referred(Div):
        @property
        def ref(self) -> Any:
            asked.append(self)
            return super().ref

    models = {Referred(), Referred()}
    Serializer(references=models)
    assert len(asked) == 2, gone("views/host/panel_setup.py")
    asked.clear()
    new, serializer = Div(), panel_setup.ReferencesWhenMet(references=models)
    assert asked == []
    assert [serializer.encode(model) for model in models] == [model.ref for model in models]
    assert not serializer.has_ref(new)
    assert serializer.encode([new, new]) == Serializer(references=models).encode([new, new])
    assert serializer.has_ref(new)


@pytest.mark.skipif(BOKEH < (3, 10), reason="Bokeh before 3.10 does all of it on the event loop")
def test_bokeh_carries_out_what_browsers_say_in_other_threads() -> None:
    assert hasattr(session, "_run_in_executor"), gone("bokeh#15294 (views/host/panel_setup.py)")


@pytest.mark.skipif(BOKEH >= (3, 10), reason="bokeh#15347 is mended in later releases; the oldest allowed is older")
def test_bokehjs_drops_the_arrays_of_a_page_that_comes_back() -> None:
    assert re.search(r"document\.replace_with_json\(doc_json\)", SCRIPT), gone("bokeh#15347 (views/host/reconnect.js)")


@pytest.mark.skipif(BOKEH >= (3, 10), reason="bokeh#15358 is mended in later releases; the oldest allowed is older")
def test_bokehjs_builds_a_view_twice_where_children_change_while_they_are_built() -> None:
    builder = SCRIPT[SCRIPT.index("async function build_views(") :][:1500]
    awaits = re.search(r"const view = await _build_view\(.*\);\n\s+view_storage\.set\(model, view\);", builder)
    assert awaits, gone("bokeh#15358 (views/host/built_first.js)")


def test_bokehjs_sends_models_back_that_came_from_the_server() -> None:
    applied = SCRIPT[SCRIPT.index("_apply_json_patch(patch, buffers = new Map()) {") :][:300]
    assert "this._new_models.add(obj)" in applied, gone("What is sent back whole (views/host/built_first.js)")


def test_bokehjs_lays_out_a_figure_that_has_no_layout_yet_or_that_nobody_sees() -> None:
    measure = re.search(r"_measure_layout\(\) \{\s+const \{ frame_width.*?top_panel", SCRIPT, re.DOTALL)
    assert "layout == null" not in measure[0], gone("The layout of figures (views/host/built_first.js)")
    assert "is_displayed" not in measure[0], gone("The layout of figures that nobody sees (views/host/built_first.js)")


def test_bokehjs_lays_out_a_figure_that_nobody_sees_at_each_change() -> None:
    repaint = re.search(r"    repaint\(\) \{\s+this\._invalidate_layout_if_needed\(\);", SCRIPT)
    assert repaint, gone("bokeh#7438 (views/host/built_first.js)")
    changed = SCRIPT[SCRIPT.index("_invalidate_layout_if_needed() {") :][:1000]
    assert "is_displayed" not in changed, gone("bokeh#7438 (views/host/built_first.js)")


def test_bokehjs_takes_a_mouse_that_rests_for_a_long_press() -> None:
    timer = "setTimeout(() => this._pointer_timeout(), UIGestures.press_threshold)"
    assert timer in SCRIPT, gone("The long press (views/chart/bokeh_figure.py)")


def test_dask_listens_for_http_where_no_dashboard_is_asked_for() -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster:
        assert cluster.scheduler.http_server._sockets, gone("Dask's server for HTTP")
