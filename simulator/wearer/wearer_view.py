"""What a wearer sees and knows: the things in view, where they stand, and what is true of them.

It is read from what a world says of a session. Data of one's own says nothing of the kind: its
wearer sees nothing that they could name, and says no more than their questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from mmrag.records import Record, Session
from simulator.world.facts.factbase import FactBase
from simulator.world.pictures.scene import Scene

APART = 0.04
"""Of the picture's width: things nearer to each other than this are not told apart by side."""

_SIDES = (0.4, 0.6)
"""A thing alone is on the left, in the middle or on the right of these shares of the width."""


class ThingInView(Record, frozen=True, kw_only=True):
    """A thing in view."""

    id: str
    kind: str
    place: str = ""
    """left, middle or right of a thing alone; else its number from the left, or `last`."""
    prints: tuple[str, ...] = ()
    """What can be read on it."""


class Sight(NamedTuple):
    """One session, as its wearer sees it."""

    things: tuple[ThingInView, ...] = ()
    """The main thing first."""
    facts: FactBase | None = None
    """None where only the picture is known."""
    at: str = ""
    """When the wearer asks."""
    voice: str = ""
    """In whose words; empty where the data does not say."""
    session: Session | None = None
    """Whose picture is looked at."""

    def thing(self, entity_id: str) -> ThingInView | None:
        """A thing in view by its id."""
        return next((thing for thing in self.things if thing.id == entity_id), None)

    def elsewhere(self) -> Sight:
        """The same from where one does not know what stands on which side."""
        return self._replace(things=tuple(replace(thing, place="") for thing in self.things))

    def colour(self, thing: ThingInView) -> str:
        """What colour a thing is called by among those in view; empty where by none."""
        from simulator.wearer.colours import colours_of

        scene = None if self.session is None else scene_of(self.session)
        outlines = [] if self.session is None else outlines_of(self.session)
        if scene is None or len(outlines) != len(self.things) or len(outlines) < 2:
            return ""
        assert self.session is not None
        assert self.session.capture is not None
        looks = (scene.main, *scene.others)[: len(outlines)]
        found = colours_of(self.session.capture.image, outlines, looks)
        return dict(zip(self.things, found, strict=False)).get(thing, "")


def sight_of(session: Session, facts: FactBase | None = None) -> Sight:
    """What the wearer of a session sees. The capture has to be as the data set gives it."""
    known, at = session.extra, session.query_time or ""
    scene, names = scene_of(session), cast("list[str]", known.get("visible") or [])
    places = [""] * len(names) if scene is None else _places(session, scene, len(names))
    prints = tuple(str(text) for text, _ in known.get("texts", ()))
    things = tuple(
        ThingInView(id=name, kind=kind_of(name), place=place, prints=prints if n == 0 else ())
        for n, (name, place) in enumerate(zip(names, places, strict=True))
    )
    return Sight(things, facts, at, str(known.get("voice") or ""), session)


def kind_of(entity_id: str) -> str:
    """What kind of thing an id is of; ids of worlds say it.

    >>> kind_of("textbook_page-00005")
    'textbook_page'
    """
    return entity_id.rpartition("-")[0]


def scene_of(session: Session) -> Scene | None:
    """What the session's picture is of, where its data set says it."""
    try:
        return msgspec.convert(session.extra.get("scene"), Scene)
    except msgspec.ValidationError:
        return None


def _places(session: Session, scene: Scene, count: int) -> list[str]:
    """Where the things stand, as far as it can be said without a doubt."""
    nowhere, outlines = [""] * count, outlines_of(session)
    if len(outlines) != count:
        return nowhere
    middles = [_middle(outline) / scene.width for outline in outlines]
    if count == 1:
        low, high = _SIDES
        return ["left" if middles[0] < low else "right" if middles[0] > high else "middle"]
    order = sorted(range(count), key=lambda n: middles[n])
    gaps = [middles[b] - middles[a] for a, b in pairwise(order)]
    if min(gaps) < APART:
        return nowhere
    places = nowhere
    for rank, n in enumerate(order, 1):
        places[n] = "last" if rank == count else str(rank)
    return places


def outlines_of(session: Session) -> list[Sequence[Any]]:
    """The outlines of all things in view, the main one's first; none where one is not known."""
    capture = session.capture
    if capture is None or capture.degradation != "clean" or not capture.polygon:
        return []  # a picture that was cut or turned shows them elsewhere
    outlines: list[Sequence[Any]] = [capture.polygon, *session.extra.get("other_polygons", ())]
    return outlines if all(outlines) else []


def _middle(outline: Sequence[Any]) -> float:
    xs = [float(point[0]) for point in outline]
    return (min(xs) + max(xs)) / 2
