"""Frames made of numbers, hundreds per second, to measure error rates."""

from __future__ import annotations

import numpy as np

from simulator.reports.read.turn_frame import TurnFrame

SLICES = {
    "quality": ("normal", "low-light", "blurred"),
    "popularity": ("head", "torso", "tail"),
    "query_type": ("simple-knowledge", "multi-hop", "comparison", "aggregation"),
    "domain": ("food", "book", "vehicle", "local", "animal"),
    "dynamism": ("static", "slow-changing", "fast-changing"),
}
PER_SESSION = ("quality", "popularity", "domain")


def make_frame(
    *,
    seed: int,
    answers: int,
    sessions: int = 150,
    turns: int = 4,
    effect: tuple[str, str, float] | None = None,
    spread: float = 0.15,
) -> TurnFrame:
    """A clean run. `seed` makes the sessions, `answers` the outcomes, so that two runs pair."""
    what, luck = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2, answers])
    n = sessions * turns
    session = np.repeat(np.arange(sessions), turns).astype(np.int32)
    columns: dict[str, np.ndarray] = {"session": session, "unit": session}
    for name, values in SLICES.items():
        drawn = what.integers(0, len(values), sessions if name in PER_SESSION else n)
        columns[name] = (drawn[session] if name in PER_SESSION else drawn).astype(np.int32)
    for name in ("text_clue", "is_ego"):
        columns[name] = what.integers(0, 2, sessions)[session].astype(np.int8)
    for name in ("needs_history", "needs_image"):
        columns[name] = what.integers(0, 2, n).astype(np.int8)
    chance = 0.6 + what.normal(0, spread, sessions)[session]
    if effect is not None:
        dimension, value, size = effect
        chance -= size * (columns[dimension] == SLICES[dimension].index(value))
    right = luck.random(n) < chance
    score = np.where(right, 1, np.where(luck.random(n) < 0.4, 0, -1))
    full = np.ones(n, bool)
    columns |= {
        "turn": np.tile(np.arange(turns), sessions).astype(np.int32),
        "condition": np.zeros(n, np.int32), "degradation": np.zeros(n, np.int32),
        "grounding": np.full(n, -1, np.int32), "score": score.astype(np.int8), "asked": full,
        "scored": full, "kept": full
    }  # fmt: skip
    return TurnFrame(
        sessions=[f"s{i}" for i in range(sessions)], conditions=["clean"], columns=columns,
        categories={
            **{name: list(values) for name, values in SLICES.items()}, "condition": ["clean"],
            "degradation": ["clean"], "grounding": []
        },
        starts=np.arange(0, n, turns)
    )  # fmt: skip
