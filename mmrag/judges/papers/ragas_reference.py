"""Ragas' measures that need a reference, as ragas defines them today, with a model as judge.

Statements are drawn from answer and reference and verified by the requests of the other measures
(`ragas.py`); one more asks of each context whether it was useful. A statement counts as
held where it is supported, whatever else it may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mmrag.errors import SpecError
from mmrag.judges.papers.ragas import PROMPTS, SENTENCES, SeparateRequests
from mmrag.judges.papers.sentence_support import encode_whole
from mmrag.judges.prompts import case_key, fingerprint, last_object, render
from mmrag.judges.structured_replies import ask_until_parsed, batch_texts, passage_batches, split
from mmrag.metrics.grounding import (
    Support,
    answer_correctness,
    context_precision,
    noise_sensitivity,
    share,
)
from mmrag.metrics.measure_records import Case
from mmrag.protocols import Encoder, Model

MEASURES = (
    "context_precision", "context_recall", "answer_correctness", "noise_sensitivity",
    "noise_sensitivity_irrelevant",
)  # fmt: skip


class ReferenceRagas(SeparateRequests):
    """Measures a case against its first reference. `encoder` is for answer correctness."""

    measures = MEASURES

    def __init__(
        self, model: Model, *, name: str, encoder: Encoder | None = None, prompts: str = "keyed"
    ) -> None:
        self._model, self._encoder = model, encoder
        self._prompts = PROMPTS[prompts](model)
        steer = fingerprint(*self._prompts.files, "useful.j2")
        self._id = f"ragas/2:{prompts}:{name}+{steer}"

    def id(self, measure: str) -> str:
        """Model and prompts; for answer correctness the encoder too."""
        if measure != "answer_correctness":
            return self._id
        return f"{self._id}~{getattr(self._encoder, 'id', None)}"

    async def taken(self, case: Case, measure: str) -> dict[str, Any]:
        """By the steps of the measure, where the case has what it needs."""
        if lacking := _lacking(case, measure):
            return {"value": None, "reason": lacking}
        return await {
            "context_precision": self._precision,
            "context_recall": self._recall,
            "answer_correctness": self._correctness,
            "noise_sensitivity": self._noise,
            "noise_sensitivity_irrelevant": partial(self._noise, irrelevant=True),
        }[measure](case)

    async def _precision(self, case: Case) -> dict[str, Any]:
        useful = [await self._useful(case, passage.text) for passage in case.passages]
        return {"value": context_precision(useful), "details": {"useful": useful}}

    async def _recall(self, case: Case) -> dict[str, Any]:
        said = await self._statements(case.question, case.references[0])
        held = await self._held(said, [passage.text for passage in case.passages])
        return _share(sum(held), len(held), {"statements": said, "held": held})

    async def _correctness(self, case: Case) -> dict[str, Any]:
        if self._encoder is None:
            raise SpecError("answer_correctness compares texts and needs a text encoder.")
        said = await self._statements(case.question, case.answer)
        wanted = await self._statements(case.question, case.references[0])
        right = await self._held(said, wanted)
        told = await self._held(wanted, said)
        one, two = encode_whole(self._encoder, [case.answer, case.references[0]])
        alike = float(one @ two)
        return {
            "value": answer_correctness(right, told, alike),
            "details": {"statements": said, "right": right, "wanted": wanted, "told": told,
                        "similarity": round(alike, 6)},
        }  # fmt: skip

    async def _noise(self, case: Case, *, irrelevant: bool = False) -> dict[str, Any]:
        said = await self._statements(case.question, case.answer)
        wanted = await self._statements(case.question, case.references[0])
        relevant: list[bool] = []
        holds: list[list[bool]] = [[] for _ in said]
        for passage in case.passages:
            relevant.append(any(await self._held(wanted, [passage.text])))
            for of, held in zip(holds, await self._held(said, [passage.text]), strict=True):
                of.append(held)
        right = await self._held(said, [case.references[0]])
        value = noise_sensitivity(relevant, holds, right, irrelevant=irrelevant)
        return {
            "value": value,
            "reason": "" if said else _NOTHING_SAID,
            "details": {"statements": said, "right": right, "relevant": relevant},
        }

    async def _statements(self, question: str, text: str) -> list[str]:
        said: list[str] = []
        for sentences in batch_texts(split(text), most=SENTENCES):
            said += await self._prompts.statements(question, sentences)
        return said

    async def _held(self, statements: Sequence[str], passages: Sequence[str]) -> list[bool]:
        if not statements or not passages:
            return [False] * len(statements)
        labels = await self._prompts.verify(statements, passages)
        return [label is Support.SUPPORTED for label in labels]

    async def _useful(self, case: Case, text: str) -> bool:
        for part in passage_batches([text]):
            key = case_key(case.question, case.references[0], *part)

            def read(said: str, key: str = key) -> bool | None:
                value = (last_object(said, key) or {}).get("useful")
                return value if isinstance(value, bool) else None

            prompt = render(
                "useful.j2", key=key, question=case.question, answer=case.references[0],
                context=" ".join(part),
            )  # fmt: skip
            if await ask_until_parsed(self._model, prompt, read, max_tokens=100):
                return True
        return False


_NOTHING_SAID = "the answer states nothing"


def _lacking(case: Case, measure: str) -> str:
    """What a case lacks for a measure; empty where it lacks nothing."""
    if not case.references or not case.references[0].strip():
        return "there is no reference"
    if measure != "answer_correctness" and not case.passages:
        return "there is no context"
    if not measure.startswith("context") and not case.answer.strip():
        return "there is no answer"
    return ""


def _share(part: float, whole: float, details: dict[str, Any]) -> dict[str, Any]:
    reason = "" if whole else "the reference states nothing"
    return {"value": share(part, whole), "reason": reason, "details": details}
