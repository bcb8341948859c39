"""People's verdicts on a run: what can be read of them and done with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import ConflictError, StoreError, UsageError
from mmrag.files.atomic import atomic_path
from mmrag.records import Outcome
from simulator.people.current_verdicts import Standing, current_verdicts, leading_outcome, turn_of
from simulator.people.human_verdicts import (
    HumanOutcome,
    HumanVerdict,
    Key,
    Log,
    append,
    check_there,
    make_verdict,
    read_log,
)
from simulator.people.people_agreement import PeopleAgreement, agreement
from simulator.store.run_reader import RunReader


class RunHumanVerdicts:
    """What people said of a run's replies. Both kinds are kept: no judge's verdict is touched.

    ::

        run = load_run("runs/mine")
        run.verdicts.say("s001", 0, "wrong", person="anna", note="another street")
        run.verdicts.agreement()
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def log(self) -> Log:
        """Everything that was ever said, in the order it was said."""
        return read_log(self.folder)

    def standing(self) -> Standing:
        """Turn → person → latest word. What was said of a reply that is gone does not stand."""
        with RunReader(self.folder) as run:
            return current_verdicts(run)

    def say(
        self,
        session_id: str,
        turn_index: int,
        said: HumanOutcome | str,
        *,
        person: str,
        degradation: str = "clean",
        note: str = "",
    ) -> HumanVerdict:
        """Give a verdict: right, wrong, missing, unsure, or withdrawn to take back one's own."""
        key = (session_id, degradation, turn_index)
        check_there(self.folder)
        with RunReader(self.folder) as run:
            reply = _reply(run, key)
        verdict = make_verdict(key, said, person=person, reply=reply, note=note)
        append(self.folder, verdict)
        return verdict

    def agreement(self) -> PeopleAgreement:
        """How far people agree with each other, and the judge with them."""
        with RunReader(self.folder) as run:
            judged = {
                (turn.session_id, turn.degradation, turn.turn_index): _outcome(turn.verdict.outcome)
                for turn in run.results()
                if turn.verdict is not None and turn.verdict.outcome is not Outcome.UNSCORED
            }
            return agreement(current_verdicts(run), judged)

    def lines(self) -> list[dict[str, Any]]:
        """The decided turns as `mmrag judge calibrate` reads them."""
        with RunReader(self.folder) as run:
            found = [
                _line(run, key, outcome, people)
                for key, people in current_verdicts(run).items()
                if (outcome := leading_outcome(people))
            ]
        if not found:
            raise UsageError(f"{self.folder}: people have decided nothing yet; there is no line.")
        return found

    def export(self, path: str | Path) -> int:
        """Write the decided turns as lines for `mmrag judge calibrate`. Returns their number."""
        target, lines = Path(path), self.lines()
        if target.exists():
            raise ConflictError(f"{target} exists already; choose another name or remove it.")
        try:
            with atomic_path(target) as temporary:
                temporary.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in lines))
        except OSError as error:
            raise StoreError(
                f"{target}: cannot be written ({error.strerror}). Choose another place."
            ) from error
        return len(lines)

    def __repr__(self) -> str:
        found = self.agreement()
        names = ", ".join(f"{name} {n}" for name, n in found.people.items()) or "nobody yet"
        return f"{found.decided} turns decided by people ({names})"


def _line(
    run: RunReader, key: Key, outcome: str, people: dict[str, HumanVerdict]
) -> dict[str, Any]:
    turn = next(t for t in run.session(key[0], key[1]).turns if t.index == key[2])
    result = turn_of(run, key)
    assert result is not None
    assert result.reply is not None
    verdict = result.verdict
    return {
        "id": f"{key[0]}/{key[1]}/{key[2]}",
        "session_id": key[0],
        "degradation": key[1],
        "turn_index": key[2],
        "question": turn.query,
        "references": list(turn.reference.all_texts),
        "prediction": result.reply.text,
        "human_outcome": {"correct": "perfect"}.get(outcome, outcome),
        "people": {who: str(v.said) for who, v in people.items()},
        "notes": {who: v.note for who, v in people.items() if v.note},
        "outcome": str(verdict.outcome) if verdict else None,
        "judge": verdict.judge if verdict else None,
    }


def _outcome(outcome: Outcome) -> str:
    return "correct" if outcome.is_correct else str(outcome)


def _reply(run: RunReader, key: Key) -> str:
    turn = turn_of(run, key)
    if turn is None:
        run.session(key[0], key[1])  # says which sessions and conditions there are
        raise UsageError(f"session {key[0]!r} has no turn {key[2] + 1} that was asked.")
    if turn.reply is None:
        raise UsageError(f"turn {key[2] + 1} of {key[0]!r} has no reply to judge ({turn.status}).")
    return turn.reply.text
