"""What became of the evidence in one turn: was the entity found, the passage, was it used?

Everything is read from the evidence that stands in the trace, whatever agent wrote it, and
compared with what the data set says is right. What cannot be known is None, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from mmrag.partial_records import PartialEntity, PartialEvidence, PartialReference, PartialStep

STAGES = (
    "correct", "entity missed", "passage missed", "abstained", "not used", "misread", "unknown",
)  # fmt: skip
"""Where an asked and scored turn ended; all but the first are failures, in the order of work.

entity missed: the image search did not bring the entity, nor any search a right passage; passage
missed: the entity was found and no right passage; abstained: the right evidence was there; not
used: it was there and the reply does not cite it; misread: cited, and the reply is wrong all the
same; unknown: the trace or the data set does not say.
"""

UNLABELLED = "not labelled"
"""Turns of which the data set does not say where they belong. Shown, never tested."""

GROUNDING = ("answers", "outdated", "related", "irrelevant", "none", UNLABELLED)
"""Best label among the retrieved passages, best first; none: nothing was retrieved."""


class TurnTruth(msgspec.Struct):
    """What the data set says is the right evidence of one turn."""

    entities: frozenset[str] = frozenset()
    """Ids and lower-case names of the entity asked about."""
    pages: frozenset[str] = frozenset()
    """Ids or URLs of evidence that answers."""
    labels: Mapping[str, str] = {}
    """Evidence id or URL → answers, related, outdated or irrelevant."""


class EvidenceFate(msgspec.Struct):
    """What became of the evidence in one turn; None where it cannot be known."""

    entity: bool | None = None
    passage: bool | None = None
    used: bool | None = None
    grounding: str = UNLABELLED
    searched_images: bool = False
    searched_web: bool = False

    def stage(self, *, correct: bool, abstained: bool) -> str:
        """Where the turn ended, one of `STAGES`."""
        if correct:
            return "correct"
        had = self.passage if self.passage is not None else self.entity
        if had is None:
            return "unknown"
        if not had:
            return "entity missed" if self.entity is False else "passage missed"
        if abstained:
            return "abstained"
        return "not used" if self.used is False else "misread"


def truth_of(reference: PartialReference, extra: PartialEntity) -> TurnTruth:
    """What counts as right evidence, from a turn's reference and notes."""
    answering = {key for key, label in reference.grounding.items() if label == "answers"}
    pages = answering or set(reference.evidence)
    names = {str(extra.entity_id or ""), str(extra.entity_name or "").lower()}
    return TurnTruth(
        entities=frozenset(name for name in names if name),
        pages=frozenset(pages),
        labels=dict(reference.grounding),
    )


def compare_evidence(
    trace: tuple[PartialStep, ...], citations: tuple[str, ...], truth: TurnTruth
) -> EvidenceFate:
    """Compare the evidence of a trace with the truth."""
    found = EvidenceFate()
    hits: set[str] = set()
    labels: set[str] = set()
    entity = passage = False
    for step, item in _evidence(trace):
        if item.source == "image-kg":
            found.searched_images = True
            if truth.entities and _is_entity(item, truth):
                entity = True
                hits.update((item.id, item.url))
        elif item.source == "web":
            found.searched_web = True
            label = truth.labels.get(item.id) or truth.labels.get(item.url)
            labels.add(label or "irrelevant")
            if item.id in truth.pages or item.url in truth.pages:
                passage = True
                hits.update((item.id, item.url))
        del step
    names = {step.name for step in _steps(trace)}
    found.searched_images = found.searched_images or "image-kg" in names
    found.searched_web = found.searched_web or "web" in names
    if truth.entities and found.searched_images:
        found.entity = entity
    if truth.pages and found.searched_web:
        found.passage = passage
    if entity or passage:
        found.used = not hits.isdisjoint(citations)
    if truth.labels:
        found.grounding = next((g for g in GROUNDING if g in labels), "none")
    return found


def _is_entity(item: PartialEvidence, truth: TurnTruth) -> bool:
    if item.id in truth.entities or not truth.entities.isdisjoint(item.url.split("/")):
        return True  # pictures of a world's KG lie under their entity's id
    told = msgspec.json.decode(item.text, type=str).strip().lower()
    if told in truth.entities:
        return True
    try:
        attributes = msgspec.json.decode(item.attributes, type=_Attributes)
    except msgspec.ValidationError:
        return False
    return attributes.entity_id in truth.entities


class _Attributes(msgspec.Struct):
    entity_id: str = ""


def _steps(steps: tuple[PartialStep, ...]) -> Iterator[PartialStep]:
    for step in steps:
        yield step
        yield from _steps(step.steps)


def _evidence(trace: tuple[PartialStep, ...]) -> Iterator[tuple[PartialStep, PartialEvidence]]:
    for step in _steps(trace):
        for item in step.evidence:
            yield step, item
