"""Ragas without a model: from annotations, or approximated with a text encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mmrag.judges.papers.ragas import MEASURES
from mmrag.judges.papers.sentence_support import EncoderSupport, deflects, encode_whole
from mmrag.judges.structured_replies import split
from mmrag.metrics.grounding import answer_relevance, context_relevance, faithfulness
from mmrag.metrics.measure_records import Case, Measurement
from mmrag.protocols import Encoder


class EncoderRagas:
    """Approximation: statements are the answer's sentences, and no question is written back.

    Answer relevance is the cosine of question and answer; a sentence of the context is needed when
    its cosine with the question is high enough.
    """

    measures = MEASURES
    approximate = True

    def __init__(
        self, encoder: Encoder, *, threshold: float = 0.55, needed_from: float = 0.7
    ) -> None:
        self._encoder = encoder
        self._support = EncoderSupport(encoder, threshold)
        self._needed_from = needed_from
        self._id = f"encoder/1:{encoder.id}@{threshold}/{needed_from}"

    def id(self, measure: str) -> str:
        """The encoder and the thresholds, whatever the measure."""
        del measure
        return self._id

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """One measurement each."""
        ways: dict[str, Callable[[Case], Any]] = {
            "faithfulness": self._faithfulness,
            "answer_relevance": self._answer_relevance,
            "context_relevance": self._context_relevance,
        }
        return [
            Measurement(measure=name, judge=self._id, approximate=True, **await ways[name](case))
            for name in measures
        ]

    async def _faithfulness(self, case: Case) -> dict[str, Any]:
        said = split(case.answer)
        labels = await self._support.support(said, [p.text for p in case.passages], case.question)
        value = faithfulness(labels)
        return {
            "value": value,
            "reason": "" if value is not None else "the answer states nothing",
            "details": {"statements": said, "labels": [str(label) for label in labels]},
        }

    async def _answer_relevance(self, case: Case) -> dict[str, Any]:
        if deflects(case.answer):
            return {"value": 0.0, "reason": "the answer declines"}
        rows = encode_whole(self._encoder, [case.question, case.answer])
        return {"value": answer_relevance([max(-1.0, min(1.0, float(rows[0] @ rows[1])))])}

    async def _context_relevance(self, case: Case) -> dict[str, Any]:
        numbered = [s for passage in case.passages for s in split(passage.text)]
        if not numbered:
            return {"value": None, "reason": "there is no context"}
        rows = encode_whole(self._encoder, [case.question, *numbered])
        near = rows[1:] @ rows[0] >= self._needed_from
        kept = [sentence for sentence, needed in zip(numbered, near, strict=True) if needed]
        return {
            "value": context_relevance(len(kept), len(numbered)),
            "details": {"needed": kept, "sentences": len(numbered)},
        }


class LabelRagas:
    """From annotations. Of answer relevance there are none: it is a likeness, not a label."""

    measures = MEASURES
    approximate = False

    def id(self, measure: str) -> str:
        """The same for every measure."""
        del measure
        return "labels/1"

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """One measurement each; None with the reason where nobody annotated."""
        return [self._one(case, measure) for measure in measures]

    def _one(self, case: Case, measure: str) -> Measurement:
        value: float | None = None
        notes = case.annotations
        if measure == "faithfulness" and notes.support is not None:
            value = faithfulness(notes.support)
        if measure == "context_relevance" and notes.needed is not None:
            total = sum(len(split(passage.text)) for passage in case.passages)
            value = context_relevance(len(notes.needed), total)
        return Measurement(
            measure=measure,
            judge=self.id(measure),
            value=value,
            reason="" if value is not None else "nobody annotated it",
        )
