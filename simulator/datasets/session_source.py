"""What every reader of a data set gives: sessions that can be streamed again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from mmrag.records import Session


class SessionSource(Protocol):
    """A data set. Iterating it again yields the same sessions in the same order."""

    @property
    def fingerprint(self) -> str:
        """Identifies the content; kept with the run and compared on resume."""
        ...

    def __iter__(self) -> Iterator[Session]:
        """Stream the sessions."""
        ...

    def __len__(self) -> int:
        """Number of sessions, for progress and estimates."""
        ...
