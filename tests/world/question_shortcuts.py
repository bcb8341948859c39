"""What a reader without picture and search can earn on a world: if much, it can be gamed.

It sees the questions (and, to be generous, the true answers of earlier turns), knows the generator,
and has studied other worlds.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from mmrag.records import Record
from simulator.world.checks.published_figures import TYPES
from simulator.world.language.questions.question_records import Conversation, Question

Guess = str | None
"""What a strategy answers; None abstains."""

Strategy = Callable[[Question, tuple[Question, ...]], Guess]
"""(question, earlier questions with their answers) → guess."""

WRONG_PREMISE = "that premise is wrong"
"""Counted as correct wherever the premise is indeed wrong, whatever the facts are."""

_NAME = re.compile(
    r"(?:[A-Z][a-zà-ÿ]+(?:[ -](?:and|of|on|by|under|in|the|at|against|&) ?)?[ -]?){2,}"
)


class Shortcut(Record, frozen=True, kw_only=True):
    """How one strategy fares on one type of question."""

    strategy: str
    query_type: str
    """One of CRAG-MM's types, or `all`."""
    questions: int
    answered: int
    correct: int

    @property
    def truthfulness(self) -> float:
        """(correct − incorrect) / questions, in points."""
        wrong = self.answered - self.correct
        return 100.0 * (self.correct - wrong) / self.questions if self.questions else 0.0


def measure_shortcuts(
    sessions: Sequence[Conversation], studied: Sequence[Conversation]
) -> list[Shortcut]:
    """Every strategy on every type of question. `studied` are sessions of other worlds."""
    rows: list[Shortcut] = []
    asked = [(q, s.questions[: q.index]) for s in sessions for q in s.questions]
    for name, strategy in strategies(studied).items():
        total: Counter[str] = Counter()
        answered: Counter[str] = Counter()
        correct: Counter[str] = Counter()
        for question, earlier in asked:
            guess = strategy(question, earlier)
            for key in (question.query_type, "all"):
                total[key] += 1
                answered[key] += guess is not None
                correct[key] += guess is not None and is_right(question, guess)
        rows += [
            Shortcut(
                strategy=name,
                query_type=key,
                questions=total[key],
                answered=answered[key],
                correct=correct[key],
            )
            for key in (*TYPES, "all")
        ]
    return rows


def strategies(studied: Sequence[Conversation]) -> dict[str, Strategy]:
    """All strategies by name; the learned ones have studied other worlds."""
    questions = [q for s in studied for q in s.questions]
    by_template = _frequent(questions, lambda q: q.template, sure=False)
    return {
        "always yes": lambda q, _: "Yes" if _is_yes_no(q) else None,
        "always no": lambda q, _: "No" if _is_yes_no(q) else None,
        "wrong premise": lambda q, _: WRONG_PREMISE if "/premise/" in q.template else None,
        "name from the question": lambda q, _: _last_name(q.text),
        "name from the history": _from_history,
        "answer of the last turn": lambda _, earlier: earlier[-1].answer if earlier else None,
        "most frequent per template": by_template,
        "most frequent per template, if sure": _frequent(
            questions, lambda q: q.template, sure=True
        ),
        "most frequent per operation, if sure": _frequent(
            questions, lambda q: q.template.split("/")[1], sure=True
        ),
        "words of the question (naive Bayes)": _bayes(questions),
    }


def is_right(question: Question, guess: str) -> bool:
    """Whether a guess is accepted. Generous: bare objections count."""
    if guess == WRONG_PREMISE:
        return question.false_premise
    truth = {t.casefold() for t in (question.answer, *question.accept)}
    return guess.casefold() in truth


def _is_yes_no(question: Question) -> bool:
    return question.choice == ("Yes", "No")


def _last_name(text: str) -> Guess:
    found = _NAME.findall(text[1:])
    return found[-1].strip() if found else None


def _from_history(_question: Question, earlier: tuple[Question, ...]) -> Guess:
    for question in reversed(earlier):
        if question.answer_kind == "entity":
            return question.answer
        if name := _last_name(question.text):
            return name
    return None


def _frequent(
    questions: Sequence[Question], key: Callable[[Question], str], *, sure: bool
) -> Strategy:
    """The most frequent answer under a key; when `sure`, only if it was right more than half."""
    seen: dict[str, Counter[str]] = {}
    for question in questions:
        text = WRONG_PREMISE if question.false_premise else question.answer
        seen.setdefault(key(question), Counter())[text] += 1

    def guess(question: Question, _earlier: tuple[Question, ...]) -> Guess:
        counts = seen.get(key(question))
        if not counts:
            return None
        answer, n = counts.most_common(1)[0]
        if sure and 2 * n <= sum(counts.values()) + 1:
            return None
        return answer

    return guess


def _bayes(questions: Sequence[Question]) -> Strategy:
    """Yes or no from the words of the question, by naive Bayes."""
    words: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    totals = {True: 0, False: 0}
    for question in questions:
        side = _side(question)
        if side is not None:
            words[side].update(_tokens(question))
            totals[side] += 1

    def guess(question: Question, _earlier: tuple[Question, ...]) -> Guess:
        if _side(question) is None or not all(totals.values()):
            return None
        odds = math.log(totals[True] / totals[False])
        for token in _tokens(question):
            odds += math.log((words[True][token] + 1) / (totals[True] + 2))
            odds -= math.log((words[False][token] + 1) / (totals[False] + 2))
        if question.template.split("/")[1] == "premise":
            return WRONG_PREMISE if odds > 0 else None
        return "Yes" if odds > 0 else "No"

    return guess


def _side(question: Question) -> bool | None:
    if "/premise/" in question.template:
        return question.false_premise
    return question.answer == "Yes" if _is_yes_no(question) else None


def _tokens(question: Question) -> set[str]:
    """Lower-case words: invented names are capitalised and teach nothing about other worlds."""
    found = re.findall(r"[a-z]+|\d+", question.text)
    return {*found, *(f"{question.template}:{w}" for w in found), question.template}
