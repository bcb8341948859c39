"""Data sets: readers that turn what lies on disk or on a hub into `Session`s.

`open_data` takes what the command line takes: `mini`, a folder or a file whose reader is known by
what is in it, or `READER:PLACE`. Other packages add readers by the entry-point group
`mmrag.readers`: a function of a place (text) and a `ReadOptions`.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import SpecError
from mmrag.registry import Registry
from simulator.datasets.read_options import ReadOptions

if TYPE_CHECKING:
    from simulator.datasets.session_source import SessionSource

KNOWN = (
    "mini, the folder of a world, crag-mm:FOLDER-OR-HUB-ID, a run to ask again, or data of your "
    "own: a .jsonl or .csv file, or a Hugging Face folder (docs/data.md)"
)

readers: Registry[SessionSource] = Registry(
    "reader of data sets",
    group="mmrag.readers",
    builtin={
        "world": "simulator.world.sessions:open_world",
        "crag-mm": "simulator.datasets.papers.crag_mm:open_crag_mm",
        "jsonl": "simulator.datasets.own.own_data:open_jsonl",
        "csv": "simulator.datasets.own.own_data:open_csv",
        "hf": "simulator.datasets.own.own_data:open_table",
        "album": "simulator.datasets.own.album:open_album",
        "garage": "simulator.datasets.papers.garage_questions:open_garage",
        "crag-mm-diagnostics": "simulator.datasets.papers.crag_mm_diagnostics:open_diagnostics",
        "crag": "simulator.datasets.papers.crag:open_crag",
        "crud": "simulator.datasets.papers.crud_rag:open_crud",
        "run": "simulator.exchange.run_as_data:open_run",
    },
)


def open_data(
    spec: str,
    *,
    split: str = "multi-turn",
    as_captured: bool = False,
    without: tuple[str, ...] = (),
    allow_private_urls: bool = False,
    as_kit: str = "none",
    pictures: str = "",
) -> SessionSource:
    """Open a data set by name. Nothing is read but what describes it.

    A world gives its clean pictures unless `as_captured` asks for the published mix of qualities,
    so that a degradation put on top is the only one. `without` leaves out what is settled by a way
    that the assistant is not given. `pictures` is where the pictures of data of
    one's own lie, if not beside them.
    """
    name, place = reader_of(spec)
    if as_kit != "none" and name != "crag-mm":
        raise SpecError(f"--as-kit {as_kit} is for crag-mm:FOLDER-OR-HUB-ID; {spec!r} is another.")
    if pictures and name not in _OWN:
        raise SpecError(f"--pictures is for data of your own; {spec!r} brings its pictures.")
    reading = ReadOptions(
        split=split,
        as_captured=as_captured,
        without=without,
        allow_private_urls=allow_private_urls,
        as_kit=as_kit,
        pictures=pictures,
    )
    return readers.factory(name)(place, reading)


def reader_of(spec: str) -> tuple[str, str]:
    """(reader, place) of what stands after `--data`."""
    if "\0" in spec:
        raise SpecError(f"--data {spec!r}: no path holds a NUL; take it out.")
    if spec == "mini":
        return "world", "mini"
    name, colon, place = spec.partition(":")
    if colon and not Path(spec).exists() and name in readers.names():
        return name, place
    path = Path(spec)
    if not path.exists():
        raise SpecError(
            f"{spec!r} is not a data set: there is no such file or folder.{suggest_path(path)} "
            f"Give {KNOWN}."
        )
    found = _by_content(path)
    if found is None:
        raise SpecError(f"{spec!r} is not a data set: it holds no world.json, and nothing else "
                        f"that is known. Give {KNOWN}.")  # fmt: skip
    return found, spec


def may_bring_passages(spec: str) -> bool:
    """Whether sessions of this data may bring passages of their own to be searched."""
    return reader_of(spec)[0] not in ("world", "crag-mm", "album")


def reads_an_index_alone(spec: str) -> bool:
    """Whether an index that is given for this data is searched in place of what its rows bring."""
    return reader_of(spec)[0] == "crud"


def asks_for_long_answers(spec: str) -> bool:
    """Whether a wearer's limit of 75 tokens would cut what the questions of this data ask for."""
    return spec.partition(":")[0] in _LONG


_LONG = ("garage", "crud")
_OWN = ("jsonl", "csv", "hf")
_BY_ENDING = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv",
              ".parquet": "hf", ".arrow": "hf"}  # fmt: skip


def _by_content(path: Path) -> str | None:
    if path.is_file():
        return _BY_ENDING.get(path.suffix.lower())
    if (path / "world.json").is_file():
        return "world"
    if (path / "run.sqlite").is_file():
        return "run"
    from simulator.datasets.own.album import ENDINGS

    endings = {file.suffix.lower() for file in path.iterdir() if file.is_file()}
    for ending, name in _BY_ENDING.items():
        if ending in endings:
            return name
    for file in path.rglob("*"):
        if file.suffix in (".parquet", ".arrow"):
            return "hf"
        if file.suffix.lower() in ENDINGS:
            return "album"
    return None


def suggest_path(path: Path) -> str:
    """What beside a path that is not there may have been meant."""
    try:
        names = [other.name for other in path.absolute().parent.iterdir()]
    except OSError:
        return ""
    found = difflib.get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f" Did you mean {path.parent / found[0]}?" if found else ""
