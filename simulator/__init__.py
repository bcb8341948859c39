"""The simulator: show an assistant what smart glasses see, and measure how truthful it stays.

::

    from simulator import evaluate

    run = evaluate("grounded", limit=20)
    run.score()

docs/python.md has every name of this interface, with an example each. Nothing is loaded before it
is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmrag.errors import MmragError
    from mmrag.records import Query, Reply
    from simulator.application.evaluate import evaluate
    from simulator.application.measure_run_or_file import Measured
    from simulator.application.scores import Comparison, Scores
    from simulator.application.stored_run import Run, load_run
    from simulator.glasses.wearer_env import WearerEnv
    from simulator.optics import degrade
    from simulator.optics.albumentations import Degrade

__all__ = [
    "Comparison",
    "Degrade",
    "Measured",
    "MmragError",
    "Query",
    "Reply",
    "Run",
    "Scores",
    "WearerEnv",
    "degrade",
    "evaluate",
    "load_run",
]

_PLACES = {
    "Comparison": "simulator.application.scores",
    "Degrade": "simulator.optics.albumentations",
    "Measured": "simulator.application.measure_run_or_file",
    "MmragError": "mmrag.errors",
    "Query": "mmrag.records",
    "Reply": "mmrag.records",
    "Run": "simulator.application.stored_run",
    "Scores": "simulator.application.scores",
    "WearerEnv": "simulator.glasses.wearer_env",
    "degrade": "simulator.optics",
    "evaluate": "simulator.application.evaluate",
    "load_run": "simulator.application.stored_run",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
