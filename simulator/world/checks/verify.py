"""Prove a world folder: nothing damaged, every answer derived again, every label true.

The proof reads the folder alone, never the generator: facts from the facts table, programs from
the session tables, statements from the page table. A fact that was changed afterwards makes it
fail even where somebody also corrected the hashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import DataError
from mmrag.records import Record, Session, Turn
from simulator.datasets.own.line_parser import is_gaze
from simulator.datasets.unreadable_row import problem_of
from simulator.message_text import summarise_problems
from simulator.world.build.table_parts import GROUNDING_LABELS, PAGE_LABELS, SPLITS
from simulator.world.build.world_manifest import damaged_files, generator_revision, read_manifest
from simulator.world.facts.domain_schema import Entity, Fact
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.look import Look
from simulator.world.language.answer_program import evaluate
from simulator.world.language.conversations import check_session
from simulator.world.language.questions.question_records import (
    NAMED,
    Conversation,
    NeededFact,
    Question,
)
from simulator.world.pages.grounding_labels import label_for
from simulator.world.pages.page_document import Statement
from simulator.world.pictures.pixel_truth import decode_owners
from simulator.world.pictures.referents import Owners, referent_cues, view_questions
from simulator.world.sessions import read_world


class WorldReport(Record, frozen=True, kw_only=True):
    """What was checked and what was found."""

    folder: str
    files: int
    answers: int
    statements: int
    groundings: int
    problems: tuple[str, ...]
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return msgspec.to_builtins(self)

    def as_text(self) -> str:
        """For people."""
        head = (
            f"{self.folder}: {self.files} files, {self.answers:,} answers derived again, "
            f"{self.statements:,} statements of pages and {self.groundings:,} grounding labels "
            "compared with the facts. "
        )
        note = f"\n{self.note}" if self.problems and self.note else ""
        return head + summarise_problems(self.problems) + note


def verify_world(folder: Path) -> WorldReport:
    """Check a folder from its files alone."""
    manifest = read_manifest(folder)
    problems = damaged_files(folder, manifest)
    lost = [name for name in manifest["files"] if not (folder / name).is_file()]
    if lost:
        return _report(folder, manifest, problems)
    facts = read_facts(folder, manifest)
    voices = {str(v).partition("@")[0] for v in manifest["request"].get("voices") or [""]}
    answers = 0
    turns: dict[str, Turn] = {}
    for split in SPLITS:
        for session in read_world(folder, split):
            if (problem := problem_of(session)) is not None:
                problems.append(problem)
                continue
            conversation = conversation_of(session)
            answers += len(session.turns)
            turns |= {turn.id: turn for turn in session.turns}
            problems += check_session(conversation, facts)
            problems += _check_needs(conversation, facts)
            problems += _check_scene(conversation, facts, voices)
        problems += _check_referents(folder / f"{split}.parquet", facts)
    said, statements = _check_pages(folder, facts, voices, problems)
    groundings = _check_grounding(folder, facts, turns, said, problems)
    problems += _check_kg(folder)
    return _report(folder, manifest, problems, answers, statements, groundings)


def read_facts(folder: Path, manifest: dict[str, Any]) -> FactBase:
    """The fact base as the folder's tables have it."""
    return FactBase.from_facts(
        seed=manifest["seed"],
        window=(manifest["window"][0], manifest["window"][1]),
        entities=(
            Entity(
                id=row["entity_id"],
                name=row["name"],
                aliases=tuple(row["aliases"]),
                domain=row["domain"],
                kind=row["kind"],
                popularity=row["popularity"],
                family=row["family"],
                look=msgspec.json.decode(row["look"], type=Look) if row["look"] else None,
            )
            for row in stream_rows(folder / "entities.parquet")
        ),
        facts=(
            Fact(
                entity_id=row["entity_id"],
                attribute=row["attribute"],
                value=_value(row["value"]),
                unit=row["unit"],
                valid_from=row["valid_from"],
                valid_to=row["valid_to"],
            )
            for row in stream_rows(folder / "facts.parquet")
        ),
    )


def stream_rows(path: Path, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Rows of a table, a batch at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=2048, columns=columns):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({error}); write the world again.") from error


def _report(
    folder: Path,
    manifest: dict[str, Any],
    problems: list[str],
    answers: int = 0,
    statements: int = 0,
    groundings: int = 0,
) -> WorldReport:
    return WorldReport(
        folder=str(folder),
        files=len(manifest["files"]),
        answers=answers,
        statements=statements,
        groundings=groundings,
        problems=tuple(problems),
        note=""
        if manifest["generator"] == generator_revision()
        else "The world was written by another version of the generator, which may have had other "
        "attributes or wordings: write it again from its seed, or verify it with that version.",
    )


def conversation_of(session: Session) -> Conversation:
    """The session as the generator knew it, rebuilt from what the folder holds."""
    return Conversation(
        id=session.id,
        entity_id=session.extra["subject"],
        visible=tuple(session.extra["visible"]),
        text_clue=session.extra["legible"],
        query_time=session.query_time or "",
        domain=session.extra["domain"],
        voice=session.extra.get("voice", ""),
        place=session.extra.get("place", "out"),
        questions=tuple(_question_of(turn) for turn in session.turns),
    )


def _question_of(turn: Turn) -> Question:
    noted = {k: v for k, v in turn.extra.items() if k in Question.__struct_fields__}
    known = {
        "id": turn.id,
        "index": turn.index,
        "text": turn.query,
        "answer": turn.reference.text,
        "accept": turn.reference.accept,
        "domain": turn.domain,
        "query_type": turn.query_type,
        "dynamism": turn.dynamism,
        "popularity": turn.popularity,
        "needs_image": turn.needs_image,
        "needs_history": turn.needs_history,
        "text_clue": turn.text_clue,
    }
    return msgspec.convert({**noted, **known}, Question)


def _check_needs(conversation: Conversation, facts: FactBase) -> list[str]:
    """The facts that a question names as its evidence are those that its program reads."""
    problems: list[str] = []
    for question in conversation.questions:
        try:
            _, accesses = evaluate(question.program, facts, question.at)
        except DataError:
            continue  # told by `check_session`
        read = {(a.entity_id, a.attribute, a.at) for a in accesses}
        if {(n.entity_id, n.attribute, n.at) for n in question.needs} != read:
            problems.append(f"{question.id}: its evidence is not what its program reads.")
    return problems


_UNNAMED = "which world.json does not name"

Said = dict[str, list[Statement]]


def _check_scene(conversation: Conversation, facts: FactBase, voices: set[str]) -> list[str]:
    """It is in a voice of this world, and its picture lets print be read where there is some."""
    name, problems = conversation.id, list[str]()
    if conversation.voice not in voices:
        problems.append(f"{name}: in the voice {conversation.voice!r}, {_UNNAMED}")
    look = facts.entity(conversation.entity_id).look
    if conversation.text_clue and (look is None or not look.label):
        problems.append(f"{name}: its picture is to show print, and what it shows carries none")
    return problems


def _check_referents(table: Path, facts: FactBase) -> list[str]:
    """What every turn means is settled again from the owner mask; nothing is taken from the scene.
    Tables without pictures have no mask, and those that were written before say nothing of it."""
    problems: list[str] = []
    for row in stream_rows(table, ["session_id", "answers", "owner_image", "scene", "extra"]):
        extra, mask = row["extra"], row["owner_image"]
        if mask is None or not mask["bytes"] or not extra.get("settled_by"):
            continue
        visible = msgspec.json.decode(row["scene"])["visible"]
        notes = [msgspec.json.decode(note) for note in extra["notes"]]
        try:
            owners = decode_owners(mask["bytes"])
            asked = view_questions(
                ((n["means"], n["could_mean"], n["settled_by"]) for n in notes), visible
            )
        except (DataError, KeyError) as error:
            problems.append(f"{row['session_id']}: what its picture shows is not known ({error})")
            continue
        kinds = [facts.entity(name).kind for name in visible]
        said = zip(extra["settled_by"], extra["gaze"], strict=True)
        open_to_gaze = "gaze" in extra["settled_by"]
        ways = referent_cues(owners, kinds, asked, gaze=open_to_gaze)
        for number, (way, one, (stored, gaze)) in enumerate(zip(ways, asked, said, strict=True)):
            name = f"{row['session_id']}-{number}"
            if way != stored:
                problems.append(
                    f"{name}: said to be settled by {stored or 'nothing in view'}; the picture "
                    f"says {way or 'nothing in view'}"
                )
            told = " ".join(row["answers"]["ans_full"][:number])
            if notes[number]["settled_by"] == NAMED and not all(
                facts.entity(visible[of - 1]).name in told for of in one.means
            ):
                problems.append(f"{name}: no earlier answer names the thing that is meant")
            if not _looks_at(owners, gaze, (one.means or (1,))[0]):
                problems.append(f"{name}: the wearer looks beside the thing that is meant")
    return problems


def _looks_at(owners: Owners, gaze: list[float] | None, number: int) -> bool:
    """Whether a gaze is on a thing; what nobody sees cannot be looked at."""
    if gaze is None:
        return not (owners == number).any()
    if not is_gaze(gaze):
        return False
    height, width = owners.shape
    x, y = min(int(gaze[0] * width), width - 1), min(int(gaze[1] * height), height - 1)
    return bool(owners[y, x] == number)


def _check_pages(
    folder: Path, facts: FactBase, voices: set[str], problems: list[str]
) -> tuple[Said, int]:
    """Every statement of every page: true where it says so, never true where planted as wrong."""
    said: Said = {}
    count = 0
    for row in stream_rows(folder / "pages.parquet", ["page_url", "label", "about"]):
        url = row["page_url"]
        about = msgspec.json.decode(row["about"], type=dict[str, Any])
        states = [msgspec.convert(_tupled(s), Statement) for s in about["states"]]
        if about.get("voice", "") not in voices:
            problems.append(
                f"{url}: in the voice {about['voice']!r}, which world.json does not name"
            )
        if url in said:
            problems.append(f"{url}: two pages have this address")
        said[url] = states
        count += len(states)
        problems += [f"{url}: {p}" for s in states if (p := _false(s, facts))]
        if (PAGE_LABELS[row["label"]] == "hostile") != (about["attack"] is not None):
            problems.append(f"{url}: labelled hostile without an attack, or the reverse")
    return said, count


def _false(statement: Statement, facts: FactBase) -> str:
    """What is wrong with a statement; empty where nothing is."""
    history = facts.history(statement.entity_id, statement.attribute)
    if not statement.is_true:
        held = any(f.value == statement.value for f in history)
        return f"the planted {statement.attribute} did hold once" if held else ""
    holding = [
        f
        for f in history
        if (f.valid_from is None or f.valid_from <= statement.as_of)
        and (f.valid_to is None or statement.as_of < f.valid_to)
    ]
    if [f.value for f in holding] == [statement.value]:
        return ""
    return f"it states a {statement.attribute} of {statement.entity_id} that did not hold then"


def _check_grounding(
    folder: Path, facts: FactBase, turns: dict[str, Turn], said: Said, problems: list[str]
) -> int:
    """Every label again from the page's statements and the turn's needs."""
    count = 0
    for row in stream_rows(folder / "grounding.parquet", ["turn_id", "page_url", "label"]):
        count += 1
        turn, states = turns.get(row["turn_id"]), said.get(row["page_url"])
        where = f"{row['turn_id']} × {row['page_url']}"
        if turn is None or states is None:
            problems.append(f"{where}: grounding of an unknown turn or page")
            continue
        needs = [msgspec.convert(n, NeededFact) for n in turn.extra["needs"]]
        label = label_for(states, needs, facts)
        if label != GROUNDING_LABELS[row["label"]]:
            problems.append(
                f"{where}: labelled {GROUNDING_LABELS[row['label']]}, but it is {label}"
            )
        if turn.reference.grounding.get(row["page_url"]) != GROUNDING_LABELS[row["label"]]:
            problems.append(f"{where}: the session's own label differs")
    return count


def _check_kg(folder: Path) -> list[str]:
    """No query picture stands in the KG."""
    known = {
        row["image_sha256"]
        for row in stream_rows(folder / "kg.parquet", ["image_sha256"])
        if row["image_sha256"]
    }
    columns = ["session_id", "image_sha256", "clean_sha256"]
    return [
        f"{row['session_id']}: its picture stands in the KG"
        for split in SPLITS
        for row in stream_rows(folder / f"{split}.parquet", columns)
        if row["image_sha256"] in known or row["clean_sha256"] in known
    ]


def _value(text: str) -> Any:
    value = msgspec.json.decode(text)
    return tuple(value) if isinstance(value, list) else value


def _tupled(statement: dict[str, Any]) -> dict[str, Any]:
    value = statement["value"]
    return {**statement, "value": tuple(value)} if isinstance(value, list) else statement
