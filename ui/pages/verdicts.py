"""People's verdicts on Replay: what its script may ask of the server."""

from __future__ import annotations

from typing import Any

from mmrag.errors import MmragError, UsageError
from ui.pages.script_calls import Call, whole
from ui.render import render
from ui.replay.people_verdicts import VerdictEditor, judged_otherwise


class VerdictCalls:
    """Say, and look at what was said."""

    def __init__(self, desk: VerdictEditor) -> None:
        self.desk = desk

    @property
    def all(self) -> tuple[Call, ...]:
        """What Replay adds to its own calls."""
        return (self.show_verdicts, self.say_verdict)

    def show_verdicts(self, asked: dict[str, str]) -> dict[str, Any]:
        """What people say of the turns of one conversation."""
        name, session, condition, _ = _place(self._open(asked), asked)
        turns = self.desk.turns(name, session, condition, _person(asked))
        return {
            "turns": {str(one.index): render("verdict.html.j2", turn=one) for one in turns},
            "otherwise": judged_otherwise(self.desk.analysis.runs[name].run, (session,)),
        }

    def say_verdict(self, asked: dict[str, str]) -> dict[str, Any]:
        """Keep a verdict, and show what people say of its conversation now."""
        name, session, condition, turn = _place(self._open(asked), asked)
        self.desk.verdicts(name).say(
            session, turn, asked.get("said", ""), person=_person(asked), degradation=condition,
            note=asked.get("note", ""),
        )  # fmt: skip
        return self.show_verdicts(asked)

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
