"""The studio: it takes the pictures of a world, and knows of the world only what a scene says.

Its packages come with `mmrag[studio]`; nothing but new pictures needs them.
"""

from __future__ import annotations

from importlib.util import find_spec

from mmrag.errors import Unavailable

PACKAGES = {
    "mitsuba": "mitsuba",
    "pyoidn": "pyoidn",
    "skimage": "scikit-image",
    "matplotlib": "matplotlib",
}
"""Modules of the extra, and what the packages that hold them are called."""

INSTALL = "pip install 'mmrag[studio]'"


def check_packages() -> None:
    """Raise `Unavailable`, naming the extra, unless every package of the studio is there."""
    missing = [package for module, package in PACKAGES.items() if not _is_there(module)]
    if missing:
        raise Unavailable(
            f"new pictures of a world need the studio ({', '.join(missing)} not found): run "
            f"`{INSTALL}`; worlds that have their pictures, and worlds of text, do without."
        )


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
