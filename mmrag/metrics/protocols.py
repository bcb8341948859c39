"""The three scoring protocols: pure functions from turn outcomes to numbers.

`crag-mm` and `kddcup25` reproduce the two public evaluation kits number for number, quirks
included; `strict` is ours and the default. The definitions and every departure are in
docs/scoring.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mmrag.errors import SpecError
from mmrag.records import Outcome, Record

PROTOCOLS = ("strict", "crag-mm", "kddcup25")


class TurnScore(Record, frozen=True, kw_only=True):
    """What scoring needs to know of one turn."""

    session_id: str
    turn_index: int
    outcome: Outcome
    exact: bool = False
    is_ego: bool | None = None
    cluster: str | None = None
    """The session proper, where `session_id` also names a degradation: intervals resample it, and
    stop rules draw by it, as the engine did. None: the session id itself."""
    skipped: bool = False
    """The turn was never asked, because the conversation had been stopped before it."""


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
    counted: list[tuple[Outcome, bool]] = []
    session_scores: list[float] = []
    not_asked = 0
    for rows in sessions.values():
        kept = kept_turns(rows, stop)
        before = [(row.outcome, row.exact) for row in rows if not row.skipped]
        after = [*before[:kept], *[(Outcome.MISSING, False)] * (len(rows) - kept)]
        before = [pair for pair in before if pair[0] is not Outcome.UNSCORED]
        after = [pair for pair in after if pair[0] is not Outcome.UNSCORED]
        not_asked += sum(row.skipped for row in rows)
        counted += after if stop_first else before
        if after:
            session_scores.append(sum(merged_score(o) for o, _ in after) / len(after))
    figures = _counts(counted)
    total = figures["total"]
    if total == 1:  # a quirk of both kits
        figures["truthfulness_score"] = 0.0
    figures["mean_multi_turn_conversation_score"] = _mean(session_scores)
    if not_asked:
        figures["not_asked"] = not_asked
    return figures


def _strict(
    sessions: Mapping[str, Sequence[TurnScore]], stop: StopRule, resamples: int, seed: int
) -> dict[str, Any]:
    answered: list[list[tuple[Outcome, bool]]] = []
    experienced: list[list[tuple[Outcome, bool]]] = []
    asked = stopped = struck = successes = 0
    for rows in sessions.values():
        kept = kept_turns(rows, stop)
        pairs = [(row.outcome, row.exact) for row in rows if not row.skipped]
        asked += len(pairs)
        stopped += kept < len(rows)
        struck += has_two_strikes(rows)
        successes += sum(outcome.is_correct for outcome, _ in pairs[:kept])
        cut_turns = [(Outcome.MISSING, False)] * (len(rows) - kept)
        answered.append([pair for pair in pairs if pair[0] is not Outcome.UNSCORED])
        experienced.append(
            [pair for pair in pairs[:kept] if pair[0] is not Outcome.UNSCORED] + cut_turns
        )
    as_answered = _counts([pair for rows in answered for pair in rows])
    as_experienced = _counts([pair for rows in experienced for pair in rows])
    session_scores = [
        sum(merged_score(o) for o, _ in rows) / len(rows) for rows in experienced if rows
    ]
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
    answered: Sequence[Sequence[tuple[Outcome, bool]]],
    experienced: Sequence[Sequence[tuple[Outcome, bool]]],
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
        outcomes = [outcome for rows in sessions for outcome, _ in rows]
        places = [name for name, rows in zip(clusters, sessions, strict=True) for _ in rows]
        result[view] = {
            name: interval([float(value(outcome)) for outcome in outcomes], places)
            for name, value in _VALUES.items()
        }
    lasting = [(name, rows) for name, rows in zip(clusters, experienced, strict=True) if rows]
    scores = [_mean([merged_score(outcome) for outcome, _ in rows]) for _, rows in lasting]
    result["mean_multi_turn_conversation_score"] = interval(scores, [name for name, _ in lasting])
    return result


def merged_score(outcome: Outcome) -> float:
    """1, 0 or −1: automatic evaluation merges perfect and acceptable."""
    if outcome.is_correct:
        return 1.0
    return 0.0 if outcome is Outcome.MISSING else -1.0


_VALUES: dict[str, Callable[[Outcome], float]] = {
    "accuracy": lambda outcome: outcome.is_correct,
    "missing": lambda outcome: outcome is Outcome.MISSING,
    "hallucination_rate": lambda outcome: merged_score(outcome) < 0,
    "truthfulness_score": merged_score,
}


def _counts(pairs: Sequence[tuple[Outcome, bool]]) -> dict[str, Any]:
    total = len(pairs)
    correct = sum(outcome.is_correct for outcome, _ in pairs)
    missing = sum(outcome is Outcome.MISSING for outcome, _ in pairs)
    exact = sum(flag for _, flag in pairs)
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
