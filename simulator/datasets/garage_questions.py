"""`--data garage:FILE`: GaRAGe's questions for an agent, each with its passages to search.

What the file says of the person's own answer stays behind; that declining is right goes along.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mmrag.metrics.cases import Annotations
from mmrag.records import Session
from simulator.datasets.answered import Answered, session_of
from simulator.datasets.answers import read_answers
from simulator.datasets.reading import Reading


class GarageQuestions:
    """The questions of a file as conversations of one turn without a picture."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = sum(1 for _ in read_answers(path))  # a bad line is told before the run

    @property
    def fingerprint(self) -> str:
        """Hash of the file."""
        return f"garage-{hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]}"

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Session]:
        for answered in read_answers(self.path):
            yield session_of(_unanswered(answered))


def open_garage(place: str, reading: Reading) -> GarageQuestions:
    """The reader behind the name."""
    del reading
    return GarageQuestions(Path(place))


def _unanswered(answered: Answered) -> Answered:
    notes = answered.case.annotations
    kept = Annotations(should_deflect=notes.should_deflect, needed=notes.needed)
    case = msgspec.structs.replace(answered.case, annotations=kept)
    return msgspec.structs.replace(answered, case=case)
