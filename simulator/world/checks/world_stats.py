"""The published distributions beside those of a world, counted from its folder and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mmrag.records import Record, Session
from simulator.message_text import counted
from simulator.world.build.table_parts import GROUNDING_LABELS, PAGE_LABELS, SPLITS
from simulator.world.build.world_manifest import read_manifest
from simulator.world.build.world_request import difficulty_of
from simulator.world.checks import published_figures
from simulator.world.checks.verify import stream_rows
from simulator.world.facts.look import LABELLED, Look
from simulator.world.language.voices.voice_reader import describe_voices
from simulator.world.pages.page_orders import IRRELEVANT_PER_RELEVANT
from simulator.world.pictures.kg_pictures import HARD_NEGATIVES, OTHERS_PER_RELEVANT
from simulator.world.pictures.pixel_truth import decode_owners
from simulator.world.pictures.referents import IN_VIEW, sight_of
from simulator.world.pictures.traits import Draws, Traits
from simulator.world.sessions import capture_of, read_world

LARGE = 0.04
"""Of the picture: the box of what is asked about, if it is to be seen well."""


def view_statistics(folder: Path) -> dict[str, float]:
    """Shares in per cent, of egocentric pictures and of turns that mean something in view. A rival
    is another thing of the kind that is asked about."""
    ego = rivalled = nearest = largest = large = 0
    ways: Counter[str] = Counter()
    columns = ["is_ego", "focus", "clean_focus", "owner_image", "scene", "extra"]
    for split in SPLITS:
        for row in stream_rows(folder / f"{split}.parquet", columns):
            ways.update(way for way in row["extra"].get("settled_by") or () if way)
            if not row["is_ego"] or not row["owner_image"]:
                continue
            visible = msgspec.json.decode(row["scene"])["visible"]
            kinds = [str(name).rpartition("-")[0] for name in visible]
            owners = decode_owners(row["owner_image"]["bytes"])
            sight = sight_of(owners, len(visible))
            rivals = [
                n for n, kind in enumerate(kinds, 1)
                if n > 1 and kind == kinds[0] and sight.areas[n - 1] >= IN_VIEW
            ]  # fmt: skip
            ego += 1
            rivalled += bool(rivals)
            nearest += bool(rivals) and all(sight.off(1) < sight.off(n) for n in rivals)
            largest += bool(rivals) and all(sight.areas[0] > sight.areas[n - 1] for n in rivals)
            left, top, right, bottom = row["clean_focus"] or row["focus"] or (0, 0, 0, 0)
            large += (right - left) * (bottom - top) >= LARGE * owners.size
    found = {"egocentric with a rival in view": _percent(rivalled, ego)}
    found["of these, the thing meant is nearest the middle"] = _percent(nearest, rivalled)
    found["of these, the thing meant is the largest"] = _percent(largest, rivalled)
    found[f"egocentric, the thing's box at least {LARGE:g} of the picture"] = _percent(large, ego)
    turns = ways.total()
    return found | {
        f"turns settled by {way}": _percent(n, turns) for way, n in sorted(ways.items())
    }


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


SHARE_TOLERANCE = 2.0
"""Points by which a share may differ from the published one."""

QUALITY_EGO = {
    "normal": 5143, "low-light": 267, "blurred": 191, "truncated": 370, "occluded": 116,
    "rotated": 161,
}  # fmt: skip
QUALITY_NORMAL = {
    "normal": 1593, "low-light": 33, "blurred": 24, "truncated": 31, "occluded": 8, "rotated": 6,
}  # fmt: skip
"""CRAG-MM: pictures per quality, egocentric and catalogue-like."""


class WorldFigure(Record, frozen=True):
    """One number beside its published counterpart."""

    group: str
    name: str
    generated: float
    published: float | None = None
    tolerance: float | None = None
    unit: str = "%"

    @property
    def is_met(self) -> bool | None:
        """Whether it lies within the tolerance; None where nothing is published."""
        if self.published is None or self.tolerance is None:
            return None
        return abs(self.generated - self.published) <= self.tolerance + 1e-9


class Stats(Record, frozen=True, kw_only=True):
    """All figures of a world."""

    folder: str
    language: str
    """Whose words it is in, and whether a reader may know them."""
    figures: tuple[WorldFigure, ...]

    @property
    def missed(self) -> tuple[WorldFigure, ...]:
        """Figures outside their tolerance."""
        return tuple(f for f in self.figures if f.is_met is False)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        rows = [{**msgspec.to_builtins(f), "met": f.is_met} for f in self.figures]
        return {
            "folder": self.folder,
            "language": self.language,
            "figures": rows,
            "missed": len(self.missed),
        }

    def as_text(self) -> str:
        """For people: one line per figure."""
        lines = [self.language, "", f"{'':44}{'published':>12}{'generated':>12}"]
        group = ""
        for f in self.figures:
            if f.group != group:
                group = f.group
                lines.append(f"\n{group}")
            before = "–" if f.published is None else _number(f.published, f.unit)
            mark = {True: "", False: "  outside", None: ""}[f.is_met]
            lines.append(f"  {f.name:42}{before:>12}{_number(f.generated, f.unit):>12}{mark}")
        compared = sum(f.is_met is not None for f in self.figures)
        lines.append(
            f"\n{compared} figures have a published counterpart; {len(self.missed)} of them lie "
            f"outside the tolerance (shares: ±{SHARE_TOLERANCE:g} points)."
        )
        return "\n".join(lines)


def world_stats(folder: Path) -> Stats:
    """Count a world."""
    manifest = read_manifest(folder)
    multi = list(_text_only(read_world(folder, "multi-turn")))
    single = list(_text_only(read_world(folder, "single-turn")))
    return Stats(
        folder=str(folder),
        language=_language(manifest),
        figures=(
            *_sizes(manifest, multi, single),
            *_conversations(multi, single),
            *_questions(multi, single),
            *_voices([*multi, *single]),
            *_difficulty(folder, manifest, [*multi, *single]),
            *_pictures([*multi, *single]),
            *(
                WorldFigure("What is meant", name, share)
                for name, share in view_statistics(folder).items()
            ),
            *_kg(folder, [*multi, *single]),
            *_pages(folder, [*multi, *single]),
        ),
    )


def _text_only(sessions: Iterable[Session]) -> Iterable[Session]:
    """Sessions whose pictures are let go of."""
    from mmrag.files.images import LazyImage

    nothing = LazyImage.from_bytes(b"")
    for session in sessions:
        capture = msgspec.structs.replace(capture_of(session), image=nothing, degraded=None)
        yield msgspec.structs.replace(session, capture=capture)


def _language(manifest: dict[str, Any]) -> str:
    voices = manifest["request"].get("voices")
    if not voices:
        return "Questions and pages of a generator before there were voices."
    return f"Questions and pages in the {describe_voices(voices)}."


def _voices(sessions: list[Session]) -> Iterable[WorldFigure]:
    """How the sessions are shared out among the voices."""
    counts = Counter(str(s.extra.get("voice", "")) for s in sessions)
    for name, count in sorted(counts.items()):
        if name:
            share = 100 * count / len(sessions)
            yield WorldFigure("Voices", name, share)


def _difficulty(
    folder: Path, manifest: dict[str, Any], sessions: list[Session]
) -> Iterable[WorldFigure]:
    """What the dial was set to, in place of what is published, beside what came of it."""
    dial = difficulty_of(manifest)
    if dial is None:
        return
    group = f"Difficulty ({dial.name}): asked for"
    looks = ("entity_id", "kind", "family", "look")
    things = [row for row in stream_rows(folder / "entities.parquet", list(looks)) if row["look"]]
    sizes = Counter((row["kind"], row["family"]) for row in things)
    last = dict(sorted(sizes))  # the last family of a kind may be a smaller one
    counts = Counter(n - 1 for (kind, family), n in sizes.items() if family != last[kind])
    for others in sorted({*dial.look_alikes, *counts}):
        yield WorldFigure(
            group,
            f"families with {counted(others, 'look-alike')} of each",
            100 * counts[others] / max(1, counts.total()),
            100 * dial.look_alikes.get(others, 0),
        )
    alike: dict[tuple[str, int], list[Draws]] = {}
    for row in things:
        traits = Traits(msgspec.json.decode(row["look"], type=Look))
        alike.setdefault((row["kind"], row["family"]), []).append(traits.family)
    families = [members for members in alike.values() if len(members) > 1]
    own = [one(name) != two(name) for one, two, *_ in families for name in _TRAITS]
    yield WorldFigure(
        group,
        "traits in which look-alikes differ",
        100 * sum(own) / max(1, len(own)),
        100 * dial.own_traits,
    )
    kinds = {row["entity_id"]: row["kind"] for row in things}
    clues = [bool(s.turns[0].text_clue) for s in sessions if kinds[s.extra["subject"]] in LABELLED]
    yield WorldFigure(
        group, "print that is legible", 100 * sum(clues) / max(1, len(clues)), 100 * dial.legible
    )
    ways = Counter(w for s in sessions if (w := s.turns[0].extra.get("settled_by")))
    for way, share in dial.settled.items() if ways else ():
        yield WorldFigure(group, f"settled by: {way}", 100 * ways[way] / ways.total(), 100 * share)


_TRAITS = ("hue", "chroma", "level", "scheme", "second-level", "second-chroma")
"""Those of a palette, which things of every kind have."""


def _sizes(
    manifest: dict[str, Any], multi: list[Session], single: list[Session]
) -> Iterable[WorldFigure]:
    turns = sum(len(s.turns) for s in multi)
    total = sum(f["bytes"] for f in manifest["files"].values())
    for name, value in {
        "conversations": len(multi),
        "turns": turns,
        "single-turn questions": len(single),
        "KG pictures": manifest["counts"]["kg_pictures"],
        "pages": manifest["counts"]["pages"],
    }.items():
        yield WorldFigure("Size", name, value, unit="")
    yield WorldFigure("Size", "on disk", total / 1e6, unit="MB")


def _conversations(multi: list[Session], single: list[Session]) -> Iterable[WorldFigure]:
    group = "Conversations"
    lengths = [len(s.turns) for s in multi]
    yield WorldFigure(
        group,
        "turns per conversation",
        sum(lengths) / len(lengths),
        published_figures.MEAN_TURNS,
        0.1,
        unit="",
    )
    shifting = sum(len({t.domain for t in s.turns}) > 1 for s in multi)
    yield WorldFigure(
        group,
        "with a domain shift",
        100 * shifting / len(multi),
        100 * published_figures.DOMAIN_SHIFT,
        2.0,
    )
    later = [t for s in multi for t in s.turns[1:]]
    for name, n in {
        "later turns that need the picture": sum(bool(t.needs_image) for t in later),
        "later turns that need the history": sum(bool(t.needs_history) for t in later),
    }.items():
        yield WorldFigure(group, name, 100 * n / max(1, len(later)))
    first = Counter(s.turns[0].domain for s in multi)
    yield from _shares("Domains, multi-turn (first turn)", first, published_figures.MULTI_TURN)
    domains = Counter(s.turns[0].domain for s in single)
    yield from _shares("Domains, single-turn", domains, published_figures.SINGLE_TOTALS)


def _questions(multi: list[Session], single: list[Session]) -> Iterable[WorldFigure]:
    turns = [t for s in [*multi, *single] for t in s.turns]
    alone = [t for s in single for t in s.turns]
    yield from _shares(
        "Question types, single-turn",
        Counter(t.query_type for t in alone),
        published_figures.TYPE_TOTALS,
    )
    several = Counter(t.query_type for s in multi for t in s.turns)
    yield from _shares("Question types, multi-turn", several, published_figures.TYPE_TOTALS)
    speeds = Counter(t.dynamism for t in turns)
    yield from _shares("Dynamism", speeds, published_figures.DYNAMISM)
    yield _share(
        "Popularity",
        "torso and tail",
        sum(t.popularity in ("torso", "tail") for t in turns) / len(turns),
        published_figures.TORSO_TAIL,
    )
    # A conversation moves on to people and towns, which are in no KG: they do not count here.
    kg = Counter(
        t.popularity
        for s in [*multi, *single]
        for t in s.turns
        if t.extra["source"] == "kg" and t.extra["entity_id"] == s.extra["subject"]
    )
    yield from _shares(
        "Popularity of KG questions", kg, dict.fromkeys(("head", "torso", "tail"), 1)
    )
    yield _share(
        "Evidence",
        "needs facts from outside the picture",
        sum(bool(t.extra["external"]) for t in turns) / len(turns),
        published_figures.EXTERNAL,
    )
    forms = Counter(t.extra["form"] for t in turns)
    for name, n in sorted(forms.items()):
        yield WorldFigure("Forms", name, 100 * n / len(turns))
    offered = Counter(t.reference.text for t in turns if t.reference.text in ("Yes", "No"))
    if total := sum(offered.values()):
        yield WorldFigure("Forms", "yes, of yes/no", 100 * offered["Yes"] / total)


def _pictures(sessions: list[Session]) -> Iterable[WorldFigure]:
    ego = [s.quality for s in sessions if capture_of(s).is_ego]
    plain = [s.quality for s in sessions if not capture_of(s).is_ego]
    pictures = sum(QUALITY_EGO.values()) + sum(QUALITY_NORMAL.values())
    yield _share(
        "Pictures", "egocentric", len(ego) / len(sessions), sum(QUALITY_EGO.values()) / pictures
    )
    yield from _shares("Image quality, egocentric", Counter(ego), QUALITY_EGO)
    yield from _shares("Image quality, catalogue-like", Counter(plain), QUALITY_NORMAL)


def _kg(folder: Path, sessions: list[Session]) -> Iterable[WorldFigure]:
    group = "Image KG"
    pictures = Counter(
        str(row["entity_id"]) for row in stream_rows(folder / "kg.parquet", ["entity_id"])
    )
    families: dict[str, tuple[str, int]] = {
        row["entity_id"]: (row["kind"], row["family"])
        for row in stream_rows(folder / "entities.parquet", ["entity_id", "kind", "family"])
    }
    shown: dict[str, str] = {s.id: s.extra["subject"] for s in sessions}
    subjects = set(shown.values())
    per_family: Counter[tuple[str, int]] = Counter()
    for entity_id, n in pictures.items():
        per_family[families[entity_id]] += n
    negatives = [min(HARD_NEGATIVES, per_family[families[e]] - pictures[e]) for e in shown.values()]
    relevant = sum(pictures[e] for e in subjects)
    total = pictures.total()
    yield WorldFigure(group, "entities", len(pictures), unit="")
    yield WorldFigure(
        group, "pictures per entity", total / max(1, len(pictures)), 68 / 26, 0.5, unit=""
    )
    yield WorldFigure(
        group,
        "entities asked about that it holds",
        100 * sum(pictures[e] > 0 for e in subjects) / len(subjects),
        100 * published_figures.KG_COVERAGE,
        1.0,
    )
    yield WorldFigure(
        group,
        "irrelevant pictures per relevant one",
        (total - relevant) / max(1, relevant),
        OTHERS_PER_RELEVANT,
        1.0,
        unit="",
    )
    yield WorldFigure(
        group,
        f"look-alike pictures per query (most: {HARD_NEGATIVES})",
        sum(negatives) / len(negatives),
        unit="",
    )


def _pages(folder: Path, sessions: list[Session]) -> Iterable[WorldFigure]:
    group = "Web pages"
    labels: Counter[str] = Counter()
    styles: Counter[str] = Counter()
    for row in stream_rows(folder / "pages.parquet", ["label", "style"]):
        labels[PAGE_LABELS[row["label"]]] += 1
        styles[row["style"]] += 1
    worth: Counter[str] = Counter()
    per_turn: Counter[str] = Counter()
    for row in stream_rows(folder / "grounding.parquet", ["turn_id", "label"]):
        worth[GROUNDING_LABELS[row["label"]]] += 1
        per_turn[row["turn_id"]] += 1
    supported: dict[str, set[str]] = {}
    for row in stream_rows(folder / "grounding.parquet", ["turn_id", "supports"]):
        supported.setdefault(row["turn_id"], set()).update(row["supports"])
    external = [t for s in sessions for t in s.turns if t.extra["needs"]]
    needed = {
        t.id: {f"{n['entity_id']}#{n['attribute']}" for n in t.extra["needs"]} for t in external
    }
    partly = sum(bool(supported.get(i, set()) & of) for i, of in needed.items())
    wholly = sum(of <= supported.get(i, set()) for i, of in needed.items())
    yield WorldFigure(
        group,
        "irrelevant pages per relevant one",
        worth["irrelevant"] / max(1, worth.total() - worth["irrelevant"]),
        IRRELEVANT_PER_RELEVANT,
        0.1,
        unit="",
    )
    yield WorldFigure(
        group,
        "most pages per question (published: up to 50)",
        max(per_turn.values(), default=0),
        unit="",
    )
    yield WorldFigure(
        group, "pages per question", per_turn.total() / max(1, len(per_turn)), unit=""
    )
    for name, n in {
        "questions with a needed fact on some page": partly,
        "questions with all needed facts on pages": wholly,
    }.items():
        yield WorldFigure(group, name, 100 * n / max(1, len(external)))
    for name in GROUNDING_LABELS:
        yield WorldFigure("Grounding labels", name, 100 * worth[name] / max(1, worth.total()))
    for name in PAGE_LABELS:
        yield WorldFigure("Page labels", name, 100 * labels[name] / max(1, labels.total()))
    for name, n in sorted(styles.items()):
        yield WorldFigure("Page styles", name, 100 * n / max(1, styles.total()))


def _shares(group: str, counts: Counter[Any], wanted: Mapping[str, float]) -> Iterable[WorldFigure]:
    total, whole = max(1, counts.total()), sum(wanted.values())
    for name, share in wanted.items():
        yield _share(group, name, counts[name] / total, share / whole)


def _share(group: str, name: str, generated: float, wanted: float) -> WorldFigure:
    return WorldFigure(group, name, 100 * generated, 100 * wanted, SHARE_TOLERANCE)


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{value:.1f} %"
    text = f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
    return f"{text} {unit}".strip()
