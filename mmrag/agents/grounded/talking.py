"""What the conversation so far settles: who "it" is, what was answered, what failed."""

from __future__ import annotations

import re
from collections.abc import Callable

from mmrag.agents.grounded.forms import plan_question, singular
from mmrag.agents.grounded.grammar import Talk
from mmrag.agents.grounded.plan import MAIN, NAMED, UNKNOWN, QuestionPlan, Subject
from mmrag.agents.grounded.statements import NAME
from mmrag.agents.reply_format import is_refusal
from mmrag.records import History, Query

_Plan = Callable[[str, Talk, str | None], QuestionPlan]


def follow(history: History, now: str | None, plan: _Plan = plan_question) -> Talk:
    """Replay the agent's own turns through its planner. Its answers are names, not facts."""
    return replay(history, now, plan)[0]


def replay(
    history: History, now: str | None, plan: _Plan = plan_question
) -> tuple[Talk, list[QuestionPlan]]:
    """The talk so far, and what each of the wearer's questions was taken for."""
    talk, plans = Talk(), list[QuestionPlan]()
    for exchange in history:
        plans.append(plan(exchange.query, talk, now))
        talk = after(talk, plans[-1], exchange.reply)
    return talk, plans


def after(talk: Talk, plan: QuestionPlan, reply: str) -> Talk:
    """The talk one turn on."""
    inner = plan.inner if plan.operation == "premise" and plan.inner else plan
    thing = inner.subject
    last = Subject(
        kind=thing.kind if thing.kind in (MAIN, NAMED, UNKNOWN) else MAIN,
        name=thing.name,
        is_guess=thing.is_guess,
    )
    name = reply_name(reply, plan.question)
    is_guess = bool(name) and (thing.kind != NAMED or thing.is_guess)
    return Talk(
        last=last,
        answers=(*talk.answers, name) if name else talk.answers,
        guesses=talk.guesses | {name} if is_guess else talk.guesses,
        open=inner if is_refusal(reply) else None,
        ask=" ".join([*thing.path, thing.tail or inner.ask]) if thing.tail else inner.ask,
        noun=plan.noun,
        failed=is_refusal(reply),
    )


def reply_name(reply: str, question: str) -> str:
    """The entity that a reply names: all of it, or its only name that is not in the question."""
    text = reply.strip().rstrip(".")
    if is_refusal(text):
        return ""
    if NAME.fullmatch(text):
        return text
    text = re.sub(r"^(?:It|That|This|The)\b", lambda m: m.group().lower(), text)
    names = [n for n in dict.fromkeys(m.group() for m in NAME.finditer(text)) if n not in question]
    return names[0] if len(names) == 1 and "not right" not in text else ""


def spoken_kind(query: Query) -> str:
    """What the wearer calls the thing in view: "this kettle", "these two kettles"."""
    for text in (query.text, *(e.query for e in reversed(query.history))):
        for match in _KIND.finditer(text):
            one, several = match.groups()
            noun = one or singular(several)
            if noun not in _NO_KIND:
                return noun
    return ""


_KIND = re.compile(
    r"\b(?:this\s+(?:pair of )?|the (?:other|second)\s+(?=[a-z]*[a-rt-z]\b))([a-z]+)"
    r"|\b(?:these|all the(?! other)|(?:of|these) (?:the )?(?:two|three|four))\s+"
    r"(?:two |three |four )?(?:pairs of )?([a-z]+s|fish)\b"
)
"""What the wearer calls one thing in view, or several."""

_NO_KIND = {
    "be",
    "season",
    "day",
    "his",
    "its",
    "is",
    "one",
    "year",
    "week",
    "month",
    "morning",
    "here",
    "or",
    "and",
    "at",
    "in",
    "shows",
}


def silent_turns(history: History) -> int:
    """How many turns up to the last one the agent itself said nothing in."""
    replies = [exchange.reply for exchange in reversed(history)]
    return next((n for n, reply in enumerate(replies) if not is_refusal(reply)), len(replies))
