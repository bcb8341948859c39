"""What runs of the same data share: the data as read, the judge, searches, whatever was asked.

A sweep holds the same conversations under many settings of an agent. Reading the data, opening its
index, cutting and encoding its pages take longer than many a setting's own work.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from mmrag.cache import Cache
from mmrag.records import Session
from mmrag.search.session_passages import KEPT
from simulator.evaluation import wiring

if TYPE_CHECKING:
    from mmrag.protocols import Judge, Resources
    from simulator.run.config import RunConfig
    from simulator.run.runner import SessionSource

MAX_CHARACTERS = 200_000_000
"""Of passages that are kept as read; what is more is read again each time."""

_CUTS = 4
"""Ways of cutting whose pages stay indexed."""

_SESSIONS = 256
"""Sessions whose own passages stay indexed, for each way of cutting."""


class Shared:
    """Made once for runs that differ in their agent alone, which is the caller's care."""

    def __init__(self, *, once: bool = False) -> None:
        """`once` is for a single run, which keeps no more than it needs itself."""
        self.cache = Cache()
        self._once = once
        self._source: SessionSource | None = None
        self._judge: Judge | None = None
        self._resources: tuple[Resources, str | None] | None = None
        self._sessions: list[tuple[int, Session]] | None = None

    def source(self, config: RunConfig) -> SessionSource:
        """The data set."""
        if self._source is None:
            self._source = wiring.open_source(config)
        return self._source

    def judge(self, config: RunConfig) -> Judge:
        """The judge."""
        if self._judge is None:
            self._judge = wiring.make_judge(config.judge)
        return self._judge

    def resources(
        self, config: RunConfig, *, progress: bool = True
    ) -> tuple[Resources, str | None]:
        """What agents are given, with the fingerprint of it; a way of cutting is made once."""
        if self._resources is None:
            kept = KEPT if self._once else _SESSIONS
            made, index = wiring.make_resources(config, progress=progress, kept=kept)
            if made.pages is not None:
                made.pages = lru_cache(maxsize=_CUTS)(made.pages)
            self._resources = made, index
        return self._resources

    def sessions(self, source: SessionSource, config: RunConfig) -> Iterator[tuple[int, Session]]:
        """The chosen sessions, each read once. Pictures stay where they are: they are large."""
        if self._sessions is not None:
            return iter(self._sessions)
        chosen = wiring.chosen_sessions(source, config)
        return chosen if self._once else self._keeping(chosen)

    def _keeping(self, chosen: Iterator[tuple[int, Session]]) -> Iterator[tuple[int, Session]]:
        held: list[tuple[int, Session]] = []
        room = MAX_CHARACTERS
        for place, session in chosen:
            room -= sum(len(passage.text) for passage in session.passages)
            room = -1 if session.capture is not None else room
            if room < 0:
                held.clear()
            else:
                held.append((place, session))
            yield place, session
        if room >= 0:
            self._sessions = held
