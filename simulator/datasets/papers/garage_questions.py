"""`--data garage:FILE`: GaRAGe's questions for an agent, each with its passages to search.

What the file says of the person's own answer stays behind; that declining is right goes along.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mmrag.metrics.measure_records import Annotations
from mmrag.records import Session
from simulator.datasets.papers.answer_records import AnsweredQuestion, UnusableRow, session_of
from simulator.datasets.papers.garage_rows import read_garage
from simulator.datasets.read_options import ReadOptions
from simulator.datasets.unreadable_row import broken_session


class GarageQuestions:
    """The questions of a file as conversations of one turn without a picture."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = sum(1 for _ in read_garage(path))

    @property
    def fingerprint(self) -> str:
        """Hash of the file."""
        return f"garage-{hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]}"

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Session]:
        for row in read_garage(self.path):
            if isinstance(row, UnusableRow):
                yield broken_session(row.id, row.problem)
            else:
                yield session_of(_unanswered(row))


def open_garage(place: str, _reading: ReadOptions) -> GarageQuestions:
    """The reader behind the name."""
    return GarageQuestions(Path(place))


def _unanswered(answered: AnsweredQuestion) -> AnsweredQuestion:
    notes = answered.case.annotations
    kept = Annotations(should_deflect=notes.should_deflect, needed=notes.needed)
    case = msgspec.structs.replace(answered.case, annotations=kept)
    return msgspec.structs.replace(answered, case=case)
