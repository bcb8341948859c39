"""mmrag: put an assistant for smart glasses into conversations, and measure how truthful it stays.

::

    import mmrag

    run = mmrag.evaluate("grounded", limit=20)
    run.score()

docs/python.md has every public name. This package holds assistants, their searches, judges and
measures; the names that run and report conversations live in `simulator`, which imports this
package. They are found by entry point when first used, so that imports point one way.
"""

from __future__ import annotations

from typing import Any

_GROUP = "mmrag.python"


def _interface() -> Any:
    from importlib.metadata import entry_points

    for point in entry_points(group=_GROUP):
        return point.load()
    raise AttributeError("mmrag is not installed here; run `pip install -e .` once.")


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        module = _interface()
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_interface().__all__})
