"""Sentences on the screen in the reader's language: an English one is looked up in ``catalogues/CODE.po``.

A catalogue is one file, read as it is by gettext of the standard library; what it lacks stays English. Its entry
"1,234.5" says how numbers are written, its entry "English" what the language calls itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from string import Formatter
from struct import pack
from typing import Any

__all__ = ["ENGLISH", "LANGUAGE", "Language", "languages", "preferred"]

LANGUAGE = "lang"  # the word in an address that chooses one
CATALOGUES = Path(__file__).with_name("catalogues")
_FIELD = re.compile(r'^(msgid|msgid_plural|msgstr(?:\[\d\])?) ((?:".*"\s*)+)', re.MULTILINE)


class Language(Formatter):
    """A language, given its messages; called with an English sentence it returns its own.

    What stands in braces is filled in with `values`, of which numbers are written as the language does.
    """

    def __init__(self, code: str, messages: Mapping[str, str]) -> None:
        self.code, self._messages = code, messages
        self._texts = GNUTranslations(_compiled(messages)) if messages else NullTranslations()
        signs = self("1,234.5")
        self._signs = {",": signs[1], ".": signs[-2]}
        # what sentences with numbered places look like when these are filled in, the longest first
        numbered = sorted((one for one in messages if "{0}" in one), key=len, reverse=True)
        filled = {one: re.sub(r"\\\{\d\\\}", "(.+?)", re.escape(one)) for one in numbered}
        self._patterns = [(re.compile(pattern), messages[one]) for one, pattern in filled.items()]

    def __call__(self, sentence: str, **values: Any) -> str:
        text = self._texts.gettext(sentence) if sentence else ""
        return self.vformat(text, (), values) if values else text

    def several(self, one: str, many: str, n: int, **values: Any) -> str:
        """Return the form of a sentence that stands for `n`, which it may name in braces."""
        return self.vformat(self._texts.ngettext(one, many, n), (), {"n": n, **values})

    def format_field(self, value: Any, spec: str) -> str:
        """Return a value as it stands in a sentence."""
        text = str(super().format_field(value, spec))
        return text if isinstance(value, str) else self.number(text)

    def number(self, text: str) -> str:
        """Return numbers, written in English, as this language writes them."""
        if self._signs["."] == ",":
            text = re.sub(r"(\.\d+), (?=\d)", r"\1; ", text)
        return re.sub(r"(?<=\d)[,.](?=\d)", lambda sign: self._signs[sign[0]], text)

    def answer(self, *texts: str) -> list[str]:
        """Return texts of filled-in sentences, as answers of lessons are; in English if one of these is not known."""
        filled = [[self._filled(one) for one in re.split(r"(?<=\.) (?=[A-Z])", text)] for text in texts if text]
        known = iter([" ".join(sentences) for sentences in filled] if all(map(all, filled)) else filter(None, texts))
        return [next(known) if text else "" for text in texts]

    def _filled(self, text: str) -> str:
        """Return a sentence whose places are filled in, or "… " and a part of one; "" if it is not known."""
        for pattern, translation in self._patterns:
            if match := pattern.fullmatch(text):
                parts = (self._filled(f"… {part}").removeprefix("… ") or self.number(part) for part in match.groups())
                return translation.format(*parts)
        return self._messages.get(text, "")

    def marked(self, html: str) -> str:
        """Return HTML with what it has in double brackets in this language."""
        return re.sub(r"\[\[(.*?)\]\]", lambda match: self(match[1]), html)

    def script(self, text: str) -> str:
        """Return the HTML that scripts of a page take their sentences from: those that `text` has in quotes."""
        messages = {one: translated for one, translated in self._messages.items() if one and f'"{one}"' in text}
        packed = json.dumps(messages, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        return f'<script type="application/json" class="mklviz-words">{packed}</script>' if messages else ""


def _read(text: str) -> dict[str, str]:
    """Return the messages of a catalogue; forms of a plural stand one behind the other, as in what gettext reads."""
    entries: list[tuple[list[str], list[str]]] = []
    for field, quoted in _FIELD.findall(text):
        if field == "msgid":
            entries.append(([], []))
        entries[-1][field.startswith("msgstr")].append("".join(map(json.loads, re.findall('".*"', quoted))))
    return {"\0".join(one): "\0".join(texts) for one, texts in entries if texts[0]}


def _compiled(messages: Mapping[str, str]) -> BytesIO:
    """Return messages as gettext reads them: how many, the place of each and of what it becomes, and their texts."""
    texts = [text.encode() for text in (*messages, *messages.values())]
    at, places = 28 + 8 * len(texts), b""
    for text in texts:
        places += pack("<2I", len(text), at)
        at += len(text) + 1
    head = pack("<7I", 0x950412DE, 0, len(messages), 28, 28 + 4 * len(texts), 0, 0)
    return BytesIO(head + places + b"\0".join(texts) + b"\0")


ENGLISH = Language("en", {})


@cache
def languages() -> dict[str, Language]:
    """Return all languages by their codes, English first."""
    files = sorted(CATALOGUES.glob("*.po"))
    return {"en": ENGLISH} | {file.stem: Language(file.stem, _read(file.read_text(encoding="utf-8"))) for file in files}


def preferred(asked: str, accepted: str) -> Language:
    """Return the language asked for, else the first that a browser accepts by its header, else English."""
    ranked = re.findall(r"([a-z]+)[\w-]*(?:\s*;\s*q=([01]\.?\d*))?", accepted.lower())
    codes = [code for code, rank in sorted(ranked, key=lambda one: -float(one[1] or 1)) if float(rank or 1) > 0]
    return next((languages()[code] for code in (asked, *codes) if code in languages()), ENGLISH)
