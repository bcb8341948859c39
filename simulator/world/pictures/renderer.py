"""The built-in renderer: a scene becomes a picture.

>>> from simulator.world.facts.look import Look
>>> from simulator.world.pictures.scene import Scene
>>> look = Look(domain="food", kind="jar", family=3, variant=1, label="Marrow Honey")
>>> render(Scene(main=look, key="q-17", width=96, height=128)).image.shape
(128, 96, 3)
"""

from __future__ import annotations

from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.world.pictures.photograph import Rendered, compose
from simulator.world.pictures.scene import Scene

PICTURES_VERSION = 4
"""Raised whenever a pixel changes: encoders are trained on a version, and worlds name theirs."""


class Renderer(Protocol):
    """Something that turns a scene into a picture; a ray tracer would be another one."""

    @property
    def id(self) -> str:
        """Name and version; part of a world's provenance."""
        ...

    def render(self, scene: Scene) -> Rendered:
        """The picture of a scene; equal scenes give equal bytes."""
        ...


class Painted:
    """The renderer that ships with the project: shaded painting with OpenCV."""

    @property
    def id(self) -> str:
        """Name and version."""
        return f"painted-{PICTURES_VERSION}"

    def render(self, scene: Scene) -> Rendered:
        """The picture of a scene."""
        return compose(scene)


def render(scene: Scene) -> Rendered:
    """The picture of a scene by the built-in renderer."""
    return compose(scene)


def encode_jpeg(image: NDArray[np.uint8], quality: int = 90) -> bytes:
    """RGB pixels as a JPEG file."""
    done, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done
    return data.tobytes()
