"""Which turns people should read: few, where reading tells most, and fit to speak for the rest.

The list is drawn once for a run, whoever asks and whatever was read already. Turns fall into strata
by the judge's outcome and by whether it is in doubt. Each stratum gets places by its size times how
much people may differ from the judge in it (Neyman's allocation), and at least a few; the order is
such that every beginning of the list is shared out alike, so that one may stop anywhere. Within a
stratum the turns are spread evenly over conditions and conversations, from a start drawn by the
seed: none is more likely than another, so those that are read speak for those that are not.
"""

from __future__ import annotations

from collections.abc import Sequence

from mmrag.metrics.statistics import generator
from simulator.people.judged import OUTCOMES, STRATA, JudgedTurn

SIZE = 50

_SPREAD = {"correct": 0.25, "missing": 0.15, "incorrect": 0.25}
"""Guess of a standard deviation where the judge is sure: it errs in some five of a hundred."""
_DOUBTFUL = 0.5
_LEAST = 0.04
"""Share of the list that a stratum gets however small it is: two turns of fifty."""


def draw(turns: Sequence[JudgedTurn], size: int = SIZE, seed: int = 0) -> list[JudgedTurn]:
    """The turns to be read, in the order to read them. A longer list begins with the shorter."""
    strata = [[turn for turn in turns if turn.stratum == number] for number in range(STRATA)]
    worth = [len(members) * _spread(number) for number, members in enumerate(strata)]
    whole = sum(worth)
    if not whole:
        return []
    worth = [max(one / whole, _LEAST) if one else 0.0 for one in worth]
    waiting = [_spaced(members, size, seed, n) for n, members in enumerate(strata)]
    taken = [0] * STRATA
    found: list[JudgedTurn] = []
    for _ in range(min(size, len(turns))):
        # Sainte-Laguë: after every step the shares are as near to the wanted ones as they can be
        best = max(
            (n for n in range(STRATA) if taken[n] < len(waiting[n])),
            key=lambda n: (worth[n] / (2 * taken[n] + 1), -n),
        )
        found.append(waiting[best][taken[best]])
        taken[best] += 1
    return found


def _spread(stratum: int) -> float:
    return _DOUBTFUL if stratum % 2 else _SPREAD[OUTCOMES[stratum // 2]]


def _spaced(members: Sequence[JudgedTurn], size: int, seed: int, stratum: int) -> list[JudgedTurn]:
    """So many of them, each beginning of the list spread over the whole as evenly as can be."""
    ordered = sorted(
        range(len(members)), key=lambda i: (members[i].key[1] != "clean", members[i].key[1], i)
    )
    start = float(generator(seed, f"human verdicts/{stratum}").random())
    free, found = set(ordered), list[JudgedTurn]()
    for number in range(min(size, len(ordered))):
        place = int((_van_der_corput(number) + start) % 1.0 * len(ordered))
        while ordered[place] not in free:
            place = (place + 1) % len(ordered)
        free.discard(ordered[place])
        found.append(members[ordered[place]])
    return found


def _van_der_corput(number: int) -> float:
    """0, 1/2, 1/4, 3/4, 1/8, …: each next point in the widest gap."""
    value, part = 0.0, 0.5
    while number:
        value += part * (number & 1)
        number >>= 1
        part /= 2
    return value
