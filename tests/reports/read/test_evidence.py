"""Which stage failed, from the evidence in a trace."""

from __future__ import annotations

import msgspec
import pytest

from mmrag.partial_records import PartialStep
from mmrag.records import Evidence, Reference, Step, encode
from simulator.reports.read.evidence import compare_evidence, truth_of


class Notes(msgspec.Struct):
    entity_id: str | None = "kettle-7"
    entity_name: str | None = "Alder Kettle"


PAGE = "https://a.example/kettle"
REFERENCE = Reference(
    text="90 s",
    evidence=(PAGE,),
    grounding={PAGE: "answers", f"{PAGE}/old": "outdated", f"{PAGE}/b": "related"},
)


def seen(*items: Evidence, cited: tuple[str, ...] = (), reference=REFERENCE, notes=None):
    steps = (
        Step(name="image-kg", evidence=tuple(i for i in items if i.source == "image-kg")),
        Step(name="outer", steps=(
            Step(name="web", evidence=tuple(i for i in items if i.source == "web")),
        )),
    )  # fmt: skip
    trace = msgspec.json.decode(encode(steps), type=tuple[PartialStep, ...])
    return compare_evidence(trace, cited, truth_of(reference, notes or Notes()))


def kg(**fields) -> Evidence:
    return Evidence(**{"source": "image-kg", "id": "1", "score": 0.9, **fields})


def web(url: str, number: int = 0) -> Evidence:
    return Evidence(source="web", id=f"{url}_chunk_{number}", url=url, score=0.5, text="...")


@pytest.mark.parametrize(
    "item",
    [
        kg(text="alder kettle "),
        kg(id="kettle-7"),
        kg(url="https://images.example/kettle-7/0.jpg"),
        kg(attributes={"entity_id": "kettle-7", "box": [1, 2]}),
    ],
)
def test_the_entity_is_known_by_name_id_or_place(item: Evidence) -> None:
    assert seen(item).entity is True


@pytest.mark.parametrize(
    "item",
    [
        kg(text="Elder Kettle"),
        kg(url="https://images.example/kettle-77/0.jpg"),
        kg(attributes={"entity_id": 7}),
    ],
)
def test_another_entity_is_not_it(item: Evidence) -> None:
    assert seen(item).entity is False


def test_a_passage_of_a_right_page_counts_and_its_use_is_seen() -> None:
    found = seen(web(PAGE, 3), cited=(f"{PAGE}_chunk_3",))
    assert (found.passage, found.used, found.grounding) == (True, True, "answers")
    assert seen(web(PAGE, 3), cited=("other",)).used is False


@pytest.mark.parametrize(
    ("urls", "label"),
    [
        ((), "none"),
        ((f"{PAGE}/zzz",), "irrelevant"),
        ((f"{PAGE}/b", f"{PAGE}/zzz"), "related"),
        ((f"{PAGE}/b", f"{PAGE}/old"), "outdated"),
        ((PAGE, f"{PAGE}/old"), "answers"),
    ],
)
def test_grounding_is_the_best_label(urls: tuple[str, ...], label: str) -> None:
    assert seen(*(web(url) for url in urls)).grounding == label


@pytest.mark.parametrize(
    ("items", "cited", "abstained", "stage"),
    [
        ((kg(text="Other"), web("https://x.example")), (), False, "entity missed"),
        ((kg(text="Alder Kettle"), web("https://x.example")), (), False, "passage missed"),
        ((kg(text="Alder Kettle"), web("https://x.example")), (), True, "passage missed"),
        ((kg(text="Alder Kettle"), web(PAGE)), (), True, "abstained"),
        ((kg(text="Alder Kettle"), web(PAGE)), (), False, "not used"),
        ((kg(text="Alder Kettle"), web(PAGE)), (PAGE,), False, "misread"),
        ((kg(text="Other"), web(PAGE)), (PAGE,), False, "misread"),
    ],
)
def test_stages_in_the_order_of_work(items, cited, abstained: bool, stage: str) -> None:
    found = seen(*items, cited=cited)
    assert found.stage(correct=False, abstained=abstained) == stage
    assert found.stage(correct=True, abstained=abstained) == "correct"


def test_what_the_data_does_not_say_is_unknown() -> None:
    nothing = Notes(entity_id=None, entity_name=None)
    found = seen(kg(text="X"), web(PAGE), reference=Reference(text="y"), notes=nothing)
    assert (found.entity, found.passage, found.used) == (None, None, None)
    assert found.stage(correct=False, abstained=False) == "unknown"
    assert found.grounding == "not labelled"
