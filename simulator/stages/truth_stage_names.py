"""Stages by name, the conditions that they make with degradations, and single tasks by name."""

from __future__ import annotations

from mmrag.errors import SpecError
from mmrag.records import staged_condition
from mmrag.text import comma_list

WHOLE = "whole"

STAGES: dict[str, str] = {
    WHOLE: "the picture and the question",
    "pointed": "and where the thing is in the picture",
    "named": "the thing's name in the question, no picture",
    "paged": "and the passages that answer",
    "told": "and the facts as sentences",
}
"""Stage → what an agent is handed, from nothing but its task to everything."""

LOSSES: dict[str, str] = {
    WHOLE: "finding",
    "pointed": "recognising",
    "named": "searching",
    "paged": "reading",
    "told": "reasoning",
}
"""Stage → what is lost between it and the next one; after the last one, all that remains."""

POINTING = ("crop", "drawn", "gaze")
"""How a thing is pointed at: cut out, with a box drawn around it, or by the wearer's gaze alone."""

BLIND = ("named", "paged", "told")
"""Stages in which the picture plays no part, so that they are the same under every degradation."""


NO_TASK = "none"

TASKS: dict[str, str] = {
    "grounding": "where the thing is that a question is about",
    "identify-pointed": "what a thing in a box is called, with the question",
    "identify-pointed-alone": "what a thing in a box is called, without it",
    "identify": "what the thing is called that a question is about",
    "identify-alone": "what the thing in a picture is called",
    "knowledge": "the answer, from the name in the question and no picture",
}
"""Task → what is asked."""

_MOVES = ("rotated", "truncated")


def parse_stages(text: str) -> tuple[str, ...]:
    """What `--stages` means, in the order of the work; the whole question is always asked.

    >>> parse_stages("told,pointed:drawn"), parse_stages("all")[:2]
    (('whole', 'pointed:drawn', 'told'), ('whole', 'pointed'))
    """
    named = comma_list(text)
    if not named:
        raise SpecError(f"--stages {text!r} names no stage; there is {', '.join(STAGES)}.")
    found = {WHOLE: WHOLE}
    for part in STAGES if named == ["all"] else named:
        name, colon, how = part.partition(":")
        if name not in STAGES:
            from mmrag.registry import unknown_name_message  # not for `--help`

            raise SpecError(unknown_name_message("stage", name, ["all", *STAGES]))
        if colon and (name != "pointed" or how not in POINTING):
            raise SpecError(f"{part!r}: only pointed has ways, {', '.join(POINTING)}.")
        if found.setdefault(name, part) != part:
            raise SpecError(f"--stages {text!r}: point in one way in a run, and in another beside.")
    return tuple(found[name] for name in STAGES if name in found)


def split_stage(condition: str) -> tuple[str, str]:
    """A condition as (degradation, stage); the stage of the whole question is empty.

    >>> split_stage("low-light@3/pointed"), split_stage("named"), split_stage("clean")
    (('low-light@3', 'pointed'), ('clean', 'named'), ('clean', ''))
    """
    before, _, after = condition.rpartition("/")
    stage = after if after.partition(":")[0] in STAGES else ""
    return (before or "clean", stage) if stage else (condition, "")


def conditions_of(stage: str, degradations: tuple[str, ...]) -> list[str]:
    """The conditions under which a stage is asked: once where the picture plays no part."""
    if stage in BLIND:
        return [stage]
    return [staged_condition(degradation, stage) for degradation in degradations]


def check_task(task: str, degrade: str) -> None:
    """Refuse a task that nobody knows, or whose truth a degradation would move."""
    if task not in (NO_TASK, *TASKS):
        from mmrag.registry import unknown_name_message

        raise SpecError(unknown_name_message("task", task, TASKS))
    if task == "grounding" and any(kind in degrade for kind in (*_MOVES, "mix", "sweep")):
        raise SpecError("--task grounding takes pictures in which the thing stays where it is: "
                        "clean, low-light, blurred or occluded.")  # fmt: skip


def judge_of(task: str, judge: str) -> str:
    """The spec of the judge that a task is decided by."""
    if task == "grounding":
        return "boxes"
    return f"names:judge=({judge})" if task.startswith("identify") else judge
