"""What another processor would change in the world's pictures, measured on this one.

    python scripts/bench/processors.py --count 10

The same scenes twice: as this processor takes them, and with the light's kernels compiled for an
older one (AVX2, eight numbers at a time). The cleaner keeps this processor's instructions: it has
no switch for them.
"""

from __future__ import annotations

import argparse
import os
from multiprocessing import get_context

import numpy as np

from simulator.studio.camera.taking import compose
from simulator.world.facts.look import KINDS as DOMAINS
from simulator.world.facts.look import Look
from simulator.world.pictures.scene import Scene


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10)
    count = parser.parse_args().count
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        here, there = pool.starmap(taken, [(count, False), (count, True)], 1)
    apart = [np.abs(a.astype(int) - b) for a, b in zip(here, there, strict=True)]
    shares = sorted(float(np.mean(one > 0)) for one in apart)
    most = sorted(int(one.max()) for one in apart)
    means = sorted(float(one.mean()) for one in apart)
    print(f"scenes with other bytes: {sum(share > 0 for share in shares)} of {count}")
    for name, what, as_text in (
        ("values that differ", shares, "{:.2%}"),
        ("largest difference, of 255", most, "{:d}"),
        ("mean difference, of 255", means, "{:.4f}"),
    ):
        low, middle, high = (as_text.format(what[i]) for i in (0, len(what) // 2, -1))
        print(f"{name}: median {middle}, {low} to {high}")


def taken(count: int, other: bool) -> list[np.ndarray]:
    """The pictures, by this processor's kernels or the other's."""
    if other:
        os.environ["MMRAG_KERNELS"] = "avx2"
    kinds = sorted((kind, domain) for domain, kinds in DOMAINS.items() for kind in kinds)
    step = max(1, len(kinds) // count)
    scenes = [
        Scene(
            main=Look(domain=domain, kind=kind, family=2, variant=1, label="Marrow Honey"),
            key=f"processor-{kind}", width=480, height=640,
        )
        for kind, domain in kinds[::step][:count]
    ]  # fmt: skip
    return [compose(scene).image for scene in scenes]


if __name__ == "__main__":
    main()
