"""Rows laid out as GaRAGe's published file: every field, in its order, with invented words."""

from __future__ import annotations

from typing import Any

PASSAGES = (
    ("3 days", "31 January 2031", "web", "The bridge of Port Olm is 40 m long."),
    ("1 year", "2 March 2030", "ent", "The bridge was built by Ines Dahl."),
    ("9 years", "5 May 2022", "web", "The bridge is 38 m long."),
    ("unknown", "unknown", "web", "The bridge is 39 m long."),
    ("2 days", "1 February 2031", "ent", "Cats purr."),
)
"""Age, date, provider and text."""


def garage_row(**more: Any) -> dict[str, Any]:
    """A row with a passage of every label."""
    return {
        "sample_id": "11111111-1111-4111-8111-111111111111",
        "question_date": "3 February 2031",
        "grounding": [
            {"age": age, "date": date, "provider": provider, f"cite_{number}": text}
            for number, (age, date, provider, text) in enumerate(PASSAGES, start=1)
        ],
        "question": "How long is Port Olm's bridge now?",
        "question_valid": "YES",
        "question_false_premise": "NO",
        "question_seeking": "YES",
        "question_sensitive": "YES",
        "question_type": "FAST-CHANGING",
        "question_complexity": "Simple w. condition",
        "question_category": "Autos & Vehicles",
        "question_popularity": "Tail",
        "evidence_relevant": ["YES", "YES", "YES", "YES", "NO"],
        "evidence_correct": [
            "ANSWER-THE-QUESTION", "RELATED-INFORMATION", "OUTDATED", "UNKNOWN", "",
        ],
        "answer_generate": "It is 40 m long. [cite_1] Ines Dahl built it. [cite_2]",
        "answer_related_info": "",
        "answer_validate": "YES",
        "comments": "",
        "evidence_cited": ["YES", "YES", "NO", "NO", "NO"],
        "question_tag": "web",
        "topic_tag": "sec",
        **more,
    }  # fmt: skip
