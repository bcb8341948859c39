"""Answers with true labels: the fictional world in the form of GaRAGe.

Each line is a question of the world put into plain words, passages with their labels, and an answer
composed so that it is known of every sentence what the passages do for it: right, out of date,
wrong, beside the point, padded with what nobody asked, stating what no passage states, denying
what they say or mixing it up, declining rightly or needlessly. Nothing here was written by a model;
the sentences are plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mmrag.errors import DataError
from mmrag.judges.structured_replies import split
from mmrag.records import Turn
from simulator.world.build.randomness import Draw
from simulator.world.build.table_columns import GROUNDING_LABELS, SPLITS
from simulator.world.build.world_manifest import read_manifest
from simulator.world.checks.verify import read_facts, stream
from simulator.world.facts.domain_schema import attribute_of
from simulator.world.facts.fact_records import Attribute
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.wording import say_value
from simulator.world.pages.document import Statement
from simulator.world.sessions import read_world

FORMS = (
    "right", "right and related", "out of date", "wrong", "beside the point", "padded",
    "unfounded", "needless declining", "rightly declining", "invented", "denied", "swapped",
)  # fmt: skip
"""What is the matter with an answer."""

MOST_PASSAGES = 15
"""Of one question; GaRAGe has 15 on the average."""

RELEVANT = ("answers", "related")


class _Told(NamedTuple):
    """A passage says something about an entity."""

    place: int
    label: str
    statement: Statement
    sentence: str


class _Asked(NamedTuple):
    """A question with its passages and what they state."""

    turn: Turn
    passages: list[dict[str, Any]]
    told: list[_Told]
    stated: set[tuple[str, str]]
    """Everything that the pages behind the passages state, said recognisably or not."""


def graded_answers(folder: Path, *, count: int = 1000, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Lines for `mmrag measure`, drawn among all questions and forms of a world."""
    facts = read_facts(folder, read_manifest(folder))
    turns = {turn.id: turn for name in SPLITS for s in read_world(folder, name) for turn in s.turns}
    plain = {i: turn for i, turn in turns.items() if _is_plain(turn)}
    grounding, states = _grounding(folder, plain.keys()), _states(folder)
    drawn = Draw(seed, "answers").shuffled([(i, form) for i in plain for form in FORMS])
    made = 0
    for turn_id, form in drawn:
        if made == count:
            return
        asked = _asked(plain[turn_id], grounding.get(turn_id, []), states, facts, form)
        line = None if asked is None else _line(asked, form, facts, Draw(seed, turn_id, form))
        if line is not None:
            made += 1
            yield line
    if not made:
        raise DataError(f"{folder} has no question that asks for one fact; write a larger world.")


def _is_plain(turn: Turn) -> bool:
    """It asks for one fact of one entity."""
    program, needs = turn.extra["program"], turn.extra["needs"] or ()
    return bool(program) and program[0] == "get" and len(needs) == 1


def _asked(
    turn: Turn, rows: list[dict[str, Any]], states: dict[str, Any], facts: FactBase, form: str
) -> _Asked | None:
    """The question with at most fifteen passages; without those that answer where it says so."""
    draw = Draw("passages", turn.id)
    if form in ("rightly declining", "invented"):
        rows = [row for row in rows if GROUNDING_LABELS[row["label"]] != "answers"]
    useful = [row for row in rows if GROUNDING_LABELS[row["label"]] != "irrelevant"]
    idle = [row for row in rows if GROUNDING_LABELS[row["label"]] == "irrelevant"]
    chosen = draw.shuffled(draw.sample(useful, 9))
    chosen = draw.shuffled([*chosen, *draw.sample(idle, MOST_PASSAGES - len(chosen))])
    passages: list[dict[str, Any]] = []
    told: list[_Told] = []
    stated: set[tuple[str, str]] = set()
    for row in chosen:
        label = _label(row, turn, draw)
        passages.append(
            {
                "id": str(len(passages) + 1),
                "text": row["passage"],
                "url": row["page_url"],
                "date": None if label == "unknown" else f"{row['age_days']} days old",
                "provider": "private" if _PRIVATE.search(row["page_url"]) else "web",
                "label": label,
            }
        )
        there = states.get(row["page_url"], ())
        stated |= {(s.entity_id, s.attribute) for s in there}
        told += _said(len(passages), label, row["passage"], there, facts)
    return _Asked(turn, passages, told, stated) if passages else None


def _label(row: dict[str, Any], turn: Turn, draw: Draw) -> str:
    """The world's label; now and then nobody can tell how old a passage is where age matters."""
    label = GROUNDING_LABELS[row["label"]]
    changes = turn.dynamism != "static" and label != "irrelevant"
    hidden = changes and not _YEAR.search(row["passage"]) and draw.chance(0.25)
    return "unknown" if hidden else label


def _said(place: int, label: str, passage: str, there: Any, facts: FactBase) -> Iterator[_Told]:
    """The page's statements that this passage makes in words which leave no doubt."""
    for sentence in split(passage):
        for statement in there:
            entity = facts.entity(statement.entity_id)
            attribute = attribute_of(entity.kind, statement.attribute)
            value = say_value(attribute, statement.value, facts)
            whole = rf"(?<![\w.,$]){re.escape(value)}(?![\w]|[.,]\d)"
            if attribute.noun.lower() in sentence.lower() and re.search(whole, sentence):
                yield _Told(place, label, statement, sentence)


class _Sentence(NamedTuple):
    text: str
    support: str = "supported"
    relevant: str = "supported"
    cites: tuple[int, ...] = ()


def _line(asked: _Asked, form: str, facts: FactBase, draw: Draw) -> dict[str, Any] | None:
    turn, need = asked.turn, asked.turn.extra["needs"][0]
    entity = facts.entity(need["entity_id"])
    attribute = attribute_of(entity.kind, need["attribute"])
    truth = say_value(attribute, facts.value(entity.id, attribute.key, need["at"]), facts)
    composed = _compose(asked, form, facts, draw, truth)
    if composed is None:
        return None
    sentences, eligibility = composed
    if draw.chance(0.2) and sentences[0].support != "not_needed":
        sentences.append(_Sentence("I hope that this helps!", "not_needed", "not_needed"))
    answer = " ".join(s.text for s in sentences)
    if len(split(answer)) != len(sentences):
        return None  # a value holds what looks like the end of a sentence
    answering = [p for p in asked.passages if p["label"] == "answers"]
    cited = [p["id"] for p in answering[:3]]
    human = (
        f"The {attribute.noun} of {entity.name} is {truth}" + "".join(f" [{i}]" for i in cited)
        if answering
        else "There is not enough grounding for an answer"
    )
    needed = [t.sentence for t in _mine(asked, turn) if t.label == "answers"]
    return {
        "id": f"{turn.id}-{FORMS.index(form)}",
        "question": f"What is the {attribute.noun} of {entity.name}{_as_of(turn)}?",
        "answer": answer,
        "passages": asked.passages,
        "references": [f"{human}."],
        "expected": cited,
        "annotations": {
            "eligibility": eligibility,
            "deflects": form in ("needless declining", "rightly declining"),
            "should_deflect": not answering,
            "support": [s.support for s in sentences],
            "relevant_support": [s.relevant for s in sentences],
            "needed": list(dict.fromkeys(needed)),
        },
        "domain": turn.domain,
        "query_type": turn.query_type,
        "dynamism": turn.dynamism,
        "popularity": turn.popularity,
        "meta": {"form": form, "turn": turn.id},
    }


_Made = tuple[list[_Sentence], str] | None
"""The sentences of an answer and its eligibility; None where a form cannot be made."""


def _compose(asked: _Asked, form: str, facts: FactBase, draw: Draw, truth: str) -> _Made:
    mine = _mine(asked, asked.turn)
    answers = [t for t in mine if t.label == "answers"]
    if form == "invented":
        return _invented(asked, mine, facts, draw, truth)
    if form == "out of date":
        return _out_of_date(mine, facts, draw, truth)
    if form == "rightly declining" or (form == "needless declining" and answers):
        return [_Sentence(draw.pick(_DECLINING), "not_needed", "not_needed")], "major_issues"
    if not answers:
        return None
    right = _tell(answers[0], facts, draw)
    if form == "right":
        return [right], "no_issues"
    if form == "wrong":
        return _wrong(asked, right, facts, draw, truth)
    if form == "padded":
        return _padded(asked, right, facts, draw)
    if form == "unfounded":
        return _unfounded(asked, right, facts, draw)
    need = asked.turn.extra["needs"][0]
    beside = [
        t
        for t in asked.told
        if t.statement.entity_id == need["entity_id"]
        and t.statement.attribute != need["attribute"]
        and t.label in RELEVANT
        and t.statement.is_true
    ]
    if form == "denied":
        return _denied(asked, right, facts, truth)
    if form == "swapped":
        return _swapped(asked, beside, facts, draw, truth)
    if not beside:
        return None
    if form == "right and related":
        return [right, _tell(beside[0], facts, draw)], "no_issues"
    return [_tell(t, facts, draw) for t in draw.sample(beside, 2)], "major_issues"


def _invented(asked: _Asked, mine: list[_Told], facts: FactBase, draw: Draw, truth: str) -> _Made:
    value = _other_value(asked, facts, draw, truth)
    if value is None:
        return None
    need = asked.turn.extra["needs"][0]
    words = _words(need["entity_id"], need["attribute"], value, facts, draw)
    return [_Sentence(words, _against(mine), _against(_relevant(mine)))], "no_issues"


def _out_of_date(mine: list[_Told], facts: FactBase, draw: Draw, truth: str) -> _Made:
    old = [t for t in mine if t.label == "outdated" and _value(t, facts) != truth]
    if not old or _value(old[0], facts) in {_value(t, facts) for t in _relevant(mine)}:
        return None
    told = _tell(old[0], facts, draw)
    return [told._replace(relevant=_against(_relevant(mine)))], "no_issues"


def _wrong(asked: _Asked, right: _Sentence, facts: FactBase, draw: Draw, truth: str) -> _Made:
    value = _other_value(asked, facts, draw, truth)
    if value is None:
        return None
    need = asked.turn.extra["needs"][0]
    words = _words(need["entity_id"], need["attribute"], value, facts, draw)
    text = f"{words[:-1]} [{right.cites[0]}]."
    return [_Sentence(text, "contradicted", "contradicted", right.cites)], "no_issues"


def _padded(asked: _Asked, right: _Sentence, facts: FactBase, draw: Draw) -> _Made:
    need = asked.turn.extra["needs"][0]
    near = {_about(t) for t in _relevant(asked.told)}
    near.add((need["entity_id"], need["attribute"]))
    far = [t for t in asked.told if t.label not in RELEVANT and _about(t) not in near]
    if not far:
        return None
    extra = _tell(draw.pick(far), facts, draw)._replace(relevant="unsupported")
    return [right, extra], "minor_issues"


def _unfounded(asked: _Asked, right: _Sentence, facts: FactBase, draw: Draw) -> _Made:
    need = asked.turn.extra["needs"][0]
    entity_id = need["entity_id"]
    silent = [a for a in facts.attributes(entity_id) if (entity_id, a.key) not in asked.stated]
    if not silent:
        return None
    chosen = draw.pick(silent)
    value = _said_at(facts, entity_id, chosen, need["at"])
    if value is None:
        return None
    words = _words(entity_id, chosen.key, value, facts, draw)
    return [right, _Sentence(words, "unsupported", "unsupported")], "minor_issues"


def _denied(asked: _Asked, right: _Sentence, facts: FactBase, truth: str) -> _Made:
    """The true value, but it says that it is not."""
    need = asked.turn.extra["needs"][0]
    entity = facts.entity(need["entity_id"])
    noun = attribute_of(entity.kind, need["attribute"]).noun
    text = f"The {noun} of {entity.name} is not {truth} [{right.cites[0]}]."
    return [_Sentence(text, "contradicted", "contradicted", right.cites)], "no_issues"


def _swapped(asked: _Asked, beside: list[_Told], facts: FactBase, draw: Draw, truth: str) -> _Made:
    """A value that the passages give for another attribute of the same thing."""
    mine = {truth, *(_value(t, facts) for t in _mine(asked, asked.turn))}
    other = [t for t in beside if _value(t, facts) not in mine]
    if not other:
        return None
    need = asked.turn.extra["needs"][0]
    value = _value(other[0], facts)
    words = _words(need["entity_id"], need["attribute"], value, facts, draw)
    text = f"{words[:-1]} [{other[0].place}]."
    return [_Sentence(text, "contradicted", "contradicted", (other[0].place,))], "no_issues"


def _relevant(told: list[_Told]) -> list[_Told]:
    return [t for t in told if t.label in RELEVANT]


def _against(told: list[_Told]) -> str:
    """What passages do for a value that none of them gives."""
    return "contradicted" if told else "unsupported"


def _about(told: _Told) -> tuple[str, str]:
    return told.statement.entity_id, told.statement.attribute


def _mine(asked: _Asked, turn: Turn) -> list[_Told]:
    """What the passages say of the very thing that is asked."""
    need = turn.extra["needs"][0]
    return [t for t in asked.told if _about(t) == (need["entity_id"], need["attribute"])]


def _tell(told: _Told, facts: FactBase, draw: Draw) -> _Sentence:
    statement = told.statement
    words = _words(statement.entity_id, statement.attribute, _value(told, facts), facts, draw)
    return _Sentence(f"{words[:-1]} [{told.place}].", cites=(told.place,))


def _words(entity_id: str, key: str, value: str, facts: FactBase, draw: Draw) -> str:
    entity = facts.entity(entity_id)
    noun = attribute_of(entity.kind, key).noun
    return draw.pick(_SAYING).format(noun=noun, name=entity.name, value=value)


def _value(told: _Told, facts: FactBase) -> str:
    statement = told.statement
    attribute = attribute_of(facts.entity(statement.entity_id).kind, statement.attribute)
    return say_value(attribute, statement.value, facts)


def _other_value(asked: _Asked, facts: FactBase, draw: Draw, truth: str) -> str | None:
    """A value of the same kind that no passage gives: that of another entity."""
    need = asked.turn.extra["needs"][0]
    entity = facts.entity(need["entity_id"])
    attribute = attribute_of(entity.kind, need["attribute"])
    given = {truth, *(_value(t, facts) for t in asked.told)}
    for other in draw.sample(facts.of_kind(entity.kind), 20):
        if attribute.key in {a.key for a in facts.attributes(other.id)}:
            value = _said_at(facts, other.id, attribute, need["at"])
            if value is not None and value not in given:
                return value
    return None


def _as_of(turn: Turn) -> str:
    at, now = turn.extra["needs"][0]["at"], turn.extra["at"]
    return "" if at[:10] == now[:10] else f" on {at[:10]}"


def _said_at(facts: FactBase, entity_id: str, attribute: Attribute, at: str) -> str | None:
    """A value in words; None where the attribute had none at the time."""
    try:
        return say_value(attribute, facts.value(entity_id, attribute.key, at), facts)
    except DataError:
        return None


def _grounding(folder: Path, wanted: Any) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in stream(folder / "grounding.parquet"):
        if row["turn_id"] in wanted:
            found.setdefault(row["turn_id"], []).append(row)
    return found


def _states(folder: Path) -> dict[str, tuple[Statement, ...]]:
    class About(msgspec.Struct):
        states: tuple[Statement, ...] = ()

    return {
        row["page_url"]: msgspec.json.decode(row["about"], type=About).states
        for row in stream(folder / "pages.parquet")
    }


_SAYING = (
    "The {noun} of {name} is {value}.",
    "For {name}, the {noun} comes to {value}.",
    "{name} has {value} as its {noun}.",
    "With {name}, you get {value} for the {noun}.",
)
_DECLINING = (
    "I'm sorry, the passages do not say.",
    "I don't know.",
    "There is not enough information to answer that.",
    "I could not find that in what I was given.",
)
_PRIVATE = re.compile(r"/(?:threads|p)/")
_YEAR = re.compile(r"\b2\d{3}\b")
