"""Where a judge doubts itself, as far as its verdict tells."""

from __future__ import annotations

import re

from mmrag.records import Outcome, Verdict

SURE = 0.9
"""Below this chance of either side the built-in judge calls itself unsure."""


def merged(outcome: Outcome) -> str:
    """correct, missing, incorrect or unscored: perfect and acceptable are one."""
    return "correct" if outcome.is_correct else str(outcome)


def doubt_of(verdict: Verdict) -> str:
    """Why a verdict is doubtful, in a few words; empty where it shows no doubt.

    >>> doubt_of(Verdict(outcome=Outcome.PERFECT, judge="b", reason="model: p(correct) = 0.612"))
    'judge unsure, p(correct) = 0.612'
    """
    sides = {merged(vote.outcome) for vote in verdict.votes} - {str(Outcome.UNSCORED)}
    if len(sides) > 1:
        return "votes differ"
    found = _CHANCE.search(verdict.reason[:400])
    if found and max(float(found[1]), 1 - float(found[1])) < SURE:
        return f"judge unsure, p(correct) = {found[1]}"
    return "judge unsure" if verdict.reason.startswith("unsure") else ""


_CHANCE = re.compile(r"p\(correct\) = ([01]\.\d+)")
