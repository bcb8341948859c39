"""What another processor would change in the world's pictures, measured on this one.

    python scripts/bench/processors.py --count 10

The same scenes twice: as this processor takes them, and with the light's kernels compiled for an
older one (AVX2, eight numbers at a time). The cleaner keeps this processor's instructions: it has
no switch for them.
"""

from __future__ import annotations

import argparse
import ctypes
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from simulator.studio.camera.taking import compose
from simulator.studio.tracing.variant import mitsuba
from simulator.world.facts.look import KINDS as DOMAINS
from simulator.world.facts.look import Look
from simulator.world.pictures.scene import Scene

OLDER = (b"haswell", b"+avx2,+fma", 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10)
    count = parser.parse_args().count
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        (_, here), (named, there) = pool.starmap(taken, [(count, False), (count, True)], 1)
    apart = [np.abs(a.astype(int) - b) for a, b in zip(here, there, strict=True)]
    print(f"this processor: {named}; the other: {OLDER[0].decode()}")
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


def taken(count: int, other: bool) -> tuple[str, list[np.ndarray]]:
    """The pictures, and what the kernels were first to be compiled for."""
    mitsuba()
    library = next(
        line.split()[-1]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "libdrjit-core" in line
    )
    core = ctypes.CDLL(library)
    target = core._Z19jit_llvm_target_cpuv
    target.restype = ctypes.c_char_p
    named = target().decode()
    if other:
        core._Z19jit_llvm_set_targetPKcS0_j(*OLDER)
    kinds = sorted((kind, domain) for domain, kinds in DOMAINS.items() for kind in kinds)
    step = max(1, len(kinds) // count)
    scenes = [
        Scene(
            main=Look(domain=domain, kind=kind, family=2, variant=1, label="Marrow Honey"),
            key=f"processor-{kind}", width=480, height=640,
        )
        for kind, domain in kinds[::step][:count]
    ]  # fmt: skip
    return named, [compose(scene).image for scene in scenes]


if __name__ == "__main__":
    main()
