"""Approximation with a small language model: not what it says, but how likely a text is to it.

A network of 135 million parameters writes no JSON, and asked whether a sentence is supported it
says yes and no alike. But passages that state something make a sentence that says so likely, and a
sentence makes the question likely that it answers. So nothing is asked: the text under judgement is
given as the reply, and its mean log-probability per token is compared with a limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from mmrag.errors import SpecError
from mmrag.judges.papers.support import claims_something, deflects
from mmrag.judges.prompts import fingerprint, render
from mmrag.judges.structured_replies import passage_batches, split
from mmrag.metrics.cases import Case, Eligibility
from mmrag.metrics.grounding import Support
from mmrag.protocols import GenerateOptions, Message, Model

SUPPORTED_FROM = -1.85
"""Mean log-probability of a token of a sentence that the passages state."""

ELIGIBLE_FROM = -1.45
"""The same of a question, after an answer that addresses it."""

_SHOWN = 12_000
"""Characters of passages that are read at once: half of the model's context."""


class LikelihoodSupport:
    """Supported is what is likely after the passages; it cannot see a contradiction."""

    approximate = True

    def __init__(self, model: Model) -> None:
        self._model = model

    async def support(
        self, claims: Sequence[str], passages: Sequence[str], question: str = ""
    ) -> tuple[Support, ...]:
        """One request for each sentence and each part of the passages."""
        return tuple([await self._label(claim, passages, question) for claim in claims])

    async def _label(self, claim: str, passages: Sequence[str], question: str) -> Support:
        if not claims_something(claim):
            return Support.NOT_NEEDED
        for shown in passage_batches(passages, _SHOWN):
            prompt = render("likely_answer.j2", passages=shown, question=question)
            if await likelihood(self._model, prompt, claim) >= SUPPORTED_FROM:
                return Support.SUPPORTED
        return Support.UNSUPPORTED


class LikelihoodAssessor:
    """GaRAGe's four decisions; whether an answer declines is decided by rules."""

    approximate = True

    def __init__(self, model: Model, *, name: str) -> None:
        self._model = model
        self._support = LikelihoodSupport(model)
        limits = f"{SUPPORTED_FROM}/{ELIGIBLE_FROM}"
        steer = fingerprint("likely_answer.j2", "likely_question.j2")
        self._id = f"likelihood/1:{name}@{limits}+{steer}"

    @property
    def id(self) -> str:
        """The model, the limits and a hash of the prompts."""
        return self._id

    async def eligibility(self, case: Case) -> Eligibility:
        """No issues where the answer makes the question likely, else major ones.

        Of a person's answer nothing is used.
        """
        if deflects(case.answer):
            return Eligibility.MAJOR_ISSUES
        for shown in passage_batches([" ".join(split(case.answer))], _SHOWN):
            prompt = render("likely_question.j2", text=" ".join(shown))
            if await likelihood(self._model, prompt, case.question) >= ELIGIBLE_FROM:
                return Eligibility.NO_ISSUES
        return Eligibility.MAJOR_ISSUES

    async def deflects(self, case: Case) -> bool:
        """By the rules that recognise an abstention."""
        return deflects(case.answer)

    async def support(self, case: Case) -> tuple[Support, ...]:
        """Against all passages."""
        passages = [p.text for p in case.passages]
        return await self._support.support(split(case.answer), passages, case.question)

    async def relevant_support(self, case: Case) -> tuple[Support, ...]:
        """Against the relevant ones."""
        passages = [p.text for p in case.relevant or ()]
        return await self._support.support(split(case.answer), passages, case.question)


async def likelihood(model: Model, prompt: str, text: str) -> float:
    """Mean log-probability of a token of `text` as the reply to `prompt`."""
    done = await model.generate(
        [Message(role="user", text=prompt)], GenerateOptions(reply=text, logprobs=True)
    )
    if done.text != text or not done.logprobs:
        raise SpecError(
            "prompts=likelihood needs a model that tells how likely a given reply is: "
            "--model smollm2."
        )
    return sum(logprob for _, logprob in done.logprobs) / len(done.logprobs)
