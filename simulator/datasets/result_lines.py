"""Result rows as others write them: JSON lines or CSV, ours and those of both public kits.

Several names stand for one thing (`query` is the kits' word for `question`); everything is read
under our name, and a message says line and field, with the nearest name where one is near.
"""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, cast

from mmrag.errors import DataError
from mmrag.records import JudgeItem

MAX_LINE = 4_000_000
"""Bytes of a line of JSON."""

NAMES = {
    "question": ("question", "query"),
    "references": ("references", "ground_truth", "reference"),
    "prediction": ("prediction", "agent_response", "reply"),
    "turn_index": ("turn_index", "turn_idx"),
    "exact_match": ("exact_match", "is_exact_match", "exact"),
}
"""What is called by several names: ours first, then those of the kits and of `mmrag export`."""

_OURS = {name: ours for ours, names in NAMES.items() for name in names}
_NUMBERS = ("turn_index", "turn_idx")
_YES_OR_NO = ("is_ego", "is_correct", "is_miss", "human_correct", *NAMES["exact_match"])
_MOST_DIGITS = 18
"""Python refuses to read thousands."""


class ResultRow:
    """One row under our names, with its place for messages."""

    def __init__(self, where: str, number: int, given: dict[str, Any]) -> None:
        self.where = where
        """File and line."""
        self.number = number
        self.given = given
        """As it stands in the file."""
        self._ours: dict[str, Any] = {}
        for name, value in given.items():
            ours = _OURS.get(name, name)
            if name == ours or ours not in given:
                self._ours.setdefault(ours, value)

    def __contains__(self, name: str) -> bool:
        return name in self._ours

    def get(self, name: str) -> Any:
        """The value under our name; None where there is none."""
        return self._ours.get(name)

    def text(self, name: str) -> str:
        """A text that has to be there."""
        return cast("str", self._needed(name, str, "a text"))

    def whole(self, name: str) -> int:
        """A whole number that has to be there."""
        value = self._needed(name, int, "a whole number")
        if isinstance(value, bool):
            self._wrong(name, "a whole number")
        return value

    def flag(self, name: str) -> bool | None:
        """True or false; None where it is absent or null."""
        value = self._ours.get(name)
        if value is not None and not isinstance(value, bool):
            self._wrong(name, "true or false")
        return value

    def item(self) -> JudgeItem:
        """Question, references and prediction, as a judge is given them."""
        references = self._ours.get("references")
        if isinstance(references, str):
            references = [references]
        if references is None:
            self._lacks("references", "references (a list of texts) or ground_truth (a text)")
        if not isinstance(references, list) or not all(isinstance(r, str) for r in references):
            self._wrong("references", "a text or a list of texts")
        return JudgeItem(
            id=str(self.given.get("id", self.number)),
            question=self.text("question"),
            references=tuple(cast("list[str]", references)),
            prediction=self.text("prediction"),
        )

    def check(self, known: frozenset[str]) -> None:
        """Refuse a field that nobody knows: it may be a misspelt one that would be overlooked."""
        for name in self.given:
            if name not in known and name not in _OURS:
                every = sorted({*known, *_OURS})
                near = difflib.get_close_matches(name, every, n=1)
                cure = f"did you mean {near[0]!r}?" if near else "remove it (docs/scoring.md)."
                raise DataError(f"{self.where}: unknown field {name!r}; {cure}")

    def _needed(self, name: str, kind: type, words: str) -> Any:
        value = self._ours.get(name)
        if name not in self._ours:
            self._lacks(name, f"{name!r} as {words}")
        if not isinstance(value, kind):
            self._wrong(name, words)
        return value

    def _lacks(self, name: str, words: str) -> NoReturn:
        free = [given for given in self.given if given not in _OURS]
        wanted = NAMES.get(name, (name,))
        near = [given for given in free if difflib.get_close_matches(given, wanted, n=1)]
        hint = f"; is {near[0]!r} meant for it?" if near else "."
        raise DataError(f"{self.where}: needs {words}{hint}")

    def _wrong(self, name: str, words: str) -> NoReturn:
        value = json.dumps(self._ours.get(name), ensure_ascii=False, default=str)[:80]
        theirs = next((other for other in NAMES.get(name, ()) if other in self.given), name)
        raise DataError(f"{self.where}: {theirs!r} is {value}; write {words}.")


def read_rows(
    path: Path, most: int = MAX_LINE, constant: Callable[[str], Any] = float
) -> Iterator[ResultRow]:
    """Every row of a file, in order: CSV where the name ends so, else one JSON object per line of
    at most so many bytes. `constant` is told of `NaN` and `Infinity`, which JSON does not know."""
    try:
        if path.suffix.lower() == ".csv":
            yield from _table(path)
        else:
            yield from _objects(path, most, constant)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error


def _objects(path: Path, most: int, constant: Callable[[str], Any]) -> Iterator[ResultRow]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(most + 1):
            number += 1
            where = f"{path}, line {number}"
            if len(line) > most:
                raise DataError(f"{where}: longer than {most:,} bytes. Split the file.")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                continue
            try:
                found = json.loads(line, parse_constant=constant)
            except (ValueError, RecursionError) as error:
                raise DataError(
                    f"{where}: not JSON ({error}); write one object per line."
                ) from error
            if not isinstance(found, dict):
                raise DataError(f"{where}: not a JSON object; write one per line.")
            yield ResultRow(where, number, cast("dict[str, Any]", found))


def _table(path: Path) -> Iterator[ResultRow]:
    """Cells are texts: numbers and flags are read back, an empty flag is none at all."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.reader(file, strict=True)
        number = 1
        try:
            columns = next(table, [])
            number = table.line_num + 1
            if twice := next((name for name in columns if columns.count(name) > 1), None):
                raise DataError(f"{path}: two columns are called {twice!r}; rename or remove one.")
            for cells in table:
                where = f"{path}, line {number}"
                if cells:
                    if len(cells) != len(columns):
                        raise DataError(
                            f"{where}: {len(cells)} cells under {len(columns)} columns; "
                            "write the table anew."
                        )
                    pairs = zip(columns, cells, strict=True)
                    yield ResultRow(
                        where, number, {name: _cell(name, cell) for name, cell in pairs}
                    )
                number = table.line_num + 1
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(f"{path}, line {number}: no CSV in UTF-8 ({error}).") from error


def _cell(name: str, cell: str) -> Any:
    if name in _NUMBERS:
        is_number = len(cell) <= _MOST_DIGITS and cell.strip().isdecimal()
        return int(cell) if is_number else cell
    if name in _YES_OR_NO:
        return {"true": True, "false": False, "": None}.get(cell.strip().lower(), cell)
    return cell
