"""GaRAGe's measures of one case. Who decides is a part: a model, annotations, or the encoder.

A measure that does not apply to a case (factuality where declining is right) asks nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from mmrag.errors import Denied, JudgeError, MmragError, ServiceError
from mmrag.judges.papers.sentence_support import (
    EncoderSupport,
    ModelSupport,
    claim_with_question,
    deflects,
    encode_whole,
)
from mmrag.judges.prompts import case_key, fingerprint, last_object, render
from mmrag.judges.structured_replies import ask_until_parsed, batch_texts, split
from mmrag.metrics.grounding import GARAGE, GroundedAnswer, Part, Support, garage_parts
from mmrag.metrics.measure_records import Case, Eligibility, Measurement
from mmrag.protocols import Encoder, Model
from mmrag.text.normalise import normalise

T = TypeVar("T")


class UnknownLabel(MmragError):
    """Nobody said it: the measurement has no value, and asking again would not help."""


class Assessor(Protocol):
    """Decides the four things that GaRAGe's measures are counted from."""

    approximate: bool

    @property
    def id(self) -> str:
        """Name, version and a hash of whatever steers it."""
        ...

    async def eligibility(self, case: Case) -> Eligibility:
        """How well the answer addresses the request."""
        ...

    async def deflects(self, case: Case) -> bool:
        """Whether the answer declines."""
        ...

    async def support(self, case: Case) -> tuple[Support, ...]:
        """Each sentence of the answer against all passages."""
        ...

    async def relevant_support(self, case: Case) -> tuple[Support, ...]:
        """Each sentence against the relevant passages."""
        ...


class GarageJudge:
    """Measures cases by what an assessor decides."""

    measures = GARAGE

    def __init__(self, assessor: Assessor) -> None:
        self._assessor = assessor
        self.approximate = assessor.approximate

    def id(self, measure: str) -> str:
        """The assessor's; attribution is counted, nobody decides it."""
        return "citations/1" if measure.startswith("attribution") else self._assessor.id

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        """One measurement each. What several of them need is decided once."""
        needs = {measure: _needs(measure, case) for measure in measures}
        every = sorted({need for some in needs.values() for need in some})
        ways: dict[str, Callable[[Case], Awaitable[Any]]] = {
            "eligibility": self._assessor.eligibility,
            "deflects": self._assessor.deflects,
            "support": self._assessor.support,
            "relevant_support": self._assessor.relevant_support,
        }
        said = await asyncio.gather(*(_tried(ways[need](case)) for need in every))
        decided = dict(zip(every, said, strict=True))
        parts = garage_parts(_answer(case, decided))
        return [
            self._one(case, measure, {need: decided[need] for need in needs[measure]}, parts)
            for measure in measures
        ]

    def _one(
        self, case: Case, measure: str, found: dict[str, Any], parts: dict[str, Part]
    ) -> Measurement:
        known: dict[str, Any] = {
            "measure": measure,
            "judge": self.id(measure),
            "approximate": self.approximate and not measure.startswith("attribution"),
        }
        wrong = next((error for error in found.values() if isinstance(error, MmragError)), None)
        if wrong is not None:
            failed = not isinstance(wrong, UnknownLabel)
            return Measurement(**known, value=None, weight=0, reason=str(wrong), failed=failed)
        part, whole = parts[measure]
        if not whole:
            return Measurement(**known, value=None, weight=0, reason=_why_not(measure, case))
        return Measurement(
            **known, value=part / whole, weight=whole, details=_details(measure, case, found)
        )


class ModelAssessor:
    """Asks a language model, with prompts of our own wording."""

    approximate = False

    def __init__(self, model: Model, *, name: str) -> None:
        self._model = model
        self._support = ModelSupport(model)
        steer = fingerprint("eligibility.j2", "deflection.j2", "support.j2")
        self._id = f"garage/1:{name}+{steer}"

    @property
    def id(self) -> str:
        """The model and a hash of the prompts."""
        return self._id

    async def eligibility(self, case: Case) -> Eligibility:
        """One request with the person's answer as a baseline."""
        if not any(reference.strip() for reference in case.references):
            raise UnknownLabel("there is no reference to compare the answer with")
        material = [case.question, *case.references, case.answer]
        _fits(material)
        key = case_key(*material)
        prompt = render(
            "eligibility.j2",
            key=key,
            question=case.question,
            references=case.references,
            answer=case.answer,
        )

        def read(text: str) -> Eligibility | None:
            try:
                return Eligibility((last_object(text, key) or {}).get("eligibility"))
            except ValueError:
                return None

        return await ask_until_parsed(self._model, prompt, read, max_tokens=300)

    async def deflects(self, case: Case) -> bool:
        """One request; an empty answer needs none."""
        if not case.answer.strip():
            return True
        _fits([case.question, case.answer])
        key = case_key(case.question, case.answer)
        prompt = render("deflection.j2", key=key, question=case.question, answer=case.answer)

        def read(text: str) -> bool | None:
            said = (last_object(text, key) or {}).get("declines")
            return said if isinstance(said, bool) else None

        return await ask_until_parsed(self._model, prompt, read, max_tokens=100)

    async def support(self, case: Case) -> tuple[Support, ...]:
        """Against all passages."""
        return await _supported(self._support, case, [p.text for p in case.passages])

    async def relevant_support(self, case: Case) -> tuple[Support, ...]:
        """Against the relevant ones."""
        return await _supported(self._support, case, [p.text for p in case.relevant or ()])


class EncoderAssessor:
    """Approximation with a text encoder: eligibility is nearness to the person's answer."""

    approximate = True

    def __init__(
        self, encoder: Encoder, *, threshold: float = 0.55, eligible_from: float = 0.7
    ) -> None:
        self._encoder = encoder
        self._support = EncoderSupport(encoder, threshold)
        self._eligible_from = eligible_from
        self._id = f"encoder/1:{encoder.id}@{threshold}/{eligible_from}"

    @property
    def id(self) -> str:
        """The encoder and the thresholds."""
        return self._id

    async def eligibility(self, case: Case) -> Eligibility:
        """No issues when answer and reference are near or one holds the other, else major."""
        wanted = [reference for reference in case.references if reference.strip()]
        if not wanted:
            raise UnknownLabel("there is no reference to compare the answer with")
        if deflects(case.answer):
            return Eligibility.MAJOR_ISSUES
        rows = encode_whole(
            self._encoder, [claim_with_question(case.answer, case.question), *wanted]
        )
        near = float((rows[1:] @ rows[0]).max()) >= self._eligible_from
        held = any(
            _holds(case.answer, reference) or _holds(reference, case.answer) for reference in wanted
        )
        return Eligibility.NO_ISSUES if near or held else Eligibility.MAJOR_ISSUES

    async def deflects(self, case: Case) -> bool:
        """By the rules that recognise an abstention."""
        return deflects(case.answer)

    async def support(self, case: Case) -> tuple[Support, ...]:
        """Against all passages."""
        return await _supported(self._support, case, [p.text for p in case.passages])

    async def relevant_support(self, case: Case) -> tuple[Support, ...]:
        """Against the relevant ones."""
        return await _supported(self._support, case, [p.text for p in case.relevant or ()])


class LabelAssessor:
    """What people (or the fictional world) annotated."""

    approximate = False
    id = "labels/1"

    async def eligibility(self, case: Case) -> Eligibility:
        """As annotated."""
        return _annotated(case.annotations.eligibility)

    async def deflects(self, case: Case) -> bool:
        """As annotated."""
        return _annotated(case.annotations.deflects)

    async def support(self, case: Case) -> tuple[Support, ...]:
        """As annotated."""
        return _annotated(case.annotations.support)

    async def relevant_support(self, case: Case) -> tuple[Support, ...]:
        """As annotated."""
        return _annotated(case.annotations.relevant_support)


def _needs(measure: str, case: Case) -> tuple[str, ...]:
    """What has to be decided for a measure of this case; nothing where it does not apply."""
    if measure.startswith("attribution") or case.should_deflect is None:
        return ()
    if measure == "deflection_true_positive":
        return ("deflects",) if case.should_deflect else ()
    if case.should_deflect:
        return ()
    if measure in ("unadjusted_raf", "raf") and case.relevant is None:
        return ()
    return {
        "eligibility": ("eligibility",),
        "unadjusted_factuality": ("support",),
        "factuality": ("eligibility", "support"),
        "unadjusted_raf": ("relevant_support",),
        "raf": ("eligibility", "relevant_support"),
        "deflection_false_positive": ("deflects",),
    }[measure]


def _answer(case: Case, decided: dict[str, Any]) -> GroundedAnswer:
    """What was decided, blanks where nobody was asked or the judge failed."""
    found = {name: told for name, told in decided.items() if not isinstance(told, MmragError)}
    eligibility = found.get("eligibility")
    return GroundedAnswer(
        deflects=found.get("deflects", False),
        should_deflect=case.should_deflect,
        eligible=None if eligibility is None else eligibility is not Eligibility.MAJOR_ISSUES,
        support=found.get("support", ()),
        relevant_support=None if case.relevant is None else found.get("relevant_support", ()),
        cited=frozenset(case.citations),
        expected=frozenset(case.expected),
    )


def _why_not(measure: str, case: Case) -> str:
    if measure.startswith("attribution"):
        return "the answer cites nothing" if case.expected else "no citations are annotated"
    if case.should_deflect is None:
        return "nobody labelled the passages"
    if measure in ("unadjusted_raf", "raf") and case.relevant is None:
        return "nobody labelled the passages"
    return "declining is right here" if case.should_deflect else "the question can be answered"


def _details(measure: str, case: Case, found: dict[str, Any]) -> dict[str, Any]:
    if measure.startswith("attribution"):
        return {"cited": sorted(set(case.citations)), "expected": sorted(set(case.expected))}
    details: dict[str, Any] = {}
    if measure == "raf":
        details |= {"grounding_quality": case.grounding_quality, "provider": case.provider}
    if "eligibility" in found:
        details["eligibility"] = str(found["eligibility"])
    if "deflects" in found:
        details["declines"] = found["deflects"]
    for name in ("support", "relevant_support"):
        if name in found:
            details |= {"sentences": split(case.answer), "labels": [str(s) for s in found[name]]}
    return details


async def _tried(work: Awaitable[T]) -> T | MmragError:
    try:
        return await work
    except Denied:
        raise
    except (JudgeError, ServiceError, UnknownLabel) as error:
        return error


async def _supported(judge: Any, case: Case, passages: list[str]) -> tuple[Support, ...]:
    return await judge.support(split(case.answer), passages, case.question)


def _annotated(value: T | None) -> T:
    if value is None:
        raise UnknownLabel("nobody annotated it")
    return value


def _fits(material: Sequence[str]) -> None:
    batch_texts([" ".join(material)], most=1)


def _holds(answer: str, reference: str) -> bool:
    wanted = normalise(reference)
    return bool(wanted) and f" {wanted} " in f" {normalise(answer)} "
