"""What Replay shows of people's verdicts on a turn, without Gradio."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from mmrag.records import outcome_of
from simulator.application.run_human_verdicts import RunHumanVerdicts
from simulator.people.current_verdicts import current_verdicts
from simulator.people.human_verdicts import HumanVerdict, Key
from simulator.store.run_reader import RunReader
from ui.replay.run_figures import RunFigures

Otherwise = dict[str, dict[str, dict[str, list[tuple[str, str]]]]]
"""Session → condition → place of the mark → who said what."""


class PersonVerdict(msgspec.Struct, frozen=True):
    """What one person says of a turn."""

    person: str
    said: str
    note: str
    when: str
    mine: bool
    earlier: tuple[HumanVerdict, ...]
    """Words of the same person before this one; they are kept too."""


class TurnVerdicts(msgspec.Struct, frozen=True):
    """What people say of one turn."""

    index: int
    words: tuple[PersonVerdict, ...]
    mine: str
    """What the visitor says; empty for nothing."""
    note: str
    """The visitor's note."""


class VerdictEditor:
    """Reads and writes people's verdicts of the opened runs."""

    def __init__(self, analysis: RunFigures) -> None:
        self.analysis = analysis

    def verdicts(self, name: str) -> RunHumanVerdicts:
        """Those of one run."""
        return RunHumanVerdicts(self.analysis.runs[name].run.folder)

    def turns(self, name: str, session: str, condition: str, person: str) -> list[TurnVerdicts]:
        """What people say of the turns of one conversation."""
        run = self.analysis.runs[name].run
        standing = current_verdicts(run, (session,))
        said: dict[tuple[Key, str], list[HumanVerdict]] = {}
        for verdict in self.verdicts(name).log().verdicts:
            said.setdefault((verdict.key, verdict.person), []).append(verdict)
        found: list[TurnVerdicts] = []
        for result in run.turns(session, condition):
            if result.reply is None:
                continue
            key = (session, condition, result.turn_index)
            people = standing.get(key, {})
            words = tuple(
                _word(verdict, person, tuple(said[key, who][:-1]))
                for who, verdict in people.items()
            )
            own = people.get(person)
            found.append(
                TurnVerdicts(
                    result.turn_index, words,
                    mine=str(own.said) if own else "", note=own.note if own else "",
                )
            )  # fmt: skip
        return found


def judged_otherwise(run: RunReader, sessions: Collection[str]) -> Otherwise:
    """Who decided otherwise than the judge, in these sessions; each is there, if only empty."""
    found: Otherwise = {session: {} for session in sessions}
    standing = current_verdicts(run, sessions)
    for session, condition in {key[:2] for key in standing}:
        settled = [result for result in run.turns(session, condition) if not result.step]
        for place, result in enumerate(settled):
            outcome = outcome_of(result)
            judged = "correct" if outcome.is_correct else str(outcome)
            people = standing.get((session, condition, result.turn_index), {})
            if said := [
                (who, str(one.said))
                for who, one in people.items()
                if one.said.outcome not in ("", judged)
            ]:
                found[session].setdefault(condition, {})[str(place)] = said
    return found


def _word(verdict: HumanVerdict, person: str, earlier: tuple[HumanVerdict, ...]) -> PersonVerdict:
    when = verdict.at.replace("T", " ")[:16]
    mine = verdict.person == person
    return PersonVerdict(verdict.person, str(verdict.said), verdict.note, when, mine, earlier)
