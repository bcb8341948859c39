"""Any system's turns from a file, so that they can be scored without being run here.

A line holds an outcome, or a reply with its question and references, or both. The result rows of
both public kits are such lines: `is_correct`, where it is there, is their judge's word.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec

from mmrag.errors import DataError
from mmrag.metrics.scoring_protocols import TurnScore
from mmrag.records import NOT_ASKED, NOTHING_TO_JUDGE, JudgeItem, Outcome, Status, Vote
from simulator.datasets.result_lines import ResultRow, read_rows
from simulator.run.results.kit_scoring import TurnToScore
from simulator.store.run_table import COLUMNS, OWN

_OUTCOMES = {
    **{str(outcome): outcome for outcome in Outcome},
    "correct": Outcome.PERFECT,
    NOT_ASKED: Outcome.UNSCORED,
}

_OURS = ("session_id", "outcome", "is_ego", "id", "score", "reason", "judge", "votes")
_KITS = (
    "interaction_id", "interaction_id_history", "image_quality", "query_category", "domain",
    "dynamism", "total_turn_count", "is_correct", "is_miss", "is_semantically_correct",
    "api_response",
)  # fmt: skip
_KNOWN = frozenset((*_OURS, *_KITS, *COLUMNS))


def read_turns(path: Path, *, several: bool = False) -> list[TurnToScore]:
    """All turns of the file, checked: known fields and outcomes, no turn twice, no gap.

    With `several` the same sessions may stand there under several conditions, as in the export of a
    run that has them. Without, that is refused: they are no more conversations of one score.
    """
    found: list[TurnToScore] = []
    places: dict[tuple[str, str, int], int] = {}
    ego: dict[str, bool | None] = {}
    for row in read_rows(path):
        said = _said(row)
        turn = said.turn
        key = (turn.session_id, condition_of(row), turn.turn_index)
        if key in places:
            raise DataError(
                f"{row.where}: turn {turn.turn_index} of session {turn.session_id!r} stands on "
                f"line {places[key]} already; keep one of them."
            )
        known = ego.get(turn.session_id)
        if known is None:
            ego[turn.session_id] = turn.is_ego
        elif turn.is_ego not in (None, known):
            raise DataError(
                f"{row.where}: is_ego of session {turn.session_id!r} differs from its earlier "
                "lines; a session has one picture, so give its turns the same value, or one of "
                "them."
            )
        places[key] = row.number
        found.append(said)
    if not found:
        raise DataError(f"{path}: no outcomes in it; write one JSON object per line and turn.")
    conditions = sorted({condition for _, condition, _ in places})
    if len(conditions) > 1 and not several:
        raise DataError(
            f"{path}: holds {len(conditions)} conditions ({', '.join(conditions)[:200]}). Keep "
            "one, or bring the file in with `mmrag import` and score that run."
        )
    _check_gaps(path, places)
    return [
        msgspec.structs.replace(
            said, turn=msgspec.structs.replace(said.turn, is_ego=ego[said.turn.session_id])
        )
        for said in found
    ]


def condition_of(row: ResultRow) -> str:
    """What was done to the picture that a line was asked about."""
    return str(row.get("degradation") or "clean")


def _said(row: ResultRow) -> TurnToScore:
    row.check(_KNOWN.union(name for name in row.given if name.startswith(OWN)))
    index = row.whole("turn_index")
    if index < 0:
        raise DataError(f"{row.where}: turn_index {index} is below 0; turns count from 0.")
    outcome, item = _outcome(row), _item(row)
    if outcome is None and item is None:
        row.text("outcome")  # refuses the line
    turn = TurnScore(
        session_id=row.text("session_id"),
        turn_index=index,
        outcome=outcome or Outcome.UNSCORED,
        exact=bool(row.flag("exact_match")),
        votes=_votes(row),
        is_ego=row.flag("is_ego"),
        skipped=row.get("outcome") == NOT_ASKED or row.get("status") == Status.SKIPPED_AFTER_STOP,
        failed=str(row.get("status")) in NOTHING_TO_JUDGE,
        domain=_word(row, "domain"),
        query_type=_word(row, "query_type") or _word(row, "query_category"),
        dynamism=_word(row, "dynamism"),
    )
    return TurnToScore(turn=turn, item=item, is_judged=outcome is not None)


def _word(row: ResultRow, name: str) -> str:
    """A dimension where the line has it; the kits' rows hold numbers in some."""
    value = row.get(name)
    return "" if value is None else str(value)


def _outcome(row: ResultRow) -> Outcome | None:
    """What the line says of its reply; None where it leaves that to a judge."""
    if "outcome" in row:
        name = row.text("outcome")
        if name not in _OUTCOMES:
            raise DataError(
                f"{row.where}: unknown outcome {name!r}; write one of {', '.join(_OUTCOMES)}."
            )
        return _OUTCOMES[name]
    if "is_correct" not in row:
        return None
    correct = row.flag("is_correct")
    if correct is None:  # the kit's judge gave no verdict
        return Outcome.UNSCORED
    if correct:
        return Outcome.PERFECT
    return Outcome.MISSING if row.flag("is_miss") else Outcome.INCORRECT


def _votes(row: ResultRow) -> tuple[Outcome, ...]:
    """A panel's votes, as `mmrag judge` writes them."""
    votes = row.get("votes")
    if not votes:
        return ()
    try:
        found = msgspec.convert(votes, list[Vote])
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise DataError(f"{row.where}: 'votes' is not a list of votes ({error}).") from error
    return tuple(vote.outcome for vote in found)


def _item(row: ResultRow) -> JudgeItem | None:
    """The reply, where the line holds all that a judge needs, or has to hold it."""
    there = [name in row for name in ("question", "references", "prediction")]
    is_told = "outcome" in row or "is_correct" in row
    if is_told and (not all(there) or row.get("prediction") is None):
        return None
    return row.item() if any(there) else None


def _check_gaps(path: Path, places: dict[tuple[str, str, int], int]) -> None:
    turns: dict[tuple[str, str], list[int]] = {}
    for session, condition, index in places:
        turns.setdefault((session, condition), []).append(index)
    for (session, condition), indices in turns.items():
        indices.sort()
        first = indices[0]
        if first not in (0, 1):
            raise DataError(
                f"{path}, line {places[session, condition, first]}: session {session!r} begins "
                f"with turn {first}; add the earlier turns, or number from 0."
            )
        for before, after in itertools.pairwise(indices):
            if after != before + 1:
                raise DataError(
                    f"{path}, line {places[session, condition, after]}: session {session!r} jumps "
                    f"from turn {before} to {after}; add the missing turn (outcome missing or "
                    "unscored)."
                )
