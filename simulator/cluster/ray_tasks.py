"""Work that machines share without speaking to each other: a task of Ray for each shard."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mmrag.files.shards import Shard
from simulator.cluster.machines import Machines
from simulator.cluster.ray_connection import connected, in_our_words, load_ray

RETRIES = 3
"""Of a task whose process or machine died: a shard goes on where it stopped."""


def in_shards(
    work: Callable[[Shard], object],
    machines: Machines,
    *,
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
) -> None:
    """Return when every shard is done, as many as there are workers; the first error ends all.

    `work` is a function of a module, with what it is given: each machine calls its own copy.
    """
    ray = load_ray()
    with connected(machines, workers=machines.workers or 1):
        count = machines.workers or int(ray.cluster_resources().get("CPU", 1))
        task = ray.remote(_one).options(num_cpus=1, num_gpus=machines.gpus, max_retries=RETRIES)
        folder, shards = str(Path.cwd()), [Shard(n + 1, count) for n in range(count)]
        left: list[Any] = [task.remote(work, folder, shard) for shard in shards]
        on_progress("shards", 0, count)
        while left:
            done, left = ray.wait(left)
            with in_our_words():
                ray.get(done)
            on_progress("shards", count - len(left), count)


def _one(work: Callable[[Shard], object], folder: str, shard: Shard) -> None:
    os.chdir(folder)
    work(shard)
