"""What Replay shows of people's verdicts, without Gradio: on a turn, and how far reading is."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import msgspec

from mmrag.metrics.headline import HEADLINE
from simulator.application.run_verdicts import Verdicts
from simulator.people.agreement import PeopleAgreement, agreement
from simulator.people.current_verdicts import Standing, agreed, standing_in
from simulator.people.human_verdicts import HumanVerdict, Key
from simulator.people.judged import JudgedTurn, judged_turns
from simulator.people.queue import SIZE, draw
from simulator.reports.certainty.by_people import known_from, with_people
from simulator.reports.figures.headline import headline
from simulator.reports.figures.report import HOW, main_condition
from simulator.reports.read.frame import Frame
from ui.replay.analysis import Analysis
from ui.replay.catalogue import Catalogue

MOST_KEPT = 4
"""Runs whose verdicts are held in memory besides the one that is read."""


class PersonWord(msgspec.Struct, frozen=True):
    """What one person says of a turn."""

    person: str
    said: str
    note: str
    when: str
    mine: bool
    earlier: tuple[HumanVerdict, ...]
    """Words of the same person before this one; they are kept too."""


class TurnWords(msgspec.Struct, frozen=True):
    """What people say of one turn."""

    index: int
    words: tuple[PersonWord, ...]
    mine: str
    """What the visitor says; empty for nothing."""
    note: str
    """The visitor's note."""
    queued: str
    """Why the queue drew this turn; empty where it did not."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """How far the reading of a run is, and what it comes to."""

    size: int
    read: int
    """Turns of the queue that anybody has read."""
    todo: tuple[Key, ...]
    """What the visitor has not read yet, in order."""
    second: tuple[Key, ...]
    """What another person has read and the visitor has not."""
    disputed: tuple[Key, ...]
    agreement: PeopleAgreement
    unreadable: int
    condition: str
    judged: Mapping[str, Any] | None
    corrected: Mapping[str, Any] | None


class VerdictDesk:
    """Reads and writes people's verdicts of the opened runs."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._judged: dict[str, tuple[Catalogue, int, list[JudgedTurn], list[JudgedTurn]]] = {}
        self._rated: dict[str, tuple[Frame, dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def verdicts(self, name: str) -> Verdicts:
        """Those of one run."""
        return Verdicts(self.analysis.runs[name].run.folder)

    def turns(self, name: str, session: str, condition: str, person: str) -> list[TurnWords]:
        """What people say of the turns of one conversation."""
        run = self.analysis.runs[name].run
        standing = standing_in(run)
        said: dict[tuple[Key, str], list[HumanVerdict]] = {}
        for verdict in self.verdicts(name).log().verdicts:
            said.setdefault((verdict.key, verdict.person), []).append(verdict)
        drawn = {turn.key: turn for turn in self._queue(name)}
        found: list[TurnWords] = []
        for result in run.turns(session, condition):
            if result.reply is None:
                continue
            key = (session, condition, result.turn_index)
            people = standing.get(key, {})
            words = tuple(
                _word(verdict, person, tuple(said[key, who][:-1]))
                for who, verdict in people.items()
            )
            own, place = people.get(person), drawn.get(key)
            found.append(
                TurnWords(
                    result.turn_index, words,
                    mine=str(own.said) if own else "", note=own.note if own else "",
                    queued=(place.doubt or f"a sample of what was judged {place.outcome}")
                    if place else "",
                )
            )  # fmt: skip
        return found

    def state(self, name: str, person: str) -> State:
        """How far the reading is."""
        judged, queue = self._turns(name), self._queue(name)
        standing = standing_in(self.analysis.runs[name].run)
        found = agreement(standing, {turn.key: turn.outcome for turn in judged})
        return State(
            size=len(queue),
            read=sum(turn.key in standing for turn in queue),
            todo=tuple(t.key for t in queue if person not in standing.get(t.key, {})),
            second=tuple(
                t.key for t in queue if t.key in standing and person not in standing[t.key]
            ),
            disputed=tuple(key for key, people in standing.items() if _disputed(people)),
            agreement=found,
            unreadable=self.verdicts(name).log().unreadable,
            **self._rates(name, standing, judged),
        )

    def _rates(self, name: str, standing: Standing, judged: list[JudgedTurn]) -> dict[str, Any]:
        frame = self.analysis.frame(name)
        condition = main_condition(frame)
        rows = frame.condition(condition)
        with self._lock:  # for all visitors once: resampling takes tens of megabytes
            kept = self._rated.get(name)
            if kept is None or kept[0] is not frame:
                kept = (frame, headline(frame, rows, HOW)["strict"][HEADLINE])
                self._rated = {**dict(list(self._rated.items())[-MOST_KEPT:]), name: kept}
        rates = kept[1]
        known = known_from(standing, judged) if standing else None
        corrected = with_people(frame, rows, known, HOW)
        return {"condition": condition, "judged": rates, "corrected": corrected}

    def _queue(self, name: str) -> list[JudgedTurn]:
        return self._read(name)[1]

    def _turns(self, name: str) -> list[JudgedTurn]:
        return self._read(name)[0]

    def _read(self, name: str) -> tuple[list[JudgedTurn], list[JudgedTurn]]:
        """The judge's turns and those to be read, made again when the run has grown."""
        catalogue = self.analysis.runs[name]
        catalogue.reread()
        with self._lock:
            known = self._judged.get(name)
            if known is None or known[0] is not catalogue or known[1] != catalogue.version:
                turns = judged_turns(catalogue.run)
                known = (catalogue, catalogue.version, turns, draw(turns, SIZE))
                self._judged = {**dict(list(self._judged.items())[-MOST_KEPT:]), name: known}
            return known[2:]


def _disputed(people: Mapping[str, HumanVerdict]) -> bool:
    return not agreed(people) and sum(bool(v.said.outcome) for v in people.values()) > 1


def _word(verdict: HumanVerdict, person: str, earlier: tuple[HumanVerdict, ...]) -> PersonWord:
    when = verdict.at.replace("T", " ")[:16]
    mine = verdict.person == person
    return PersonWord(verdict.person, str(verdict.said), verdict.note, when, mine, earlier)
