"""The scoring protocols: pure functions from turn outcomes to numbers.

`crag-mm` and `kddcup25` reproduce the two public evaluation kits number for number, quirks
included; `crag` is the CRAG paper's (`metrics/crag.py`); `strict` is ours and the
default. The definitions and every departure are in docs/scoring.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mmrag.errors import SpecError
from mmrag.records import Outcome, Record

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
    sessions = group(turns)
    ego = {key: rows for key, rows in sessions.items() if rows[0].is_ego}

    def figures(chosen: Mapping[str, Sequence[TurnScore]]) -> dict[str, Any]:
        if protocol == "crag-mm":
            return _official(chosen, stop, stop_first=False)
        if protocol == "kddcup25":
            return _official(chosen, stop, stop_first=True)
        if protocol == "crag":
            from mmrag.metrics.crag import crag_figures

            asked = [row for rows in chosen.values() for row in rows if not row.skipped]
            return crag_figures(asked, resamples, seed)
        if protocol == "strict":
            return _strict(chosen, stop, resamples, seed)
        raise SpecError(f"no protocol is called {protocol!r}. Known: {', '.join(PROTOCOLS)}.")

    result = {"all": figures(sessions)}
    if ego:
        result["ego"] = figures(ego)
    return result


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


def _official(
    sessions: Mapping[str, Sequence[TurnScore]], stop: StopRule, *, stop_first: bool
) -> dict[str, Any]:
    """Both kits: they differ in whether the single-turn figures see the stop.

    The kits know no unscored turn and ask every turn; here the former is left out of every count,
    and `not_asked` says how many turns of the latter kind are missing from the first view.
    """
    counted: list[_Share] = []
    session_scores: list[float] = []
    not_asked = 0
    for rows in sessions.values():
        kept = kept_turns(rows, stop)
        asked = [row for row in rows if not row.skipped]
        before = _shares(asked)
        after = _shares(asked[:kept]) + [_CUT] * (len(rows) - kept)
        not_asked += len(rows) - len(asked)
        counted += after if stop_first else before
        if after:
            session_scores.append(_mean([one.score for one in after]))
    figures = _counts(counted)
    total = figures["total"]
    if total == 1:  # a quirk of both kits
        figures["truthfulness_score"] = 0.0
    figures["mean_multi_turn_conversation_score"] = _mean(session_scores)
    struck = sum(map(has_two_strikes, sessions.values()))
    figures["two_strike_rate"] = _ratio(struck, len(sessions))  # the paper's "early stop"
    if not_asked:
        figures["not_asked"] = not_asked
    return figures


def _strict(
    sessions: Mapping[str, Sequence[TurnScore]], stop: StopRule, resamples: int, seed: int
) -> dict[str, Any]:
    answered: list[list[_Share]] = []
    experienced: list[list[_Share]] = []
    asked = stopped = struck = successes = 0
    for rows in sessions.values():
        kept = kept_turns(rows, stop)
        there = [row for row in rows if not row.skipped]
        asked += len(there)
        stopped += kept < len(rows)
        struck += has_two_strikes(rows)
        successes += sum(row.outcome.is_correct for row in there[:kept])
        answered.append(_shares(there))
        experienced.append(_shares(there[:kept]) + [_CUT] * (len(rows) - kept))
    as_answered = _counts([one for rows in answered for one in rows])
    as_experienced = _counts([one for rows in experienced for one in rows])
    session_scores = [_mean([one.score for one in rows]) for rows in experienced if rows]
    many = len(sessions)
    figures = {
        **as_answered,
        "mean_multi_turn_conversation_score": _mean(session_scores),
        "sessions": many,
        "asked": asked,
        "coverage": _ratio(as_answered["total"], asked),
        "early_stop_rate": _ratio(stopped, many),
        "two_strike_rate": _ratio(struck, many),
        "successful_turns": _ratio(successes, many),
        "as_answered": as_answered,
        "as_experienced": as_experienced,
    }
    if resamples and many > 1:
        clusters = [rows[0].cluster or rows[0].session_id for rows in sessions.values()]
        figures["intervals"] = _intervals(answered, experienced, clusters, resamples, seed)
    return figures


def _intervals(
    answered: Sequence[Sequence[_Share]],
    experienced: Sequence[Sequence[_Share]],
    clusters: Sequence[str],
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """95 % intervals that resample whole sessions."""
    from mmrag.metrics.statistics import cluster_bootstrap

    def interval(values: Sequence[float], of: Sequence[str]) -> list[float | None]:
        found = cluster_bootstrap(values, of, resamples=resamples, seed=seed)["all"]
        return [found.low, found.high]

    result: dict[str, Any] = {}
    for view, sessions in (("as_answered", answered), ("as_experienced", experienced)):
        shares = [one for rows in sessions for one in rows]
        places = [name for name, rows in zip(clusters, sessions, strict=True) for _ in rows]
        result[view] = {
            name: interval([float(value(one)) for one in shares], places)
            for name, value in _VALUES.items()
        }
    lasting = [(name, rows) for name, rows in zip(clusters, experienced, strict=True) if rows]
    scores = [_mean([one.score for one in rows]) for _, rows in lasting]
    result["mean_multi_turn_conversation_score"] = interval(scores, [name for name, _ in lasting])
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
