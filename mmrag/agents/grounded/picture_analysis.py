"""From pixels to a scene: quality, restoration, print, likeness, entities. Once per picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mmrag.agents.grounded.bounded_cache import BoundedCache
from mmrag.agents.grounded.entities_in_view import kg_entities, prefer_kind, resolve
from mmrag.agents.grounded.grounded_parts import Parts
from mmrag.agents.grounded.ocr import PrintedLine, TextRecogniser, blocks
from mmrag.agents.grounded.picture_quality import estimate_quality, restore
from mmrag.agents.grounded.scene_records import Candidate, Scene
from mmrag.agents.trace import Trace
from mmrag.files.images import LazyImage
from mmrag.protocols import ImageSearch, Resources, WholeImageSearch
from mmrag.records import Evidence, Query

_HITS = 100
"""More than are shown anybody: the wearer's word for the thing sifts them."""

_Search = Callable[[Sequence[LazyImage], int], list[tuple[Evidence, ...]]]

_KEPT = 512
"""Scenes remembered: a conversation asks about one picture several times."""


class PictureAnalyser:
    """Looks at pictures; remembers what it saw by content."""

    def __init__(self, resources: Resources, parts: Parts, ocr: TextRecogniser | None) -> None:
        self._images = resources.image_search if parts.on("kg") else None
        self._web = resources.web_search if parts.on("web") else None
        self._parts = parts
        self._ocr = ocr
        self._seen: BoundedCache[str, Scene] = BoundedCache(_KEPT)

    def look(self, query: Query, trace: Trace, noun: str = "") -> Scene:
        """What is in view; `noun` is what the wearer calls it. Without a picture nothing is."""
        image = query.image
        if image is None:
            return Scene()
        with trace.step("picture") as step:
            known = self._seen.get(query.scope)
            step.info["remembered"] = known is not None
            seen = known or self._look(image, trace)
            scene = prefer_kind(seen, noun) if self._parts.on("entity") else seen
            step.info["entity"] = scene.main.name if scene.main else None
            if scene.main:
                step.info["recognition"] = scene.main.confidence
                step.info["from"] = scene.main.source
            step.info["beside"] = [c.name for c in scene.beside]
            step.info["printed"] = list(scene.printed[:6])
        self._seen.put(query.scope, seen)
        return scene

    def _look(self, image: LazyImage, trace: Trace) -> Scene:
        picture = image.pil()
        variants = [image]
        with trace.step("quality") as step:
            if self._parts.on("restore"):
                quality = estimate_quality(picture)
                step.info |= {
                    "brightness": quality.brightness,
                    "sharpness": quality.sharpness,
                    "noise": quality.noise,
                }
                better = restore(picture, quality)
                step.info["restored"] = better is not None
                if better is not None:
                    variants.append(LazyImage.from_pil(better, name=f"{image.name} (restored)"))
        with trace.step("ocr") as step:
            lines = self._read(variants)
            step.info["lines"] = [line.text for line in lines[:12]]
        with trace.step("image search") as step:
            hits = self._search(variants)
            step.found(hits[:10])
        with trace.step("entity") as step:
            if not self._parts.on("entity"):
                return _believe_best(hits, lines)
            scene = resolve(lines, hits, self._web, size=picture.size)
            step.info["candidates"] = [
                [c.name, c.confidence, c.source] for c in (scene.main, *scene.beside) if c
            ]
            return scene

    def _read(self, variants: list[LazyImage]) -> list[PrintedLine]:
        """Lines of the variant in which most can be read."""
        if self._ocr is None or not self._parts.on("ocr"):
            return []
        readings = [self._ocr.read(v.pil()) for v in reversed(variants)]
        return max(readings, key=lambda lines: sum(len(x.text) * x.confidence for x in lines))

    def _search(self, variants: list[LazyImage]) -> list[Evidence]:
        if self._images is None:
            return []
        found: dict[tuple[str, str], Evidence] = {}
        for hits in _way(self._images, self._parts)(variants, _HITS):
            for hit in hits:
                key = (hit.id, hit.text)
                if key not in found or found[key].score < hit.score:
                    found[key] = hit
        return sorted(found.values(), key=lambda h: (-h.score, h.id))[:_HITS]


def _way(search: ImageSearch, parts: Parts) -> _Search:
    """The way to search that the parts ask for, where the search offers it."""
    if not parts.on("regions") and isinstance(search, WholeImageSearch):
        return search.search_whole
    return search.search_images


def _believe_best(hits: list[Evidence], lines: list[PrintedLine]) -> Scene:
    """Without entity resolution: the best hit, or else the largest print."""
    shown = kg_entities(hits)
    printed = [line.text for group in blocks(lines) for line in group]
    names = list(dict.fromkeys(e.text for e in shown if e.text)) or printed[:1]
    candidates = [
        Candidate(
            name=n, confidence=1.0, source="image-kg",
            evidence=tuple(e for e in shown if e.text == n)[:3],
        )
        for n in names[:4]
    ]  # fmt: skip
    return Scene(
        main=candidates[0] if candidates else None,
        beside=tuple(candidates[1:]),
        printed=tuple(printed[:20]),
        evidence=tuple(shown),
    )
