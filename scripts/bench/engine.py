"""Where the time of a durable turn goes: on the disk and in memory, large and small pictures.

    python scripts/bench/engine.py --layers /dev/shm

Every figure is the median of several runs in one process; the folders of the runs are temporary.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
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
    async def answer(self, query: Query) -> Reply:
        return Reply(text="It is 42 of them, more or less.")


def hold(folder: Path, n: int, pictures: list[bytes]) -> None:
    with RunStore(folder) as store:
        store.set_meta("judge", FixedJudge().id)
        plan = Plan(concurrency=64)
        asyncio.run(run_sessions(sessions(n, pictures), Instant(), FixedJudge(), store, plan))


def scored(folder: Path) -> int:
    with RunReader(folder) as reader:
        figures = score(turns_of(reader, ScoreOptions()), "strict", resamples=0)["all"]
    assert figures["accuracy"] == 1.0
    return figures["total"]


def layers(memory: Path, count: int, pictures: list[bytes], repeats: int) -> None:
    """Print a turn's time, on the disk and in memory, with large and with small pictures."""
    on_disk = Path(tempfile.gettempdir())
    for place, where in ((on_disk, "disk"), (memory, "memory")):
        for sent, size in ((pictures, "355 KiB"), ([pictures[0][:2048]], "2 KiB")):
            walls: list[float] = []
            cpus: list[float] = []
            for _ in range(repeats):
                with tempfile.TemporaryDirectory(dir=place) as folder:
                    wall, cpu = time.perf_counter(), time.process_time()
                    hold(Path(folder) / "run", count, sent)
                    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                    turns = scored(Path(folder) / "run")
                walls.append(wall / turns * 1e6)
                cpus.append(cpu / turns * 1e6)
            print(f"{where}, pictures of {size}: {statistics.median(walls):.0f} µs a turn, "
                  f"{statistics.median(cpus):.0f} of them of a processor")  # fmt: skip
    for size, what in ((4096, "4 KiB"), (355 * 1024, "355 KiB")):
        with tempfile.NamedTemporaryFile(dir=on_disk) as file:
            began = time.perf_counter()
            for _ in range(300):
                file.write(b"x" * size)
                file.flush()
                os.fsync(file.fileno())
            each = (time.perf_counter() - began) / 300 * 1e6
        print(f"the disk itself, {what} written and synced: {each:.0f} µs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--layers", type=Path, metavar="FOLDER-IN-MEMORY", required=True)
    args = parser.parse_args()
    layers(args.layers, args.sessions, [jpeg(i) for i in range(8)], args.repeats)


if __name__ == "__main__":
    main()
