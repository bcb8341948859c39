"""The reader of CRAG-MM: both published layouts, single- and multi-turn.

v0.1.1 keeps `turns` and `answers` as lists of objects, labels as words and one `image_quality` per
row; v0.1.2 keeps objects of lists, labels as numbers, and `image_quality` per turn. Both are told
apart by their shape, never by their name, and label names are read from the file itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from mmrag.errors import DataError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Reference, Session, Turn
from simulator.datasets.hugging_face_tables import Table, class_names
from simulator.datasets.papers.kit_conventions import (
    check_kit,
    is_ego_in_kit,
    is_left_out,
    seen_in_kit,
    url_in_kit,
)
from simulator.datasets.picture_fetcher import PictureFetcher
from simulator.datasets.read_options import ReadOptions
from simulator.datasets.unreadable_row import broken_session, unreadable_reason

Rows = list[dict[str, Any]]

_LABELLED = ("domain", "query_category", "dynamism", "image_quality")


class CragMM:
    """CRAG-MM from a hub id, a folder of Parquet or Arrow files, or a saved data set. `as_kit`
    reads it as one of the public kits does (`simulator.datasets.papers.kit_conventions`)."""

    def __init__(
        self,
        source: str,
        *,
        split: str | None = None,
        fetcher: PictureFetcher | None = None,
        allow_private: bool = False,
        as_kit: str = "none",
    ) -> None:
        check_kit(as_kit)
        self._as_kit = as_kit
        self._table = Table(source, split)
        self._labels = class_names(self._table.features())
        self._fetcher = fetcher or PictureFetcher(allow_private=allow_private)

    @property
    def fingerprint(self) -> str:
        """Identifies the files."""
        return f"crag-mm-{self._table.fingerprint}"

    def __len__(self) -> int:
        lost = 0
        if self._as_kit != "none":
            lost = sum(self._is_left_out(row) for _, row in self._table.rows(["session_id"]))
        return len(self._table) - lost

    def __iter__(self) -> Iterator[Session]:
        places: dict[str, str] = {}
        for place, row in self._table.rows():
            if self._is_left_out(row):
                continue
            session = self._readable(place, row)
            if session.id in places:  # a run keeps one conversation per id
                session = _second(session, place, places)
            places[session.id] = place
            yield session

    def _is_left_out(self, row: dict[str, Any] | DataError) -> bool:
        return isinstance(row, dict) and is_left_out(self._as_kit, str(row.get("session_id")))

    def _readable(self, place: str, row: dict[str, Any] | DataError) -> Session:
        """The session of a row, or one that says what is wrong with the row."""
        sid = Path(place).name
        try:
            if isinstance(row, DataError):
                raise row
            sid = str(row.get("session_id") or sid)
            return self._session(place, row)
        except Exception as error:  # a row may hold anything
            return broken_session(sid, unreadable_reason(place, error))

    def _session(self, place: str, row: dict[str, Any]) -> Session:
        sid = _text(row.get("session_id"))
        if not sid:
            raise DataError(f"{place}: no session_id; give every row one.")
        turns = [self._named(turn) for turn in _as_rows(row.get("turns"), place, "turns")]
        if not turns:
            raise DataError(f"{place}: session {sid!r} has no turns; remove it or give it some.")
        answers = _as_rows(row.get("answers"), place, "answers")
        texts, problem = _answers(answers, turns, place, sid)
        quality = turns[0].get("image_quality") or self._named(row).get("image_quality")
        image, is_ego = self._image(row, place, sid, len(turns))
        if problem:  # found as a broken picture is: when the session is begun
            image = _broken(problem, image.name)
        return Session(
            id=sid,
            capture=Capture(image=image, quality=_dashed(quality or "normal"), is_ego=is_ego),
            turns=tuple(
                Turn(
                    index=index,
                    id=str(turn["interaction_id"]),
                    query=str(turn.get("query") or ""),
                    reference=Reference(text=texts.get(str(turn["interaction_id"]), "")),
                    domain=str(turn.get("domain") or "other").lower().replace("_", " "),
                    query_type=_dashed(turn.get("query_category") or "simple-knowledge"),
                    dynamism=_dashed(turn.get("dynamism") or "static"),
                    extra=_extra(turn),
                )
                for index, turn in enumerate(turns)
            ),
        )

    def _named(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Labels as words: numbers are looked up in the file's own list.

        A number that has no name there is told as the number, so that it is nobody else's label.
        """
        named = dict(turn)
        for column, names in self._labels.items():
            value = named.get(column)
            if isinstance(value, int):
                named[column] = names[value] if 0 <= value < len(names) else None
        for column in _LABELLED:
            value = named.get(column)
            if value is not None and not isinstance(value, str):
                named[column] = f"{column} {value}"
        return named

    def _image(
        self, row: dict[str, Any], place: str, sid: str, turns: int
    ) -> tuple[LazyImage, bool]:
        """An egocentric row has its picture inside; the others have a URL."""
        url = row.get("image_url")
        if url is not None and not isinstance(url, str):
            raise DataError(f"{place}: image_url is a {type(url).__name__}; write it as a text.")
        url = url_in_kit(self._as_kit, sid, url, turns)
        image = self._picture(_embedded(row.get("image")), url or "", place, sid)
        return seen_in_kit(self._as_kit, image, url), is_ego_in_kit(self._as_kit, url)

    def _picture(self, data: bytes | None, url: str, place: str, sid: str) -> LazyImage:
        name = f"picture of session {sid}"
        if data is not None:
            return LazyImage.from_bytes(data, name=name)
        if url:
            return LazyImage(lambda: self._fetcher.fetch(url), name=url)
        return _broken(f"{place}: session {sid!r} has neither a picture nor an image_url.", name)


def open_crag_mm(place: str, reading: ReadOptions) -> CragMM:
    """`crag-mm:FOLDER-OR-HUB-ID`."""
    if place and Path(place).exists():  # else it is an id on the Hub
        place = str(Path(place).absolute())  # an agent may change the working directory
    return CragMM(
        place, split=reading.split, allow_private=reading.allow_private_urls, as_kit=reading.as_kit
    )


def _second(session: Session, place: str, places: dict[str, str]) -> Session:
    """What stands for a row whose session was there before, under an id of its own."""
    own = f"{session.id} ({Path(place).name})"
    while own in places:
        own += "'"
    problem = (
        f"{place}: session {session.id!r} stands in {places[session.id]} already; "
        "give each row a session_id of its own, or remove one."
    )
    return broken_session(own, problem, len(session.turns))


def _broken(problem: str, name: str) -> LazyImage:
    """What makes its session a `data_error`, and leaves the others alone."""

    def refuse() -> bytes:
        raise DataError(problem)

    return LazyImage(refuse, name=name)


def _text(value: Any) -> str:
    """A cell as text; 0 is one."""
    return "" if value is None else str(value)


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
        # Arrow gives a row the fields of all others, null where it has none
        given = cast("dict[str, list[Any] | None]", value)
        columns = {name: cells for name, cells in given.items() if cells is not None}
        if len({len(cells) for cells in columns.values()}) > 1:
            raise DataError(f"{place}: the lists in {column!r} differ in length.")
        return [
            dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
        ]
    raise DataError(f"{place}: column {column!r} is a {type(value).__name__}, not a list.")


def _answers(answers: Rows, turns: Rows, place: str, sid: str) -> tuple[dict[str, str], str]:
    """Interaction id → answer, and what is wrong with them."""
    ids = [_text(turn.get("interaction_id")) for turn in turns]
    if "" in ids:
        raise DataError(f"{place}: a turn of session {sid!r} has no interaction_id.")
    if len(set(ids)) < len(ids):
        raise DataError(f"{place}: session {sid!r} has two turns with one interaction_id.")
    texts = {_text(a.get("interaction_id")): _text(a.get("ans_full")) for a in answers}
    if stray := sorted(set(texts) - set(ids)):
        problem = f"the answer {stray[0]!r} of session {sid!r} matches no turn; remove it."
        return texts, f"{place}: {problem}"
    if lacking := [i for i in ids if i not in texts]:
        problem = f"the turn {lacking[0]!r} of session {sid!r} has no answer; give it one."
        return texts, f"{place}: {problem}"
    return texts, ""


def _extra(turn: dict[str, Any]) -> dict[str, Any]:
    quality = turn.get("image_quality")
    return {"image_quality": _dashed(quality)} if quality else {}


def _dashed(label: str) -> str:
    return label.lower().replace(" ", "-").replace("_", "-")
