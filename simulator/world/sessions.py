"""The reader of world folders: sessions with everything the world knows about them.

Text is streamed; a picture is read from its row group when somebody looks at it, so that going
through two thousand conversations costs no picture at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from mmrag.errors import DataError, SpecError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Reference, Session, Turn
from simulator.datasets.content_hashes import ContentHashes
from simulator.datasets.hugging_face_tables import class_names
from simulator.datasets.own.line_parser import is_gaze
from simulator.datasets.read_options import ReadOptions
from simulator.datasets.unreadable_row import broken_session, unreadable_reason
from simulator.world.build.table_parts import SPLITS, columns_without_pictures, plain_quality
from simulator.world.build.world_manifest import read_manifest
from simulator.world.pictures.referents import AMBIGUOUS

Pictures = Literal["captured", "clean"]

SETTLED = "settled by"
"""The dimension by which reports slice turns: how it is settled what they mean."""

UNSETTLED = AMBIGUOUS
"""Also a split: the conversations of the multi-turn set in which nothing tells what is meant."""


class World:
    """One split of a world folder. Iterating again yields the same sessions in the same order.

    `pictures="captured"` gives each picture as its quality label says (CRAG-MM's mix);
    `pictures="clean"` gives the undegraded rendering of every session, so that a degradation put
    on top is the only one, and the same session can be seen at severity 0 and 3.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        split: str = "multi-turn",
        pictures: Pictures = "captured",
        without: Collection[str] = (),
    ) -> None:
        """`without` are ways of settling what is meant that the assistant is not given: sessions
        that take one of them are left out."""
        self.folder = Path(folder)
        if split not in (*SPLITS, UNSETTLED):
            raise SpecError(
                f"a world has no split {split!r}; there is {', '.join((*SPLITS, UNSETTLED))}."
            )
        self.split = split
        self.pictures: Pictures = pictures
        self.manifest = read_manifest(self.folder)
        table = SPLITS[0] if split == UNSETTLED else split
        self._path = self.folder / f"{table}.parquet"
        self._without = frozenset(without)

    @property
    def fingerprint(self) -> str:
        """Identifies the content: the hash of this split's file and how its pictures are seen."""
        known = ContentHashes().sha256(self._path)
        only = f"-{UNSETTLED}" if self.split == UNSETTLED else ""
        return f"world-{known[:16]}" + ("-clean" if self.pictures == "clean" else "") + only

    def __len__(self) -> int:
        if self._without or self.split == UNSETTLED:
            return sum(self._has(ways) for ways in _ways_of(self._path))
        try:
            return int(self.manifest["files"][self._path.name]["rows"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"{self.folder}: world.json does not say how many rows {self._path.name} has; "
                "run `mmrag world verify` on it, and write the world again."
            ) from error

    def __iter__(self) -> Iterator[Session]:
        for session in read_table(self._path, self.pictures):
            if self._has({turn.meta.get(SETTLED) for turn in session.turns}):
                yield session

    def _has(self, ways: Collection[str | None]) -> bool:
        if self.split == UNSETTLED:
            return UNSETTLED in ways
        return self._without.isdisjoint(ways)


def read_world(
    folder: str | Path, split: str = "multi-turn", *, pictures: Pictures = "captured"
) -> Iterator[Session]:
    """Stream the sessions of a world folder.

    >>> next(read_world("assets/mini")).turns[0].query  # doctest: +SKIP
    'What is this jar called?'
    """
    return read_table(Path(folder) / f"{split}.parquet", pictures)


def read_table(path: Path, pictures: Pictures) -> Iterator[Session]:
    """Stream the sessions of one table of a world."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = _labels(file)
            columns = columns_without_pictures(file.schema_arrow)
            place = 0
            for group in range(file.num_row_groups):
                shelf = _Shelf(path, group)
                for row, cells in enumerate(file.read_row_group(group, columns).to_pylist()):
                    where = f"{path}, row {place}"
                    yield _readable(where, cells, names, partial(shelf.take, row), pictures)
                    place += 1
    except DataError:
        raise
    except Exception as error:  # what Arrow's readers raise is not only their own
        raise DataError(
            f"{path}: cannot be read ({error}); run `mmrag world verify` on its folder, and "
            "write the world again if a file is damaged."
        ) from error


def open_world(place: str, reading: ReadOptions) -> World:
    """`mini`, or the folder of a world."""
    folder = mini_folder() if place == "mini" else Path(place).absolute()
    pictures = "captured" if reading.as_captured else "clean"
    return World(folder, split=reading.split, pictures=pictures, without=reading.without)


def _ways_of(path: Path) -> Iterator[set[str | None]]:
    """Per session, by what it is settled which things its turns mean."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["extra.settled_by"]):
                for row in batch.to_pylist():
                    yield set((row.get("extra") or {}).get("settled_by") or ())
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({error}); write the world again.") from error


def capture_of(session: Session) -> Capture:
    """The capture of a world's session: every one of them has one."""
    if session.capture is None:
        raise DataError(f"session {session.id!r} has no picture; write the world again.")
    return session.capture


def mini_folder() -> Path:
    """The world that is shipped with the project."""
    return Path(__file__).parents[2] / "assets" / "mini"


class _Shelf:
    """The pictures of one row group, read together when the first of them is looked at."""

    def __init__(self, path: Path, group: int) -> None:
        self._path, self._group = path, group
        self._columns: dict[str, Any] = {}

    def take(self, row: int, column: str) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if column not in self._columns:
            try:
                with pq.ParquetFile(self._path) as file:
                    table = file.read_row_group(self._group, [f"{column}.bytes"])
            except (pa.ArrowException, OSError) as error:
                raise DataError(f"{self._path}: a picture cannot be read ({error}).") from error
            self._columns[column] = table.column(column)
        value = self._columns[column][row].as_py()
        if not value or not value["bytes"]:
            raise DataError(
                f"{self._path}, row group {self._group}, row {row}: no {column}; a world that was "
                "written with --text-only has none: write it again without, or ask it stage by "
                "stage with `mmrag world ladder`."
            )
        return value["bytes"]


def _readable(
    place: str, row: dict[str, Any], names: dict[str, list[str]], take: Any, pictures: Pictures
) -> Session:
    """The session of a row, or one that says what is wrong with the row."""
    try:
        if not row["session_id"] or not isinstance(row["session_id"], str):
            raise DataError(f"{place}: no session_id; write the world again.")
        return _session(row, names, take, pictures)
    except Exception as error:  # a row may hold anything
        return broken_session(
            row.get("session_id") or Path(place).name, unreadable_reason(place, error)
        )


def _session(
    row: dict[str, Any], names: dict[str, list[str]], take: Any, pictures: Pictures
) -> Session:
    sid = row["session_id"]
    turns, extra = _columns(row["turns"]), _columns(row["extra"])
    answers = dict(zip(row["answers"]["interaction_id"], row["answers"]["ans_full"], strict=True))
    scene = msgspec.json.decode(row["scene"]) if row["scene"] else {}
    meta = {"voice": str(scene["voice"])} if scene.get("voice") else {}
    return Session(
        id=sid,
        capture=_capture(row, names, take, pictures, turns[0]),
        turns=tuple(
            _turn(index, cells, more, answers, names, meta)
            for index, (cells, more) in enumerate(zip(turns, extra, strict=True))
        ),
        query_time=row["query_time"],
        extra={**scene, "image_url": row["image_url"]},
    )


def _capture(
    row: dict[str, Any],
    names: dict[str, list[str]],
    take: Any,
    pictures: Pictures,
    first: dict[str, Any],
) -> Capture:
    quality = plain_quality(names["image_quality"][first["image_quality"]])
    clean = pictures == "clean" and row["degradation"] != "clean"
    prefix = "clean_" if clean else ""
    focus, flat = row[f"{prefix}focus"], row[f"{prefix}polygon"]
    image = LazyImage(
        partial(take, f"{prefix}image"),
        name=f"picture of session {row['session_id']}",
        sha256=row["clean_sha256" if clean else "image_sha256"],
    )
    degraded = row["degraded"]
    return Capture(
        image=image,
        quality="normal" if clean else quality,
        focus=(focus[0], focus[1], focus[2], focus[3]) if focus else None,
        polygon=tuple(zip(flat[::2], flat[1::2], strict=True)) if flat else None,
        is_ego=row["is_ego"],
        degradation="clean" if clean else row["degradation"],
        degraded=msgspec.json.decode(degraded) if degraded and not clean else None,
    )


def _turn(
    index: int,
    cells: dict[str, Any],
    more: dict[str, Any],
    answers: dict[str, str],
    names: dict[str, list[str]],
    meta: dict[str, str],
) -> Turn:
    grounding: dict[str, str] = msgspec.json.decode(more["grounding"])
    notes: dict[str, Any] = msgspec.json.decode(more["notes"])
    settled, gaze = more.get("settled_by"), more.get("gaze")
    if gaze is not None and not is_gaze(gaze):
        raise DataError(f"a gaze of {gaze}: give shares of the picture, 0 to 1, or null.")
    if settled:
        notes["settled_by"] = settled
        meta = {**meta, SETTLED: settled}
    return Turn(
        index=index,
        id=cells["interaction_id"],
        query=cells["query"],
        reference=Reference(
            text=answers[cells["interaction_id"]],
            accept=tuple(more["accept"]),
            evidence=tuple(more["evidence"]),
            grounding=grounding,
        ),
        domain=names["domain"][cells["domain"]],
        query_type=names["query_category"][cells["query_category"]],
        dynamism=names["dynamism"][cells["dynamism"]],
        popularity=more["popularity"],
        text_clue=more["text_clue"],
        needs_image=more["needs_image"],
        needs_history=more["needs_history"],
        extra={
            **notes,
            "entity_id": more["entity_id"],
            "program": msgspec.json.decode(more["program"]),
        },
        meta=meta,
        gaze=(gaze[0], gaze[1]) if gaze is not None else None,
    )


def _columns(columns: dict[str, list[Any] | None]) -> list[dict[str, Any]]:
    """Columns as rows; one that is null was not known when the table was written."""
    known = {name: cells for name, cells in columns.items() if cells is not None}
    return [dict(zip(known, cells, strict=True)) for cells in zip(*known.values(), strict=True)]


def _labels(file: Any) -> dict[str, list[str]]:
    try:
        described = msgspec.json.decode(file.schema_arrow.metadata[b"huggingface"])
        return class_names(described["info"]["features"])
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise DataError(f"the description of the columns cannot be read ({error})") from error
