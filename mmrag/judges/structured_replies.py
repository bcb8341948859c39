"""Asking a model for something that a program can read, and dividing what one request cannot hold.

Nothing is cut: material that is too much for one request is asked about in several, and a single
sentence that does not fit raises an error that names the limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from mmrag.errors import JudgeError
from mmrag.protocols import Completion, GenerateOptions, Message, Model
from mmrag.text.normalise import MAX_CHARS, plain, sentences

T = TypeVar("T")

REQUEST_CHARS = 24_000
"""Material of one request, about 6,000 tokens; more is divided over several."""

_WINDOW = MAX_CHARS - 500


async def ask_until_parsed(
    model: Model,
    prompt: str,
    read: Callable[[str], T | None],
    *,
    retries: int = 2,
    max_tokens: int = 800,
    temperature: float = 0.0,
    seed: int = 0,
) -> T:
    """Ask until `read` makes something of the answer; `JudgeError` after the retries.

    An answer that broke off at its token limit is unusable, whatever can be read of it: the next
    try may be twice as long.
    """
    done = Completion(text="")
    for attempt in range(retries + 1):
        done = await model.generate(
            [Message(role="user", text=prompt)],
            GenerateOptions(
                max_tokens=max_tokens << attempt,
                temperature=temperature,
                seed=seed + 1000 * attempt,
            ),
        )
        if done.finish == "length":
            continue
        found = read(done.text)
        if found is not None:
            return found
    why = "broke off at its token limit" if done.finish == "length" else "gave no usable answer"
    raise JudgeError(f"the model {why} in {retries + 1} tries; last: {done.text[:300]}")


def split(text: str) -> list[str]:
    """All sentences of a text of any length, as a reader sees them (no markup, no citations)."""
    return [sentence for part in _windows(text) for sentence in _sentences(part)]


def batch_texts(texts: Sequence[str], *, most: int, chars: int = REQUEST_CHARS) -> list[list[str]]:
    """Texts in order, divided so that each part has at most so many and holds so many characters.

    >>> batch_texts(["aa", "bb", "cc"], most=2)
    [['aa', 'bb'], ['cc']]
    """
    parts: list[list[str]] = []
    size = 0
    for text in texts:
        need = len(text) + 1  # and the blank that joins it to the next
        if need > chars:
            raise JudgeError(
                f"a sentence of {len(text):,} characters does not fit one request, which holds "
                f"{chars:,}; break it up."
            )
        if not parts or len(parts[-1]) == most or size + need > chars:
            parts.append([])
            size = 0
        parts[-1].append(text)
        size += need
    return parts


def passage_batches(passages: Sequence[str]) -> list[list[str]]:
    """The same for passages; one that is larger than a request is divided between its sentences."""
    whole: list[str] = []
    for passage in passages:
        if len(passage) < REQUEST_CHARS:
            whole.append(passage)
        else:
            whole += [" ".join(part) for part in batch_texts(split(passage), most=len(passage))]
    return batch_texts(whole, most=max(1, len(whole)))


def _sentences(part: str) -> list[str]:
    cleaned = _LOOSE.sub(r"\1", plain(part))
    if len(cleaned) <= _WINDOW or len(part) < 2:
        return sentences(cleaned)
    middle = len(part) // 2  # one character became many, and `plain` cut the text
    return [*_sentences(part[:middle]), *_sentences(part[middle:])]


def _windows(text: str) -> Iterator[str]:
    """Parts that `plain` does not cut, each ending with a sentence where one ends."""
    start = 0
    while start < len(text):
        end = min(len(text), start + _WINDOW)
        if end < len(text):
            ends = [m.end() for m in _END.finditer(text, start + _WINDOW // 2, end)]
            spaces = [m.end() for m in _BLANK.finditer(text, start + _WINDOW // 2, end)]
            end = (ends or spaces or [end])[-1]
        yield text[start:end]
        start = end


_END = re.compile(r"[.!?][\"')\]]*\s+|\n")
_LOOSE = re.compile(r"(?<=\w) ([.,;:!?])(?!\w)")
"""The blank that a citation leaves before a full stop."""
_BLANK = re.compile(r"\s")
