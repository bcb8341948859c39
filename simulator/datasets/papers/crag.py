"""CRAG's published questions: a row per question, with the web pages that a search found for it.

`crag:FILE` or `crag:FOLDER` reads JSON lines, plain or packed (.bz2, .gz), a row at a time. A row
becomes a conversation of one turn without a picture, whose passages are the snippets of its pages
and the visible text of each page, cut up. What differs between the editions of the data (answers
that are lists, texts or "nan"; times of the Pacific coast; pages of nothing) is put straight here.
"""

from __future__ import annotations

import ast
import datetime as dt
import email.utils
import hashlib
import itertools
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, cast

from mmrag.errors import DataError
from mmrag.records import Passage, Reference, Session, Turn
from mmrag.search.index.page_text import MAX_HTML, strip_tags, tidy
from simulator.datasets.content_hashes import ContentHashes
from simulator.datasets.file_rows import Row, json_rows
from simulator.datasets.own.line_parser import LineProblem
from simulator.datasets.read_options import ReadOptions
from simulator.datasets.unreadable_row import broken_session, unreadable_reason

MAX_ROW_BYTES = 256 << 20
"""Longest row that is read: fifty pages with everything in their HTML are some tens of MB."""

MAX_PAGES = 100
MAX_PAGE_TEXT = 100_000
"""Characters of a page's visible text that are kept; the rest of a longer page is left out."""

CHUNK = 1500
"""Characters of a passage at most."""

SNIPPET, PAGE = "web snippet", "web page"
"""Providers of passages: what the search engine showed of a page, and the page itself."""

_ENDINGS = (".jsonl", ".jsonl.bz2", ".jsonl.gz", ".ndjson", ".json")
_SPLITS = {0: "validation", 1: "public test"}


class CragQuestions:
    """The questions of one file, or of all files of a folder, in order."""

    def __init__(self, place: Path) -> None:
        self.path = place
        self.files = _files(place)

    @property
    def fingerprint(self) -> str:
        """Identifies the content of the files."""
        known = "".join(ContentHashes().sha256(file) for file in self.files)
        return f"crag-{hashlib.sha256(known.encode()).hexdigest()[:16]}"

    def __len__(self) -> int:
        return self.count()

    def count(self, most: int | None = None) -> int:
        """How many questions there are, up to `most`; then no more of the files is unpacked."""
        return sum(1 for _ in itertools.islice(self._rows(), most))

    def __iter__(self) -> Iterator[Session]:
        places: dict[str, str] = {}
        for place, row in self._rows():
            session = _readable(place, row)
            if session.id in places:
                sid = f"{session.id} ({place})"
                words = f"{place}: interaction_id {session.id!r} stands in {places[session.id]} too"
                session = broken_session(sid, f"{words}; keep one of the two rows.")
            places[session.id] = row.place
            yield session

    def _rows(self) -> Iterator[tuple[str, Row]]:
        for file in self.files:
            for row in json_rows(file, MAX_ROW_BYTES):
                yield f"{file.name}, {row.place}", row


def open_crag(place: str, _reading: ReadOptions) -> CragQuestions:
    """The reader behind the name."""
    return CragQuestions(Path(place).absolute())


def pacific_time(text: str) -> str | None:
    """ "02/28/2024, 10:04:54 PT" as ISO, still of the Pacific coast; None where it is no time.

    >>> pacific_time("02/28/2024, 10:04:54 PT")
    '2024-02-28T10:04:54'
    """
    try:
        found = dt.datetime.strptime(text.strip().removesuffix("PT").strip(), _TIME)  # noqa: DTZ007
    except ValueError:
        return None
    return found.isoformat()


_TIME = "%m/%d/%Y, %H:%M:%S"


def _files(place: Path) -> list[Path]:
    if place.is_file():
        if ".tar" in place.name:
            raise DataError(
                f"{place}: is an archive; unpack it (cat {place.name.split('.part')[0]}.part* | "
                "tar -xj) and give the folder."
            )
        return [place]
    found = sorted(file for file in place.glob("*") if file.name.endswith(_ENDINGS))
    if not found:
        raise DataError(f"{place}: there is no .jsonl, .jsonl.bz2 or .jsonl.gz file.")
    return found


def _readable(place: str, row: Row) -> Session:
    """The session of a row, or one that says what is wrong with the row."""
    sid = row.place.replace(" ", "-")
    try:
        if isinstance(row.value, LineProblem):
            raise DataError(f"{place}: {row.value.words}")
        if not isinstance(row.value, dict):
            raise DataError(f"{place}: is not a JSON object; fetch the file again.")
        cells = cast("dict[str, Any]", row.value)
        sid = _text(cells, "interaction_id") or sid
        return _session(cells, sid, place)
    except Exception as error:  # a row may hold anything
        return broken_session(sid, unreadable_reason(place, error))


def _session(row: dict[str, Any], sid: str, place: str) -> Session:
    query = _text(row, "query")
    if not query:
        raise DataError(f"{place}: there is no query; mend or remove the row.")
    pages = row.get("search_results")
    if not isinstance(pages, list):
        raise DataError(
            f"{place}: there are no search_results; take the row from the published file, or write "
            '"search_results": [] for a question without pages.'
        )
    given = _text(row, "query_time")
    asked_at = pacific_time(given)
    if given and asked_at is None:
        raise DataError(
            f"{place}: query_time {given[:40]!r} is not like 02/28/2024, 10:04:54 PT; mend it."
        )
    return Session(
        id=sid,
        query_time=asked_at,
        passages=tuple(_passages(cast("list[Any]", pages), place)),
        turns=(
            Turn(
                index=0,
                id=f"{sid}-0",
                query=query,
                reference=_reference(row, place),
                domain=_slug(row, "domain") or "open",
                query_type=_slug(row, "question_type") or "simple",
                dynamism=_slug(row, "static_or_dynamic") or "static",
                popularity=_slug(row, "popularity") or None,
                meta=_dimensions(row),
            ),
        ),
    )


def _dimensions(row: dict[str, Any]) -> dict[str, str]:
    """What reports slice by besides: the split, whether the answer is from the KG (then the entity
    has a popularity) or from the web, and of a world's rows whether the pages state the answer."""
    found: dict[str, str] = {}
    split = row.get("split")
    if isinstance(split, int) and split in _SPLITS:
        found["split"] = _SPLITS[split]
    if "popularity" in row:
        found["answer_from"] = "kg" if _slug(row, "popularity") else "web"
    if isinstance(stated := row.get("pages_answer"), bool):
        found["pages_answer"] = "yes" if stated else "no"
    return found


def _reference(row: dict[str, Any], place: str) -> Reference:
    """The answers; none where the file has only "nan" (then nothing can be scored)."""
    texts = [_text(row, "answer")]
    for name in ("alt_ans", "alternative_answers"):
        texts += _texts(row.get(name), f"{place}: {name}")
    if not texts[0]:
        raise DataError(f"{place}: there is no answer; mend or remove the row.")
    known = list(dict.fromkeys(text for text in texts if text and text.lower() != "nan"))
    return Reference(text=known[0] if known else "", accept=tuple(known[1:]))


def _texts(value: object, where: str) -> list[str]:
    """A list of texts, or the text of one: `['a', 'b']`; any other text is an answer itself."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [value.strip()]
    if value is None:
        return []
    if isinstance(value, str):
        return [value.strip()]
    if not isinstance(value, list):
        raise DataError(f"{where} is not a list of texts; mend or remove the row.")
    return [str(one).strip() for one in cast("list[object]", value)]


def _passages(pages: list[Any], place: str) -> Iterator[Passage]:
    if len(pages) > MAX_PAGES:
        raise DataError(f"{place}: {len(pages)} pages; a row has {MAX_PAGES} at most, so split it.")
    for number, given in enumerate(pages, 1):
        if not isinstance(given, dict):
            raise DataError(f"{place}: page {number} is not an object; fetch the file again.")
        page = cast("dict[str, Any]", given)
        title = _visible(_text(page, "page_name"))
        url = _text(page, "page_url")
        date = _modified(_text(page, "page_last_modified"))
        snippet = _visible(_text(page, "page_snippet"))
        if snippet:
            yield Passage(id=f"{number}", text=snippet, title=title, url=url, date=date,
                          provider=SNIPPET)  # fmt: skip
        text = _visible(_text(page, "page_result"))[:MAX_PAGE_TEXT]
        for part, chunk in enumerate(_chunks(text), 1):
            yield Passage(id=f"{number}.{part}", text=chunk, title=title, url=url, date=date,
                          provider=PAGE)  # fmt: skip


def _visible(html: str) -> str:
    """What a page shows, without markup: linear in its length, whatever the markup is."""
    html = html[:MAX_HTML].replace("\0", " ")
    return tidy(strip_tags(html) if "<" in html else unescape(html))


def _chunks(text: str) -> Iterator[str]:
    """Whole lines together as far as they fit; a longer line is cut at a space."""
    held = ""
    for line in text.split("\n"):
        while len(line) > CHUNK:
            end = line.rfind(" ", 1, CHUNK) if " " in line[1:CHUNK] else CHUNK
            if held:
                yield held
            held, line = line[:end].strip(), line[end:].strip()
        if held and len(held) + len(line) >= CHUNK:
            yield held
            held = ""
        held = f"{held}\n{line}" if held else line
    if held.strip():
        yield held


def _modified(text: str) -> str | None:
    """ "Wed, 06 Mar 2024 03:19:02 GMT" or "2024-1-18 15:32:24" as an ISO date, where it is one."""
    try:
        return email.utils.parsedate_to_datetime(text.strip()).date().isoformat()
    except (TypeError, ValueError, IndexError):
        found = re.match(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})\b", text)
    try:
        return dt.date(*map(int, found.groups())).isoformat() if found else None
    except ValueError:
        return None


def _slug(row: dict[str, Any], field: str) -> str:
    """ "simple_w_condition" as "simple-w-condition": one spelling for all editions."""
    return re.sub(r"[^a-z0-9]+", "-", _text(row, field).lower()).strip("-")


def _text(row: dict[str, Any], field: str) -> str:
    value = row.get(field)
    return "" if value is None else str(value).strip()
