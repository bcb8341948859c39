"""Replies under the public kits' protocols: what their own rules decide, and what a judge decides.

Each kit looks for its own words of not knowing and for an exact match, and asks a judge only about
what is left. The kits know one true answer: the first reference. The quirks, each with its test,
are in docs/scoring.md.
"""

from __future__ import annotations

import msgspec

from mmrag.metrics.scoring_protocols import TurnScore
from mmrag.records import JudgeItem, Outcome, Record
from mmrag.text.normalise import official_exact
from mmrag.text.refusals import official_missing

OFFICIAL = ("crag-mm", "kddcup25")
"""The protocols whose kits read the replies themselves."""


class TurnToScore(Record, frozen=True, kw_only=True):
    """A turn with what was said in it."""

    turn: TurnScore
    """With the outcome that is known so far."""
    item: JudgeItem | None = None
    """The reply as a judge is given it; None where there is no reply."""
    is_judged: bool = True
    """Whether the outcome is somebody's verdict on the reply."""


def needs_judge(said: TurnToScore, protocol: str) -> bool:
    """Whether a judge has to say what the reply is worth."""
    if said.item is None:
        return False
    if protocol == "crag":
        return _by_string(said.item) is None
    if protocol not in OFFICIAL:
        return True
    return not (_is_exact(said.item) or official_missing(said.item.prediction, protocol))


INVALID = "invalid question"
"""CRAG's answer to a false premise."""


def as_in_kit(said: TurnToScore, protocol: str) -> TurnScore:
    """The turn as a kit counts it. Other protocols take it as it stands; under `crag`, CRAG's
    string rules come before the judge, and what the printed rule makes of a false premise stands
    beside it.

    A kit's judge says right or wrong: what only our judge calls missing is wrong. A reply may be an
    exact match and missing at once, where the reference itself is "I don't know"; it then counts as
    both.
    """
    turn, item = said.turn, said.item
    if item is not None and protocol == "crag":
        printed = _by_the_printed_rule(item, turn.outcome)
        if (outcome := _by_string(item)) is None:
            return msgspec.structs.replace(turn, printed=printed)
        return msgspec.structs.replace(turn, outcome=outcome, votes=(), printed=printed)
    if item is None or protocol not in OFFICIAL:
        return turn
    exact, missing = _is_exact(item), official_missing(item.prediction, protocol)
    if exact:
        outcome = Outcome.PERFECT
    elif missing:
        outcome = Outcome.MISSING
    elif turn.outcome is Outcome.MISSING:
        outcome = Outcome.INCORRECT
    else:
        outcome = turn.outcome
    votes = () if exact or missing else tuple(map(_right_or_wrong, turn.votes))
    return msgspec.structs.replace(
        turn, outcome=outcome, exact=exact, missing=exact and missing, votes=votes
    )


def _by_string(item: JudgeItem) -> Outcome | None:
    """What CRAG's evaluation settles by the characters alone; None where it asks a judge.

    "i don't know" anywhere is missing, an equal reply right; "invalid" in the reply and in a
    reference is right, in one of them only wrong.
    """
    said = item.prediction.strip().lower()
    if "i don't know" in said:
        return Outcome.MISSING
    left = False
    for reference in (reference.strip().lower() for reference in item.references):
        if said == reference or ("invalid" in said and "invalid" in reference):
            return Outcome.PERFECT
        left = left or ("invalid" in said) == ("invalid" in reference)
    return None if left or not item.references else Outcome.INCORRECT


def _by_the_printed_rule(item: JudgeItem, outcome: Outcome) -> Outcome | None:
    """ "If the Ground Truth is 'invalid question', Accuracy is True only if the model prediction is
    exactly 'invalid question'": None where the ground truth is anything else."""
    if not item.references or not official_exact(item.references[0], INVALID):
        return None
    if official_exact(item.prediction, INVALID):
        return Outcome.PERFECT
    return Outcome.MISSING if outcome is Outcome.MISSING else Outcome.INCORRECT


def _right_or_wrong(outcome: Outcome) -> Outcome:
    return Outcome.INCORRECT if outcome is Outcome.MISSING else outcome


def _is_exact(item: JudgeItem) -> bool:
    return bool(item.references) and official_exact(item.prediction, item.references[0])
