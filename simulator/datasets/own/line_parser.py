"""A line of own data → what it means, and what is wrong with it: field, nearest name, cure.

Names that people use (question, answer, expected, …) are understood and told of; what cannot be
understood is told with every other fault of the line, so that a file is mended in one go.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, cast

import msgspec

from mmrag.agents.external.reply_checks import says_nothing
from mmrag.records import Record
from simulator.datasets.own.line_schema import (
    FIELDS_OF_META,
    KINDS,
    MANY_TURNS,
    MOST_TURNS,
    OTHER_NAMES,
    PICTURE_META,
    PassageLine,
    SessionLine,
    TurnLine,
)

Weight = Literal["session", "turn", "note"]
"""What a fault costs: the session, the score of a turn, or nothing."""


class LineProblem(Record, frozen=True, kw_only=True):
    """One thing about a line that its author should know."""

    place: str
    """As in `line 3`."""
    field: str
    """As in `turns[0].references`; empty for the line as a whole."""
    words: str
    """What is wrong, and the cure."""
    weight: Weight = "session"


class ParsedLine(NamedTuple):
    """What a line means. Without `line` it means nothing, and the faults say why."""

    line: SessionLine | None
    turns: int
    """How many it has, also where it means nothing."""
    session_id: str
    faults: list[LineProblem]


def parse_line(value: object, place: str) -> ParsedLine:
    """Read one line that has been decoded from JSON (or a row of a table)."""
    return _Reading(place).read(value)


@cache
def _fields(kind: str) -> tuple[msgspec.structs.FieldInfo, ...]:
    """What a record may hold; asked of msgspec for every line, this took most of the reading."""
    return msgspec.structs.fields(KINDS[kind])


class _Reading:
    def __init__(self, place: str) -> None:
        self.place = place
        self.faults: list[LineProblem] = []

    def read(self, value: object) -> ParsedLine:
        if not isinstance(value, dict):
            self.tell("", f"is {_kind(value)}; write one object per line, as in {_EXAMPLE}.")
            return ParsedLine(None, 1, "", self.faults)
        given = cast("dict[str, Any]", value)
        fields = self._named(_with_turns(given), "session", "")
        name = fields.get("session_id")
        if isinstance(name, int) and not isinstance(name, bool):
            fields["session_id"] = str(name)
        self._picture_at_url(fields)
        fields["passages"] = self._parts(fields.get("passages"), "passage", "passages", "text")
        fields["turns"] = self._parts(fields.get("turns"), "turn", "turns", "query")
        turns = fields["turns"]
        if not turns and any(fault.field.startswith("turns") for fault in self.faults):
            fields["turns"] = [
                TurnLine(query="?", references=["?"])
            ]  # that there is none has been told of
        line = self._made("session", fields, "")
        if isinstance(line, SessionLine):
            self._check(line)
        lost = any(fault.weight == "session" for fault in self.faults)
        return ParsedLine(
            line=line if isinstance(line, SessionLine) and not lost else None,
            turns=len(turns) or 1,
            session_id=str(fields.get("session_id") or ""),
            faults=self.faults,
        )

    def tell(self, field: str, words: str, weight: Weight = "session") -> None:
        self.faults.append(LineProblem(place=self.place, field=field, words=words, weight=weight))

    def _named(self, given: Mapping[str, Any], kind: str, path: str) -> dict[str, Any]:
        """Fields under their own names; what is nobody's is told of and left out."""
        known = KINDS[kind].__struct_fields__
        others = {n: name for name, ns in OTHER_NAMES[kind].items() for n in ns}
        found: dict[str, Any] = {key: value for key, value in given.items() if key in known}
        for key, value in given.items():
            if key in known:
                continue
            bare = str(key).strip().lower().replace(" ", "_").replace("-", "_")
            name = bare if bare in known else others.get(bare)
            if name is not None and name not in found:
                found[name] = value
                if bare not in ("question", "answer"):  # what everybody calls them
                    self.tell(_at(path, key), f"is read as {name!r}.", "note")
                continue
            near = difflib.get_close_matches(bare, [*known, *others], n=1, cutoff=0.7)
            like = f" Did you mean {near[0]!r}?" if near else ""
            self.tell(
                _at(path, key),
                f"is not a field of a {kind} and is not read.{like} To slice reports by it, write "
                "it in meta.",
                "note",
            )
        return {key: value for key, value in found.items() if value is not None}

    def _picture_at_url(self, fields: dict[str, Any]) -> None:
        image = fields.get("image")
        if isinstance(image, str) and image.lower().startswith(("http://", "https://")):
            fields.setdefault("image_url", fields.pop("image"))
            self.tell("image", "is a URL, and is read as 'image_url'.", "note")
        elif image and fields.get("image_url"):
            fields.pop("image_url")
            self.tell("image_url", "is not read: the line has an image of its own.", "note")

    def _parts(self, value: object, kind: str, field: str, main: str) -> list[Any]:
        """The turns or passages of a line; a bare text is one that has nothing else."""
        if value is None:
            return []
        if not isinstance(value, list):
            self.tell(field, f"is {_kind(value)}; write a list, as in {FORMS[field]}.")
            return []
        found: list[Any] = []
        for number, item in enumerate(cast("list[Any]", value)):
            path = f"{field}[{number}]"
            part: object = {main: item} if isinstance(item, str) else item
            if not isinstance(part, dict):
                self.tell(path, f"is {_kind(part)}; write an object, as in {FORMS[field]}.")
                continue
            fields = self._named(cast("dict[str, Any]", part), kind, path)
            if "id" in fields and isinstance(fields["id"], int):
                fields["id"] = str(fields["id"])
            if kind == "turn":
                fields["references"] = _texts(fields.get("references"))
                fields["evidence"] = _texts(fields.get("evidence"))
            made = self._made(kind, fields, path)
            if made is not None:
                found.append(made)
        return found

    def _made(self, kind: str, fields: dict[str, Any], path: str) -> msgspec.Struct | None:
        """The record of these fields; each that does not fit is told of."""
        before = sum(fault.weight == "session" for fault in self.faults)
        made: dict[str, Any] = {}
        for about in _fields(kind):
            if about.name in fields:
                value = fields[about.name]
                try:
                    made[about.name] = msgspec.convert(value, about.type)
                except (msgspec.ValidationError, UnicodeEncodeError) as error:
                    self.tell(_at(path, about.name), _in_words(str(error), about.name))
            elif about.required:
                self.tell(_at(path, about.name), f"is missing; write {FORMS[about.name]}.")
        if sum(fault.weight == "session" for fault in self.faults) > before:
            return None
        return KINDS[kind](**made)

    def _check(self, line: SessionLine) -> None:
        """What types do not say."""
        bad = [c for c in line.session_id if not c.isprintable() or c in "/\\"]
        if bad or len(line.session_id) > _LONGEST_ID:
            length = f"is longer than {_LONGEST_ID} characters; write a shorter one."
            odd = f"holds {bad[0]!r}; write letters, digits, - and _." if bad else length
            self.tell("session_id", odd)
        if line.focus is not None and not _is_box(line.focus):
            self.tell("focus", "is not a box; write left, top, right, bottom in pixels, with left "
                      "< right and top < bottom.")  # fmt: skip
        if line.query_time is not None and not _is_time(line.query_time):
            self.tell("query_time", f"{line.query_time[:40]!r} is not a time; write 2026-03-01 or "
                      "2026-03-01T10:00.")  # fmt: skip
        if len(line.turns) > MANY_TURNS:
            self.tell("turns", f"{len(line.turns)} turns are one conversation here; split them up "
                      "if they are several.", "note")  # fmt: skip
        self._check_meta(line.meta, "meta")
        self._check_passages(line)
        for number, turn in enumerate(line.turns):
            self._check_turn(turn, f"turns[{number}]", {p.id for p in line.passages})

    def _check_passages(self, line: SessionLine) -> None:
        seen: dict[str, int] = {}
        for number, passage in enumerate(line.passages):
            path = f"passages[{number}]"
            if not passage.text.strip():
                self.tell(f"{path}.text", "is empty; write the passage, or leave it out.")
            if passage.id and passage.id in seen:
                self.tell(f"{path}.id", f"{passage.id!r} is passages[{seen[passage.id]}]'s "
                          "already; write another.")  # fmt: skip
            seen.setdefault(passage.id, number)

    def _check_turn(self, turn: TurnLine, path: str, passages: set[str]) -> None:
        if says_nothing(turn.query):
            self.tell(f"{path}.query", "is empty; write the question.")
        if not any(text.strip() for text in turn.references):
            self.tell(f"{path}.references", "is empty: the turn is asked and not scored; write "
                      f"{FORMS['references']}.", "turn")  # fmt: skip
        if turn.gaze is not None and not is_gaze(turn.gaze):
            self.tell(f"{path}.gaze", "is not a point; write x and y as shares of the picture, 0 "
                      f"to 1, as in {FORMS['gaze']}.")  # fmt: skip
        self._check_meta(turn.meta, f"{path}.meta")
        if any(passages) and (lacking := [e for e in turn.evidence if e not in passages]):
            self.tell(f"{path}.evidence", f"{lacking[0][:60]!r} is not a passage's id.", "note")

    def _check_meta(self, meta: Mapping[str, Any], path: str) -> None:
        for key, value in meta.items():
            if not key.strip() or not key.isprintable() or len(f"{key}{value}") > _LONGEST_META:
                words = f"{key[:40]!r}: write a short name, and a short text for what it is here."
                self.tell(path, words)
        for key in (k for k in (*FIELDS_OF_META, *PICTURE_META) if k in meta):
            wanted = bool if key in _FLAGS else str
            if meta[key] is not None and not isinstance(meta[key], wanted):
                kind = "true or false" if wanted is bool else "a text"
                self.tell(_at(path, key), f"is {_kind(meta[key])}; write {kind}.")


def own_slice_labels(meta: Mapping[str, Any]) -> dict[str, str]:
    """What `meta` says beyond the fields of a turn and a picture, as texts to slice by."""
    return {
        key: _said(value)
        for key, value in meta.items()
        if key not in (*FIELDS_OF_META, *PICTURE_META) and value is not None
    }


def with_passage_ids(passages: list[PassageLine]) -> Iterator[tuple[str, PassageLine]]:
    """Passages with an id each: their own, else their place."""
    taken = {passage.id for passage in passages}
    for number, passage in enumerate(passages, 1):
        name = passage.id or f"p{number}"
        while not passage.id and name in taken:
            name += "x"
        yield name, passage


_EXAMPLE = '{"image": "a.jpg", "turns": [{"query": "…", "references": ["…"]}]}'

FORMS = {
    "query": '"query": "What is this?"',
    "references": '"references": ["a kettle"]',
    "turns": '"turns": [{"query": "What is this?", "references": ["a kettle"]}]',
    "passages": '"passages": [{"id": "p1", "text": "…"}]',
    "text": '"text": "…"',
    "focus": '"focus": [120, 80, 640, 560]',
    "gaze": '"gaze": [0.4, 0.55]',
    "meta": '"meta": {"room": "kitchen"}',
    "image": '"image": "photos/a.jpg"',
    "audio": '"audio": "clips/a.wav"',
    "session_id": '"session_id": "a"',
    "label": "one of answers, related, outdated, irrelevant, unknown",
}
_FLAGS = ("text_clue", "needs_image", "needs_history", "is_ego")
_LONGEST_ID = 200
_LONGEST_META = 300
_WORDS = {"array": "a list", "object": "an object", "str": "a text", "null": "nothing",
          "int": "a whole number", "float": "a number", "bool": "true or false"}  # fmt: skip


def _with_turns(given: Mapping[str, Any]) -> dict[str, Any]:
    """A line without turns that has a question is a conversation of one turn."""
    session, turn = OTHER_NAMES["session"], OTHER_NAMES["turn"]
    if any(name in given for name in ("turns", *session["turns"])):
        return dict(given)
    asked = [name for name in ("query", *turn["query"]) if name in given]
    if not asked:
        return dict(given)
    ours = {"query", "references", "evidence", "gaze", "named", "audio", *turn["query"],
            *turn["references"],
            *FIELDS_OF_META}  # fmt: skip
    rest = {key: value for key, value in given.items() if key not in ours}
    return {**rest, "turns": [{key: value for key, value in given.items() if key in ours}]}


def _texts(value: object) -> object:
    """One text or number for a list of texts."""
    if value is None:
        return []
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return [_said(item) if isinstance(item, int | float) else item
            for item in items if item is not None]  # fmt: skip


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _in_words(problem: str, name: str) -> str:
    """msgspec's words as a person would say them, with the cure."""
    text = problem.partition(" - at ")[0].replace("Expected", "wants")
    text = re.sub(r"`([^`]*)`", lambda found: _kinds_in_words(found[1]), text)
    if name == "turns" and "length <=" in text:
        return f"has more turns than one conversation may have ({MOST_TURNS:,}); split it up."
    if "length >= 1" in text:
        text = "is empty"
    form = FORMS.get(name)
    return f"{text}; write {form}." if form else f"{text}."


def _kinds_in_words(kinds: str) -> str:
    """`str | null` as "a text"."""
    names = kinds.split(" | ")
    wanted = [name for name in names if name != "null"] or names
    return " or ".join(_WORDS.get(name, name) for name in wanted)


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    kinds: list[tuple[type, str]] = [(bool, "true or false"), (int, "a number"),
        (float, "a number"), (str, "a text"), (list, "a list"), (dict, "an object")]  # fmt: skip
    return next((word for kind, word in kinds if isinstance(value, kind)), type(value).__name__)


def _is_box(box: tuple[float, float, float, float]) -> bool:
    left, top, right, bottom = box
    return 0 <= left < right < 1e6 and 0 <= top < bottom < 1e6


def is_gaze(point: Sequence[float]) -> bool:
    """Whether a point lies in a picture, by shares of its sides.

    >>> is_gaze((0.5, 1.0)), is_gaze((320, 200)), is_gaze((0.5, float("nan")))
    (True, False, False)
    """
    return len(point) == 2 and all(0 <= part <= 1 for part in point)


def _is_time(text: str) -> bool:
    for kind in (dt.date, dt.datetime):
        try:
            kind.fromisoformat(text)
        except ValueError:
            continue
        return True
    return False


def _at(path: str, key: object) -> str:
    name = str(key)[:60]
    return f"{path}.{name}" if path else name
