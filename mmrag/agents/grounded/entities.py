"""Which entities are in view: what is printed and what looks alike, weighed together.

A printed name that the searches know outweighs any likeness; likeness alone is trusted as far as it
exceeds that of every other entity. "None" is an answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from mmrag.agents.grounded.desk import title_name
from mmrag.agents.grounded.ocr import Line, blocks
from mmrag.agents.grounded.scene import Candidate, Scene
from mmrag.agents.grounded.statements import fold, read_attributes
from mmrag.protocols import WebSearch
from mmrag.records import Evidence

_MOST_LIKENESS = 0.85
"""Likeness is never surer: the only candidate left is not thereby the right one."""

_HEAT = 0.043
"""Difference of scores at which one entity is e times as probable as another.

Fitted to the built-in encoder on development worlds (docs/benchmarks/agents.md).
"""

_ALIKE = 8
"""Likenesses kept to be weighed against each other."""

_SURE = 0.86
"""Similarity from which print counts as a name: a letter or two may be misread."""


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
    lines: list[Line],
    hits: Sequence[Evidence],
    web: WebSearch | None,
    *,
    size: tuple[int, int],
) -> Scene:
    """The main thing in view and those beside it."""
    shown = kg_entities(hits)
    likeness = _likeness(shown)
    printed = _printed(lines, [n for n, _ in likeness], web)
    centre = (size[0] / 2, size[1] / 2)
    named = sorted(printed, key=lambda p: (_distance(p[2], centre), p[0]))
    candidates: list[Candidate] = []
    for name, sure, _ in named:
        known = tuple(e for e in shown if fold(e.text) == fold(name))[:3]
        candidates.append(
            Candidate(
                name=name,
                confidence=round(0.6 + 0.4 * sure, 4) if known else round(0.55 + 0.4 * sure, 4),
                source="both" if known else "ocr",
                evidence=known,
            )
        )
    taken = {fold(c.name) for c in candidates}
    alike = [
        Candidate(
            name=name,
            confidence=chance,
            source="image-kg",
            evidence=tuple(e for e in shown if e.text == name)[:3],
        )
        for name, chance in likeness
        if fold(name) not in taken
    ]
    everything = [*candidates, *alike]
    texts = [line.text for group in blocks(lines) for line in group]
    return Scene(
        main=everything[0] if everything else None,
        beside=tuple(everything[1 : max(4, len(candidates))]),
        alike=() if candidates else tuple(alike[:_ALIKE]),
        printed=tuple(texts[:20]),
        evidence=tuple(shown),
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
    people = [
        Candidate(
            name=name,
            confidence=chance,
            source="image-kg",
            evidence=tuple(e for e in fitting if e.text == name)[:3],
        )
        for name, chance in ranked[:_ALIKE]
    ]
    return msgspec.structs.replace(
        scene, main=people[0], beside=tuple(people[1:4]), alike=tuple(people)
    )


def _is_a(item: Evidence, noun: str) -> bool:
    kinds = [v for k, v in read_attributes(item.attributes) if k.casefold() in _KIND_KEYS]
    said = fold(" ".join([*kinds, item.text.split()[-1] if item.text else ""]))
    return any(word in said.split() for word in fold(noun).split())


_KIND_KEYS = {"type", "kind", "category", "class", "instance of"}


def _likeness(shown: Sequence[Evidence]) -> list[tuple[str, float]]:
    """Entities by their best hit, each with the chance that it is the one in view.

    All candidates are weighed against each other: a clear winner is probably right, the first of
    a close field is not.
    """
    best: dict[str, float] = {}
    for item in shown:
        if item.text:
            best[item.text] = max(best.get(item.text, -1.0), item.score)
    top = max(best.values(), default=0.0)
    odds = {name: math.exp((score - top) / _HEAT) for name, score in best.items()}
    total = sum(odds.values())
    return [
        (name, round(min(_MOST_LIKENESS, odds[name] / total), 4))
        for name in sorted(best, key=lambda name: (-best[name], name))
    ]


def _printed(
    lines: list[Line], known: list[str], web: WebSearch | None
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
        if sure >= _SURE and window:
            where = (
                sum((x.box[0] + x.box[2]) / 2 for x in window) / len(window),
                sum((x.box[1] + x.box[3]) / 2 for x in window) / len(window),
            )
            if fold(name) not in found or found[fold(name)][1] < sure:
                found[fold(name)] = (name, sure, where)
    return list(found.values())


def _text(lines: list[Line]) -> str:
    return "".join(line.text for line in lines)


def _like(a: str, b: str) -> float:
    x, y = fold(a).replace(" ", ""), fold(b).replace(" ", "")
    if not x or not y or abs(len(x) - len(y)) > 0.25 * max(len(x), len(y)):
        return 0.0
    return SequenceMatcher(None, x, y, autojunk=False).ratio()


def _distance(place: tuple[float, float], centre: tuple[float, float]) -> float:
    return math.hypot(place[0] - centre[0], place[1] - centre[1])
