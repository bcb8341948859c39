"""The reader of CRAG-MM: both published layouts, single- and multi-turn.

v0.1.1 keeps `turns` and `answers` as lists of objects, labels as words and one `image_quality` per
row; v0.1.2 keeps objects of lists, labels as numbers, and `image_quality` per turn. Both are told
apart by their shape, never by their name, and label names are read from the file itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from mmrag.errors import DataError
from mmrag.images import LazyImage
from mmrag.records import Capture, Reference, Session, Turn
from simulator.datasets.as_kit import (
    check_reader,
    is_ego_in_kit,
    is_left_out,
    seen_in_kit,
    url_in_kit,
)
from simulator.datasets.fetch import Fetcher
from simulator.datasets.tables import Table, class_names

Rows = list[dict[str, Any]]


class CragMM:
    """CRAG-MM from a hub id, a folder of Parquet or Arrow files, or a saved data set.

    `as_kit` reads it as one of the public kits does (`simulator.datasets.as_kit`).
    """

    def __init__(
        self,
        source: str,
        *,
        split: str | None = None,
        fetcher: Fetcher | None = None,
        allow_private: bool = False,
        as_kit: str = "none",
    ) -> None:
        check_reader(as_kit)
        self._as_kit = as_kit
        self._table = Table(source, split)
        self._labels = class_names(self._table.features())
        self._fetcher = fetcher or Fetcher(allow_private=allow_private)

    @property
    def fingerprint(self) -> str:
        """Identifies the files."""
        return f"crag-mm-{self._table.fingerprint}"

    def __len__(self) -> int:
        lost = 0
        if self._as_kit != "none":
            ids = (str(row.get("session_id")) for _, row in self._table.rows(["session_id"]))
            lost = sum(is_left_out(self._as_kit, sid) for sid in ids)
        return len(self._table) - lost

    def __iter__(self) -> Iterator[Session]:
        places: dict[str, str] = {}
        for place, row in self._table.rows():
            if is_left_out(self._as_kit, str(row.get("session_id"))):
                continue
            session = self._session(place, row)
            first = places.setdefault(session.id, place)
            if first is not place:  # a run keeps one conversation per id
                raise DataError(
                    f"{place}: session {session.id!r} stands in {first} already; "
                    "give each row a session_id of its own, or remove one."
                )
            yield session

    def _session(self, place: str, row: dict[str, Any]) -> Session:
        sid = str(row.get("session_id") or "")
        if not sid:
            raise DataError(f"{place}: no session_id; give every row one.")
        turns = [self._named(turn) for turn in _as_rows(row.get("turns"), place, "turns")]
        if not turns:
            raise DataError(f"{place}: session {sid!r} has no turns; remove it or give it some.")
        answers = _answers(_as_rows(row.get("answers"), place, "answers"), turns, place, sid)
        quality = turns[0].get("image_quality") or self._named(row).get("image_quality")
        image, is_ego = self._image(row, place, sid, len(turns))
        return Session(
            id=sid,
            capture=Capture(image=image, quality=_dashed(quality or "normal"), is_ego=is_ego),
            turns=tuple(
                Turn(
                    index=index,
                    id=str(turn["interaction_id"]),
                    query=str(turn.get("query") or ""),
                    reference=Reference(text=answers[str(turn["interaction_id"])]),
                    domain=str(turn.get("domain") or "other").lower().replace("_", " "),
                    query_type=_dashed(turn.get("query_category") or "simple-knowledge"),
                    dynamism=_dashed(turn.get("dynamism") or "static"),
                    extra=_extra(turn),
                )
                for index, turn in enumerate(turns)
            ),
        )

    def _named(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Labels as words: numbers are looked up in the file's own list."""
        named = dict(turn)
        for column, names in self._labels.items():
            value = named.get(column)
            if isinstance(value, int):
                named[column] = names[value] if 0 <= value < len(names) else None
        return named

    def _image(
        self, row: dict[str, Any], place: str, sid: str, turns: int
    ) -> tuple[LazyImage, bool]:
        """An egocentric row has its picture inside; the others have a URL."""
        url = url_in_kit(self._as_kit, sid, row.get("image_url"), turns)
        image = self._picture(_embedded(row.get("image")), url or "", place, sid)
        return seen_in_kit(self._as_kit, image, url), is_ego_in_kit(self._as_kit, url)

    def _picture(self, data: bytes | None, url: str, place: str, sid: str) -> LazyImage:
        name = f"picture of session {sid}"
        if data is not None:
            return LazyImage.from_bytes(data, name=name)
        if url:
            return LazyImage(lambda: self._fetcher.fetch(url), name=url)
        problem = f"{place}: session {sid!r} has neither a picture nor an image_url."

        def missing() -> bytes:
            raise DataError(problem)

        return LazyImage(missing, name=name)


def _embedded(value: Any) -> bytes | None:
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("bytes")
    return value if isinstance(value, bytes) and value else None


def _as_rows(value: Any, place: str, column: str) -> Rows:
    """Both layouts as a list of objects."""
    if value is None:
        return []
    if isinstance(value, list):
        return cast("Rows", value)
    if isinstance(value, dict):
        columns = cast("dict[str, list[Any]]", value)
        if len({len(cells or []) for cells in columns.values()}) > 1:
            raise DataError(f"{place}: the lists in {column!r} differ in length.")
        return [
            dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
        ]
    raise DataError(f"{place}: column {column!r} is a {type(value).__name__}, not a list.")


def _answers(answers: Rows, turns: Rows, place: str, sid: str) -> dict[str, str]:
    ids = [str(turn.get("interaction_id") or "") for turn in turns]
    if "" in ids:
        raise DataError(f"{place}: a turn of session {sid!r} has no interaction_id.")
    if len(set(ids)) < len(ids):
        raise DataError(f"{place}: session {sid!r} has two turns with one interaction_id.")
    texts = {str(a.get("interaction_id")): str(a.get("ans_full") or "") for a in answers}
    stray = sorted(set(texts) - set(ids))
    if stray:
        raise DataError(f"{place}: the answer {stray[0]!r} of session {sid!r} matches no turn.")
    lacking = [i for i in ids if i not in texts]
    if lacking:
        raise DataError(f"{place}: the turn {lacking[0]!r} of session {sid!r} has no answer.")
    return texts


def _extra(turn: dict[str, Any]) -> dict[str, Any]:
    quality = turn.get("image_quality")
    return {"image_quality": _dashed(quality)} if quality else {}


def _dashed(label: str) -> str:
    return label.lower().replace(" ", "-").replace("_", "-")
