"""Looking again: pictures of what a wearer sees, taken another way, kept by scene and way.

A picture to which something was done is taken again without that; a good one from nearer, then from
another side. What the data set has is not rendered; what was rendered once, by any run, is not
rendered again.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import warnings
from pathlib import Path

import msgspec

from mmrag.errors import MmragError, Unavailable
from mmrag.files.atomic import write_bytes
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Polygon, Record, Session
from simulator.optics.shape.geometry import bounds
from simulator.wearer.moves import REMEDIES
from simulator.wearer.wearer_view import scene_of
from simulator.world.pictures.scene import Scene, renderer

LOOKS = 2
"""Raised when a second look at a scene changes a pixel and first pictures, which the renderer's
version names, do not: what was kept before is then taken anew."""


class _Taken(Record, frozen=True, kw_only=True):
    """What is known of a kept picture."""

    sha256: str
    polygon: Polygon


class PictureRetaker:
    """Takes pictures of a world's scenes again, and keeps them in a folder."""

    def __init__(self, folder: Path, jpeg: int = 88) -> None:
        self._folder, self._jpeg = folder, jpeg
        self._lock = threading.Lock()
        """There is one stage in a process."""

    def can(self, session: Session) -> bool:
        """Only what says what its picture shows can be pictured again."""
        return session.capture is not None and scene_of(session) is not None

    def take(self, session: Session, how: str) -> Capture | None:
        """Another picture of what a session shows; None where it cannot be had."""
        scene = scene_of(session)
        if scene is None or session.capture is None:
            return None
        try:
            with self._lock:
                found = self.known(session, how)
                return found or self._render(scene, how, how in REMEDIES.values())
        except Unavailable as error:
            warnings.warn(f"a wearer cannot look again: {error}", stacklevel=2)
        except MmragError:  # nobody can stand there: the wearer cannot either
            pass
        return None

    def known(self, session: Session, how: str) -> Capture | None:
        """The same, where the data has it or it was rendered before; None where it is to be."""
        scene, capture, undone = scene_of(session), session.capture, how in REMEDIES.values()
        if scene is None or capture is None:
            return None
        if undone and capture.degradation == "clean" and capture.image.sha256:
            return capture
        return self._kept(scene, "" if undone else how)

    def _place(self, scene: Scene, way: str) -> Path:
        made_of = msgspec.json.encode([scene, way, renderer().version, LOOKS, self._jpeg])
        name = hashlib.sha256(made_of).hexdigest()
        return self._folder / name[:2] / name

    def _kept(self, scene: Scene, way: str) -> Capture | None:
        place = self._place(scene, way)
        try:
            known = msgspec.json.decode(place.with_suffix(".json").read_bytes(), type=_Taken)
            data = place.with_suffix(".jpg").read_bytes()
        except (OSError, msgspec.MsgspecError):
            return None
        if hashlib.sha256(data).hexdigest() != known.sha256:
            return None
        return _capture(scene, data, known.polygon, way)

    def _render(self, scene: Scene, how: str, undone: bool) -> Capture:
        from simulator.world.pictures.session_pictures import encode_jpeg

        way = "" if undone else how
        taker = renderer()
        shown = taker.compose(scene) if undone else taker.again(scene, how)
        data = encode_jpeg(shown.image, self._jpeg)
        place = self._place(scene, way)
        taken = _Taken(sha256=hashlib.sha256(data).hexdigest(), polygon=shown.polygon)
        with contextlib.suppress(OSError):  # what cannot be kept is rendered anew another time
            place.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(place.with_suffix(".jpg"), data)
            write_bytes(place.with_suffix(".json"), msgspec.json.encode(taken))
        return _capture(scene, data, shown.polygon, way)


def _capture(scene: Scene, data: bytes, polygon: Polygon, way: str) -> Capture:
    return Capture(
        image=LazyImage.from_bytes(data, name=f"another picture of {scene.key} ({way or 'clean'})"),
        focus=bounds(polygon) if polygon else None,
        polygon=polygon or None,
        is_ego=scene.is_ego,
    )
