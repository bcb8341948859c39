"""Durable turns a second, on the disk and in memory, and what is left of the ideal at 200 ms.

    python scripts/bench/engine.py [--memory /dev/shm]

Medians of several runs in one process, 64 conversations at once, a picture of 355 KiB in each; the
folders of the runs are temporary.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from mmrag.files.images import LazyImage
from mmrag.judges.simple import FixedJudge
from mmrag.metrics.scoring_protocols import score
from mmrag.records import Capture, Query, Reference, Reply, Session, Turn
from simulator.run.results.run_scoring import ScoreOptions, turns_of
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


def jpeg(seed: int) -> bytes:
    rng = np.random.Generator(np.random.Philox(seed))
    small = rng.integers(0, 255, (40, 30, 3), dtype=np.uint8)
    big = Image.fromarray(small).resize((960, 1280), Image.Resampling.BICUBIC)
    noisy = np.asarray(big).astype(np.int16) + rng.integers(-12, 12, (1280, 960, 3))
    buffer = io.BytesIO()
    Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def sessions(n: int, pictures: list[bytes]) -> Iterator[tuple[int, Session]]:
    for i in range(n):
        # every session its own picture: a few bytes after the end marker change the hash
        data = pictures[i % len(pictures)] + i.to_bytes(4, "big")
        yield (
            i,
            Session(
                id=f"session-{i:06d}",
                capture=Capture(image=LazyImage.from_bytes(data)),
                turns=tuple(
                    Turn(
                        index=j,
                        id=f"{i}-{j}",
                        query=f"What is the {j}th thing that can be said about number {i}?",
                        reference=Reference(text=f"It is {i * 7 + j} of them."),
                    )
                    for j in range((6, 3, 4, 5, 6)[i % 5])
                ),
            ),
        )


class Instant:
    """Answers at once, or after some seconds; may look at each conversation's picture first."""

    def __init__(self, *, decodes: bool = False, seconds: float = 0.0) -> None:
        self.decodes = decodes
        self.seconds = seconds

    async def answer(self, query: Query) -> Reply:
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if self.decodes and query.turn_index == 0:
            assert query.image is not None
            await asyncio.to_thread(query.image.pil)
        return Reply(text="It is 42 of them, more or less.")


def hold(folder: Path, n: int, pictures: list[bytes], agent: Instant | None = None) -> None:
    with RunStore(folder) as store:
        store.set_meta("judge", FixedJudge().id)
        plan = Plan(concurrency=64)
        work = run_sessions(sessions(n, pictures), agent or Instant(), FixedJudge(), store, plan)
        asyncio.run(work)


def scored(folder: Path) -> int:
    with RunReader(folder) as reader:
        figures = score(turns_of(reader, ScoreOptions()), "strict", resamples=0)["all"]
    assert figures["accuracy"] == 1.0
    return figures["total"]


def rate(place: Path, n: int, pictures: list[bytes], agent: Instant) -> float:
    """Turns a second by the clock: asked, judged, on the disk, scored."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        began = time.perf_counter()
        hold(Path(folder) / "run", n, pictures, agent)
        return scored(Path(folder) / "run") / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), metavar="FOLDER")
    args = parser.parse_args()
    pictures = [jpeg(i) for i in range(8)]
    for name, place in (("disk", Path(tempfile.gettempdir())), ("memory", args.memory)):
        for what, decodes in (("", False), (", pictures decoded", True)):
            agent = Instant(decodes=decodes)
            rates = [rate(place, args.sessions, pictures, agent) for _ in range(args.repeats)]
            middle = statistics.median(rates)
            print(f"{name}{what}: {middle:,.0f} turns/s (least {min(rates):,.0f})")
    slow = rate(Path(tempfile.gettempdir()), 2 * args.sessions, pictures, Instant(seconds=0.2))
    print(f"200 ms, 64 at once: {slow * 0.2 / 64:.1%} of the ideal")


if __name__ == "__main__":
    main()
