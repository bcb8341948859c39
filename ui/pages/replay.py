"""Replay: choose a run, narrow it down, and watch a conversation happen.

The page is one part of Gradio's whose script asks the server for what it shows; stepping through
a conversation happens in the browser, which has been sent all its turns.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from simulator.people.current_verdicts import current_verdicts
from ui.pages.script_calls import Call, calls, whole
from ui.render import render
from ui.replay.conversation_list import ConversationList, Filter, ListedConversation, first_turn
from ui.replay.conversation_view import conversation
from ui.replay.people_verdicts import judged_otherwise
from ui.replay.turn_record import turn_record

PAGE = 40
"""Conversations that are listed at once; the list grows as it is scrolled."""


class Replay:
    """The page with what its script may ask."""

    def __init__(self, runs: MutableMapping[str, ConversationList], *more: Call) -> None:
        self.runs = runs
        self._more = more
        """What others add to the page: verdicts."""

    def build(self) -> None:
        """Put the page into the surrounding Blocks."""
        gr.HTML(
            render("replay.html.j2"),
            js_on_load="mmrag.verdicts(element, server); mmrag.replay(element, server)",
            server_functions=calls(
                self.open_replay, self.list_conversations, self.show_conversation,
                self.show_record, self.follow_run, *self._more,
            ),
            elem_id="mm-replay", elem_classes="mm-root", apply_default_css=False,
        )  # fmt: skip

    def open_replay(self, asked: dict[str, str]) -> dict[str, Any]:
        """What an address asks for: the run's list and a conversation, else the first ones."""
        condition = asked.get("condition") or asked.get("degradation", "")  # as links had it before
        asked = {**asked, "condition": condition}
        wanted = asked.get("run", "")
        name = wanted if wanted in self.runs else next(iter(self.runs), "")
        if not name:
            return {"view": render("empty.html.j2", what="runs"), "list": "", "runs": [], "run": ""}
        catalogue = self.runs[name]
        catalogue.reread()
        problem = ""
        if wanted not in ("", name):
            problem = (
                f"No opened run is called {wanted[:80]!r}; this is {name!r}. "
                "Name its folder when you start mmrag ui to have it here."
            )
            asked = {}
        here, trouble = self._wanted(catalogue, asked)
        return {
            "run": name,
            "runs": list(self.runs),
            "filters": render("filters.html.j2", choices=catalogue.choices(), asked=asked),
            **self._list(catalogue, asked, here),
            **self._conversation(name, here, asked, problem or trouble),
            "version": catalogue.version,
            "finished": catalogue.finished,
        }

    def list_conversations(self, asked: dict[str, str]) -> dict[str, Any]:
        """The conversations that the filters leave, from an offset or around the one looked at."""
        catalogue = self._catalogue(asked)
        return self._list(catalogue, asked, asked.get("session", ""))

    def show_conversation(self, asked: dict[str, str]) -> dict[str, Any]:
        """One conversation under one condition."""
        catalogue = self._catalogue(asked)
        here, trouble = self._wanted(catalogue, asked)
        return self._conversation(asked.get("run", ""), here, asked, trouble)

    def show_record(self, asked: dict[str, str]) -> dict[str, Any]:
        """Everything that the run keeps of one turn, as JSON for people."""
        run = self._catalogue(asked).run
        return turn_record(
            run, asked.get("session", ""), _condition(asked), whole(asked.get("turn", ""), 1) - 1
        )

    def follow_run(self, asked: dict[str, str]) -> dict[str, Any]:
        """While a run is being written: what is new to this tab, and nothing where nothing is."""
        catalogue = self._catalogue(asked)
        catalogue.refresh()
        told = {"version": catalogue.version, "finished": catalogue.finished}
        if catalogue.version == whole(asked.get("version", "")):
            return told
        here, _ = self._wanted(catalogue, asked)
        found: dict[str, Any] = {**told, **self._list(catalogue, asked, "")}
        row = catalogue.get(here, _condition(asked))
        if not asked.get("session") or (row and "".join(row.outcomes) != asked.get("outcomes")):
            found |= self._conversation(asked["run"], here, asked, "")
        return found

    def _catalogue(self, asked: dict[str, str]) -> ConversationList:
        name = asked.get("run", "")
        if name not in self.runs:
            raise MmragError(f"the run {name[:80]!r} is not open any more; choose another.")
        return self.runs[name]

    def _wanted(self, catalogue: ConversationList, asked: dict[str, str]) -> tuple[str, str]:
        """The conversation that is asked for, and what is wrong with asking for it."""
        session, condition = asked.get("session", ""), asked.get("condition", "")
        there = catalogue.conversation(session)
        if there and (not condition or catalogue.get(session, condition)):
            return session, ""
        if there:
            known = ", ".join(row.degradation for row in there.rows)
            return session, f"{session!r} was not run under {condition[:80]!r}, only under {known}."
        found = catalogue.find_conversations(self._filter(catalogue, asked))
        first = found[0].session_id if found else ""
        if not session:
            return first, ""
        return first, f"This run has no session {session[:80]!r}; here is its first one."

    def _filter(self, catalogue: ConversationList, asked: dict[str, str]) -> Filter:
        keys = catalogue.flipped(asked["flipped"]) if asked.get("flipped") else None
        if asked.get("people"):
            people = frozenset(key[:2] for key in current_verdicts(catalogue.run))
            keys = people if keys is None else keys & people
        return Filter(
            outcome=asked.get("outcome", ""),
            quality=asked.get("quality", ""),
            kind=asked.get("kind", ""),
            severity=asked.get("severity", ""),
            domain=asked.get("domain", ""),
            query_type=asked.get("type", ""),
            meta=asked.get("meta", ""),
            stopped=bool(asked.get("stopped")),
            text=asked.get("text", ""),
            keys=keys,
        )

    def _list(
        self, catalogue: ConversationList, asked: dict[str, str], here: str
    ) -> dict[str, Any]:
        wanted = self._filter(catalogue, asked)
        found = catalogue.find_conversations(wanted)
        offset = whole(asked.get("offset", ""), -1)
        if offset < 0:
            offset = _page_of(found, here)
        count = max(PAGE, min(whole(asked.get("count", "")), 10 * PAGE))
        shown = found[offset : offset + count]
        page = render(
            "sessions.html.j2",
            rows=shown,
            first=offset,
            total=len(found),
            of=len(catalogue.by_session),
            filtered=wanted != Filter(),
            finished=catalogue.finished,
            unsaid=catalogue.unsaid,
            page=PAGE,
        )
        return {
            "list": page,
            "first": found[0].session_id if found else "",
            "total": len(found),
            "otherwise": judged_otherwise(catalogue.run, {one.session_id for one in shown}),
        }

    def _conversation(
        self, name: str, session: str, asked: dict[str, str], problem: str
    ) -> dict[str, Any]:
        catalogue = self.runs[name]
        there = catalogue.conversation(session)
        if there is None:
            words = "This run has no conversation so far. It appears here with its first turn."
            if len(catalogue):
                words = "Clear a filter to see conversations again."
            return {
                "view": render("message.html.j2", title="Nothing to show", words=words),
                "session": "", "condition": "",
            }  # fmt: skip
        row = catalogue.get(session, _condition(asked))
        if row is None or not asked.get("condition"):
            found = catalogue.find_conversations(self._filter(catalogue, asked))
            matching = next((one for one in found if one.session_id == session), there)
            row = row if row and row.degradation in matching.found else matching.first
        chosen = {
            "session": session,
            "condition": row.degradation,
            "outcomes": "".join(row.outcomes),
        }
        try:
            view = conversation(catalogue.run, name, session, row.degradation, catalogue.unsaid)
        except MmragError as error:
            page = render("message.html.j2", title="This conversation cannot be read", words=error)
            return {"view": page, **chosen}
        kinds = {box.kind for box in view.overlays}
        kinds |= {box.kind for one in view.turns for box in one.overlays}
        wanted = whole(asked.get("turn", "")) or first_turn(row, asked.get("outcome", ""))
        turn = min(max(wanted - 1, 0), max(len(view.turns) - 1, 0))
        page = render(
            "conversation.html.j2",
            view=view,
            rows=there.rows,
            current=turn,
            kinds=kinds,
            thumbnails=catalogue.has_thumbnails,
        )
        return {
            "view": (render("notice.html.j2", words=problem) if problem else "") + page,
            **chosen,
        }


def _condition(asked: dict[str, str]) -> str:
    return asked.get("condition") or "clean"


def _page_of(found: list[ListedConversation], session: str) -> int:
    for place, one in enumerate(found):
        if one.session_id == session:
            return place // PAGE * PAGE
    return 0
