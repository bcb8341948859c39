"""Importing somebody's agent, with the true cause when that fails."""

from __future__ import annotations

import importlib
import inspect
import traceback
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from mmrag.errors import SpecError


def load_kit_agent(name: str) -> Any:
    """The class behind `package.module/Class`."""
    module, _, attribute = name.replace("/", ":").rpartition(":")
    if not module or not attribute:
        raise SpecError(f"kit:name={name}: write package.module/Class.")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise SpecError(f"kit:name={name}: {_missing(module, error)}") from error
    except Exception as error:  # whatever somebody else's module does when it is imported
        raise SpecError(
            f"kit:name={name}: importing {module!r} failed with {type(error).__name__}: {error} "
            f"({_place(error)})."
        ) from error
    if not hasattr(loaded, attribute):
        raise SpecError(f"kit:name={name}: {module!r} has no {attribute!r}; {_agents_in(loaded)}")
    return getattr(loaded, attribute)


def _missing(module: str, error: ModuleNotFoundError) -> str:
    """Which of two things is missing: the kit's folder on the path, or a package that it needs."""
    lacking = error.name or ""
    top = lacking.partition(".")[0]
    spec = find_spec(top) if top else None
    if spec is not None:
        where = spec.origin or next(iter(spec.submodule_search_locations or ()), "built in")
        return (
            f"{top!r} is {where.removesuffix('/__init__.py')}, which has no {lacking!r}. If "
            f"another {top!r} is meant, put its folder first on PYTHONPATH."
        )
    if module == lacking or module.startswith(f"{lacking}."):
        return f"nothing called {top!r} is on PYTHONPATH; put the folder that holds it there."
    return f"{module!r} needs {lacking!r}, which is not installed here ({_place(error)})."


def _place(error: BaseException) -> str:
    """The last line of theirs that was run."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"


def _agents_in(module: ModuleType) -> str:
    found = [
        name
        for name, held in vars(module).items()
        if inspect.isclass(held) and hasattr(held, "batch_generate_response")
    ]
    return f"agents in it: {', '.join(sorted(found)) or 'none'}."
