"""What each measure of grounding and retrieval means: documented values, apart from computation.

A name parses back to its measure: `measure("ndcg@10") == Measure(..., k=10)`.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from mmrag.errors import SpecError
from mmrag.records import Record
from mmrag.registry import unknown_name_message


class Measure(Record, frozen=True, kw_only=True):
    """A definition. The computation is the function of the same name in its module."""

    name: str
    formula: str
    meaning: str
    source: str
    unit: Literal["share", "number"] = "share"
    """Shares run from 0 to 1 and are shown in percent where that is the custom."""
    k: int | None = None
    """Cut-off, for measures of a ranking; part of the name: `recall@5`."""

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"


def measure(name: str) -> Measure:
    """The measure that a name stands for; rankings take a cut-off, as in `recall@5`.

    >>> str(measure("recall@5")), measure("faithfulness").formula
    ('recall@5', '|V| / |S|')
    """
    match = re.fullmatch(r"([a-z_]+\d?)(?:@(\d{1,6}))?", name.strip())
    known = MEASURES.get(match.group(1)) if match else None
    if match is None or known is None:
        raise SpecError(unknown_name_message("measure", name, sorted(MEASURES)))
    cut = match.group(2)
    if (cut is not None) != (known.name in RANKED) or cut == "0":
        needs = (
            "needs a cut-off of 1 or more, as in recall@5" if known.name in RANKED else "has none"
        )
        raise SpecError(f"{name!r}: {known.name} {needs}.")
    return msgspec.structs.replace(known, k=int(cut)) if cut else known


RANKED = frozenset({"recall", "precision", "mrr", "ndcg", "hit"})
"""Measures of a ranking; they take a cut-off."""

_ALL = (
    Measure(name="recall", source="information retrieval",
        formula="|relevant in the first k| / |relevant|",
        meaning="How much of what answers the question was found."),
    Measure(name="precision", source="information retrieval",
        formula="|relevant in the first k| / k",
        meaning="How much of what was shown answers the question."),
    Measure(name="hit", source="information retrieval",
        formula="1 if a relevant item is in the first k, else 0",
        meaning="Whether anything useful was found."),
    Measure(name="mrr", source="information retrieval",
        formula="1 / rank of the first relevant item within k, else 0",
        meaning="How far down the first useful item is."),
    Measure(name="mrr_of_all", source="CRUD-RAG",
        formula="mean over the relevant items of 1 / rank, 0 for one that was not found",
        meaning="How far down all useful items are."),
    Measure(name="ndcg", source="Järvelin and Kekäläinen 2002",
        formula="DCG / ideal DCG over k, DCG = Σ gain / log2(rank + 1)",
        meaning="Whether more useful items come first. Gains are linear."),
    Measure(name="faithfulness", source="Ragas",
        formula="|V| / |S|",
        meaning="Share of the answer's statements that the context supports."),
    Measure(name="answer_relevance", source="Ragas",
        formula="1/n · Σ cos(question, question regenerated from the answer)",
        meaning="Whether the answer answers this question and nothing else."),
    Measure(name="context_relevance", source="Ragas",
        formula="|sentences needed| / |sentences of the context|",
        meaning="How little of the context is beside the point."),
    Measure(name="context_precision", source="Ragas",
        formula="Σ over useful contexts of useful among the first k / k, over useful contexts",
        meaning="Whether contexts that are useful for the reference come first."),
    Measure(name="context_recall", source="Ragas",
        formula="statements of the reference that the context holds / its statements",
        meaning="How much of what is wanted was found."),
    Measure(name="answer_correctness", source="Ragas",
        formula="¾ · F1 of the statements of answer and reference + ¼ · cos(answer, reference)",
        meaning="How far the answer says what the reference says."),
    Measure(name="noise_sensitivity", source="Ragas",
        formula="wrong statements that a relevant context holds / statements of the answer",
        meaning="How often relevant contexts mislead; lower is better."),
    Measure(name="noise_sensitivity_irrelevant", source="Ragas",
        formula="wrong statements that irrelevant contexts alone hold / statements of the answer",
        meaning="How often irrelevant contexts mislead; lower is better."),
    Measure(name="eligibility", source="GaRAGe",
        formula="answers without a major issue / answers",
        meaning="Whether the request is addressed well enough."),
    Measure(name="unadjusted_factuality", source="GaRAGe",
        formula="answers whose every sentence is supported or needs no support / answers",
        meaning="Support by any passage that was given."),
    Measure(name="factuality", source="GaRAGe",
        formula="answers that are eligible and supported / answers",
        meaning="Support by any passage, of answers that address the request."),
    Measure(name="unadjusted_raf", source="GaRAGe",
        formula="as unadjusted_factuality, by relevant passages only",
        meaning="Relevance-aware factuality before eligibility."),
    Measure(name="raf", source="GaRAGe",
        formula="answers that are eligible and supported by relevant passages / answers",
        meaning="Relevance-aware factuality."),
    Measure(name="deflection_true_positive", source="GaRAGe",
        formula="deflections / questions that call for one",
        meaning="Whether the agent declines where the evidence does not answer."),
    Measure(name="deflection_false_positive", source="GaRAGe",
        formula="deflections / questions that can be answered",
        meaning="Whether the agent declines where it need not."),
    Measure(name="attribution_precision", source="GaRAGe",
        formula="Σ |cited ∩ expected| / Σ |cited|",
        meaning="How many citations are among the annotated ones; pooled over answers."),
    Measure(name="attribution_recall", source="GaRAGe",
        formula="Σ |cited ∩ expected| / Σ |expected|",
        meaning="How many annotated citations were given; pooled over answers."),
    Measure(name="attribution_f1", source="GaRAGe",
        formula="2PR / (P + R)",
        meaning="Harmonic mean of the two."),
    Measure(name="bleu", source="CRUD-RAG",
        formula="(Π share of n-grams that the reference has)^(1/4), n = 1 to 4",
        meaning="How much of the reply stands in the reference, word for word."),
    *(
        Measure(
            name=f"bleu_{n}",
            formula=f"{n}-grams of the reply that the reference has / {n}-grams of the reply",
            meaning="How many runs of so many words stand in the reference.",
            source="CRUD-RAG",
        )
        for n in range(1, 5)
    ),
    Measure(name="length", source="CRUD-RAG", unit="number",
        formula="characters of the reply",
        meaning="How long the reply is."),
    Measure(name="rouge_l", source="CRUD-RAG",
        formula="F of the longest common subsequence of words",
        meaning="How much of the wording and its order both share."),
    Measure(name="token_f1", source="CRUD-RAG",
        formula="F of the words that both have",
        meaning="How many words both share."),
    Measure(name="reference_cosine", source="CRUD-RAG",
        formula="cos(reply, reference)",
        meaning="Likeness under a text encoder; CRUD-RAG calls it bertScore."),
    Measure(name="bertscore_precision", source="Zhang et al. 2020",
        formula="mean over the reply's tokens of the largest cosine with a token of the reference",
        meaning="How much of the reply is near in meaning to something in the reference."),
    Measure(name="bertscore_recall", source="Zhang et al. 2020",
        formula="mean over the reference's tokens of the largest cosine with a token of the reply",
        meaning="How much of the reference something in the reply is near to."),
    Measure(name="bertscore_f1", source="Zhang et al. 2020",
        formula="2PR / (P + R)",
        meaning="Harmonic mean of the two."),
    Measure(name="quest_precision", source="CRUD-RAG",
        formula="mean token F1 over the questions that the reply answers",
        meaning="Whether what the reply says of the reference's key facts is right."),
    Measure(name="quest_recall", source="CRUD-RAG",
        formula="questions that the reply answers / questions that the reference answers",
        meaning="How many of the reference's key facts the reply speaks of."),
)  # fmt: skip

MEASURES = {one.name: one for one in _ALL}
"""Every definition by its name."""
