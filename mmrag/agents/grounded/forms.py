"""The forms of questions, tried in order; each rule yields a plan or nothing.

A rule looks at how a question is built, never at what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from mmrag.agents.grounded.grammar import (
    MASK,
    Parser,
    Talk,
    is_comparative,
    is_superlative,
    larger,
    spoken_unit,
)
from mmrag.agents.grounded.plan import BESIDE, GROUP, MAIN, UNKNOWN, QuestionPlan, Subject
from mmrag.agents.grounded.values import clock_in, quantities
from mmrag.text.number_words import NUMBER_WORDS

_M = "\ue001\\d+\ue002"
_GROUP = re.compile(
    r"\b(?:these|all the|the)\s+(?:two\s+|three\s+|four\s+)?([a-z ]+?)(?:\s+(?:here|in front of me|in view|together))"
    r"|\bthese\s+(?:two\s+|three\s+|four\s+)?([a-z]+)",
    re.I,
)


def plan_question(text: str, talk: Talk, now: str | None) -> QuestionPlan:
    """Take a question apart.

    >>> plan_question("What's this jar's weight?", Talk(), None).subject.tail
    'weight'
    """
    parser = Parser(text, talk, now)
    plan = _parse(parser, parser.masked)
    return after_a_failure(plan, talk.open) if talk.open else plan


def after_a_failure(plan: QuestionPlan, before: QuestionPlan) -> QuestionPlan:
    """The plan, with the question whose answer would have named whom it is about."""
    if plan.inner is not None:
        plan = msgspec.structs.replace(plan, inner=after_a_failure(plan.inner, before))
    if all(s.kind != UNKNOWN for s in (plan.subject, *plan.others)):
        return plan
    return msgspec.structs.replace(plan, whom=before)


def _parse(p: Parser, text: str) -> QuestionPlan:
    for rule in _RULES:
        plan = rule(p, text)
        if plan is not None:
            return plan
    return p.lookup(text)


def _premise(p: Parser, t: str) -> QuestionPlan | None:
    match = re.match(
        r"(?:given that|since|knowing that|seeing that|assuming(?: that)?|as|because|so if|if)\s+"
        r"(.+?\b(?:is|are|was|were)\b.+?),\s+(?:as (?:i|far as i) \w+,\s+)?(.+)$",
        t,
        re.I,
    )
    if not match:
        return None
    claim, question = match.groups()
    left, right = re.split(r"\s+(?:is|are|was|were)\s+", claim, maxsplit=1)
    owned = re.compile(r"'s?\s|\b(?:its|their|his|her)\s|\b(?:it|this|that)\b")
    said, phrase = (
        (left, right) if owned.search(right) and not owned.search(left) else (right, left)
    )
    thing, _ = p.subject(phrase)
    inner = _parse(p, question)
    return p.plan(
        "premise", thing, "", claim=p.unmask(said).strip(" ,"), inner=inner, asks_noun=True, when=""
    )


def _days_ago(p: Parser, t: str) -> QuestionPlan | None:
    days = re.search(
        r"\b(?:(?:last|past) (\w+) days|since (\w+) days ago|from (\w+) days ago)\b", t
    )
    if not days:
        return None
    count = _count(next(g for g in days.groups() if g))
    rest = re.sub(
        r",?\s*(?:over |in |during )?the (?:last|past) \w+ days|,?\s*(?:today included)|since \w+ days ago"
        r"|from \w+ days ago(?: until now| till now| to now)?,?",
        "", t,
    ).strip(" ,")  # fmt: skip
    if re.search(r"\b(?:swing|spread|how far apart|range)\b", rest):
        operation = "swing"
    else:
        operation = "trough" if re.search(r"\blow(?:est)?\b|\bfall\b", rest) else "peak"
    rest = re.sub(
        r"\b(?:the )?(?:highest and the lowest|highest|lowest|peak of|spread of|how high did|how low did"
        r"|by how much did|how far apart are)\b|\b(?:get|fall|swing|has been)$",
        "", rest,
    )  # fmt: skip
    rest = " ".join(rest.split())
    rest = rest if re.match(r"what", rest) else f"what's {rest}"
    return p.measured(operation, rest, amount=float(count or 5))


def _percent(p: Parser, t: str) -> QuestionPlan | None:
    if not re.search(r"\bpercent(?:age)?\b", t) or not p.when(t):
        return None
    rest = re.sub(
        r"\b(?:by how many percent has|in percent,? how much has|(?:the )?percentage change in)\b",
        "",
        t,
    )
    rest = re.sub(r"\b(?:changed|moved|compared with|to now|what's|since)\b", "", rest)
    return p.measured("percent", f"what's {' '.join(rest.split())}")


def _against_past(p: Parser, t: str) -> QuestionPlan | None:
    way = re.search(r"\b(higher|lower|more|less|bigger|smaller|larger)\b", t)
    if not way or not p.when(t) or not re.search(r"\bthan\b|\bcompared with\b", t):
        return None
    rest = re.sub(r"\bcompared with what it was\b[^,]*,", "", t)
    rest = re.sub(rf"\b{way.group()}\b.*$", "", rest)
    rest = re.sub(r"^\W*(?:is|are|was|has|does)\s+", "", rest.strip())
    return p.measured("against-past", f"what's {rest}", larger=larger(way.group()))


def _days_apart(p: Parser, t: str) -> QuestionPlan | None:
    if not re.search(r"\bhow many days (?:lie |are |were )?(?:between|apart)|\bcounting days\b", t):
        return None
    name = MASK.search(t)
    if not name:
        return None
    rest = re.sub(
        r"\bhow many days (?:lie |are |were )?(?:between|apart(?: are)?)|\bcounting days,?|\bhow far is\b"
        r"|\bfrom\b|\band (?:that|the one) of\b|\band the .*? of(?= *\ue001)",
        " ", t,
    )  # fmt: skip
    rest = MASK.sub(" ", rest, count=1) if not t.startswith(name.group()) else rest
    rest = " ".join(rest.replace("'s ", "'s ").split()).removesuffix("'s").strip(" ,")
    first = p.lookup(f"what's {rest}")
    return p.plan(
        "days-apart", first.subject, first.ask, others=(p.option(name.group()),), asks_noun=True
    )


def _years_between(p: Parser, t: str) -> QuestionPlan | None:
    if not re.search(r"\bhow many years\b|\bcount the years\b", t):
        return None
    match = re.search(
        r"\b(?:between|from|for me:)\s+(.+?)\s+(?:and|to|up to)\s+((?:this|that|its?|the|\ue001).+)$",
        t,
    )
    if not match:
        return None
    start, end = match.groups()
    end = re.sub(r",.*$", "", end)
    a, b = p.lookup(f"what's {_turn_of(start)}"), p.lookup(f"what's {end}")
    return p.plan(
        "years-between", b.subject, b.ask, asks_noun=True,
        inner=p.plan("lookup", a.subject, a.ask, asks_noun=a.asks_noun),
    )  # fmt: skip


def _turn_of(text: str) -> str:
    """ "the birth year of its author" → "its author's birth year"."""
    match = re.match(r"the (.+?) of (.+)$", text)
    return f"{match.group(2)}'s {match.group(1)}" if match else text


def _convert(p: Parser, t: str) -> QuestionPlan | None:
    unit = spoken_unit(t)
    if not unit:
        return None
    rest = re.sub(r"\bi think in [a-z ]+:\s*", "", t, flags=re.I)
    rest = re.sub(r"\s+in [a-z ]+$", "", rest) if rest == t else rest
    rest = re.sub(r"^can you give me\b", "what's", rest)
    return p.measured("convert", rest, unit=unit)


def _budget(p: Parser, t: str) -> QuestionPlan | None:
    money = re.search(r"[$€£][\d,.]*\d", t)
    if not money or not re.search(r"\bhow (?:many times|often)\b", t):
        return None
    rest = re.sub(
        r"\bwith [$€£][\d,.]+(?: in my pocket)?,?|\bhow (?:many times|often)\b"
        r"|\b(?:would|could|can|does|do|i)\b|\b(?:i )?(?:cover|pay|afford|buy|go into|fit into)\b|[$€£][\d,.]*\d",
        " ", t, flags=re.I,
    )  # fmt: skip
    rest = re.sub(r"\binto\b|\bgo\b", " ", rest)
    return p.measured(
        "fits", f"what's {' '.join(rest.split())}", amount=quantities(money.group())[0].number
    )


def _times(p: Parser, t: str) -> QuestionPlan | None:
    patterns = (
        r"what would (?:the )?(?P<n>.+?) come to for (?P<k>\d+) (?:like|of) (?P<x>.+)$",
        r"if i had (?P<k>\d+) (?:of|like) (?P<x>.+?), what would (?:the )?(?P<n>.+?) be(?: in total)?$",
        r"take (?P<x>its|.+?(?:'s?|\bits)) (?P<n>.+?) times (?P<k>\d+)",
    )
    for pattern in patterns:
        match = re.search(pattern, t, re.I)
        if match:
            x = match["x"].strip()
            if x.endswith(("'s", "'", "its")):
                phrase = f"what's {x} {match['n']}"
            else:
                phrase = f"what's {'its' if x == 'it' else x + chr(39) + 's'} {match['n']}"
            return p.measured("times", phrase, amount=float(match["k"]))
    return None


def _clock_questions(p: Parser, t: str) -> QuestionPlan | None:
    if re.search(r"\bhow many minutes\b", t) and re.search(r"\b(?:clos|shut|open)", t):
        rest = re.sub(
            r"\bhow many minutes\b.*?\b(?:before|until|is)\b|\bcounting from now,?", " ", t
        )
        thing, _ = p.subject(rest)
        return p.plan("minutes-left", thing, "when does it close, closing time", now="today")
    clock = clock_in(t)
    if clock and re.search(r"\bwill\b.*\b(?:open|closed)\b", t):
        rest = re.sub(r"^.*?\bwill\b", "", t)
        thing, _ = p.subject(rest)
        is_open = not re.search(r"\bclosed\b", t)
        return p.plan(
            "in-time",
            thing,
            "when does it close, closing time",
            now="today",
            claim=clock,
            larger=is_open,
        )
    return None


def _enough(p: Parser, t: str) -> QuestionPlan | None:
    way = re.search(
        r"\b(at least|at most|no more than|no less than|up to|a maximum of|a minimum of)\b", t
    )
    found = quantities(t[way.end() :]) if way else []
    if not way or not found or not re.search(r"\b(?:would|does|will|is|can|do)\b", t):
        return None
    bound = found[0]
    noun = re.search(
        r"\bfor ([a-z][^,:?]*?)(?:,|:|$)|\blimit (?:for|on) (.+?) is\b|\bif (?:the )?(.+?) has to be\b",
        t,
    )
    ask = next((g for g in noun.groups() if g), "") if noun else ""
    rest = re.sub(r"^.*?[,:]\s*(?=(?:would|does|will|is|can)\b)", "", t)
    rest = re.sub(r"\bif\b.*$", "", rest)
    thing, _ = p.subject(re.sub(r"^(?:would|does|will|is|can)\s+", "", rest))
    at_least = way.group(1) in ("at least", "no less than", "a minimum of")
    thing = Subject(kind=thing.kind, name=thing.name, path=thing.path, tail=ask)
    return p.plan(
        "enough", thing, "", asks_noun=True, amount=bound.number, unit=bound.unit, larger=at_least
    )


def _difference(p: Parser, t: str) -> QuestionPlan | None:
    match = (
        re.search(r"difference in (?P<n>.+?) between (?P<a>.+?) and (?P<b>.+)$", t)
        or re.search(r"how far apart are (?P<a>.+?) and (?P<b>.+?) in (?P<n>.+)$", t)
        or re.search(r"by how much do (?P<a>.+?) and (?P<b>.+?) differ in (?P<n>.+)$", t)
    )
    if not match:
        return None
    return p.plan(
        "difference", _with(p.option(match["a"]), match["n"]), "", asks_noun=True,
        others=(p.option(match["b"]),),
    )  # fmt: skip


def _in_view(p: Parser, t: str) -> QuestionPlan | None:
    if re.search(
        r"\bof (?:the|these) two\b|\bthese two\b|\bor the other one\b|\bthan the (?:other|one beside)",
        t,
    ):
        return _pair_in_view(p, t)
    group = _GROUP.search(t)
    if not group or re.search(r"\bsame\b|\bshares?\b", t):
        return None
    thing = Subject(kind=GROUP)
    noun = re.sub(r"^.*\b(?:of|all|the|these)\s+", "", (group.group(1) or group.group(2)).strip())
    side = re.search(r"\b(above|below|over|under|more than|less than)\s+(?=[$€£\d-])", t)
    if side:
        bound = quantities(t[side.end() :])
        ask = re.search(
            r"\b(?:have|has|with) (?:an? )?(.+?) (?:above|below|over|under|more than|less than) ", t
        ) or re.search(r"[\d%a-z] in ((?!front\b|view\b)[a-z][^,]+)$", t)
        if bound and ask:
            operation = "count" if re.search(r"\bhow many\b", t) else "filter"
            return p.plan(
                operation, thing, ask.group(1), noun=noun, amount=bound[0].number,
                larger=side.group(1) in ("above", "over", "more than"), asks_noun=True,
            )  # fmt: skip
    for operation, pattern in (
        ("average", r"\baverage\b"),
        ("total", r"\btotal\b|\badd up\b|\btogether\b"),
    ):
        if re.search(pattern, t):
            ask = re.search(
                r"(?:\b(?:total|add up the|average(?: the)?|what's (?:the|their))\s+)+((?!of\b)[a-z].*?)"
                r"(?:\s+(?:of (?:these|all|the)|over)\b|\s+together|$)", t,
            )  # fmt: skip
            return p.plan(operation, thing, ask.group(1) if ask else t, noun=noun, asks_noun=True)
    if is_superlative(t):
        verb = re.search(r"\bwhich(?: one| of these \S+)?\s+(.+)$", t)
        return p.plan("extreme", thing, verb.group(1) if verb else t, noun=noun, larger=larger(t))
    return None


def _the_one_that(p: Parser, t: str) -> QuestionPlan | None:
    """A thing in view picked by what is true of it, and a question about that thing."""
    match = re.search(
        r"\b(?:the one(?: of (?:these|the) two)?|the (?:(?!the\b|of\b)[a-z]+ )+?here|the one here) that (.+?)(?:[,:]|$)",
        t,
    )
    if not match or not is_comparative(match.group(1)):
        return None
    verb = match.group(1)
    rest = f"{t[: match.start()]} it {t[match.end() :]}".strip()
    if asked := re.search(
        r"\b(?:what|how|who|when|which|where)\b.*\b(?:its|it)\b.*$", t[match.end() :]
    ):
        rest = asked.group()
    inner = p.lookup(rest)
    thing = Subject(tail=inner.subject.tail, path=inner.subject.path)
    inner = p.plan("lookup", thing, inner.ask, asks_noun=inner.asks_noun)
    verb, now = p.without_time(verb)
    return p.plan(
        "choose-then",
        Subject(),
        verb,
        others=(Subject(kind=BESIDE),),
        larger=larger(verb),
        inner=inner,
        now=now,
    )


def _pair_in_view(p: Parser, t: str) -> QuestionPlan | None:
    two = Subject(kind=BESIDE)
    noun = re.search(r"\btwo ([a-z]+)|\bthis ([a-z]+)|\bother ([a-z]+)", t)
    kind = next((g for g in noun.groups() if g), "") if noun else ""
    yes_no = re.search(r"\b(?:is|does|do|has|have|did|was|are)\s+(.+?)\s+than\b", t)
    if yes_no and is_comparative(yes_no.group(1)):
        thing, ask = p.subject(
            re.sub(r"^of the two [a-z ]+? in view,?\s*", "", t).split(" than ")[0]
        )
        return p.plan(
            "compare", Subject(kind=thing.kind, name=thing.name), ask, others=(two,),
            larger=larger(ask), noun=kind,
        )  # fmt: skip
    verb = re.search(
        r"\bwhich(?: one| of (?:these|the) two [a-z ]+?)?(?: in view| here)?\s+((?:is|has|was|[a-z]+s|had|cost|got|came)\b.+)$",
        t,
    )
    if verb and is_comparative(verb.group(1)):
        return p.plan(
            "choose",
            Subject(),
            verb.group(1),
            others=(two,),
            larger=larger(verb.group(1)),
            noun=kind,
        )
    return None


def _sharing(p: Parser, t: str) -> QuestionPlan | None:
    same = re.search(
        r"\b(?:the )?same (.+?) as (this [a-z]+|that [a-z]+|it|.+?)(?:,|$|\s+(?=which\b|[a-z]+ed\b|[a-z]+s\b|had\b|got\b|came\b|cost\b))",
        t,
    )
    shared = re.search(
        r"\b(?:that |who )?shares? (its|their|his|her|th(?:is|at) [a-z ]+?'s?|\ue001\d+\ue002's?) (.+?)(?:,|$)",
        t,
    )
    owned = re.search(r"\bwith (its|th(?:is|at) [a-z ]+?'s?) (.+?)(?:,|$)", t)
    if same:
        relation, phrase = same.group(1), same.group(2)
    elif (shared or owned) and re.search(r"\b(?:which|what|how many|name|add up|total|every)\b", t):
        match = shared or owned
        assert match is not None
        relation, phrase = match.group(2), match.group(1)
    else:
        return None
    thing, _ = p.subject(phrase.replace("counting it too", ""))
    thing = Subject(kind=thing.kind, name=thing.name)
    if re.search(r"\bhow many\b", t):
        operation, ask = "count-sharing", ""
    elif re.search(r"\btotal\b|\badd up\b|\btogether\b", t):
        operation = "total-sharing"
        found = re.search(
            r"\btotal (.+?) of\b|\badd up the (.+?) over\b|\btheir (.+?) together\b", t
        )
        ask = next((g for g in found.groups() if g), "") if found else ""
    elif is_superlative(t.replace("same", "").replace(relation, "")):
        operation = "extreme-sharing"
        after = t[same.end() :].strip(" ,") if same else ""
        ask = re.sub(r"^.*\b(?:which one|which)\b(?! of)", "", after or t).strip()
    else:
        operation, ask = "list-sharing", ""
    return p.plan(
        operation,
        thing,
        ask,
        relation=relation,
        larger=larger(ask),
        asks_noun=bool(ask),
        noun=_members(t),
    )


def _members(t: str) -> str:
    """What kind of things a question counts: "how many hats have …" → "hat"."""
    match = re.search(
        r"\b(?:how many|all|every one of|other|rest of|which of|of|the)\s+(?:the\s+)?(?:other\s+)?"
        r"(?!the\b|other\b|all\b|them\b|these\b|one\b)(?:pairs of )?([a-z]+(?: (?!that\b|who\b|are\b)[a-z]+)?)"
        r"\s+(?:are there(?: in all)? with|have|has|with|that|who|shares?)\b",
        t,
    )
    return singular(match.group(1)) if match else ""


def singular(noun: str) -> str:
    """One of several.

    >>> singular("watches"), singular("textbook pages"), singular("companies"), singular("people")
    ('watch', 'textbook page', 'company', 'person')
    """
    head, _, last = noun.rpartition(" ")
    for ending, one in (("people", "person"), ("fish", "fish"), ("headphones", "headphones"),
                        ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"),
                        ("s", "")):  # fmt: skip
        if last.endswith(ending) and not last.endswith("ss"):
            last = last.removesuffix(ending) + one
            break
    return f"{head} {last}".strip()


def _compare(p: Parser, t: str) -> QuestionPlan | None:
    if not MASK.search(t) and " than " not in t:
        return None
    which = re.search(r"\bwhich(?: one)?\s+([a-z].+?),\s+(.+?) or (.+)$", t)
    a = b = verb = ""
    if which:
        verb, a, b = which.groups()
    else:
        which = re.search(r"(?:between )?(.+?) (?:or|and) (.+?)[:,]\s+which(?: one)?\s+(.+)$", t)
        if which:
            a, b, verb = which.groups()
    if which and is_comparative(verb):
        return p.plan("choose", p.option(a), verb, others=(p.option(b),), larger=larger(verb))
    than = re.search(r"^(.*?)\s+than\s+(.+)$", t)
    if than:
        asked, other = than.groups()
        asked = re.sub(rf"^(?:compared with )?{_M}:\s*", "", asked)
    else:
        against = re.search(r"compared with (.+?), (.+)$", t)
        if not against:
            return None
        other, asked = against.groups()
    if not is_comparative(asked):
        return None
    if re.search(r"\bthat one's\b", other):
        name = MASK.search(t)
        other = re.sub(
            r"that one's (.+)",
            lambda m: f"the {m.group(1)} of {name.group() if name else ''}",
            other,
        )
    relation = re.search(rf"\bthe (.+?) of ({_M})", other)
    asked = re.sub(r"^\W*(?:is|are|does|do|did|has|have|was|were|would)\s+", "", asked.strip())
    thing, ask = p.subject(asked)
    if relation:
        path = (*thing.path, relation.group(1))
        ask = f"{ask} {thing.tail.removeprefix(relation.group(1))}".strip()
        rival = p.option(relation.group(2))
        rival = Subject(kind=rival.kind, name=rival.name, path=(relation.group(1),))
        return p.plan(
            "compare", Subject(kind=thing.kind, name=thing.name, path=path), ask, others=(rival,),
            larger=larger(ask),
        )  # fmt: skip
    if not MASK.search(other):
        return None
    return p.plan(
        "compare", Subject(kind=thing.kind, name=thing.name), ask or asked, others=(p.option(other),),
        larger=larger(asked),
    )  # fmt: skip


def _recognise(p: Parser, t: str) -> QuestionPlan | None:
    either = re.search(
        rf"\b(?:is this|which one is this|am i looking at|this is|is it)\b.*?({_M})\s+or\s+(?:at )?({_M})",
        t,
        re.I,
    )
    names = tuple(p.unmask(m.group()) for m in MASK.finditer(t))
    if either:
        return p.plan("choose-name", Subject(), "", options=names[:2], needs_web=False)
    if names and re.fullmatch(
        rf"(?:is this|am i looking at|would this be|is it|is that)\s+(?:an? |the )?{_M}(?: here)?",
        t,
        re.I,
    ):
        return p.plan("is-name", Subject(), "", options=names[:1], needs_web=False)
    if re.search(
        r"\bother [a-z ]+ called\b|\bname of the other\b|\bthe second [a-z ]+ here\b"
        r"|\bwhich(?: [a-z]+)? is the other\b|\bwhat(?:'s| is) the (?:other|second)(?: one| [a-z]+)?(?: here)?$",
        t, re.I,
    ):  # fmt: skip
        return p.plan("name", Subject(kind=BESIDE), "", needs_web=False)
    if re.search(r"\binitials\b", t):
        return p.plan("initials", Subject(), "", needs_web=False)
    if re.search(
        r"\b(?:small(?:er)? (?:print|line|text|letters)|below the name|smaller line)\b", t
    ):
        return p.plan("small-print", Subject(), "", needs_web=False)
    if re.search(
        r"\b(?:name|text|words?) (?:is|are) (?:printed|written)\b|\bbig letters\b|\bmain text\b"
        r"|\bread me\b|\bwhat does (?:it|this) say\b|\bwhat(?:'s| is) written\b",
        t, re.I,
    ):  # fmt: skip
        return p.plan("print", Subject(), "", needs_web=False)
    if re.search(
        r"\bcalled$|\bname of (?:this|it|that)\b|\bidentify\b|\bwhat exactly am i looking at\b"
        r"|^(?:what|which) [a-z ]+ is (?:this|that)$|^what(?:'s| is) (?:this|that)(?: [a-z]+)?$"
        r"|^what am i looking at|\bi'?m? (?:am )?looking at here, which\b|^who is this$",
        t, re.I,
    ):  # fmt: skip
        thing, _ = p.subject(t)
        thing = Subject(
            kind=thing.kind if "that" in t else MAIN, name=thing.name if "that" in t else ""
        )
        return p.plan("name", thing, "", needs_web=False)
    return None


def _with(subject: Subject, tail: str) -> Subject:
    return Subject(kind=subject.kind, name=subject.name, path=subject.path, tail=tail)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else NUMBER_WORDS.get(word, 0)


_RULES: tuple[Callable[[Parser, str], QuestionPlan | None], ...] = (
    _premise, _days_ago, _percent, _against_past, _days_apart, _years_between, _convert, _budget,
    _times, _clock_questions, _enough, _difference, _the_one_that, _recognise, _sharing, _in_view, _compare,
)  # fmt: skip
