"""Pictures of the opened runs that Lab and Live offer, and the same scenes taken again."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path

import msgspec

from mmrag.errors import MmragError
from mmrag.records import Box
from ui.replay.conversation_list import ConversationList, Filter

OFFERED = 8

_LOOKED_AT = 5
"""Runs that samples are taken from; a folder may hold hundreds."""


class OfferedPicture(msgspec.Struct, frozen=True):
    """A picture of an opened run that can be chosen."""

    id: str
    name: str
    run: str
    path: Path
    focus: Box | None
    session: str


class OfferedPictures:
    """Undegraded pictures, one per conversation, spread over domains; the chosen run's first."""

    def __init__(self, runs: MutableMapping[str, ConversationList]) -> None:
        self._runs = runs
        self._known: dict[str, OfferedPicture] = {}

    def of(self, run: str = "") -> list[OfferedPicture]:
        """Some pictures to choose among."""
        names = list(self._runs)
        names.sort(key=lambda name: name != run)
        found: dict[str, OfferedPicture] = {}
        for name in names[:_LOOKED_AT]:
            if len(found) >= OFFERED:
                break
            try:
                found = {**_of_run(name, self._runs[name], OFFERED - len(found)), **found}
            except (MmragError, KeyError, OSError):  # it cannot be read, which the board says
                continue
        shown = sorted(found.values(), key=lambda one: names.index(one.run))
        self._known.update(found)
        return shown

    def get(self, name: str) -> OfferedPicture | None:
        """One that was offered."""
        return self._known.get(name)


def _of_run(name: str, catalogue: ConversationList, limit: int) -> dict[str, OfferedPicture]:
    found: dict[str, OfferedPicture] = {}
    seen: set[str] = set()
    for row in catalogue.find(Filter(kind="clean")):
        said = row.domains if "domain" not in catalogue.unsaid else ()
        domain = said[0] if said else row.session_id
        if domain in seen or len(found) >= limit:
            continue
        capture = catalogue.run.session(row.session_id, "clean").capture
        digest = capture.image.sha256 if capture else ""
        if capture and digest and digest not in found:
            seen.add(domain)
            path = catalogue.run.images.path(digest)
            found[digest] = OfferedPicture(
                digest, domain, name, path, capture.focus, row.session_id
            )
    return found
