"""Pages that stand at the root of the sources, for code hosts, and in the site as well: changelog and contributing."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["led", "pages"]

ROOT = Path(__file__).resolve().parents[2]
FILES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
HOME = {file: page for page, file in FILES.items()}
LINK = re.compile(r"\[([^\[\]]+)\]\((?![a-z]+:)([\w./-]+)(#[\w-]+)?\)")


def pages() -> dict[str, str]:
    """Return the text of each page by its place in the site, with links that lead to pages of the site."""
    return {page: led((ROOT / file).read_text(encoding="utf-8")) for page, file in FILES.items()}


def led(text: str) -> str:
    """Return a text of the root whose links lead to pages, or are words where the site has no such page."""

    def there(link: re.Match[str]) -> str:
        words, file, anchor = link.groups()
        page = HOME.get(file, file.removeprefix("apps/docs/"))
        return words if page == file else f"[{words}]({page}{anchor or ''})"

    return LINK.sub(there, text)
