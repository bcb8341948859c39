"""Physical twins of a world's pictures: one session table per condition, and one of them clean.

A table has the columns of the world's own, so that whatever reads the world reads the twins; the
sessions are the same, and only the picture was taken again. What was written stays when a build is
interrupted, and machines can share one by shards.
"""

from __future__ import annotations

import hashlib
import shutil
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from mmrag.errors import ConflictError, DataError, SpecError
from mmrag.files.atomic import owning, write_bytes
from mmrag.files.shards import Shard
from mmrag.records import Polygon
from simulator.optics.shape.geometry import bounds
from simulator.world.build import table_parts
from simulator.world.build.folder import Progress
from simulator.world.build.table_parts import (
    IMAGE_QUALITY,
    SPLITS,
    columns_without_pictures,
    plain_quality,
)
from simulator.world.build.workers import check_workers, in_processes
from simulator.world.build.world_manifest import read_manifest

if TYPE_CHECKING:
    from simulator.world.pictures.scene import Sitting

QUALITY = {"out-of-focus": "blurred"}
"""Quality labels of twins whose kind is no label itself."""

_REQUEST = "request.json"


class Conditions(NamedTuple):
    """What is to happen to every picture, and of which sessions."""

    world: Path
    split: str
    kinds: tuple[str, ...]
    severities: tuple[int, ...]
    limit: int | None = None

    @property
    def names(self) -> list[str]:
        """`clean`, then each kind at each severity, as in `low-light@3`."""
        return ["clean", *(f"{kind}@{s}" for kind in self.kinds for s in self.severities)]


def build_twins(
    asked: Conditions,
    out: Path,
    *,
    workers: int = 1,
    shard: Shard | None = None,
    progress: Progress = lambda *_: None,
) -> list[Path]:
    """Write `out/CONDITION.parquet` for every condition; of a shard only its parts, beside it."""
    check_workers(workers)
    _check(asked)
    if out.exists() and any(out.iterdir()):
        raise ConflictError(f"{out} is not empty; choose another name with --out.")
    places = [place for place, row in enumerate(_rows(asked)) if row["is_ego"]]
    staging = out.parent / f".{out.name}.building"
    identity = msgspec.json.encode(
        {**asked._asdict(), "world": read_manifest(asked.world)["fingerprint"]}
    )
    with owning(staging, shared=shard is not None):
        request = staging / _REQUEST
        if request.exists() and request.read_bytes() != identity:
            raise ConflictError(
                f"{staging} holds interrupted twins of other options. Finish them with their own, "
                "or delete that folder."
            )
        write_bytes(request, identity)
        mine = [p for n, p in enumerate(places) if shard is None or shard.has(n)]
        left = [
            p for p in mine if not all(_part(staging, name, p).exists() for name in asked.names)
        ]
        progress("twins", len(mine) - len(left), len(mine))
        done = len(mine) - len(left)
        for _ in in_processes(_work, left, workers, _prepare, (asked, staging)):
            done += 1
            progress("twins", done, len(mine))
        if shard is not None:
            return []
        whole = staging / "whole"
        whole.mkdir(exist_ok=True)
        for name in asked.names:
            parts = [_part(staging, name, place) for place in places]
            table_parts.join_parts(parts, whole / f"{name}.parquet", asked.split)
        if out.exists():
            out.rmdir()  # checked to be empty
        whole.rename(out)
    shutil.rmtree(staging)
    return [out / f"{name}.parquet" for name in asked.names]


def _check(asked: Conditions) -> None:
    from simulator.world.pictures.scene import TWINS, renderer

    manifest = read_manifest(asked.world)
    if asked.split not in SPLITS:
        raise SpecError(f"a world has no split {asked.split!r}; there is {' and '.join(SPLITS)}.")
    if not manifest["request"]["pictures"]:
        raise SpecError(f"{asked.world} was written with --text-only: there is nothing to retake.")
    for kind in asked.kinds:
        if kind not in TWINS:
            raise SpecError(f"no physical twin {kind!r}; there are {', '.join(TWINS)}.")
    for severity in asked.severities:
        if severity not in range(1, 6):
            raise SpecError(f"a severity of {severity} does not exist; give 1 to 5.")
    renderer().check()


@lru_cache(maxsize=1)
def _rows(asked: Conditions) -> list[dict[str, Any]]:
    """The session rows, without their pictures."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(asked.world / f"{asked.split}.parquet") as file:
        table = file.read(columns_without_pictures(file.schema_arrow))
    return table.slice(0, asked.limit).to_pylist()


_asked: tuple[Conditions, Path] | None = None
"""What a process works on; set once when it starts."""


def _prepare(asked: Conditions, staging: Path) -> None:
    global _asked
    _asked = (asked, staging)


def _work(place: int) -> None:
    from simulator.world.pictures.scene import Scene, renderer

    assert _asked is not None
    asked, staging = _asked
    row = _rows(asked)[place]
    try:
        scene = msgspec.convert(msgspec.json.decode(row["scene"])["scene"], Scene)
    except (KeyError, msgspec.MsgspecError) as error:
        raise DataError(
            f"{asked.world}: session {row['session_id']} does not say what its picture shows "
            f"({error}); write the world again."
        ) from error
    sitting, jpeg = renderer().sitting(scene), int(read_manifest(asked.world)["request"]["jpeg"])
    for name in asked.names:
        kind, _, severity = name.partition("@")
        made = _retaken(row, sitting, kind, int(severity or 0), jpeg)
        table_parts.write_rows(_part(staging, name, place), asked.split, [made])


def _retaken(
    row: dict[str, Any], sitting: Sitting, kind: str, severity: int, jpeg: int
) -> dict[str, Any]:
    from simulator.world.pictures.ground_truth import encode_depth, encode_owners, owners_of
    from simulator.world.pictures.referents import asked_of, gazes
    from simulator.world.pictures.shoot import encode_jpeg

    twin = sitting.twin(kind, severity) if severity else None
    shown = twin.shown if twin else sitting.clean
    data, owners = encode_jpeg(shown.image, jpeg), owners_of(shown.masks, shown.hand)
    known = msgspec.json.decode(row["scene"])
    notes = [msgspec.json.decode(note) for note in row["extra"]["notes"]]
    asked = asked_of(((n.get("means", ()), (), "") for n in notes), known["visible"])
    extra = {**row["extra"], "gaze": gazes(owners, asked)}
    quality = plain_quality(QUALITY.get(kind, kind)) if twin else "normal"
    label = [plain_quality(name) for name in IMAGE_QUALITY].index(quality)
    turns = {**row["turns"], "image_quality": [label] * len(row["turns"]["query"])}
    reached = (
        {"physical": True, "target": twin.target, "reached": round(twin.reached, 4),
         "in_reach": twin.in_reach} if twin else None
    )  # fmt: skip
    return {
        **row,
        "turns": turns,
        "extra": extra,
        "image": {"bytes": data, "path": f"{row['session_id']}.jpg"},
        "image_sha256": hashlib.sha256(data).hexdigest(),
        "focus": _listed(shown.polygon),
        "polygon": [round(float(n), 2) for point in shown.polygon for n in point],
        "degradation": f"{kind}@{severity}" if twin else "clean",
        "degraded": msgspec.json.encode(reached).decode() if reached else None,
        "clean_image": None,
        "clean_sha256": None,
        "clean_focus": None,
        "clean_polygon": None,
        "owner_image": {"bytes": encode_owners(owners), "path": f"{row['session_id']}-o.png"},
        "depth_image": {"bytes": encode_depth(shown.depth), "path": f"{row['session_id']}-d.png"},
    }


def _listed(polygon: Polygon) -> list[float] | None:
    box = bounds(polygon)
    return [round(float(n), 2) for n in box] if box else None


def _part(staging: Path, name: str, place: int) -> Path:
    return table_parts.part_path(staging, name, place)
