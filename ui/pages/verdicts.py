"""People's verdicts on Replay: what its script may ask of the server."""

from __future__ import annotations

import json
from typing import Any

from mmrag.errors import MmragError, UsageError
from simulator.people.human_verdicts import Key
from ui.pages.calls import Call, whole
from ui.render import render
from ui.replay.people_verdicts import VerdictDesk


class VerdictCalls:
    """Say, look, choose the next turn to read, export."""

    def __init__(self, desk: VerdictDesk) -> None:
        self.desk = desk

    @property
    def all(self) -> tuple[Call, ...]:
        """What Replay adds to its own calls."""
        return (self.show_verdicts, self.say_verdict, self.show_reading, self.export_verdicts)

    def show_verdicts(self, asked: dict[str, str]) -> dict[str, Any]:
        """What people say of the turns of one conversation."""
        name, session, condition, _ = _place(self._open(asked), asked)
        turns = self.desk.turns(name, session, condition, _person(asked))
        return {"turns": {str(one.index): render("verdict.html.j2", turn=one) for one in turns}}

    def say_verdict(self, asked: dict[str, str]) -> dict[str, Any]:
        """Keep a verdict, and show what people say of its conversation now."""
        name, session, condition, turn = _place(self._open(asked), asked)
        self.desk.verdicts(name).say(
            session, turn, asked.get("said", ""), person=_person(asked), degradation=condition,
            note=asked.get("note", ""), drawn=bool(asked.get("drawn")),
        )  # fmt: skip
        return self.show_verdicts(asked)

    def show_reading(self, asked: dict[str, str]) -> dict[str, Any]:
        """How far the reading of a run is, and which turn comes next."""
        name = self._open(asked)
        state = self.desk.state(name, _person(asked))
        return {
            "bar": render("reading.html.j2", state=state),
            "details": render("reading_details.html.j2", state=state, person=_person(asked)),
            "todo": [_as_dict(key) for key in state.todo],
            "second": [_as_dict(key) for key in (*state.disputed, *state.second)],
        }

    def export_verdicts(self, asked: dict[str, str]) -> dict[str, Any]:
        """The lines for `mmrag judge calibrate`, for the browser to save."""
        name = self._open(asked)
        lines = self.desk.verdicts(name).lines()
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        return {"name": f"{name}-human.jsonl", "text": text}

    def _open(self, asked: dict[str, str]) -> str:
        name = asked.get("run", "")
        if name not in self.desk.analysis.runs:
            raise MmragError(f"the run {name[:80]!r} is not open any more; choose another.")
        return name


def _place(name: str, asked: dict[str, str]) -> tuple[str, str, str, int]:
    condition = asked.get("condition") or "clean"
    return name, asked.get("session", ""), condition, whole(asked.get("turn", ""), 1) - 1


def _person(asked: dict[str, str]) -> str:
    person = " ".join(asked.get("person", "").split())[:60]
    if not person:
        raise UsageError("A verdict needs a name: say whose it is.")
    return person


def _as_dict(key: Key) -> dict[str, Any]:
    return {"session": key[0], "condition": key[1], "turn": key[2] + 1}
