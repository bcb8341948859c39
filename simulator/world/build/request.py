"""What is asked of a build: sizes that follow CRAG-MM's proportions, checked before any work."""

from __future__ import annotations

from mmrag.errors import UsageError
from mmrag.records import Record
from simulator.world.build.difficulty import LIFE, Difficulty
from simulator.world.facts.names import MAX_SEED
from simulator.world.language.voices.reading import OPEN, named

CONVERSATIONS = 1956
SINGLES = 6462
KG_PICTURES = 68_000
ENTITIES = 27_840
"""So many that 26,000 have pictures: the rest is what the image KG does not hold."""
SIZES = ("mini", "crag-mm")
MOST_SESSIONS = 20_000
"""The invented names of one seed suffice for about ten times the published size."""


class Request(Record, frozen=True, kw_only=True):
    """Everything that determines the bytes of a world."""

    seed: int
    size: str
    conversations: int
    singles: int
    entities: int
    """Things that can stand in a picture; people, companies and towns come on top."""
    kg_pictures: int
    ego: tuple[int, int] = (960, 1280)
    """Width and height of egocentric pictures."""
    catalogue: int = 768
    """Side of catalogue-like query pictures."""
    kg_side: int = 384
    """Side of KG pictures: catalogue pictures are small, which bounds disk and time."""
    jpeg: int = 88
    voices: tuple[str, ...] = OPEN
    """Who words its questions and pages."""
    difficulty: Difficulty = LIFE
    pictures: bool = True
    """False leaves every picture out: facts, text and pages only, to measure them apart."""


def make_request(
    seed: int,
    sessions: int | None = None,
    size: str = "crag-mm",
    *,
    voices: str = "open",
    difficulty: Difficulty = LIFE,
    pictures: bool = True,
) -> Request:
    """A request of `sessions` conversations with everything else in proportion.

    >>> make_request(7, 1956).kg_pictures
    68000
    """
    if size not in SIZES:
        raise UsageError(f"no size is called {size!r}; there is {' and '.join(SIZES)}.")
    if not 0 <= seed < MAX_SEED:
        raise UsageError(f"seed {seed} is out of range; choose one from 0 to {MAX_SEED - 1}.")
    n = sessions if sessions is not None else (60 if size == "mini" else CONVERSATIONS)
    if not 1 <= n <= MOST_SESSIONS:
        raise UsageError(
            f"{n} conversations make no world; ask for 1 to {MOST_SESSIONS:,} with --sessions."
        )
    if size == "mini":
        # Denser than published: every domain, type and quality must show in a small folder.
        return Request(
            seed=seed,
            size=size,
            conversations=n,
            singles=max(1, round(2.6 * n)),
            entities=max(400, round(18 * n)),
            kg_pictures=round(10 * n),
            ego=(720, 960),
            catalogue=512,
            kg_side=320,
            jpeg=76,
            voices=named(voices),
            difficulty=difficulty,
            pictures=pictures,
        )
    scale = n / CONVERSATIONS
    entities = max(400, round(ENTITIES * scale))
    return Request(
        seed=seed,
        size=size,
        conversations=n,
        singles=max(1, round(SINGLES * scale)),
        entities=entities,
        kg_pictures=max(1, round(KG_PICTURES * scale)),
        voices=named(voices),
        difficulty=difficulty,
        pictures=pictures,
    )


def needed_bytes(request: Request) -> int:
    """About how much disk a build takes at its peak (parts and finished tables side by side)."""
    sessions = request.conversations + request.singles
    turns = round(4.9 * request.conversations) + request.singles
    text = 30_000 * turns + 800 * request.entities
    shots = sessions * request.ego[0] * request.ego[1] * 0.21 if request.pictures else 0
    kg = request.kg_pictures * request.kg_side**2 * 0.13 if request.pictures else 0
    return int(2.1 * (text + shots + kg)) + (32 << 20)
