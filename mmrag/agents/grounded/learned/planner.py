"""A question taken apart by what its words are for, as the trained heads tell: no grammar.

The heads say which operation it is and label every word (asked for, thing, relation, bound, time);
here the labelled pieces become the plan that the operations carry out.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from mmrag.agents.grounded.forms import after_a_failure, singular
from mmrag.agents.grounded.grammar import MASK, Parser, Talk
from mmrag.agents.grounded.learned.heads import Said, Weights, judge_question, read_weights
from mmrag.agents.grounded.learned.states import Contextual, States, spans_of
from mmrag.agents.grounded.learned.times import hour_in, moment_in, number_in, quantity_in
from mmrag.agents.grounded.plan import BESIDE, GROUP, MAIN, QuestionPlan, Subject
from mmrag.agents.grounded.values import SPOKEN_UNITS

LAYERS = (3, 6)
"""Of the sentence encoder: forms and order are told apart lower, what is meant higher."""

PLAN_NAMES = {
    "label": "print",
    "sublabel": "small-print",
    "which-name": "choose-name",
    "budget": "fits",
    "past-than": "against-past",
    "count-where": "count",
    "set-where": "filter",
    "sibling": "extreme-sharing",
    "the-one-that": "choose-then",
    "which": "choose",
    "which-beside": "choose",
}
"""Operations of voices → of plans, where they are called otherwise."""

_PICTURE = {"name", "print", "small-print", "choose-name", "is-name", "initials"}
_IN_VIEW = {"extreme", "count", "filter", "total", "average"}
_NOT_IT = re.compile(r"^(?:my|mine|these|those|the (?:one|thing)s? (?:here|i|in)|what i)\b", re.I)
_ONLY_ASKS = re.compile(r"(?:who|what|which|where)(?: is| are|['’]s|['’]re)?", re.I)
_OTHER = re.compile(r"\b(?:other|beside|next|second|neighbour)\b", re.I)
_FEW_DAYS = 5.0
_UNITS = SPOKEN_UNITS | {
    "kilos": "kg",
    "pound": "lb",
    "lbs": "lb",
    "foot": "ft",
    "inch": "in",
    "mile": "mi",
    "metre": "m",
    "kilogram": "kg",
    "gram": "g",
    "degrees": "°C",
    "mph": "mph",
    "hour": "hours",
    "minute": "minutes",
}


class LearnedPlanner:
    """Plans questions by trained heads over a sentence encoder."""

    def __init__(self, encoder: Contextual, weights: Weights | None = None) -> None:
        self._states = States(encoder)
        self._weights = weights

    def plan(self, text: str, talk: Talk, now: str | None) -> QuestionPlan:
        """Take a question apart."""
        parser = Parser(text, talk, now)
        plan = _Piece(parser, self._said(parser.masked)).plan()
        return after_a_failure(plan, talk.open) if talk.open else plan

    def _said(self, masked: str) -> Said:
        weights = self._weights or read_weights()
        seen = self._states.of([masked], LAYERS, rows=1)[0]
        words = max(1, len(spans_of(masked)))
        first = [
            int(at[0]) if len(at) else 0
            for at in ((seen.word == i).nonzero()[0] for i in range(words))
        ]
        return judge_question(seen.rows[first], weights)


class _Piece:
    """A question with its labels."""

    def __init__(self, parser: Parser, said: Said) -> None:
        self.p = parser
        self.text = parser.masked
        self.said = said
        self.words = [
            (*at, label) for at, label in zip(spans_of(self.text), said.labels, strict=False)
        ]

    def plan(self) -> QuestionPlan:
        """The plan of the operation that the question most probably is."""
        said = self.said.operation
        operation = PLAN_NAMES.get(said, said)
        make = {
            "lookup": self._lookup,
            "again": self._again,
            "name": self._name,
            "beside": self._beside,
            "premise": self._premise,
            "years-between": self._years,
            "compare": self._compare,
            "choose": self._choose,
            "choose-then": self._choose_then,
        }.get(operation)
        plan = make() if make else self._plain(operation)
        return msgspec.structs.replace(plan, sure=round(self.said.sure, 4))

    # -- pieces

    def of(self, *labels: str, start: int = 0, end: int = 10_000) -> str:
        """The words with some labels, as a text."""
        parts: list[str] = []
        last = -1
        for a, b, label in self.words:
            if label in labels and start <= a < end:
                glue = "" if a == last else " "
                parts.append(glue + self.text[a:b])
                last = b
        return "".join(parts).strip(" ,.:;")

    def groups(self, label: str) -> list[tuple[int, int, str]]:
        """Runs of words with a label: start, end, text."""
        found: list[tuple[int, int, str]] = []
        for i, (a, b, has) in enumerate(self.words):
            if has != label:
                continue
            if (
                found
                and i
                and self.words[i - 1][2] == label
                and self.words[i - 1][1] == found[-1][1]
            ):
                found[-1] = (found[-1][0], b, self.text[found[-1][0] : b])
            else:
                found.append((a, b, self.text[a:b]))
        return found

    def ask(self, *labels: str, start: int = 0, end: int = 10_000) -> str:
        """What is asked for, without its time words."""
        said = self.of(*(labels or ("ASK", "PRED")), start=start, end=end)
        return self.p.unmask(self.p.without_time(said)[0]).strip(" ,.:;?")

    def thing(self, text: str | None = None) -> Subject:
        """Whom the question is about."""
        if text is None:
            found = self.groups("X")
            text = found[0][2] if found else ""
        if _NOT_IT.match(text):
            return Subject(kind=MAIN)
        subject = self.p.subject(text)[0]
        return Subject(kind=subject.kind, name=subject.name, is_guess=subject.is_guess)

    def path(self, start: int = 0, end: int = 10_000) -> tuple[str, ...]:
        """Relations to follow, the first step first: "the town where the person who …" are two."""
        words = [(a, b) for a, b, label in self.words if label == "REL" and start <= a < end]
        if not words:
            return ()
        pieces = [self.text[a:b] for a, b in words]
        whole = self.of("REL", start=start, end=end)
        things = [a for a, _, _ in self.groups("X") if start <= a < end]
        heads = [i for i, w in enumerate(pieces) if w == "the" and i + 1 < len(pieces)]
        owned = re.split(r"['’]s\s+", whole)
        if len(owned) > 1 and all(owned):
            return tuple(self._name_of(o) for o in owned)
        if len(heads) < 2 or heads[0] != 0:
            return (self._name_of(whole),)
        after = next((i for i, (a, _) in enumerate(words) if things and a > things[-1]), len(words))
        inner, outer = pieces[heads[1] : after], pieces[: heads[1]] + pieces[after:]
        return (self._name_of(" ".join(inner)), self._name_of(" ".join(outer)))

    def _name_of(self, text: str) -> str:
        return self.p.unmask(re.sub(r"\s*['’]s?$", "", text)).strip(" ,.")

    def when(self) -> str:
        """The past moment that is asked about."""
        said = self.p.unmask(self.of("WHEN"))
        return self.p.when(self.text) or (moment_in(said, self.p.now) if said else "")

    def bound(self) -> tuple[float | None, str]:
        said = self.p.unmask(self.of("BOUND"))
        found = quantity_in(said) if said else None
        return (found.number, found.unit) if found else (None, "")

    def others(self) -> list[tuple[int, int, str]]:
        return self.groups("OTHER")

    def option(self, text: str) -> Subject:
        """A thing that is compared with."""
        if not MASK.search(text) and _OTHER.search(text):
            return Subject(kind=BESIDE)
        return self.p.option(text)

    def kind(self) -> str:
        """What kind of thing is counted or chosen from."""
        found = self.groups("KIND")
        return singular(found[0][2].lower()) if found else self.p.kind_noun()

    # -- operations

    def _fields(self, operation: str, thing: Subject, ask: str, **more: object) -> QuestionPlan:
        fields: dict[str, object] = {
            "operation": operation,
            "question": self.p.full,
            "subject": thing,
            "ask": ask,
            "now": self.p.without_time(self.text)[1],
            "when": self.when(),
            "noun": self.p.kind_noun(),
            "needs_web": operation not in _PICTURE,
            "larger": self.said.larger,
            **more,
        }
        return msgspec.convert(fields, QuestionPlan)

    def _lookup(self) -> QuestionPlan:
        path, ask, thing = self.path(), self.ask(), self.thing()
        if path and (not ask or _ONLY_ASKS.fullmatch(ask)):
            path, ask = path[:-1], path[-1]
        return self._fields(
            "lookup",
            msgspec.structs.replace(thing, path=path),
            ask or self.p.talk.ask or self.p.full,
        )

    def _again(self) -> QuestionPlan:
        found = self.others() or self.groups("X")
        thing = self.option(found[0][2]) if found else self.p.talk.last
        return self._fields("lookup", thing, self.p.talk.ask)

    def _name(self) -> QuestionPlan:
        found = self.groups("X")
        thing = self.thing() if found and "that" in found[0][2] else Subject()
        return self._fields("name", thing, "")

    def _beside(self) -> QuestionPlan:
        return self._fields("name", Subject(kind=BESIDE), "", needs_web=False)

    def _premise(self) -> QuestionPlan:
        claims = [a for a, _, x in self.words if x in ("CLAIM", "VAL")]
        asks = [a for a, _, x in self.words if x in ("ASK", "REL")]
        if not claims or not asks:
            return msgspec.structs.replace(self._lookup(), ask=self.ask() or self.p.full)
        first = claims[0] < asks[0]
        cut = asks[0] if first else claims[0]
        things = self.groups("X")
        before = [x for a, _, x in things if a < cut]
        after = [x for a, _, x in things if a >= cut]
        if first and len(before) > 1 and not after:  # "…, it": the thing stands before its verb
            after = [before.pop()]
        mine, theirs = (before, after) if first else (after, before)
        claimed = self.thing(mine[0]) if mine else Subject()
        about = self.thing(theirs[0]) if theirs else claimed
        if theirs and re.fullmatch(
            r"it|its|that|they|their|that person|he|she|them", theirs[0], re.I
        ):
            about = claimed
        start, end = (cut, 10_000) if first else (0, cut)
        inner = self._fields(
            "lookup",
            msgspec.structs.replace(about, path=self.path(start, end)),
            self.ask("ASK", start=start, end=end) or self.ask(),
        )
        return self._fields(
            "premise",
            claimed,
            self.ask("CLAIM"),
            claim=self._name_of(self.of("VAL")),
            inner=inner,
            when="",
            now="",
        )

    def _years(self) -> QuestionPlan:
        starts = [a for a, _, x in self.words if x == "START"]
        ends = [a for a, _, x in self.words if x == "END"]
        things = self.groups("X")
        if not starts or not ends:
            return self._fields("years-between", self.thing(), self.ask("START", "END", "ASK"))
        cut = max(starts[0], ends[0])
        parts: dict[bool, tuple[Subject, str]] = {}
        for is_start, label in ((True, "START"), (False, "END")):
            low, high = (0, cut) if (starts[0] < ends[0]) == is_start else (cut, 10_000)
            own = [x for a, _, x in things if low <= a < high]
            thing = self.thing(own[0]) if own else Subject()
            thing = msgspec.structs.replace(thing, path=self.path(low, high))
            parts[is_start] = (thing, self.ask(label))
        inner = self._fields("lookup", *parts[True])
        return self._fields("years-between", *parts[False], inner=inner)

    def _compare(self) -> QuestionPlan:
        others, things = self.others(), self.groups("X")
        path = self.path()
        if path and len(path) > 1 and len(self.groups("REL")) > 1:
            path = (self._name_of(self.groups("REL")[0][2]),)
        rival = self.option(others[-1][2]) if others else Subject(kind=BESIDE)
        main = self.thing() if things or len(others) < 2 else self.option(others[0][2])
        return self._fields(
            "compare",
            msgspec.structs.replace(main, path=path),
            self.ask(),
            others=(msgspec.structs.replace(rival, path=path),),
        )

    def _choose(self) -> QuestionPlan:
        offered = sorted([*self.others(), *self.groups("X")])
        if self.said.operation == "which-beside" or len(offered) < 2:
            return self._fields("choose", Subject(), self.ask(), others=(Subject(kind=BESIDE),))
        first, second = (self.option(x) for _, _, x in offered[:2])
        return self._fields("choose", first, self.ask(), others=(second,))

    def _choose_then(self) -> QuestionPlan:
        inner = self._fields("lookup", Subject(), self.ask("ASK"))
        by = self.ask("PRED")
        return self._fields(
            "choose-then",
            Subject(),
            by,
            others=(Subject(kind=BESIDE),),
            inner=inner,
            noun=self.kind(),
        )

    def _plain(self, operation: str) -> QuestionPlan:
        """Operations that take one thing, or those in view, and a few slots."""
        names = [self.p.unmask(x) for _, _, x in self.others()] or [
            self.p.unmask(m.group()) for m in MASK.finditer(self.text)
        ]
        more: dict[str, object] = {}
        thing, ask = self.thing(), self.ask()
        if operation in _IN_VIEW:
            thing, more["noun"] = Subject(kind=GROUP), self.kind()
        if operation in ("is-name", "choose-name"):
            more["options"] = tuple(names[:2])
        if operation in ("count", "filter", "enough"):
            more["amount"], more["unit"] = self.bound()
        if operation.endswith("-sharing"):
            more |= {"relation": self.ask("SAME"), "noun": self.kind()}
            ask = "" if operation in ("list-sharing", "count-sharing") else ask
        if operation in ("difference", "days-apart"):
            others = self.others()
            more["others"] = (self.option(others[-1][2]) if others else Subject(kind=BESIDE),)
            if not self.groups("X") and len(others) > 1:
                thing = self.option(others[0][2])
        if operation in ("peak", "trough", "swing"):
            more["amount"] = number_in(self.of("COUNT")) or _FEW_DAYS
        if operation in ("times", "fits"):
            more["amount"] = number_in(
                self.p.unmask(self.of("COUNT" if operation == "times" else "AMOUNT"))
            )
            ask = ask or "price"
        if operation == "convert":
            more["unit"] = _unit(self.of("UNIT"))
        if operation in ("in-time", "minutes-left"):
            more |= {"claim": hour_in(self.p.unmask(self.of("HOUR"))), "now": "today"}
            ask = "when does it close, closing time"
        path = (
            self.path() if operation not in _IN_VIEW and not operation.endswith("-sharing") else ()
        )
        return self._fields(operation, msgspec.structs.replace(thing, path=path), ask, **more)


@lru_cache(maxsize=64)
def _unit(said: str) -> str:
    """The unit that a phrase names, as pages write it; the phrase where it is none we know."""
    words = said.lower().strip(" ,.?")
    return _UNITS.get(words) or next((u for s, u in _UNITS.items() if s in words.split()), words)
