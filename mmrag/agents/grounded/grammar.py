"""The built-in planner: a small grammar of English questions about things in view.

It knows forms of questions (possessives, comparatives, "how many of these", "the difference
between"), never the attributes of any world. What it cannot take apart becomes a plain look-up.
"""

from __future__ import annotations

import datetime as dt
import re

import msgspec

from mmrag.agents.grounded.plan import BESIDE, MAIN, NAMED, UNKNOWN, QuestionPlan, Subject
from mmrag.agents.grounded.statements import NAME
from mmrag.agents.grounded.values import MONTHS, SPOKEN_UNITS, clock_in

_FILLER = re.compile(
    r"^(?:(?:hey|ok|okay|so|well|um|hi|please|quick question|one more thing|"
    r"(?:and )?going back (?:a bit|to [^,]{3,40})|what do you think|just curious|let's compare with)"
    r"(?:,\s*|\s+))+",
    re.I,
)
MASK = re.compile("\ue001(\\d+)\ue002")
"""A name of the question, taken out."""

_NOW = (
    (
        "real-time",
        re.compile(
            r"\b(?:right now|at the moment|at this moment|as we speak"
            r"|live(?=\s+(?!(?:these|in|on|at|to|for|now|today|nowadays|currently)\b)[a-z]))\b",
            re.I,
        ),
    ),
    ("today", re.compile(r"\b(?:today(?:'s)?|these days|tonight|this morning)\b", re.I)),
    ("current", re.compile(r"\b(?:currently|now|by now|this year|nowadays|at present)\b", re.I)),
)
_MONTH = "|".join(MONTHS)
_DAY = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})(?: (?P<year>\d{{4}}))?"
    rf"|(?<=\s)(?P<month_>{_MONTH}) (?P<day_>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year_>\d{{4}}))?"
)
"""A day, before or after its month; "May 5 people sit on it?" begins with no date."""

_UNIT_WORDS = "|".join(sorted(SPOKEN_UNITS, key=len, reverse=True))
_SMALLER = re.compile(
    r"\b(?:less|fewer|fewest|least|lowest|lower|smaller|smallest|shorter|shortest|lighter|lightest"
    r"|slower|slowest|earlier|earliest|sooner|soonest|cheaper|cheapest|rarer|rarest|closer|closest"
    r"|narrower|narrowest|thinner|thinnest|weaker|weakest|quieter|quietest|colder|coldest|nearer"
    r"|first$|quicker|quickest|faster to|fastest to|shallower|poorer|younger|youngest|takes? more cold"
    r"|takes? the most cold|newer to)\b",
    re.I,
)
_COMPARATIVE = re.compile(
    r"\b(?:more|less|fewer|[a-z]{3,}(?:er|ier)|further|farther|better|worse|longer|sooner)\b", re.I
)
_SUPERLATIVE = re.compile(
    r"\b(?:most|least|fewest|[a-z]{3,}(?:est|iest)|best|worst|last|first)\b", re.I
)
_NOT_COMPARATIVE = {
    "other", "number", "her", "over", "under", "after", "ever", "never", "water", "paper", "owner",
    "maker", "designer", "publisher", "printer", "summer", "winter", "whether", "together", "order",
    "either", "neither", "river", "tower", "flower", "poster", "locker", "silver", "power", "letter",
    "interest", "test", "forest", "latest", "harvest", "highest-ever", "keeper", "breeder", "founder",
    "manager", "player", "user", "per", "leather", "member", "remember", "dealer", "offer", "timer",
    "speaker", "computer", "counter", "character", "chapter", "chest", "rest", "west", "cover", "answer",
}  # fmt: skip
_HEAD_NOUN = re.compile(
    r"^(?:and\s+)?(?:what(?:'s|’s| is| was| are| were)|can you (?:tell|give|look up)(?: me)?(?: up)?"
    r"|could you (?:tell|give)(?: me)?|do you (?:happen to )?know|tell me|who(?:'s|’s| is| was)"
    r"|what about|how about|and|give me|look up|where(?:'s| is))\b",
    re.I,
)
_THIS = re.compile(
    r"\b(this)\b(?:\s+(one|(?:[a-z]+ ){0,3}?[a-z]+)(?='s?(?:\s|$)|s'\s)|\s+([a-z]+)(?=\s|$|,))?",
    re.I,
)
_THAT = re.compile(
    r"\b(that)\b(?!\s+one's)(?:\s+((?:[a-z]+ ){0,3}?[a-z]+)(?='s?(?:\s|$)|s'\s)|\s+([a-z]+)(?=\s|$|,))?",
    re.I,
)
_PRONOUN = re.compile(r"\b(its|their|his|her|it|they|them|he|she|him)\b", re.I)


class Talk(msgspec.Struct):
    """What the conversation so far says about who "it" is."""

    last: Subject = Subject()
    """Subject of the turn before."""
    answers: tuple[str, ...] = ()
    """Names that the agent's own replies gave, the newest last."""
    guesses: frozenset[str] = frozenset()
    """Those of them that depend on what the thing in view is."""
    open: QuestionPlan | None = None
    """The turn before, where it was not answered."""
    ask: str = ""
    noun: str = ""
    failed: bool = False
    """The turn before was not answered, so what it would have named is not known."""


class Parser:
    """One question with its names masked, so that grammar never looks inside a name."""

    def __init__(self, text: str, talk: Talk, now: str | None) -> None:
        self.talk = talk
        self.now = now or ""
        self.names: list[str] = []
        text = " ".join(text.split()).replace("’", "'").rstrip("?!. ")
        text = _lower_first(text)
        self.masked = _FILLER.sub("", self._mask(text)).strip(" ,")
        self.masked = re.sub(r",?\s+(?:please|thanks)$", "", self.masked)
        self.full = self.unmask(self.masked)

    # -- names

    def _mask(self, text: str) -> str:
        def take(match: re.Match[str]) -> str:
            name = match.group()
            if name.split()[0].lower() in MONTHS:
                return name
            tail = ""
            if name.endswith("'s"):
                name, tail = name[:-2], "'s"
            self.names.append(name)
            return f"\ue001{len(self.names) - 1}\ue002{tail}"

        return NAME.sub(take, text)

    def unmask(self, text: str) -> str:
        """The names put back."""
        return MASK.sub(lambda m: self.names[int(m.group(1))], text)

    # -- subjects

    def subject(self, text: str) -> tuple[Subject, str]:
        """Whom a phrase is about, and the phrase without it."""
        text = text.strip(" ,")
        named = MASK.search(text)
        deictic = _THIS.search(text) or _THAT.search(text)
        pronoun = _PRONOUN.search(text)
        first = min((m.start() for m in (deictic, pronoun) if m), default=len(text))
        if named and named.start() < first:
            name = self.unmask(named.group())
            return self._after(Subject(kind=NAMED, name=name), text, named.start(), named.end())
        if deictic and (not pronoun or deictic.start() < pronoun.start() or deictic.group(2)):
            noun, end = _noun_after(deictic)
            thing = self._deictic(deictic.group(1).lower(), noun)
            return self._after(thing, text, deictic.start(), end)
        if pronoun:
            thing = msgspec.structs.replace(self.talk.last, path=(), tail="")
            start, end = pronoun.span()
            if pronoun.group().lower() in ("its", "their", "his", "her"):
                return self._possessed(thing, text[:start], text[end:])
            return self._after(thing, text, start, end)
        return msgspec.structs.replace(self.talk.last, path=(), tail=""), text

    def _deictic(self, word: str, noun: str) -> Subject:
        if word == "this" or not (
            self.talk.answers or self.talk.failed or self.talk.last.kind in (NAMED, UNKNOWN)
        ):
            return Subject(kind=MAIN)
        if self.talk.last.kind == NAMED and (not noun or noun == self.talk.noun):
            return self.talk.last
        if self.talk.failed and self.talk.last.kind == MAIN and noun and noun == self.talk.noun:
            return Subject(kind=MAIN)
        if self.talk.failed or self.talk.last.kind == UNKNOWN:
            return Subject(kind=UNKNOWN)
        if self.talk.answers:
            return Subject(
                kind=NAMED,
                name=self.talk.answers[-1],
                is_guess=self.talk.answers[-1] in self.talk.guesses,
            )
        return self.talk.last

    def _after(self, thing: Subject, text: str, start: int, end: int) -> tuple[Subject, str]:
        rest = text[end:]
        possessive = re.match(r"'s?\s+|'s?$", rest)
        before = text[:start]
        if possessive:
            return self._possessed(thing, before, rest[possessive.end() :])
        before = re.sub(r"\b(?:of|for|from|with|by|in|at|to|on)\s*$", "", before)
        return thing, f"{before.strip()} {rest.strip()}".strip(" ,")

    def _possessed(self, thing: Subject, before: str, after: str) -> tuple[Subject, str]:
        parts = [p.strip(" ,") for p in re.split(r"'s?\s+", after)]
        return (
            msgspec.structs.replace(
                thing, path=tuple(parts[:-1]), tail=re.sub(r"\s+(?:is|are|was)$", "", parts[-1])
            ),
            before.strip(" ,"),
        )

    def option(self, text: str) -> Subject:
        """One side of "A or B"."""
        text = text.strip(" ,")
        match = MASK.search(text)
        if match:
            return Subject(kind=NAMED, name=self.unmask(match.group()))
        if re.search(r"\bother\b|\bbeside\b", text):
            return Subject(kind=BESIDE)
        return msgspec.structs.replace(self.subject(text)[0], path=(), tail="")

    # -- forms

    def lookup(self, text: str) -> QuestionPlan:
        """The plain form: an attribute of a subject, with relations between them."""
        when = self.when(text)
        bare, now = self.without_time(text)
        thing, rest = self.subject(bare)
        ellipsis = re.fullmatch(r"(?:and )?(?:what|how) about", rest.strip()) or rest.strip() in (
            "and", "",
        )  # fmt: skip
        ask = rest
        asks_noun = bool(_HEAD_NOUN.match(bare)) or bool(ellipsis)
        short = re.match(r"(?:and|(?:and )?what about)\s+the\s+(.+)$", bare)
        if short and not MASK.search(bare) and not re.search(r"\b(?:it|its|this|that)\b", bare):
            thing = msgspec.structs.replace(self.talk.last, path=(), tail=short.group(1))
            ask, asks_noun = "", True
        elif ellipsis and not thing.tail and self.talk.ask:
            ask, asks_noun = self.talk.ask, False
        if not thing.tail:
            thing, ask, asks_noun = _of_phrase(thing, ask, asks_noun)
        elif asks_noun and not short:
            asks_noun = bool(
                re.fullmatch(rf"(?:{_HEAD_NOUN.pattern})?(?: who| what)?", rest.strip(), re.I)
            )
        return QuestionPlan(
            operation="lookup",
            question=self.full,
            subject=thing,
            ask=_trim(ask),
            asks_noun=asks_noun,
            when=when,
            now=now,
            noun=self.kind_noun(),
        )

    def kind_noun(self) -> str:
        """ "this book" → "book"."""
        match = re.search(
            r"\b(?:this|that|these|the other|other|of the two)\s+((?:pair of )?[a-z]+)", self.masked
        )
        word = match.group(1) if match else ""
        return "" if word in _NO_NOUNS or (match and _is_verb(match, 1)) else word

    def when(self, text: str) -> str:
        """The past moment that a question names, as much of an ISO time as it says."""
        text = self.unmask(text).lower()
        day = _DAY.search(text)
        year_now = int(self.now[:4] or 2000)
        if day:
            said = {name.rstrip("_"): value for name, value in day.groupdict().items() if value}
            year, month = int(said.get("year", year_now)), MONTHS.index(said["month"]) + 1
            try:
                date = dt.date(year, month, int(said["day"]))
            except ValueError:
                return ""
            clock = clock_in(text[day.end() :])
            return f"{date}T{clock}" if clock else str(date)
        month = re.search(rf"\b({_MONTH}) (\d{{4}})", text)
        if month:
            return f"{month.group(2)}-{MONTHS.index(month.group(1)) + 1:02d}"
        year = re.search(r"\b(?:in|back in|since) (\d{4})\b", text)
        return year.group(1) if year and int(year.group(1)) < year_now else ""

    def without_time(self, text: str) -> tuple[str, str]:
        """The text without its time words, and how fresh the answer has to be."""
        text = re.sub(
            rf"\b(?:since|than|from|in|on|compared with)?\s*(?:on|in)?\s*(?:the )?"
            rf"(?:{_DAY.pattern}|\b(?:{_MONTH}) \d{{4}})"
            r"(?: at [\d:]+ ?(?:am|pm)?)?(?:\s+(?:un)?to\b(?=\s+now|$))?",
            "", text, flags=re.I,
        )  # fmt: skip
        for name, pattern in _NOW:
            if pattern.search(text):
                return " ".join(_NOW_ALL.sub("", text).split()), name
        return text, ""

    def plan(self, operation: str, thing: Subject, ask: str, **more: object) -> QuestionPlan:
        """A plan of some operation, with what the whole question says about time."""
        bare, now = self.without_time(ask)
        fields: dict[str, object] = {
            "operation": operation,
            "question": self.full,
            "subject": thing,
            "ask": _trim(bare),
            "now": self.without_time(self.masked)[1] or now,
            "when": self.when(self.masked),
            "noun": self.kind_noun(),
            **more,
        }
        return msgspec.convert(fields, QuestionPlan)

    def measured(self, operation: str, text: str, **more: object) -> QuestionPlan:
        """A look-up with something to be done to its result."""
        inner = self.lookup(text)
        return self.plan(
            operation, inner.subject, inner.ask, **{"asks_noun": inner.asks_noun, **more}
        )


_DOES = re.compile(
    r"\b(?:do|does|did|has|have|had|can|could|will|would|should|may|might|must)$", re.I
)
_WAS = re.compile(r"\b(?:is|was|are|were)$", re.I)
_PARTICIPLE = re.compile(
    r"(?!(?:shed|sled|seabed|flatbed)$)[a-z]{2,}(?<!e)ed|built|made|born|written|sold|founded|drawn"
    r"|begun|shot|grown|bred|cut|spun|woven|worn|shown|won|found|held|kept|sent|set|taken|given"
    r"|known|driven|eaten|chosen|thrown|sung|carved|laid|said|told|brought|bought"
)
_VERB_ENDS = re.compile(
    r"(?:\s+(?:to|from|of|for|by|in|at|on|with|into|up|out|off|about|like|back|now|today|most|least"
    r"|(?:per|a|an|each|every|in|on|at|by|for|when) [a-z]+|in total|on average|right now))?[\s,?.!]*",
    re.I,
)
"""What may follow a verb at the end of a question; a noun there is followed by its verb."""

_NOW_ALL = re.compile("|".join(p.pattern for _, p in _NOW), re.I)


def _noun_after(deictic: re.Match[str]) -> tuple[str, int]:
    """The noun that "this" or "that" stands before, and where the two end."""
    if deictic.group(3) and _is_verb(deictic, 3):
        return "", deictic.end(1)
    return (deictic.group(2) or deictic.group(3) or "").lower(), deictic.end()


def _is_verb(match: re.Match[str], group: int) -> bool:
    """Whether the word after "this" is what it does or what became of it, and not what it is.

    In "how much does this weigh" nothing follows that could be the verb; in "how much does this
    book weigh" something does.
    """
    before, word = match.string[: match.start()].strip(), match.group(group).lower()
    if not _VERB_ENDS.fullmatch(match.string[match.end(group) :]):
        return False
    if _DOES.search(before):
        return word != "one"
    return bool(_WAS.search(before) and _PARTICIPLE.fullmatch(word))


def _lower_first(text: str) -> str:
    """The capital of a sentence's first word, unless the word begins a name."""
    match = re.match(r"([A-Z][a-z']*)(\s|,|$)(.*)", text, re.S)
    if not match or match.group(1) == "I":
        return text
    word, rest = match.group(1), match.group(3)
    after = re.match(r"(?:(?:of|the|at|and|under|by|on|in)\s+)*[A-Z]", rest)
    if after and word.lower() not in _OPENERS:
        return text
    return text[0].lower() + text[1:]


def _trim(text: str) -> str:
    text = re.sub(r"^(?:and|so|but|also)\s+", "", text.strip(" ,"))
    return " ".join(text.split()).strip(" ,")


def _of_phrase(thing: Subject, ask: str, asks_noun: bool) -> tuple[Subject, str, bool]:
    """ "what's the temperature in it": the noun stands before the subject."""
    match = re.match(
        r"(?:and\s+)?(?:what(?:'s| is| was| are)|tell me|can you tell me)\s+(?:the\s+)?(?!\w+ing\b)(.+?)(?:\s+of|\s+in)?$",
        ask,
    )
    if match and asks_noun:
        return msgspec.structs.replace(thing, tail=match.group(1)), "", True
    return thing, ask, False


def larger(text: str) -> bool:
    """Whether a comparative asks for the larger value."""
    return not _SMALLER.search(text)


def is_comparative(text: str) -> bool:
    """Whether a phrase compares two things."""
    return _any(_COMPARATIVE, text)


def is_superlative(text: str) -> bool:
    """Whether a phrase picks the extreme of several things."""
    return _any(_SUPERLATIVE, text)


def spoken_unit(text: str) -> str:
    """The unit that a phrase asks for ("in ounces", "I think in miles"), or nothing."""
    match = re.search(rf"\bin ({_UNIT_WORDS})\b", text, re.I)
    return SPOKEN_UNITS[match.group(1).lower()] if match else ""


def _any(pattern: re.Pattern[str], text: str) -> bool:
    return any(m.group().lower() not in _NOT_COMPARATIVE for m in pattern.finditer(text))


_NO_NOUNS = {
    "is", "one", "two", "was", "has", "have", "do", "does", "days", "stands", "its", "year", "week",
    "month", "morning", "it", "had", "in", "on", "of", "at", "called", "or", "than", "with",
}  # fmt: skip
_OPENERS = {
    "what", "what's", "which", "who", "who's", "whose", "where", "when", "how", "why", "is", "are",
    "was", "were", "do", "does", "did", "has", "have", "can", "could", "would", "will", "should",
    "am", "in", "on", "of", "from", "at", "by", "since", "given", "knowing", "if", "so", "and",
    "compared", "between", "hey", "ok", "quick", "name", "with", "taking", "add", "all", "counting",
    "going", "looking", "among", "leaving", "out", "to", "until", "for", "say", "take", "tell",
    "now", "please", "let's", "count", "this", "that", "these", "it", "not",
}  # fmt: skip
