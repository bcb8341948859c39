"""One line of own data, as records: what is read, and what `mmrag data schema` prints.

The JSON schema is made from these records, and lines are checked against these records, so that
neither can say what the other does not.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mmrag.records import Label

Text = Annotated[str, Meta(min_length=1)]
Plain = str | int | float | bool | None

MANY_TURNS = 20
"""A longer conversation gets a note: one with a wearer has 2 to 6."""

MOST_TURNS = 1000
"""A longer one is refused: its history fits no agent."""


class PassageLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A text to search in. Where a session brings some, the agent searches exactly these."""

    text: Annotated[Text, Meta(description="What is searched and cited.")]
    id: Annotated[str, Meta(description="A unique name, for `evidence`.")] = ""
    title: Annotated[str, Meta(description="Of the page that it comes from.")] = ""
    url: Annotated[str, Meta(description="Of the page that it comes from.")] = ""
    date: Annotated[str | None, Meta(description="When it was written: 2026-03-01.")] = None
    provider: Annotated[str, Meta(description="Who it comes from: web, private, …")] = ""
    label: Annotated[
        Label,
        Meta(description="What it does for the answer. Agents never see it."),
    ] = "unknown"


class TurnLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A question and what is right."""

    query: Annotated[Text, Meta(description="What is asked.")]
    references: Annotated[
        list[str],
        Meta(description="Right answers; any of them counts. Without one nothing is scored."),
    ] = []
    id: Annotated[str, Meta(description="A name of the turn, in results and exports.")] = ""
    evidence: Annotated[
        list[str], Meta(description="Ids or URLs of passages that support the answer.")
    ] = []
    gaze: Annotated[
        tuple[float, float] | None,
        Meta(description="Where the wearer looks: x and y as shares of the picture, 0 to 1."),
    ] = None
    named: Annotated[
        str | None,
        Meta(description="The question with the thing named, for agents that see no picture."),
    ] = None
    audio: Annotated[
        str, Meta(description="A recording of the question, by its path from the file's folder.")
    ] = ""
    domain: Annotated[str | None, Meta(description="Subject: food, vehicles, …")] = None
    query_type: Annotated[
        str | None,
        Meta(description="How it is answered: simple-knowledge, comparison, …"),
    ] = None
    dynamism: Annotated[
        str | None, Meta(description="How fast the answer changes: static to real-time.")
    ] = None
    popularity: Annotated[
        str | None, Meta(description="How well the thing is known: head, torso or tail.")
    ] = None
    text_clue: Annotated[
        bool | None, Meta(description="Whether the thing's name can be read in the picture.")
    ] = None
    needs_image: Annotated[
        bool | None, Meta(description="Whether it takes the picture to answer.")
    ] = None
    needs_history: Annotated[
        bool | None, Meta(description="Whether it takes the turns before to answer.")
    ] = None
    meta: Annotated[
        dict[str, Plain], Meta(description="Dimensions of your own: reports slice by them.")
    ] = {}


class SessionLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One conversation: a line of a JSONL file, a row of a CSV or of a Hugging Face data set."""

    session_id: Annotated[str, Meta(description="A unique name; by default the line's number.")] = (
        ""
    )
    image: Annotated[
        str | None,
        Meta(
            description="A picture, by its path from the file's folder. null: a conversation in "
            "text only."
        ),
    ] = None
    image_url: Annotated[str | None, Meta(description="URL of a picture, http:// or https://.")] = (
        None
    )
    focus: Annotated[
        tuple[float, float, float, float] | None,
        Meta(description="What is asked about: left, top, right, bottom in pixels."),
    ] = None
    query_time: Annotated[
        str | None, Meta(description="When it is asked: 2026-03-01 or 2026-03-01T10:00.")
    ] = None
    entity: Annotated[str | None, Meta(description="Name of the thing asked about.")] = None
    passages: Annotated[
        list[PassageLine], Meta(description="What the agent searches for this conversation.")
    ] = []
    meta: Annotated[
        dict[str, Plain], Meta(description="Like a turn's meta, for all turns of the session.")
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
