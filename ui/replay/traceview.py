"""From the trace of a turn to what a page shows of it: hits, passages, boxes, bars. No HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from mmrag.records import Capture, Evidence, Gaze, Step, Turn


class Overlay(msgspec.Struct, frozen=True):
    """A box over the picture, in per cent of its size."""

    kind: str
    """gaze, region or ocr; focus is the data's box of truth, which no assistant is given."""
    left: float
    top: float
    width: float
    height: float
    label: str = ""


class ShownHit(msgspec.Struct, frozen=True):
    """One image-KG hit."""

    id: str
    name: str
    score: float
    url: str
    attributes: tuple[tuple[str, str], ...]
    cited: bool
    crop: Overlay | None
    """The part of the picture that found it; None for the whole."""


class ShownPassage(msgspec.Struct, frozen=True):
    """One passage of a page, cut around the sentence that the reply rests on."""

    id: str
    title: str
    url: str
    date: str
    score: float
    before: str
    used: str
    """The sentence closest to the reply; empty when the passage was not cited."""
    after: str
    label: str
    """Grounding label where the data set knows it."""
    cited: bool


class Bar(msgspec.Struct, frozen=True):
    """One step in the waterfall; offsets in per cent of the turn."""

    name: str
    depth: int
    left: float
    width: float
    seconds: float
    info: tuple[tuple[str, str], ...]


def walk(steps: Sequence[Step], depth: int = 0) -> Iterator[tuple[Step, int]]:
    """Every step with how deep it lies, in the order of the trace."""
    for step in steps:
        yield step, depth
        yield from walk(step.steps, depth + 1)


def plan_of(steps: Sequence[tuple[Step, int]]) -> tuple[tuple[str, str], ...]:
    """What the planner made of the question, in words where it is the built-in one."""
    for step, _ in steps:
        if step.name in ("planner", "plan", "rewrite"):
            said = flat({k: v for k, v in step.info.items() if k not in ("by", "program", "p")})
            done: list[str] = re.findall(r'"([^"]+)"', str(step.info.get("program", "")))
            words = " · ".join(_PROGRAM.get(word, word.replace("_", " ")) for word in done)
            sure = step.info.get("p")
            return (
                *said,
                *([("comes to", words)] if words else []),
                *([("sure", f"{100 * sure:.0f} %")] if isinstance(sure, float) else []),
            )
    return ()


_PROGRAM = {
    "get": "look up", "it": "the thing in view", "next": "the thing beside it",
    "these": "the things in view", "number": "the number that is said", "<": "less", ">": "more",
}  # fmt: skip
"""Words of a program; the others say themselves what they do."""


def hits_of(
    evidence: Sequence[Evidence], cited: frozenset[str], size: tuple[int, int]
) -> Iterator[ShownHit]:
    """What the image search brought, each entity once."""
    seen: set[str] = set()
    for item in evidence:
        if item.source == "image-kg" and item.id not in seen and len(seen) < 12:
            seen.add(item.id)
            yield ShownHit(
                id=item.id,
                name=item.text or item.title,
                score=item.score,
                url=item.url,
                attributes=_known(item)[:14],
                cited=item.id in cited,
                crop=overlay_of("region", item.attributes.get("box"), size),
            )


def _known(item: Evidence) -> tuple[tuple[str, str], ...]:
    """The entity's attributes first, then how the hit came about."""
    rest = dict(item.attributes)
    entities = rest.pop("entities", None) or [{}]
    first = entities[0] if isinstance(entities, list) and isinstance(entities[0], dict) else {}
    return flat(first.get("entity_attributes") or {}) + flat(rest)


def passages_of(
    evidence: Sequence[Evidence], cited: frozenset[str], reply: str, turn: Turn
) -> Iterator[ShownPassage]:
    """The passages as they were after the last step that ranked them, cited ones first."""
    latest: dict[str, Evidence] = {}
    for item in evidence:
        if item.source in ("web", "page") or item.source.startswith("web"):
            latest.pop(item.id, None)
            latest[item.id] = item
    ranked = sorted(latest.values(), key=lambda e: (e.id not in cited, -e.score))[:10]
    for item in ranked:
        is_cited = item.id in cited
        before, used, after = _mark(item.text, reply) if is_cited else (item.text, "", "")
        label = turn.reference.grounding.get(item.id) or turn.reference.grounding.get(item.url, "")
        yield ShownPassage(
            id=item.id,
            title=item.title,
            url=item.url,
            date=(item.date or "")[:10],
            score=item.score,
            before=_shorten_left(before) if used else before[:600],
            used=used,
            after=after[:300],
            label=label,
            cited=is_cited,
        )


_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\d)[^.!?\n]*)*[.!?\n]*")


def _mark(text: str, reply: str) -> tuple[str, str, str]:
    """Cut a passage around the sentence that shares most words with the reply."""
    words = set(re.findall(r"\w+", reply.casefold()))
    best, where = 0.0, (0, 0)
    for match in _SENTENCE.finditer(text):
        own = set(re.findall(r"\w+", match.group().casefold()))
        shared = len(words & own) / (len(own) + 3)
        if shared > best:
            best, where = shared, match.span()
    if best == 0.0:
        return text[:600], "", ""
    return text[: where[0]], text[where[0] : where[1]], text[where[1] :]


def _shorten_left(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else "… " + text[-limit:].partition(" ")[2]


def bars_of(steps: Sequence[tuple[Step, int]], seconds: float) -> tuple[Bar, ...]:
    """The waterfall: which step took when, and how long."""
    whole = max([seconds, *(step.start + step.seconds for step, _ in steps)], default=0.0)
    if whole <= 0:
        return ()
    return tuple(
        Bar(
            name=step.name,
            depth=depth,
            left=100 * step.start / whole,
            width=max(100 * step.seconds / whole, 0.4),
            seconds=step.seconds,
            info=flat(step.info)[:20],
        )
        for step, depth in steps[:60]
    )


def boxes_of(
    steps: Sequence[tuple[Step, int]], evidence: Sequence[Evidence], size: tuple[int, int]
) -> Iterator[Overlay]:
    """Regions and read texts: any list of boxes in a step's info, any box of an OCR item."""
    for step, _ in steps:
        found = step.info.get("regions") or step.info.get("boxes") or ()
        kind = "ocr" if step.name == "ocr" else "region"
        for item in found[:40] if isinstance(found, list | tuple) else ():
            box = item.get("box") if isinstance(item, dict) else item
            label = (
                str(item.get("text") or item.get("label") or "") if isinstance(item, dict) else ""
            )
            overlay = overlay_of(kind, box, size, label)
            if overlay is not None:
                yield overlay
    named = 0
    for item in evidence:
        if item.source == "image-kg" and named < 3:
            overlay = overlay_of("region", item.attributes.get("box"), size, item.text)
            if overlay is not None:
                named += 1
                yield overlay
        if item.source == "ocr":
            overlay = overlay_of("ocr", item.attributes.get("box"), size, item.text)
            if overlay is not None:
                yield overlay


NOT_GIVEN = "truth, not given"
"""What stands on the box of truth, so that nobody takes it for what an assistant saw."""


def focus_of(
    capture: Capture, size: tuple[int, int], label: str = NOT_GIVEN
) -> tuple[Overlay, ...]:
    """The box of what is asked about, where the data set says it."""
    overlay = overlay_of("focus", capture.focus, size, label) if capture.focus else None
    return (overlay,) if overlay else ()


def given_gaze(gaze: Gaze | None, size: tuple[int, int]) -> tuple[Overlay, ...]:
    """The point at which the wearer looks, as a ring about it, where the assistant was given it."""
    if gaze is None:
        return ()
    (x, y), (width, height) = gaze, size
    x, y, ring = x * width, y * height, 0.03 * max(size)
    around = (x - ring, y - ring, x + ring, y + ring)
    overlay = overlay_of("gaze", around, size, "the wearer looks here")
    return (overlay,) if overlay else ()


def overlay_of(kind: str, box: object, size: tuple[int, int], label: str = "") -> Overlay | None:
    """A box in pixels as one in per cent; None for what is no box in the picture."""
    try:
        left, top, right, bottom = (float(v) for v in box)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return None
    width, height = size
    if not width or not height:
        return None
    left, right = max(0.0, left), min(float(width), right)
    top, bottom = max(0.0, top), min(float(height), bottom)
    if right <= left or bottom <= top:
        return None
    return Overlay(
        kind,
        100 * left / width,
        100 * top / height,
        100 * (right - left) / width,
        100 * (bottom - top) / height,
        label[:60],
    )


def flat(values: object, prefix: str = "") -> tuple[tuple[str, str], ...]:
    """Nested JSON as short label and text pairs, for people."""
    if not isinstance(values, dict):
        return ()
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        if isinstance(value, dict):
            rows.extend(flat(value, f"{prefix}{key}."))
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            for number, item in enumerate(value[:8], 1):
                name = str(item.get("kind") or item.get("name") or number)
                rows.extend(flat(item, f"{prefix}{name}."))
        elif isinstance(value, list | tuple):
            shown = ", ".join(_short(v) for v in value[:8])
            rows.append((f"{prefix}{key}", shown + (" …" if len(value) > 8 else "")))
        elif value is not None and value != "":
            rows.append((f"{prefix}{key}", _short(value)))
    return tuple(rows[:40])


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    return text if len(text) <= 200 else text[:199] + "…"
