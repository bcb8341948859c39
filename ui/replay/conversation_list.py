"""A light index of a run's conversations, for filtering and paging without loading the run.

Only the few fields that a list needs are decoded; a run of 2,000 conversations takes a fraction of
a second and some hundred bytes each. A run that is still being written is followed: `refresh`
reads what has come since, `reread` also what was changed in its place, as `mmrag judge run` does.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from mmrag.partial_records import ListedSession
from mmrag.records import NO_PICTURE, Outcome, Status
from simulator.reports.figures.slices import DEFAULTS
from simulator.run.run_config import RunConfig
from simulator.run.stop_policies import StopPolicy
from simulator.stages.truth_stage_names import split_stage
from simulator.store.run_reader import RunReader
from ui.replay.kg_thumbnails import KgThumbnails


class ListedRow(msgspec.Struct, frozen=True, gc=False):
    """One conversation in the list. There may be half a million."""

    session_id: str
    degradation: str
    position: int
    quality: str
    is_ego: bool
    domains: tuple[str, ...]
    types: tuple[str, ...]
    text: str
    """All queries, a line each; the list shows the first."""
    outcomes: tuple[str, ...]
    """One per turn: an outcome, or the status of a turn that has none."""
    stopped: bool
    meta: tuple[str, ...] = ()
    """Dimensions that the data set brings itself, as `room: kitchen`."""
    measures: tuple[tuple[str, float], ...] = ()
    """What was measured of its replies, as means over its turns; the list shows the first."""

    @property
    def key(self) -> tuple[str, str]:
        """What the run calls it."""
        return (self.session_id, self.degradation)

    @property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """Kind and severity of every element of the degradation; `clean` has no severity."""
        return _steps(self.degradation)


class ListedConversation(msgspec.Struct, frozen=True):
    """One conversation of the data with everything that it was held under, clean first."""

    session_id: str
    rows: tuple[ListedRow, ...]
    found: frozenset[str]
    """The conditions that pass the filter."""

    @property
    def first(self) -> ListedRow:
        """The row to open: the first that passes the filter."""
        return next((row for row in self.rows if row.degradation in self.found), self.rows[0])


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """What a list is narrowed to. Empty means no restriction."""

    outcome: str = ""
    quality: str = ""
    kind: str = ""
    """Kind of the degradation, or `clean`; of a chain, any element's."""
    severity: str = ""
    """Severity of the degradation, in a chain of the element of that kind."""
    domain: str = ""
    query_type: str = ""
    meta: str = ""
    stopped: bool = False
    text: str = ""
    keys: frozenset[tuple[str, str]] | None = None
    """Only these conversations (flipped ones, the sessions behind a point)."""


class ConversationList:
    """The conversations of one run."""

    def __init__(self, run: RunReader, name: str = "") -> None:
        self.run = run
        self.name = name or run.folder.name
        """What links carry: the run's folder name, made distinct."""
        self.stop = stop_policy(run)
        self._rows: dict[tuple[str, str], ListedRow] = {}
        self._ordered: list[ListedRow] = []
        self.by_session: dict[str, list[ListedRow]] = {}
        self.unsaid: frozenset[str] = frozenset()
        """Dimensions of which the data says nothing: every turn has what holds by default."""
        self._lock = threading.Lock()
        self._seen = (0, 0)
        self._version = 0
        self._edition: int | None = None
        self._shelf = KgThumbnails(run.meta("config") or {})
        self.reread()

    @property
    def finished(self) -> bool:
        """Whether the run says that it is complete."""
        return bool(self.run.meta("finished"))

    def reread(self) -> bool:
        """Read all of it again if anything was written since that was last done.

        For whoever comes anew. What is only added is cheaper to follow by `refresh`.
        """
        with self._lock:
            edition = self.run.edition
            if edition == self._edition:
                return False
            self._read(whole=True)
            self._edition = edition
            return True

    def refresh(self) -> bool:
        """Read what has been added since the last time. Returns whether anything had."""
        with self._lock:
            return self._read()

    def _read(self, *, whole: bool = False) -> bool:
        """Bring the rows up to date; other tabs see the old ones until all are there."""
        rows = {} if whole else dict(self._rows)
        seen, changed = (0, 0) if whole else self._seen, whole
        same = _Same()
        for changes in self.run.changes_since(*seen):
            changed |= bool(changes.sessions or changes.marks)
            for position, session_id, degradation, record in changes.sessions:
                key = (same.word(session_id), same.word(degradation))
                marks = changes.marks.pop(key, [])
                rows[key] = self._row(key, position, record, marks, same)
            for key, marks in changes.marks.items():
                if key in rows:  # a turn is only ever written after its session
                    rows[key] = msgspec.structs.replace(
                        rows[key],
                        outcomes=same.words(marks),
                        stopped=_stopped(self.stop, key[0], marks),
                    )
            seen = (changes.session_row, changes.turn_row)
        if changed:
            self._measure(rows)
            self._rows = rows
            self._ordered = sorted(
                rows.values(), key=lambda row: (row.position, _clean_first(row.degradation))
            )
            by_session: dict[str, list[ListedRow]] = {}
            for row in self._ordered:
                by_session.setdefault(row.session_id, []).append(row)
            self.by_session = by_session
            self.unsaid = _unsaid(self._ordered)
            self._version += 1
        self._seen = seen
        return changed

    def _measure(self, rows: dict[tuple[str, str], ListedRow]) -> None:
        for key, means in self.run.measured_means().items():
            found = tuple(sorted(means.items(), key=lambda m: (_rank(m[0]), m[0])))
            if key in rows and rows[key].measures != found:
                rows[key] = msgspec.structs.replace(rows[key], measures=found)

    def find_all(self) -> list[ListedRow]:
        """Every row, in the data set's order."""
        return self._ordered

    @property
    def version(self) -> int:
        """Grows whenever something was added; what was shown before is then out of date.

        Several tabs look at one list, so each compares this with what it has shown: that
        `refresh` found nothing new may only mean that another tab was first.
        """
        return self._version

    def __len__(self) -> int:
        return len(self._ordered)

    def get(self, session_id: str, degradation: str) -> ListedRow | None:
        """One row, if it is there."""
        return self._rows.get((session_id, degradation))

    def find(self, wanted: Filter) -> list[ListedRow]:
        """The rows that pass a filter, in the data set's order."""
        return [row for row in self._ordered if _passes(row, wanted)]

    def find_conversations(self, wanted: Filter) -> list[ListedConversation]:
        """Conversations of which a condition passes a filter, in the data set's order."""
        found: dict[str, set[str]] = {}
        for row in self.find(wanted):
            found.setdefault(row.session_id, set()).add(row.degradation)
        return [
            ListedConversation(
                session_id, tuple(self.by_session[session_id]), frozenset(conditions)
            )
            for session_id, conditions in found.items()
        ]

    def conversation(self, session_id: str) -> ListedConversation | None:
        """One conversation with all its conditions, if it is there."""
        rows = self.by_session.get(session_id)
        if not rows:
            return None
        return ListedConversation(
            session_id, tuple(rows), frozenset(row.degradation for row in rows)
        )

    def choices(self) -> dict[str, list[str]]:
        """What the filters can be set to, most frequent first; nothing that nobody said."""
        rows, unsaid = self._ordered, self.unsaid
        found = {
            "quality": _frequent(row.quality for row in rows),
            "kind": sorted({k for row in rows for k, _ in row.steps}, key=_clean_first),
            "condition": sorted({row.degradation for row in rows} - {"clean"}),
            "severity": sorted({s for row in rows for _, s in row.steps if s}),
            "domain": _frequent(d for row in rows for d in set(row.domains)),
            "query_type": _frequent(t for row in rows for t in set(row.types)),
            "meta": sorted({value for row in rows for value in row.meta})[:_MOST_CHOICES],
        }
        return {name: [] if name in unsaid else values for name, values in found.items()}

    def flipped(self, how: str = "yes") -> frozenset[tuple[str, str]]:
        """Conversations with a turn that one picture gets right and the other does not.

        `lost blur@3`: only those right on the clean picture and not under that condition, `won
        blur@3` the reverse.
        """
        way, _, condition = how.partition(" ")
        found: set[tuple[str, str]] = set()
        for row in self._ordered:
            clean = self._rows.get((row.session_id, "clean"))
            if clean is None or clean is row or condition not in ("", row.degradation):
                continue
            pairs = zip(clean.outcomes, row.outcomes, strict=False)
            flips = {(a in _CORRECT) - (b in _CORRECT) for a, b in pairs if _scored(a, b)}
            if flips & {"lost": {1}, "won": {-1}}.get(way, {1, -1}):
                found |= {row.key, clean.key}
        return frozenset(found)

    @property
    def has_thumbnails(self) -> bool:
        """Whether the pictures behind image-KG hits can be shown: the run's world is still here."""
        return self._shelf.path is not None

    def thumbnail(self, url: str) -> bytes:
        """The picture behind an image-KG hit, by the URL that the KG gives it."""
        return self._shelf.picture(url)

    def _row(
        self, key: tuple[str, str], position: int, record: bytes, marks: list[str], same: _Same
    ) -> ListedRow:
        brief = _SESSION.decode(record)
        return ListedRow(
            session_id=key[0],
            degradation=key[1],
            position=position,
            quality=same.word(brief.capture.quality if brief.capture else NO_PICTURE),
            is_ego=brief.capture.is_ego if brief.capture else False,
            domains=same.words(turn.domain for turn in brief.turns),
            types=same.words(turn.query_type for turn in brief.turns),
            text=same.word("\n".join(turn.query for turn in brief.turns)),
            outcomes=same.words(marks),
            stopped=_stopped(self.stop, key[0], marks),
            meta=same.words(
                sorted({f"{k}: {v}" for turn in brief.turns for k, v in turn.meta.items()})
            ),
        )


class _Same:
    """Keeps what many rows have in common once."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._groups: dict[tuple[str, ...], tuple[str, ...]] = {}

    def word(self, word: str) -> str:
        return self._words.setdefault(word, word)

    def words(self, words: Iterable[str]) -> tuple[str, ...]:
        group = tuple(map(self.word, words))
        return self._groups.setdefault(group, group)


EGO = DEFAULTS["is_ego"]
_MOST_CHOICES = 500
_SHOWN_FIRST = ("faithfulness", "raf", "answer_relevance", "quest_recall", "token_f1")
"""Of several measures the list has room for one."""


def _rank(measure: str) -> int:
    return _SHOWN_FIRST.index(measure) if measure in _SHOWN_FIRST else len(_SHOWN_FIRST)


_CORRECT = {str(Outcome.PERFECT), str(Outcome.ACCEPTABLE)}
_SCORED = _CORRECT | {str(Outcome.MISSING), str(Outcome.INCORRECT)}


def _unsaid(rows: Sequence[ListedRow]) -> frozenset[str]:
    values = {
        "domain": {domain for row in rows for domain in row.domains},
        "query_type": {kind for row in rows for kind in row.types},
        "quality": {row.quality for row in rows if row.quality != NO_PICTURE},
        "is_ego": {EGO if row.is_ego else "" for row in rows},
    }
    return frozenset(name for name, found in values.items() if found <= {DEFAULTS[name]})


def _scored(*marks: str) -> bool:
    return all(mark in _SCORED for mark in marks)


def stop_policy(run: RunReader) -> StopPolicy:
    """When the wearer gives up in this run; the published rule where the run does not say."""
    config = run.meta("config") or {}
    return StopPolicy.parse(config.get("stop", RunConfig().stop), seed=config.get("seed", 0))


_SESSION = msgspec.json.Decoder(ListedSession)


def _stopped(policy: StopPolicy, session_id: str, marks: list[str]) -> bool:
    if str(Status.SKIPPED_AFTER_STOP) in marks:
        return True
    known = set(Outcome)
    outcomes = [Outcome(mark) if mark in known else Outcome.UNSCORED for mark in marks]
    end = policy.rule(session_id, outcomes)
    return end is not None and end < len(outcomes)


def _passes(row: ListedRow, wanted: Filter) -> bool:
    text = wanted.text.casefold().strip()
    return (
        (not wanted.outcome or not _alike(wanted.outcome).isdisjoint(row.outcomes))
        and (not wanted.quality or row.quality == wanted.quality)
        and (not (wanted.kind or wanted.severity) or _degraded(row, wanted))
        and (not wanted.domain or wanted.domain in row.domains)
        and (not wanted.query_type or wanted.query_type in row.types)
        and (not wanted.meta or wanted.meta in row.meta)
        and (not wanted.stopped or row.stopped)
        and (wanted.keys is None or row.key in wanted.keys)
        and (not text or text in row.text.casefold() or text in row.session_id.casefold())
    )


def first_turn(row: ListedRow, outcome: str) -> int:
    """The first turn with an outcome that is looked for, counted from one; 0 where none has it."""
    wanted = _alike(outcome)
    return next((n for n, one in enumerate(row.outcomes, 1) if one in wanted), 0)


def _alike(outcome: str) -> set[str]:
    return _CORRECT if outcome == Outcome.PERFECT else {outcome}  # the app says "right" of it


@lru_cache(maxsize=1024)
def _steps(degradation: str) -> tuple[tuple[str, str], ...]:
    done, stage = split_stage(degradation)
    parts = (part.partition("@") for part in (*done.split("+"), *([stage] if stage else ())))
    return tuple((kind.partition(":")[0], severity) for kind, _, severity in parts)


def _degraded(row: ListedRow, wanted: Filter) -> bool:
    return any(
        wanted.kind in ("", kind) and wanted.severity in ("", severity)
        for kind, severity in row.steps
    )


def _clean_first(name: str) -> tuple[bool, str]:
    return (name != "clean", name)


def _frequent(values: Iterator[Any]) -> list[str]:
    return [value for value, _ in Counter(values).most_common()]
