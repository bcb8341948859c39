"""Packages that only some doors need: an extra brings them."""

from __future__ import annotations

from importlib.util import find_spec

from mmrag.errors import Unavailable


def require_package(package: str, extra: str, use: str) -> None:
    """Refuse in one line that names the cure where a package is not installed."""
    if find_spec(package) is None:
        raise Unavailable(f"{use} needs {package}: pip install 'mmrag[{extra}]'.")
