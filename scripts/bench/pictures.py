"""What pictures cost: `python scripts/bench/pictures.py [--count 100] [--side 384]`.

Processor seconds of whole pictures (staging, tracing, cleaning, developing, masks) once the
kernels are known, and the most memory the process ever held. `--ocr` also reads every picture with
RapidOCR: names that are meant to be read, and names that are not.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

import numpy as np

from mmrag.errors import SpecError
from simulator.studio.camera.scene_to_picture import compose
from simulator.studio.things.kinds import KINDS as BUILT
from simulator.world.facts.look import KINDS, LABELLED, Look
from simulator.world.pictures.scene import Scene

NAMES = ("Bellwick Quellmoor", "Corvane", "Marrel Torvick", "The Glass Orchard")


def main() -> None:
    """Print medians, and what is read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--side", type=int, help="catalogue pictures of so many pixels instead")
    parser.add_argument("--ocr", action="store_true")
    given = parser.parse_args()
    spent: list[float] = []
    read: dict[bool, list[bool]] = {True: [], False: []}
    for number in range(-6, given.count):
        scene = scene_of(number, given.side)
        began = _seconds()
        try:
            shown = compose(scene)
        except SpecError as error:
            print(f"{scene.main.kind}: {error}")
            continue
        if number >= 0:  # the first ones compile kernels
            spent.append(_seconds() - began)
        if given.ocr and scene.main.kind in LABELLED:
            read[scene.legible].append(is_read(shown.image, scene.main.label or ""))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(
        f"{len(spent)} pictures: median {np.median(spent):.2f} s of processor time, 95th "
        f"percentile {np.percentile(spent, 95):.2f} s, {usage.ru_maxrss / 1024:.0f} MB"
    )
    for legible, found in read.items():
        if found:
            print(f"{'meant' if legible else 'not meant'} to be read: {sum(found)} of {len(found)}")


def scene_of(number: int, side: int | None) -> Scene:
    """One of many scenes: kinds in turn, one to three things, as a world's sessions have them."""
    pairs = sorted((d, k) for d, kinds in KINDS.items() for k in kinds if k in BUILT)
    domain, kind = pairs[number * 7 % len(pairs)]

    def look(family: int) -> Look:
        name = NAMES[family % len(NAMES)]
        return Look(domain=domain, kind=kind, family=family, variant=number % 8, label=name)

    others = tuple(look(number + 1 + n) for n in range((0, 0, 1, 0, 2)[number % 5]))
    if side:
        return Scene(
            main=look(number), is_ego=False, legible=number % 2 == 0, key=f"bench/{number}",
            width=side, height=side,
        )  # fmt: skip
    return Scene(
        main=look(number), others=others, legible=number % 2 == 0, key=f"bench/{number}",
        width=720, height=960, entity_scale=0.44, clutter=0.9,
    )  # fmt: skip


def is_read(image: Any, name: str) -> bool:
    """Whether RapidOCR finds every word of a name, nearly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, _ = reader()(np.ascontiguousarray(image[..., ::-1]))
    text = "".join(line[1] for line in found or []).lower().replace(" ", "")
    return all(
        any(
            SequenceMatcher(None, word, text[i : i + len(word)]).ratio() >= 0.8
            for i in range(max(len(text) - len(word) + 1, 1))
        )
        for word in name.lower().split()
    )


@lru_cache(maxsize=1)
def reader() -> Any:
    """RapidOCR."""
    from rapidocr_onnxruntime import RapidOCR

    return RapidOCR(intra_op_num_threads=1)


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
