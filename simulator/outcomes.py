"""Read any system's outcomes from JSON lines, so that they can be scored without being run here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mmrag.errors import DataError
from mmrag.metrics.protocols import TurnScore
from mmrag.records import Outcome

_OUTCOMES = {**{str(outcome): outcome for outcome in Outcome}, "correct": Outcome.PERFECT}

_MAX_LINE = 1_000_000


class _Line(msgspec.Struct):
    session_id: str
    turn_index: int
    outcome: str
    exact_match: bool = False
    is_ego: bool | None = None


def read_outcomes(path: Path) -> list[TurnScore]:
    """All turns of the file, checked: known outcomes, no turn twice, no gap."""
    turns: list[TurnScore] = []
    places: dict[tuple[str, int], int] = {}
    ego: dict[str, bool | None] = {}
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        row = _parse(line, where)
        outcome = _OUTCOMES.get(row.outcome)
        if outcome is None:
            raise DataError(
                f"{where}: unknown outcome {row.outcome!r}; write one of {', '.join(_OUTCOMES)}."
            )
        key = (row.session_id, row.turn_index)
        if key in places:
            raise DataError(
                f"{where}: turn {row.turn_index} of session {row.session_id!r} stands on line "
                f"{places[key]} already; keep one of them."
            )
        known = ego.get(row.session_id)
        if known is None:
            ego[row.session_id] = row.is_ego
        elif row.is_ego not in (None, known):
            raise DataError(
                f"{where}: is_ego of session {row.session_id!r} differs from its earlier lines; "
                "a session has one picture, so give its turns the same value, or one of them."
            )
        places[key] = number
        turns.append(
            TurnScore(
                session_id=row.session_id,
                turn_index=row.turn_index,
                outcome=outcome,
                exact=row.exact_match,
                is_ego=row.is_ego,
            )
        )
    if not turns:
        raise DataError(f"{path}: no outcomes in it; write one JSON object per line and turn.")
    _check_gaps(path, places)
    return [msgspec.structs.replace(turn, is_ego=ego[turn.session_id]) for turn in turns]


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(_MAX_LINE + 1):
                number += 1
                if len(line) > _MAX_LINE:
                    raise DataError(
                        f"{path}, line {number}: longer than {_MAX_LINE:,} bytes; "
                        "an outcome takes about a hundred."
                    )
                if line.strip():
                    yield number, line
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error


def _parse(line: bytes, where: str) -> _Line:
    try:
        row = msgspec.json.decode(line, type=_Line)
    except msgspec.ValidationError as error:
        raise DataError(
            f"{where}: {error}. "
            "A line is {session_id, turn_index, outcome, exact_match?, is_ego?}."
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{where}: not JSON ({error}); write one object per line.") from error
    if row.turn_index < 0:
        raise DataError(f"{where}: turn_index {row.turn_index} is below 0; turns count from 0.")
    return row


def _check_gaps(path: Path, places: dict[tuple[str, int], int]) -> None:
    turns: dict[str, list[int]] = {}
    for session, index in places:
        turns.setdefault(session, []).append(index)
    for session, indices in turns.items():
        indices.sort()
        first = indices[0]
        if first not in (0, 1):
            raise DataError(
                f"{path}, line {places[session, first]}: session {session!r} begins with turn "
                f"{first}; add the earlier turns, or number from 0."
            )
        for before, after in itertools.pairwise(indices):
            if after != before + 1:
                raise DataError(
                    f"{path}, line {places[session, after]}: session {session!r} jumps from turn "
                    f"{before} to {after}; add the missing turn (outcome missing or unscored)."
                )
