"""The replaceable parts by name. Each is one object with one method; `off` has a trivial fallback.

A spec switches them: `grounded:ocr=off,verifier=off`, `grounded:reader=(openai:name=m)`.
"""

from __future__ import annotations

from mmrag.errors import SpecError
from mmrag.records import Record

SWITCHES: dict[str, tuple[tuple[str, ...], str]] = {
    "restore": (
        ("on", "off"),
        "blind quality estimate; a restored variant is read and searched too",
    ),
    "regions": (
        ("on", "off"),
        "the image search looks at parts of the picture, not only the whole",
    ),
    "ocr": (("on", "off"), "RapidOCR reads what is printed"),
    "kg": (("on", "off"), "image search: entities that look alike, with their attributes"),
    "entity": (("on", "off"), "print and likeness weighed together; off: the best hit is believed"),
    "candidates": (
        ("on", "off"),
        "things that look alike are weighed by what is said and answered; off: the first",
    ),
    "planner": (("on", "off"), "takes the question apart, or a model's spec; off: a plain look-up"),
    "web": (("on", "off"), "web search"),
    "queries": (("on", "off"), "several queries (entity, entity + attribute, relations); off: one"),
    "rerank": (("on", "off"), "pages that are not about the entity are put aside"),
    "reader": (("on",), "answers from the evidence, or a model's spec"),
    "verifier": (
        ("on", "off"),
        "agreement, support, freshness and margins decide, and a model by spec; off: all 1",
    ),
    "abstain": (("calibrated", "off"), "speak only when it pays; off: always speak"),
    "multiturn": (("on", "off"), "after silent turns another probability is asked for"),
    "ask": (
        ("on", "off"),
        "where a live wearer hears it, asks for another picture when that is worth their patience",
    ),
    "injection": (("on", "off"), "pages that give orders to the assistant are set aside"),
    "freshness": (("on", "off"), "values as of the query time; off: any date will do"),
}
"""Part → its choices (the first is the default) and what it does."""


class Parts(Record, frozen=True, kw_only=True):
    """The choice made for every part."""

    chosen: dict[str, str]

    @classmethod
    def choose(cls, options: dict[str, str]) -> Parts:
        """Read options; an unknown part or choice is a `SpecError` that names the right ones."""
        chosen = {name: choices[0] for name, (choices, _) in SWITCHES.items()}
        for name, value in options.items():
            if name not in SWITCHES:
                raise SpecError(f"grounded has no part {name!r}; it has {', '.join(SWITCHES)}.")
            choices = SWITCHES[name][0]
            if value not in choices:
                raise SpecError(f"{name}={value}: choose {' or '.join(choices)}.")
            chosen[name] = value
        return cls(chosen=chosen)

    def on(self, name: str) -> bool:
        """Whether a part is there at all."""
        return self.chosen[name] != "off"

    def __getitem__(self, name: str) -> str:
        return self.chosen[name]
