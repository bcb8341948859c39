"""Ask every endpoint of a run one question before its first turn.

A key that is missing, a host that is unknown, a parameter that a server refuses: each would fail
turn after turn, for an hour. Asked once beforehand, it is one line within ten seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from mmrag.errors import SpecError
from mmrag.registry import Spec

SECONDS = 10.0


@runtime_checkable
class CanBeProbed(Protocol):
    """A model that can tell cheaply whether it would answer."""

    async def probe(self, seconds: float) -> None:
        """Raise what every question would meet."""
        ...


async def probe_models(*specs: str) -> None:
    """Probe the models that these specs of agents and judges name, all at once."""
    from mmrag.models import models

    named = dict.fromkeys(found for spec in specs for found in _models_in(spec))
    made = [models.create(spec) for spec in named if spec.partition(":")[0] == "openai"]
    work = [model.probe(SECONDS) for model in made if isinstance(model, CanBeProbed)]
    await asyncio.gather(*work)


def _models_in(text: str) -> Iterator[str]:
    """Whatever in a spec, however deep, is itself the spec of a model."""
    from mmrag.models import models

    try:
        spec = Spec.parse(text)
    except SpecError:
        return
    if spec.name in models.names():
        yield text
        return
    for value in spec.options.values():
        for part in (value, *value.split("+")):  # a panel's judges
            yield from _models_in(part.strip())
