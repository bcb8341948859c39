"""What each session is to be, fixed before anything is made: quotas instead of luck.

The plan depends on the seed and the counts alone, so sessions can then be made in any order and by
any number of workers. Every published share is met by largest remainders over the whole set; which
way an either-or question comes out alternates within its operation and domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

from mmrag.errors import UsageError
from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.checks.published import (
    DOMAIN_SHIFT,
    DYNAMISM,
    EXTERNAL,
    MULTI_TURN,
    SINGLE_TOTALS,
    SINGLE_TURN,
    TORSO_TAIL,
    TYPE_TOTALS,
    TYPES,
)
from simulator.world.facts.catalogue import attribute_of, domain_of_kind
from simulator.world.facts.fact_records import Ref
from simulator.world.facts.look import KINDS, LABELLED
from simulator.world.language.questions.asking import Template
from simulator.world.language.questions.operations_by_attribute import (
    OPERATIONS,
    hub_templates,
    templates,
)

T = TypeVar("T")

LENGTHS = {2: 0.04, 3: 0.09, 4: 0.17, 5: 0.33, 6: 0.37}
"""Turns per conversation: 4.9 on average."""

_KG = TORSO_TAIL * 1.5
"""Share of KG questions (equal thirds of popularity), so that a fifth concern torso and tail."""

_VISUAL = 1 - EXTERNAL - TYPE_TOTALS[TYPES[0]] / sum(TYPE_TOTALS.values())
"""Share of questions beside recognition that the picture alone answers: 11 % in all."""

_PRINTED = ("reasoning", "static")
"""The type and dynamism of questions beside recognition that print alone can answer."""

_TWICE = 0.2
"""Share of the shifting conversations that shift a second time."""

_LEADING = 0.6
"""How often a turn of a conversation asks for somebody or something to talk about next."""

_FOLLOWING = 0.9
"""How often the next turn is then about that."""

_MAIN = -1
"""The subject of a turn is the main thing in the picture."""


class TurnPlan(Record, frozen=True, kw_only=True):
    """What one turn is to ask."""

    query_type: str
    dynamism: str
    subject: int = _MAIN
    """The turn whose answer this one is about; -1 for the main thing in the picture."""
    kind: str
    """The kind that the subject is expected to have."""
    template: Template
    polarity: bool
    order: bool
    domain: str


class SessionPlan(Record, frozen=True, kw_only=True):
    """What one session is to be."""

    id: str
    domain: str
    kind: str
    popularity: str
    source: str
    turns: tuple[TurnPlan, ...]


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
        self._used: dict[tuple[str, str], float] = {}
        self._asked: dict[tuple[str, ...], int] = {}
        self._flips: dict[tuple[str, str], int] = {}
        self._kinds: dict[str, int] = {}
        self._orders: dict[str, list[str]] = {}
        self._turns = 0
        self._visual = 0

    def singles(self, n: int) -> list[SessionPlan]:
        per_domain = quota(SINGLE_TOTALS, n)
        slots: list[tuple[str, str]] = []
        for domain, count in per_domain.items():
            types = quota(dict(zip(TYPES, SINGLE_TURN[domain], strict=True)), count)
            slots += [(domain, t) for t, k in types.items() for _ in range(k)]
        slots = self._draw.shuffled(slots)
        speeds = self._speeds(n, static=sum(t == TYPES[0] for _, t in slots))
        popularity = self._popularity(n)
        plans: list[SessionPlan] = []
        for i, (domain, query_type) in enumerate(slots):
            speed = "static" if query_type == TYPES[0] else speeds.pop()
            printed = (query_type, speed) == _PRINTED and self._wants_visual(query_type)
            kind = self._kind(domain, printed=printed)
            turn = self._turn(domain, kind, query_type, speed)
            plans.append(self._session(f"single-{i:05d}", domain, kind, popularity[i], [turn]))
        return plans

    def conversations(self, n: int) -> list[SessionPlan]:
        lengths = self._spread(quota(LENGTHS, n))
        domains = self._spread(quota(MULTI_TURN, n))
        shifting = self._spread(quota({1: DOMAIN_SHIFT, 0: 1 - DOMAIN_SHIFT}, n))
        popularity = self._popularity(n)
        shifts = [
            self._shifts(length) if shift else ()
            for length, shift in zip(lengths, shifting, strict=True)
        ]
        total = sum(lengths)
        drifts = sum(map(len, shifts))
        counts = quota(TYPE_TOTALS, total)
        openers = self._openers(domains, counts[TYPES[0]])
        counts["multi-hop"] = max(0, counts["multi-hop"] - drifts)
        rest = total - drifts - len(openers)
        types = self._spread(quota({t: counts[t] for t in TYPES[1:]}, rest)) if rest else []
        speeds = self._speeds(total, static=drifts + len(openers))
        plans: list[SessionPlan] = []
        for i, (domain, length) in enumerate(zip(domains, lengths, strict=True)):
            kind = self._kind(domain)
            turns: list[TurnPlan] = []
            for t in range(length):
                if t in shifts[i]:
                    turns.append(self._drift(domain, kind, turns))
                elif t == 0 and i in openers:
                    turns.append(self._turn(domain, kind, TYPES[0], "static"))
                elif self._can_read(kind, turns) and _taken(_PRINTED, types, speeds):
                    turns.append(self._turn(domain, kind, *_PRINTED))
                else:
                    turns.append(self._next(domain, kind, types.pop(), speeds.pop(), turns))
            plans.append(self._session(f"multi-{i:05d}", domain, kind, popularity[i], turns))
        return plans

    # -- the shares

    def _spread(self, counts: Mapping[T, int]) -> list[T]:
        return self._draw.shuffled([k for k, n in counts.items() for _ in range(n)])

    def _speeds(self, total: int, *, static: int) -> list[str]:
        """The dynamism of all turns but those that are static by nature."""
        counts = quota(DYNAMISM, total)
        short = max(0, static - counts["static"])
        counts["static"] = max(0, counts["static"] - static)
        speeds = self._spread(counts)
        return speeds[short:]

    def _popularity(self, n: int) -> list[tuple[str, str]]:
        shares = {("kg", p): _KG / 3 for p in ("head", "torso", "tail")}
        return self._spread(quota({**shares, ("web", "head"): 1 - _KG}, n))

    def _shifts(self, length: int) -> tuple[int, ...]:
        """The turns at which the conversation moves to another domain."""
        first = self._draw.between(1, length - 1)
        if length - first >= 3 and self._draw.chance(_TWICE * 2):
            return (first, self._draw.between(first + 2, length - 1))
        return (first,)

    def _openers(self, domains: Sequence[str], n: int) -> set[int]:
        """The conversations that begin by recognising: more where people ask so more often."""
        keys: list[tuple[float, int]] = []
        for i, domain in enumerate(domains):
            row = SINGLE_TURN[domain]
            keys.append((self._draw.uniform() ** (sum(row) / (row[0] + 0.05 * sum(row))), i))
        return {i for _, i in sorted(keys, reverse=True)[:n]}

    def _kind(self, domain: str, *, printed: bool = False) -> str:
        """The kind that was asked about least; `printed`: of those that can be read."""
        if domain not in self._orders:
            self._orders[domain] = self._draw.shuffled(KINDS[domain])
        kinds = [k for k in self._orders[domain] if k in LABELLED or not printed]
        found = min(kinds or self._orders[domain], key=lambda k: self._kinds.get(k, 0))
        self._kinds[found] = self._kinds.get(found, 0) + 1
        return found

    def _can_read(self, kind: str, turns: list[TurnPlan]) -> bool:
        """Whether to ask, once in a conversation, what the print on the main thing answers."""
        unread = not any(t.template.legible for t in turns)
        return kind in LABELLED and unread and self._wants_visual(_PRINTED[0])

    # -- turns

    def _next(
        self, domain: str, kind: str, query_type: str, speed: str, turns: list[TurnPlan]
    ) -> TurnPlan:
        """A turn about what was just introduced, or about the main thing."""
        if turns:
            subject, target = self._introduced(turns)
            if subject != _MAIN and target and self._draw.chance(_FOLLOWING):
                domain_now = turns[-1].domain
                if cell(target, query_type, speed, True):
                    return self._turn(
                        domain_now, target, query_type, speed, subject=subject, leads=True
                    )
        return self._turn(domain, kind, query_type, speed, leads=True)

    def _introduced(self, turns: list[TurnPlan]) -> tuple[int, str]:
        """The turn that introduced what is being talked about, and the kind of that."""
        last = turns[-1]
        if last.template.operation in ("attribute", "hop", "hop-out"):
            target = _target_kind(last.template)
            if target:
                return len(turns) - 1, target
        return (last.subject, last.kind) if last.subject != _MAIN else (_MAIN, "")

    def _drift(self, domain: str, kind: str, turns: list[TurnPlan]) -> TurnPlan:
        """A turn that leads, by way of a person or a town, to a thing of another domain."""
        seen = {domain, *(t.domain for t in turns)}
        fitting = [
            (t, target)
            for t in _drifts(kind)
            if (target := _target_kind(t)) and domain_of_kind(target).name not in seen
        ]
        template, target = fitting[self._count(("drift", kind)) % len(fitting)]
        return TurnPlan(
            query_type="multi-hop",
            dynamism="static",
            kind=kind,
            template=template,
            polarity=True,
            order=True,
            domain=domain_of_kind(target).name,
        )

    def _turn(
        self,
        domain: str,
        kind: str,
        query_type: str,
        speed: str,
        *,
        subject: int = _MAIN,
        leads: bool = False,
    ) -> TurnPlan:
        groups = cell(kind, query_type, speed, subject != _MAIN)
        if not groups:
            groups = cell(kind, query_type, "static", subject != _MAIN)
        if self._wants_visual(query_type):
            seen = {o: tuple(t for t in of if t.visual) for o, of in groups.items()}
            groups = {o: of for o, of in seen.items() if of} or groups
        operation = min(
            groups,
            key=lambda o: (self._used.get((query_type, o), 0.0) / OPERATIONS[o].weight, o),
        )
        self._used[query_type, operation] = self._used.get((query_type, operation), 0.0) + 1.0
        choices = groups[operation]
        if leads and self._draw.chance(_LEADING):
            choices = tuple(t for t in choices if _target_kind(t)) or choices
        template = choices[self._count((operation, kind, speed)) % len(choices)]
        self._turns += query_type != TYPES[0]
        self._visual += query_type != TYPES[0] and template.visual
        flips = self._flip((operation, domain))
        return TurnPlan(
            query_type=query_type,
            dynamism=speed,
            subject=subject,
            kind=kind,
            template=template,
            polarity=flips % 2 == 0,
            order=flips // 2 % 2 == 0,
            domain=domain,
        )

    def _flip(self, key: tuple[str, str]) -> int:
        """Counts up per operation and domain: its lowest bits choose outcome and order."""
        if key not in self._flips:
            self._flips[key] = self._draw.below(4)
        self._flips[key] += 1
        return self._flips[key]

    def _wants_visual(self, query_type: str) -> bool:
        """Whether too few questions beside recognition can be answered from the picture alone."""
        return query_type != TYPES[0] and self._visual < _VISUAL * self._turns

    def _count(self, key: tuple[str, ...]) -> int:
        """A counter that starts anywhere and steps through all templates of a cell."""
        if key not in self._asked:
            self._asked[key] = self._draw.below(1 << 20)
        self._asked[key] += 1
        return self._asked[key]

    def _session(
        self,
        session_id: str,
        domain: str,
        kind: str,
        popularity: tuple[str, str],
        turns: list[TurnPlan],
    ) -> SessionPlan:
        return SessionPlan(
            id=session_id,
            domain=domain,
            kind=kind,
            source=popularity[0],
            popularity=popularity[1],
            turns=tuple(turns),
        )


def _taken(wanted: tuple[str, str], types: list[str], speeds: list[str]) -> bool:
    """Whether a type and a speed were among those left to be asked, and are now taken."""
    if wanted[0] not in types or wanted[1] not in speeds:
        return False
    types.remove(wanted[0])
    speeds.remove(wanted[1])
    return True


@cache
def cell(kind: str, query_type: str, speed: str, absent: bool) -> dict[str, tuple[Template, ...]]:
    """Operation → templates for one kind, type and dynamism; `absent` things are not in view."""
    found: dict[str, list[Template]] = {}
    for t in (*templates(), *hub_templates()):
        if kind in t.kinds and t.query_type == query_type and t.dynamism == speed:
            if absent and (t.pictured or t.legible):
                continue
            if t.operation != "hop-out":
                found.setdefault(t.operation, []).append(t)
    return {k: tuple(v) for k, v in found.items()}


@cache
def _drifts(kind: str) -> tuple[Template, ...]:
    return tuple(t for t in templates() if kind in t.kinds and t.operation == "hop-out")


@cache
def _target_kind(template: Template) -> str:
    """The kind that the answer has, if that is an entity of one kind."""
    if template.operation not in ("attribute", "hop", "hop-out"):
        return ""
    kind = template.kinds[0]
    for key in template.keys:
        spec = attribute_of(kind, key).value
        if not isinstance(spec, Ref):
            return ""
        kind = spec.kinds[0]
    return kind
