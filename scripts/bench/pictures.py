"""How fast pictures are painted and encoded: `python scripts/bench/pictures.py [--count 86]`."""

from __future__ import annotations

import argparse
import time
from multiprocessing import get_context

import cv2
import numpy as np

from simulator.world.facts.look import KINDS, Look
from simulator.world.pictures.renderer import encode_jpeg, render
from simulator.world.pictures.scene import Scene


def scenes(count: int, start: int = 0) -> list[Scene]:
    pairs = [(domain, kind) for domain, kinds in KINDS.items() for kind in kinds]
    return [
        Scene(
            main=Look(domain=d, kind=k, family=n, variant=n, label=f"Corvane {n}"),
            key=f"bench-{n}",
            legible=n % 2 == 0,
        )
        for n in range(start, start + count)
        for d, k in (pairs[n % len(pairs)],)
    ]


def work(batch: list[Scene]) -> tuple[list[float], float]:
    """Seconds of CPU of each picture, and wall seconds of the batch, once caches are warm."""
    cv2.setNumThreads(1)
    for scene in scenes(43, start=10_000):
        render(scene)
    spent: list[float] = []
    wall = time.perf_counter()
    for scene in batch:
        began = time.thread_time()
        encode_jpeg(render(scene).image)
        spent.append(time.thread_time() - began)
    return spent, time.perf_counter() - wall


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=86)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    batches = [scenes(given.count, start=k * given.count) for k in range(given.workers)]
    with get_context("spawn").Pool(given.workers) as pool:
        done = pool.map(work, batches, chunksize=1)
    spent = sorted(second for seconds, _ in done for second in seconds)
    rate = sum(len(seconds) / wall for seconds, wall in done)
    print(f"workers {given.workers}, pictures {len(spent)}, 960 × 1280, JPEG 90")
    print(
        f"CPU ms per picture: median {np.median(spent) * 1e3:.0f}, "
        f"mean {np.mean(spent) * 1e3:.0f}, p95 {spent[int(len(spent) * 0.95)] * 1e3:.0f}"
    )
    print(f"pictures per second, wall clock: {rate:.1f}")
    print(f"pictures per second by CPU time: {given.workers / np.mean(spent):.1f}")


if __name__ == "__main__":
    main()
