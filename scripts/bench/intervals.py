"""Coverage of intervals, false positives of tests, and speed. Figures: docs/benchmarks/judges.md.

    python scripts/bench/intervals.py [--runs 1000]

Each simulated run draws sessions of 2–6 turns whose outcomes (1, 0, −1) share a session's own
difficulty, so turns are correlated; the truth is known from a very large sample of the same law.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from mmrag.metrics.statistics import (
    bootstrap_replicates,
    cluster_bootstrap,
    cluster_permutation,
    wilson,
)


class World:
    """Sessions with difficulties of their own; two runs on them may differ by `shift`."""

    def __init__(self, rng: np.random.Generator, sessions: int) -> None:
        self.rng = rng
        self.turns = rng.integers(2, 7, sessions)
        self.ids = np.repeat(np.arange(sessions), self.turns)
        self.base = rng.normal(0, 1.2, sessions)

    def run(self, shift: float = 0.2) -> np.ndarray:
        """One system: its own luck with each session on top of the session's difficulty."""
        luck = self.rng.normal(0, 0.7, len(self.turns))
        chance = 1 / (1 + np.exp(-(self.base + luck + shift)[self.ids]))
        draw = self.rng.random(len(self.ids))
        return np.where(draw < 0.9 * chance, 1.0, np.where(draw < 0.9 * chance + 0.1, 0.0, -1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    rng = np.random.default_rng(20260701)
    truth = float(World(rng, 1_000_000).run().mean())
    print(f"true truthfulness {truth:.4f}; {runs} runs each\n")
    coverage(rng, truth, runs)
    false_positives(rng, 4 * runs)
    speed()


def coverage(rng: np.random.Generator, truth: float, runs: int) -> None:
    print("95 % intervals of truthfulness hold the truth")
    for sessions in (30, 100, 400):
        held = naive = 0
        for seed in range(runs):
            world = World(rng, sessions)
            values = world.run()
            found = cluster_bootstrap(values, world.ids, resamples=1_000, seed=seed)
            held += found.low <= truth <= found.high
            alone = np.arange(len(values))
            found = cluster_bootstrap(values, alone, resamples=400, seed=seed)
            naive += found.low <= truth <= found.high
        print(
            f"  {sessions:4} sessions: clusters {held / runs:.1%}, naive turns {naive / runs:.1%}"
        )
    held = dict.fromkeys((10, 40), 0)
    for n in held:
        for _ in range(runs):
            found = wilson(int(rng.binomial(n, 0.83)), n)
            held[n] += found.low <= 0.83 <= found.high
    print("  Wilson, p = 0.83: " + ", ".join(f"n = {n} {held[n] / runs:.1%}" for n in held))


def false_positives(rng: np.random.Generator, runs: int) -> None:
    print(f"\npermutation test, no difference, α = .05: called significant, {runs} runs")
    for sessions in (30, 100, 400):
        hits = naive = 0
        for seed in range(runs):
            world = World(rng, sessions)
            a, b = world.run(), world.run()
            hits += cluster_permutation(a, b, world.ids, resamples=1_000, seed=seed).p <= 0.05
            alone = np.arange(len(a))
            naive += cluster_permutation(a, b, alone, resamples=1_000, seed=seed).p <= 0.05
        excess = naive / runs - 0.05
        print(
            f"  {sessions:4} sessions: clusters {hits / runs:.1%}, "
            f"naive turns {naive / runs:.1%} (excess {excess:+.1%})"
        )


def speed() -> None:
    world = World(np.random.default_rng(1), 2_000)
    values = world.run()
    rng = np.random.default_rng(2)
    masks = rng.random((len(values), 15)) < 0.3
    sums, sizes = np.zeros((2, 2_000, 15))
    np.add.at(sums, world.ids, values[:, None] * masks)
    np.add.at(sizes, world.ids, masks)
    taken = []
    for _ in range(5):
        start = time.process_time()
        bootstrap_replicates(sums, sizes, resamples=10_000)
        taken.append(time.process_time() - start)
    print(
        f"\n10,000 resamples × 2,000 sessions × 15 slices: median {sorted(taken)[2]:.2f} s, "
        f"worst {max(taken):.2f} s of processor time"
    )


if __name__ == "__main__":
    main()
