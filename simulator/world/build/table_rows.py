"""The rows of every table, made from the facts, the conversations and the plans of a world."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mmrag.records import Polygon
from simulator.world.build.table_parts import (
    DOMAINS,
    DYNAMISM,
    GROUNDING_LABELS,
    IMAGE_QUALITY,
    PAGE_LABELS,
    QUERY_CATEGORIES,
    plain_quality,
)
from simulator.world.build.world_request import WorldRequest
from simulator.world.facts.domain_schema import Entity
from simulator.world.facts.factbase import FactBase
from simulator.world.language.questions.question_records import Conversation, Question
from simulator.world.pages.grounding_labels import Grounder, Grounding
from simulator.world.pages.page_html import to_html
from simulator.world.pages.page_orders import PagePlan
from simulator.world.pages.page_writer import PageOrder, compose
from simulator.world.pictures import kg_pictures, session_pictures
from simulator.world.pictures.session_pictures import ALONE, RivalPlan

Row = dict[str, Any]


class WorldPlan(NamedTuple):
    """Everything that is settled before the first part is written."""

    request: WorldRequest
    facts: FactBase
    multi: Sequence[Conversation]
    single: Sequence[Conversation]
    pages: PagePlan
    shots: Sequence[kg_pictures.KgPicture]
    specs: dict[str, str]
    """Session → degradation of its picture."""
    company: dict[str, RivalPlan]
    """Session → what stands beside the thing asked about; none: nothing that is not asked for."""


def fact_rows(plan: WorldPlan, entities: Sequence[Entity]) -> list[Row]:
    """One row per fact of these entities."""
    return [
        {
            "entity_id": entity.id,
            "entity_name": entity.name,
            "kind": entity.kind,
            "domain": entity.domain,
            "attribute": fact.attribute,
            "value": _json(fact.value),
            "unit": fact.unit,
            "valid_from": fact.valid_from,
            "valid_to": fact.valid_to,
        }
        for entity in entities
        for fact in plan.facts.facts(entity.id)
    ]


def entity_rows(entities: Sequence[Entity]) -> list[Row]:
    """One row per entity."""
    return [
        {
            "entity_id": entity.id,
            "name": entity.name,
            "aliases": list(entity.aliases),
            "domain": entity.domain,
            "kind": entity.kind,
            "popularity": entity.popularity,
            "family": entity.family,
            "look": _json(entity.look) if entity.look else None,
        }
        for entity in entities
    ]


def page_rows(plan: WorldPlan, orders: Sequence[PageOrder]) -> list[Row]:
    """One row per page. `about` holds its statements and, for a hostile page, its attack."""
    rows: list[Row] = []
    for order in orders:
        document = compose(order, plan.facts)
        about = {
            "order": order.id,
            "voice": Path(order.voice).name,
            "copy_of": order.copy_of,
            "wrong": order.wrong,
            "attack": document.attack,
            "states": [s for s, _ in document.statements],
        }
        rows.append(
            {
                "page_url": document.url,
                "page_name": document.title,
                "date": document.date,
                "style": document.style,
                "html": to_html(document, plan.facts.seed),
                "entity_id": document.entity_id,
                "label": PAGE_LABELS.index(document.label),
                "about": _json(about),
            }
        )
    return rows


def kg_rows(plan: WorldPlan, first: int, shots: Sequence[kg_pictures.KgPicture]) -> list[Row]:
    """One row per KG picture."""
    rows: list[Row] = []
    for index, shot in enumerate(shots, first):
        jpeg = None
        if plan.request.pictures:
            from simulator.world.pictures.scene import renderer

            scene = kg_pictures.kg_scene(shot, plan.facts, plan.request)
            jpeg = session_pictures.encode_jpeg(renderer().compose(scene).image, plan.request.jpeg)
        rows.append(kg_pictures.kg_row(index, shot, plan.facts, jpeg))
    return rows


def session_rows(
    plan: WorldPlan, grounder: Grounder, sessions: Sequence[Conversation]
) -> tuple[list[Row], list[Row]]:
    """Session rows, and the grounding rows of their turns."""
    rows: list[Row] = []
    grounding: list[Row] = []
    for session in sessions:
        found = [grounder.of_turn(q.id, q.needs or (), q.at) for q in session.questions]
        rows.append(_session_row(plan, session, found))
        grounding += [
            _grounding_row(q, g) for q, of in zip(session.questions, found, strict=True) for g in of
        ]
    return rows, grounding


def _session_row(plan: WorldPlan, session: Conversation, found: list[list[Grounding]]) -> Row:
    questions = session.questions
    spec = plan.specs[session.id]
    company = plan.company.get(session.id, ALONE)
    shot = (
        session_pictures.take_picture(session, spec, plan.facts, plan.request, company)
        if plan.request.pictures
        else None
    )
    ego = session_pictures.is_ego(session, plan.facts.seed)
    nothing = [None] * len(questions)
    scene: Row = {
        "subject": session.entity_id,
        "visible": session.visible,
        "legible": session.text_clue,
        "domain": session.domain,
        "voice": session.voice,
        "place": session.place,
    }
    if shot:
        scene |= {
            "visible": shot.things,
            "other_polygons": shot.other_polygons,
            "texts": shot.texts,
            "visible_shares": shot.visible,
            "scene": shot.scene,
        }
    return {
        "session_id": session.id,
        "image_url": None if ego else f"https://images.worldkg.example/query/{session.id}.jpg",
        "turns": {
            "interaction_id": [q.id for q in questions],
            "domain": [DOMAINS.index(q.domain) for q in questions],
            "query_category": [QUERY_CATEGORIES.index(q.query_type) for q in questions],
            "dynamism": [DYNAMISM.index(q.dynamism) for q in questions],
            "query": [q.text for q in questions],
            "image_quality": [_QUALITIES.index(session_pictures.quality_of(spec))] * len(questions),
        },
        "answers": {
            "interaction_id": [q.id for q in questions],
            "ans_full": [q.answer for q in questions],
        },
        "query_time": session.query_time,
        "is_ego": ego,
        **(_picture_columns(session, shot) if shot else {"degradation": spec}),
        "scene": _json(scene),
        "extra": {
            "accept": [list(q.accept) for q in questions],
            "program": [_json(q.program) for q in questions],
            "needs_image": [q.needs_image for q in questions],
            "needs_history": [q.needs_history for q in questions],
            "text_clue": [q.text_clue for q in questions],
            "popularity": [q.popularity for q in questions],
            "entity_id": [q.entity_id for q in questions],
            "evidence": [[g.page_url for g in of if g.label == "answers"] for of in found],
            "grounding": [_json({g.page_url: g.label for g in of}) for of in found],
            "notes": [_json(_notes(q)) for q in questions],
            "settled_by": shot.settled_by if shot else nothing,
            "gaze": [_listed(point, 4) for point in shot.gazes] if shot else nothing,
        },
    }


def _picture_columns(session: Conversation, shot: session_pictures.SessionPicture) -> Row:
    name = f"{session.id}.jpg"
    captured = shot.captured or shot.clean
    differs = shot.captured is not None
    whole = session_pictures.box_of(shot.polygon)
    return {
        "image": {"bytes": captured, "path": name},
        "image_sha256": session_pictures.sha256(captured),
        "focus": _listed(shot.captured_focus if differs else whole),
        "polygon": _flat(shot.captured_polygon if differs else shot.polygon),
        "degradation": shot.degradation,
        "degraded": _json(shot.record) if shot.record is not None else None,
        "clean_image": {"bytes": shot.clean, "path": f"clean-{name}"} if differs else None,
        "clean_sha256": session_pictures.sha256(shot.clean) if differs else None,
        "clean_focus": _listed(whole) if differs else None,
        "clean_polygon": _flat(shot.polygon) if differs else None,
        "owner_image": {"bytes": shot.owners, "path": f"{session.id}-owners.png"},
        "depth_image": {"bytes": shot.depth, "path": f"{session.id}-depth.png"},
    }


def _notes(question: Question) -> Row:
    return {
        "template": question.template,
        "ways": question.ways,
        "form": question.form,
        "source": question.source,
        "external": question.external,
        "false_premise": question.false_premise,
        "answer_kind": question.answer_kind,
        "choice": question.choice,
        "at": question.at,
        "entities": question.entities,
        "visible": question.visible,
        "means": question.means,
        "could_mean": question.could_mean,
        "settled_by": question.settled_by,
        "needs": question.needs,
    }


def _grounding_row(question: Question, grounding: Grounding) -> Row:
    return {
        "turn_id": question.id,
        "page_url": grounding.page_url,
        "label": GROUNDING_LABELS.index(grounding.label),
        "passage": grounding.passage,
        "supports": list(grounding.supports),
        "page_label": PAGE_LABELS.index(grounding.page_label),
        "age_days": grounding.age_days,
    }


def _listed(numbers: Sequence[float] | None, digits: int = 2) -> list[float] | None:
    return [round(float(n), digits) for n in numbers] if numbers else None


def _flat(polygon: Polygon | None) -> list[float] | None:
    return [n for point in polygon for n in point] if polygon else None


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


_QUALITIES = [plain_quality(name) for name in IMAGE_QUALITY]
