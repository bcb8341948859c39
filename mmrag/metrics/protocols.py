"""The scoring protocols: pure functions from turn outcomes to numbers.

`crag-mm` and `kddcup25` reproduce the two public evaluation kits number for number, quirks
included; `crag` is the CRAG paper's (`metrics/crag.py`); `strict` is ours and the
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

PROTOCOLS = ("strict", "crag-mm", "kddcup25", "crag")


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
    printed: Outcome | None = None
    """What CRAG's printed rule makes of a false premise, where that differs from the outcome."""
    domain: str = ""
    query_type: str = ""
    dynamism: str = ""
    seconds: float | None = None
    """How long the reply took, where that is known."""


StopRule = Callable[[str, Sequence[Outcome]], "int | None"]
"""(session id, outcomes as answered) → index of the first turn that is cut, or None."""


def strikes(limit: int) -> StopRule:
    """Stop after `limit` consecutive turns that are not correct.

    An unscored turn is neither a strike nor a pardon: the test looks past it.
    """

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


two_strikes: StopRule = strikes(2)
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
    scoring = Scoring(protocol, stop=stop, resamples=resamples, seed=seed)
    for rows in group(turns).values():
        scoring.add(rows)
    return scoring.figures()


class Scoring:
    """What `score` counts, session by session, for runs too large to have every turn in memory."""

    def __init__(
        self, protocol: str = "strict", *, stop: StopRule, resamples: int = 1000, seed: int = 0
    ) -> None:
        if protocol not in PROTOCOLS:
            raise SpecError(f"no protocol is called {protocol!r}. Known: {', '.join(PROTOCOLS)}.")

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


def sessions_of(turns: Iterable[TurnScore]) -> Iterator[list[TurnScore]]:
    """As `group`, of turns of which each session's stand together: one session at a time."""
    for _, rows in itertools.groupby(turns, key=lambda row: row.session_id):
        yield sorted(rows, key=lambda row: row.turn_index)


def group(turns: Iterable[TurnScore]) -> dict[str, list[TurnScore]]:
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


class _Official:
    """Both kits: they differ in whether the single-turn figures see the stop.

    The kits know no unscored turn and ask every turn; here the former is left out of every count,
    and `not_asked` says how many turns of the latter kind are missing from the first view.
    """

    def __init__(self, stop: StopRule, *, stop_first: bool) -> None:
        self.sessions = self._struck = self._not_asked = 0
        self._stop, self._stop_first = stop, stop_first
        self._counted: list[_Share] = []
        self._scores = array("d")

    def add(self, rows: Sequence[TurnScore]) -> None:
        kept = kept_turns(rows, self._stop)
        asked = [row for row in rows if not row.skipped]
        after = _shares(asked[:kept]) + [_CUT] * (len(rows) - kept)
        self.sessions += 1
        self._struck += has_two_strikes(rows)
        self._not_asked += len(rows) - len(asked)
        self._counted += after if self._stop_first else _shares(asked)
        if after:
            self._scores.append(_mean([one.score for one in after]))

    def figures(self) -> dict[str, Any]:
        figures = _counts(self._counted)
        if figures["total"] == 1:  # a quirk of both kits
            figures["truthfulness_score"] = 0.0
        figures["mean_multi_turn_conversation_score"] = _mean(self._scores)
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

    def add(self, rows: Sequence[TurnScore]) -> None:
        self.sessions += 1
        self._asked += [row for row in rows if not row.skipped]

    def figures(self) -> dict[str, Any]:
        from mmrag.metrics.crag import crag_figures

        return crag_figures(self._asked, self._resamples, self._seed)


class _View:
    """The shares of the turns that count in one view: a reference each, since they are shared."""

    def __init__(self) -> None:
        self.shares: list[_Share] = []
        self.sizes = array("q")
        """Of each session."""

    def add(self, shares: list[_Share]) -> None:
        self.shares += shares
        self.sizes.append(len(shares))


class _Strict:
    """Ours: as answered, and as experienced by a wearer who gives up."""

    def __init__(self, stop: StopRule, resamples: int, seed: int) -> None:
        self.sessions = self._asked = self._stopped = self._struck = self._successes = 0
        self._stop, self._resamples, self._seed = stop, resamples, seed
        self._answered, self._experienced = _View(), _View()
        self._scores = array("d")
        """Of each session in which something counts."""
        self._clusters: dict[str, int] = {}
        self._cluster = array("q")
        """Of each session."""

    def add(self, rows: Sequence[TurnScore]) -> None:
        kept = kept_turns(rows, self._stop)
        there = [row for row in rows if not row.skipped]
        experienced = _shares(there[:kept]) + [_CUT] * (len(rows) - kept)
        self.sessions += 1
        self._asked += len(there)
        self._stopped += kept < len(rows)
        self._struck += has_two_strikes(rows)
        self._successes += sum(row.outcome.is_correct for row in there[:kept])
        self._answered.add(_shares(there))
        self._experienced.add(experienced)
        if experienced:
            self._scores.append(_mean([one.score for one in experienced]))
        if self._resamples:
            cluster = rows[0].cluster or rows[0].session_id
            self._cluster.append(self._clusters.setdefault(cluster, len(self._clusters)))

    def figures(self) -> dict[str, Any]:
        as_answered = _counts(self._answered.shares)
        as_experienced = _counts(self._experienced.shares)
        many = self.sessions
        figures = {
            **as_answered,
            "mean_multi_turn_conversation_score": _mean(self._scores),
            "sessions": many,
            "asked": self._asked,
            "coverage": _ratio(as_answered["total"], self._asked),
            "early_stop_rate": _ratio(self._stopped, many),
            "two_strike_rate": _ratio(self._struck, many),
            "successful_turns": _ratio(self._successes, many),
            "as_answered": as_answered,
            "as_experienced": as_experienced,
        }
        if self._resamples and many > 1:
            figures["intervals"] = self._intervals()
        return figures

    def _intervals(self) -> dict[str, Any]:
        """95 % intervals that resample whole sessions."""
        import numpy as np

        from mmrag.metrics.statistics import cluster_bootstrap

        def interval(values: ArrayLike, of: NDArray[np.int64]) -> list[float | None]:
            found = cluster_bootstrap(values, of, resamples=self._resamples, seed=self._seed)["all"]
            return [found.low, found.high]

        clusters = np.asarray(self._cluster)
        result: dict[str, Any] = {}
        for name, view in (("as_answered", self._answered), ("as_experienced", self._experienced)):
            places = np.repeat(clusters, view.sizes)
            result[name] = {
                rate: interval(np.fromiter(map(value, view.shares), float, len(places)), places)
                for rate, value in _VALUES.items()
            }
        lasting = clusters[np.asarray(self._experienced.sizes) > 0]
        result["mean_multi_turn_conversation_score"] = interval(np.asarray(self._scores), lasting)
        return result


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

_VALUES: dict[str, Callable[[_Share], float]] = {
    "accuracy": lambda one: one.correct,
    "missing": lambda one: one.missing,
    "hallucination_rate": lambda one: one.wrong,
    "truthfulness_score": lambda one: one.score,
}


def _shares(rows: Sequence[TurnScore]) -> list[_Share]:
    """Of the rows that were scored."""
    return [_share(row) for row in rows if row.outcome is not Outcome.UNSCORED]


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


def _counts(shares: Sequence[_Share]) -> dict[str, Any]:
    total = len(shares)
    correct = sum(one.correct for one in shares)
    missing = sum(one.missing for one in shares)
    exact = sum(one.exact for one in shares)
    wrong = total - correct - missing
    return {
        "total": total,
        "correct_exact": exact,
        "correct": correct,
        "miss": missing,
        "hallucination": wrong,
        "exact_match": _ratio(exact, total),
        "accuracy": _ratio(correct, total),
        "missing": _ratio(missing, total),
        "hallucination_rate": _ratio(wrong, total),
        "truthfulness_score": (2 * correct + missing) / total - 1 if total else 0.0,
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
