"""What a picture is to show, and who takes it: what is asked of a renderer, and the one installed.

The world says what a picture is to show; how it is taken is the renderer's, whose packages a run,
a report or the app do without.
"""

from __future__ import annotations

import importlib
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mmrag.records import Box, Polygon, Record
from simulator.world.facts.look import Look


class Scene(Record, frozen=True, kw_only=True):
    """Everything a renderer is told. Equal scenes give equal bytes, on any worker, in any order.

    >>> look = Look(domain="food", kind="jar", family=3, variant=1, label="Marrow Honey")
    >>> Scene(main=look, key="q-17").width
    960
    """

    main: Look
    """The entity that the picture is about."""
    others: tuple[Look, ...] = ()
    """Other entities of the world that stand beside it, fully visible ("which of these")."""
    is_ego: bool = True
    """First-person picture in a lived-in place (True), or catalogue picture (False)."""
    attended: bool = True
    """Whether the main entity stands before the others and in the middle, as people turn to what
    they ask about. Otherwise nothing tells it from them."""
    whole_others: bool = True
    """Whether the others are seen whole, as questions about them need; else the frame may cut
    them."""
    pointed_at: bool = False
    """Whether the wearer's finger points at it."""
    place: str = ""
    """Where the wearer is: shop, home or out; empty for anywhere."""
    legible: bool = False
    """Whether the main entity's label can be read: the text clue."""
    key: str = ""
    """Randomness key: viewpoint, light, place and clutter follow from it, the entity does not."""
    width: int = 960
    """Pixels; 384 × 384 is the usual size of a catalogue picture."""
    height: int = 1280
    """Pixels."""
    entity_scale: float = 1.0
    """Size of the entity relative to what is usual for its kind; about 0.4 is hard, 1.5 easy."""
    clutter: float = 0.6
    """0: nothing else in the picture; 1: crowded. Catalogue pictures take none unless above 0.9."""
    turn: float = 1.0
    """How far the viewpoint may differ from straight on; 0 shows every entity from the front."""
    off_centre: float = 1.0
    """How far from the middle the entity may stand; 0 keeps it in the middle."""
    light_swing: float = 1.0
    """How much colour and strength of the light vary; 0 is neutral daylight."""
    noise: float = 1.0
    """Camera noise; 0 is a noiseless sensor, 1 that of a good phone indoors."""


_STUDIO = "simulator.studio.camera.studio"
"""Found by name, because the studio imports the world."""


class Rendered(NamedTuple):
    """A picture and what is known about it."""

    image: NDArray[np.uint8]
    """Height × width × 3, RGB."""
    polygon: Polygon
    """Outline of the main entity in pixels: of what can be seen of it."""
    other_polygons: tuple[Polygon, ...]
    """Outlines of `Scene.others`, in their order."""
    text_boxes: tuple[tuple[str, Box], ...]
    """Texts that can be read, and where."""
    visible: tuple[float, ...]
    """How much of each thing can be seen, the main one first: 1 if nothing stands before it."""
    masks: tuple[NDArray[np.bool_], ...]
    """The very pixels of each thing."""
    hand: NDArray[np.bool_]
    """Those of the wearer's hand."""
    depth: NDArray[np.float32]
    """Metres from the eye; 0 where there is nothing but sky."""


class Renderer(Protocol):
    """Takes pictures of scenes. Equal scenes give equal bytes on one machine."""

    @property
    def version(self) -> str:
        """Raised whenever a pixel changes: encoders are trained on a version."""
        ...

    def check(self) -> None:
        """Raise `Unavailable`, naming what to install, where no picture can be taken."""
        ...

    def compose(self, scene: Scene) -> Rendered:
        """Take the picture of a scene."""
        ...

    def again(self, scene: Scene, how: str) -> Rendered:
        """Take it as a wearer does who looks again: `closer`, `brighter`, `level`, `other side`."""
        ...


def renderer() -> Renderer:
    """The renderer of this installation: the studio."""
    return importlib.import_module(_STUDIO).Studio()
