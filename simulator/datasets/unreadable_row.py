"""The session that stands for a row that cannot be read, and says so, beside the others."""

from __future__ import annotations

from mmrag.errors import DataError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Reference, Session, Turn


def broken_session(sid: str, problem: str, turns: int = 1) -> Session:
    """A session whose turns become `data_error` with these words when it is begun."""

    def refuse() -> bytes:
        raise DataError(problem)

    image = LazyImage(refuse, name=f"picture of session {sid}")
    return Session(
        id=sid,
        capture=Capture(image=image, quality="unknown"),
        turns=tuple(
            Turn(index=i, id=f"{sid}-{i}", query="", reference=Reference(text=""))
            for i in range(turns)
        ),
    )


def problem_of(session: Session) -> str | None:
    """Why a session could not be read; None of one that could."""
    if session.capture is None or any(turn.query for turn in session.turns):
        return None
    try:
        _ = session.capture.image.data
    except DataError as error:
        return str(error)
    return None


def unreadable_reason(place: str, error: Exception) -> str:
    """Why a row cannot be read, with its place."""
    if isinstance(error, DataError):
        return str(error)
    said = f"{type(error).__name__}: {error}"[:300]
    return f"{place}: the row cannot be read ({said}); mend or remove it."
