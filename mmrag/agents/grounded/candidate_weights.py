"""The candidates for the thing in view, weighed by what was said and by what can be answered.

Where likeness alone names the thing, the likeliest is often not the right one, but the right one
is mostly among the next few. What the wearer says of it tells them apart (`weigh_by_talk`), and an
answer on which several of them agree does not depend on which of them it is
(`find_agreed_answer`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from mmrag.agents.grounded.entities_in_view import candidates_elsewhere
from mmrag.agents.grounded.passage_text import comparable_name
from mmrag.agents.grounded.question_plan import QuestionPlan
from mmrag.agents.grounded.scene_records import Candidate, Finding, Scene
from mmrag.agents.grounded.values import read_value

MOST = 4
"""Candidates that are read for one question."""

_LEAST = 0.08
"""A candidate less probable than this is not read for."""

_SUREST = 0.93
"""What is known from likeness and talk only is never surer than this."""

_NAMED, _COMPARED = 4.0, 0.05
"""Odds of a candidate that the wearer asks after ("is this X?"), or sets beside the thing in view
("is it taller than X?")."""

_MATCHES, _DIFFERS = 5.0, 0.6
"""Odds of a candidate of which a premise of the wearer's is true, and of which it is false: some
premises are false, but a wrong thing fits one only by luck."""

_ANSWERS, _SILENT = 1.35, 0.2
"""Odds of a candidate for which the question has an answer, and of one for which it has none."""


def weigh_by_talk(
    scene: Scene,
    plans: Sequence[QuestionPlan],
    holds: Callable[[QuestionPlan, Scene], bool | None],
    answers: Callable[[QuestionPlan, Scene, bool], bool] | None = None,
) -> Scene:
    """The scene after all that the wearer has said of the thing in view; the last plan is the
    question at hand.

    `holds` tells whether a premise is true of the main thing of a scene, or None where nothing is
    known. `answers` tells whether an earlier question has an answer for it, and hears whether it is
    the likeliest: people ask what can be answered.
    """
    if not _is_open(scene):
        return scene
    candidates = list(scene.alike)
    odds = [c.confidence for c in candidates]
    claims = [p for p in plans if p.operation == "premise" and p.things == frozenset({"it"})]
    for plan in plans:
        for i, candidate in enumerate(candidates):
            odds[i] *= _heard(candidate.name, plan)
    for claim in claims:
        for i in _worth(odds):
            true = holds(claim, _seen_as(scene, candidates[i]))
            if true is not None:
                odds[i] *= _MATCHES if true else _DIFFERS
    heard: list[QuestionPlan] = []
    for plan in plans[:-1]:
        if answers is None or not _is_about_main(plan) or plan in (plans[-1], *heard):
            continue
        heard.append(plan)
        for n, i in enumerate(_worth(odds)):
            has = answers(plan, _seen_as(scene, candidates[i]), n == 0)
            odds[i] *= _ANSWERS if has else _SILENT
    return _ranked(scene, candidates, odds)


def find_agreed_answer(
    scene: Scene, plan: QuestionPlan, read: Callable[[Scene], Finding | None]
) -> tuple[Finding | None, list[tuple[str, str]]]:
    """The answer that the likeliest candidates give together, and what each of them gave."""
    if not _is_open(scene) or not _is_about_main(plan):
        return read(scene), []
    odds = [c.confidence for c in scene.alike]
    chosen = _worth(odds)
    found = {i: read(_seen_as(scene, scene.alike[i])) for i in chosen}
    for i, one in found.items():
        odds[i] *= _ANSWERS if one else _SILENT
    rest = max(0.0, 1.0 - sum(c.confidence for c in scene.alike))
    total = sum(odds) + rest
    groups: dict[str, list[int]] = {}
    for i, one in found.items():
        if one is not None:
            groups.setdefault(_key(one.text), []).append(i)
    said = [(scene.alike[i].name, one.text if one else "") for i, one in found.items()]
    if not groups:
        return None, said
    mass = {key: sum(odds[i] for i in members) / total for key, members in groups.items()}
    best = max(mass, key=lambda key: (mass[key], -groups[key][0]))
    winner = found[groups[best][0]]
    assert winner is not None
    chance = round(min(_SUREST, mass[best]), 4)
    luck = winner.luck
    if luck:  # what the other candidates answer tells what things of this kind mostly do
        unread = max(0.0, 1.0 - sum(mass.values()))
        share = (len(groups[best]) + 1) / (sum(len(members) for members in groups.values()) + 2)
        luck = round(unread * share / (1 - chance), 4)
    return msgspec.structs.replace(winner, recognition=chance, luck=luck), said


def _is_open(scene: Scene) -> bool:
    """Whether it is likeness alone that names the thing."""
    return len(scene.alike) > 1 and scene.main is not None and scene.main.source == "image-kg"


def _is_about_main(plan: QuestionPlan) -> bool:
    """Whether the answer is about one thing in view, whichever it is."""
    return "it" in plan.things and not plan.things & _SEVERAL and plan.operation != "printed"


_SEVERAL = {"next", "both", "these"}


def _heard(name: str, plan: QuestionPlan) -> float:
    """What a question that names things says about whether this one is in view."""
    if comparable_name(name) not in {comparable_name(n) for n in plan.names}:
        return 1.0
    return _NAMED if plan.operation == "same" else _COMPARED if "it" in plan.things else 1.0


def _worth(odds: list[float]) -> list[int]:
    """The candidates worth reading for: the likeliest first, the first always."""
    total = sum(odds) or 1.0
    ranked = sorted(range(len(odds)), key=lambda i: (-odds[i], i))[:MOST]
    return [i for n, i in enumerate(ranked) if n == 0 or odds[i] / total >= _LEAST]


def _ranked(scene: Scene, candidates: list[Candidate], odds: list[float]) -> Scene:
    """The scene with its candidates in a new order. Those not among them keep their share."""
    rest = max(0.0, 1.0 - sum(c.confidence for c in candidates))
    total = sum(odds) + rest
    new = sorted(
        (
            msgspec.structs.replace(c, confidence=round(min(_SUREST, chance / total), 4))
            for c, chance in zip(candidates, odds, strict=True)
        ),
        key=lambda c: -c.confidence,
    )
    if [c.name for c in new] == [c.name for c in candidates] and new == candidates:
        return scene
    return msgspec.structs.replace(
        scene, main=new[0], beside=candidates_elsewhere(new), alike=tuple(new)
    )


def _seen_as(scene: Scene, candidate: Candidate) -> Scene:
    return msgspec.structs.replace(scene, main=candidate)


def _key(text: str) -> str:
    """Equal for answers that mean the same."""
    value = read_value(text)
    return (
        value.key
        if value.kind in ("number", "year", "date", "clock", "list")
        else comparable_name(text)
    )
