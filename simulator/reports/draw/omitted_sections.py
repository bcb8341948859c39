"""Sections of a report that a run has nothing to show in: left out, and said why at the end."""

from __future__ import annotations

from typing import Any


def omitted_sections(run: dict[str, Any]) -> dict[str, str]:
    """Section → why there is none."""
    found: dict[str, str] = {}
    head = next(c for c in run["conditions"] if c["name"] == run["main"])
    if not run["robustness"]:
        found["robustness"] = (
            "There is one condition; mmrag run --degrade sweep asks the same under worse pictures."
        )
        if not _tells_stages(run["stages"]):
            found["stages"] = (
                "Stages cannot be told apart here: the data does not say which entity is in the "
                "picture or which passages are right."
            )
    slices = run["slices"]["main"]
    if len({entry["dimension"] for entry in slices}) == len(slices):  # none has two
        found["slices"] = (
            "The data tells no turns apart. Each key of a line's meta, or further column of a "
            "table, is a dimension."
        )
    if head["turns"] == head["sessions"]:
        found["conversation"] = "Every conversation has one turn."
    if not run["retrieval"]["main"]:
        found["retrieval"] = (
            "The traces hold no searches that could be compared with known evidence: the data "
            "names neither entities nor pages, or the agent searched nothing."
        )
    return found


def _tells_stages(stages: list[dict[str, Any]]) -> bool:
    first = stages[0] if stages else None
    if first is None or not first["n"]:
        return True
    return bool(first["entity_found"]["n"] or first["passage_found"]["n"])
