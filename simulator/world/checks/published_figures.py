"""What CRAG-MM and CRAG publish about their data, as numbers. The world reproduces these."""

from __future__ import annotations

TYPES = (
    "simple-recognition",
    "simple-knowledge",
    "multi-hop",
    "comparison",
    "aggregation",
    "reasoning",
)

SINGLE_TURN: dict[str, tuple[int, int, int, int, int, int]] = {
    "animal": (10, 191, 67, 115, 71, 66),
    "book": (12, 53, 37, 17, 12, 9),
    "food": (35, 312, 108, 132, 99, 85),
    "general object recognition": (26, 210, 82, 74, 43, 50),
    "local": (29, 428, 168, 119, 106, 87),
    "math and science": (61, 62, 16, 17, 18, 20),
    "plants and gardening": (19, 443, 119, 125, 117, 107),
    "shopping": (52, 239, 48, 66, 41, 48),
    "sports and games": (12, 131, 31, 24, 21, 12),
    "style and fashion": (13, 57, 15, 14, 5, 9),
    "text understanding": (170, 113, 15, 10, 21, 18),
    "vehicle": (14, 250, 147, 196, 113, 140),
    "other": (9, 125, 75, 68, 105, 58),
}
"""CRAG-MM, table 3: single-turn questions per domain and type (in the order of `TYPES`)."""

SINGLE_TOTALS = {domain: sum(row) for domain, row in SINGLE_TURN.items()}
"""CRAG-MM, table 3: single-turn questions per domain."""

TYPE_TOTALS = {t: sum(row[i] for row in SINGLE_TURN.values()) for i, t in enumerate(TYPES)}
"""CRAG-MM, table 3: single-turn questions per type."""

MULTI_TURN = {
    "animal": 148, "book": 147, "food": 196, "general object recognition": 184, "local": 181,
    "math and science": 130, "plants and gardening": 118, "shopping": 204, "sports and games": 123,
    "style and fashion": 115, "text understanding": 113, "vehicle": 120, "other": 177,
}  # fmt: skip
"""CRAG-MM, table 3: conversations by the domain of their first turn."""

SESSIONS = {name: SINGLE_TOTALS[name] + MULTI_TURN[name] for name in MULTI_TURN}
"""Pictures (sessions) per domain."""

MEAN_TURNS = 4.9
DOMAIN_SHIFT = 0.38
"""Share of conversations that touch more than one domain."""

DYNAMISM = {"real-time": 0.10, "fast-changing": 0.13, "slow-changing": 0.23, "static": 0.54}
"""CRAG, table 3 (rounded as printed)."""

TORSO_TAIL = 0.21
"""CRAG-MM: share of questions about torso and tail entities."""

EXTERNAL = 0.89
"""CRAG-MM: share of questions that need facts from outside the picture."""

KG_COVERAGE = 0.934
"""CRAG-MM: share of the entities asked about that the image KG holds."""
