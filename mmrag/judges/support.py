"""Who says that a sentence is supported: a model, or the text encoder as a stated approximation.

The measures themselves are pure functions in `mmrag.metrics.grounding`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mmrag.errors import JudgeError
from mmrag.judges.normalise import is_missing, plain, sentences, words
from mmrag.judges.prompts import case_key, last_object, render
from mmrag.metrics.grounding import GroundedAnswer, Support, answer_relevance, context_relevance
from mmrag.protocols import Encoder, GenerateOptions, Message, Model
from mmrag.records import Reply, Turn

MAX_SENTENCES = 40
MAX_PASSAGES = 50
MAX_CHARS = 2_000
"""Of one passage or sentence."""


class SupportJudge(Protocol):
    """Says what passages do for each sentence of an answer."""

    async def support(self, claims: Sequence[str], passages: Sequence[str]) -> tuple[Support, ...]:
        """One label per sentence."""
        ...


class EncoderSupport:
    """Approximation: a sentence is supported when a passage sentence is close enough in meaning.

    It cannot see contradiction or a wrong number, so its figures are upper bounds; reports must
    call them approximate.
    """

    approximate = True

    def __init__(self, encoder: Encoder, threshold: float = 0.7) -> None:
        self._encoder = encoder
        self._threshold = threshold

    async def support(self, claims: Sequence[str], passages: Sequence[str]) -> tuple[Support, ...]:
        """Highest cosine with any sentence of any passage, against the threshold."""
        known = [s for passage in passages for s in split(passage)]
        wanted = [claim for claim in claims if _claims(claim)]
        if not wanted or not known:
            return tuple(Support.UNSUPPORTED if _claims(c) else Support.NOT_NEEDED for c in claims)
        cosine = self._encoder.encode(wanted) @ self._encoder.encode(known).T
        best = dict(zip(wanted, cosine.max(axis=1), strict=True))
        return tuple(
            Support.NOT_NEEDED
            if claim not in best
            else Support.SUPPORTED
            if best[claim] >= self._threshold
            else Support.UNSUPPORTED
            for claim in claims
        )


class ModelSupport:
    """Asks a model; an answer that is no list of labels raises `JudgeError` after the retries."""

    approximate = False

    def __init__(self, model: Model, *, retries: int = 2) -> None:
        self._model = model
        self._retries = retries

    async def support(self, claims: Sequence[str], passages: Sequence[str]) -> tuple[Support, ...]:
        """One call for all sentences."""
        if not claims:
            return ()
        if not passages:
            return tuple(Support.UNSUPPORTED if _claims(c) else Support.NOT_NEEDED for c in claims)
        shown = [passage[:MAX_CHARS] for passage in passages[:MAX_PASSAGES]]
        said = [claim[:MAX_CHARS] for claim in claims]
        key = case_key(*shown, *said)
        prompt = render("support.j2", key=key, passages=shown, sentences=said)

        def read(found: dict[str, Any]) -> tuple[Support, ...] | None:
            labels = found.get("labels")
            if not isinstance(labels, list) or len(labels) != len(said):
                return None
            try:
                return tuple(Support(label) for label in labels)
            except ValueError:
                return None

        return await _ask(self._model, prompt, key, read, self._retries)


async def regenerated_relevance(
    question: str, answer: str, model: Model, encoder: Encoder, *, n: int = 3, retries: int = 2
) -> float | None:
    """Ragas' answer relevance: n questions written back from the answer, mean cosine. 0 when the
    answer is none."""
    if is_missing(answer):
        return 0.0
    key = case_key(answer)
    prompt = render("questions.j2", key=key, n=n, answer=answer[:MAX_CHARS])

    def read(found: dict[str, Any]) -> list[str] | None:
        asked = found.get("questions")
        if not isinstance(asked, list) or len(asked) != n:
            return None
        return asked if all(isinstance(q, str) and q.strip() for q in asked) else None

    asked = await _ask(model, prompt, key, read, retries)
    rows = encoder.encode([question, *asked])
    return answer_relevance([float(np.clip(row @ rows[0], -1, 1)) for row in rows[1:]])


async def needed_share(
    question: str, context: str, model: Model, *, retries: int = 2
) -> float | None:
    """Ragas' context relevance: the share of the context's sentences that the answer needs."""
    numbered = split(context)
    if not numbered:
        return None
    key = case_key(question, context)
    prompt = render("needed.j2", key=key, question=question[:MAX_CHARS], sentences=numbered)

    def read(found: dict[str, Any]) -> set[int] | None:
        chosen = found.get("needed")
        if not isinstance(chosen, list):
            return None
        good = all(isinstance(n, int) and 1 <= n <= len(numbered) for n in chosen)
        return set(chosen) if good else None

    kept = await _ask(model, prompt, key, read, retries)
    return context_relevance(len(kept), len(numbered))


async def grounded_answer(
    turn: Turn,
    reply: Reply,
    passages: Mapping[str, str],
    judge: SupportJudge,
    *,
    eligible: bool | None = None,
) -> GroundedAnswer:
    """GaRAGe's view of one reply, from the world's grounding labels and the texts of the evidence.

    `passages` is evidence id → text of what the agent was given. Relevant is what the reference
    labels `answers` or `related`; the expected citations are its evidence, else what `answers`.
    """
    labels = turn.reference.grounding
    answering = {name for name, label in labels.items() if label == "answers"}
    relevant = answering | {name for name, label in labels.items() if label == "related"}
    claims = split(reply.text)
    return GroundedAnswer(
        deflects=reply.abstained or is_missing(reply.text),
        should_deflect=not answering & passages.keys(),
        eligible=eligible,
        support=await judge.support(claims, list(passages.values())),
        relevant_support=await judge.support(
            claims, [text for name, text in passages.items() if name in relevant]
        ),
        cited=frozenset(reply.citations),
        expected=frozenset(turn.reference.evidence) or frozenset(answering),
    )


def split(text: str) -> list[str]:
    """Sentences of a reply or passage, bounded in number and length."""
    return [sentence[:MAX_CHARS] for sentence in sentences(plain(text))[:MAX_SENTENCES]]


def _claims(sentence: str) -> bool:
    return len(words(sentence)) > 1 and not is_missing(sentence)


async def _ask(model: Model, prompt: str, key: str, read: Any, retries: int) -> Any:
    said = ""
    for attempt in range(retries + 1):
        completion = await model.generate(
            [Message(role="user", text=prompt)],
            GenerateOptions(max_tokens=800, seed=attempt),
        )
        said = completion.text
        found = last_object(said, key)
        if found is not None and (value := read(found)) is not None:
            return value
    raise JudgeError(f"the model gave no usable answer in {retries + 1} tries; last: {said[:300]}")
