"""One normal form of text for all judging.

Everything here is a pure function of strings, bounded in its input and linear in time, because a
reply is untrusted: it may be empty, enormous, full of markup, or written to mislead.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence

from mmrag.text.markup import unwrapped
from mmrag.text.transliteration import unmask

MAX_CHARS = 4_000
"""Longer replies are judged on their beginning: CRAG-MM cuts at 75 tokens, about 400 characters."""


def official_exact(reply: str, reference: str) -> bool:
    """Whether both public CRAG-MM kits call this reply an exact match."""
    return reply.strip().lower() == reference.strip().lower()


def is_exact(prediction: str, references: Sequence[str]) -> bool:
    """Equal to a reference after normalisation; two texts without any word never are."""
    said = normalise(prediction)
    return bool(said) and any(
        said == normalise(reference) and same_signs(prediction, reference)
        for reference in references
    )


def same_signs(first: str, second: str) -> bool:
    """False when both carry a sign of money or percent, not the same, or one a minus: 5, −5."""
    one, two = set(first) & _SIGNS, set(second) & _SIGNS
    if bool(_BELOW_ZERO.match(first)) != bool(_BELOW_ZERO.match(second)):
        return False
    return not (one and two) or bool(one & two)


def normalise(text: str) -> str:
    """Lower case without accents, punctuation, articles or extra space (SQuAD's form, widened).

    >>> normalise("The  “Café”, at Zürich!")
    'cafe at zurich'
    """
    return " ".join(words(text))


def words(text: str, *, is_plain: bool = False) -> list[str]:
    """The words of the normal form, articles left out unless nothing else is there."""
    found = tokens(text if is_plain else plain(text))
    return [word for word in found if word not in _ARTICLES] or found


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers of text that `plain` has cleaned. `1,000` and `3.5` stay one."""
    flat = fold(text)
    flat = THOUSANDS.sub("", flat)
    flat = _POSSESSIVE.sub("", flat)
    flat = _INITIALS.sub(lambda match: match.group().replace(".", ""), flat)
    return _TOKEN.findall(flat)


def fold(text: str) -> str:
    """Lower case, accents removed, letters that only look special made plain."""
    return fold_case(text).lower()


def fold_case(text: str) -> str:
    """The same with capitals kept."""
    if text.isascii():
        return text
    split = unicodedata.normalize("NFKD", text)
    marks = {ord(c): None for c in set(split) if unicodedata.combining(c)}
    return split.translate(marks).translate(_LETTERS)


def plain(text: str) -> str:
    """Text as a reader sees it: no markup, citations, invisible characters or typographic quotes.
    Cut at `MAX_CHARS`, so that an enormous reply costs no more than a long one."""
    text = unwrapped(text[: 2 * MAX_CHARS])
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        # Twice: compatibility forms turn into quotes, and an acute accent must not become a space.
        text = unicodedata.normalize("NFKC", text.translate(_TYPOGRAPHY)).translate(_TYPOGRAPHY)
        seen = set(text) - {"\n", "\t"}
        text = text.translate({ord(c): None for c in seen if unicodedata.category(c)[0] == "C"})
        text = unmask(text)
    if "<" in text:
        text = _SCRIPT.sub(" ", text)
        text = _TAG.sub(" ", text)
    if "[" in text:
        text = _CITATION.sub(" ", text)
        text = _LINK.sub(r"\1", text)
    if _MARKED.search(text):
        text = _EMPHASIS.sub("", text)
    return _SPACE.sub(" ", text)[:MAX_CHARS].strip()


def sentences(text: str) -> list[str]:
    """Sentences of plain text. Abbreviations and initials do not end one."""
    body = text.rstrip(" .!?")
    if not any(sign in body for sign in ".!?;\n。"):  # one sentence, most often
        return [text.strip()] if text and not text.isspace() else []
    return [part for part in (s.strip() for s in _SENTENCE_END.split(text)) if part]


_SIGNS = frozenset("$€£¥₹%")
_BELOW_ZERO = re.compile(r"\s*[-−–]\s?[$€£]?\d")
_ARTICLES = frozenset({"a", "an", "the"})
_PLAIN_LETTERS = {
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss",
}  # fmt: skip
_LETTERS = str.maketrans(
    _PLAIN_LETTERS | {k.upper(): v.capitalize() for k, v in _PLAIN_LETTERS.items() if k not in "ıß"}
)
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼʹ`´＇ʻꞌ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        "…": "...",
        "\u00a0": " ",
    }
)
_TOKEN = re.compile(r"\d+\.\d+|[^\W_]+")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
"""The commas of 12,345; the reader of numbers drops them too."""
_POSSESSIVE = re.compile(r"(?<=\w)'s\b|'(?=\w{1,2}\b)|(?<=\bo)'|'")
_INITIALS = re.compile(r"\b(?:[a-z]\.){2,}")
_SCRIPT = re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|$)")
_TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,500}>")
_CITATION = re.compile(r"\[\^?(?:cite_)?\d{1,3}\^?\](?:\[\d{1,3}\])?")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_MARKED = re.compile(r"[*_`#>]")
_EMPHASIS = re.compile(
    r"\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)|`{1,3}|^#{1,6} |^> ?", re.M
)
_SPACE = re.compile(r"[^\S\n]+")
_SENTENCE_END = re.compile(
    r"(?<=[.!?;])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|St|Jr|Sr|Ms|vs|No)\.)(?<!\b(?:Mrs|etc|Gen|Rev|Inc|Ltd|Col)\.)"
    r"[\"')\]]*\s+(?=[\"'(\[]*\w)|\n+"
    # Chinese ends without a blank, its signs as they are or made plain
    r"|(?<=。)(?![”’」』\"'）)])|(?<=[\u3400-\u9fff][!?])(?![\"')])|(?<=[。!?][”’」』\"])(?=[\u3400-\u9fff])"
)
