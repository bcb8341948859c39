"""One line of own data, as records: what is read, and what `mmrag data schema` prints.

The JSON schema is made from these records, and lines are checked against these records, so that
neither can say what the other does not.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Text = Annotated[str, Meta(min_length=1)]
Plain = str | int | float | bool | None

MANY_TURNS = 20
"""More than these are told of: a conversation with a wearer has 2 to 6."""

MOST_TURNS = 1000
"""More than these are refused: a history of them fits no agent."""


class PassageLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A text to search in. Where a session brings some, the agent searches exactly these."""

    text: Text
    id: str = ""
    title: str = ""
    url: str = ""
    date: str | None = None
    provider: str = ""
    label: Literal["answers", "related", "outdated", "irrelevant", "unknown"] = "unknown"


class TurnLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A question and what is right."""

    query: Annotated[Text, Meta(description="What is asked.")]
    references: Annotated[
        list[str],
        Meta(description="Right answers; any of them counts. Without one nothing is scored."),
    ] = []
    id: str = ""
    evidence: Annotated[
        list[str], Meta(description="Ids or URLs of passages that support the answer.")
    ] = []
    gaze: Annotated[
        tuple[float, float] | None,
        Meta(description="Where the wearer looks: x and y as shares of the picture, 0 to 1."),
    ] = None
    named: Annotated[
        str | None,
        Meta(description="The question with the thing's name in it, for who sees no picture."),
    ] = None
    audio: Annotated[
        str, Meta(description="A recording of the question, by its path from the file's folder.")
    ] = ""
    domain: str | None = None
    query_type: str | None = None
    dynamism: str | None = None
    popularity: str | None = None
    text_clue: bool | None = None
    needs_image: bool | None = None
    needs_history: bool | None = None
    meta: Annotated[
        dict[str, Plain], Meta(description="Dimensions of your own: reports slice by them.")
    ] = {}


class SessionLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One conversation: a line of a JSONL file, a row of a CSV or of a Hugging Face data set."""

    session_id: Annotated[
        str, Meta(description="Its name, unlike all others; by default the line's number.")
    ] = ""
    image: Annotated[
        str | None,
        Meta(description="A picture, by its path from the file's folder. None: a talk in text."),
    ] = None
    image_url: Annotated[str | None, Meta(description="A picture at http(s)://.")] = None
    focus: Annotated[
        tuple[float, float, float, float] | None,
        Meta(description="What is asked about: left, top, right, bottom in pixels."),
    ] = None
    query_time: Annotated[
        str | None, Meta(description="When it is asked: 2026-03-01 or 2026-03-01T10:00.")
    ] = None
    entity: Annotated[str | None, Meta(description="Name of the thing asked about.")] = None
    passages: list[PassageLine] = []
    meta: Annotated[
        dict[str, Plain], Meta(description="As of a turn; holds for all turns of the session.")
    ] = {}
    turns: Annotated[list[TurnLine], Meta(min_length=1, max_length=MOST_TURNS)]


FIELDS_OF_META = (
    "domain", "query_type", "dynamism", "popularity", "text_clue", "needs_image", "needs_history",
)  # fmt: skip
"""Keys of `meta` that are fields of a turn; `quality` and `is_ego` are the picture's."""

PICTURE_META = ("quality", "is_ego")

OTHER_NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "session": {
        "session_id": ("id", "conversation_id", "dialog_id"),
        "image": ("picture", "image_path", "photo", "file", "file_name"),
        "image_url": ("picture_url", "url"),
        "focus": ("box", "bbox"),
        "query_time": ("time", "asked_at", "date"),
        "entity": ("subject", "object"),
        "passages": ("contexts", "context", "documents"),
        "meta": ("metadata", "tags"),
        "turns": ("conversation", "questions", "dialog"),
    },
    "turn": {
        "query": ("question", "q", "user", "prompt", "input"),
        "references": (
            "reference", "answer", "answers", "expected", "expected_answer", "ground_truth",
            "ground_truths", "truth", "a",
        ),
        "id": ("interaction_id", "turn_id"),
        "meta": ("metadata", "tags"),
    },
    "passage": {
        "text": ("content", "snippet", "passage", "page_content", "body"),
        "id": ("passage_id", "doc_id"),
        "title": ("name", "page_name"),
        "url": ("page_url", "link", "source_url"),
        "provider": ("source",),
        "label": ("relevance",),
    },
}  # fmt: skip
"""Names that are understood for a field where the field itself is absent."""

KINDS: dict[str, type[msgspec.Struct]] = {
    "session": SessionLine,
    "turn": TurnLine,
    "passage": PassageLine,
}


def json_schema() -> dict[str, Any]:
    """The JSON schema of a line."""
    (schema,), parts = msgspec.json.schema_components((SessionLine,), ref_template="#/$defs/{name}")
    del schema
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **parts["SessionLine"],
        "$defs": {name: part for name, part in parts.items() if name != "SessionLine"},
    }
