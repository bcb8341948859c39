"""One more author: ways of asking after each attribute, put into frames (`wordings.yaml`,
`frames.yaml`), as needs like a voice's."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.errors import DataError
from mmrag.files import bounded_yaml
from reader.pages import KINDS
from simulator.world.facts.domain_schema import (
    HUBS,
    Attribute,
    Choice,
    Clock,
    Day,
    Number,
    Ref,
    Several,
    attribute_of,
    attributes_of,
    domain_of_kind,
)
from simulator.world.language.answer_program import UNITS
from simulator.world.language.expression_parser import parse, variables
from simulator.world.language.expression_types import expression_type
from simulator.world.language.voices.need_reader import Need as Want
from simulator.world.language.voices.need_reader import read_slot, result_of

_SHARE = 0.35
"""How often a frame is put to an attribute that it fits, where it says nothing of that."""

_SPOKEN = {
    "oz": "ounces", "lb": "pounds", "in": "inches", "ft": "feet", "mi": "miles",
    "mph": "miles per hour", "hp": "horsepower", "gal": "gallons", "fl oz": "fluid ounces",
    "°F": "degrees fahrenheit", "kJ": "kilojoules", "kg": "kilograms", "g": "grams", "m": "metres",
    "cm": "centimetres", "km": "kilometres", "litres": "litres", "°C": "degrees celsius",
    "minutes": "minutes",
}  # fmt: skip
"""What people call units."""


class Ways(NamedTuple):
    """How one attribute is spoken of."""

    asks: tuple[str, ...]
    nouns: tuple[str, ...]
    more: tuple[str, ...]
    less: tuple[str, ...]


class Wordings:
    """What this author would ask; another seed asks otherwise."""

    name = "wordings"

    def __init__(self, seed: int, kinds: Sequence[str] = KINDS) -> None:
        self._seed, self._kinds = seed, kinds

    def wants(self, kind: str) -> tuple[Want, ...]:
        """Needs about a kind of thing."""
        if kind not in self._kinds:
            return ()
        return tuple(_Kind(kind, random.Random(f"{self._seed} {kind}")).wants())


@cache
def _read(name: str) -> Any:
    return bounded_yaml.read(Path(__file__).with_name(f"{name}.yaml"))


@cache
def ways(kind: str, key: str) -> Ways:
    """Those of the attribute's domain and of all; its noun is one of them."""
    stem = domain_of_kind(kind).stem
    said = _read("wordings")
    line = " | ".join(said[of][key] for of in ("all", stem) if key in said[of])
    found: dict[str, list[str]] = {"": [], "=": [attribute_of(kind, key).noun], ">": [], "<": []}
    sign = ""
    for part in re.split(r"\s+(?=[=<>|] )", line) if line else ():
        sign = part[0] if part[0] in "=<>" else ""
        found[sign].append(part.lstrip("=<>| "))
    return Ways(*(tuple(filter(None, found[sign])) for sign in ("", "=", ">", "<")))


class _Kind:
    def __init__(self, kind: str, r: random.Random) -> None:
        self._kind, self._r = kind, r
        self._attributes = attributes_of(kind)

    def wants(self) -> Iterator[Want]:
        """Each frame put to the attributes that it fits."""
        for n, frame in enumerate(_read("frames")):
            of = frame.get("of", "")
            keys: Sequence[str] = frame.get("keys", ())
            if of == "name" and self._kind not in HUBS:
                yield from self._put(f"{n}", frame, self._attributes[0])
            for a in self._attributes if keys or of != "name" else ():
                fits = a.key in keys if keys else self._fits(of, a)
                if fits and self._r.random() < frame.get("share", 1 if keys else _SHARE):
                    yield from self._put(f"{n}/{a.key}", frame, a)

    def _fits(self, of: str, a: Attribute) -> bool:
        value, said = a.value, ways(self._kind, a.key)
        if of in ("more", "less", "most", "least"):
            told = said.more if of in ("more", "most") else said.less
            return isinstance(value, Number) and any(
                of[-2:] != "st" or superlative(p) for p in told
            )
        return {
            "any": True,
            "past": a.dynamism in ("slow-changing", "fast-changing"),
            "number": isinstance(value, Number),
            "compared": isinstance(value, Number) and a.is_compared,
            "sums": isinstance(value, Number) and a.adds_up,
            "choice": isinstance(value, Choice),
            "several": isinstance(value, Several),
            "relation": isinstance(value, Ref),
            "clock": isinstance(value, Clock),
            "day": isinstance(value, Day),
            "unit": isinstance(value, Number) and any(u == value.unit for u, _ in UNITS),
            "shop": self._kind == "shopfront",
        }[of]

    def _put(self, name: str, frame: Mapping[str, Any], a: Attribute) -> Iterator[Want]:
        for i in range(frame.get("many", 1)):
            self._words = self._spoken(a, frame)
            found = self._want(f"wordings/{self._kind}/{name}/{i}", frame, a, None)
            if found is not None:
                yield found

    def _spoken(self, a: Attribute, frame: Mapping[str, Any]) -> dict[str, str]:
        """What stands for an attribute in words and in the answer, drawn once for a frame."""
        pick, said = self._r.choice, ways(self._kind, a.key)
        other = pick(self._attributes)
        found = {
            "ask": pick(said.asks or said.nouns), "n": pick(said.nouns), "K": a.key,
            "L": other.key, "ask2": pick(ways(self._kind, other.key).asks or (other.noun,)),
        }  # fmt: skip
        for name, told in (("more", said.more), ("less", said.less)):
            found[name] = pick(told) if told else ""
            superlatives = [m for m in map(superlative, told) if m]
            found[name[:-2] + "st" if name == "more" else "least"] = pick(superlatives or [""])
        shop = pick(attributes_of("shopfront"))
        of = ways("shopfront", shop.key)
        found |= {"S": shop.key, "shop_ask": pick(of.asks), "shop_n": pick(of.nouns)}
        if isinstance(a.value, Ref):
            hub = a.value.kinds[0]
            after = pick(attributes_of(hub))
            of = ways(hub, after.key)
            found |= {"H": after.key, "hub": pick(of.asks or of.nouns), "hub_n": pick(of.nouns)}
        if isinstance(a.value, Number) and frame.get("of") == "unit":
            unit = pick([to for of, to in UNITS if of == a.value.unit])
            found |= {"U": unit, "unit": _SPOKEN.get(unit, unit)}
        return found

    def _want(
        self, name: str, frame: Mapping[str, Any], a: Attribute, parent: Want | None
    ) -> Want | None:
        """A frame put to an attribute; None where it has no meaning for the kind."""
        kind = self._kind
        try:
            slots = {
                slot: read_slot(self._slot(said, a), (kind,))
                for slot, said in frame.get("with", {}).items()
            }
            text = re.sub(r"\b[KLHSU]\b", lambda m: self._words[m[0]], frame["answer"])
            answer = parse(text, slots)
            before = parent.meanings[kind] if parent else None
            answers = before.kinds if before and before.result == "thing" else ()
            results = {slot: result_of(said, kind) for slot, said in slots.items()}
            means = expression_type(answer, kind, answers, results)
        except DataError:
            return None
        want = Want(
            id=name, kinds=(kind,), query_type="", say=(said := (self._said(frame["say"]),)),
            first=() if parent else said, answer=answer, slots=slots, meanings={kind: means},
            things=variables(answer),
        )  # fmt: skip
        if "then" not in frame:
            return want
        from msgspec.structs import replace

        then = self._want(f"{name}/then", frame["then"], a, want)
        return replace(want, then=(then,)) if then else None

    def _slot(self, said: Any, a: Attribute) -> Any:
        if said == "words K":
            assert isinstance(a.value, Choice | Several)
            return [word for word in a.value.words if len(word.split()) < 4] or [a.value.words[0]]
        return re.sub(r"\bK\b", a.key, said) if isinstance(said, str) else said

    def _said(self, ways_: str) -> str:
        text = self._r.choice(ways_.split(" | "))

        def put(found: re.Match[str]) -> str:
            word, _, subject = found[1].partition("~")
            told = self._words.get(word)
            if told is None:
                return found[0]
            return asked_about(told, subject) if subject else told

        return re.sub(r"\{([^}]*)\}", put, text)


def asked_about(phrase: str, subject: str) -> str:
    """ "is lighter", "this" → "is this lighter"; "costs less" → "does this cost less"."""
    verb, _, rest = phrase.partition(" ")
    if verb in ("is", "was", "can", "would", "doesn't"):
        return f"{verb} {subject} {rest}"
    stem = {"has": "have", "goes": "go", "does": "do"}.get(verb)
    stem = stem or (verb[:-2] if verb.endswith(("shes", "ches", "sses")) else verb[:-1])
    return f"does {subject} {stem} {rest}"


def superlative(phrase: str) -> str:
    """ "is lighter" → "is the lightest"; empty where there is no such form."""
    for word, most in (
        ("better", "best"), ("worse", "worst"), ("more", "most"), ("less", "least"),
        ("fewer", "fewest"), ("farther", "farthest"),
    ):  # fmt: skip
        if re.search(rf"\b{word}\b", phrase):
            return re.sub(rf"\b{word}\b", f"the {most}", phrase)
    found = re.sub(r"\b(\w{2,})er\b(?! (?:of|to|in|now))", r"the \1est", phrase, count=1)
    return found if found != phrase else ""
