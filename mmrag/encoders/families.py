"""How each family of text encoders wants to be used. Wrong pooling costs recall silently.

Every entry is what the family's own model card says. A name that no rule knows has to say its
pooling itself: guessing is how mean-pooled BGE came about.
"""

from __future__ import annotations

import re
from typing import Literal

from mmrag.errors import SpecError
from mmrag.records import Record

Pooling = Literal["cls", "mean", "last"]

_ASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)


class EncoderSettings(Record, frozen=True, kw_only=True):
    """Pooling and prefixes of a text encoder; part of every index's fingerprint."""

    pooling: Pooling
    query: str = ""
    """Put before every query."""
    passage: str = ""
    """Put before every passage."""


_RULES: tuple[tuple[str, EncoderSettings], ...] = (
    (r"bge-m3", EncoderSettings(pooling="cls")),
    (r"bge-.*-zh", EncoderSettings(pooling="cls", query="为这个句子生成表示以用于检索相关文章：")),
    (
        r"bge-(small|base|large)",
        EncoderSettings(
            pooling="cls", query="Represent this sentence for searching relevant passages: "
        ),
    ),
    (r"e5-mistral", EncoderSettings(pooling="last", query=_ASK)),
    (r"e5-.*instruct", EncoderSettings(pooling="mean", query=_ASK)),
    (r"(^|[/_-])e5-", EncoderSettings(pooling="mean", query="query: ", passage="passage: ")),
    (r"gte-qwen", EncoderSettings(pooling="last", query=_ASK)),
    (r"gte-.*-v1\.5|gte-multilingual|gte-modernbert", EncoderSettings(pooling="cls")),
    (r"(^|[/_-])gte-", EncoderSettings(pooling="mean")),
    (r"minilm|text2vec", EncoderSettings(pooling="mean")),
)


def encoder_settings(name: str, pooling: str | None = None) -> EncoderSettings:
    """The right use of a model by its name; `pooling` overrules (then without instructions).

    `official` is the public package's own use of BGE, mean without instruction, for comparison
    with published numbers.

    >>> encoder_settings("BAAI/bge-large-en-v1.5").pooling
    'cls'
    >>> encoder_settings("intfloat/e5-base-v2").query
    'query: '
    """
    if pooling == "official":
        return EncoderSettings(pooling="mean")
    if pooling is not None:
        if pooling not in ("cls", "mean", "last"):
            raise SpecError(f"pooling={pooling}: choose cls, mean, last or official.")
        return EncoderSettings(pooling=pooling)
    for pattern, usage in _RULES:
        if re.search(pattern, name.lower()):
            return usage
    raise SpecError(
        f"no rule says how {name!r} pools its tokens. Add pooling=cls, pooling=mean or "
        "pooling=last to the spec, as its model card has it."
    )
