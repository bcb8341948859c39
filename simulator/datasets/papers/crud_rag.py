"""CRUD-RAG's questions: `--data crud:FILE`, its tasks as conversations of one turn.

The published file is one JSON object, task → rows. What a row asks is in Chinese, so the words that
say what to do are too. A row's own articles are the passages of its session; an index of the
published news (`--search`) is searched in their place, and finds an article by the same name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mmrag.errors import DataError
from mmrag.records import Passage, Reference, Session, Turn
from mmrag.search.index.articles import article_name
from simulator.datasets.read_options import ReadOptions
from simulator.datasets.unreadable_row import broken_session

MAX_BYTES = 2 << 30
_ARTICLES = ("news1", "news2", "news3")

FAILED = '","msg":"request openai failed"'
"""What stands for a reference that its authors' model did not give: their code skips such rows."""


class CrudTask(NamedTuple):
    """Where a task's rows hold what is asked and what is wanted."""

    asks: str
    """The turn, with the row's fields in braces."""
    wants: str
    """The field of the reference."""
    articles: int = 0
    """How many articles a question is about, which its row must bring."""
    context: tuple[str, ...] = ()
    """Fields of what the row itself brings to read, where it does."""

    @property
    def fields(self) -> list[str]:
        """Fields without which a row is not asked: without its articles nobody could answer."""
        import string

        asked = [name for _, name, _, _ in string.Formatter().parse(self.asks) if name]
        return [*asked, self.wants, *_ARTICLES[: self.articles]]


TASKS: dict[str, CrudTask] = {
    "continuing_writing": CrudTask(
        "请为下面的新闻续写一段话，不要重复已有的内容。\n{beginning}", "continuing", 0, ("summary",)
    ),
    "event_summary": CrudTask("请写出下面这一新闻事件的摘要。\n{event}", "summary", 0, ("text",)),
    "questanswer_1doc": CrudTask("{questions}", "answers", 1, _ARTICLES),
    "questanswer_2docs": CrudTask("{questions}", "answers", 2, _ARTICLES),
    "questanswer_3docs": CrudTask("{questions}", "answers", 3, _ARTICLES),
    "hallu_modified": CrudTask(
        "下面的续写里有错误，请改正它，只写出改正后的文本。\n新闻开头：{newsBeginning}\n"
        "续写：{hallucinatedContinuation}",
        "hallucinatedMod",
        0,
        ("newsRemainder",),
    ),
}
"""CRUD-RAG's six tasks: create, read, update, delete."""


class CrudQuestions:
    """The rows of a file. Iterating again yields the same in the same order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = list(_rows(path))

    @property
    def fingerprint(self) -> str:
        """Hash of the file."""
        return f"crud-{hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]}"

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Session]:
        seen: set[str] = set()
        for task, number, row in self._rows:
            name = f"{task}-{row.get('ID') or number}" if isinstance(row, dict) else ""
            place = f"{self.path.name}, row {number} of {task}"
            name = name if name and name not in seen else f"{task}-row-{number}"
            while name in seen:  # an ID may read like the name of another row
                name += "'"
            seen.add(name)
            yield _session(name, task, row, place)


def open_crud(place: str, _reading: ReadOptions) -> CrudQuestions:
    """The reader behind the name."""
    return CrudQuestions(Path(place))


def _rows(path: Path) -> Iterator[tuple[str, int, Any]]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path}: larger than {MAX_BYTES:,} bytes; split it up by task.")
        data = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path}: is not JSON in UTF-8 ({error}). Fetch it again.") from error
    known = [task for task in TASKS if isinstance(data, dict) and isinstance(data.get(task), list)]
    if not known:
        raise DataError(
            f"{path}: holds none of CRUD-RAG's tasks ({', '.join(TASKS)}), each a list of rows. "
            "Give its split_merged.json."
        )
    for task in known:
        for number, row in enumerate(data[task], start=1):
            if not isinstance(row, dict) or _text(row.get(TASKS[task].wants)) != FAILED:
                yield task, number, row


def _session(name: str, task: str, row: Any, place: str) -> Session:
    how = TASKS[task]
    if not isinstance(row, dict):
        return broken_session(name, f"{place}: no JSON object.", 1)
    lacking = [field for field in how.fields if not _text(row.get(field))]
    if lacking:
        words = f"{place}: {lacking[0]!r} is missing or no text; mend or remove the row"
        return broken_session(name, f"{words} (it needs {', '.join(how.fields)}).", 1)
    passages = tuple(
        Passage(id=name, text=text, provider="news", label="answers")
        for name, text in {
            article_name(text): text
            for text in (_text(row.get(key)) for key in how.context)
            if text
        }.items()
    )
    return Session(
        id=name,
        passages=passages,
        turns=(
            Turn(
                index=0,
                id=f"{name}-0",
                query=how.asks.format_map({field: _text(row[field]) for field in how.fields}),
                reference=Reference(
                    text=_text(row[how.wants]),
                    evidence=tuple(p.id for p in passages),
                    grounding={p.id: p.label for p in passages},
                ),
                domain="news",
                query_type=task.replace("_", "-"),
                dynamism="static",
            ),
        ),
    )


def _text(value: Any) -> str:
    """A field as a text; some rows hold lists of one."""
    if isinstance(value, list):
        value = " ".join(str(one) for one in value)
    return value.strip() if isinstance(value, str) else ""
