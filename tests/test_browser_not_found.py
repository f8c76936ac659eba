"""The page that a host shows for an address of the site that leads nowhere."""

import sys
from pathlib import Path
from typing import Any

import pytest
from _browser import ROOT

pytestmark = pytest.mark.browser

HOST = "https://host.example/mklviz/"


@pytest.mark.parametrize(
    ("asked", "versions"),
    [
        ("0.1.0/howto/old.html", ["0.2.0", "0.1.0", "main"]),
        ("main/nothing.html", ["0.2.0", "0.1.0", "main"]),
        ("nothing.html", []),
    ],
)
def test_an_address_of_nothing_leads_on_from_any_depth(
    asked: str, versions: list[str], chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / ".ci" / "docs"))
    monkeypatch.delitem(sys.modules, "versions", raising=False)
    import versions as site

    for name in ("0.1.0", "0.2.0", "main"):
        (tmp_path / name / "_static").mkdir(parents=True)
        (tmp_path / name / "index.html").touch()
    site.link(tmp_path)
    page = chromium.new_page()
    page.route("**/*", lambda route: route.fulfill(status=404, path=tmp_path / "404.html"))
    page.goto(HOST + asked)
    links = page.get_by_role("link")
    first, *others = links.evaluate_all("(links) => links.map((link) => [link.textContent, link.href])")
    assert first == ["the documentation's first page", f"{HOST}index.html"]
    assert others == [[name, f"{HOST}{name}/index.html"] for name in versions]
    assert ("first page of" in page.locator("p").last.inner_text()) is bool(versions)
    page.close()
