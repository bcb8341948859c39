"""What a reader does not see: struck-out text, thoughts, wrapping in JSON or code; and emoji."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any


def unwrapped(text: str) -> str:
    """A reply without what a reader does not take for its answer.

    >>> unwrapped('{"answer": "Ghent", "verdict": "perfect"}')
    'Ghent'
    >>> unwrapped("<del>1923</del> 1924").strip()
    '1924'
    """
    if "{" in text:
        text = _from_json(text)
    if "<" in text or "~~" in text:
        text = _STRUCK.sub(" ", text)
        text = _THOUGHT.sub(" ", text)
    if "[" in text:
        text = _FOOTNOTE.sub("", text)
        if _TICKED.search(text):
            text = "; ".join(m.group(1) for m in _TICKED.finditer(text))
    if "\n" in text:
        text = _chosen(_SELF_RATED.sub("", text))
    if "return" in text and (found := _RETURNED.search(text)):
        text = found.group(2)
    if not text.isascii():
        text = _EMOJI.sub(_named, text)
    if _SPACED.search(text):
        text = _SPACED.sub(lambda m: re.sub(r"\s", "", m.group()), text)
    return text


def _chosen(text: str) -> str:
    """The option that a reply marks among those it lists: by its letter, or by a yes beside it."""
    options = {m[1]: m[2] for m in _LETTERED.finditer(text)}
    if len(options) > 1 and (found := _LETTER.search(text)) and found[1] in options:
        return options[found[1]]
    marked = [(m[2].lower() in _YES, m[1]) for m in _MARKED.finditer(text)]
    chosen = [name for is_chosen, name in marked if is_chosen]
    return chosen[0] if len(chosen) == 1 and (len(marked) > 2 or "|" in text) else text


def _from_json(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    if end < start or _WORD.search(text[:start].replace("json", "")) or end - start > 20_000:
        return text
    try:
        found = json.loads(text[start : end + 1])
        said = _answers(found) if isinstance(found, dict) else []
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict):
        return text
    after = text[end + 1 :].strip("` \n")
    return "; ".join([*said, after] if after else said) or text


def _answers(found: dict[str, Any]) -> list[str]:
    """The field that is called an answer; else every field that is no verdict on itself."""
    fields = {str(k).lower(): _told(v) for k, v in found.items()}
    for name in _ANSWER_FIELDS:
        if name in fields:
            return [fields[name]]
    return [v for k, v in fields.items() if v and not _OWN_VERDICT.search(k)]


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(_answers(value))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return _told(value[0])  # candidates, the best first
    if isinstance(value, list):
        return ", ".join(_told(one) for one in value[:50])
    return "" if value is None else str(value)


def _named(match: re.Match[str]) -> str:
    name = unicodedata.name(match.group(), "").lower()
    return name[-1] if name.startswith("regional") else f" {name} "


_WORD = re.compile(r"[^\W_]")
_ANSWER_FIELDS = (
    "final_answer",
    "final answer",
    "answer",
    "result",
    "response",
    "reply",
    "prediction",
    "value",
    "text",
    "output",
)
_OWN_VERDICT = re.compile(
    r"verdict|outcome|score|grade|correct|accura|confiden|judge|rating|reason|key|status|thought|note|type|question|reference|alternative|rejected|candidate"
)
_STRUCK = re.compile(
    r"(?is)~~.{0,500}?~~|<(del|s|strike)\b[^<>]{0,200}>.{0,2000}?</\1\s*>|<!--.{0,2000}?-->"
    r"|<(\w+)\b[^<>]{0,100}(?:display:\s*none|visibility:\s*hidden|\shidden\b)[^<>]{0,100}>"
    r".{0,2000}?</\2\s*>"
)
_THOUGHT = re.compile(r"(?is)<(think|thinking|scratchpad|reasoning)>.{0,20000}?</\1\s*>")
_GAP, _SIGNS = r"[^\S\n]{0,20}", r"[^\w\n]{0,40}"
"""Blanks, and whatever is no word, of one line and not endless: tried from each place of a text."""
_FOOTNOTE = re.compile(rf"(?m)^{_GAP}\[\^?\d{{1,3}}\]:?{_GAP}<?https?://\S+{_GAP}$")
_TICKED = re.compile(rf"(?mi)^{_GAP}[-*]?{_GAP}\[x\]{_GAP}(.{{1,200}})$")
_SELF_RATED = re.compile(
    rf"(?mi)^{_SIGNS}(?:confidence|certainty){_SIGNS}[:=].{{0,80}}$"
    rf"|^{_SIGNS}(?:verdict|score){_SIGNS}[:=]{_SIGNS}"
    rf"(?:[01]?\.\d+|\d+{_GAP}/{_GAP}\d+|(?:in)?correct|right|perfect){_SIGNS}$"
)
_LETTERED = re.compile(rf"(?m)^{_SIGNS}([A-F])[).:]{_GAP}(.{{1,200}})$")
_LETTER = re.compile(
    rf"(?mi)^{_SIGNS}(?:final{_GAP})?(?:answer|choice)(?:{_GAP}is)?{_GAP}[:=]?{_GAP}[^\w\n]?"
    rf"(?-i:([A-F])){_SIGNS}$"
)
_YES = ("yes", "✓", "✔", "✅", "true", "correct", "right")
_MARKED = re.compile(
    rf"(?mi)^{_SIGNS}(\w.{{0,100}}?){_GAP}[|:=-]{_GAP}"
    r"(yes|no|✓|✔|✅|✗|✘|❌|true|false|correct|incorrect|right|wrong)[ \t|.]{0,40}$"
)
_RETURNED = re.compile(rf"(?m)^[^\S\n]{{1,40}}return\s{{1,20}}(['\"])(.{{1,200}}?)\1{_GAP}$")
_EMOJI = re.compile("[\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff\u2600-\u27bf]")
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_]\s{1,3}){3,}[^\W\d_](?![^\W_])")
