"""A circuit whose turns have all gone elsewhere."""

from __future__ import annotations

import asyncio
import gc

from mmrag.models.circuit_breaker import IN_A_ROW, Circuit


async def left_alone() -> list[dict[str, object]]:
    """What the loop complains of after nobody came back and nobody waited."""
    told: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))

    async def nobody() -> bool:
        return False

    circuit = Circuit("http://here", nobody, patience=0.01)
    circuit.answered()
    for _ in range(IN_A_ROW):
        circuit.refused()
    assert circuit.is_open
    await asyncio.sleep(0.5)
    del circuit
    gc.collect()
    return told


def test_waiting_in_vain_for_nobody_is_no_error() -> None:
    assert asyncio.run(left_alone()) == []
