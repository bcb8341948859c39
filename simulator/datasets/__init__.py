"""Data sets: readers that turn what lies on disk or on a hub into `Session`s.

`open_data` takes what the command line takes: `mini`, a world folder, or
`crag-mm:PATH-OR-HUB-ID`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import SpecError

if TYPE_CHECKING:
    from simulator.run.runner import SessionSource

KNOWN = "mini, the folder of a world, or crag-mm:FOLDER-OR-HUB-ID"


def open_data(
    spec: str,
    *,
    split: str = "multi-turn",
    as_captured: bool = False,
    allow_private_urls: bool = False,
    as_kit: str = "none",
) -> SessionSource:
    """Open a data set by name. Nothing is read but what describes it.

    A world gives its clean pictures unless `as_captured` asks for the published mix of qualities,
    so that a degradation put on top is the only one.
    """
    if spec.startswith("crag-mm:"):
        from simulator.datasets.crag_mm import CragMM

        place = spec.removeprefix("crag-mm:")
        if place and Path(place).exists():  # else it is an id on the Hub
            place = str(Path(place).absolute())  # an agent may change the working directory
        return CragMM(place, split=split, allow_private=allow_private_urls, as_kit=as_kit)
    if as_kit != "none":
        raise SpecError(f"--as-kit {as_kit} is for crag-mm:FOLDER-OR-HUB-ID; {spec!r} is another.")
    from simulator.datasets.world import World, mini_folder

    folder = mini_folder() if spec == "mini" else Path(spec).absolute()
    if not (folder / "world.json").is_file():
        raise SpecError(f"{spec!r} is no data set: there is no world.json in it. Give {KNOWN}.")
    return World(folder, split=split, pictures="captured" if as_captured else "clean")
