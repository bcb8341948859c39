"""Which of two answers (or contexts) is better? The paper's two baselines beside Ragas.

GPT Score asks for a grade from 0 to 10 of each, GPT Ranking for the better of the two. Both are the
paper's words with any model.
"""

from __future__ import annotations

import re

from mmrag.judges.prompts import render
from mmrag.judges.structured_replies import ask_until_parsed
from mmrag.protocols import Model


async def grade(model: Model, quality: str, *, question: str, answer: str, context: str) -> float:
    """A grade from 0 to 10 for a quality; `JudgeError` when the model gives none."""
    prompt = render(
        "paper_score.j2", quality=quality, question=question, answer=answer, context=context
    )
    return await ask_until_parsed(model, prompt, read_grade, max_tokens=100)


async def choose_better(
    model: Model, quality: str, *, question: str, context: str, first: str, second: str
) -> int:
    """1 or 2."""
    prompt = render(
        "paper_rank.j2",
        quality=quality,
        question=question,
        context=context,
        first=first,
        second=second,
    )
    return await ask_until_parsed(model, prompt, read_choice, max_tokens=100)


def read_grade(text: str) -> float | None:
    """The grade that a text gives; None where it gives none or several.

    >>> read_grade("Score: 7/10"), read_grade("8"), read_grade("between 3 and 5")
    (7.0, 8.0, None)
    """
    for pattern in (rf"({_NUMBER})\s*/\s*10\b", rf"(?i)score\D{{0,20}}({_NUMBER})"):
        found = re.findall(pattern, text)
        if found:
            return _bounded(found[-1])
    every = re.findall(rf"(?<![\d.])({_NUMBER})(?![\d.]*\d)", text)
    return _bounded(every[0]) if len(every) == 1 else None


def read_choice(text: str) -> int | None:
    """Which one a text chooses: it must not name both, unless it begins with one alone.

    >>> read_choice("Answer 2 is better."), read_choice("1"), read_choice("1 or 2")
    (2, 1, None)
    """
    lines = text.strip().splitlines()
    if lines and re.fullmatch(r"\W*[12]\W*", lines[0]):
        return int(re.findall(r"[12]", lines[0])[0])
    named = set(re.findall(r"\b[12]\b", text))
    return int(named.pop()) if len(named) == 1 else None


_NUMBER = r"\d+(?:\.\d+)?"


def _bounded(text: str) -> float | None:
    value = float(text)
    return value if 0 <= value <= 10 else None
