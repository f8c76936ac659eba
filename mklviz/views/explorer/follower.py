"""A page that follows another page's race, ``?follow=NAME``: the same recording, with axes and a cursor of its own.

It draws the traces of the race and takes over the answer to its lesson, so that a class costs one solve, and can
neither pause nor stop it. When the leader has left, the recording stays.
"""

from __future__ import annotations

from time import monotonic
from typing import Any
from urllib.parse import urlencode

import panel as pn
import panel_material_ui as pmui

from mklviz.language import LANGUAGE
from mklviz.views.explorer.page import TICK, Header, build_page, status_html
from mklviz.views.explorer.page_recovery import SHARED_RACES, SharedRace
from mklviz.views.explorer.shell import Shell
from mklviz.views.form import Form, Heading
from mklviz.views.host.page_session import Reconnect, follow_session, owner_of_page
from mklviz.views.host.panel_setup import served
from mklviz.views.host.ticks import Ticks, in_parts
from mklviz.views.lessons.stage import LessonStage
from mklviz.views.links import FOLLOW
from mklviz.views.links.link import GUESS, ON, PROJECTOR, SCENARIO, query_value
from mklviz.views.look import cards
from mklviz.views.race.race_text import WORDS_EVERY
from mklviz.views.race.results import race_sentence
from mklviz.views.session.session import LessonResult, Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.scenario_panel import LessonPanel

LEADS = "This page follows another page's race. Axes, zoom and the timeline are yours; the race is not."
WAITS = "The leader has not started a race yet: it appears here when there is one."
OVER = "The leader has closed the race. Its recording stays here until you close this page."
UNKNOWN = "This race has ended, or the link is incomplete."
COUNTED = "Your answer is counted."
LATE = "The race has begun: this answer is not counted."
ALONE = "A dashboard of your own opens at this address without what follows the question mark."


class Follower:
    """A follower's page: `message` says what the leader does, `lesson` is the leader's, with an own guess.

    `counted` says that the guess is among the answers of the class.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.session = Session(follows=True, owner=owner_of_page())
        self.shell = Shell(self.session)
        self.reconnect = Reconnect()
        self.header = Header(self.session, {})
        self.message, self.counted = note(), note(spoken=True)
        self.lesson: LessonPanel | None = None
        self._result: LessonResult | None = None
        self.stage: LessonStage | None = None
        self._stage_box = pn.Column(sizing_mode="stretch_width", margin=0)
        self._side = Form(Heading(object="Following"), self.message, note(ALONE, small=True))
        self._main = pn.Column(self._stage_box, self.shell.root, sizing_mode="stretch_width", margin=0)
        self._described_at = 0.0
        self._ticks = Ticks(TICK, self.tick, idles=True)
        self.session.param.watch(self._tell_address, "theme")
        self.session.param.watch(self._paint, "theme")
        self._paint()
        self._look()

    def _look(self) -> None:
        """Follow the race that the leader views."""
        shared = SHARED_RACES.find(self._name)
        if shared is None:
            say(self.message, UNKNOWN if self.session.race is None else OVER)
            return
        self._look_at_lesson(shared)
        if shared.session.race is None:
            say(self.message, WAITS)
            if shared.session.gives_way and self.session.race is not None:
                self.session.clear()
            return
        say(self.message, LEADS)
        if self.session.race is not shared.session.race:
            self.session.take(shared.session)

    def _look_at_lesson(self, shared: SharedRace) -> None:
        """Follow the leader's lesson and its answer."""
        led = shared.session
        scenario = led.scenario
        if scenario is None:
            return
        if self.lesson is None or self.lesson.scenario is not scenario:
            begins = self.lesson is None
            self.lesson = LessonPanel(scenario)
            if begins and query_value(SCENARIO) == scenario.name:
                self.lesson.choose(query_value(GUESS))
            self.lesson.guess.param.watch(self._tell_address, "value")
            self.lesson.guess.param.watch(self._answer, "value")
            self.stage = LessonStage(self.session, self.lesson, {}, self.counted)
            self._stage_box.objects = [self.stage.root]
            self._result = None
            self._tell_address()
            self._say_counted(shared)
        if led.lesson_result != self._result:
            self._result = self.session.lesson_result = led.lesson_result
            self.lesson.show_result(self._result)
        self.lesson.open = scenario.question is not None and led.lesson_open

    def _answer(self, event: Any) -> None:
        """Count the guess among the answers of the class, if that has not seen the race."""
        shared = SHARED_RACES.find(self._name)
        if shared is None or self.lesson is None or event.new is None:
            return
        if shared.session.race is None:
            shared.answers.give(self.lesson.scenario, self._visitor, event.new)
            shared.wake()
        self._say_counted(shared, LATE)

    def _say_counted(self, shared: SharedRace, otherwise: str = "") -> None:
        if self.lesson is not None:
            guess = self.lesson.scenario.name, self._visitor, self.lesson.guess.value
            told = COUNTED if shared.answers.has(*guess) else otherwise
            say(self.counted, self.lesson.page_language(told))

    @property
    def _visitor(self) -> str:
        """Who answers: this browser, or this page where the server does not tell browsers apart."""
        return self.session.owner.name or self.reconnect.page_id

    def _tell_address(self, *_: Any) -> None:
        """Keep guess and size in the address of the page, where a reload finds them."""
        query = {FOLLOW: self._name, PROJECTOR: ON if self.session.theme.projected else ""}
        query[LANGUAGE] = query_value(LANGUAGE)
        if self.lesson is not None and self.lesson.chosen:
            query |= {SCENARIO: self.lesson.scenario.name, GUESS: self.lesson.chosen}
        self.reconnect.query = "?" + urlencode({name: value for name, value in query.items() if value})

    async def tick(self) -> None:
        now = monotonic()
        self._look()
        if now - self._described_at >= WORDS_EVERY:
            self._described_at = now
            race = self.session.race
            self.header.status.object = status_html("No race yet." if race is None else race_sentence(race))
        if self.stage is not None:
            self.stage.tick()
        self.shell.tick(now)

    def set_dark(self, dark: bool) -> None:
        """Use the colours for dark or light pages."""
        self.session.set_dark(dark)

    def _paint(self, *_: Any) -> None:
        """Apply colours and size to what stands around the tabs."""
        sheet = cards.variables(self.session.theme)
        for box in (self._side, self._main):
            box.stylesheets = [sheet]

    def page(self) -> pmui.Page:
        """Return the page to serve; to be called once in each session."""
        side = [pn.Column(self._side, margin=(0, 14))]
        page = build_page([self.header.status, self.reconnect], self.header, side, self._main, self.set_dark)
        follow_session(self._ticks.start, self.close)
        in_parts(served(page))
        return page

    def close(self) -> None:
        """The session is over; the race is not this page's to end."""
        self._ticks.stop()
        self.shell.close()
