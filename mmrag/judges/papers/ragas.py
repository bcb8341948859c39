"""Ragas with a model as judge: faithfulness, answer relevance and context relevance of one case.

The steps are the paper's: statements are drawn from the answer and verified one by one; questions
are written back from the answer and compared with the one that was asked; the sentences that the
question needs are picked out of the context. Two sets of prompts take the same steps: `keyed`
(ours: structured answers, fenced against instructions in the material) and `paper` (the paper's
words, for figures that are to be compared with it).
"""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from mmrag.errors import Denied, JudgeError, ServiceError, SpecError
from mmrag.judges.papers.sentence_support import ModelSupport, deflects, encode_whole
from mmrag.judges.prompts import case_key, fingerprint, last_object, render
from mmrag.judges.structured_replies import ask_until_parsed, batch_texts, passage_batches, split
from mmrag.metrics.grounding import Support, answer_relevance, context_relevance, faithfulness
from mmrag.metrics.measure_records import Case, Measurement
from mmrag.protocols import Encoder, Model
from mmrag.registry import unknown_name_message
from mmrag.text.normalise import normalise

MEASURES = ("faithfulness", "answer_relevance", "context_relevance")

SENTENCES = 20
"""Sentences of an answer from which one request draws statements."""

CONTEXT_SENTENCES = 100
"""Sentences of the context that one request picks from."""


class GeneratedQuestions(NamedTuple):
    """What was written back from an answer."""

    questions: list[str]
    noncommittal: bool
    """The answer evades the question: then it has no relevance, whatever the questions are."""


class Prompts(Protocol):
    """The four requests of Ragas."""

    @property
    def files(self) -> tuple[str, ...]:
        """What steers it: part of the judge's id."""
        ...

    async def statements(self, question: str, sentences: Sequence[str]) -> list[str]:
        """Short statements drawn from sentences of an answer."""
        ...

    async def verify(self, statements: Sequence[str], passages: Sequence[str]) -> list[Support]:
        """What the context does for each statement."""
        ...

    async def questions(self, answer: str, n: int) -> GeneratedQuestions:
        """Questions that the answer would answer, and whether it is noncommittal."""
        ...

    async def needed(self, question: str, sentences: Sequence[str]) -> set[int]:
        """Places of the sentences that the question needs."""
        ...


class SeparateRequests(ABC):
    """Takes each measure of a case by requests of its own, so that one may fail alone."""

    @abstractmethod
    def id(self, measure: str) -> str:
        """Everything that a value of a measure depends on."""

    @abstractmethod
    async def taken(self, case: Case, measure: str) -> dict[str, Any]:
        """The fields of a measurement."""

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """One measurement each; one for which the model gives nothing usable is `failed`."""
        return list(await asyncio.gather(*(self._one(case, measure) for measure in measures)))

    async def _one(self, case: Case, measure: str) -> Measurement:
        found: dict[str, Any]
        try:
            found = await self.taken(case, measure)
        except Denied:
            raise
        except (JudgeError, ServiceError) as error:
            found = {"value": None, "reason": str(error), "failed": True}
        return Measurement(measure=measure, judge=self.id(measure), **found)


class RagasJudge(SeparateRequests):
    """Measures cases with a model. `encoder` compares questions; without it answer relevance is
    refused."""

    measures = MEASURES

    def __init__(
        self,
        model: Model,
        *,
        name: str,
        encoder: Encoder | None = None,
        prompts: str = "keyed",
        questions: int = 3,
    ) -> None:
        if prompts not in PROMPTS:
            raise SpecError(unknown_name_message("set of prompts", prompts, PROMPTS))
        self._prompts = PROMPTS[prompts](model)
        self._encoder = encoder
        self._n = questions
        self._id = f"ragas/2:{prompts}:{name}+{fingerprint(*self._prompts.files)}"

    def id(self, measure: str) -> str:
        """Model and prompts; for answer relevance the encoder and the number of questions too."""
        if measure != "answer_relevance":
            return self._id
        return f"{self._id}~{self._n}x{getattr(self._encoder, 'id', None)}"

    async def taken(self, case: Case, measure: str) -> dict[str, Any]:
        """By the steps of the measure."""
        return await {
            "faithfulness": self._faithfulness,
            "answer_relevance": self._answer_relevance,
            "context_relevance": self._context_relevance,
        }[measure](case)

    async def _faithfulness(self, case: Case) -> dict[str, Any]:
        if deflects(case.answer):
            return {"value": None, "reason": "the answer declines and states nothing"}
        said: list[str] = []
        for sentences in batch_texts(split(case.answer), most=SENTENCES):
            said += await self._prompts.statements(case.question, sentences)
        if not said:
            return {"value": None, "reason": "the answer states nothing"}
        labels = await self._prompts.verify(said, [p.text for p in case.passages])
        return {
            "value": faithfulness(labels),
            "reason": "" if faithfulness(labels) is not None else "the answer states nothing",
            "details": {"statements": said, "labels": [str(label) for label in labels]},
        }

    async def _answer_relevance(self, case: Case) -> dict[str, Any]:
        if self._encoder is None:
            raise SpecError("answer_relevance compares questions and needs a text encoder.")
        if not case.answer.strip():
            return {"value": 0.0, "reason": "there is no answer"}
        asked, noncommittal = await self._prompts.questions(case.answer, self._n)
        if noncommittal:
            why = "the answer is noncommittal"
            return {"value": 0.0, "reason": why, "details": {"questions": asked}}
        rows = encode_whole(self._encoder, [case.question, *asked])
        cosines = [float(np.clip(row @ rows[0], -1, 1)) for row in rows[1:]]
        return {
            "value": answer_relevance(cosines),
            "details": {"questions": asked, "cosines": [round(c, 6) for c in cosines]},
        }

    async def _context_relevance(self, case: Case) -> dict[str, Any]:
        numbered = [s for passage in case.passages for s in split(passage.text)]
        if not numbered:
            return {"value": None, "reason": "there is no context"}
        kept: list[int] = []
        start = 0
        for part in batch_texts(numbered, most=CONTEXT_SENTENCES):
            kept += [start + i for i in sorted(await self._prompts.needed(case.question, part))]
            start += len(part)
        return {
            "value": context_relevance(len(kept), len(numbered)),
            "details": {"needed": [numbered[i] for i in kept], "sentences": len(numbered)},
        }


class KeyedPrompts:
    """Ours: every answer is a JSON object that repeats a key which the material cannot hold."""

    files = ("statements.j2", "support.j2", "questions.j2", "needed.j2")

    def __init__(self, model: Model) -> None:
        self._model = model
        self._support = ModelSupport(model)

    async def statements(self, question: str, sentences: Sequence[str]) -> list[str]:
        """A list; empty when nothing is claimed."""
        key = case_key(question, *sentences)
        prompt = render("statements.j2", key=key, question=question, sentences=sentences)
        room = 300 + sum(map(len, sentences))  # four characters a token, statements repeat names
        return await ask_until_parsed(
            self._model, prompt, _texts("statements", key), max_tokens=room
        )

    async def verify(self, statements: Sequence[str], passages: Sequence[str]) -> list[Support]:
        """By the same request that judges the sentences of an answer."""
        return list(await self._support.support(statements, passages))

    async def questions(self, answer: str, n: int) -> GeneratedQuestions:
        """All by one request; the model says whether the answer is noncommittal."""
        [[whole]] = batch_texts([answer], most=1)
        key = case_key(answer)
        texts = _texts("questions", key)

        def read(text: str) -> GeneratedQuestions | None:
            found = texts(text)
            said = (last_object(text, key) or {}).get("noncommittal")
            if found is None or len(found) != n or not isinstance(said, bool):
                return None
            return GeneratedQuestions(found, said)

        prompt = render("questions.j2", key=key, n=n, answer=whole)
        return await ask_until_parsed(self._model, prompt, read)

    async def needed(self, question: str, sentences: Sequence[str]) -> set[int]:
        """By number."""
        key = case_key(question, *sentences)

        def read(text: str) -> set[int] | None:
            chosen = (last_object(text, key) or {}).get("needed")
            if not isinstance(chosen, list):
                return None
            good = all(type(n) is int and 1 <= n <= len(sentences) for n in chosen)
            return {n - 1 for n in chosen} if good else None

        prompt = render("needed.j2", key=key, question=question, sentences=sentences)
        return await ask_until_parsed(self._model, prompt, read)


class PaperPrompts:
    """The paper's words and free text. Instructions in the material are not fenced off."""

    files = ("paper_statements.j2", "paper_verify.j2", "paper_question.j2", "paper_extract.j2",
             "paper_noncommittal.j2")  # fmt: skip

    def __init__(self, model: Model) -> None:
        self._model = model

    async def statements(self, question: str, sentences: Sequence[str]) -> list[str]:
        """One a line."""
        prompt = render("paper_statements.j2", question=question, sentences=sentences)
        room = 300 + sum(map(len, sentences))
        return await ask_until_parsed(self._model, prompt, _lines, max_tokens=room)

    async def verify(self, statements: Sequence[str], passages: Sequence[str]) -> list[Support]:
        """Yes or No for each; passages beyond one request are asked about for what is still No."""
        labels = [Support.UNSUPPORTED] * len(statements)
        for shown in passage_batches(passages):
            open_ones = [i for i, label in enumerate(labels) if label is not Support.SUPPORTED]
            start = 0
            for said in batch_texts([statements[i] for i in open_ones], most=SENTENCES):
                verdicts = await self._verdicts(said, shown)
                for i, yes in zip(open_ones[start:], verdicts, strict=False):
                    labels[i] = Support.SUPPORTED if yes else Support.UNSUPPORTED
                start += len(said)
        return labels

    async def _verdicts(self, said: list[str], shown: list[str]) -> list[bool]:
        prompt = render("paper_verify.j2", passages=shown, sentences=said)

        def read(text: str) -> list[bool] | None:
            last = re.split(r"(?i)final verdicts?", text)[-1]
            found = re.findall(r"(?i)\b(yes|no)\b", last)
            return [word.lower() == "yes" for word in found] if len(found) == len(said) else None

        return await ask_until_parsed(self._model, prompt, read, max_tokens=300 + 80 * len(said))

    async def questions(self, answer: str, n: int) -> GeneratedQuestions:
        """One by each of n requests, and by one more, in ragas' words, whether it evades."""
        asked = await self._written_back(answer, n)
        prompt = render("paper_noncommittal.j2", answer=answer)
        return GeneratedQuestions(asked, await ask_until_parsed(self._model, prompt, _zero_or_one))

    async def _written_back(self, answer: str, n: int) -> list[str]:
        """Questions, sampled so that they differ."""
        [[whole]] = batch_texts([answer], most=1)
        prompt = render("paper_question.j2", answer=whole)
        return [
            await ask_until_parsed(self._model, prompt, _first_line, temperature=0.7, seed=seed)
            for seed in range(n)
        ]

    async def needed(self, question: str, sentences: Sequence[str]) -> set[int]:
        """The sentences that the answer repeats whole; changed ones are not recognised."""
        prompt = render("paper_extract.j2", question=question, sentences=sentences)

        def read(text: str) -> set[int] | None:
            kept = repeated_sentences(text, sentences)
            refused = "insufficient information" in normalise(text)
            return kept if kept or refused else None

        room = 300 + sum(map(len, sentences)) // 2
        return await ask_until_parsed(self._model, prompt, read, max_tokens=room)


PROMPTS: dict[str, Callable[[Model], Prompts]] = {"keyed": KeyedPrompts, "paper": PaperPrompts}
"""The sets of prompts by name."""


def _texts(field: str, key: str) -> Callable[[str], list[str] | None]:
    def read(text: str) -> list[str] | None:
        found = (last_object(text, key) or {}).get(field)
        if not isinstance(found, list) or not all(isinstance(t, str) and t.strip() for t in found):
            return None
        return [str(t) for t in found]

    return read


def _lines(text: str) -> list[str] | None:
    said = [re.sub(r"^\s*(?:[-*•]|\d+[.)])\s*", "", line).strip() for line in text.splitlines()]
    kept = [line for line in said if line and not re.fullmatch(r"(?i)statements?:?", line)]
    return kept or None


def _first_line(text: str) -> str | None:
    found = re.sub(r"(?i)^\s*question:\s*", "", text.strip())
    return found.splitlines()[0].strip() if found.strip() else None


def _zero_or_one(text: str) -> bool | None:
    found = re.findall(r"(?<![\w.])[01](?![\w]|\.\d)", text)
    return found[0] == "1" if len(set(found)) == 1 else None


def repeated_sentences(text: str, sentences: Sequence[str]) -> set[int]:
    """Places of the sentences that a text repeats, whole, each as often as it does.

    A line, or a sentence of it, counts where it is one of them or several end to end; a sentence
    that is no more than a part of another one does not.

    >>> lines = ["Long.", "The bridge is long.", "It is old."]
    >>> sorted(repeated_sentences("- The bridge is long.", lines))
    [1]
    """
    places: dict[tuple[str, ...], list[int]] = {}
    for place, sentence in enumerate(sentences):
        if words := tuple(normalise(sentence).split()):
            places.setdefault(words, []).append(place)
    kept: set[int] = set()
    for line in _lines(text) or ():
        whole = _tiled(line, places)
        for found in whole or [one for part in split(line) for one in _tiled(part, places)]:
            if places[found]:
                kept.add(places[found].pop(0))
    return kept


def _tiled(text: str, known: Mapping[tuple[str, ...], Any]) -> list[tuple[str, ...]]:
    """The known sentences of which a text consists, end to end; none where it is more or less."""
    words = tuple(word for part in split(text) for word in normalise(part).split())
    reached: dict[int, list[tuple[str, ...]]] = {0: []}
    for start in range(len(words)):
        for sentence in known if start in reached else ():
            end = start + len(sentence)
            if words[start:end] == sentence:
                reached.setdefault(end, [*reached[start], sentence])
    return reached.get(len(words), []) if words else []
