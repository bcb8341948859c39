"""What the grounded agent made of a picture, and what it noted on the way to an answer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mmrag.records import Box, Evidence, Record


class Candidate(Record, frozen=True, kw_only=True):
    """An entity that may be in the picture."""

    name: str
    confidence: float
    source: str
    """ocr, image-kg, both, or said."""
    evidence: tuple[Evidence, ...] = ()
    box: Box | None = None
    """Where in the picture, as far as the image search tells."""


class Scene(Record, frozen=True, kw_only=True):
    """The picture as the later parts see it: no pixels."""

    main: Candidate | None = None
    beside: tuple[Candidate, ...] = ()
    """Other things in view, the likeliest first."""
    alike: tuple[Candidate, ...] = ()
    """What the main thing may be where likeness alone names it, the likeliest first."""
    printed: tuple[str, ...] = ()
    """Lines read in the picture, the largest first."""
    evidence: tuple[Evidence, ...] = ()
    places: tuple[tuple[str, Box], ...] = ()
    """Which hits of the image search, by id, are where in the picture."""


def named_scene(scene: Scene, names: Sequence[str]) -> Scene:
    """A scene whose things the wearer has named."""
    known = {c.name: c for c in (scene.main, *scene.beside, *scene.alike) if c is not None}
    said = [
        Candidate(
            name=n, confidence=1.0, source="said", evidence=known[n].evidence if n in known else ()
        )
        for n in names
    ]
    return msgspec.structs.replace(scene, main=said[0], beside=tuple(said[1:]), alike=())


class Finding(Record, frozen=True, kw_only=True):
    """An answer with what speaks for it. Features lie between 0 and 1."""

    text: str
    recognition: float = 1.0
    match: float = 1.0
    margin: float = 1.0
    agreement: float = 1.0
    luck: float = 0.0
    """How often this is right though the thing in view is another: for a yes or no every second
    time."""
    support: float = 0.0
    freshness: float = 1.0
    steps: int = 1
    operation: str = ""
    citations: tuple[str, ...] = ()

    def features(self) -> dict[str, float]:
        """What the calibrated probability of being right is computed from."""
        return {
            "recognition": self.recognition,
            "luck": self.luck,
            "match": min(self.match, 1.0),
            "margin": min(max(self.margin, 0.0), 0.5) * 2,
            "agreement": self.agreement,
            "support": self.support,
            "freshness": self.freshness,
            "steps": min(self.steps, 6) / 6,
            "set": float(self.operation in ("without", "where", "sources", "count")),
            "choice": float(self.operation in ("at_least", "most", "least", "has", "is", "not")),
            "denial": float(self.operation == "premise"),
            "picture": float(self.operation in ("name", "same", "printed")),
        }
