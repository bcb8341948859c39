"""The kinds beside CRAG-MM's five against albumentations and imagecorruptions: processor time.

    python scripts/bench/optics.py [--rounds 9]

Ours and the peer take turns in one process, each the fastest of three calls, one thread; the median
of the rounds counts, so that a busy machine disturbs little. Ours is neither calibrated nor
recorded, since peers do neither. imagecorruptions 1.1.2 is no dependency: where it is not on
PYTHONPATH (`pip install --target FOLDER --no-deps imagecorruptions==1.1.2 "setuptools<80" numba
llvmlite`), its column is empty.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import albumentations
import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from simulator.optics import degrade

Task = Callable[[np.ndarray], Any]
SIZE = (960, 1280)
CALLS = 3


def picture() -> np.ndarray:
    """Noise of every scale, as photographs have."""
    rng, (w, h) = np.random.default_rng(7), SIZE
    layers = [
        cv2.resize(rng.uniform(0, 255, (h // n, w // n, 3)).astype(np.float32), SIZE)
        for n in (1, 8, 64)
    ]
    return np.clip(0.2 * layers[0] + 0.3 * layers[1] + 0.5 * layers[2], 0, 255).astype(np.uint8)


def ours(spec: str) -> Task:
    """A kind as a user calls it, about a thing in the middle."""
    w, h = SIZE
    box = (0.3 * w, 0.3 * h, 0.7 * w, 0.7 * h)
    return lambda i: degrade(i, spec, box, key="bench", calibrated=False, measured=False)


def theirs(transform: Any) -> Task:
    """One of albumentations, as a user calls it."""
    composed = albumentations.Compose([transform], seed=7)
    return lambda i: composed(image=i)["image"]


def corrupted(name: str, severity: int) -> Task | None:
    """One of imagecorruptions, where it is there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from imagecorruptions import corrupt
    except ImportError:
        return None
    return lambda i: corrupt(i, corruption_name=name, severity=severity)


def tasks() -> dict[str, tuple[Task, Task, Task | None]]:
    """Kind → ours, albumentations' nearest, imagecorruptions' nearest, each as strong as ours."""
    sizes = {"downscale": cv2.INTER_AREA, "upscale": cv2.INTER_LINEAR}
    return {
        "resampled:soft": (
            ours("resampled:soft@3"),
            theirs(albumentations.Downscale((0.25, 0.25), sizes, p=1)),
            corrupted("pixelate", 5),
        ),
        "codec:jpeg": (
            ours("codec:jpeg@3"),
            theirs(albumentations.ImageCompression("jpeg", (10, 10), p=1)),
            corrupted("jpeg_compression", 4),
        ),
        "denoised": (ours("denoised@3"), theirs(albumentations.MedianBlur((31, 31), p=1)), None),
        "wb": (ours("wb:warm@3"), theirs(albumentations.PlanckianJitter(p=1)), None),
        "flare": (
            ours("flare@3"),
            theirs(
                albumentations.RandomSunFlare((0.69, 0.04, 0.7, 0.05), method="physics_based", p=1)
            ),
            None,
        ),
    }


def fastest(task: Task, image: np.ndarray) -> float:
    """Milliseconds of processor time."""
    spent: list[float] = []
    for _ in range(CALLS):
        start = time.process_time()
        task(image)
        spent.append(1000 * (time.process_time() - start))
    return min(spent)


def main() -> None:
    """Print a table: milliseconds, and how many times as fast ours is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    cv2.setNumThreads(1)
    image = picture()
    print(f"load {os.getloadavg()[0]:.1f}, {SIZE[0]}×{SIZE[1]}, {rounds} rounds")
    print("| ours | ms | albumentations | imagecorruptions |\n|---|--:|--:|--:|")
    for name, sides in tasks().items():
        there = [side for side in sides if side is not None]
        for side in there:
            side(image)
        taken = [[fastest(side, image) for side in there] for _ in range(rounds)]
        mine = statistics.median(one[0] for one in taken)
        ratios = [
            f"{statistics.median(one[at] / one[0] for one in taken):.2f}×"
            for at in range(1, len(there))
        ]
        print(f"| {name} | {mine:.1f} | {' | '.join([*ratios, ''][:2])} |", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
