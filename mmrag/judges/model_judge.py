"""A language model as judge, after the CRAG-MM guideline in our own words.

The reply under judgement is untrusted: it is fenced by a key made from the item itself, and only a
verdict that repeats the key counts, so a reply cannot bring a verdict of its own.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from mmrag.errors import Denied, ServiceError
from mmrag.files import bounded_yaml
from mmrag.judges.fallback import plain_verdict
from mmrag.judges.panel import combine_verdicts
from mmrag.judges.prompts import case_key, fingerprint, last_object, render
from mmrag.protocols import Completion, GenerateOptions, Message, Model
from mmrag.records import JudgeItem, Outcome, Record, Usage, Verdict
from mmrag.registry import parse_whole_number

MAX_PREDICTION_CHARS = 2_000
MAX_REFERENCES = 20
MAX_REFERENCE_CHARS = 500
MAX_TOKENS = 200
MAX_VOTES = 100
VOTE_TEMPERATURE = 0.7
"""Repeated votes say how sure a model is only where it may answer otherwise."""
KEPT_CHARS = 500
"""How much of an unusable answer is kept in the verdict."""

_OUTCOMES = {
    "CORRECT": Outcome.PERFECT,
    "PERFECT": Outcome.PERFECT,
    "ACCEPTABLE": Outcome.ACCEPTABLE,
    "MISSING": Outcome.MISSING,
    "INCORRECT": Outcome.INCORRECT,
    "WRONG": Outcome.INCORRECT,
}


class SameFamilyWarning(UserWarning):
    """A model judges replies of its own family, which it is known to favour."""


_MAX_RETRIES = 20


class ModelJudge:
    """Asks a model; anything but a clear verdict is unscored with the model's words kept."""

    def __init__(
        self,
        model: Model | str,
        *,
        models: Callable[[str], Model] | None = None,
        agent_model: str | None = None,
        retries: int | str = 2,
        votes: int | str = 1,
        name: str = "",
    ) -> None:
        if isinstance(model, str):
            name = name or model
            model = (models or _default_models())(model)
        self._model = model
        self._name = name or type(model).__name__
        self._retries = parse_whole_number("model", "retries", retries, least=0, most=_MAX_RETRIES)
        self._votes = parse_whole_number("model", "votes", votes, most=MAX_VOTES)
        self._warned = False
        self._agent_model = agent_model
        self._check_family(self._name)

    @property
    def id(self) -> str:
        """Name, version, model and hash of the prompt."""
        return _judge_id(self._name)

    async def judge(self, item: JudgeItem) -> Verdict:
        """One verdict; a model that fails or rambles makes it unscored, never incorrect.

        A model that refuses the key raises `Denied`: no other reply would be judged either.
        """
        if not any(reference.strip() for reference in item.references):
            return _unscored(self.id, "there is no reference to judge against")
        if (settled := plain_verdict(item, self.id)) is not None:
            return settled
        if self._votes == 1:
            return await self._vote(item, 0)
        votes = [await self._vote(item, number) for number in range(self._votes)]
        return combine_verdicts(votes[0].judge, votes)

    async def _vote(self, item: JudgeItem, number: int) -> Verdict:
        """The model's word, asked again when it cannot be read; votes differ in their seeds."""
        key, said, usage = item_key(item), "", Usage()
        first = number * (self._retries + 1)
        for attempt in range(self._retries + 1):
            options = GenerateOptions(
                max_tokens=MAX_TOKENS,
                seed=first + attempt,
                temperature=VOTE_TEMPERATURE if self._votes > 1 else 0.0,
                json_schema=_schema(key) if attempt else None,
            )
            try:
                completion = await self._model.generate(
                    messages(item, key, reminder=attempt > 0), options
                )
            except Denied:
                raise
            except ServiceError as error:
                return _unscored(self.id, f"the judge's model failed: {error}", usage)
            said, usage = completion.text, usage + completion.usage
            if (found := parse_verdict(said, key)) is not None:
                return self._verdict(found, completion, usage)
        return _unscored(self.id, f"no verdict in: {said[:KEPT_CHARS]}", usage)

    def _verdict(self, found: ParsedVerdict, completion: Completion, usage: Usage) -> Verdict:
        if completion.model:
            self._check_family(completion.model)
        return Verdict(
            outcome=found.outcome,
            judge=_judge_id(completion.model or self._name),
            score=found.outcome.score,
            reason=found.reason[:KEPT_CHARS],
            usage=usage,
        )

    def _check_family(self, name: str) -> None:
        if self._warned or not self._agent_model:
            return
        if (own := model_family(name)) and own == model_family(self._agent_model):
            self._warned = True
            warnings.warn(
                f"{name} judges replies of {self._agent_model}: both are of the {own} family, and "
                "a model favours its own. Add a judge of another family.",
                SameFamilyWarning,
                stacklevel=3,
            )


class ParsedVerdict(Record, frozen=True, kw_only=True):
    """What a model's answer says."""

    outcome: Outcome
    reason: str = ""


def parse_verdict(text: str, key: str) -> ParsedVerdict | None:
    """The last JSON object that carries the key and a known verdict; None if there is none.

    Words are compared whole, so INCORRECT is never read as correct.

    >>> parse_verdict('{"key": "k", "verdict": "INCORRECT"}', "k").outcome.value
    'incorrect'
    """
    found = last_object(text, key)
    verdict = None if found is None else found.get("verdict")
    outcome = _OUTCOMES.get(verdict.strip().upper()) if isinstance(verdict, str) else None
    if found is None or outcome is None:
        return None
    reason = found.get("reason")
    return ParsedVerdict(outcome=outcome, reason=reason if isinstance(reason, str) else "")


def messages(item: JudgeItem, key: str, *, reminder: bool = False) -> list[Message]:
    """The guideline and the case."""
    reply = item.prediction[:MAX_PREDICTION_CHARS]
    # A reply cannot close its own fence: the key depends on the reply. Defuse it all the same.
    reply = re.sub(r"</?reply-", "(reply-", reply)
    references = [
        " ".join(reference[:MAX_REFERENCE_CHARS].split())
        for reference in item.references[:MAX_REFERENCES]
        if reference.strip()
    ]
    case = render(
        "case.j2",
        question=" ".join(item.question[:MAX_PREDICTION_CHARS].split()),
        references=references,
        prediction=reply,
        key=key,
        reminder=reminder,
    )
    guideline = render("guideline.j2", key=key, examples=_examples())
    return [Message(role="system", text=guideline), Message(role="user", text=case)]


def item_key(item: JudgeItem) -> str:
    """The key that fences this item."""
    return case_key(item.question, *item.references, item.prediction)


def prompt_hash() -> str:
    """Fingerprint of everything that steers a model judge."""
    return fingerprint("guideline.j2", "case.j2", "examples.yaml")


def model_family(model: str) -> str:
    """The maker's family of a model name, as far as the name tells it.

    >>> model_family("openai:gpt-4o"), model_family("meta-llama/Llama-3.2-11B"), model_family("o3")
    ('gpt', 'llama', 'gpt')
    """
    name = re.split(r"[:/]", model.lower())[-1]
    if re.fullmatch(r"o\d.*|chatgpt.*", name):
        return "gpt"
    found = re.match(r"[a-z]{2,}", name)
    return _FAMILIES.get(found.group(), found.group()) if found else ""


def _default_models() -> Callable[[str], Model]:
    from mmrag.models import models

    return models.create


_FAMILIES = {
    "davinci": "gpt", "text": "gpt", "codellama": "llama", "vicuna": "llama", "mixtral": "mistral",
    "ministral": "mistral", "pixtral": "mistral", "qwq": "qwen", "gemma": "gemini",
    "paligemma": "gemini", "haiku": "claude", "sonnet": "claude", "opus": "claude",
}  # fmt: skip


def _judge_id(model: str) -> str:
    return f"model/1:{model}+{prompt_hash()}"


def _unscored(judge: str, reason: str, usage: Usage = Usage()) -> Verdict:
    return Verdict(outcome=Outcome.UNSCORED, judge=judge, reason=reason, usage=usage)


def _schema(key: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "key": {"type": "string", "enum": [key]},
            "reason": {"type": "string"},
            "verdict": {"type": "string", "enum": ["CORRECT", "INCORRECT", "MISSING"]},
        },
        "required": ["key", "reason", "verdict"],
        "additionalProperties": False,
    }


@lru_cache(maxsize=1)
def _examples() -> Sequence[dict[str, Any]]:
    text = (files("mmrag.judges") / "prompts" / "examples.yaml").read_text(encoding="utf-8")
    return bounded_yaml.parse(text)
