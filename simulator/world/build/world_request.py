"""What is asked of a build: how large a world is, in CRAG-MM's proportions, and how hard.

How hard is what stands beside the thing meant, what looks like it, and what can be read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

from mmrag.errors import SpecError, UsageError
from mmrag.files import bounded_yaml
from mmrag.records import Record
from mmrag.registry import unknown_name_message
from simulator.message_text import counted
from simulator.world.facts.invented_names import MAX_SEED
from simulator.world.language.questions.question_records import SETTLED_BY
from simulator.world.language.voices.voice_reader import OPEN, parse_voices

WAYS = (*(way for way in SETTLED_BY if way != "history"), "ambiguous")
"""By what it is settled in a conversation which thing is meant; `ambiguous`: by nothing, on
purpose, and the right reply asks back or names both."""

MOST_LOOK_ALIKES = 30
MOST_RIVALS = 8


class Difficulty(Record, frozen=True, kw_only=True):
    """The dial of a world."""

    name: str
    """A preset, or `own` where one of its values was changed."""
    rivals: int
    """Most things in a picture that a question's words could mean besides the one that is meant."""
    look_alikes: dict[int, float]
    """Things of the world that differ from one in details only → share of such families."""
    settled: dict[str, float]
    """By what it is settled which thing is meant → share of conversations."""
    legible: float
    """Share of the pictures of things that carry print in which it can be read."""
    own_traits: float = 0.0
    """Share of its traits (colours, proportions, parts) in which a thing differs from its
    look-alikes; without any they differ in details only."""

    def in_words(self) -> str:
        """One line, for people."""
        alike = " or ".join(str(n) for n in sorted(self.look_alikes))
        unlike = f"{self.own_traits:.0%} of their traits" if self.own_traits else "details"
        ways = ", ".join(f"{way} {share:.0%}" for way, share in self.settled.items() if share)
        return (
            f"{self.name}: {alike} look-alikes of a thing that differ in {unlike}, at most "
            f"{counted(self.rivals, 'rival')} in a picture, print legible in "
            f"{self.legible:.0%}; settled by {ways}"
        )


LIFE = Difficulty(
    name="life",
    rivals=2,
    look_alikes={2: 0.5, 3: 0.5},
    settled=dict(zip(WAYS, (0.5, 0.14, 0.12, 0.17, 0.03, 0.04), strict=True)),
    legible=0.85,
    own_traits=0.25,
)
HARD = Difficulty(
    name="hard",
    rivals=4,
    look_alikes={7: 1.0},
    settled=dict(zip(WAYS, (0.2, 0.34, 0.16, 0.16, 0.1, 0.04), strict=True)),
    legible=0.6,
)
PRESETS = {preset.name: preset for preset in (LIFE, HARD)}


def make_difficulty(
    preset: str = "life",
    *,
    rivals: int | None = None,
    look_alikes: int | None = None,
    shares: Path | None = None,
) -> Difficulty:
    """A preset with what is said otherwise.

    >>> make_difficulty("hard", rivals=1).name
    'own'
    """
    if preset not in PRESETS:
        raise UsageError(unknown_name_message("difficulty", preset, PRESETS))
    changes: dict[str, Any] = read_difficulty(shares) if shares else {}
    if look_alikes is not None:
        _check_range("--look-alikes", look_alikes, MOST_LOOK_ALIKES)
        if "look_alikes" in changes:
            raise UsageError(f"--look-alikes and {shares} both say it; leave one of them out.")
        changes["look_alikes"] = {look_alikes: 1.0}
    if rivals is not None:
        _check_range("--rivals", rivals, MOST_RIVALS)
        changes["rivals"] = rivals
    found = PRESETS[preset]
    changed = {key: value for key, value in changes.items() if value != getattr(found, key)}
    return msgspec.structs.replace(found, name="own", **changed) if changed else found


def difficulty_of(manifest: dict[str, Any]) -> Difficulty | None:
    """The dial of a world that was built; None before there was one."""
    dial = manifest["request"].get("difficulty")
    return msgspec.convert(dial, Difficulty, strict=False) if dial else None


def read_difficulty(path: Path) -> dict[str, Any]:
    """The values of a file of shares. What is wrong is said with its line. settled: {alone: 0.5,
    attention: 0.46, ambiguous: 0.04} look_alikes: {0: 0.2, 3: 0.8} legible: 0.9 own_traits: 0.2"""
    lines: dict[str, int] = {}
    try:
        tree = bounded_yaml.compose(bounded_yaml.read_text(path))
        if not isinstance(tree, yaml.MappingNode):
            raise SpecError(f"{path}:1: no shares; {_FORM}.")
        for key, _ in tree.value:
            line = key.start_mark.line + 1
            if lines.setdefault(str(key.value), line) != line:
                raise SpecError(f"{path}:{line}: {key.value} is given twice; leave one out.")
        found = msgspec.convert(bounded_yaml.value_of(tree), _Shares)
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: cannot be read ({error}); give a file of shares.") from error
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 1
        problem = getattr(error, "problem", None) or str(error)
        raise SpecError(f"{path}:{line}: no YAML, {problem}; {_FORM}.") from error
    except msgspec.ValidationError as error:
        named = re.search(r"field `(\w+)`|\$\.(\w+)", str(error))
        line = lines.get(named.group(1) or named.group(2), 1) if named else 1
        raise SpecError(f"{path}:{line}: {error}; {_FORM}.") from error
    given = {key: getattr(found, key) for key in lines}
    for key, value in given.items():
        if problem := _problem(key, value):
            raise SpecError(f"{path}:{lines[key]}: {key}: {problem}.")
    return given


class _Shares(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a file of shares may say."""

    settled: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    look_alikes: dict[int, float] = msgspec.field(default_factory=dict[int, float])
    legible: float = 0.0
    own_traits: float = 0.0


_FORM = (
    "write settled, look_alikes, legible or own_traits, as in "
    "`settled: {alone: 0.9, ambiguous: 0.1}`, `look_alikes: {0: 0.2, 3: 0.8}`, `legible: 0.9`"
)


def _problem(key: str, value: Any) -> str:
    """What is wrong with a value, and what to do about it; empty if nothing is."""
    shares: dict[Any, float] = value if isinstance(value, dict) else {key: value}
    for share in shares.values():
        if not 0 <= share <= 1:
            return f"a share is {share:g}; give one from 0 to 1"
    if key == "settled" and (unknown := [way for way in shares if way not in WAYS]):
        return f"nothing is settled by {unknown[0]!r}; choose from {', '.join(WAYS)}"
    if key == "look_alikes" and not all(0 <= n <= MOST_LOOK_ALIKES for n in shares):
        return f"give numbers of look-alikes from 0 to {MOST_LOOK_ALIKES}"
    if isinstance(value, dict) and abs(sum(shares.values()) - 1) > 1e-6:
        return f"the shares add up to {sum(shares.values()):g}; let them add up to 1"
    return ""


def _check_range(option: str, number: int, most: int) -> None:
    if not 0 <= number <= most:
        raise UsageError(f"{option} {number} is out of range; give 0 to {most}.")


CONVERSATIONS = 1956
SINGLES = 6462
KG_PICTURES = 68_000
ENTITIES = 27_840
"""So many that 26,000 have pictures: the rest is what the image KG does not hold."""
SIZES = ("mini", "crag-mm")
MOST_SESSIONS, MOST_SINGLES, MOST_KG_PICTURES = 20_000, 66_000, 700_000
"""The invented names of one seed suffice for about ten times the published size."""


class WorldRequest(Record, frozen=True, kw_only=True):
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
    singles: int | None = None,
    kg_pictures: int | None = None,
    voices: str = "open",
    difficulty: Difficulty = LIFE,
    pictures: bool = True,
) -> WorldRequest:
    """A request of `sessions` conversations with everything else in proportion, unless it is given.

    >>> make_request(7, 1956).kg_pictures, make_request(7, 1956, kg_pictures=5000).kg_pictures
    (68000, 5000)
    """
    if size not in SIZES:
        raise UsageError(unknown_name_message("size", size, SIZES))
    if not 0 <= seed < MAX_SEED:
        raise UsageError(f"seed {seed} is out of range; choose one from 0 to {MAX_SEED - 1}.")
    n = sessions if sessions is not None else (60 if size == "mini" else CONVERSATIONS)
    if not 1 <= n <= MOST_SESSIONS:
        raise UsageError(
            f"{n} conversations make no world; ask for 1 to {MOST_SESSIONS:,} with --sessions."
        )
    scale = n / CONVERSATIONS
    request = WorldRequest(
        seed=seed,
        size=size,
        conversations=n,
        singles=max(1, round(SINGLES * scale)),
        entities=max(400, round(ENTITIES * scale)),
        kg_pictures=max(1, round(KG_PICTURES * scale)),
        voices=parse_voices(voices),
        difficulty=difficulty,
        pictures=pictures,
    )
    if size == "mini":
        # Denser than published: every domain, type and quality must show in a small folder.
        request = msgspec.structs.replace(
            request, singles=max(1, round(2.6 * n)), entities=max(400, round(18 * n)),
            kg_pictures=round(10 * n), ego=(720, 960), catalogue=512, kg_side=320, jpeg=76,
        )  # fmt: skip
    if singles is not None:
        _check_range("--singles", singles, MOST_SINGLES)
        request = msgspec.structs.replace(request, singles=singles)
    if kg_pictures is not None:
        _check_range("--kg-pictures", kg_pictures, MOST_KG_PICTURES)
        request = msgspec.structs.replace(request, kg_pictures=kg_pictures)
    return request


def needed_bytes(request: WorldRequest) -> int:
    """About how much disk a build takes at its peak (parts and finished tables side by side)."""
    sessions = request.conversations + request.singles
    turns = round(4.9 * request.conversations) + request.singles
    text = 30_000 * turns + 800 * request.entities
    shots = sessions * request.ego[0] * request.ego[1] * 0.21 if request.pictures else 0
    kg = request.kg_pictures * request.kg_side**2 * 0.13 if request.pictures else 0
    return int(2.1 * (text + shots + kg)) + (32 << 20)
