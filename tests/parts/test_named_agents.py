"""Which agents search, and which find by it what a stage hands over."""

from __future__ import annotations

import pytest

from simulator.parts.named_agents import finds_handed_truth, uses_searches


@pytest.mark.parametrize(
    ("agent", "searches"),
    [
        ("random", False), ("llm-only:model=m", False), ("task1:model=m", True),
        ("faulty:agent=(task1:model=m)", True), ("faulty:agent=random", False),
        ("kit:name=a/B,rag_context=on", True),
    ],
)  # fmt: skip
def test_who_searches_finds_what_is_handed_over(agent: str, searches: bool) -> None:
    assert uses_searches(agent) is finds_handed_truth(agent) is searches
