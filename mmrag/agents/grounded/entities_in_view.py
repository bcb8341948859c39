"""Which entities are in view: what is printed and what looks alike, weighed together.

A printed name that the searches know outweighs any likeness; likeness alone is trusted as far as it
exceeds that of every other entity. "None" is an answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from mmrag.agents.grounded.ocr import PrintedLine, blocks
from mmrag.agents.grounded.passage_text import comparable_name, read_attributes
from mmrag.agents.grounded.scene_records import Candidate, Scene
from mmrag.agents.grounded.turn_evidence import title_name
from mmrag.protocols import WebSearch
from mmrag.records import Box, Evidence
from mmrag.text.lexicon import stem

_MOST_LIKENESS = 0.85
"""Likeness is never surer: the only candidate left is not thereby the right one."""

_HEAT, _NOTHING = 0.03125, 0.6875
"""Difference of scores at which one entity is e times as probable as another, and the score that
something unknown would have: where a thing is dark, cut off or covered all likenesses fall, and so
does the chance of each.

Fitted to the built-in encoder's scores on a development world; another encoder wants other numbers.
"""

_SECOND, _ALONE = 0.2, 0.0625
"""What the second best hit of an entity counts, and how far behind the first it is taken to be
where none was found."""

_ALIKE = 8
"""Likenesses kept to be weighed against each other."""

_BESIDE, _SEEN_BESIDE = 3, 12
"""Things beside the main one, and the likenesses among which they are looked for."""

_SAME_PLACE = 0.6
"""Share of the smaller region that lies in the other, from which both show one thing."""

_SURE = 0.86
"""Similarity from which print counts as a name: a letter or two may be misread."""


_BEGINNING, _SURE_BEGUN = 10, 0.93
"""Letters of a name's beginning that will do for the name, and how well they have to be read."""


def kg_entities(hits: Sequence[Evidence]) -> list[Evidence]:
    """One item per entity of each hit, its attributes alone in `attributes`."""
    found: list[Evidence] = []
    for hit in hits:
        listed = hit.attributes.get("entities")
        if not isinstance(listed, list):
            found.append(hit)
            continue
        for entity in listed[:8]:
            raw = entity.get("entity_attributes")
            attributes: dict[str, Any] = (
                raw if isinstance(raw, dict) else {"infobox": str(raw or "")}
            )
            found.append(
                Evidence(
                    source="image-kg",
                    id=hit.id,
                    score=hit.score,
                    text=str(entity.get("entity_name", "")),
                    url=hit.url,
                    attributes=attributes,
                )
            )
    return found


def resolve(
    lines: list[PrintedLine],
    hits: Sequence[Evidence],
    web: WebSearch | None,
    *,
    size: tuple[int, int],
) -> Scene:
    """The main thing in view and those beside it."""
    shown = kg_entities(hits)
    places = _places(hits)
    likeness = _likeness(shown)
    printed = _printed(lines, [n for n, _ in likeness], web)
    centre = (size[0] / 2, size[1] / 2)
    named = sorted(printed, key=lambda p: (_distance(p[2], centre), p[0]))
    candidates: list[Candidate] = []
    for name, sure, place in named:
        known = tuple(e for e in shown if comparable_name(e.text) == comparable_name(name))[:3]
        candidates.append(
            Candidate(
                name=name,
                confidence=round(0.6 + 0.4 * sure, 4) if known else round(0.55 + 0.4 * sure, 4),
                source="both" if known else "ocr",
                evidence=known,
                box=_box(known, places) or _around(place, size),
            )
        )
    taken = {comparable_name(c.name) for c in candidates}
    alike = [
        c for c in _candidates(likeness, shown, places) if comparable_name(c.name) not in taken
    ]
    everything = [*candidates, *alike]
    texts = [line.text for group in blocks(lines) for line in group]
    return Scene(
        main=everything[0] if everything else None,
        beside=candidates_elsewhere(everything),
        alike=() if candidates else tuple(alike[:_ALIKE]),
        printed=tuple(texts[:20]),
        evidence=tuple(shown),
        places=tuple(places.items()),
    )


def prefer_kind(scene: Scene, noun: str) -> Scene:
    """What the wearer calls the thing ("this kettle") rules out likenesses of another kind.

    Print is believed whatever the noun; of likenesses, those on record as that kind come first.
    """
    if not noun or scene.main is None or scene.main.source != "image-kg":
        return scene
    fitting = [e for e in scene.evidence if _is_a(e, noun)]
    ranked = _likeness(fitting)
    if not ranked:
        return scene
    candidates = _candidates(ranked, fitting, dict(scene.places))
    return msgspec.structs.replace(
        scene,
        main=candidates[0],
        beside=candidates_elsewhere(candidates),
        alike=tuple(candidates[:_ALIKE]),
    )


def candidates_elsewhere(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The likeliest of those that stand in another place than the first, and than each other.

    What looks like the same part of the picture is the same thing by another name.
    """
    kept = list(candidates[:1])
    for one in candidates[1:_SEEN_BESIDE]:
        if len(kept) <= _BESIDE and all(_overlap(one.box, k.box) < _SAME_PLACE for k in kept):
            kept.append(one)
    return tuple(kept[1:])


def _candidates(
    ranked: Sequence[tuple[str, float]], shown: Sequence[Evidence], places: dict[str, Box]
) -> list[Candidate]:
    """Likenesses with their chances, hits and places."""
    by_name: dict[str, list[Evidence]] = {}
    for item in shown:
        by_name.setdefault(item.text, []).append(item)
    return [
        Candidate(
            name=name,
            confidence=chance,
            source="image-kg",
            evidence=tuple(by_name[name][:3]),
            box=_box(by_name[name], places),
        )
        for name, chance in ranked[:_SEEN_BESIDE]
    ]


def _places(hits: Sequence[Evidence]) -> dict[str, Box]:
    """Where in the picture each hit was found, for those found in a part of it."""
    found: dict[str, Box] = {}
    for hit in hits:
        box = hit.attributes.get("box")
        if (
            isinstance(box, list | tuple)
            and len(box) == 4
            and hit.attributes.get("region") != "whole"
        ):
            found[hit.id] = (float(box[0]), float(box[1]), float(box[2]), float(box[3]))
    return found


def _box(items: Sequence[Evidence], places: dict[str, Box]) -> Box | None:
    """Where the best hit is that is in a part of the picture."""
    ranked = sorted(items, key=lambda item: -item.score)
    return next((places[item.id] for item in ranked if item.id in places), None)


def _around(place: tuple[float, float], size: tuple[int, int]) -> Box:
    """What a name stands on: a square about it."""
    half = max(size) * 0.15
    return (place[0] - half, place[1] - half, place[0] + half, place[1] + half)


def _overlap(a: Box | None, b: Box | None) -> float:
    """Intersection over the smaller area; nothing known is no overlap."""
    if a is None or b is None:
        return 0.0
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    smaller = min((x[2] - x[0]) * (x[3] - x[1]) for x in (a, b))
    return max(0.0, wide) * max(0.0, high) / smaller if smaller > 0 and wide > 0 else 0.0


def _is_a(item: Evidence, noun: str) -> bool:
    kinds = [v for k, v in read_attributes(item.attributes) if k.casefold() in _KIND_KEYS]
    said = comparable_name(" ".join([*kinds, item.text.split()[-1] if item.text else ""]))
    known = {stem(word) for word in said.split()}  # "headphones" are a kind, and so is a headphone
    return any(stem(word) in known for word in comparable_name(noun).split())


_KIND_KEYS = {"type", "kind", "category", "class", "instance of"}


def _likeness(shown: Sequence[Evidence]) -> list[tuple[str, float]]:
    """Entities by their best hits, each with the chance that it is the one in view.

    All candidates are weighed against each other and against none of them: a clear winner is
    probably right, the first of a close field is not, nor is one that is like hardly anything.
    """
    scores: dict[str, list[float]] = {}
    for item in shown:
        if item.text:
            scores.setdefault(item.text, []).append(item.score)
    best = {name: _joint(sorted(held, reverse=True)) for name, held in scores.items()}
    top = max(best.values(), default=0.0)
    odds = {name: math.exp((score - top) / _HEAT) for name, score in best.items()}
    # bounded, for a search of somebody else's may score below any cosine
    total = sum(odds.values()) + math.exp(min((_NOTHING - top) / _HEAT, 100.0))
    return [
        (name, round(min(_MOST_LIKENESS, odds[name] / total), 4))
        for name in sorted(best, key=lambda name: (-best[name], name))
    ]


def _joint(scores: list[float]) -> float:
    """What the two best hits of an entity say together: a look-alike is seldom alike twice."""
    second = scores[1] if len(scores) > 1 else scores[0] - _ALONE
    return (1 - _SECOND) * scores[0] + _SECOND * second


def _printed(
    lines: list[PrintedLine], known: list[str], web: WebSearch | None
) -> list[tuple[str, float, tuple[float, float]]]:
    """Names that are printed in view: (name, similarity, where)."""
    found: dict[str, tuple[str, float, tuple[float, float]]] = {}
    for group in blocks(lines)[:6]:
        windows = [
            group[i : i + n]
            for n in range(min(4, len(group)), 0, -1)
            for i in range(len(group) - n + 1)
        ]
        names = list(known)
        text = " ".join(line.text for line in group[:5])
        if web is not None and sum(c.isalpha() for c in text) >= 6:
            best = max((_like(_text(w), n) for w in windows for n in names), default=0.0)
            if best < _SURE:
                for hit_list in web.search_text([text[:200]], 8):
                    names += [n for n in (title_name(h.title) for h in hit_list) if n]
        scored = [(_like(_text(w), n), n, w) for w in windows for n in dict.fromkeys(names)]
        sure, name, window = max(scored, key=lambda s: (s[0], len(s[1])), default=(0.0, "", []))
        if sure < _SURE:
            sure, name, window = _begun(windows, dict.fromkeys(names))
        if sure >= _SURE and window:
            where = (
                sum((x.box[0] + x.box[2]) / 2 for x in window) / len(window),
                sum((x.box[1] + x.box[3]) / 2 for x in window) / len(window),
            )
            if comparable_name(name) not in found or found[comparable_name(name)][1] < sure:
                found[comparable_name(name)] = (name, sure, where)
    return list(found.values())


def _begun(
    windows: list[list[PrintedLine]], names: Iterable[str]
) -> tuple[float, str, list[PrintedLine]]:
    """The one name of which the print shows the beginning: the rest is hidden or left out."""
    found: dict[str, tuple[float, str, list[PrintedLine]]] = {}
    for name in names:
        whole = comparable_name(name).replace(" ", "")
        for window in windows:
            seen = comparable_name(_text(window)).replace(" ", "")
            if len(seen) < _BEGINNING or not len(seen) < len(whole) <= 2 * len(seen):
                continue
            sure = SequenceMatcher(None, seen, whole[: len(seen)], autojunk=False).ratio()
            if sure >= _SURE_BEGUN and sure > found.get(whole, (0.0,))[0]:
                found[whole] = (sure * _SURE_BEGUN, name, window)
    return next(iter(found.values())) if len(found) == 1 else (0.0, "", [])


def _text(lines: list[PrintedLine]) -> str:
    return "".join(line.text for line in lines)


def _like(a: str, b: str) -> float:
    x, y = comparable_name(a).replace(" ", ""), comparable_name(b).replace(" ", "")
    if not x or not y or abs(len(x) - len(y)) > 0.25 * max(len(x), len(y)):
        return 0.0
    return SequenceMatcher(None, x, y, autojunk=False).ratio()


def _distance(place: tuple[float, float], centre: tuple[float, float]) -> float:
    return math.hypot(place[0] - centre[0], place[1] - centre[1])
