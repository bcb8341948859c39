"""Everybody's own data: a JSONL file, a CSV of one-turn questions, rows of a Hugging Face folder.

One line is one session (`line_schema.py`), its picture lies beside the file. A
line that cannot be used becomes a session that says why, and the others run.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mmrag.errors import DataError, ImageError
from mmrag.files.images import LazyImage, size_of
from mmrag.records import Capture, Passage, Reference, Session, Turn
from simulator.datasets.file_rows import Row, csv_rows, json_rows, table_rows
from simulator.datasets.hugging_face_tables import Table
from simulator.datasets.own.columns import misspelt_columns, reword_for_columns
from simulator.datasets.own.line_parser import (
    LineProblem,
    ParsedLine,
    Weight,
    own_slice_labels,
    parse_line,
    with_passage_ids,
)
from simulator.datasets.own.line_schema import FIELDS_OF_META, SessionLine, TurnLine
from simulator.datasets.picture_fetcher import PictureFetcher
from simulator.datasets.unreadable_row import broken_session
from simulator.ears.sounds import read_file

if TYPE_CHECKING:
    from simulator.datasets.read_options import ReadOptions

SEEN = 1 << 16
"""Bytes of a picture that its part of a fingerprint is made of, besides its size: a set of ten
thousand photographs is known again in a second."""


class CheckedLine(NamedTuple):
    """One line: the session it gives, and what its author should know."""

    place: str
    session: Session
    faults: list[LineProblem]
    columns: Sequence[str] = ()

    @property
    def is_lost(self) -> bool:
        """Whether the session can only be a `data_error`."""
        return any(fault.weight == "session" for fault in self.faults)


class OwnData:
    """Sessions of somebody's own file. Iterating again yields the same in the same order."""

    def __init__(
        self,
        path: Path,
        rows: Callable[[], Iterator[Row]],
        *,
        pictures: Path,
        fetcher: PictureFetcher,
        content: Callable[[], str],
    ) -> None:
        self.path = path
        self._rows = rows
        self._pictures = _Pictures(pictures, fetcher)
        self.pictures = pictures
        """The folder of its pictures and recordings."""
        self._content = content

    @property
    def fingerprint(self) -> str:
        """Identifies the lines, and the pictures that they name."""
        digest = hashlib.sha256(self._content().encode())
        for examined in self.examined():
            capture = examined.session.capture
            if capture is not None:
                digest.update(f"{examined.session.id}\x00".encode())
                digest.update(_mark(Path(capture.image.name)))
            for turn in examined.session.turns:
                if turn.audio:
                    digest.update(f"{turn.id}\x00".encode())
                    digest.update(_mark(self.pictures / turn.audio))
        return f"own-{digest.hexdigest()[:16]}"

    def __len__(self) -> int:
        return sum(1 for _ in self._rows())

    def __iter__(self) -> Iterator[Session]:
        return (examined.session for examined in self.examined())

    def misspelt(self) -> list[LineProblem]:
        """Columns that are read as dimensions, and look like a known one misspelt."""
        first = next(self._rows(), None)
        return misspelt_columns(first.columns, "the head") if first else []

    def examined(self) -> Iterator[CheckedLine]:
        """Every line with all that is to be said of it; pictures are not looked at."""
        places: dict[str, str] = {}
        for row in self._rows():
            bad = isinstance(row.value, LineProblem)
            found = (
                ParsedLine(None, 1, "", [row.value]) if bad else parse_line(row.value, row.place)
            )
            name = _safe(found.session_id) or row.place.replace(" ", "-")
            first = places.setdefault(name, row.place)
            if first is not row.place:
                found.faults.append(_twice(row, name, first))
                name = f"{name} ({row.place})"
            examined = self._examined(row, found, name)
            yield examined._replace(columns=row.columns)

    def _examined(self, row: Row, found: ParsedLine, name: str) -> CheckedLine:
        if row.columns:
            found.faults[:] = reword_for_columns(found.faults, row.columns)
            found.faults.extend(misspelt_columns(row.columns, row.place))
        lost = [fault for fault in found.faults if fault.weight == "session"]
        if found.line is not None and not lost:
            field = "image" if found.line.image is not None else "image_url"
            try:
                capture = self._pictures.capture(found.line, row, name)
                field = "audio"
                for turn in found.line.turns:
                    if turn.audio:
                        self._pictures.found(turn.audio)
                return CheckedLine(row.place, _session(found.line, name, capture), found.faults)
            except DataError as error:
                lost = [LineProblem(place=row.place, field=field, words=str(error))]
                lost = reword_for_columns(lost, row.columns) if row.columns else lost
                found.faults.extend(lost)
        said = " ".join(f"{fault.field} {fault.words}".strip() for fault in lost[:3])
        problem = f"{self.path.name}, {row.place}: {said}"
        return CheckedLine(row.place, broken_session(name, problem, found.turns), found.faults)

    def examined_with_pictures(self) -> Iterator[CheckedLine]:
        """As `examined`, and every picture and recording in a file is opened."""
        for examined in self.examined():
            capture = examined.session.capture
            if not examined.is_lost and capture is not None and "://" not in capture.image.name:
                found = list(_about_picture(capture, examined.place))
                columns = examined.columns
                examined.faults.extend(reword_for_columns(found, columns) if columns else found)
            for turn in examined.session.turns:
                if turn.audio and not examined.is_lost:
                    examined.faults.extend(_about_recording(self.pictures / turn.audio, examined))
            yield examined


def open_jsonl(place: str, reading: ReadOptions) -> OwnData:
    """`jsonl:FILE`, or the folder of one."""
    path = _only(Path(place).absolute(), ("*.jsonl", "*.ndjson"), "a .jsonl file")
    return _of_file(path, partial(json_rows, path), reading)


def open_csv(place: str, reading: ReadOptions) -> OwnData:
    """`csv:FILE`, or the folder of one."""
    path = _only(Path(place).absolute(), ("*.csv", "*.tsv"), "a .csv file")
    return _of_file(path, partial(csv_rows, path), reading)


def open_table(place: str, reading: ReadOptions) -> OwnData:
    """`hf:FOLDER`: Parquet or Arrow files whose rows have the fields of a line."""

    here = Path(place).absolute()
    table = Table(str(here) if here.exists() else place, reading.split)
    columns = set(table.schema().names)
    if "answers" in columns and "turns" in columns:
        raise DataError(f"{place}: is laid out as CRAG-MM; write crag-mm:{place}.")
    folder = here if here.is_dir() else here.parent
    return OwnData(
        here,
        partial(table_rows, table),
        pictures=Path(reading.pictures or folder).absolute(),
        fetcher=PictureFetcher(allow_private=reading.allow_private_urls),
        content=lambda: table.fingerprint,
    )


def _of_file(path: Path, rows: Callable[[], Iterator[Row]], reading: ReadOptions) -> OwnData:
    from simulator.datasets.content_hashes import ContentHashes

    return OwnData(
        path,
        rows,
        pictures=Path(reading.pictures or path.parent).absolute(),
        fetcher=PictureFetcher(allow_private=reading.allow_private_urls),
        content=lambda: ContentHashes().sha256(path),
    )


def _only(place: Path, patterns: tuple[str, ...], what: str) -> Path:
    if not place.is_dir():
        if place.is_file():
            return place
        raise DataError(f"{place}: there is no such file.")
    found = sorted(path for pattern in patterns for path in place.glob(pattern))
    if len(found) != 1:
        there = ", ".join(path.name for path in found[:5]) or "none"
        raise DataError(f"{place}: needs {what} in it, and has {there}. Give the file itself.")
    return found[0]


class _Pictures:
    """Finds pictures below one folder, and never outside of it."""

    def __init__(self, root: Path, fetcher: PictureFetcher) -> None:
        self.root = root
        self._real = root.resolve()
        self._fetcher = fetcher

    def capture(self, line: SessionLine, row: Row, name: str) -> Capture | None:
        if row.picture is not None:
            image = LazyImage.from_bytes(row.picture, name=f"picture of session {name}")
        elif line.image is not None:
            path = self.found(line.image)
            image = LazyImage(partial(_picture, path), name=str(path))
        elif line.image_url is not None:
            url = line.image_url
            if not url.lower().startswith(("http://", "https://")):
                raise DataError("is not an http or https URL; write a path in 'image'.")
            image = LazyImage(partial(self._fetcher.fetch, url), name=url)
        else:
            return None
        quality, is_ego = line.meta.get("quality"), line.meta.get("is_ego")
        return Capture(
            image=image,
            quality="normal" if quality is None else str(quality),
            focus=line.focus,
            is_ego=True if is_ego is None else bool(is_ego),
        )

    def found(self, image: str) -> Path:
        """The file of a picture, or of a recording."""
        try:
            return self._find(image)
        except (OSError, ValueError, RuntimeError) as error:  # no name of a file; a ring of links
            why = getattr(error, "strerror", None) or error
            raise DataError(f"{image[:80]!r} is not a path ({why}); correct it.") from error

    def _find(self, image: str) -> Path:
        if not image.strip() or "\x00" in image:
            raise DataError('is empty; write "image": "photos/a.jpg", or leave it out.')
        path = self.root / image
        if not path.exists() and "\\" in image:
            path = self.root / image.replace("\\", "/")
        if not path.resolve().is_relative_to(self._real):
            lies = "is a link, and lies outside of" if path.is_symlink() else "lies outside of"
            raise DataError(
                f"{image[:200]!r} {lies} {self.root}; move it there, or name the folder "
                "of the pictures with --pictures."
            )
        if path.is_symlink() and not path.exists():
            raise DataError(f"{image[:200]!r} is a link to nothing; put the picture there.")
        if not path.is_file():
            raise DataError(f"{image[:200]!r}: there is no such file in {self.root}.{_near(path)}")
        return path


def _safe(name: str) -> str:
    """An id as it can be shown, whatever the line wrote."""
    return "".join(c if c.isprintable() and c not in "/\\" else "_" for c in name[:80]).strip()


def _twice(row: Row, name: str, first: str) -> LineProblem:
    words = f"{name!r} stands in {first} already; give each session one of its own."
    if row.columns:
        words += (
            " A row is a conversation of one turn: those of several turns are written as JSON "
            "lines (.jsonl), see docs/data.md."
        )
    return LineProblem(place=row.place, field="session_id", words=words)


def _near(path: Path) -> str:
    try:
        names = [other.name for other in path.parent.iterdir()]
    except OSError:
        return " Put the file there, or correct the path."
    folded = {name.casefold(): name for name in names}
    found = difflib.get_close_matches(path.name.casefold(), folded, n=1, cutoff=0.6)
    like = f" Did you mean {folded[found[0]]!r}?" if found else ""
    return f"{like} Put the file there, or correct the path."


def _picture(path: Path) -> bytes:
    """A picture's bytes, if they are those of a picture."""
    data = LazyImage.from_path(path).data
    try:
        size_of(data, name=str(path))
    except ImageError as error:
        cure = " Export it as JPEG." if path.suffix.lower() in (".heic", ".heif") else ""
        raise ImageError(f"{error}{cure}") from error
    return data


def _about_picture(capture: Capture, place: str) -> Iterator[LineProblem]:
    def fault(field: str, words: str, weight: Weight = "session") -> LineProblem:
        return LineProblem(place=place, field=field, words=words, weight=weight)

    try:
        width, height = capture.image.pil().size
    except DataError as error:
        yield fault("image", str(error))
        return
    if capture.focus is None:
        return
    _, _, right, bottom = capture.focus
    if right <= 1 and bottom <= 1:
        yield fault("focus", "looks like shares of the picture; write pixels.", "note")
    elif right > width or bottom > height:
        yield fault("focus", f"goes beyond the picture, which has {width} × {height} pixels; "
                    "correct the box, or the picture was scaled.", "note")  # fmt: skip


def _about_recording(path: Path, examined: CheckedLine) -> Iterator[LineProblem]:
    try:
        read_file(path)
    except DataError as error:
        words = f"{error} The question is asked typed, and is a data_error where it is spoken."
        yield LineProblem(place=examined.place, field="audio", words=words, weight="note")


def _mark(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return f"{path.stat().st_size}\x00".encode() + file.read(SEEN)
    except (OSError, ValueError):
        return b""


def _session(line: SessionLine, name: str, capture: Capture | None) -> Session:
    passages = tuple(
        Passage(
            id=own,
            text=passage.text,
            title=passage.title,
            url=passage.url,
            date=passage.date,
            provider=passage.provider,
            label=passage.label,
        )
        for own, passage in with_passage_ids(line.passages)
    )
    labels = {p.id: p.label for p in passages if p.label != "unknown"}
    extra: dict[str, Any] = {"entity_name": line.entity} if line.entity else {}
    return Session(
        id=name,
        capture=capture,
        turns=tuple(
            _turn(index, turn, line, name, labels, extra) for index, turn in enumerate(line.turns)
        ),
        query_time=line.query_time,
        passages=passages,
    )


def _turn(
    index: int,
    turn: TurnLine,
    line: SessionLine,
    name: str,
    labels: dict[str, str],
    extra: dict[str, Any],
) -> Turn:
    meta = {**line.meta, **turn.meta}
    known: dict[str, Any] = {key: meta[key] for key in FIELDS_OF_META if meta.get(key) is not None}
    own = {key: getattr(turn, key) for key in FIELDS_OF_META}
    known |= {key: value for key, value in own.items() if value is not None}
    texts = [text for text in turn.references if text.strip()]
    return Turn(
        index=index,
        id=turn.id or f"{name}-{index}",
        query=turn.query,
        reference=Reference(
            text=texts[0] if texts else "",
            accept=tuple(texts[1:]),
            evidence=tuple(turn.evidence),
            grounding=labels,
        ),
        gaze=turn.gaze,
        audio=turn.audio,
        extra={**extra, "named_query": turn.named} if turn.named else extra,
        meta=own_slice_labels(meta),
        **known,
    )
