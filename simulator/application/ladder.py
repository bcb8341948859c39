"""A world's ladder: how often an agent is right when it is handed truth, one stage after another.

What is lost between two stages is lost to what the second one is handed: finding the thing in the
picture, recognising it, searching, reading. Any agent can be asked; a stage changes what it is
given, never its code. Stages with a picture are left out where there are none.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from PIL import Image as pil
from PIL import ImageDraw, ImageFont

from mmrag.errors import UsageError
from mmrag.files.images import LazyImage
from mmrag.protocols import Agent, ImageSearch, Judge, WebSearch
from mmrag.records import Evidence, Exchange, JudgeItem, Outcome, Passage, Query, Session, Turn
from mmrag.search.session_passages import SessionSearch
from simulator.run.engine import Rules, ask_turn, query_of, verdict_on
from simulator.world.build.card import Ladder, Rung
from simulator.world.build.table_columns import GROUNDING_LABELS
from simulator.world.build.world_manifest import read_manifest
from simulator.world.checks.verify import read_facts, stream
from simulator.world.facts.fact_records import Entity
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.wording import say_fact
from simulator.world.sessions import captured, read_world

STAGES = {
    "nothing": "the question alone",
    "picture": "the picture",
    "box": "the thing, cut out",
    "name": "its name in the question, no picture",
    "page": "and the passages that answer",
    "fact": "and the facts as sentences",
}
"""What an agent is handed at each stage."""

BLIND = ("nothing", "name", "page", "fact")
"""Those that need no picture of the world."""

_RULES = Rules()
_WIDE, _ROW, _LETTERS = 1000, 330, 44
"""Of a card with names, in pixels."""

_NOTHING = (Passage(id="nothing", text="-"),)
"""Searching these finds nothing: a session without passages would have the web searched."""


def measure_ladder(
    folder: Path, *, agent: str = "grounded", stages: Sequence[str] = BLIND, limit: int = 60
) -> Ladder:
    """Ask the first conversations of a world at every stage.

    Without stages that show pictures the pages are searched by words, so that no index is built.
    """
    from mmrag.agents import agents
    from mmrag.judges import make_judge
    from simulator.parts.resources import index_folder, make_resources

    unknown = [stage for stage in stages if stage not in STAGES]
    if unknown:
        raise UsageError(f"no stage is called {unknown[0]!r}; there is {', '.join(STAGES)}.")
    manifest = read_manifest(folder)
    sees = any(stage not in BLIND for stage in stages)
    if sees and not manifest["request"]["pictures"]:
        raise UsageError(f"{folder} has no pictures; leave out the stages picture and box.")
    data = f"world:{folder}"
    found, _ = make_resources(data, index_folder(data, "auto") if sees else None)
    truth = read_truth(folder, found.image_search)
    found.image_search = truth.cards
    found.web_search = SessionSearch(found.web_search if sees else _by_words(folder))
    judge = make_judge("builtin")
    sessions = itertools.islice(read_world(folder, pictures="clean"), limit)
    asked = agents.create(agent, resources=found)
    rungs = asyncio.run(climb(sessions, asked, judge, truth, list(dict.fromkeys(stages))))
    conversations = min(limit, manifest["counts"]["conversations"])
    return Ladder(agent=agent, judge=judge.id, conversations=conversations, rungs=tuple(rungs))


class WorldTruth(NamedTuple):
    """What a world knows about its turns."""

    facts: FactBase
    cards: NameSearch
    passages: dict[str, tuple[Passage, ...]]
    """Turn → the passages that answer it."""


def handed(stage: str, query: Query, session: Session, turn: Turn, truth: WorldTruth) -> Query:
    """What the agent gets at a stage in place of the query."""
    if stage == "picture":
        return query
    if stage == "box":
        return msgspec.structs.replace(query, image=_cut_out(session))
    if stage == "nothing":
        return msgspec.structs.replace(query, image=None, earlier=(), passages=_NOTHING)
    named = msgspec.structs.replace(query, image=truth.cards.card_of(session), earlier=())
    if stage == "page":
        return msgspec.structs.replace(named, passages=truth.passages.get(turn.id, _NOTHING))
    if stage == "fact":
        return msgspec.structs.replace(named, passages=_sentences(turn, truth.facts) or _NOTHING)
    return named


class NameSearch:
    """A picture search that is told what stands in a picture, so that recognising is handed over.

    The picture is a card with the names written on it: who can read needs no search for them.
    """

    def __init__(self, facts: FactBase, others: ImageSearch | None = None) -> None:
        """`others` searches for pictures that are no cards."""
        self._facts, self._others = facts, others
        self._shown: dict[str, tuple[Entity, ...]] = {}

    def card_of(self, session: Session) -> LazyImage:
        """The names of a session's things, that of the one asked about in the middle."""
        things = tuple(self._facts.entity(str(i)) for i in session.extra["visible"])
        rows = [*things[2::2], things[0], *things[1::2]]
        middle = len(things[2::2])
        card = pil.new(
            "RGB", (_WIDE, _ROW * (2 * max(middle, len(rows) - 1 - middle) + 1)), "white"
        )
        pen, font = ImageDraw.Draw(card), ImageFont.load_default(_LETTERS)
        first = card.height // 2 - _ROW * middle
        for row, thing in enumerate(rows):
            pen.text((_WIDE / 2, first + _ROW * row), thing.name, "black", font, anchor="mm")
        picture = LazyImage.from_pil(card, name=f"names of {session.id}")
        self._shown[picture.sha256] = things
        return picture

    def search_images(self, images: Sequence[LazyImage], k: int = 30) -> list[tuple[Evidence, ...]]:
        """The things on a card; of any other picture what the other search finds."""
        return [self._found(image, k) for image in images]

    def _found(self, image: LazyImage, k: int) -> tuple[Evidence, ...]:
        if image.sha256 in self._shown or self._others is None:
            return tuple(map(_hit, self._shown.get(image.sha256, ())))[:k]
        return self._others.search_images([image], k)[0]


def _hit(thing: Entity) -> Evidence:
    known = {"entity_name": thing.name, "entity_attributes": {"type": thing.kind.replace("_", " ")}}
    return Evidence(
        source="image-kg",
        id=thing.id,
        score=1.0,
        text=thing.name,
        title=thing.name,
        attributes={"entities": [known]},
    )


async def climb(
    sessions: Iterable[Session],
    agent: Agent,
    judge: Judge,
    truth: WorldTruth,
    stages: Sequence[str],
) -> list[Rung]:
    """Ask every turn at every stage, after the true answers of the turns before."""
    counts: dict[str, Counter[Outcome]] = {stage: Counter() for stage in stages}

    async def ask(stage: str, session: Session, turn: Turn) -> None:
        history = tuple(
            Exchange(query=before.query, reply=before.reference.text)
            for before in session.turns[: turn.index]
        )
        query = query_of(session, turn, history, _RULES)
        asked = await ask_turn(agent, handed(stage, query, session, turn, truth), _RULES)
        if asked.reply is None or asked.reply.abstained:
            counts[stage][Outcome.MISSING] += 1
            return
        item = JudgeItem(
            question=turn.query,
            references=turn.reference.all_texts,
            prediction=asked.reply.answer,
            id=f"{session.id}/{turn.index}",
        )
        counts[stage][(await verdict_on(judge, item)).outcome] += 1

    for session in sessions:
        for stage in stages:
            await asyncio.gather(*(ask(stage, session, turn) for turn in session.turns))
    return [
        Rung(
            stage=stage,
            handed=STAGES[stage],
            right=sum(n for outcome, n in of.items() if outcome.is_correct),
            wrong=of[Outcome.INCORRECT],
            turns=of.total(),
        )
        for stage, of in counts.items()
    ]


def read_truth(folder: Path, others: ImageSearch | None = None) -> WorldTruth:
    """What the folder knows about its turns."""
    passages: dict[str, list[Passage]] = {}
    for row in stream(folder / "grounding.parquet", ["turn_id", "page_url", "label", "passage"]):
        if GROUNDING_LABELS[row["label"]] == "answers":
            of = passages.setdefault(row["turn_id"], [])
            of.append(Passage(id=row["page_url"], text=row["passage"], url=row["page_url"]))
    facts = read_facts(folder, read_manifest(folder))
    answering = {turn: tuple(of) for turn, of in passages.items()}
    return WorldTruth(facts, NameSearch(facts, others), answering)


def _sentences(turn: Turn, facts: FactBase) -> tuple[Passage, ...]:
    """The facts that the answer rests on, each a passage."""
    needs = turn.extra.get("needs") or ()
    return tuple(
        Passage(
            id=f"fact-{i}",
            text=say_fact(facts.fact(n["entity_id"], n["attribute"], n["at"]), facts),
        )
        for i, n in enumerate(needs)
    )


def _cut_out(session: Session) -> LazyImage | None:
    """The picture's part that shows the thing."""
    capture = captured(session)
    if capture.focus is None:
        return capture.image
    return LazyImage.from_pil(capture.image.pil().crop(capture.focus))


def _by_words(folder: Path) -> WebSearch:
    from mmrag.passages import Cut
    from mmrag.search.index.sources import open_source
    from mmrag.search.web.by_words import PagesByWords

    return PagesByWords(open_source(str(folder)).pages, Cut().chunker)
