"""Ask every endpoint of a run one question before its first turn.

A key that is missing, a host that is unknown, a parameter that a server refuses: each would fail
turn after turn, for an hour. Asked once beforehand, it is one line within ten seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from mmrag.errors import SpecError
from mmrag.protocols import GenerateOptions, Judge
from mmrag.registry import Spec

SECONDS = 10.0


@runtime_checkable
class CanBeProbed(Protocol):
    """A model that can tell cheaply whether it would answer."""

    async def probe(
        self, seconds: float, options: GenerateOptions = ..., *, picture: bool = False
    ) -> None:
        """Raise what every question would meet that is asked with these options, and a picture."""
        ...


async def probe_models(agent: str, judge: str, *, pictures: Callable[[], bool]) -> None:
    """Probe the models that these specs name, all at once, as they will be asked: a judge names a
    seed, an agent shows the picture where the data has `pictures`, which is asked only then."""
    from mmrag.models import models

    async def ask(spec: str, options: GenerateOptions, *, picture: bool) -> None:
        model = models.create(spec)
        if isinstance(model, CanBeProbed):
            await model.probe(SECONDS, options, picture=picture)

    asked = _endpoints(agent)
    shown = bool(asked) and pictures()
    work = [ask(spec, GenerateOptions(), picture=shown) for spec in asked]
    work += [ask(spec, GenerateOptions(seed=0), picture=False) for spec in _endpoints(judge)]
    await asyncio.gather(*work)


def ready_judge(spec: str) -> Judge:
    """The judge that a spec names, whose endpoints answer."""
    from mmrag.judges import make_judge
    from simulator.terminal.event_loops import run_to_end

    judge = make_judge(spec)
    run_to_end(probe_models("", spec, pictures=lambda: False))
    return judge


def _endpoints(text: str) -> list[str]:
    return [spec for spec in dict.fromkeys(_models_in(text)) if Spec.parse(spec).name == "openai"]


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
        for part in value.split("+") if spec.name == "panel" else [value]:
            yield from _models_in(part.strip())
