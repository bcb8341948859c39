"""A run as it is read, finished or not: by one writer's side, or long after."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from mmrag.errors import MmragError, StoreError
from mmrag.metrics.measure_records import Measurement
from mmrag.protocols import Completion
from mmrag.records import Session, Status, TurnResult, Verdict, decode_as
from simulator.store import loss_detection, store_schema
from simulator.store.run_pictures import ImageFolder

T = TypeVar("T")

_PAGE = 500  # rows that a list takes at a time


class Changes(NamedTuple):
    """A page of what `RunReader.changes_since` found."""

    sessions: list[tuple[int, str, str, bytes]]
    """Position, session id, degradation, JSON of the session."""
    marks: dict[tuple[str, str], list[str]]
    """All turns' outcomes (or statuses) of every conversation that gained or changed one."""
    session_row: int
    turn_row: int


_WEIGHED = ("value", "weight")


class RunReader:
    """Read a run, finished or not. Opens without a lock and never writes. Old schema versions open
    too: they are read through an in-memory copy brought up to date."""

    def __init__(self, folder: str | Path) -> None:
        self._open(folder, checked=False)

    def _open(self, folder: str | Path, *, checked: bool) -> None:
        self.folder = Path(folder).absolute()  # an agent may change the working directory
        path = self.folder / store_schema.FILE
        if not path.is_file():
            raise StoreError(
                f"{self.folder} is not a run (there is no {store_schema.FILE} in it). "
                "Give the folder that `mmrag run --out` wrote."
            )
        self._db = store_schema.open_for_reading(path, checked=checked)
        self._db_lock = threading.Lock()
        self.images = ImageFolder(self.folder / "images")

    def meta(self, key: str) -> Any:
        """A value of the run's own record (`config`, `provenance`, `judge`, ...), or None."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return _record(Any, rows[0][0]) if rows else None

    def turn_counts(self) -> dict[str, int]:
        """Status → number of turns."""
        return dict(
            self._rows("SELECT status, COUNT(*) FROM turns GROUP BY status ORDER BY status")
        )

    def reply_count(self, *, to_judge: bool = True) -> int:
        """Number of turns that have a reply; `to_judge`: and a reference to judge it by."""
        ((count,),) = self._rows(
            "SELECT COUNT(*) FROM turns "
            "WHERE json_extract(CAST(result AS TEXT), '$.reply') IS NOT NULL "
            + f"AND status != '{Status.DATA_ERROR}'"
            * to_judge
        )
        return int(count)

    def faults_of_data(self) -> int:
        """Number of turns lost to the data itself, and not to a server that had the picture."""
        return self._rows(
            f"SELECT COUNT(*) FROM turns t WHERE {_FAILED} AND status = '{Status.DATA_ERROR}' AND "
            "COALESCE(json_extract(CAST(result AS TEXT), '$.error'), '') NOT LIKE 'http%://%'"
        )[0][0]

    def replies_without_reference(self) -> int:
        """Number of replies without a verdict that no judge can compare with anything."""
        turn = "'$.turns[' || turn_index || '].reference"
        return self._rows(
            "SELECT COUNT(*) FROM turns t JOIN sessions USING (session_id, degradation) "
            "WHERE NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.session_id = t.session_id "
            "AND v.degradation = t.degradation AND v.turn_index = t.turn_index "
            "AND json_extract(CAST(verdict AS TEXT), '$.outcome') != 'unscored') "
            "AND json_extract(CAST(result AS TEXT), '$.reply') IS NOT NULL "
            f"AND TRIM(COALESCE(json_extract(CAST(record AS TEXT), {turn}.text'), '')) = '' "
            f"AND json_extract(CAST(record AS TEXT), {turn}.accept') IS NULL"
        )[0][0]

    def unusable_sessions(self) -> tuple[int, int]:
        """(sessions of which no turn could be asked because of their data, sessions)."""
        lost = (
            f"MIN(status = '{Status.DATA_ERROR}' AND "
            "json_extract(CAST(result AS TEXT), '$.reply') IS NULL)"
        )
        return self._rows(
            f"SELECT TOTAL(lost), COUNT(*) FROM (SELECT {lost} AS lost FROM turns "
            "GROUP BY session_id)"
        )[0]

    def first_failure(self) -> TurnResult | None:
        """The failed turn that was written first, to tell what went wrong."""
        rows = self._rows(f"{_TURNS} WHERE {_FAILED} ORDER BY t.rowid LIMIT 1")
        return joined_turn(*rows[0]) if rows else None

    def failure_counts(self) -> dict[str, int]:
        """Status → number of turns that failed, and by no fault that the run was to have."""
        return dict(
            self._rows(
                f"SELECT t.status, COUNT(*) FROM turns t WHERE {_FAILED} GROUP BY 1 ORDER BY 1"
            )
        )

    def felt_by_turn(self, condition: str) -> list[tuple[str, int, bool]]:
        """(session id, turn, whether it felt a fault) of every turn asked under a condition."""
        felt = "COALESCE(json_extract(CAST(result AS TEXT), '$.fault'), '') != ''"
        return self._rows(
            f"SELECT session_id, turn_index, {felt} FROM turns WHERE degradation = ? "
            f"AND status != '{Status.SKIPPED_AFTER_STOP}'",
            condition,
        )

    def heard_by_condition(self) -> list[tuple[str, int, int]]:
        """(condition, questions said aloud, those of which nothing was heard), where any were."""
        heard = "json_extract(CAST(result AS TEXT), '$.heard.text')"
        return self._rows(
            f"SELECT degradation, COUNT(*), TOTAL(TRIM(COALESCE({heard}, '')) = '') FROM turns "
            f"WHERE {heard} IS NOT NULL OR status = '{Status.EAR_ERROR}' GROUP BY 1 ORDER BY 1"
        )

    def session_keys(self) -> list[tuple[str, str]]:
        """(session id, degradation) of every session that has begun, in the data set's order."""
        return self._rows(
            "SELECT session_id, degradation FROM sessions ORDER BY position, degradation"
        )

    def is_empty(self) -> bool:
        """Whether no conversation has begun."""
        return not self._rows("SELECT 1 FROM sessions LIMIT 1")

    def conversation_sizes(self) -> Iterator[tuple[int, int]]:
        """(turns planned, turns there) of every conversation that has begun."""
        with self._reading() as db:
            yield from db.execute(
                "SELECT json_array_length(CAST(s.record AS TEXT), '$.turns'), "
                "(SELECT COUNT(*) FROM turns t WHERE t.session_id = s.session_id "
                "AND t.degradation = s.degradation) "
                "FROM sessions s"
            )

    def voices(self) -> list[str]:
        """Whose words the conversations are in, where the data is a world; see `whose`."""
        voice = "json_extract(CAST(record AS TEXT), '$.extra.voice')"
        rows = self._rows(f"SELECT DISTINCT {voice} FROM sessions WHERE {voice} <> '' ORDER BY 1")
        return [str(row[0]) for row in rows]

    def conditions(self) -> list[str]:
        """Every degradation that something was run under."""
        return [r[0] for r in self._rows("SELECT DISTINCT degradation FROM sessions ORDER BY 1")]

    def degradations_of(self, session_id: str) -> list[str]:
        """Under which degradations a session was run."""
        rows = self._rows(
            "SELECT degradation FROM sessions WHERE session_id = ? ORDER BY degradation", session_id
        )
        return [row[0] for row in rows]

    def session(self, session_id: str, degradation: str = "clean") -> Session:
        """One session as the agent saw it."""
        session = self._session(session_id, degradation)
        if session is None:
            others = ", ".join(self.degradations_of(session_id))
            cure = f"it was run under {others}" if others else "`mmrag show RUN` lists those it has"
            raise StoreError(
                f"{self.folder}: no session {session_id!r} under {degradation!r}; {cure}."
            )
        return session

    def begun(self, session_id: str, degradation: str) -> Session | None:
        """A session whose picture was recorded when it began, so that it can be resumed."""
        session = self._session(session_id, degradation)
        if session is None or session.capture is None:
            return session
        try:
            return session if session.capture.image.data else None
        except MmragError:  # gone or changed since
            return None

    def _session(self, session_id: str, degradation: str) -> Session | None:
        found = "SELECT record FROM sessions WHERE session_id = ? AND degradation = ?"
        rows = self._rows(found, session_id, degradation)
        return _record(Session, rows[0][0], images=self.images.get) if rows else None

    def sessions(self) -> Iterator[Session]:
        """All sessions, streamed in the data set's order."""
        for record in self._stream(
            "SELECT record FROM sessions WHERE (position, degradation) > (?, ?) "
            "ORDER BY position, degradation LIMIT 200",
            "position, degradation",
            (-1, ""),
        ):
            yield _record(Session, record, images=self.images.get)

    def turns(self, session_id: str, degradation: str = "clean") -> list[TurnResult]:
        """The turns of one session with the verdicts of the current judge."""
        rows = self._rows(
            _TURNS + "WHERE t.session_id = ? AND t.degradation = ? ORDER BY t.turn_index",
            session_id,
            degradation,
        )
        return [joined_turn(*row) for row in rows]

    def results(self) -> Iterator[TurnResult]:
        """All turns, streamed in the data set's order, with the current judge's verdicts."""
        for session_id, degradation in self.session_keys():
            yield from self.turns(session_id, degradation)

    def raw(self) -> Iterator[tuple[bytes, list[tuple[bytes, str, bytes | None]]]]:
        """Every session's record with its turns' (result, status, verdict), as they lie on disk.

        Streamed in the data set's order, for those who read a quarter of a million turns and need
        a few fields of each: they decode only these.
        """
        start = (-1, "")
        while sessions := self._rows(
            "SELECT position, degradation, session_id, record FROM sessions "
            "WHERE (position, degradation) > (?, ?) ORDER BY position, degradation LIMIT 200",
            *start,
        ):
            for _, degradation, session_id, record in sessions:
                where = "WHERE t.session_id = ? AND t.degradation = ? ORDER BY t.turn_index"
                yield record, self._rows(_TURNS + where, session_id, degradation)
            start = sessions[-1][:2]

    @staticmethod
    def decoded(part: msgspec.json.Decoder[T], data: bytes) -> T:
        """A cell of `raw` as the part of a record that is needed of it."""
        try:
            return part.decode(data)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _damaged(part.type, error) from error

    def verdicts(self, session_id: str, degradation: str, turn_index: int) -> dict[str, Verdict]:
        """Every judge's verdict on one turn, by judge."""
        rows = self._rows(
            "SELECT judge, verdict FROM verdicts "
            "WHERE session_id = ? AND degradation = ? AND turn_index = ? ORDER BY judge",
            session_id,
            degradation,
            turn_index,
        )
        return {judge: _record(Verdict, data) for judge, data in rows}

    def every_row(self) -> Iterator[tuple[Any, ...]]:
        """All that the run holds, each row after its table's name, in a fixed order."""
        with self._reading() as db:
            yield from loss_detection.in_order(db)

    def measurements(
        self, session_id: str, degradation: str = "clean"
    ) -> dict[int, list[Measurement]]:
        """What measures say of the turns of one session, by turn and in the order of the names."""
        found: dict[int, list[Measurement]] = {}
        for turn, data in self._measured(
            "SELECT turn_index, measurement FROM measurements WHERE session_id = ? "
            "AND degradation = ? ORDER BY turn_index, measure, judge",
            session_id,
            degradation,
        ):
            found.setdefault(turn, []).append(_record(Measurement, data))
        return found

    def measured_by(self) -> list[tuple[str, str, int]]:
        """(measure, judge, turns) of everything that was measured."""
        return self._measured(
            "SELECT measure, judge, COUNT(*) FROM measurements GROUP BY 1, 2 ORDER BY 1, 2"
        )

    def measured_means(self) -> dict[tuple[str, str], dict[str, float]]:
        """Conversation → measure → mean over its turns, for lists; judges are not told apart."""
        value, weight = (f"json_extract(CAST(measurement AS TEXT), '$.{n}')" for n in _WEIGHED)
        weight = f"COALESCE({weight}, 1.0)"
        found: dict[tuple[str, str], dict[str, float]] = {}
        for session_id, degradation, measure, mean in self._measured(
            f"SELECT session_id, degradation, measure, SUM({value} * {weight}) / SUM({weight}) "
            f"FROM measurements WHERE {value} IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        ):
            if mean is not None:
                found.setdefault((session_id, degradation), {})[measure] = mean
        return found

    def completion_keys(self) -> set[str]:
        """The requests of measures that models answered."""
        return {row[0] for row in self._measured("SELECT key FROM completions")}

    def completion(self, key: str) -> Completion:
        """What a model said to one of these requests."""
        rows = self._measured("SELECT completion FROM completions WHERE key = ?", key)
        return _record(Completion, rows[0][0])

    def completion_cost(self) -> float:
        """What the models of measures have cost, in US dollars."""
        cost = "json_extract(CAST(completion AS TEXT), '$.usage.cost')"
        rows = self._measured(f"SELECT TOTAL({cost}) FROM completions")
        return rows[0][0] if rows else 0.0

    def _measured(self, sql: str, *values: object) -> list[Any]:
        """Rows of the tables of measures, which a run of an older schema lacks until written."""
        there = "SELECT 1 FROM sqlite_master WHERE name = 'measurements'"
        return self._rows(sql, *values) if self._rows(there) else []

    def changes_since(self, session_row: int = 0, turn_row: int = 0) -> Iterator[Changes]:
        """What was written after two row numbers, in pages; start at 0, go on with the last's.

        For lists over many conversations: the sessions' JSON is left undecoded, a turn is reduced
        to its outcome, or its status where it has none, and no more than a page is in memory.
        """
        # asked first: a session is there before its turns, so none is told of without it
        last: int = self._rows("SELECT COALESCE(MAX(rowid), 0) FROM turns")[0][0]
        seen = session_row
        while sessions := self._rows(
            "SELECT rowid, position, session_id, degradation, record FROM sessions "
            f"WHERE rowid > ? ORDER BY rowid LIMIT {_PAGE}",
            seen,
        ):
            seen, before = sessions[-1][0], seen
            marks = self._marks(_OF_SESSIONS, before, seen)
            yield Changes([tuple(row[1:]) for row in sessions], marks, seen, last)
        if session_row:  # else every turn was told of with its session
            for row in range(turn_row, last, _PAGE):
                marks = self._marks(_OF_TURNS, row, min(row + _PAGE, last))
                yield Changes([], marks, seen, last)
        yield Changes([], {}, seen, last)

    def _marks(self, conversations: str, *rows: int) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        same: dict[str, str] = {}  # a few words, in millions of turns
        for session_id, degradation, mark in self._rows(_MARKS.format(conversations), *rows):
            found.setdefault((session_id, degradation), []).append(same.setdefault(mark, mark))
        return found

    @property
    def edition(self) -> int:
        """Another number as soon as anybody has committed anything to the run."""
        return self._rows("PRAGMA data_version")[0][0]

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> RunReader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _rows(self, sql: str, *values: object) -> list[Any]:
        with self._reading() as db:
            return db.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        try:
            with self._db_lock:
                yield self._db
        except sqlite3.Error as error:
            raise StoreError(
                f"{self.folder / store_schema.FILE}: cannot be read ({error})."
            ) from error

    def _stream(self, sql: str, key: str, start: tuple[Any, ...]) -> Iterator[bytes]:
        paged = sql.replace("SELECT record", f"SELECT {key}, record", 1)
        while rows := self._rows(paged, *start):
            for row in rows:
                yield row[-1]
            start = rows[-1][:-1]


_FAILED = (
    f"t.status IN ({', '.join(repr(str(status)) for status in Status if status.is_failure)}) "
    "AND COALESCE(json_extract(CAST(t.result AS TEXT), '$.fault'), '') = ''"
)
"""Turns that failed, and by no fault that the run was to have."""

CURRENT = "(SELECT json_extract(CAST(value AS TEXT), '$') FROM meta WHERE key = 'judge')"

JUDGED = (
    "t.result, t.status, v.verdict FROM turns t LEFT JOIN verdicts v "
    "ON v.session_id = t.session_id AND v.degradation = t.degradation "
    f"AND v.turn_index = t.turn_index AND v.judge = {CURRENT} "
)

_TURNS = f"SELECT {JUDGED}"

_LAST = b'"step":true}'
_STEP = f"substr(t.result, -{len(_LAST)}) = x'{_LAST.hex()}'"
"""Whether a live wearer went on about the same goal: the record's last field, read without it."""

_MARKS = (
    "SELECT t.session_id, t.degradation, "
    "COALESCE(json_extract(CAST(v.verdict AS TEXT), '$.outcome'), t.status) "
    "FROM turns t LEFT JOIN verdicts v ON v.session_id = t.session_id "
    "AND v.degradation = t.degradation AND v.turn_index = t.turn_index "
    f"AND v.judge = {CURRENT} "
    "WHERE (t.session_id, t.degradation) IN ({}) "
    f"AND NOT {_STEP} "
    "ORDER BY t.session_id, t.degradation, t.turn_index"
)

_OF_SESSIONS = "SELECT session_id, degradation FROM sessions WHERE rowid > ? AND rowid <= ?"
_OF_TURNS = "SELECT DISTINCT session_id, degradation FROM turns WHERE rowid > ? AND rowid <= ?"


def joined_turn(result: bytes, status: str, verdict: bytes | None) -> TurnResult:
    """The row of a turn with the current judge's verdict, which may have changed its status."""
    bare = _record(TurnResult, result)
    now = _record(Status, msgspec.json.encode(status))
    found = None if verdict is None else _record(Verdict, verdict)
    error = bare.error if found is None else found.reason
    return msgspec.structs.replace(
        bare, status=now, verdict=found, error=error if now.is_failure else None
    )


def _record(kind: Any, data: bytes, **more: Any) -> Any:
    """A cell as the record that it should be."""
    try:
        return decode_as(kind, data, **more)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise _damaged(kind, error) from error


def _damaged(kind: Any, error: Exception) -> StoreError:
    name = getattr(kind, "__name__", "value")
    return StoreError(
        f"a {name} that the run keeps cannot be read ({str(error)[:300]}): run.sqlite is "
        "damaged. Restore it from a copy, or choose another --out."
    )
