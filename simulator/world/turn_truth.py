"""What a world knows of its turns: where the thing is, its name, passages and facts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import cast

from mmrag.records import Box, Passage, Session, Turn
from simulator.stages.truth import KnownTruth, with_name
from simulator.world.build.table_parts import GROUNDING_LABELS
from simulator.world.build.world_manifest import read_manifest
from simulator.world.checks.verify import read_facts, stream_rows
from simulator.world.facts.fact_wording import say_fact
from simulator.world.facts.factbase import FactBase


class WorldTruth:
    """The truth of one world folder, read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, session: Session) -> list[KnownTruth]:
        """Of every turn; one about what is not in view needs no box, and is understood by the
        history."""
        boxes = _boxes(session)
        return [self._of(turn, boxes) for turn in session.turns]

    def _of(self, turn: Turn, boxes: dict[str, Box]) -> KnownTruth:
        ids = [str(name) for name in turn.extra.get("means") or ()]
        things = [self.facts.entity(name) for name in ids]
        return KnownTruth(
            box=_around([boxes[name] for name in ids if name in boxes]),
            names=tuple(thing.name for thing in things),
            named=with_name(turn.query, [thing.name for thing in things]),
            passages=self._passages.get(turn.id, ()),
            facts=tuple(
                Passage(
                    id=f"fact-{number}",
                    text=say_fact(
                        self.facts.fact(need["entity_id"], need["attribute"], need["at"]),
                        self.facts,
                    ),
                )
                for number, need in enumerate(turn.extra.get("needs") or ())
            ),
        )

    @cached_property
    def facts(self) -> FactBase:
        """Everything that holds in the world."""
        return read_facts(self._folder, read_manifest(self._folder))

    @cached_property
    def _passages(self) -> dict[str, tuple[Passage, ...]]:
        found: dict[str, tuple[Passage, ...]] = {}
        columns = ["turn_id", "page_url", "label", "passage"]
        for row in stream_rows(self._folder / "grounding.parquet", columns):
            if GROUNDING_LABELS[row["label"]] == "answers":
                url, of = row["page_url"], found.get(row["turn_id"], ())
                found[row["turn_id"]] = (*of, Passage(id=url, text=row["passage"], url=url))
        return found


def _boxes(session: Session) -> dict[str, Box]:
    """Where the things in view stand in the picture that nothing was done to, by their ids."""
    capture = session.capture
    visible = cast("list[str]", session.extra.get("visible") or [])
    if capture is None or capture.focus is None:
        return {}
    found = {str(visible[0]): capture.focus} if visible else {}
    outlines = cast("list[list[list[float]]]", session.extra.get("other_polygons") or [])
    for name, outline in zip(visible[1:], outlines, strict=False):
        if outline:
            xs, ys = [point[0] for point in outline], [point[1] for point in outline]
            found[str(name)] = (min(xs), min(ys), max(xs), max(ys))
    return found


def _around(boxes: Sequence[Box]) -> Box | None:
    """The smallest box that holds all of some."""
    if not boxes:
        return None
    left, top, right, bottom = zip(*boxes, strict=True)
    return (min(left), min(top), max(right), max(bottom))
