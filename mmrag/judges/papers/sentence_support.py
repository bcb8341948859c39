"""Who says that a sentence is supported: a model, or the text encoder as a stated approximation.

The measures themselves are pure functions in `mmrag.metrics.grounding`. Nothing is cut: what one
request cannot hold is divided over several (`mmrag.judges.structured_replies`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.judges.prompts import case_key, last_object, render
from mmrag.judges.structured_replies import ask_until_parsed, batch_texts, passage_batches, split
from mmrag.metrics.grounding import Support
from mmrag.protocols import Encoder, Model
from mmrag.text.normalise import plain, tokens, words
from mmrag.text.refusals import is_missing

CLAIMS = 20
"""Sentences judged by one request: the more there are, the more often a model loses count."""

ENCODED_CHARS = 400
"""What an encoder is sure to see whole; longer sentences are encoded in pieces."""


class EncoderSupport:
    """Approximation: a sentence is supported when the passages hold one that is close in meaning,
    has its numbers and denies as it does, and when they hold all of its names.

    It cannot see that two names were swapped, nor tell contradiction from silence; reports must
    call its figures approximate.
    """

    approximate = True

    def __init__(self, encoder: Encoder, threshold: float = 0.55) -> None:
        self._encoder = encoder
        self._threshold = threshold

    async def support(
        self, claims: Sequence[str], passages: Sequence[str], question: str = ""
    ) -> tuple[Support, ...]:
        """Close enough to a sentence with the same numbers that denies as much, and no new name."""
        known = [
            piece for passage in passages for s in split(passage) for piece in split_for_encoder(s)
        ]
        wanted = [claim for claim in claims if claims_something(claim)]
        if not wanted or not known:
            return tuple(
                Support.UNSUPPORTED if claims_something(c) else Support.NOT_NEEDED for c in claims
            )
        said = [set(tokens(piece)) for piece in known]
        denies = [bool(_DENIES.search(piece)) for piece in known]
        there = set[str]().union(*said)
        rows = self._encoder.encode(known)
        parts = {claim: split_for_encoder(claim_with_question(claim, question)) for claim in wanted}
        asked = list(dict.fromkeys(piece for of in parts.values() for piece in of))
        near = dict(
            zip(asked, self._encoder.encode(asked) @ rows.T >= self._threshold, strict=True)
        )

        def label(claim: str) -> Support:
            if claim not in parts:
                return Support.NOT_NEEDED
            names = names_and_numbers(claim)
            denied = bool(_DENIES.search(claim))
            held = all(
                any(
                    close and denied == denies[i] and _numbers(names, piece) <= said[i]
                    for i, close in enumerate(near[piece])
                )
                for piece in parts[claim]
            )
            return Support.SUPPORTED if held and names <= there else Support.UNSUPPORTED

        return tuple(map(label, claims))


class ModelSupport:
    """Asks a model; what is not a list of labels raises `JudgeError` after the retries."""

    approximate = False

    def __init__(self, model: Model, *, retries: int = 2) -> None:
        self._model = model
        self._retries = retries

    async def support(
        self, claims: Sequence[str], passages: Sequence[str], question: str = ""
    ) -> tuple[Support, ...]:
        """One request for each batch of sentences and passages.

        Passages that do not fit one request are asked about one after the other; a sentence is
        supported as soon as one part supports it, contradicted if one does and none supports it.
        A sentence that two parts support only together is missed.
        """
        if not claims:
            return ()
        if not passages:
            return tuple(
                Support.UNSUPPORTED if claims_something(c) else Support.NOT_NEEDED for c in claims
            )
        found: list[Support] = []
        for said in batch_texts(claims, most=CLAIMS):
            found += await self._batch(said, passages, question)
        return tuple(found)

    async def _batch(
        self, said: list[str], passages: Sequence[str], question: str
    ) -> list[Support]:
        labels: list[set[Support]] = [set() for _ in said]
        for shown in passage_batches(passages):
            open_ones = [i for i, seen in enumerate(labels) if Support.SUPPORTED not in seen]
            if not open_ones:
                break
            asked = [said[i] for i in open_ones]
            found = await self._labels(asked, shown, question)
            for i, label in zip(open_ones, found, strict=True):
                labels[i].add(label)
        return [next(label for label in _STRONGEST if label in seen) for seen in labels]

    async def _labels(
        self, said: list[str], shown: list[str], question: str
    ) -> tuple[Support, ...]:
        key = case_key(question, *shown, *said)
        prompt = render("support.j2", key=key, question=question, passages=shown, sentences=said)

        def read(text: str) -> tuple[Support, ...] | None:
            labels = (last_object(text, key) or {}).get("labels")
            if not isinstance(labels, list) or len(labels) != len(said):
                return None
            try:
                return tuple(Support(label) for label in labels)
            except ValueError:
                return None

        return await ask_until_parsed(self._model, prompt, read, retries=self._retries)


def deflects(answer: str) -> bool:
    """Whether an answer of any length does nothing but decline."""
    return not any(claims_something(sentence) for sentence in split(answer))


def claims_something(sentence: str) -> bool:
    """Whether a sentence could be true or false: "223" could, "I don't know" and "Thanks" not."""
    said = words(sentence)
    idle = _IDLE.match(sentence) or (len(said) == 1 and said[0] in _GREETINGS)
    declines = is_missing(sentence) or _DECLINES.search(sentence)
    return bool(said) and not idle and not declines


def names_and_numbers(sentence: str) -> set[str]:
    """The words of a sentence that nobody can paraphrase: numbers, and names by their capitals.

    >>> sorted(names_and_numbers("James Cameron directed it in 2023."))
    ['2023', 'cameron', 'james']
    """
    said = _WORD.findall(plain(sentence))
    found: set[str] = set()
    for index, word in enumerate(said):
        # A sentence begins with a capital; that is a name only where the next word has one too.
        inside = index or (said[1:] and said[1][0].isupper() and word.lower() not in _OPENERS)
        if any(c.isdigit() for c in word) or (word[0].isupper() and inside):
            found.update(tokens(word))
    return found


def _numbers(names: set[str], piece: str) -> set[str]:
    """Those of a claim's words that are numbers and stand in this piece of it."""
    inside = set(tokens(piece))
    return {name for name in names if name[0].isdigit() and name in inside}


def split_for_encoder(sentence: str) -> list[str]:
    """A sentence in parts that an encoder sees whole, cut between words."""
    if len(sentence) <= ENCODED_CHARS:
        return [sentence]
    cut = sentence.rfind(" ", 1, ENCODED_CHARS)
    cut = cut if cut > 0 else ENCODED_CHARS
    return [sentence[:cut], *split_for_encoder(sentence[cut:].lstrip())]


def encode_whole(encoder: Encoder, texts: Sequence[str]) -> NDArray[Any]:
    """One unit row per text; a text longer than the encoder sees is the mean of its pieces."""
    parts = [split_for_encoder(text) for text in texts]
    rows = encoder.encode([piece for of in parts for piece in of])
    ends = np.cumsum([len(of) for of in parts])
    whole = np.stack(
        [rows[end - len(of) : end].mean(axis=0) for end, of in zip(ends, parts, strict=True)]
    )
    return whole / np.maximum(np.linalg.norm(whole, axis=1, keepdims=True), 1e-12)


def claim_with_question(claim: str, question: str) -> str:
    """A bare "223" with the question that it answers; a whole sentence speaks for itself."""
    return f"{question} {claim}".strip() if len(words(claim)) < _WHOLE else claim


_DENIES = re.compile(r"(?i)\b(?:not|never|no|none|neither|nor|without|cannot)\b|n't\b")

_DECLINES = re.compile(
    r"(?i)\b(?:passages?|sources?|documents?|excerpts?|grounding|(?:search\s+)?results?|texts?)\s+"
    r"(?:(?:that\s+)?(?:i\s+was|were)\s+given\s+)?(?:do|does|did)(?:\s*n'?t|\s+not)\s+"
    r"(?:say|mention|state|contain|provide|specify|include|tell|give|answer)\b(?!.{0,80}\bbut\b)"
    r"|\b(?:not\s+enough|insufficient|no\s+relevant)\s+grounding\b"
)
"""Ways of declining that speak of passages, which an assistant on glasses never does."""

_WHOLE = 4
"""Words from which on an answer can be understood without its question."""

_GREETINGS = frozenset({"hello", "hi", "thanks", "sure", "ok", "okay", "welcome", "sorry", "well"})

_IDLE = re.compile(
    r"(?i)\W*(?:i\s+hope\s+(?:that\s+)?(?:this|it|that)|let\s+me\s+know|feel\s+free|thank\s+you|thanks"
    r"|you(?:'|\s+a)re\s+welcome|(?:i'?m\s+|i\s+am\s+)?happy\s+to\s+help|is\s+there\s+anything\s+else)\b"
)

_STRONGEST = (
    Support.SUPPORTED, Support.CONTRADICTED, Support.UNSUPPORTED, Support.NOT_NEEDED,
)  # fmt: skip
_WORD = re.compile(r"[\w][\w.,'-]*\w|\w")
_OPENERS = frozenset({
    "the", "a", "an", "this", "that", "these", "those", "it", "its", "he", "she", "they", "we",
    "you", "in", "on", "at", "of", "for", "from", "by", "with", "and", "or", "but", "as", "if",
    "when", "while", "after", "before", "there", "here", "his", "her", "their", "our", "who",
    "which", "where", "how", "all", "some", "both", "each", "according", "however", "since",
})  # fmt: skip
