"""What a browser may say in one message: that properties have changed, or what a person did, in plain data.

Bokeh's protocol can do more: arrays and bytes, which grow when they are unpacked, new models and whole documents. No
page of the dashboard sends any of that. A message is checked before Bokeh decodes it, so that a refusal never costs
more than the message did. This module needs the standard library alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

__all__ = ["KINDS", "LONGEST", "LONGEST_PIECE", "Refused", "check_change", "is_too_long", "long_values", "read"]

LONGEST = 2**18  # letters of a message
LONGEST_PIECE = 2**20  # letters of one that brings a piece of a file, of which the page sends half a megabyte
LONGEST_HEADER = 2**10
MOST_EVENTS = 100  # a page joins at most a dozen
DEEPEST = 24  # lists within lists
LARGEST = 10**21  # browsers write whole numbers out up to there, and larger ones with an exponent
LONG = 200  # letters of a value that is worth counting
KINDS = ("PATCH-DOC", "PULL-DOC-REQ", "SERVER-INFO-REQ")
_TYPES = ("array", "event", "field", "map", "number", "value")
_PIECE = re.compile(r'"[A-Za-z0-9+/=]{1000,}"')
_SHAPES = {"ModelChanged": {"attr", "kind", "model", "new"}, "MessageSent": {"kind", "msg_data", "msg_type"}}


class Refused(Exception):
    """A message that no page of the dashboard sends, and why, as a sentence."""


def is_too_long(text: str) -> bool:
    """Return whether a message is longer than it may be, without reading it."""
    return len(text) > LONGEST and (len(text) > LONGEST_PIECE or len(_PIECE.sub("", text)) > LONGEST)


def read(text: str) -> dict[str, Any]:
    """Return a part of a message as the object it is in JSON, or raise `Refused`."""
    try:
        content = json.loads(text, parse_constant=_constant)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        _refuse("it is no object in JSON")
    return content


def check_change(content: dict[str, Any]) -> None:
    """Raise `Refused` unless a message tells of changes, or of what a person did, in plain data."""
    events = content.get("events")
    if not isinstance(events, list) or not events or set(content) - {"events", "references"}:
        _refuse("it is no list of events")
    if len(events) > MOST_EVENTS:
        _refuse(f"it tells of {len(events):,} events, but at most {MOST_EVENTS} may come at once")
    for event in events:
        _check_event(event)
    long = sum(len(value) > LONGEST for value in _values(content) if isinstance(value, str))
    if long and (long > 1 or [event["kind"] for event in events] != ["MessageSent"]):
        _refuse(f"it has a text of more than {LONGEST:,} letters that is no piece of a file")


def long_values(content: dict[str, Any]) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield which properties of which models a checked message sets, and how long the values are, 0 for short ones."""
    for event in content["events"]:
        if event["kind"] == "ModelChanged":
            length = len(json.dumps(event["new"]))
            yield (event["model"]["id"], event["attr"]), length if length > LONG else 0


def _check_event(event: object) -> None:
    if not isinstance(event, dict) or _SHAPES.get(str(event.get("kind"))) != set(event):
        _refuse("it tells of something else than a change of a property or what a person did")
    if event["kind"] == "ModelChanged":
        model = event["model"]
        if not (isinstance(model, dict) and isinstance(model.get("id"), str) and isinstance(event["attr"], str)):
            _refuse("it does not say which property of which model has changed")
    elif event["msg_type"] != "bokeh_event":
        _refuse("what a person did is told by a bokeh_event")


def _values(content: object) -> Iterator[object]:
    """Yield every value within, once it is checked."""
    left: list[tuple[object, int]] = [(content, 0)]
    while left:
        value, depth = left.pop()
        if depth > DEEPEST:
            _refuse(f"its data are nested more than {DEEPEST} deep")
        if isinstance(value, dict):
            if value.get("type", "map") not in _TYPES and set(value) != {"id"}:
                _refuse("it holds bytes, arrays, models or other data that browsers do not send here")
            left += ((inner, depth + 1) for inner in value.values())
        elif isinstance(value, list):
            left += ((inner, depth + 1) for inner in value)
        elif isinstance(value, int) and abs(value) > LARGEST:
            _refuse("it holds a whole number of more than 21 digits")
        yield value


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _refuse(why: str) -> NoReturn:
    raise Refused(f"This message is refused: {why}.")
