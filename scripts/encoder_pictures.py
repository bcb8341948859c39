"""Pictures to train and to test the built-in image encoder on, path-traced as worlds' are.

    python scripts/encoder_pictures.py train DATA    # views of look-alikes
    python scripts/encoder_pictures.py test TEST     # as worlds make them, kinds trained on and not

Every family is one file, written when it is whole: a command called again goes on, and whatever is
there can be trained on. To take few pictures for many views, look-alikes of a training family
stand in one row; the tracer says which pixels are whose. Pictures of the test are a world's own:
one thing in a lived-in place, far off and amid clutter, and catalogue pictures of its size.
Families lie in a range of numbers that no world uses. Nine kinds are never trained on.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.studio.camera.photo_development import develop
from simulator.studio.camera.product_shot import stage_product
from simulator.studio.camera.scene_to_picture import compose, seed_of
from simulator.studio.camera.staging import Staged, stage
from simulator.studio.tracing.tracer import trace
from simulator.world.facts.look import KINDS, LABELLED, Look
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.session_pictures import CLUTTER, NEARNESS
from simulator.world.pictures.traits import Draws

FAMILIES = range(1_000_000_000, 1_400_000_000)
"""Numbers of families for training; worlds stay below, props above."""
TESTED = 1_400_000_000
"""Families from here on are for the test."""
LOOK_ALIKES = 5
"""Of a family in one row."""
CATALOGUE_SIDE, EGO_SIDE, WHOLE = 176, 208, (162, 216)
"""What is kept: squares around things, and whole pictures (width, height)."""
ROWS, ROW = 3, (832, 208)
"""Catalogue pictures of a row, and their width and height."""
EGO = (432, 576)
IN_A_PLACE, ALONE = 0.5, 0.6
"""Parts of the families that stand in a place, in a row, and one of which stands there alone: a
place takes four times as long as a studio, and what was cut out of a studio can be put into one."""
CATALOGUE_WIDE, EGO_WIDE = 1.35, 1.9
"""A square's side in parts of the thing's longer side: room for loose crops."""
LEAST = 0.45
"""Of a thing that is to be seen for its view to be kept."""


def unseen_kinds() -> list[str]:
    """Nine kinds of nine domains that are never trained on, drawn before anything was measured."""
    draw = random.Random("kinds that the encoder is only tested on")
    domains = draw.sample(sorted(d for d, kinds in KINDS.items() if len(kinds) > 1), 9)
    return [draw.choice(KINDS[d]) for d in domains]


class Family(NamedTuple):
    """Look-alikes of one kind."""

    domain: str
    kind: str
    number: int


def families(first: int, rounds: int, kinds: list[str] | None = None) -> list[Family]:
    """Families in rounds of all kinds, so that any beginning of the list is balanced."""
    every = [(d, k) for d, known in KINDS.items() for k in known if kinds is None or k in kinds]
    return [Family(d, k, first + r) for r in range(rounds) for d, k in every]


def look_of(family: Family, variant: int) -> Look:
    """What one of them looks like, with an invented name where its kind carries one."""
    draw = Draws("train", *family, variant)
    label = "".join(draw.pick(f"l{i}", "aeiourntslm") for i in range(draw.count("n", 4, 9)))
    has_label = family.kind in LABELLED or draw.chance("tag", 0.25)
    return Look(
        domain=family.domain,
        kind=family.kind,
        family=family.number,
        variant=variant,
        label=label.title() if has_label else None,
    )


class Taken(NamedTuple):
    """A picture, and whose its pixels are."""

    image: NDArray[np.uint8]
    owner: NDArray[np.int16]
    """0 … n - 1 the things in their order; anything else is not of them."""
    visible: tuple[float, ...]


def taken(scene: Scene, staged: Staged, eye: int = 0) -> Taken:
    """One staged scene traced and developed."""
    from simulator.studio.camera.view_geometry import visible_shares

    seed, view = seed_of(scene) + eye, staged.view
    traced = trace(staged.placed, staged.light, view, scene.width, scene.height, seed=seed)
    draws, noise = Draws("develop", scene.key, eye), 1.0 if scene.is_ego else 0.5
    image = develop(traced.light, draws, noise=noise, swing=scene.light_swing)
    shares = visible_shares(traced.owner, staged.placed[: staged.things], staged.view)
    return Taken(image, np.where(traced.owner < staged.things, traced.owner, -1), shares)


def views(family: Family) -> dict[str, NDArray[Any]]:
    """All that is kept of a family.

    `plain`, `ego`: squares with four channels, the last 255 where the thing is, 128 where another
    of the row is; `plain_of`, `ego_of`: which look-alike. `whole`: pictures, likewise with all
    things marked; `whole_of`: the one that stands there alone, or -1 for a row.
    """
    draw = Draws("views", *family)
    names = ("plain", "plain_of", "ego", "ego_of", "whole", "whole_of")
    kept: dict[str, list[Any]] = {name: [] for name in names}
    order = list(range(LOOK_ALIKES))
    for n in range(ROWS):
        turned = order[n:] + order[:n]
        scene = row(family, turned, is_ego=False, key=f"c{family}{n}", size=ROW,
                    legible=draw.chance(f"plain{n}", 0.5))  # fmt: skip
        keep(kept, "plain", taken(scene, stage_product(scene)), turned)
    if draw.chance("in a place", IN_A_PLACE):
        scale, clutter = draw("scale", 0.9, 1.9), draw("clutter", 0.4, 1.0)
        scene = row(family, order, is_ego=True, key=f"r{family}", size=EGO,
                    clutter=clutter, entity_scale=scale)  # fmt: skip
        staged = stage(scene)
        keep(kept, "ego", taken(scene, staged), order, whole=True)
        other = stage(scene, 1)
        if not any(p.name == "hand" for p in staged.placed):
            other = staged._replace(view=other.view)  # what stands on the stage may stay there
        keep(kept, "ego", taken(scene, other, 1), order, whole=True)
    if draw.chance("alone too", ALONE):
        alone = draw.count("alone", 0, LOOK_ALIKES - 1)
        scene = row(family, [alone], is_ego=True, key=f"e{family}", size=EGO,
                    clutter=CLUTTER, entity_scale=draw("far", 0.5, 1.25))  # fmt: skip
        keep(kept, "ego", taken(scene, stage(scene)), [alone], whole=True)
    return {k: np.array(v, np.int16 if k.endswith("_of") else np.uint8) for k, v in kept.items()}


def row(family: Family, order: list[int], *, size: tuple[int, int], **how: Any) -> Scene:
    """A scene of some look-alikes side by side."""
    looks = [look_of(family, v) for v in order]
    return Scene(main=looks[0], others=tuple(looks[1:]), width=size[0], height=size[1], **how)


def keep(
    kept: dict[str, list[Any]], sort: str, shot: Taken, order: list[int], *, whole: bool = False
) -> None:
    """The squares of a picture's things, and the picture itself."""
    side, wide = (EGO_SIDE, EGO_WIDE) if sort == "ego" else (CATALOGUE_SIDE, CATALOGUE_WIDE)
    for n, variant in enumerate(order):
        mask = shot.owner == n
        if shot.visible[n] < LEAST or mask.sum() < 120:
            continue
        marks = np.where(mask, 255, np.where(shot.owner >= 0, 128, 0)).astype(np.uint8)
        kept[sort].append(square(np.dstack([shot.image, marks]), mask, side, wide))
        kept[f"{sort}_of"].append(variant)
    if whole:
        marks = np.where(shot.owner >= 0, 255, 0).astype(np.uint8)
        picture = np.dstack([shot.image, marks])
        kept["whole"].append(cv2.resize(picture, WHOLE, interpolation=cv2.INTER_AREA))
        kept["whole_of"].append(order[0] if len(order) == 1 else -1)


def square(
    image: NDArray[np.uint8], mask: NDArray[np.bool_], to: int, wide: float
) -> NDArray[np.uint8]:
    """The square around a thing; what lies outside the picture is its mirror image."""
    ys, xs = np.nonzero(mask)
    low, high = np.array([xs.min(), ys.min()]), np.array([xs.max() + 1, ys.max() + 1])
    side = max(float((high - low).max()) * wide, 24.0)
    centre, factor = (low + high) / 2, to / side
    if factor < 0.6:  # warpAffine does not average: shrink first
        shrink = factor * 1.25
        image = cv2.resize(image, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
        centre, factor = centre * shrink, factor / shrink
    matrix = np.hstack([np.eye(2) * factor, (to / 2 - factor * centre)[:, None]])
    return cv2.warpAffine(
        image, matrix, (to, to), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
    )


# --- the test --------------------------------------------------------------------------------

LOOK_ALIKES_TESTED = 5
"""Of the eight that worlds have."""
QUERY = 3
"""The one that is looked for; it has two catalogue pictures."""
OTHERS_TESTED = 2
"""Other families of the same kind, of one thing each."""
SIZES = ((720, 960), 320)


def test_views(family: Family) -> dict[str, NDArray[Any]]:
    """Pictures as worlds take them: of a first family a query and eight look-alikes, of the
    others one catalogue picture."""
    is_first = family.number == TESTED
    kept: dict[str, list[Any]] = {"plain": [], "plain_of": [], "ego": [], "ego_of": [], "box": []}
    draw = Draws("test", *family)
    for n in range(is_first):
        variant = QUERY
        near = round(draw(f"near{n}", *NEARNESS), 3)
        scene = row(family, [variant], size=SIZES[0], is_ego=True, key=f"q{family}{n}",
                    clutter=CLUTTER, entity_scale=near)  # fmt: skip
        shot = compose(scene)
        kept["ego"].append(shot.image)
        kept["ego_of"].append(variant)
        ys, xs = np.nonzero(shot.masks[0]) if shot.masks[0].any() else ([0, 1], [0, 1])
        kept["box"].append((min(xs), min(ys), max(xs) + 1, max(ys) + 1))
    variants = [*range(LOOK_ALIKES_TESTED), QUERY] if is_first else [0]
    for n, variant in enumerate(variants):
        scene = row(family, [variant], size=(SIZES[1],) * 2, is_ego=False, key=f"k{family}{n}",
                    legible=draw.chance(f"legible{n}", 0.5))  # fmt: skip
        kept["plain"].append(compose(scene).image)
        kept["plain_of"].append(variant)
    sort = {"plain": np.uint8, "ego": np.uint8}
    return {k: np.array(v, sort.get(k, np.int16)) for k, v in kept.items()}


# --- both ------------------------------------------------------------------------------------


def render(out: Path, todo: list[Family], *, what: str) -> None:
    """Write the parts that are not there yet."""
    from mmrag.errors import MmragError

    cv2.setNumThreads(1)
    make = views if what == "train" else test_views
    start, done = time.time(), 0
    for family in todo:
        path = out / f"{family.kind}-{family.number}.npz"
        if path.exists():
            continue
        try:
            found = make(family)
        except MmragError as error:
            print(f"{family.kind} {family.number} left out: {error}", flush=True)
            continue
        draft = path.with_suffix(".part")
        with draft.open("wb") as file:
            np.savez(file, **found)
        draft.rename(path)
        done += 1
        if done % 10 == 0:
            print(f"{done} families, {time.time() - start:.0f} s, {time.process_time():.0f} s of "
                  "processor time", flush=True)  # fmt: skip


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("train", "test"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--rounds", type=int, default=12, help="Families of each kind.")
    parser.add_argument("--part", default="0/1", help="i/n: every n-th family from the i-th on.")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.what == "train":
        seen = [k for kinds in KINDS.values() for k in kinds if k not in unseen_kinds()]
        todo = families(FAMILIES.start, given.rounds, seen)
    else:
        todo = families(TESTED, 1 + OTHERS_TESTED)
        random.Random(7).shuffle(todo)  # any beginning of the list is a fair test
        todo.sort(key=lambda f: f.number == TESTED and f.kind not in unseen_kinds())
    part, parts = (int(n) for n in given.part.split("/"))
    render(given.out, todo[part::parts], what=given.what)


if __name__ == "__main__":
    main()
