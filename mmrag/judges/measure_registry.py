"""Which measures there are to take, and who takes them.

>>> chosen_measures("ragas,raf")
('faithfulness', 'answer_relevance', 'context_relevance', 'raf')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mmrag.encoders.vector_cache import CachedTextEncoder
from mmrag.errors import SpecError
from mmrag.judges.papers import ragas, ragas_reference, reference_measures
from mmrag.judges.papers.garage_judge import (
    EncoderAssessor,
    GarageJudge,
    LabelAssessor,
    ModelAssessor,
)
from mmrag.judges.papers.ragas_offline import EncoderRagas, LabelRagas
from mmrag.metrics.grounding import GARAGE
from mmrag.metrics.measure_records import Case, Measurement
from mmrag.protocols import Encoder, Model, TokenEncoder
from mmrag.registry import unknown_name_message
from mmrag.text import comma_list

SUITES = {
    "ragas": ragas.MEASURES,
    "ragas-reference": ragas_reference.MEASURES,
    "garage": GARAGE,
    "crud": reference_measures.MEASURES,
}
"""Measures by the paper that they come from, in the order of its tables."""

BY_ENCODER = (
    "answer_relevance", "answer_correctness", "reference_cosine", *reference_measures.BERT
)  # fmt: skip
"""Those that a text encoder takes part in, also where a model judges."""


class Measurer(Protocol):
    """Takes some measures of a case."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Those it can take."""
        ...

    def id(self, measure: str) -> str:
        """Who decides: stands in every one of its measurements."""
        ...

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """One measurement of each; one that the judge gives nothing for is `failed`."""
        ...


def chosen_measures(text: str) -> tuple[str, ...]:
    """The measures that a list of names stands for; a suite's name stands for all of its own."""
    found: dict[str, None] = {}
    for name in comma_list(text):
        known = SUITES.get(name) or ((name,) if any(name in s for s in SUITES.values()) else ())
        if not known:
            every = [*SUITES, *(one for suite in SUITES.values() for one in suite)]
            raise SpecError(unknown_name_message("measure", name, every))
        found |= dict.fromkeys(known)
    if not found:
        raise SpecError(f"choose measures: {', '.join(SUITES)}, or single ones.")
    return tuple(found)


def model_measurers(
    model: Model, *, name: str, encoder: Encoder | None = None, prompts: str = "keyed"
) -> tuple[Measurer, ...]:
    """A language model decides; `encoder` compares questions, and replies with references."""
    return (
        ragas.RagasJudge(model, name=name, encoder=encoder, prompts=prompts),
        ragas_reference.ReferenceRagas(model, name=name, encoder=encoder, prompts=prompts),
        GarageJudge(ModelAssessor(model, name=name)),
        reference_measures.QuestEvalMeasurer(model, name=name),
        reference_measures.OverlapMeasurer(),
        reference_measures.RetrievalMeasurer(),
        *_likeness(encoder),
    )


def encoder_measurers(encoder: Encoder) -> tuple[Measurer, ...]:
    """A text encoder stands in: approximate, offline, and marked so."""
    return (
        EncoderRagas(encoder),
        GarageJudge(EncoderAssessor(encoder)),
        reference_measures.OverlapMeasurer(),
        reference_measures.RetrievalMeasurer(),
        *_likeness(encoder),
    )


def label_measurers() -> tuple[Measurer, ...]:
    """Annotations decide."""
    return (
        LabelRagas(),
        GarageJudge(LabelAssessor()),
        reference_measures.OverlapMeasurer(),
        reference_measures.RetrievalMeasurer(),
    )


def _likeness(encoder: Encoder | None) -> tuple[Measurer, ...]:
    """What an encoder can compare: whole texts, and tokens where it gives vectors of them."""
    if encoder is None:
        return ()
    by_token = encoder.by_token if isinstance(encoder, CachedTextEncoder) else encoder
    tokens = (
        (reference_measures.BertScoreMeasurer(by_token),)
        if isinstance(by_token, TokenEncoder)
        else ()
    )
    return (reference_measures.LikenessMeasurer(encoder), *tokens)
