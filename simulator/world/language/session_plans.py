"""What each session of a world is to be, fixed before anything is made, by quotas and not by luck.

Every published share (domains, lengths, shifts, popularity, and of single questions the types in
each domain) is met by largest remainders over the whole set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from mmrag.errors import UsageError
from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.checks.published_figures import (
    DOMAIN_SHIFT,
    MULTI_TURN,
    SINGLE_TOTALS,
    SINGLE_TURN,
    TORSO_TAIL,
    TYPES,
)
from simulator.world.facts.look import KINDS

T = TypeVar("T")

LENGTHS = {2: 0.04, 3: 0.09, 4: 0.17, 5: 0.33, 6: 0.37}
"""Turns per conversation: 4.9 on average."""

_KG = TORSO_TAIL * 1.5
"""Share of KG questions (equal thirds of popularity), so that a fifth concern torso and tail."""


class SessionPlan(Record, frozen=True, kw_only=True):
    """What one session is to be."""

    id: str
    domain: str
    kinds: tuple[str, ...]
    """The kinds of the domain, the one asked about least first."""
    popularity: str
    source: str
    turns: int
    shifts: int = 0
    """How often it moves to another domain."""
    query_type: str = ""
    """Of a single question; in a conversation the types are kept in balance as it goes."""


def make_plan(seed: int, conversations: int, singles: int) -> tuple[SessionPlan, ...]:
    """Plans of all sessions: the multi-turn set, then the single-turn set."""
    if conversations < 0 or singles < 0 or conversations + singles < 1:
        raise UsageError(
            f"{conversations} conversations and {singles} single questions make no data set; "
            "ask for at least one session."
        )
    multi = _Planner(Draw(seed, "plan", "multi", conversations)).conversations(conversations)
    single = _Planner(Draw(seed, "plan", "single", singles)).singles(singles)
    return (*multi, *single)


def quota(shares: Mapping[T, float], total: int) -> dict[T, int]:
    """Whole numbers in proportion to shares, by largest remainders; their sum is `total`."""
    whole = sum(shares.values())
    exact = {k: v * total / whole for k, v in shares.items()}
    counts = {k: int(v) for k, v in exact.items()}
    order = sorted(exact, key=lambda k: (counts[k] - exact[k], str(k)))
    for k in order[: total - sum(counts.values())]:
        counts[k] += 1
    return counts


class _Planner:
    """Keeps the balances of one set."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._kinds: dict[str, int] = {}
        self._orders: dict[str, list[str]] = {}

    def singles(self, n: int) -> list[SessionPlan]:
        slots: list[tuple[str, str]] = []
        for domain, count in quota(SINGLE_TOTALS, n).items():
            types = quota(dict(zip(TYPES, SINGLE_TURN[domain], strict=True)), count)
            slots += [(domain, t) for t, k in types.items() for _ in range(k)]
        slots = self._draw.shuffled(slots)
        popularity = self._popularity(n)
        return [
            self._session(f"single-{i:05d}", domain, popularity[i], 1, query_type=query_type)
            for i, (domain, query_type) in enumerate(slots)
        ]

    def conversations(self, n: int) -> list[SessionPlan]:
        lengths = self._spread(quota(LENGTHS, n))
        domains = self._spread(quota(MULTI_TURN, n))
        shifting = self._spread(quota({1: DOMAIN_SHIFT, 0: 1 - DOMAIN_SHIFT}, n))
        popularity = self._popularity(n)
        return [
            self._session(f"multi-{i:05d}", domains[i], popularity[i], lengths[i], shifts=shift)
            for i, shift in enumerate(shifting)
        ]

    def _spread(self, counts: Mapping[T, int]) -> list[T]:
        return self._draw.shuffled([k for k, n in counts.items() for _ in range(n)])

    def _popularity(self, n: int) -> list[tuple[str, str]]:
        shares = {("kg", p): _KG / 3 for p in ("head", "torso", "tail")}
        return self._spread(quota({**shares, ("web", "head"): 1 - _KG}, n))

    def _order(self, domain: str) -> tuple[str, ...]:
        """The kinds of a domain, the one that was asked about least first."""
        if domain not in self._orders:
            self._orders[domain] = self._draw.shuffled(KINDS[domain])
        order = sorted(self._orders[domain], key=lambda k: self._kinds.get(k, 0))
        self._kinds[order[0]] = self._kinds.get(order[0], 0) + 1
        return tuple(order)

    def _session(
        self, session_id: str, domain: str, popularity: tuple[str, str], turns: int, *,
        shifts: int = 0, query_type: str = "",
    ) -> SessionPlan:  # fmt: skip
        return SessionPlan(
            id=session_id,
            domain=domain,
            kinds=self._order(domain),
            source=popularity[0],
            popularity=popularity[1],
            turns=turns,
            shifts=shifts,
            query_type=query_type,
        )
