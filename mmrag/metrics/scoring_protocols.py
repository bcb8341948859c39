"""The scoring protocols: pure functions from turn outcomes to numbers.

`crag-mm` and `kddcup25` reproduce the two public evaluation kits number for number, quirks
included; `crag` is the CRAG paper's (`metrics/crag_scores.py`); `strict` is ours and the
default. The definitions and every departure are in docs/scoring.md.
"""

from __future__ import annotations

import copy
import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mmrag.errors import SpecError
from mmrag.records import Outcome, Record
from mmrag.registry import unknown_name_message

if TYPE_CHECKING:
    from mmrag.metrics.headline import Sums

PROTOCOLS = ("strict", "crag-mm", "kddcup25", "crag")


def check_protocol(name: str) -> None:
    """Refuse a protocol that nobody knows."""
    if name not in PROTOCOLS:
        raise SpecError(unknown_name_message("protocol", name, PROTOCOLS))


class TurnScore(Record, frozen=True, kw_only=True):
    """What scoring needs to know of one turn."""

    session_id: str
    turn_index: int
    outcome: Outcome
    exact: bool = False
    missing: bool = False
    """A public kit counts the turn as missing beside its outcome (`official.as_in_kit`)."""
    votes: tuple[Outcome, ...] = ()
    """What each judge of a panel said: every rate is averaged over the judges, as CRAG does."""
    is_ego: bool | None = None
    cluster: str | None = None
    """The session proper, where `session_id` also names a degradation: intervals resample it, and
    stop rules draw by it, as the engine did. None: the session id itself."""
    skipped: bool = False
    """The turn was never asked, because the conversation had been stopped before it."""
    failed: bool = False
    """There was nothing to judge, by a failure of the machinery. Unscored without it is a reply
    that lacks a verdict."""
    printed: Outcome | None = None
    """What CRAG's printed rule makes of a false premise, where that differs from the outcome."""
    domain: str = ""
    query_type: str = ""
    dynamism: str = ""
    seconds: float | None = None
    """How long the reply took, where that is known."""


StopRule = Callable[[str, Sequence[Outcome]], "int | None"]
"""(session id, outcomes as answered) → index of the first turn that is cut, or None."""


def strike_rule(limit: int) -> StopRule:
    """Stop after `limit` consecutive turns that are not correct. An unscored turn is neither a
    strike nor a pardon: the test looks past it."""

    def rule(session_id: str, outcomes: Sequence[Outcome]) -> int | None:
        del session_id
        failures = 0
        for index, outcome in enumerate(outcomes):
            if outcome is Outcome.UNSCORED:
                continue
            failures = 0 if outcome.is_correct else failures + 1
            if failures == limit:
                return index + 1
        return None

    return rule


two_strikes: StopRule = strike_rule(2)
"""The published rule."""


def score(
    turns: Iterable[TurnScore],
    protocol: str = "strict",
    *,
    stop: StopRule = two_strikes,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """Figures under a protocol: `all`, and `ego` where is_ego is known.

    `ego` repeats everything on egocentric sessions. `resamples` is the number of bootstrap
    resamples behind the intervals of `strict`; 0 leaves the intervals out.
    """
    scoring = ScoreAccumulator(protocol, stop=stop, resamples=resamples, seed=seed)
    for rows in group_sessions(turns).values():
        scoring.add(rows)
    return scoring.figures()


class ScoreAccumulator:
    """What `score` counts, session by session, for runs too large to have every turn in memory."""

    def __init__(
        self, protocol: str = "strict", *, stop: StopRule, resamples: int = 1000, seed: int = 0
    ) -> None:
        check_protocol(protocol)

        def counts() -> _Counts:
            if protocol == "strict":
                return _Strict(stop, resamples, seed)
            if protocol == "crag":
                return _Crag(resamples, seed)
            return _Official(stop, stop_first=protocol == "kddcup25")

        self._all = counts()
        self._ego: _Counts | None = None
        """None as long as that is all."""
        self.tells_ego = False
        """Whether a session said that it is not egocentric."""

    def add(self, rows: Sequence[TurnScore]) -> None:
        """Count the turns of one session, which are in order."""
        if not rows[0].is_ego and self._ego is None:
            self._ego = copy.deepcopy(self._all)
        if rows[0].is_ego and self._ego is not None:
            self._ego.add(rows)
        self._all.add(rows)
        self.tells_ego |= rows[0].is_ego is False

    def figures(self) -> dict[str, dict[str, Any]]:
        """All of them."""
        result = {"all": self._all.figures()}
        if self._ego is None and self._all.sessions:
            result["ego"] = copy.deepcopy(result["all"])
        elif self._ego is not None and self._ego.sessions:
            result["ego"] = self._ego.figures()
        return result


def stream_sessions(turns: Iterable[TurnScore]) -> Iterator[list[TurnScore]]:
    """As `group_sessions`, one session at a time, where the turns of each stand together."""
    for _, rows in itertools.groupby(turns, key=lambda row: row.session_id):
        yield sorted(rows, key=lambda row: row.turn_index)


def group_sessions(turns: Iterable[TurnScore]) -> dict[str, list[TurnScore]]:
    """Turns by session in order of appearance, each session sorted by turn."""
    sessions: dict[str, list[TurnScore]] = {}
    for turn in turns:
        sessions.setdefault(turn.session_id, []).append(turn)
    for rows in sessions.values():
        rows.sort(key=lambda row: row.turn_index)
    return sessions


def kept_turns(rows: Sequence[TurnScore], stop: StopRule) -> int:
    """How many turns of a session take place under a stop rule."""
    asked = [row for row in rows if not row.skipped]
    end = stop(rows[0].cluster or rows[0].session_id, [row.outcome for row in asked])
    return len(asked) if end is None else min(end, len(asked))


def has_two_strikes(rows: Sequence[TurnScore]) -> bool:
    """Whether two consecutive scored turns failed, even if no turn was left to cut."""
    return two_strikes("", [row.outcome for row in rows if not row.skipped]) is not None


class _Counts(Protocol):
    """The figures of a protocol, as sessions come."""

    sessions: int

    def add(self, rows: Sequence[TurnScore]) -> None: ...

    def figures(self) -> dict[str, Any]: ...


class _View:
    """Sums of each session over the turns that count in a view."""

    def __init__(self) -> None:
        self._right, self._missing, self._score = array("d"), array("d"), array("d")
        self._counted, self._unjudged = array("q"), array("q")
        self._exact = 0

    def add(self, shares: Sequence[_Share], rows: Sequence[TurnScore]) -> None:
        """The shares that count of a session, and the rows of which some may lack a verdict."""
        self._right.append(sum(one.correct for one in shares))
        self._missing.append(sum(one.missing for one in shares))
        self._score.append(sum(one.score for one in shares))
        self._exact += sum(one.exact for one in shares)
        self._counted.append(len(shares))
        self._unjudged.append(sum(_lacks_verdict(row) for row in rows))

    def figures(self, clusters: Sequence[int] | None, resamples: int, seed: int) -> dict[str, Any]:
        """Counts and rates. Where the rates are bounds, they are None beside `bounds`."""
        from mmrag.metrics.headline import IntervalOptions, rates

        found = rates(self._sums(clusters), IntervalOptions(resamples, seed))
        total, right, missing = sum(self._counted), _whole(self._right), _whole(self._missing)
        rate = {name: one["estimate"] if total else 0.0 for name, one in found.items()}
        if total and rate["truthfulness_score"] is not None:  # in the order of the kits
            rate["truthfulness_score"] = (2 * right + missing) / total - 1
        counts = {
            "total": total,
            "correct_exact": self._exact,
            "correct": right,
            "miss": missing,
            "hallucination": total - right - missing,
            "exact_match": _ratio(self._exact, total),
        }
        if "bounds" in found["accuracy"]:
            limits = {name: one["bounds"] for name, one in found.items()}
            none = dict.fromkeys(found)
            return {"bounds": limits, "unjudged": sum(self._unjudged), **counts, **none}
        if not resamples or len(self._counted) < 2:
            return {**counts, **rate}
        spans = {name: [one["low"], one["high"]] for name, one in found.items()}
        return {**counts, **rate, "intervals": spans}

    def conversation_mean(
        self, clusters: Sequence[int] | None, resamples: int, seed: int, *, is_bounded: bool
    ) -> dict[str, Any]:
        """The multi-turn score."""
        import numpy as np

        from mmrag.metrics.headline import IntervalOptions, conversation_mean

        return conversation_mean(
            np.asarray(self._score), self._sums(None), IntervalOptions(resamples, seed),
            is_bounded=is_bounded, clusters=clusters or None,
        )  # fmt: skip

    def _sums(self, clusters: Sequence[int] | None) -> Sums:
        import numpy as np

        from mmrag.metrics.headline import Sums

        cells = (self._right, self._missing, self._counted, self._unjudged)
        if not clusters:
            return Sums(*(np.asarray(one, float) for one in cells))
        return Sums(*(np.bincount(clusters, one).astype(float) for one in cells))


class _Official:
    """Both kits: they differ in whether the single-turn figures see the stop.

    The kits know no unscored turn and ask every turn; here the former is left out of every count,
    and `not_asked` says how many turns of the latter kind are missing from the first view.
    """

    def __init__(self, stop: StopRule, *, stop_first: bool) -> None:
        self.sessions = self._struck = self._not_asked = 0
        self._stop, self._stop_first = stop, stop_first
        self._counted, self._stopped = _View(), _View()

    def add(self, rows: Sequence[TurnScore]) -> None:
        kept = kept_turns(rows, self._stop)
        asked = [row for row in rows if not row.skipped]
        after = _shares(asked[:kept]) + [_CUT] * (len(rows) - kept)
        self.sessions += 1
        self._struck += has_two_strikes(rows)
        self._not_asked += len(rows) - len(asked)
        self._stopped.add(after, asked[:kept])
        if not self._stop_first:
            self._counted.add(_shares(asked), asked)

    def figures(self) -> dict[str, Any]:
        view = self._stopped if self._stop_first else self._counted
        figures = view.figures(None, 0, 0)
        if figures["total"] == 1 and "bounds" not in figures:  # a quirk of both kits
            figures["truthfulness_score"] = 0.0
        _put_mean(figures, self._stopped, None, 0, 0)
        # the paper's "early stop"
        figures["two_strike_rate"] = _ratio(self._struck, self.sessions)
        if self._not_asked:
            figures["not_asked"] = self._not_asked
        return figures


class _Crag:
    """CRAG's means; its questions stand alone, so every turn is kept until the end."""

    def __init__(self, resamples: int, seed: int) -> None:
        self.sessions = 0
        self._resamples, self._seed = resamples, seed
        self._asked: list[TurnScore] = []
        self._view = _View()

    def add(self, rows: Sequence[TurnScore]) -> None:
        asked = [row for row in rows if not row.skipped]
        self.sessions += 1
        self._asked += asked
        self._view.add(_shares(asked), asked)

    def figures(self) -> dict[str, Any]:
        from mmrag.metrics.crag_scores import crag_figures

        figures = crag_figures(self._asked, self._resamples, self._seed)
        found = self._view.figures(None, 0, 0)
        if "bounds" not in found:
            return figures
        limits = found["bounds"]
        limits["automatic"] = limits["truthfulness_score"]
        limits["incorrect"] = limits["hallucination_rate"]
        counts = ("total", "judges", "coverage", "false_premises")
        known = {name: figures[name] if name in counts else None for name in figures}
        known.pop("intervals", None)
        return {"bounds": limits, "unjudged": found["unjudged"], **known}


class _Strict:
    """Ours: the headline, as experienced by a wearer who gives up, and the second view."""

    def __init__(self, stop: StopRule, resamples: int, seed: int) -> None:
        self.sessions = self._asked = self._scored = self._stopped = self._struck = 0
        self._successes = 0
        self._stop, self._resamples, self._seed = stop, resamples, seed
        self._answered, self._experienced = _View(), _View()
        self._clusters: dict[str, int] = {}
        self._cluster = array("q")
        """Of each session."""

    def add(self, rows: Sequence[TurnScore]) -> None:
        kept = kept_turns(rows, self._stop)
        there = [row for row in rows if not row.skipped]
        answered = _shares(there)
        self.sessions += 1
        self._asked += len(there)
        self._scored += len(answered)
        self._stopped += kept < len(rows)
        self._struck += has_two_strikes(rows)
        self._successes += sum(row.outcome.is_correct for row in there[:kept])
        self._answered.add(answered, there)
        after = _shares(there[:kept]) + [_CUT] * (len(rows) - kept)
        self._experienced.add(after, there[:kept])
        cluster = rows[0].cluster or rows[0].session_id
        self._cluster.append(self._clusters.setdefault(cluster, len(self._clusters)))

    def figures(self) -> dict[str, Any]:
        many, drawn = self.sessions, (self._cluster, self._resamples, self._seed)
        figures = self._experienced.figures(*drawn)
        _put_mean(figures, self._experienced, *drawn)
        return {
            **figures,
            "sessions": many,
            "asked": self._asked,
            "coverage": _ratio(self._scored, self._asked),
            "early_stop_rate": _ratio(self._stopped, many),
            "two_strike_rate": _ratio(self._struck, many),
            "successful_turns": _ratio(self._successes, many),
            "as_answered": self._answered.figures(*drawn),
        }


def _put_mean(
    figures: dict[str, Any], view: _View, clusters: Sequence[int] | None, resamples: int, seed: int
) -> None:
    """The multi-turn score beside the rates, which say whether it is to be bounds."""
    name, is_bounded = "mean_multi_turn_conversation_score", "bounds" in figures
    found = view.conversation_mean(clusters, resamples, seed, is_bounded=is_bounded)
    figures[name] = found["estimate"] if found["n"] else 0.0
    if is_bounded:
        figures[name] = None
        figures["bounds"][name] = found["bounds"]
    elif "intervals" in figures:
        figures["intervals"][name] = [found["low"], found["high"]]


class _Share(NamedTuple):
    """What a scored turn adds to each rate: whole numbers, or shares of a panel's judges."""

    correct: float
    missing: float
    wrong: float
    exact: bool = False

    @property
    def score(self) -> float:
        return self.correct - self.wrong


_CUT = _Share(0, 1, 0)
"""A turn after the stop."""


def _shares(rows: Sequence[TurnScore]) -> list[_Share]:
    """Of the rows that were scored."""
    return [_share(row) for row in rows if row.outcome is not Outcome.UNSCORED]


def _lacks_verdict(row: TurnScore) -> bool:
    return row.outcome is Outcome.UNSCORED and not (row.failed or row.skipped)


def _share(row: TurnScore) -> _Share:
    if not row.votes and not row.missing:
        return _PLAIN[row.exact][row.outcome.value]
    correct, missing, wrong = shares_of(row.outcome, row.votes)
    return _Share(correct, 1 if row.missing else missing, wrong, row.exact)


def shares_of(outcome: Outcome, votes: Sequence[Outcome] = ()) -> tuple[float, float, float]:
    """How much of a scored turn is correct, missing and wrong.

    Automatic evaluation merges perfect and acceptable. Several judges that voted share the turn.

    >>> shares_of(Outcome.INCORRECT, (Outcome.PERFECT, Outcome.INCORRECT))
    (0.5, 0.0, 0.5)
    """
    said = [vote for vote in votes if vote is not Outcome.UNSCORED]
    if len(said) < 2:
        said = [outcome]
    correct = sum(vote.is_correct for vote in said)
    missing = sum(vote is Outcome.MISSING for vote in said)
    wrong = len(said) - correct - missing
    if len(said) == 1:
        return correct, missing, wrong
    return correct / len(said), missing / len(said), wrong / len(said)


_PLAIN = {
    exact: {str(outcome): _Share(*shares_of(outcome), exact) for outcome in Outcome}
    for exact in (False, True)
}
"""Of turns that one judge decided: kept once, since a run may have millions of them."""


def _whole(shares: Sequence[float]) -> float:
    """The sum, as a whole number where no panel was divided."""
    total = sum(shares)
    return int(total) if total == int(total) else total


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
