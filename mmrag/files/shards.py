"""One n-th of some work, for machines that share it: `--shard 2/4`.

Which n-th an item belongs to depends on the item alone, so every machine of an array job is given
the same command and its own number. The same command without a shard takes in what all of them
made, does what none of them did, and ends with what one machine alone would have made.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mmrag.errors import SpecError


class Shard(NamedTuple):
    """The `number`-th of `of`, counted from 1.

    >>> [place for place in range(7) if Shard.read("2/3").has(place)]
    [1, 4]
    """

    number: int
    of: int

    @staticmethod
    def read(text: str) -> Shard:
        """What `--shard` means."""
        found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
        shard = Shard(int(found[1]), int(found[2])) if found else Shard(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise SpecError(f"--shard {text!r}: write i/n with i from 1 to n, as in 2/4.")
        return shard

    def has(self, place: int) -> bool:
        """Whether an item of this place, or of this hash, belongs to it."""
        return place % self.of == self.number - 1

    def run_of(self, count: int) -> range:
        """Its items of `count` in a row, for what can only be read on from a place.

        >>> [*Shard(2, 3).run_of(7)]
        [2, 3]
        """
        return range(count * (self.number - 1) // self.of, count * self.number // self.of)

    @property
    def name(self) -> str:
        """In names of files: `2-of-4`."""
        return f"{self.number}-of-{self.of}"
