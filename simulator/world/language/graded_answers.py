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
from simulator.world.build.table_parts import GROUNDING_LABELS, SPLITS
from simulator.world.build.world_manifest import read_manifest
from simulator.world.checks.verify import read_facts, stream
from simulator.world.facts.domain_schema import Attribute, Entity, attribute_of
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
    value: str
    """In words."""
    sentence: str

    @property
    def about(self) -> tuple[str, str]:
        return self.statement.entity_id, self.statement.attribute

    @property
    def is_relevant(self) -> bool:
        return self.label in RELEVANT


class _Sentence(NamedTuple):
    text: str
    support: str = "supported"
    relevant: str = "supported"
    cites: tuple[int, ...] = ()


_Made = tuple[list[_Sentence], str] | None
"""The sentences of an answer and its eligibility; None where a form cannot be made."""


class _Asked(NamedTuple):
    """A question with its passages and what they state."""

    turn: Turn
    facts: FactBase
    entity: Entity
    attribute: Attribute
    at: str
    truth: str
    passages: list[dict[str, Any]]
    told: list[_Told]
    stated: set[tuple[str, str]]
    """Everything that the pages behind the passages state, said recognisably or not."""
    draw: Draw
    """Of the answer."""

    @property
    def mine(self) -> list[_Told]:
        """What the passages say of the very thing that is asked."""
        return [t for t in self.told if t.about == (self.entity.id, self.attribute.key)]

    def words(self, entity: Entity, key: str, value: str) -> str:
        """A sentence that gives an attribute of an entity a value."""
        noun = attribute_of(entity.kind, key).noun
        return self.draw.pick(_SAYING).format(noun=noun, name=entity.name, value=value)

    def tell(self, told: _Told) -> _Sentence:
        """What a passage says, with the passage cited."""
        words = self.words(self.facts.entity(told.about[0]), told.about[1], told.value)
        return _Sentence(f"{words[:-1]} [{told.place}].", cites=(told.place,))

    def at_odds(self, words: str, place: int) -> _Made:
        """An answer that cites a passage which says otherwise."""
        text = f"{words[:-1]} [{place}]."
        return [_Sentence(text, "contradicted", "contradicted", (place,))], "no_issues"

    def other_value(self) -> str | None:
        """A value of the same kind that no passage gives: that of another entity."""
        given = {self.truth, *(t.value for t in self.told)}
        for other in self.draw.sample(self.facts.of_kind(self.entity.kind), 20):
            if self.attribute.key in {a.key for a in self.facts.attributes(other.id)}:
                value = self.said_at(other.id, self.attribute)
                if value is not None and value not in given:
                    return value
        return None

    def said_at(self, entity_id: str, attribute: Attribute) -> str | None:
        """A value in words; None where the attribute had none at the time."""
        try:
            value = self.facts.value(entity_id, attribute.key, self.at)
        except DataError:
            return None
        return say_value(attribute, value, self.facts)


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
        rows = grounding.get(turn_id, [])
        if form in ("rightly declining", "invented"):
            rows = [row for row in rows if GROUNDING_LABELS[row["label"]] != "answers"]
        if not rows:
            continue
        asked = _asked(plain[turn_id], rows, states, facts, Draw(seed, turn_id, form))
        line = _line(asked, form)
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
    turn: Turn, rows: list[dict[str, Any]], states: dict[str, Any], facts: FactBase, own: Draw
) -> _Asked:
    """The question with at most fifteen passages."""
    draw = Draw("passages", turn.id)
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
    need = turn.extra["needs"][0]
    entity = facts.entity(need["entity_id"])
    attribute = attribute_of(entity.kind, need["attribute"])
    truth = say_value(attribute, facts.value(entity.id, attribute.key, need["at"]), facts)
    return _Asked(turn, facts, entity, attribute, need["at"], truth, passages, told, stated, own)


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
                yield _Told(place, label, statement, value, sentence)


def _line(asked: _Asked, form: str) -> dict[str, Any] | None:
    turn, entity, attribute = asked.turn, asked.entity, asked.attribute
    composed = _compose(asked, form)
    if composed is None:
        return None
    sentences, eligibility = composed
    if asked.draw.chance(0.2) and sentences[0].support != "not_needed":
        sentences.append(_Sentence("I hope that this helps!", "not_needed", "not_needed"))
    answer = " ".join(s.text for s in sentences)
    if len(split(answer)) != len(sentences):
        return None  # a value holds what looks like the end of a sentence
    answering = [p for p in asked.passages if p["label"] == "answers"]
    cited = [p["id"] for p in answering[:3]]
    human = (
        f"The {attribute.noun} of {entity.name} is {asked.truth}"
        + "".join(f" [{i}]" for i in cited)
        if answering
        else "There is not enough grounding for an answer"
    )
    at = asked.at[:10]
    when = "" if at == turn.extra["at"][:10] else f" on {at}"
    needed = [t.sentence for t in asked.mine if t.label == "answers"]
    return {
        "id": f"{turn.id}-{FORMS.index(form)}",
        "question": f"What is the {attribute.noun} of {entity.name}{when}?",
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


def _compose(asked: _Asked, form: str) -> _Made:
    answers = [t for t in asked.mine if t.label == "answers"]
    if form == "invented":
        return _invented(asked)
    if form == "out of date":
        return _out_of_date(asked)
    if form == "rightly declining" or (form == "needless declining" and answers):
        return [_Sentence(asked.draw.pick(_DECLINING), "not_needed", "not_needed")], "major_issues"
    if not answers:
        return None
    right = asked.tell(answers[0])
    if form == "right":
        return [right], "no_issues"
    if form == "wrong":
        return _wrong(asked, right)
    if form == "padded":
        return _padded(asked, right)
    if form == "unfounded":
        return _unfounded(asked, right)
    if form == "denied":  # the true value, but it says that it is not
        no = f"The {asked.attribute.noun} of {asked.entity.name} is not {asked.truth}."
        return asked.at_odds(no, right.cites[0])
    beside = [
        t
        for t in asked.told
        if t.about[0] == asked.entity.id
        and t.about[1] != asked.attribute.key
        and t.is_relevant
        and t.statement.is_true
    ]
    if form == "swapped":
        return _swapped(asked, beside)
    if not beside:
        return None
    if form == "right and related":
        return [right, asked.tell(beside[0])], "no_issues"
    return [asked.tell(t) for t in asked.draw.sample(beside, 2)], "major_issues"


def _invented(asked: _Asked) -> _Made:
    value = asked.other_value()
    if value is None:
        return None
    words = asked.words(asked.entity, asked.attribute.key, value)
    mine = asked.mine
    relevant = _against([t for t in mine if t.is_relevant])
    return [_Sentence(words, _against(mine), relevant)], "no_issues"


def _out_of_date(asked: _Asked) -> _Made:
    old = [t for t in asked.mine if t.label == "outdated" and t.value != asked.truth]
    relevant = [t for t in asked.mine if t.is_relevant]
    if not old or old[0].value in {t.value for t in relevant}:
        return None
    return [asked.tell(old[0])._replace(relevant=_against(relevant))], "no_issues"


def _wrong(asked: _Asked, right: _Sentence) -> _Made:
    value = asked.other_value()
    if value is None:
        return None
    return asked.at_odds(asked.words(asked.entity, asked.attribute.key, value), right.cites[0])


def _padded(asked: _Asked, right: _Sentence) -> _Made:
    near = {t.about for t in asked.told if t.is_relevant}
    near.add((asked.entity.id, asked.attribute.key))
    far = [t for t in asked.told if not t.is_relevant and t.about not in near]
    if not far:
        return None
    extra = asked.tell(asked.draw.pick(far))._replace(relevant="unsupported")
    return [right, extra], "minor_issues"


def _unfounded(asked: _Asked, right: _Sentence) -> _Made:
    own = asked.entity.id
    silent = [a for a in asked.facts.attributes(own) if (own, a.key) not in asked.stated]
    if not silent:
        return None
    chosen = asked.draw.pick(silent)
    value = asked.said_at(own, chosen)
    if value is None:
        return None
    words = asked.words(asked.entity, chosen.key, value)
    return [right, _Sentence(words, "unsupported", "unsupported")], "minor_issues"


def _swapped(asked: _Asked, beside: list[_Told]) -> _Made:
    """A value that the passages give for another attribute of the same thing."""
    mine = {asked.truth, *(t.value for t in asked.mine)}
    other = next((t for t in beside if t.value not in mine), None)
    if other is None:
        return None
    words = asked.words(asked.entity, asked.attribute.key, other.value)
    return asked.at_odds(words, other.place)


def _against(told: list[_Told]) -> str:
    """What passages do for a value that none of them gives."""
    return "contradicted" if told else "unsupported"


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
