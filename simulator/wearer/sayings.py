"""The wearer's own words: data, one file per voice that has its own, `plain` for all others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import DataError
from mmrag.files import bounded_yaml
from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.language.english import noun_of, plural_of

PLAIN = "plain"
SLOT = re.compile(r"\\?\{(\w+)\\?\}")
_NUMBERS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_FOLDER = Path(__file__).parent / "sayings"


class Sayings(Record, frozen=True, kw_only=True):
    """What one voice says in each move, and how it points."""

    moves: Mapping[str, tuple[str, ...]]
    thing: Mapping[str, str]

    def say(self, move: str, draw: Draw, **slots: str) -> str:
        """A move in words."""
        text = SLOT.sub(lambda found: slots[found[1]], draw.pick(self.moves[move]))
        return text[0].upper() + text[1:]

    def brought(self, beside: str) -> str:
        """Of words that stand beside a question, those that fill the slots of what is said there;
        all of them where nothing of this voice is said like that."""
        for ways in self.moves.values():
            for way in ways:
                fixed = way.replace("{question}", "").strip()
                found = re.fullmatch(SLOT.sub("(.*)", re.escape(fixed)), beside.strip(), re.I)
                if found:
                    return " ".join(found.groups())
        return beside

    def point(
        self, kind: str, place: str, count: int, *, print_: str = "", colour: str = ""
    ) -> str:
        """The words for a thing of a kind, where it stands among so many, what colour it is called
        by, and what it says."""
        way = place if place in ("left", "middle", "right") else "plain"
        if place == "last":
            way = "right" if count == 2 else "last"
        elif place == "1":
            way = "left" if count == 2 else "first"
        elif place:
            way = way if way != "plain" else "number"
        number = _NUMBERS[int(place)] if way == "number" else ""
        noun = f"{colour} {noun_of(kind)}".strip()
        said = self.thing[way].replace("{noun}", noun).replace("{number}", number)
        if not print_:
            return said
        return self.thing["print"].replace("{thing}", said).replace("{print}", f"“{print_}”")

    def point_at_all(self, kind: str, count: int) -> str:
        """The words for all things in view."""
        return self.thing["all"].replace("{count}", str(count)).replace("{plural}", plural_of(kind))


@cache
def sayings(voice: str = PLAIN) -> Sayings:
    """The sayings of a voice; those of `plain` where it has none of its own."""
    import yaml

    path = _FOLDER / f"{voice}.yaml"
    if not voice.isalnum() or not path.is_file():
        path = _FOLDER / f"{PLAIN}.yaml"
    try:
        loaded: dict[str, Any] = bounded_yaml.read(path)
        thing = loaded.pop("thing")
        return msgspec.convert({"moves": loaded, "thing": thing}, Sayings)
    except (OSError, yaml.YAMLError, msgspec.ValidationError, KeyError) as error:
        raise DataError(f"{path}: these sayings cannot be used ({error}).") from error
