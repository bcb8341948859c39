"""What a painter works with: the entity's traits, the light, the viewpoint, and a canvas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import cv2
import numpy as np

from simulator.world.facts.look import Look
from simulator.world.pictures.letters import FACES
from simulator.world.pictures.light import Light, Material
from simulator.world.pictures.painting import Canvas
from simulator.world.pictures.printed_sheet import WEARS, Print, Sheet, package
from simulator.world.pictures.shapes import Array, Path, Points
from simulator.world.pictures.traits import Draws, Palette, Traits

Extent = tuple[float, float, float, float]


class View(NamedTuple):
    """How the viewer sees an entity."""

    yaw: float = 0.0
    """Turned about the vertical, radians."""
    pitch: float = 0.12
    """Seen from above, radians."""
    flip: bool = False
    """Mirrored, for things that have no printed side."""
    legible: bool = True
    """Whether what is printed can be read."""
    key: str = ""


class Text(NamedTuple):
    """A readable text on a sprite, in its pixels."""

    text: str
    corners: Points
    line: float
    is_label: bool


class Sprite(NamedTuple):
    """A painted entity, cut out."""

    rgb: Array
    """Multiplied by alpha."""
    alpha: Array
    texts: tuple[Text, ...]
    foot: float
    """Pixels between the sprite's lowest row and the middle of what it stands on."""
    base: tuple[float, float]
    """Left and right end of its footing, in its pixels."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.alpha.shape[1], self.alpha.shape[0]


class Stage:
    """One painting of one entity."""

    def __init__(self, look: Look, extent: Extent, scale: float, light: Light, view: View) -> None:
        self.look = look
        self.traits = Traits(look)
        self.f = self.traits.family
        """Draws of the family."""
        self.v = self.traits.variant
        """Draws of the variant."""
        self.pose = Draws("pose", look.kind, view.key)
        """Draws of the moment: they tell nothing about the entity."""
        self.view = view
        self.canvas = Canvas(extent, scale, light)
        self.light = light
        self.texts: list[Text] = []
        self.foot = 0.0
        """Painters set this to half the depth of the footing, in units."""
        self.base: tuple[float, float] | None = None
        """Painters may set where the footing begins and ends, in units."""
        self.away = not view.legible and self.pose.chance("away", 0.25)
        """Turned so that the name is on the far side."""
        self.wear = None if view.legible else self.pose.pick("wear", WEARS)

    @property
    def label(self) -> str | None:
        """The main text, if the entity carries one."""
        return self.look.label

    @property
    def px(self) -> float:
        """Pixels per unit."""
        return self.canvas.scale

    def palette(self, *, vivid: float = 1.0, light: tuple[float, float] = (0.45, 0.75)) -> Palette:
        """The entity's colours."""
        return self.traits.palette(vivid=vivid, light=light)

    def sheet(self, width: float, height: float, ground: tuple[float, float, float]) -> Sheet:
        """An empty sheet of that many units."""
        return Sheet(width * self.px, height * self.px, ground, self.wear)

    def package(
        self, palette: Palette, width: float, height: float, *, around: bool = False
    ) -> Sheet:
        """The printed skin of a packed good of that many units."""
        return package(
            self.traits,
            palette,
            width * self.px,
            height * self.px,
            label=self.label,
            sublabel=self.look.sublabel,
            wear=self.wear,
            key=self.view.key,
            away=self.away,
            around=around,
        )

    def lay(
        self,
        corners: Path,
        sheet: Sheet,
        normal: tuple[float, float] = (0, 0),
        *,
        gloss: float = 0.2,
        cover: Array | None = None,
    ) -> None:
        """Put a sheet on a plane; corners in units from its upper left clockwise."""
        shade = self.canvas.shade_of(normal, gloss)
        matrix = self.canvas.quad(corners, sheet.rgb, shade=shade, cover=cover)
        for text in sheet.prints:
            moved = cv2.perspectiveTransform(text.corners[None], matrix)[0]
            self._keep(text, moved)

    def wrap(
        self,
        cx: float,
        profile: Sequence[tuple[float, float]],
        sheet: Sheet,
        material: Material,
        *,
        pitch: float = 0.0,
        turn: float = 0.0,
        cap: Material | None = None,
    ) -> None:
        """Put a sheet around a turned body."""
        self.canvas.revolve(cx, profile, material, pitch=pitch, wrap=sheet.rgb, turn=turn, cap=cap)
        low, high = profile[0][0], profile[-1][0]
        heights, radii = [p[0] for p in profile], [p[1] for p in profile]
        for text in sheet.prints:
            moved: list[tuple[float, float]] = []
            for u, v in text.corners:
                angle = (u / sheet.width - 0.5) * 2 * math.pi + turn
                angle = min(max(angle, -1.5), 1.5)
                y = high - v / sheet.height * (high - low)
                r = float(np.interp(y, heights, radii))
                moved.append((cx + r * math.sin(angle), y - r * math.cos(angle) * math.sin(pitch)))
            self._keep(text, self.canvas.px(moved))

    def note(self, sheet: Sheet, corners: Points) -> None:
        """Remember where the texts of a sheet came to lie; its corners are given in units."""
        h, w = sheet.rgb.shape[:2]
        source = np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float32)
        matrix = cv2.getPerspectiveTransform(source, self.canvas.px(corners).astype(np.float32))
        for text in sheet.prints:
            self._keep(text, cv2.perspectiveTransform(text.corners[None], matrix)[0])

    def tag(
        self,
        x: float,
        y: float,
        width: float,
        *,
        colour: tuple[float, float, float] = (244, 240, 228),
        string: tuple[float, float] | None = None,
        stake: float = 0.0,
    ) -> None:
        """A card with the entity's name, hanging from `string` or standing on a stake of a length.

        Nothing is drawn for an entity without a label, or when the name is not to be read and the
        card has been turned away.
        """
        if self.label is None or self.away:
            return
        height = width * 0.42
        box = [
            (x - width / 2, y + height / 2),
            (x + width / 2, y + height / 2),
            (x + width / 2, y - height / 2),
            (x - width / 2, y - height / 2),
        ]
        if string is not None:
            self.canvas.tube([string, (x, y + height * 0.4)], 0.008, Material((190, 170, 130)))
        if stake:
            self.canvas.blob(
                [(x - 0.012, y), (x + 0.012, y), (x + 0.008, y - stake), (x - 0.008, y - stake)],
                Material((150, 118, 80), 0.1),
            )
        sheet = self.sheet(width, height, colour)
        ink = (40, 36, 34)
        sheet.box(0.02, 0.05, 0.98, 0.95, (120, 110, 96))
        sheet.box(0.03, 0.075, 0.97, 0.925, colour)
        sheet.print(
            self.label,
            (0.06, 0.12, 0.94, 0.9),
            ink,
            (self.f.pick("tag-face", ("b", "s")) == "b" and _BOLD) or _SERIF,
            lines=2,
            key=self.view.key,
        )
        self.lay(box, sheet)

    def sprite(self) -> Sprite:
        """Cut the painting out."""
        canvas = self.canvas
        ys = np.flatnonzero(canvas.alpha.max(1) > 12)
        xs = np.flatnonzero(canvas.alpha.max(0) > 12)
        if not len(ys) or not len(xs):
            raise ValueError(f"{self.look.kind}: nothing was painted")
        y0, y1, x0, x1 = ys[0], ys[-1] + 1, xs[0], xs[-1] + 1
        rgb = np.ascontiguousarray(canvas.rgb[y0:y1, x0:x1])
        alpha = np.ascontiguousarray(canvas.alpha[y0:y1, x0:x1])
        texts = tuple(t._replace(corners=t.corners - (x0, y0)) for t in self.texts)
        if self.base is None:
            rows = alpha[-max(int(0.06 * len(alpha)), 2) :].max(0)
            touching = np.flatnonzero(rows > 60)
            base = (
                (float(touching[0]), float(touching[-1])) if len(touching) else (0.0, x1 - x0 - 1.0)
            )
        else:
            ends = canvas.px([(self.base[0], 0), (self.base[1], 0)])[:, 0] - x0
            base = (float(ends[0]), float(ends[1]))
        if self.view.flip and not texts:
            rgb, alpha = np.ascontiguousarray(rgb[:, ::-1]), np.ascontiguousarray(alpha[:, ::-1])
            base = (x1 - x0 - 1 - base[1], x1 - x0 - 1 - base[0])
        return Sprite(rgb, alpha, texts, self.foot * self.px, base)

    def _keep(self, text: Print, corners: Points) -> None:
        before = np.linalg.norm(text.corners[3] - text.corners[0])
        after = np.linalg.norm(corners[3] - corners[0])
        line = text.line * after / max(float(before), 1e-6)
        self.texts.append(Text(text.text, corners, float(line), text.is_label))


class Box:
    """A block in space, standing on the ground, seen by a viewer with perspective."""

    def __init__(
        self,
        stage: Stage,
        width: float,
        height: float,
        depth: float,
        *,
        yaw: float | None = None,
        pitch: float | None = None,
        distance: float = 4.0,
        centre: tuple[float, float] = (0, 0),
    ) -> None:
        self.stage = stage
        self.w, self.h, self.d = width, height, depth
        self.yaw = stage.view.yaw if yaw is None else yaw
        self.pitch = stage.view.pitch if pitch is None else pitch
        self.distance = distance
        self.centre = centre

    def at(self, x: float, y: float, z: float) -> tuple[float, float]:
        """Where a point (right, up, towards the front) of the block is seen."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        right, front = x * c + z * s, -x * s + z * c
        cp, sp = math.cos(self.pitch), math.sin(self.pitch)
        up, near = y * cp - front * sp, y * sp + front * cp
        near_scale = self.distance / (self.distance - near)
        return right * near_scale + self.centre[0], up * near_scale + self.centre[1]

    def normal(self, x: float, y: float, z: float) -> tuple[float, float]:
        """Right and up part of a direction as the viewer sees it."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        right, front = x * c + z * s, -x * s + z * c
        cp, sp = math.cos(self.pitch), math.sin(self.pitch)
        return right, y * cp - front * sp

    def side(self, name: str) -> list[tuple[float, float]]:
        """Corners of a side from its upper left clockwise, as seen from outside."""
        w, h, d = self.w / 2, self.h, self.d / 2
        corners = {
            "front": [(-w, h, d), (w, h, d), (w, 0, d), (-w, 0, d)],
            "right": [(w, h, d), (w, h, -d), (w, 0, -d), (w, 0, d)],
            "left": [(-w, h, -d), (-w, h, d), (-w, 0, d), (-w, 0, -d)],
            "top": [(-w, h, -d), (w, h, -d), (w, h, d), (-w, h, d)],
        }[name]
        return [self.at(*corner) for corner in corners]

    def paint(self, sheets: dict[str, Sheet], *, gloss: float = 0.2, edge: float = 0.3) -> None:
        """Lay a sheet on every visible side that has one; `right` serves both flanks."""
        canvas = self.stage.canvas
        flank = "right" if self.yaw < 0 else "left"
        order = [flank, "front", "top"]
        normals = {"front": (0, 0, 1), "right": (1, 0, 0), "left": (-1, 0, 0), "top": (0, 1, 0)}
        for name in order:
            sheet = sheets.get("right" if name == "left" and "left" not in sheets else name)
            corners = self.side(name)
            if sheet is None or _area(corners) > -1e-4:
                continue
            self.stage.lay(corners, sheet, self.normal(*normals[name]), gloss=gloss)
            if name != "top":  # the lower part sees less of the sky
                low = [
                    corners[3],
                    corners[2],
                    _between(corners[1], corners[2], 0.65),
                    _between(corners[0], corners[3], 0.65),
                ]
                canvas.shadow(low, 0.22, 0.09)
        if edge:
            front = self.side("front")
            canvas.line([front[0], front[1]], 0.006, (255, 252, 246), opacity=edge)
            inner = front[1] if flank == "right" else front[0]
            lower = front[2] if flank == "right" else front[3]
            canvas.line([inner, lower], 0.006, (255, 252, 246), opacity=edge * 0.8)
        back = self.at(0, 0, -self.d / 2)[1]
        fore = self.at(0, 0, self.d / 2)[1]
        self.stage.foot = max(self.stage.foot, (back - fore) / 2)


def _area(corners: Sequence[tuple[float, float]]) -> float:
    p = np.asarray(corners)
    q = np.roll(p, -1, 0)
    return float((p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum() / 2)


def _between(a: tuple[float, float], b: tuple[float, float], share: float) -> tuple[float, float]:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


class Painter(NamedTuple):
    """How one kind of thing is painted."""

    paint: Callable[[Stage], None]
    extent: Extent
    """Left, bottom, right, top in units: where the painter may paint."""
    metres: float
    """Usual height of the thing (of one unit): the sizes of things side by side follow from it."""


def paint(painter: Painter, look: Look, scale: float, light: Light, view: View) -> Sprite:
    """Paint an entity at `scale` pixels per unit."""
    stage = Stage(look, painter.extent, scale, light, view)
    painter.paint(stage)
    return stage.sprite()


_BOLD, _SERIF = FACES[0], FACES[4]
