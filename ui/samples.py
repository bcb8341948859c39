"""Pictures of the opened runs that Lab and Live offer, and the same scenes taken again."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import MmragError
from mmrag.files.images import LazyImage
from mmrag.records import Box
from ui.replay.catalogue import Catalogue, Filter

OFFERED = 8

_LOOKED_AT = 5
"""Runs that samples are taken from; a folder may hold hundreds."""

_TWINS = {
    "blurred:defocus": "out-of-focus", "blurred:motion": "blurred", "occluded:finger": "occluded",
}  # fmt: skip
"""What physical twins call a variant of the optics; kinds without one have the same name."""


class Sample(msgspec.Struct, frozen=True):
    """A picture of an opened run that can be chosen."""

    id: str
    name: str
    run: str
    path: Path
    focus: Box | None
    session: str
    twins: Path | None = None
    """The folder of `mmrag world twins` that the run's pictures are from."""


class Samples:
    """Undegraded pictures, one per conversation, spread over domains; the chosen run's first."""

    def __init__(self, runs: MutableMapping[str, Catalogue]) -> None:
        self._runs = runs
        self._known: dict[str, Sample] = {}

    def of(self, run: str = "") -> list[Sample]:
        """Some pictures to choose among."""
        names = list(self._runs)
        names.sort(key=lambda name: name != run)
        found: dict[str, Sample] = {}
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

    def get(self, name: str) -> Sample | None:
        """One that was offered."""
        return self._known.get(name)


def _of_run(name: str, catalogue: Catalogue, limit: int) -> dict[str, Sample]:
    found: dict[str, Sample] = {}
    seen: set[str] = set()
    twins = _twins_of(catalogue.run.meta("config") or {})
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
            found[digest] = Sample(digest, domain, name, path, capture.focus, row.session_id, twins)
    return found


def _twins_of(config: dict[str, Any]) -> Path | None:
    kind, _, place = str(config.get("data") or "").partition(":")
    return Path(place).parent if kind == "twins" else None


def retaken(sample: Sample, spec: str) -> LazyImage | None:
    """The sample's scene as it was taken again under one kind and severity, where that was done."""
    from simulator.world.sessions import TwinTable

    kind, _, severity = spec.partition("@")
    if sample.twins is None or "+" in spec or not severity:
        return None
    table = sample.twins / f"{_TWINS.get(kind, kind)}@{severity}.parquet"
    if not table.is_file():
        return None
    for session in TwinTable(table):
        if session.id == sample.session:
            return session.capture.image if session.capture else None
    return None
