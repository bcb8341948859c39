"""Owned randomness: one small generator per item, keyed by name, the same on every machine.

`random.Random` promises stable bytes only for `random()`, and a NumPy generator per item costs
more than the item. This is SplitMix64 started from a hash of the item's key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1


class Draw:
    """Numbers for one item. Equal keys give equal numbers.

    >>> Draw("world", 1).below(10) == Draw("world", 1).below(10)
    True
    """

    __slots__ = ("_state",)

    def __init__(self, *key: object) -> None:
        text = "/".join(str(part) for part in key)
        self._state = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def bits(self) -> int:
        """64 uniform bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """A number in [low, high)."""
        return low + (high - low) * ((self.bits() >> 11) / (1 << 53))

    def below(self, n: int) -> int:
        """An integer in [0, n). The bias is below n / 2**64."""
        return (self.bits() * n) >> 64

    def between(self, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, share: float) -> bool:
        """True with the given probability."""
        return self.uniform() < share

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """Up to n different items in random order."""
        pool = list(items)
        count = min(n, len(pool))
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in random order."""
        return self.sample(items, len(items))
