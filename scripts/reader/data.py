"""Labelled questions and pages made of voices: what the learned reader is trained and judged on.

Names are masked as the planner masks them, so the labels are those that it sees.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.agents.grounded.learned.states import WORD
from mmrag.files import bounded_yaml
from simulator.world.facts.catalogue import domain_of_kind, raw_domains
from simulator.world.facts.names import Names
from simulator.world.language.voices.reading import Voice, Wording

OWN = Path(__file__).with_name("wordings.yaml")
_HUBS = ("person", "company", "town")
_OPEN, _BAR, _CLOSE = "\x01", "\x02", "\x03"

_THIS = (
    "this {n}",
    "this {n}",
    "this {n}",
    "this {n}",
    "this",
    "it",
    "it",
    "that {n}",
    "this one",
    "the {n} here",
    "the {n}",
    "this {n} here",
    "the {n} in front of me",
    "this thing",
    "the one I'm looking at",
    "that",
    "these",
    "my {n}",
    "that {n} over there",
    "what I'm seeing",
)


class Asked(NamedTuple):
    """One question: its words, a label for each, and what it means."""

    text: str
    words: tuple[str, ...]
    labels: tuple[str, ...]
    operation: str
    larger: bool | None
    domain: str
    key: str
    kind: str
    voice: str
    ask: str


def mark(label: str, text: str) -> str:
    """A text that is labelled, but for what is labelled inside it."""
    return f"{_OPEN}{label}{_BAR}{text}{_CLOSE}"


def unmark(text: str) -> tuple[str, list[str]]:
    """The plain text and a label for each character."""
    stack, plain, labels = ["O"], [], []
    i = 0
    while i < len(text):
        c = text[i]
        if c == _OPEN:
            j = text.index(_BAR, i)
            stack.append(text[i + 1 : j])
            i = j
        elif c == _CLOSE:
            stack.pop()
        else:
            plain.append(c)
            labels.append(stack[-1])
        i += 1
    return "".join(plain), labels


def asked(marked: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Text, words and the label of each word."""
    text, labels = unmark(marked)
    found = [(m.group(), labels[m.start()]) for m in WORD.finditer(text)]
    return text, tuple(w for w, _ in found), tuple(x for _, x in found)


def of(text: str) -> str:
    """The possessive of a phrase, marked or not."""
    return {"it": "its", "they": "their"}.get(text, text + "'s")


def put(pattern: str, x: str, xs: str = "", **slots: str) -> str:
    """A wording with its slots filled; `x` is marked here."""
    filled = {"x": mark("X", x), "xs": mark("X", xs or of(x)), **slots}
    return re.sub(r"\{(\w+)\}", lambda m: filled.get(m[1], m[0]), pattern)


catalogue = cache(raw_domains)


@cache
def own() -> dict[str, list[str]]:
    """The wordings of one more author, who writes frames only."""
    return bounded_yaml.read(OWN)


def attributes(kind: str) -> dict[str, dict[str, Any]]:
    """What the catalogue knows of a kind."""
    for domain in catalogue().values():
        if kind in domain["kinds"]:
            return {
                k: a
                for k, a in domain["attributes"].items()
                if kind in a.get("kinds", domain["kinds"])
            }
    raise KeyError(kind)


def domain_of(kind: str) -> str:
    return next(d["name"] for d in catalogue().values() if kind in d["kinds"])


def kinds() -> list[tuple[str, str]]:
    """(kind, noun) of everything that can be asked about, hubs too."""
    return [(k, v["noun"]) for d in catalogue().values() for k, v in d["kinds"].items()]


def plural(noun: str) -> str:
    if noun.startswith("pair of "):
        return "pairs of " + noun.removeprefix("pair of ")
    if noun in ("fish", "person"):
        return {"fish": "fish", "person": "people"}[noun]
    if noun.endswith("y") and noun[-2] not in "aeou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


class Maker:
    """Makes questions of voices, by one generator."""

    def __init__(self, voices: Sequence[Voice], seed: int, *, with_own: bool = True) -> None:
        """`with_own`: the further author's frames too; a voice is judged without them."""
        self.voices = voices
        self.with_own = with_own
        self.r = random.Random(seed)
        self.hop_keys = {
            kind: [
                (k, a["to"][0])
                for k, a in attributes(kind).items()
                if "to" in a and a["to"][0] in _HUBS
            ]
            for kind, _ in kinds()
        }

    def when(self) -> str:
        r = self.r
        y, m, d = r.randint(2018, 2032), r.choice(MONTHS), r.randint(1, 28)
        return r.choice(
            [
                f"in {m} {y}",
                f"on {d} {m}",
                f"on {d} {m} {y}",
                f"on {m} {d}",
                f"in {y}",
                "last week",
                "a year ago",
                f"back in {y}",
                "last month",
                "yesterday",
                f"last {m}",
                f"on {d} {m} at {r.randint(1, 12)} pm",
                "two years ago",
                f"in {m}",
                f"in the spring of {y}",
                "last year",
                "three months ago",
                "a week ago",
                f"at the start of {y}",
                "last winter",
            ]
        )

    def date(self, when: str) -> str:
        return when.split(" ", 1)[1] if when.split()[0] in ("in", "on", "at", "back") else when

    def x(self, noun: str) -> str:
        if self.r.random() < 0.12:
            return self.r.choice(["\ue0010\ue002", "the \ue0010\ue002"])
        return self.r.choice(_THIS).replace("{n}", noun)

    def quantity(self, attribute: dict[str, Any], kind: str) -> str:
        r = self.r
        if "year" in attribute:
            return str(r.randint(1900, 2030))
        low, high = self.range(attribute, kind)
        digits = attribute.get("digits", 0)
        value = (
            f"{r.uniform(low, high):,.{digits}f}"
            if digits
            else f"{r.randint(int(low), int(high)):,}"
        )
        unit = attribute.get("unit", "")
        if unit == "$":
            return r.choice([f"${value}", f"${value}", f"{value} dollars"])
        long = {
            "g": "grams",
            "kg": "kilos",
            "km": "kilometres",
            "cm": "centimetres",
            "m": "metres",
            "kcal": "calories",
            "ml": "millilitres",
            "°C": "degrees",
            "l": "litres",
            "W": "watts",
        }
        if unit in long and r.random() < 0.4:
            unit = long[unit]
        return f"{value} {unit}".strip()

    @staticmethod
    def range(attribute: dict[str, Any], kind: str) -> tuple[float, float]:
        got = attribute.get("number", [1, 100])
        got = got.get(kind, next(iter(got.values()))) if isinstance(got, dict) else got
        return float(got[0]), float(got[1])

    def make(self, n: int) -> Iterator[Asked]:
        """n questions, operations in the shares in which people use them."""
        makers = [
            (self.lookup, 30),
            (self.hop, 12),
            (self.short, 5),
            (self.past, 5),
            (self.than, 6),
            (self.hop_than, 2),
            (self.picture, 9),
            (self.again, 2),
            (self.back, 1),
            (self.premise, 6),
            (self.which, 5),
            (self.group, 9),
            (self.shared, 7),
            (self.week, 4),
            (self.one, 12),
            (self.years, 3),
            (self.hours, 4),
            (self.own_lookup, 8 * self.with_own),
        ]
        made = 0
        while made < n:
            make = self.r.choices([m for m, _ in makers], [w for _, w in makers])[0]
            kind, noun = self.r.choice(kinds())
            if kind in _HUBS and self.r.random() < 0.5:
                continue
            voice = self.r.choice(self.voices)
            found = make(voice, kind, noun)
            if found is None:
                continue
            marked, operation, larger, key = found
            text, words, labels = asked(self.spoken(marked))
            ask = " ".join(w for w, x in zip(words, labels, strict=True) if x in ("ASK", "PRED"))
            yield Asked(
                text, words, labels, operation, larger, domain_of(kind), key, kind, voice.name, ask
            )
            made += 1

    def frames(self, v: Voice, operation: str) -> list[str]:
        """The frames of an operation: the voice's, and the further author's."""
        return [
            *v.operations.get(operation, ()),
            *(own().get(operation, ()) if self.with_own else ()),
        ]

    def spoken(self, marked: str) -> str:
        """With what people say before and after."""
        r = self.r
        if not self.with_own:
            return marked
        if r.random() < 0.12:
            marked = (
                r.choice(
                    [
                        "hey, ",
                        "okay so ",
                        "um, ",
                        "quick question, ",
                        "tell me, ",
                        "sorry, ",
                        "so ",
                        "and ",
                        "just wondering, ",
                        "do you know ",
                        "can you tell me ",
                        "hi, ",
                        "well, ",
                        "oh and ",
                    ]
                )
                + marked
            )
        if r.random() < 0.08:
            marked += r.choice(
                [
                    " please",
                    ", please",
                    ", thanks",
                    ", roughly",
                    " exactly",
                    ", do you know",
                    ", I mean",
                    " by the way",
                    " if you know",
                ]
            )
        return marked

    def pick(self, kind: str, wants: str, test: Any = None) -> tuple[str, dict[str, Any]] | None:
        """An attribute of a kind that has a wording of some sort."""
        pool = [
            (k, a)
            for k, a in attributes(kind).items()
            if (test is None or test(a))
            and all(getattr(self._w(kind, k), f) for f in wants.split())
        ]
        return self.r.choice(pool) if pool else None

    def _w(self, kind: str, key: str, voice: Voice | None = None) -> Wording:
        return (voice or self.voices[0]).wording(domain_of(kind), key)

    # -- one method per group of operations: (marked text, operation, larger, key) or None

    def lookup(self, v: Voice, kind: str, noun: str) -> Any:
        key, _ = self.pick(kind, "ask")
        text = self.r.choice(self._w(kind, key, v).ask)
        return put(mark("ASK", text), self.x(noun)), "lookup", None, key

    def own_lookup(self, v: Voice, kind: str, noun: str) -> Any:
        key, a = self.pick(kind, "ask")
        n = self.r.choice([self._w(kind, key, v).noun, a["noun"]])
        if self.r.random() < 0.5:
            n, key = self.r.choice(own()["nouns"]), ""
        text = self.r.choice(own()["lookup"])
        return put(text, self.x(noun), n=mark("ASK", n)), "lookup", None, key

    def who(self, v: Voice, kind: str, noun: str, x: str = "") -> tuple[str, str, str] | None:
        """A phrase for another entity: (marked phrase, its kind, relation key)."""
        if not self.hop_keys[kind]:
            return None
        relation, hub = self.r.choice(self.hop_keys[kind])
        w = self._w(kind, relation, v)
        x = x or self.x(noun)
        named = attributes(kind)[relation]["noun"]
        if self.with_own and self.r.random() < 0.3:
            return mark("REL", put(self.r.choice(own()["who"]), x)), hub, ""
        phrase = self.r.choice(
            [w.who, w.who, w.who, "{xs} " + named, "{xs} " + w.noun, "the " + named + " of {x}"]
        )
        return mark("REL", put(phrase, x)), hub, relation

    def hop(self, v: Voice, kind: str, noun: str) -> Any:
        found = self.who(v, kind, noun)
        if found is None:
            return None
        phrase, hub, relation = found
        if self.r.random() < 0.2:
            again = [(k, h) for k, h in self.hop_keys[hub]]
            if again:
                k2, h2 = self.r.choice(again)
                w2 = self._w(hub, k2, v).who
                phrase = mark("REL", w2.replace("{xs}", phrase + "'s").replace("{x}", phrase))
                hub = h2
        picked = self.pick(hub, "ask")
        key, a = picked
        w = self._w(hub, key, v)
        text = self.r.choice([*w.ask, "what's {xs} " + a["noun"], "{xs} " + w.noun])
        filled = text.replace("{xs}", phrase + "'s").replace("{x}", phrase)
        return mark("ASK", filled), "lookup", None, f"{relation}>{key}"

    def short(self, v: Voice, kind: str, noun: str) -> Any:
        key, _ = self.pick(kind, "short")
        text = self.r.choice(self._w(kind, key, v).short)
        return put(mark("ASK", text), "it"), "lookup", None, key

    def past(self, v: Voice, kind: str, noun: str) -> Any:
        picked = self.pick(kind, "past")
        if picked is None:
            return None
        key, a = picked
        w = self._w(kind, key, v)
        when = mark("WHEN", self.when())
        if self.with_own and self.r.random() < 0.45:
            text = self.r.choice(own()["past"])
            return (
                put(
                    text, self.x(noun), n=mark("ASK", self.r.choice([w.noun, a["noun"]])), when=when
                ),
                "lookup",
                None,
                key,
            )
        return put(mark("ASK", self.r.choice(w.past)), self.x(noun), when=when), "lookup", None, key

    def than(self, v: Voice, kind: str, noun: str) -> Any:
        picked = self.pick(kind, "than")
        if picked is None:
            return None
        key, a = picked
        way = self.r.choice(["more", "less"])
        other = mark(
            "OTHER",
            self.r.choice(
                [
                    "\ue0011\ue002",
                    "the \ue0011\ue002",
                    "the other one",
                    "the one next to it",
                    "that one",
                ]
            ),
        )
        text = put(mark("PRED", self._w(kind, key, v).than[way]), self.x(noun), other=other)
        if self.with_own and self.r.random() < 0.4:
            frame = self.r.choice(
                [t for t in own()["against" if way == "more" else "against-less"] if "{n}" in t]
            )
            n = self.r.choice(
                [a["noun"], self._w(kind, key, v).noun, self.r.choice(own()["nouns"])]
            )
            way = "less" if "is {other} ahead" in frame else way
            return (
                put(frame, self.x(noun), other=other, n=mark("PRED", n)),
                "compare",
                way == "more",
                key,
            )
        if self.r.random() < 0.4:
            text = self.r.choice(
                [
                    *self.frames(v, "beside-than"),
                    *[t for t in self.frames(v, "against") if "{than}" in t],
                ]
            ).replace("{than}", text)
            text = put(text, "it", noun=mark("KIND", noun), plural=mark("KIND", plural(noun)))
        return text, "compare", way == "more", key

    def hop_than(self, v: Voice, kind: str, noun: str) -> Any:
        if not self.hop_keys[kind]:
            return None
        relation, hub = self.r.choice(self.hop_keys[kind])
        picked = self.pick(hub, "than")
        if picked is None:
            return None
        who = self._w(kind, relation, v).who
        a = mark("REL", put(who, self.x(noun)))
        b = mark(
            "REL", put(who, "\ue0011\ue002").replace(_OPEN + "X" + _BAR, _OPEN + "OTHER" + _BAR)
        )
        way = self.r.choice(["more", "less"])
        text = self._w(hub, picked[0], v).than[way]
        text = mark("PRED", text.replace("{xs}", a + "'s").replace("{x}", a).replace("{other}", b))
        frame = self.r.choice(self.frames(v, "hop-than"))
        return frame.replace("{than}", text), "compare", way == "more", f"{relation}>{picked[0]}"

    def picture(self, v: Voice, kind: str, noun: str) -> Any:
        op = self.r.choice(
            [
                "name",
                "name",
                "name",
                "label",
                "sublabel",
                "which-name",
                "is-name",
                "beside",
                "initials",
            ]
        )
        text = self.r.choice(self.frames(v, op))
        filled = put(
            text,
            self.x(noun),
            noun=mark("KIND", noun),
            plural=mark("KIND", plural(noun)),
            first=mark("OTHER", "\ue0010\ue002"),
            second=mark("OTHER", "\ue0011\ue002"),
            other=mark("OTHER", "\ue0010\ue002"),
        )
        return filled, op, None, ""

    def again(self, v: Voice, kind: str, noun: str) -> Any:
        other = self.r.choice(
            [
                "\ue0010\ue002",
                "the \ue0010\ue002",
                "the other one",
                "that one",
                "the one next to it",
            ]
        )
        return (
            put(self.r.choice(self.frames(v, "again")), "it", other=mark("OTHER", other)),
            "again",
            None,
            "",
        )

    def back(self, v: Voice, kind: str, noun: str) -> Any:
        found = self.lookup(v, kind, noun)
        return self.r.choice(self.frames(v, "back")) + " " + found[0], *found[1:]

    def premise(self, v: Voice, kind: str, noun: str) -> Any:
        claims = self.pick(kind, "claim")
        asks = self.pick(kind, "ask")
        if claims is None:
            return None
        claim = put(
            mark("CLAIM", self._w(kind, claims[0], v).claim),
            self.x(noun),
            v=mark("VAL", self.value(claims[1], kind)),
        )
        x = self.r.choice(["it", "it", "that", "they", self.x(noun)])
        ask = put(mark("ASK", self.r.choice(self._w(kind, asks[0], v).ask)), x)
        frame = self.r.choice(self.frames(v, "premise"))
        return frame.replace("{claim}", claim).replace("{ask}", ask), "premise", None, asks[0]

    def value(self, a: dict[str, Any], kind: str) -> str:
        r = self.r
        if "number" in a or "year" in a:
            return self.quantity(a, kind)
        if "day" in a:
            return f"{r.randint(1, 28)} {r.choice(MONTHS)} {r.randint(1950, 2031)}"
        if "clock" in a:
            return f"{r.randint(7, 22):02d}:{r.choice(['00', '15', '30', '45'])}"
        if "one_of" in a:
            return r.choice(a["one_of"])
        if "some_of" in a:
            some = r.sample(a["some_of"], min(len(a["some_of"]), r.randint(2, 3)))
            return ", ".join(some[:-1]) + " and " + some[-1]
        return "\ue0012\ue002"

    def which(self, v: Voice, kind: str, noun: str) -> Any:
        picked = self.pick(kind, "comp")
        if picked is None:
            return None
        key, _ = picked
        w = self._w(kind, key, v)
        way = self.r.choice(["more", "less"])
        op = self.r.choice(["which", "which", "which-beside", "the-one-that"])
        text = self.r.choice(self.frames(v, op))
        first, second = mark("OTHER", "\ue0010\ue002"), mark("OTHER", "\ue0011\ue002")
        if self.r.random() < 0.3 and op == "which":
            first = mark("X", self.r.choice(["this one", "this", f"this {noun}"]))
        if self.r.random() < 0.3:
            first, second = second, first
        n = ""
        if "{n}" in text and op == "which":
            n = mark("PRED", w.noun)
            way = "more"
        elif "{n}" in text:
            other = self.pick(kind, "ask")
            n = mark("ASK", self._w(kind, other[0], v).noun)
        filled = put(
            text,
            "it",
            comp=mark("PRED", w.comp[way]),
            first=first,
            second=second,
            n=n,
            plural=mark("KIND", plural(noun)),
            noun=mark("KIND", noun),
        )
        return filled, op, way == "more", key

    def group(self, v: Voice, kind: str, noun: str) -> Any:
        op = self.r.choice(["extreme", "extreme", "count-where", "set-where", "total", "average"])
        test = (lambda a: bool(a.get("each"))) if op == "total" and self.r.random() < 0.5 else None
        picked = self.pick(kind, "rank", test)
        if picked is None:
            return None
        key, a = picked
        w = self._w(kind, key, v)
        more = self.r.random() < 0.5
        phrase = (w.over if more else w.under).replace(
            "{bound}", mark("BOUND", self.quantity(a, kind))
        )
        text = self.r.choice(self.frames(v, op))
        rank = w.rank["most" if more else "least"]
        if self.with_own and self.r.random() < 0.3:
            n = self.r.choice([a["noun"], w.noun, self.r.choice(own()["nouns"])])
            rank = (
                "has the "
                + self.r.choice(
                    ["most", "highest", "biggest", "greatest", "largest"]
                    if more
                    else ["least", "lowest", "smallest"]
                )
                + " "
                + n
            )
        best = (
            rank.removeprefix("is ") + " one"
            if rank.startswith("is the ")
            else "the one that " + rank
        )
        best = best.replace("the one that has", self.r.choice(["the one with", "the one that has"]))
        if op == "count-where" and self.with_own and not more and self.r.random() < 0.4:
            text = self.r.choice(own()["count-less"])
        if op == "count-where" and "{phrase}" not in text:
            more = text in own().get("count-where", ())
        filled = put(
            text,
            "it",
            rank=mark("PRED", rank),
            phrase=mark("PRED", phrase),
            best=mark("PRED", best),
            bound=mark("BOUND", self.quantity(a, kind)),
            n=mark("ASK", w.noun),
            plural=mark("KIND", plural(noun)),
            noun=mark("KIND", noun),
        )
        return filled, op, more if op in ("extreme", "count-where", "set-where") else None, key

    def shared(self, v: Voice, kind: str, noun: str) -> Any:
        op = self.r.choice(
            ["list-sharing", "list-sharing", "count-sharing", "total-sharing", "sibling"]
        )
        pool = [k for k, a in attributes(kind).items() if "to" in a]
        picked = self.pick(kind, "rank")
        if not pool or picked is None:
            return None
        key = self.r.choice(pool)
        same = mark("SAME", put(self._w(kind, key, v).same, self.x(noun)))
        w = self._w(kind, picked[0], v)
        relation = self.r.choice(
            [
                attributes(kind)[key]["noun"],
                self._w(kind, key, v).noun,
                *([self.r.choice(own()["nouns"])] * self.with_own),
            ]
        )
        if self.with_own and self.r.random() < 0.3:
            x = self.x(noun)
            verb = self.r.choice(
                [
                    "have the same {n} as {x}",
                    "share {xs} {n}",
                    "come from the same {n} as {x}",
                    "have this {n} too",
                    "use the same {n}",
                    "with the same {n} as {x}",
                    "are of the same {n}",
                ]
            )
            same = mark("SAME", put(verb, x, n=relation))
        more = self.r.random() < 0.7
        text = self.r.choice(self.frames(v, op))
        things = self.r.choice([plural(noun)] * 4 + ["things", "ones"])
        filled = put(
            text,
            "this one",
            same=same,
            rank=mark("PRED", w.rank["most" if more else "least"]),
            n=mark("SAME", relation) if op == "list-sharing" else mark("ASK", w.noun),
            plural=mark("KIND", things),
            noun=mark("KIND", noun),
        )
        return filled, op, more if op == "sibling" else None, key

    def week(self, v: Voice, kind: str, noun: str) -> Any:
        op = self.r.choice(
            ["peak", "trough", "swing", "past-than", "percent", *["change"] * 2 * self.with_own]
        )
        picked = self.pick(kind, "past", lambda a: "number" in a)
        if picked is None:
            return None
        key, _ = picked
        way = self.r.choice(["higher", "lower"])
        text = self.r.choice(self.frames(v, op))
        when = self.when()
        if op in ("percent", "change") and "since {when}" in text:
            when = self.date(when)
        filled = put(
            text,
            self.x(noun),
            n=mark(
                "ASK",
                self._w(kind, key, v).noun
                if self.r.random() < 0.7 or not self.with_own
                else self.r.choice(own()["nouns"]),
            ),
            way=way,
            when=mark("WHEN", when),
        )
        return filled, op, (way == "higher") if op == "past-than" else None, key

    def one(self, v: Voice, kind: str, noun: str) -> Any:
        op = self.r.choice(
            [
                "difference",
                "enough",
                "enough",
                "convert",
                "convert",
                "times",
                "budget",
                "budget",
                "days-apart",
            ]
        )
        number = lambda a: "number" in a  # noqa: E731
        test = {
            "days-apart": lambda a: "day" in a,
            "difference": lambda a: "number" in a or "year" in a,
        }.get(op, number)
        picked = self.pick(kind, op if op in ("times", "budget") else "ask", test)
        if picked is None:
            return None
        key, a = picked
        w = self._w(kind, key, v)
        x = self.x(noun)
        more = self.r.random() < 0.5
        size = self.quantity(a, kind)
        need = self.r.choice(
            [
                f"at least {size}",
                f"{size} or more",
                f"a minimum of {size}",
                f"no less than {size}",
                f"more than {size}",
            ]
            if more
            else [
                f"at most {size}",
                f"no more than {size}",
                f"up to {size}",
                f"{size} at the most",
                f"a maximum of {size}",
                f"under {size}",
                f"less than {size}",
            ]
        )
        n = mark("ASK", self.r.choice([w.noun, w.noun, a["noun"]]))
        ask = put(mark("ASK", self.r.choice(w.ask)), x)
        units = (
            "ounces",
            "pounds",
            "inches",
            "feet",
            "miles",
            "miles per hour",
            "horsepower",
            "gallons",
            "fluid ounces",
            "degrees Fahrenheit",
            "kilojoules",
            "kilograms",
            "kilos",
            "grams",
            "metres",
            "centimetres",
            "kilometres",
            "litres",
            "Celsius",
            "minutes",
            "yards",
            "cups",
            "pints",
            "hours",
        )
        if op in ("times", "budget"):
            said = [getattr(w, op), getattr(w, op), *self.frames(v, op)]
            text = self.r.choice(said)
            inner = "ASK" if text in (w.times, w.budget) else "O"
        else:
            text, inner = self.r.choice(self.frames(v, op)), "O"
        amount = self.r.choice(
            [
                f"${self.r.randint(2, 90) * 10}",
                f"{self.r.randint(2, 90) * 5} dollars",
                f"{self.r.randint(2, 60) * 10} euros",
                "a hundred dollars",
                "fifty bucks",
                "200 bucks",
                "twenty euros",
                "a thousand dollars",
            ]
        )
        count = self.r.choice(
            [str(self.r.randint(2, 48)), "a dozen", "three", "ten", "six", "four", "two", "five"]
        )
        filled = put(
            mark(inner, text),
            x,
            n=n,
            other=mark("OTHER", self.r.choice(["\ue0011\ue002", "the \ue0011\ue002"])),
            need=mark("BOUND", need),
            unit=mark("UNIT", self.r.choice(units)),
            ask=ask,
            amount=mark("AMOUNT", amount),
            count=mark("COUNT", count),
            plural=mark("KIND", plural(noun)),
            noun=mark("KIND", noun),
        )
        return filled, op, more if op == "enough" else None, key

    def years(self, v: Voice, kind: str, noun: str) -> Any:
        ends = [k for k in attributes(kind) if k in v.ends]
        starts = [
            (k, h, s)
            for k, h in self.hop_keys[kind]
            for s in ("born", "founded", "chartered")
            if s in attributes(h)
        ]
        if not ends or not starts:
            return None
        relation, _, s = self.r.choice(starts)
        x = self.x(noun)
        phrase = mark("REL", put(self._w(kind, relation, v).who, x))
        start = mark("START", v.starts[s].replace("{x}", phrase))
        end = mark("END", put(v.ends[self.r.choice(ends)], x))
        text = self.r.choice(self.frames(v, "years-between"))
        if self.r.random() < 0.15:
            start = mark("START", put(v.ends[ends[0]], x))
        return put(text, x, start=start, end=end), "years-between", None, ""

    def hours(self, v: Voice, kind: str, noun: str) -> Any:
        if "closes" not in attributes(kind) and kind != "town" and self.r.random() < 0.8:
            return None
        op = self.r.choice(["in-time", "minutes-left"])
        still = self.r.random() < 0.6
        hour = self.r.choice(
            [
                "19:30",
                "20:15",
                "8 pm",
                "half past six",
                "quarter to nine",
                "7",
                "nine",
                "6:30 pm",
                "eight tonight",
                "9 in the evening",
            ]
        )
        state = self.r.choice(
            ["still be open", "be open", "still be open"]
            if still
            else ["already be closed", "be closed", "be shut"]
        )
        text = self.r.choice(self.frames(v, op))
        still = still if "{state}" in text else "closed" not in text
        return (
            put(text, self.x(noun), hour=mark("HOUR", hour), state=state),
            op,
            still if op == "in-time" else None,
            "",
        )


# -- pages


class Said(NamedTuple):
    """One sentence of a page that states something: the value's place in it, and what it states."""

    text: str
    start: int
    end: int
    key: str
    domain: str
    kind: str
    voice: str
    shape: str


@cache
def names(seed: int) -> Names:
    return Names(seed)


def name_of(kind: str, seed: int, r: random.Random) -> str:
    """An invented name for something of a kind."""
    return names(seed).new(r.choice(domain_of_kind(kind).names[kind])).text


class Pages:
    """Makes sentences of pages."""

    def __init__(self, voices: Sequence[Voice], seed: int) -> None:
        self.maker = Maker(voices, seed)
        self.r = self.maker.r
        self.voices = voices
        self.seed = seed

    def entity(self, voice: Voice | None = None) -> tuple[str, str, str, list[Said]]:
        """(kind, noun, name, sentences): one thing, each attribute stated once or twice."""
        kind, noun = self.r.choice(kinds())
        name = name_of(kind, self.seed, self.r)
        found: list[Said] = []
        for key, a in attributes(kind).items():
            for _ in range(self.r.choice([1, 1, 2])):
                v = voice or self.r.choice(self.voices)
                found.append(self.sentence(v, kind, name, key, a))
        return kind, noun, name, found

    def value(self, a: dict[str, Any], kind: str) -> str:
        if "to" in a:
            return name_of(self.r.choice(a["to"]), self.seed, self.r)
        v = self.maker.value(a, kind)
        return re.sub(r"^([\d,.]+) dollars$", r"$\1", v)

    def sentence(self, v: Voice, kind: str, name: str, key: str, a: dict[str, Any]) -> Said:
        value = self.value(a, kind)
        frame = self.r.choice(v.wording(domain_of(kind), key).page)
        date = f"{self.r.randint(1, 28)} {self.r.choice(MONTHS)} {self.r.randint(2028, 2032)}"
        text = frame.replace("{xs}", of(name)).replace("{x}", name).replace("{d}", date)
        start = text.index("{v}")
        text = text.replace("{v}", value)
        shape = next(
            s for s in ("number", "year", "day", "clock", "one_of", "some_of", "to") if s in a
        )
        return Said(text, start, start + len(value), key, domain_of(kind), kind, v.name, shape)
