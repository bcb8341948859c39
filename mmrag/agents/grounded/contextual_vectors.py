"""The words of a text as vectors: what the sentence encoder makes of each in its context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from mmrag.agents.grounded.bounded_cache import BoundedCache
from mmrag.agents.grounded.passage_text import BEGINS, NAME
from mmrag.agents.grounded.values import MONTHS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mmrag.encoders.text import ContextualPieces

WORD = re.compile(r"['’]s?(?![^\W_])|[^\W_]+(?:[-.,:'’][^\W_]+)*|[^\w\s]|_")
"""A word or a mark; a possessive is a word of its own."""

NAME_WORD = "Weston"
"""What stands for any name before the encoder: a name, and one word piece."""

LAYERS = (3, 6)
"""Of the sentence encoder: forms and order are told apart lower, what is meant higher."""

_KEPT = 256
"""Texts whose word vectors are remembered: some 12 MB."""


class MaskedQuestion(NamedTuple):
    """A question in which every name is the same word."""

    masked: str
    names: tuple[str, ...]


def mask_names(text: str) -> MaskedQuestion:
    """Take the names out of a question, so that nobody looks for meaning inside them.

    >>> mask_names("Is the Toad Side Woodpecker bigger?")
    MaskedQuestion(masked='is the Weston bigger', names=('Toad Side Woodpecker',))
    """
    text = " ".join(text.split()).replace("’", "'").rstrip("?!. ")
    first, _, rest = text.partition(" ")
    if first.lower().partition("'")[0] in BEGINS and first != "I":
        the_name = first == "The" and rest[:1].isupper()
        text = text if the_name else first[:1].lower() + text[1:]
    elif first.istitle() and not NAME.match(text):
        text = text[:1].lower() + text[1:]
    names: list[str] = []

    def take(found: re.Match[str]) -> str:
        name = found.group().removesuffix("'s").removesuffix(" I")
        if name.split()[0].lower() in MONTHS:
            return found.group()
        names.append(name)
        return NAME_WORD + found.group()[len(name) :]

    return MaskedQuestion(NAME.sub(take, text), tuple(names))


class ContextualEncoder(Protocol):
    """A sentence encoder that also says what it makes of each word."""

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text."""
        ...

    def in_context(
        self, items: Sequence[Sequence[str]], layers: Sequence[int], *, rows: int = 4
    ) -> list[ContextualPieces]:
        """Vectors of the pieces of each text's words."""
        ...


class WordVectorCache:
    """Contextual vectors of words, remembered: a conversation asks the same again."""

    def __init__(self, encoder: ContextualEncoder, most: int = _KEPT) -> None:
        self._encoder = encoder
        self._known: BoundedCache[str, ContextualPieces] = BoundedCache(most)

    def of(self, texts: Sequence[str], rows: int = 4) -> list[ContextualPieces]:
        """What the encoder makes of each text, remembered; `rows` texts go through it at once."""
        found = {t: self._known.get(t) for t in dict.fromkeys(texts)}
        new = [t for t, known in found.items() if known is None]
        made = word_vectors(self._encoder, new, rows)
        for text, one in zip(new, made, strict=True):
            found[text] = one
            self._known.put(text, one)
        return [one for t in texts if (one := found[t]) is not None]


def word_vectors(
    encoder: ContextualEncoder, texts: Sequence[str], rows: int = 4
) -> list[ContextualPieces]:
    """What the encoder makes of each text, word by word; `rows` texts go through it at once."""
    return encoder.in_context([_words(t) for t in texts], LAYERS, rows=rows) if texts else []


def spans_of(text: str) -> list[tuple[int, int]]:
    """Where the words of a text are."""
    return [m.span() for m in WORD.finditer(text)]


def by_word(seen: ContextualPieces) -> NDArray[np.float32]:
    """The first piece of each word that the encoder saw."""
    return seen.rows[np.unique(seen.word, return_index=True)[1]]


def _words(text: str) -> list[str]:
    found = [m.group() for m in WORD.finditer(text.encode("utf-8", "replace").decode())]
    # signs without width have no piece that the encoder could see
    return found if any(w.isprintable() for w in found) else ["."]


class BuiltinSentenceEncoder:
    """The built-in sentence encoder, loaded when first needed."""

    def __init__(self) -> None:
        self._encoder: ContextualEncoder | None = None

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text."""
        return self._loaded().encode(items)

    def in_context(
        self, items: Sequence[Sequence[str]], layers: Sequence[int], *, rows: int = 4
    ) -> list[ContextualPieces]:
        """Vectors of the pieces of each text's words."""
        return self._loaded().in_context(items, layers, rows=rows)

    def _loaded(self) -> ContextualEncoder:
        if self._encoder is None:
            from mmrag.encoders import text_encoders

            self._encoder = text_encoders.create("minilm")
        return self._encoder
