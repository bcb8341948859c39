"""Spoken conditions by name: what is added to a question on its way to a recogniser."""

from __future__ import annotations

import re

from mmrag.errors import SpecError
from mmrag.registry import unknown_name_message
from mmrag.text import comma_list

QUIET = "quiet"
"""Said aloud, with nothing added."""

KINDS: dict[str, str] = {
    "street": "traffic passes",
    "babble": "others talk all around",
    "wind": "wind blows into the microphone",
    "room": "a hard room echoes",
    "clipped-start": "the microphone opens late",
    "bystander": "somebody else says a sentence just before or after",
}
"""Kind → what happens. Each has levels 1 to 5 (`LEVELS` in noises.py)."""

_USUAL = 3


def parse_spoken(text: str) -> tuple[str, ...]:
    """What `--spoken` means: none, clean (said in quiet), or kinds with a level.

    >>> parse_spoken("clean,street@5,babble"), parse_spoken("none")
    (('quiet', 'street@5', 'babble@3'), ())
    """
    if text == "none":
        return ()
    named = comma_list(text)
    if not named:
        raise SpecError(f"--spoken {text!r} names no condition; for none, leave it out.")
    return tuple(dict.fromkeys(_spec(part) for part in named))


def split_spoken(condition: str) -> tuple[str, str]:
    """A condition's picture and its spoken part, which is empty where questions are typed; the way
    back is `spoken_condition`.

    >>> [split_spoken(c) for c in ("low-light@3+street@1", "quiet", "rotated@3+blurred@1")]
    [('low-light@3', 'street@1'), ('clean', 'quiet'), ('rotated@3+blurred@1', '')]
    """
    before, _, last = condition.rpartition("+")
    if last.partition("@")[0] in (QUIET, *KINDS):
        return before or "clean", last
    return condition, ""


def _spec(part: str) -> str:
    if part in ("clean", QUIET):
        return QUIET
    kind, at, level = part.partition("@")
    if kind in ("clean", QUIET):
        raise SpecError(f"{part!r}: {kind} has no levels; it is said in quiet.")
    if kind not in KINDS:
        raise SpecError(unknown_name_message("noise", kind, ["clean", *KINDS]))
    if at and not re.fullmatch("[0-5]", level):
        raise SpecError(f"{part!r}: a level is 1 to 5, or 0 for quiet.")
    return QUIET if level == "0" else f"{kind}@{level or _USUAL}"
