"""The headline's rates with people's verdicts on the run itself taken in.

Turns are put into strata by the judge's outcome and by whether it is in doubt. What people say of
the turns that the queue drew gives, per stratum, the shares of what is true; every turn that nobody
read counts by the shares of its stratum. Turns that people chose themselves count for themselves
alone: who looks for mistakes finds more than there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmrag.metrics.headline import HEADLINE, Floats, Uncertainty, figure
from mmrag.metrics.statistics import bootstrap_replicates, generator, percentile_interval
from simulator.people.current_verdicts import Standing, agreed, standing_in
from simulator.people.human_verdicts import Key
from simulator.people.judged import OUTCOMES, STRATA, JudgedTurn, judged_turns
from simulator.reports.certainty.corrected import NAMES
from simulator.reports.read.frame import Frame
from simulator.reports.read.session_sums import Mask, Units, view_values
from simulator.store.run_store import RunReader

LEAST = 10
"""Drawn turns that people must have decided before there is an interval: fewer say nothing."""

_KNOWN = STRATA
"""First of the strata of turns whose outcome people said, one for each outcome."""
_ALL = STRATA + len(OUTCOMES)

_WORTH = {NAMES[one]: [float(name == one) for name in OUTCOMES] for one in OUTCOMES}
_WORTH["truthfulness_score"] = [1.0, 0.0, -1.0]


@dataclass(frozen=True)
class Known:
    """What people decided about the turns of a run, ready to correct with."""

    strata: Mapping[Key, int]
    """Of every judged turn; those people chose themselves are in strata of their own."""
    counts: Floats
    """Stratum × what people say, of the drawn turns."""
    verdicts: int
    """Turns that people decided."""
    people: int


def known_of(run: RunReader) -> Known | None:
    """What people decided about a run; None where that is nothing."""
    said = standing_in(run)
    return known_from(said, judged_turns(run)) if said else None


def known_from(said: Standing, turns: Sequence[JudgedTurn]) -> Known | None:
    """The same, of what stands and the judge's turns."""
    strata = {turn.key: turn.stratum for turn in turns}
    counts = np.zeros((STRATA, len(OUTCOMES)))
    used, names = 0, set[str]()
    for key, people in said.items():
        outcome = agreed(people)
        if not outcome or key not in strata:  # no judge scored it, so it is in no rate
            continue
        used += 1
        names |= {who for who, verdict in people.items() if verdict.said.outcome}
        if any(verdict.drawn for verdict in people.values()):
            counts[strata[key], OUTCOMES.index(outcome)] += 1
        else:
            strata[key] = _KNOWN + OUTCOMES.index(outcome)
    return Known(strata, counts, used, len(names)) if used else None


def with_people(
    frame: Frame, rows: Mask, known: Known | None, how: Uncertainty
) -> dict[str, Any] | None:
    """What a report says under `corrected` when people have read turns of the run."""
    return known and {
        **corrected_by_people(frame, rows, known, how),
        "by": "people",
        "verdicts": known.verdicts,
        "people": known.people,
        "drawn": int(known.counts.sum()),
    }


def corrected_by_people(frame: Frame, rows: Mask, known: Known, how: Uncertainty) -> dict[str, Any]:
    """The headline's rates. Turns after a stop are missing, whatever a judge or people say of them.

    The interval holds the chance of the conversations and of the reading.
    """
    units = Units(frame, rows)
    counted, values = view_values(frame, HEADLINE)
    numbers = np.where(frame["kept"], _numbers(frame, known), _KNOWN + OUTCOMES.index("missing"))
    bottom = units.sums(where=counted)
    present = bottom > 0
    many, whole = int(present.sum()), float(bottom.sum())
    if not many:
        return {rate: figure(None, None, None, 0, 0) for rate in _WORTH}
    table = np.stack([units.sums(numbers == n, counted) for n in range(_ALL)], axis=1)[present]
    shares = table.sum(axis=0) / whole
    truth = np.zeros((_ALL, len(OUTCOMES)))
    truth[_KNOWN:] = np.eye(len(OUTCOMES))
    for number in range(STRATA):
        here = rows & counted & (numbers == number)
        seen = known.counts[number].sum()
        if seen:
            truth[number] = known.counts[number] / seen
        elif here.any():  # nobody has read any of these: as judged
            truth[number] = [float(values[NAMES[name]][here].mean()) for name in OUTCOMES]
    drawn = _drawn(table, bottom[present], known, truth, how) if many > 1 else None
    found: dict[str, Any] = {}
    for rate, worth in _WORTH.items():
        estimate = float(shares @ truth @ worth)
        low = high = None
        if drawn is not None:
            low, high = percentile_interval(
                np.asarray(drawn @ np.array(worth), float), clusters=many, level=how.level
            )
        found[rate] = figure(
            estimate,
            None if low is None else min(low, estimate),
            None if high is None else max(high, estimate),
            round(whole),
            many,
        )
    return found


def _numbers(frame: Frame, known: Known) -> Any:
    """The stratum of every row; what the machinery scored without a judge is taken as it stands."""
    degradations = frame.names("degradation")
    score = frame["score"]
    plain = _KNOWN + np.select([score > 0, score == 0], [0, 1], 2)
    columns = zip(
        frame["session"].tolist(), frame["degradation"].tolist(), frame.turn_index.tolist(),
        plain.tolist(), strict=True,
    )  # fmt: skip
    return np.array(
        [
            known.strata.get((frame.sessions[session], degradations[degradation], turn), other)
            for session, degradation, turn, other in columns
        ],
        np.int16,
    )


def _drawn(
    table: Floats, bottom: Floats, known: Known, truth: Floats, how: Uncertainty
) -> Floats | None:
    """Shares of the outcomes again and again: other conversations, other turns read."""
    if not how.resamples or known.counts.sum() < LEAST:
        return None
    below = np.repeat(bottom[:, None], table.shape[1], axis=1)
    shares = bootstrap_replicates(table, below, resamples=how.resamples, seed=how.seed)
    rng = generator(how.seed, "people")
    again = np.repeat(truth[None], len(shares), axis=0)
    for number in range(STRATA):
        if table[:, number].any():  # Jeffreys: what nobody said yet is rare, not impossible
            again[:, number] = rng.dirichlet(known.counts[number] + 0.5, size=len(shares))
    return np.einsum("rs,rso->ro", shares, again)
