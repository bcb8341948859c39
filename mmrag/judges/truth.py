"""Where the truth stands in a text, by word or by number."""

from __future__ import annotations

from collections.abc import Sequence

from mmrag.judges.matching import Wording
from mmrag.judges.numbers import is_number, same_quantity
from mmrag.judges.reading import Reading
from mmrag.judges.target import Target


def present(known: Sequence[Wording], target: Target, said: Reading) -> list[Wording]:
    """The wordings that stand in the reply, at least by the words that are not asked."""
    exact = [w for w in known if said.holds(w.compact)][:6]
    if exact:
        return exact
    return [w for w in known[:12] if _loosely(w, target, said)][:3]


def _loosely(wording: Wording, target: Target, said: Reading) -> bool:
    fresh = [s for s in wording.stems if s not in target.asked.stems]
    found = [s for s in fresh if s in said.stems]
    if fresh and len(found) == len(fresh):
        return True
    if len(wording.stems) > 1 and wording.reading.capital[-1] and wording.stems[-1] in found:
        return True
    wanted = wording.reading.quantities
    return (
        len(wanted) == 1
        and len(wording.words) <= 3
        and any(same_quantity(q, wanted[0]) for q in said.quantities)
    )


def tells(reading: Reading, truth: Sequence[Wording]) -> bool:
    """Whether a text tells any of the wordings, whole or by the name they end on."""
    for wording in truth:
        if reading.holds(wording.compact):
            return True
        stems = reading.stems
        hit = sum(s in stems for s in wording.stems)
        if hit and hit == len(wording.stems):
            return True
        named = len(wording.stems) > 1 and wording.reading.capital[-1]
        if named and wording.stems[-1] in stems and not is_number(wording.stems[-1]):
            return True
        wanted = wording.reading.quantities
        if (
            len(wanted) == 1
            and not any(wording.reading.capital)
            and any(same_quantity(q, wanted[0]) for q in reading.quantities)
        ):
            return True
    return False
