"""Who read how much, and how far the judge agrees with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mmrag.metrics.agreement import Agreement, compare
from mmrag.records import Record
from simulator.people.current_verdicts import leading_outcome
from simulator.people.human_verdicts import HumanOutcome, HumanVerdict, Key


class PeopleAgreement(Record, frozen=True, kw_only=True):
    """Who read how much, and how far it is the same."""

    people: Mapping[str, int]
    """Name → turns this person decided."""
    decided: int
    """Turns with an outcome most of their readers give."""
    twice: int
    """Turns that two people or more decided."""
    disputed: int
    """Turns on which as many say one thing as another: a further reader settles them."""
    unsure: int
    """Turns that somebody left open."""
    judge: Agreement | None
    """The judge against people on the turns they decided."""


def agreement(
    standing: Mapping[Key, Mapping[str, HumanVerdict]], judged: Mapping[Key, str]
) -> PeopleAgreement:
    """Of what stands of people's verdicts, and the judge's outcome by turn."""
    rows = {
        key: {who: v.said.outcome for who, v in people.items() if v.said.outcome}
        for key, people in standing.items()
    }
    said = {key: leading_outcome(people) for key, people in standing.items()}
    against = [(one, judged[key]) for key, one in said.items() if one and key in judged]
    return PeopleAgreement(
        people=dict(Counter(who for row in rows.values() for who in sorted(row)).most_common()),
        decided=sum(bool(one) for one in said.values()),
        twice=sum(len(row) > 1 for row in rows.values()),
        disputed=sum(bool(rows[key]) and not one for key, one in said.items()),
        unsure=sum(
            any(v.said is HumanOutcome.UNSURE for v in p.values()) for p in standing.values()
        ),
        judge=compare([a for a, _ in against], [b for _, b in against]) if against else None,
    )
