"""What the encoder is shown in training: views of things, disturbed, and whole batches of them."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from scripts.encoder_pictures import EGO_SIDE, EGO_WIDE, QUERY, TESTED, square, unseen_kinds
from simulator.optics import degrade

Picture = NDArray[np.uint8]

PLACES = 0.5
"""Whole pictures and places without the thing, in parts of the things of a batch."""
ITS_OWN_PLACE = 0.6
"""How often a thing is seen where it was rendered, if it was; else it is put elsewhere."""
OTHER_PAPER = 0.3
"""How often a catalogue picture gets another ground."""
DEGRADED = 0.25
EFFECTS = ("low-light", "blurred", "occluded", "truncated", "rotated")


class Thing(NamedTuple):
    """All views of one thing, with four channels: colours and whose pixels they are."""

    plain: list[Picture]
    ego: list[Picture]
    whole: list[Picture]
    """Whole pictures in which it stands alone."""


class Batch(NamedTuple):
    """Pixels of one step, and which thing each shows."""

    images: Picture
    """Catalogue, egocentric, whole and empty places, one after the other."""
    things: list[int]
    whole: list[int]
    """Positions in `things` of those seen in whole pictures."""
    empty: int
    """Places without the thing."""


class Data:
    """The rendered views, with a generator that disturbs them."""

    def __init__(self, folder: Path, seed: int, workers: int = 0) -> None:
        self.things: list[Thing] = []
        self.kinds: dict[str, list[list[int]]] = {}
        self.family_of: list[int] = []
        """Number of the family of each thing."""
        self.places: list[Picture] = []
        """Whole pictures; the fourth channel says where things are."""
        self.grounds: list[Picture] = []
        """Squares of places."""
        self.rng = np.random.Generator(np.random.Philox(seed))
        self.grain = np.clip(self.rng.normal(128, 8, (1 << 20,)), 0, 255).astype(np.uint8)
        paths = sorted(folder.glob("*.npz"))
        with ThreadPoolExecutor(workers or 1) as pool:
            for path, part in zip(paths, pool.map(_read, paths), strict=True):
                self._take(path.stem.rsplit("-", 1)[0], part)

    def _take(self, kind: str, part: dict[str, NDArray[Any]]) -> None:
        plain = list(zip(part["plain_of"].tolist(), part["plain"], strict=True))
        ego = list(zip(part["ego_of"].tolist(), part["ego"], strict=True))
        whole = list(zip(part["whole_of"].tolist(), part["whole"], strict=True))
        family, number = list[int](), len(set(self.family_of))
        for variant in sorted({v for v, _ in plain}):
            views = ([p for v, p in sort if v == variant] for sort in (plain, ego, whole))
            family.append(len(self.things))
            self.things.append(Thing(*views))
            self.family_of.append(number)
        self.places += [p for _, p in whole]
        self.grounds += [p for _, p in ego]
        if family:
            self.kinds.setdefault(kind, []).append(family)

    def batch(self, families: int, side: int) -> Batch:
        """Look-alikes of some families: catalogue, egocentric, in whole pictures, and absent.

        Families come in pairs of one kind: telling kinds apart is easy and must not fill the batch.
        """
        rng, names = self.rng, sorted(self.kinds)
        things: list[int] = []
        for name in rng.permutation(names):
            kind = self.kinds[name]
            chosen = rng.choice(len(kind), min(2, len(kind)), replace=False)
            things += [i for f in chosen for i in kind[int(f)]]
            families -= len(chosen)
            if families <= 0:
                break
        n = int(len(things) * PLACES / 2)
        whole = [int(i) for i in rng.choice(len(things), n, replace=False)]
        images: list[Picture] = []
        seen: list[Picture] = []
        for i in things:
            a, b = self.two_of(self.things[i].plain)
            images.append(self.light(self.turned(self.paper(a), 0.25, side)))
            seen.append(self.light(self.turned(self.degraded(self.placed(i, b)), 0.48, side)))
        images += seen
        images += [self.light(fit(self.in_whole(things[i]), side)) for i in whole]
        images += [self.light(fit(self.beside(), side)) for _ in range(n)]
        return Batch(np.stack(images), things, whole, n)

    def one_of(self, pictures: list[Picture]) -> Picture:
        """Any."""
        return pictures[int(self.rng.integers(len(pictures)))]

    def two_of(self, pictures: list[Picture]) -> tuple[Picture, Picture]:
        """Any two, others if there are two."""
        a, b = self.rng.permutation(max(len(pictures), 2))[:2] % len(pictures)
        return pictures[int(a)], pictures[int(b)]

    def paper(self, view: Picture) -> Picture:
        """A catalogue picture, now and then on another ground."""
        if self.rng.random() > OTHER_PAPER:
            return view[..., :3]
        one, two = self.rng.integers(40, 256, (2, 1, 1, 3))
        slope = np.linspace(0, 1, len(view))[:, None, None]
        return over(view, (one * slope + two * (1 - slope) * 0.3 + one * 0.7 * (1 - slope)))

    def placed(self, thing: int, view: Picture) -> Picture:
        """A square around a thing in a place: its own, or one that it is put into."""
        ego, rng = self.things[thing].ego, self.rng
        if ego and rng.random() < ITS_OWN_PLACE:
            return self.one_of(ego)[..., :3]
        if ego and rng.random() < 0.3:
            view = self.one_of(ego)
        if not self.grounds:
            return self.paper(view)
        ground = painted_over(self.one_of(self.grounds))
        if rng.random() < 0.5:
            ground = ground[:, ::-1]
        return self.put(view, ground, EGO_SIDE * rng.uniform(0.42, 0.62))

    def put(self, view: Picture, ground: Picture, size: float) -> Picture:
        """A thing cut out and put somewhere near the middle, so large."""
        ys, xs = np.nonzero(view[..., 3] > 200)
        if len(xs) < 20:
            return np.ascontiguousarray(ground[..., :3])
        rng, (h, w) = self.rng, ground.shape[:2]
        longer = max(np.ptp(xs), np.ptp(ys)) + 1
        f = size / longer
        if f < 0.6:
            view = cv2.resize(view, None, fx=f * 1.25, fy=f * 1.25, interpolation=cv2.INTER_AREA)
            xs, ys, f = xs * f * 1.25, ys * f * 1.25, 0.8
        free = max(min(w, h) - size, 0) / 2
        at = (w / 2 + rng.uniform(-1, 1) * free * min(w / h, 1), h / 2 + rng.uniform(-1, 1) * free)
        middle = ((xs.min() + xs.max()) / 2, (ys.min() + ys.max()) / 2)
        matrix = np.array([[f, 0, at[0] - f * middle[0]], [0, f, at[1] - f * middle[1]]])
        moved = cv2.warpAffine(view, matrix, (w, h), flags=cv2.INTER_LINEAR)
        moved[..., :3] = self.tint(moved[..., :3], 0.88, 1.12)
        return over(moved, ground[..., :3])

    def degraded(self, image: Picture) -> Picture:
        """Now and then what the optics make of it; the thing is taken to be in the middle."""
        rng = self.rng
        if rng.random() > DEGRADED:
            return image
        n, half = EGO_SIDE, EGO_SIDE / EGO_WIDE / 2
        done = degrade(
            np.ascontiguousarray(image),
            f"{EFFECTS[int(rng.integers(len(EFFECTS)))]}@{rng.integers(1, 4)}",
            (n / 2 - half, n / 2 - half, n / 2 + half, n / 2 + half),
            key=int(rng.integers(1 << 40)),
            calibrated=False,
            measured=False,
        )
        return np.asarray(done.image, np.uint8)

    def in_whole(self, thing: int) -> Picture:
        """A whole picture with the thing somewhere in it."""
        views, rng = self.things[thing], self.rng
        if not self.places or (views.whole and rng.random() < ITS_OWN_PLACE):
            return self.one_of(views.whole or views.plain)[..., :3]
        place = painted_over(self.one_of(self.places))
        size = place.shape[1] * rng.uniform(0.12, 0.42)
        return self.put(self.one_of(views.plain + views.ego), place, size)

    def beside(self) -> Picture:
        """The square of some tried at random in which least of any thing is."""
        if not self.places:
            return np.zeros((64, 64, 3), np.uint8)
        picture, rng = self.one_of(self.places), self.rng
        best, least = picture, math.inf
        for _ in range(8):
            side = int(picture.shape[1] * rng.uniform(0.3, 0.8))
            x, y = (int(rng.integers(0, room - side + 1)) for room in picture.shape[1::-1])
            tried = picture[y : y + side, x : x + side]
            if (covered := float(tried[..., 3].mean())) < least:
                best, least = tried, covered
        return best[..., :3]

    def turned(self, image: Picture, loose: float, to: int) -> Picture:
        """A random crop, turned and mirrored a little, now and then with a part covered."""
        rng, n = self.rng, image.shape[0]
        side = n * rng.uniform(1 - loose, 1.0)
        centre = n / 2 + rng.uniform(-0.5, 0.5, 2) * (n - side) * 0.8
        angle = math.radians(rng.normal(0, 6))
        squeeze = rng.uniform(0.88, 1.14)
        f = to / side
        a, b = f * math.cos(angle) * squeeze, f * math.sin(angle)
        mirrored = rng.random() < 0.3
        if mirrored:
            a = -a
        c, d = (b if mirrored else -b), f * math.cos(angle) / squeeze
        matrix = np.array([[a, b, 0], [c, d, 0]])
        matrix[:, 2] = to / 2 - matrix[:, :2] @ centre
        out = cv2.warpAffine(
            image, matrix, (to, to), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
        )
        if rng.random() < 0.15:
            x, y = rng.integers(0, to * 5 // 6, 2)
            w, h = rng.integers(to // 8, to * 3 // 8, 2)
            out[y : y + h, x : x + w] = rng.integers(0, 255, 3)
        return out

    def light(self, image: Picture) -> Picture:
        """Another light, blur and noise."""
        rng = self.rng
        if rng.random() < 0.25:
            image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.4, 1.3))
        image = self.tint(image, 0.88, 1.14, float(rng.choice([1.0, rng.uniform(0.35, 1.2)])))
        if rng.random() < 0.25:
            start = int(rng.integers(self.grain.size - image.size))
            grain = self.grain[start : start + image.size].reshape(image.shape)
            much = float(rng.uniform(0.3, 1.2))
            image = cv2.addWeighted(image, 1.0, grain, much, -128 * much)
        return image

    def tint(self, image: Picture, low: float, high: float, strength: float = 1.0) -> Picture:
        """Other strength, colour and contrast."""
        lut = np.arange(256)[:, None] / 255.0
        gamma, tints = self.rng.uniform(0.8, 1.25), self.rng.uniform(low, high, 3) * strength
        lut = np.clip(255 * lut**gamma * tints, 0, 255).astype(np.uint8)
        return cv2.LUT(np.ascontiguousarray(image), lut[:, None, :])


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """One family's views, its catalogue views without their neighbours."""
    with np.load(path) as part:
        found = {name: part[name] for name in part.files}
    found["plain"] = np.array([alone_on_paper(view) for view in found["plain"]], np.uint8)
    return found


def over(view: Picture, ground: NDArray[Any]) -> Picture:
    """The thing of a view before another ground of the same size."""
    alpha = np.clip((view[..., 3:].astype(np.float32) - 150) / 90, 0, 1)
    return (view[..., :3] * alpha + ground * (1 - alpha)).astype(np.uint8)


def alone_on_paper(view: Picture) -> Picture:
    """A catalogue view without its neighbours in the row."""
    others = ((view[..., 3] > 64) & (view[..., 3] < 200)).astype(np.uint8)
    others = cv2.morphologyEx(others, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    if not others.any():
        return view
    others = cv2.dilate(others, np.ones((7, 7), np.uint8)) * (view[..., 3] < 64)
    others |= ((view[..., 3] > 64) & (view[..., 3] < 200)).astype(np.uint8)
    return filled(view, others)


def painted_over(view: Picture) -> Picture:
    """A place without its things."""
    return filled(view, cv2.dilate((view[..., 3] > 32).astype(np.uint8), np.ones((7, 7), np.uint8)))


def filled(view: Picture, hole: Picture) -> Picture:
    """A hole closed with what is around it, roughly: at a quarter of the size."""
    w, h = view.shape[1] // 4, view.shape[0] // 4
    small = cv2.resize(view[..., :3], (w, h), interpolation=cv2.INTER_AREA)
    gap = (cv2.resize(hole * np.uint8(255), (w, h), interpolation=cv2.INTER_AREA) > 0) * np.uint8(1)
    rough = cv2.resize(cv2.inpaint(small, gap, 3, cv2.INPAINT_TELEA), view.shape[1::-1])
    return np.dstack([np.where(hole[..., None] > 0, rough, view[..., :3]), view[..., 3]])


def fit(image: Picture, side: int) -> Picture:
    """A picture squashed to a square."""
    return cv2.resize(np.ascontiguousarray(image), (side, side), interpolation=cv2.INTER_AREA)


class Probe:
    """Pictures as worlds take them, of kinds that were trained on and kinds that were not."""

    def __init__(self, folder: Path) -> None:
        rows: list[tuple[str, int, int]] = []
        gallery, crops, wholes = list[Picture](), list[Picture](), list[Picture]()
        self.asked: list[tuple[str, int, int]] = []
        for path in sorted(folder.glob("*.npz")):
            kind, number = path.stem.rsplit("-", 1)
            with np.load(path) as part:
                rows += [(kind, int(number), int(v)) for v in part["plain_of"]]
                gallery += list(part["plain"])
                for image, box in zip(part["ego"], part["box"], strict=True):
                    x0, y0, x1, y1 = (int(edge) for edge in box)
                    mask = np.zeros(image.shape[:2], bool)
                    mask[y0:y1, x0:x1] = True
                    crops.append(square(image, mask, 160, 1.25))
                    wholes.append(image)
                    self.asked.append((kind, TESTED, QUERY))
        self.rows = rows
        self.gallery, self.crops, self.wholes = gallery, crops, wholes

    def right(self) -> NDArray[np.bool_]:
        """Queries × gallery: whether the picture shows the thing."""
        return np.array([[row == asked for row in self.rows] for asked in self.asked])

    def unseen(self) -> NDArray[np.bool_]:
        """Which queries are of kinds that training never showed."""
        return np.array([kind in unseen_kinds() for kind, _, _ in self.asked])
