"""Faults by name, and which turns they meet. Conditions of a run beside its degradations."""

from __future__ import annotations

import hashlib
import re

from mmrag.errors import SpecError
from mmrag.text import comma_list

KINDS: dict[str, str] = {
    "web-empty": "the web search finds nothing",
    "web-slow": "the web search takes 3 s longer",
    "web-stale": "the web search does not know the newer half of what it would find",
    "web-wrong": "the web search gives what ranks next in place of the best",
    "web-failing": "the web search raises an error",
    "pictures-empty": "the image search finds nothing",
    "pictures-slow": "the image search takes 3 s longer",
    "pictures-stale": "the image search does not know the newer half, or the best, of its hits",
    "pictures-wrong": "the image search gives what ranks next in place of the best",
    "pictures-failing": "the image search raises an error",
    "model-busy": "the model answers HTTP 429 after all retries",
    "model-down": "the model answers HTTP 503 after all retries",
    "model-slow": "the model takes 3 s longer",
    "model-hang": "the model never answers",
    "model-garbage": "the model says words without sense",
    "model-empty": "the model says nothing",
    "model-cut": "the model stops in the middle",
    "picture-missing": "the picture does not come with the question",
    "picture-broken": "half of the picture's file comes",
    "picture-late": "the picture is not there yet at the first question",
    "network-latency": "the question arrives 1.5 s late",
    "network-jitter": "the question arrives 0.75 to 2.25 s late",
    "network-bandwidth": "the picture is sent smaller, and takes 2 s",
    "network-loss": "the lower part of the picture is lost",
    "delay-1": "the reply comes 1 s later; declared, not waited for",
    "delay-3": "the reply comes 3 s later; declared, not waited for",
    "delay-9": "the reply comes 9 s later; declared, not waited for",
    "stale-picture": "the picture shows what was in view before the wearer turned to the thing",
    "previous-picture": "the picture that was taken before comes in place of the new one",
    "other-stream": "somebody else's picture comes, another one with each question",
    "glued-question": "the question before it is glued to the question",
    "cut-question": "half of the question comes",
}
"""Kind → what happens to a turn that it meets."""

WRONG_INPUT = (
    "picture-missing", "stale-picture", "previous-picture", "other-stream", "glued-question",
    "cut-question",
)  # fmt: skip
"""Kinds that an assistant should notice: what it gets is not what the wearer saw and said."""

_ALIASES = {"no-picture": ("picture-missing",), "input": WRONG_INPUT}

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Severity 1 to 5: how many of the turns it meets."""

_USUAL = 3


def parse_faults(text: str) -> tuple[str, ...]:
    """What `--faults` means: none, or kinds, parts such as `web`, `input` and `all`, each with a
    severity.

    >>> parse_faults("model-busy@5,web-empty")
    ('model-busy@5', 'web-empty@3')
    """
    if text == "none":
        return ()
    named = comma_list(text)
    if not named:
        raise SpecError(f"--faults {text!r} names no fault; for none, leave it out.")
    return tuple(dict.fromkeys(spec for part in named for spec in _specs(part)))


def kind_of_fault(condition: str) -> str | None:
    """The kind of a fault; None for a degradation."""
    kind = condition.partition("@")[0]
    return kind if kind in KINDS else None


def needs_picture(condition: str) -> bool:
    """Whether a fault is of a picture, of its search or of its way: nothing without one."""
    kind = condition.partition("@")[0]
    part = kind.partition("-")[0]
    return part in ("picture", "pictures") or kind in (
        "network-bandwidth", "network-loss", "stale-picture", "previous-picture", "other-stream",
    )  # fmt: skip


def fault_meets_turn(condition: str, seed: int, session_id: str, turn_index: int) -> bool:
    """Whether a fault meets a turn. Who is met at one severity is met at every higher one."""
    kind, _, level = condition.partition("@")
    share = SHARES[int(level) - 1] if level != "0" else 0.0
    return random_fraction(kind, seed, session_id, turn_index) < share


def random_fraction(kind: str, seed: int, session_id: str, turn_index: int) -> float:
    """A number in [0, 1) that belongs to this turn under this kind of fault."""
    text = f"fault\x00{kind}\x00{seed}\x00{session_id}\x00{turn_index}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _specs(part: str) -> list[str]:
    name, at, level = part.partition("@")
    kinds = [
        kind
        for kind in KINDS
        if name in ("all", kind, kind.partition("-")[0]) or kind in _ALIASES.get(name, ())
    ]
    if not kinds:
        from mmrag.registry import unknown_name_message  # not for `--help`

        parts = dict.fromkeys(kind.partition("-")[0] for kind in KINDS)
        raise SpecError(
            unknown_name_message("fault", name, dict.fromkeys(["all", *_ALIASES, *parts, *KINDS]))
        )
    if at and not re.fullmatch("[1-5]", level):
        raise SpecError(f"{part!r}: a severity is 1 (one turn in ten) to 5 (every turn).")
    return [f"{kind}@{level or _USUAL}" for kind in kinds]
