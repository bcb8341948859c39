"""Words of a text and what the sentence encoder makes of each in its context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mmrag.agents.grounded.recent_results import RecentResults

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mmrag.encoders.text import InContext

WORD = re.compile(r"\ue001\d+\ue002|['’]s?(?![^\W_])|[^\W_]+(?:[-.,:'’][^\W_]+)*|[^\w\s]|_")
"""A word, a masked name or a mark; the possessive of a masked name is a word of its own."""

_NAMES = ("Foster", "Dalton", "Preston", "Carlton")
"""What stands for a masked name before the encoder: a name, and one word piece."""

_KEPT = 1024
"""Texts whose word vectors are remembered: some 50 MB."""


class Contextual(Protocol):
    """A sentence encoder that also says what it makes of each word."""

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text."""
        ...

    def in_context(
        self, items: Sequence[Sequence[str]], layers: Sequence[int], *, rows: int = 4
    ) -> list[InContext]:
        """Vectors of the pieces of each text's words."""
        ...


class States:
    """Contextual vectors of words, remembered: a conversation asks and reads the same again."""

    def __init__(self, encoder: Contextual) -> None:
        self._encoder = encoder
        self._known: RecentResults[tuple[str, tuple[int, ...]], InContext] = RecentResults(_KEPT)

    def of(self, texts: Sequence[str], layers: tuple[int, ...], rows: int = 4) -> list[InContext]:
        """What the encoder makes of each text, word by word; `rows` texts go through it at once."""
        found = {t: self._known.get((t, layers)) for t in dict.fromkeys(texts)}
        new = [t for t, known in found.items() if known is None]
        made = self._encoder.in_context([_words(t) for t in new], layers, rows=rows) if new else []
        for text, one in zip(new, made, strict=True):
            found[text] = one
            self._known.put((text, layers), one)
        return [one for t in texts if (one := found[t]) is not None]


def spans_of(text: str) -> list[tuple[int, int]]:
    """Where the words of a text are."""
    return [m.span() for m in WORD.finditer(text)]


def _words(text: str) -> list[str]:
    found = [m.group() for m in WORD.finditer(text.encode("utf-8", "replace").decode())]
    said = [_NAMES[int(w[1:-1]) % len(_NAMES)] if w[0] == "\ue001" else w for w in found]
    # signs without width have no piece that the encoder could see
    return said if any(w.isprintable() for w in said) else ["."]
