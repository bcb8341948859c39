"""Measures of a reply against its reference, CRUD-RAG's among them: words, likeness, questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mmrag.errors import Denied, JudgeError, ServiceError
from mmrag.judges.papers.sentence_support import encode_whole
from mmrag.judges.prompts import case_key, fingerprint, last_object, render
from mmrag.judges.structured_replies import ask_until_parsed, batch_texts
from mmrag.metrics.bert_score import bert_score
from mmrag.metrics.measure_records import Case, Measurement
from mmrag.metrics.measures import measure as definition
from mmrag.metrics.retrieval import Ranking, mrr_of_all, ranking_measure
from mmrag.metrics.word_overlap import (
    CHINESE,
    UNKNOWN,
    bleu,
    jieba_words,
    ngram_precision,
    quest_scores,
    rouge_l,
    token_f1,
    uses_jieba,
    words_of,
)
from mmrag.protocols import Encoder, Model, TokenEncoder

OVERLAP = ("bleu", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "token_f1", "length")
QUEST = ("quest_precision", "quest_recall")
BERT = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
RETRIEVAL = ("mrr_of_all", "recall@1", "recall@3", "recall@5", "recall@8", "recall@10")
MEASURES = (*OVERLAP, "reference_cosine", *BERT, *QUEST, *RETRIEVAL)

_COUNTED: dict[str, Callable[..., float]] = {
    "bleu": bleu,
    **{f"bleu_{n}": partial(ngram_precision, n=n) for n in range(1, 5)},
    "rouge_l": rouge_l,
    "token_f1": token_f1,
}


class OverlapMeasurer:
    """Words counted; nobody is asked."""

    measures = OVERLAP

    def id(self, measure: str) -> str:
        """How words are cut: other cuts are other figures."""
        del measure
        return f"words/2:{_cut_by()}"

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """The best over the references; None where there is none. A length needs none."""
        return [
            Measurement(measure=m, judge=self.id(m), value=float(len(case.answer)))
            if m == "length"
            else _against_references(case, self.id(m), m, partial(_counted, m))
            for m in measures
        ]


def _counted(measure: str, text: str, reference: str) -> float:
    """Both are cut alike: by jieba where either is Chinese, as CRUD-RAG's references are."""
    words = jieba_words if CHINESE.search(text + reference) else words_of
    return _COUNTED[measure](text, reference, words=words)


def _cut_by() -> str:
    return "jieba" if uses_jieba() else "characters"


class RetrievalMeasurer:
    """What a reply's trace found, in its order, against the passages that answer."""

    measures = RETRIEVAL

    def id(self, measure: str) -> str:
        """Nobody decides: ranks are counted."""
        del measure
        return "ranks/1"

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """None where nobody says which passages answer, or the reply not what it found."""
        if not case.expected or case.found is None:
            why = "nobody annotated which passages answer" if not case.expected else _NO_TRACE
            return [
                Measurement(measure=m, judge=self.id(m), value=None, reason=why) for m in measures
            ]
        ranking = Ranking(found=case.found, gains=dict.fromkeys(case.expected, 2.0))
        return [
            Measurement(
                measure=m,
                judge=self.id(m),
                value=mrr_of_all(ranking)
                if m == "mrr_of_all"
                else ranking_measure(definition(m), ranking),
            )
            for m in measures
        ]


class LikenessMeasurer:
    """Cosine of reply and reference under a text encoder; CRUD-RAG calls its own bertScore."""

    measures = ("reference_cosine",)

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def id(self, measure: str) -> str:
        """The encoder."""
        del measure
        return f"cosine/1:{self._encoder.id}"

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """The best over the references; None where there is none."""

        def cosine(text: str, reference: str) -> float:
            one, two = encode_whole(self._encoder, [text, reference])
            return max(-1.0, min(1.0, float(one @ two)))

        return [_against_references(case, self.id(m), m, cosine) for m in measures]


class BertScoreMeasurer:
    """BERTScore under an encoder's vectors of tokens."""

    measures = BERT

    def __init__(self, encoder: TokenEncoder) -> None:
        self._encoder = encoder

    def id(self, measure: str) -> str:
        """The encoder and its layer."""
        del measure
        return f"bertscore/1:{self._encoder.token_id}"

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """Against the reference with the best F; None where there is none."""
        texts = [text for text in case.references if text.strip()]
        if not texts:
            return [_none(m, self.id(m)) for m in measures]
        said, *true = self._encoder.token_vectors([case.answer, *texts])
        best = max((bert_score(said, one) for one in true), key=lambda found: found[2])
        values: dict[str, float] = dict(zip(BERT, best, strict=True))
        return [Measurement(measure=m, judge=self.id(m), value=values[m]) for m in measures]


class QuestEvalMeasurer:
    """RAGQuestEval: questions from the reference, answered from it and from the reply.

    Questions and the reference's own answers are asked for by the same words whatever the reply,
    so a model that is asked nothing twice makes them once for all agents.
    """

    measures = QUEST
    files = ("quest_questions.j2", "quest_answers.j2")

    def __init__(self, model: Model, *, name: str) -> None:
        self._model = model
        cut = "" if uses_jieba() else "~characters"
        self._id = f"quest/2:{name}+{fingerprint(*self.files)}{cut}"

    def id(self, measure: str) -> str:
        """The model and the prompts; words are jieba's where nothing else is said."""
        del measure
        return self._id

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """Both come from the same answers; where the model gives nothing usable they `failed`."""
        if not case.references or not case.references[0].strip():
            return [_none(m, self._id) for m in measures]
        try:
            values, details = await self._taken(case.references[0], case.answer)
        except Denied:
            raise
        except (JudgeError, ServiceError) as error:
            return [
                Measurement(measure=m, judge=self._id, value=None, reason=str(error), failed=True)
                for m in measures
            ]
        return [
            Measurement(measure=m, judge=self._id, value=values[m], details=details)
            for m in measures
        ]

    async def _taken(self, reference: str, reply: str) -> tuple[dict[str, float], dict[str, Any]]:
        asked = await self._questions(reference)
        truths = await self._answers(reference, asked)
        answers = await self._answers(reply, asked) if reply.strip() else ()
        answers = answers or (UNKNOWN,) * len(asked)
        precision, recall = quest_scores(truths, answers)
        values = {"quest_precision": precision, "quest_recall": recall}
        return values, {"questions": asked, "truths": list(truths), "answers": list(answers)}

    async def _questions(self, text: str) -> list[str]:
        [[whole]] = batch_texts([text], most=1)
        key = case_key(text)

        def read(said: str) -> list[str] | None:
            found = (last_object(said, key) or {}).get("questions")
            good = isinstance(found, list) and all(isinstance(q, str) and q.strip() for q in found)
            return [str(q) for q in found][:_MOST] if good and found else None

        prompt = render("quest_questions.j2", key=key, text=whole)
        return await ask_until_parsed(self._model, prompt, read, max_tokens=1280)

    async def _answers(self, text: str, questions: Sequence[str]) -> tuple[str, ...]:
        [[whole]] = batch_texts([text], most=1)
        key = case_key(text, *questions)

        def read(said: str) -> list[str] | None:
            found = (last_object(said, key) or {}).get("answers")
            if not isinstance(found, list) or len(found) != len(questions):
                return None
            return [_answer(one) for one in found]

        prompt = render("quest_answers.j2", key=key, text=whole, questions=questions)
        return tuple(
            await ask_until_parsed(self._model, prompt, read, max_tokens=200 + 60 * len(questions))
        )


_MOST = 20
"""Questions of one reference that are used."""


def _answer(said: Any) -> str:
    return said.strip() if isinstance(said, str) and said.strip() else UNKNOWN


_NO_TRACE = "the reply has no trace of what was found"


def _against_references(
    case: Case, judge: str, measure: str, score: Callable[[str, str], float]
) -> Measurement:
    texts = [text for text in case.references if text.strip()]
    if not texts:
        return _none(measure, judge)
    value = max(score(case.answer, text) for text in texts)
    return Measurement(measure=measure, judge=judge, value=value)


def _none(measure: str, judge: str) -> Measurement:
    return Measurement(measure=measure, judge=judge, value=None, reason="there is no reference")
