"""How many of CRAG's questions their pages answer, by number of pages: the paper's Figure 2.

A page answers where its snippet or visible text holds the answer, word for word; with a model,
where the model says that it suffices, as the paper asked one. Either looks at one page after the
other, so facts that have to be put together from several pages are not found.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mmrag.judges.prompts import case_key, last_object, render
from mmrag.judges.structured_replies import ask_until_parsed, passage_batches
from mmrag.protocols import Model
from mmrag.records import Passage, Record, Session

FALSE_PREMISE = "invalid question"


class FirstAnsweringPage(Record, frozen=True, kw_only=True):
    """Which page of a question is the first that answers it."""

    answer_from: str
    """web or kg, where the data says; else empty."""
    page: int | None
    """Its place, from 1; None where no page does."""


async def first_answering_pages(
    sessions: Iterable[Session],
    model: Model | None = None,
    *,
    concurrency: int = 8,
    on_progress: Callable[[int], None] = lambda _done: None,
) -> list[FirstAnsweringPage]:
    """One for each question that has a reference which a page could state, in no order."""
    asked = iter(_answerable(sessions))
    found: list[FirstAnsweringPage] = []

    async def worker() -> None:
        for session in asked:
            turn = session.turns[0]
            place = await _first(session, model)
            found.append(
                FirstAnsweringPage(answer_from=turn.meta.get("answer_from", ""), page=place)
            )
            on_progress(len(found))

    await asyncio.gather(*(worker() for _ in range(concurrency if model else 1)))
    return found


def recall_curve(found: Sequence[FirstAnsweringPage], pages: Sequence[int]) -> list[dict[str, Any]]:
    """The share of questions that the first k pages answer: all, and by where answers are from."""
    kinds = ["", *sorted({one.answer_from for one in found} - {""})]
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        held = [one.page for one in found if not kind or one.answer_from == kind]
        shares = {k: sum(p is not None and p <= k for p in held) / len(held) for k in pages}
        rows.append({"questions": kind or "all", "n": len(held), "recall": shares})
    return rows


def as_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The curve as a table, in per cent."""
    pages = list(rows[0]["recall"])
    lines = [
        "| pages | n | " + " | ".join(map(str, pages)) + " |",
        "|---|" + "--:|" * (1 + len(pages)),
    ]
    for row in rows:
        cells = " | ".join(f"{100 * share:.1f}" for share in row["recall"].values())
        lines.append(f"| {row['questions']} | {row['n']:,} | {cells} |")
    return "\n".join(lines)


def _answerable(sessions: Iterable[Session]) -> Iterable[Session]:
    for session in sessions:
        text = session.turns[0].reference.text
        if text and text.casefold() != FALSE_PREMISE:
            yield session


async def _first(session: Session, model: Model | None) -> int | None:
    turn = session.turns[0]
    answers = [f" {_plain(text)} " for text in turn.reference.all_texts if _plain(text)]
    pages: dict[int, list[Passage]] = {}
    for passage in session.passages:
        pages.setdefault(int(passage.id.partition(".")[0]), []).append(passage)
    for place, passages in sorted(pages.items()):
        texts = [passage.text for passage in passages]
        if model is None:
            said = [f" {_plain(text)} " for text in texts]
            if any(answer in text for answer in answers for text in said):
                return place
        elif await _suffices(model, turn.query, turn.reference.all_texts, texts):
            return place
    return None


async def _suffices(
    model: Model, question: str, answers: Sequence[str], texts: Sequence[str]
) -> bool:
    for part in passage_batches(texts):
        key = case_key(question, *answers, *part)

        def read(said: str, key: str = key) -> bool | None:
            value = (last_object(said, key) or {}).get("sufficient")
            return value if isinstance(value, bool) else None

        prompt = render(
            "sufficient.j2", key=key, question=question, references=answers, passages=part
        )
        if await ask_until_parsed(model, prompt, read, max_tokens=100):
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
