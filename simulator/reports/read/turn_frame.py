"""A run as columns: everything a report needs of a quarter of a million turns, in a few megabytes.

Records are streamed from the store and only the needed fields are decoded. All figures of a report
are computed from these columns, and these columns are exported (`turns.parquet`), so that anybody
can compute a figure again.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import StoreError
from mmrag.metrics.scoring_protocols import StopRule
from mmrag.partial_records import CountedReply, CountedResult, CountedSession, PartialVerdict
from mmrag.records import NO_PICTURE, NOTHING_TO_JUDGE, Outcome, Status, Usage, heard_times
from simulator.ears.recognition_losses import RecognitionErrors, recognition_errors
from simulator.reports.read.evidence import TurnTruth, compare_evidence, truth_of
from simulator.reports.read.fault_notices import notices
from simulator.reports.turn_shares import IN_KITS, OUTCOMES, SHARES, apply_stop, in_kits, shares_in
from simulator.run.results.error_texts import ErrorTextCount, ErrorTexts
from simulator.run.results.kit_scoring import OFFICIAL
from simulator.run.results.run_scoring import how_to_finish
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_reader import RunReader

MAX_STEPS = 24
"""Names of steps that are timed apart; an agent with more has the rest under `other steps`."""

OWN = "meta:"
"""Before the names of dimensions that the data set brings itself."""

Column = NDArray[Any]


@dataclass(frozen=True)
class TurnFrame:
    """Turns as columns, ordered by condition, then session, then turn. `unit` numbers the
    (condition, session) pairs; `starts` says at which row each begins."""

    sessions: list[str]
    conditions: list[str]
    columns: dict[str, Column]
    categories: dict[str, list[str]]
    """Column → its names; the column itself holds their numbers, −1 where unknown."""
    starts: NDArray[np.int64]
    questions: list[int] = field(default_factory=list[int])
    """Per session a hash of what is asked and what is right, to tell versions of data apart."""
    error_texts: ErrorTexts | None = None
    """Replies that are an agent's own words for a failure."""

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["session"])

    def rows(self, part: slice) -> TurnFrame:
        """Some of the rows, for whoever takes them bit by bit; `starts` stay those of all."""
        return replace(self, columns={name: cells[part] for name, cells in self.columns.items()})

    def only(self, conditions: Sequence[str]) -> TurnFrame:
        """The rows of some conditions, as a frame of their own."""
        names = [name for name in self.conditions if name in conditions]
        place = np.array([names.index(n) if n in names else -1 for n in self.conditions], np.int32)
        kept = place[self["condition"]] >= 0
        columns = {name: cells[kept] for name, cells in self.columns.items()}
        columns["condition"] = place[columns["condition"]]
        units, starts, numbers = np.unique(columns["unit"], return_index=True, return_inverse=True)
        del units
        columns["unit"] = numbers.astype(self["unit"].dtype)
        return replace(self, conditions=names, columns=columns, starts=starts)

    @property
    def turn_index(self) -> Column:
        """Where each turn stands in its session; a live wearer's goal may take several turns, of
        which `turn` counts one."""
        return self.columns.get("index", self.columns["turn"])

    @property
    def unjudged(self) -> NDArray[np.bool_]:
        """Rows with a reply and without a verdict on it."""
        lacking: NDArray[np.bool_] = self["asked"] & ~self["scored"]
        if lacking.any():
            for status in NOTHING_TO_JUDGE:
                lacking &= ~self.is_a("status", status)
        return lacking

    def shares(self, prefix: str = "") -> tuple[Column, Column, Column]:
        """How much of each turn is right, missed and wrong: whole, unless a panel was divided."""
        if f"{prefix}right" in self.columns:
            right, missed, wrong = (self.columns[f"{prefix}{name}"] for name in SHARES)
            return right, missed, wrong
        if prefix:
            outcome = self.columns[f"{prefix}outcome"]
            return (outcome <= 1) * 1.0, (outcome == 2) * 1.0, (outcome == 3) * 1.0
        score = self.columns["score"]
        return (score > 0) * 1.0, (score == 0) * 1.0, (score < 0) * 1.0

    def names(self, column: str) -> list[str]:
        """The names that a column of categories may hold."""
        return self.categories[column]

    def is_a(self, column: str, name: str) -> NDArray[np.bool_]:
        """Rows in which a column of categories holds a name."""
        names = self.categories[column]
        if name not in names:
            return np.zeros(len(self), bool)
        return self.columns[column] == names.index(name)

    def condition(self, name: str) -> NDArray[np.bool_]:
        """Rows of one condition."""
        return self.is_a("condition", name)


def load_turn_frame(
    run: RunReader,
    *,
    stop: StopPolicy,
    agent_errors: str = "unscored",
) -> TurnFrame:
    """Read a run into columns. Raises `StoreError` when it holds no turn."""
    reading = _Reading(agent_errors)
    for record, turns in run.raw():
        reading.add(record, turns)
    if not reading.rows:
        how = how_to_finish(run, run.folder)
        raise StoreError(f"{run.folder}: no turn has been committed yet; {how} first.")
    return reading.frame(stop.rule)


def kind_and_severity(degradation: str) -> tuple[str, int | None]:
    """Kind and severity of a plain spec such as `low-light@3`; (`clean`, 0) for clean.

    >>> kind_and_severity("low-light@3"), kind_and_severity("clean")
    (('low-light', 3), ('clean', 0))
    """
    if degradation == "clean":
        return "clean", 0
    match = re.fullmatch(r"([a-z-]+)@([0-5])", degradation)
    return (match[1], int(match[2])) if match else (re.sub(r"@[0-9.]+", "", degradation), None)


_NO_REPLY = CountedReply()

_TEXT = (
    "degradation", "quality", "status", "domain", "query_type", "dynamism", "popularity",
    "grounding", "stage",
)  # fmt: skip
FLAGS = (
    "exact", "is_ego", "text_clue", "needs_image", "needs_history", "entity_found",
    "passage_found", "used", "searched_images", "searched_web", "abstained", "met_fault",
    "noticed",
)  # fmt: skip
"""Columns of 1, 0 and −1 for unknown."""
WHOLE = (
    "turn", "turns", "outcome", "input_tokens", "output_tokens", "calls",
    "judge_input_tokens", "judge_output_tokens", "judge_calls",
)  # fmt: skip
"""Columns of whole numbers."""
HEARD = tuple(RecognitionErrors.__struct_fields__)
"""Of a run with spoken questions, as `heard:words`: counts of words, names and numbers said and
lost; not a number where a question was typed, or not heard at all."""
REAL = (
    "confidence", "seconds", "first_word", "last_word", "cost", "judge_cost", "link_bytes",
    "link_seconds",
)  # fmt: skip
"""Columns of real numbers; not a number where unknown."""


def _letter(column: str) -> str:
    """What holds the cells of a column: whole numbers of one byte or four, or real ones."""
    if column in REAL:
        return "d"
    return "b" if column in FLAGS or column.endswith(("outcome", "exact", "both")) else "i"


class _Reading:
    """Grows lists of cells, then turns them into arrays."""

    def __init__(self, agent_errors: str) -> None:
        self.agent_errors = agent_errors
        self.sessions: dict[str, int] = {}
        self.questions: list[int] = []
        self.errors = ErrorTextCount()
        self.rows = 0
        self.has_panel = False
        self.names: dict[str, dict[str, int]] = {name: {} for name in _TEXT}
        self.cells = {
            name: array(_letter(name))
            for name in ("session", *_TEXT, *FLAGS, *WHOLE, *REAL, "shares", *IN_KITS)
        }
        self.shares: dict[tuple[float, ...], int] = {}
        """The few that there are; of a turn its cells name one."""
        self.steps: dict[str, tuple[array[int], array[float], array[float]]] = {}
        self.own: dict[str, tuple[array[int], array[int]]] = {}
        self.heard = array("q"), {name: array("i") for name in HEARD}
        """Rows of spoken questions, and what became of their words."""
        self.indexes = array("i")
        self.is_live = False
        self._session = msgspec.json.Decoder(CountedSession)
        self._result = msgspec.json.Decoder(CountedResult)
        self._verdict = msgspec.json.Decoder(PartialVerdict)
        self._truths: tuple[str, list[TurnTruth]] = ("", [])

    def add(self, record: bytes, turns: Iterable[tuple[bytes, str, bytes | None]]) -> None:
        session = self._session.decode(record)
        number = self.sessions.setdefault(session.id, len(self.sessions))
        firsts = {t.wearer.goal if t.wearer else t.index: t for t in reversed(session.turns)}
        if number == len(self.questions):
            asked = "\x00".join(
                f"{t.wearer.stands_for if t.wearer and t.wearer.stands_for else t.query}\x00"
                f"{t.reference.text}"
                for _, t in sorted(firsts.items())
            )
            self.questions.append(zlib.crc32(asked.encode()))
        if self._truths[0] != session.id or any(t.wearer for t in session.turns):
            # under another condition a session asks the same, unless its wearer is a live one
            self._truths = (session.id, [truth_of(t.reference, t.extra) for t in session.turns])
        capture = session.capture
        degradation = session.degradation
        quality = capture.quality if capture else NO_PICTURE
        kind = kind_and_severity(degradation)[0]
        link = capture.degraded.link if capture and capture.degraded else None
        shared = {
            "session": number,
            "degradation": self._code("degradation", degradation),
            "quality": self._code("quality", quality if kind == "clean" else kind),
            "is_ego": int(capture.is_ego) if capture else -1,
            "turns": len(firsts),
            "link_bytes": link.bytes if link else np.nan,
            "link_seconds": link.seconds if link else np.nan,
        }
        for result, status, verdict in turns:
            read = self._result.decode(result)
            if read.reply is not None:
                self.errors.look_at(read.reply.text)
            if not read.step:
                self._turn(session, shared, read, status, verdict)

    def _turn(
        self,
        session: CountedSession,
        shared: dict[str, Any],
        result: CountedResult,
        status: str,
        verdict: bytes | None,
    ) -> None:
        turn = session.turns[result.turn_index]
        truth = self._truths[1][result.turn_index]
        reply = result.reply or _NO_REPLY
        judged = self._verdict.decode(verdict) if verdict is not None else None
        judging = judged.usage if judged else Usage()
        outcome = self._outcome(judged, status)
        votes = tuple(vote.outcome for vote in judged.votes) if judged else ()
        self.has_panel |= len(votes) > 1
        asked = status != Status.SKIPPED_AFTER_STOP
        found = compare_evidence(reply.trace, reply.citations, truth)
        abstained = reply.abstained or outcome is Outcome.MISSING
        stage = found.stage(correct=outcome.is_correct, abstained=abstained)
        replied = result.reply is not None
        first, last = heard_times(result.delay, result.seconds, result.first_word)
        cells = {
            **shared,
            "turn": turn.wearer.goal if turn.wearer else turn.index,
            "status": self._code("status", status),
            "outcome": OUTCOMES.index(outcome),
            "exact": int(judged is not None and judged.exact),
            "domain": self._code("domain", turn.domain),
            "query_type": self._code("query_type", turn.query_type),
            "dynamism": self._code("dynamism", turn.dynamism),
            "popularity": self._code("popularity", turn.popularity),
            "text_clue": _flag(turn.text_clue),
            "needs_image": _flag(turn.needs_image),
            "needs_history": _flag(turn.needs_history),
            "entity_found": _flag(found.entity),
            "passage_found": _flag(found.passage),
            "used": _flag(found.used),
            "searched_images": int(found.searched_images) if replied else -1,
            "searched_web": int(found.searched_web) if replied else -1,
            "met_fault": int(bool(result.fault)) if session.fault else -1,
            "abstained": int(abstained) if replied else -1,
            "noticed": int(abstained or notices(reply.text, reply.ask)) if replied else -1,
            "grounding": self._code("grounding", found.grounding if replied else None),
            "stage": self._code(
                "stage", stage if asked and outcome is not Outcome.UNSCORED else None
            ),
            "confidence": _finite(reply.confidence),
            "seconds": result.seconds if asked else np.nan,
            "first_word": first if asked else np.nan,
            "last_word": last if asked else np.nan,
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
            "calls": reply.usage.calls,
            "cost": _finite(reply.usage.cost),
            "judge_input_tokens": judging.input_tokens,
            "judge_output_tokens": judging.output_tokens,
            "judge_calls": judging.calls,
            "judge_cost": _finite(judging.cost),
            "shares": shares_in(outcome, votes),
            **in_kits(turn.reference.text, replied, reply.text, outcome, votes),
        }
        for name, value in cells.items():
            if isinstance(value, tuple):
                value = self.shares.setdefault(value, len(self.shares))
            self.cells[name].append(value)
        self.indexes.append(turn.index)
        self.is_live |= turn.wearer is not None
        if result.heard is not None:
            rows, counts = self.heard
            rows.append(self.rows)
            lost = recognition_errors(turn.query, result.heard.text)
            for name in HEARD:
                counts[name].append(getattr(lost, name))
        for key, value in turn.meta.items():
            own = f"{OWN}{key}"
            code = self.names.setdefault(own, {}).setdefault(value, len(self.names[own]))
            rows, codes = self.own.setdefault(own, (array("q"), array("i")))
            rows.append(self.rows)
            codes.append(code)
        for step in reply.trace:
            name = step.name
            if name not in self.steps and len(self.steps) >= MAX_STEPS:
                name = "other steps"
            empty = array("q"), array("d"), array("d")
            rows, starts, seconds = self.steps.setdefault(name, empty)
            rows.append(self.rows)
            starts.append(step.start)
            seconds.append(step.seconds)
        self.rows += 1

    def _outcome(self, verdict: PartialVerdict | None, status: str) -> Outcome:
        if self.agent_errors != "unscored" and status in (Status.AGENT_ERROR, Status.TIMEOUT):
            return Outcome(self.agent_errors)
        return Outcome.UNSCORED if verdict is None else verdict.outcome

    def _code(self, column: str, name: str | None) -> int:
        if name is None:
            return -1
        return self.names[column].setdefault(name, len(self.names[column]))

    def frame(self, rule: StopRule) -> TurnFrame:
        """Order the rows by condition and find what the stop rule cuts."""
        columns: dict[str, Column] = {}
        table = np.array(list(self.shares), float)
        for name in list(self.cells):
            column = np.asarray(self.cells.pop(name))
            if not name.endswith("shares"):
                columns[name] = column
            elif self.has_panel:  # else they are whole, as the outcomes say
                prefix = name.removesuffix("shares")
                columns |= {f"{prefix}{s}": table[column, at] for at, s in enumerate(SHARES)}
        for name in list(self.steps):
            rows, starts, seconds = map(np.asarray, self.steps.pop(name))
            columns[f"step_start:{name}"] = _sparse(rows, starts, self.rows, least=True)
            columns[f"step_seconds:{name}"] = _sparse(rows, seconds, self.rows)
        if self.is_live:
            columns["index"] = np.asarray(self.indexes)
        if len(self.heard[0]):
            for name, counts in self.heard[1].items():
                columns[f"heard:{name}"] = np.full(self.rows, np.nan)
                columns[f"heard:{name}"][np.asarray(self.heard[0])] = np.asarray(counts)
        for name, (rows, codes) in self.own.items():
            columns[name] = np.full(self.rows, -1, np.int32)
            columns[name][np.asarray(rows)] = np.asarray(codes)
        conditions = _conditions(columns, self.names["degradation"])
        columns["condition"] = conditions[1]
        order = np.lexsort((columns["turn"], columns["session"], columns["condition"]))
        for name in columns:  # one after the other, so that few are there twice
            columns[name] = columns[name][order]
        unit = columns["condition"].astype(np.int64) * len(self.sessions) + columns["session"]
        starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]])
        columns["unit"] = np.repeat(
            np.arange(len(starts)), np.diff(np.r_[starts, len(unit)])
        ).astype(np.int32)
        categories = {name: list(known) for name, known in self.names.items()}
        categories["condition"] = conditions[0]
        sessions = list(self.sessions)
        skipped = columns["status"] == self.names["status"].get(str(Status.SKIPPED_AFTER_STOP), -1)
        columns["asked"] = ~skipped
        outcome = columns["outcome"]
        columns["score"] = np.select([outcome <= 1, outcome == 2, outcome == 3], [1, 0, -1], 0)
        columns["score"] = columns["score"].astype(np.int8)
        columns["scored"] = (outcome != 4) & ~skipped
        for prefix in ("", *(f"{protocol}:" for protocol in OFFICIAL)):
            apply_stop(columns, starts, sessions, rule, prefix)
        return TurnFrame(
            sessions=sessions,
            conditions=conditions[0],
            columns=columns,
            categories=categories,
            starts=starts,
            questions=self.questions,
            error_texts=self.errors.found(),
        )


def _conditions(
    columns: dict[str, Column], degradations: dict[str, int]
) -> tuple[list[str], NDArray[np.int32]]:
    """A run that gives every session one degradation of its own (`mix`) is one condition."""
    pairs = np.unique(columns["session"] * np.int64(len(degradations)) + columns["degradation"])
    if len(degradations) > 1 and len(np.unique(columns["session"])) == len(pairs):
        return ["mix"], np.zeros(len(columns["session"]), np.int32)
    names = sorted(degradations, key=lambda name: (name != "clean", *_place(name)))
    place = np.array([names.index(name) for name in degradations], np.int32)
    return names, place[columns["degradation"]]


def _place(name: str) -> tuple[int, str, int]:
    from simulator.run.capture_optics import KINDS

    kind, severity = kind_and_severity(name)
    return (KINDS.index(kind) if kind in KINDS else len(KINDS), kind, severity or 0)


def _sparse(rows: Column, values: Column, size: int, *, least: bool = False) -> Column:
    """Per row the sum (or the least) of its values; NaN where there is none."""
    out = np.full(size, np.nan)
    if least:
        np.fmin.at(out, rows, values)
        return out
    total = np.bincount(rows, values, size)
    out[rows] = total[rows]
    return out


def _flag(value: bool | None) -> int:
    return -1 if value is None else int(value)


def _finite(value: float | None) -> float:
    return np.nan if value is None or not np.isfinite(value) else float(value)
