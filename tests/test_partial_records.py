"""The parts of records that lists and reports read agree with the records."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import msgspec
import pytest

from mmrag import partial_records, records
from mmrag.cache import Cache, CachedImageSearch, CachedWebSearch
from mmrag.protocols import ImageSearch, NearestWebSearch, VectorImageSearch, WholeImageSearch
from mmrag.records import (
    Capture,
    Evidence,
    Outcome,
    Reference,
    Reply,
    Session,
    Step,
    Turn,
    TurnResult,
    Usage,
    Verdict,
    Vote,
    encode,
)
from mmrag.search.image.image_kg import ImageKG
from mmrag.search.in_memory_search import MemoryImageSearch, MemoryWebSearch
from mmrag.search.web.web_search import HybridWebSearch
from simulator.message_text import summarise_problems

PARTS = [
    kind
    for kind in vars(partial_records).values()
    if isinstance(kind, type)
    and issubclass(kind, partial_records.PartialRecord)
    and kind
    not in (
        partial_records.PartialRecord,
        partial_records.PartialEntity,
        partial_records.PartialLink,
        partial_records.PartialDegraded,
    )
]


@pytest.mark.parametrize("part", PARTS, ids=lambda kind: kind.__name__)
def test_a_part_has_the_names_and_defaults_of_its_record(
    part: type[partial_records.PartialRecord],
) -> None:
    named = re.search(r"Of an? `(\w+)`", part.__doc__ or "")
    assert named is not None
    whole = {f.name: f for f in msgspec.structs.fields(getattr(records, named[1]))}
    fields = msgspec.structs.fields(part)
    assert fields
    for field in fields:
        assert field.name in whole, field.name
        if field.required or isinstance(field.default, msgspec.Raw):
            continue
        default, theirs = field.default, whole[field.name]
        if not theirs.required and default is not msgspec.NODEFAULT:
            assert default == theirs.default, field.name


def test_the_parts_of_a_saved_conversation() -> None:
    from PIL import Image

    from mmrag.files.images import LazyImage

    image = LazyImage.from_pil(Image.new("RGB", (8, 8)))
    turn = Turn(
        index=0, id="t", query="what?", reference=Reference(text="a kettle", evidence=("p",)),
        domain="food", text_clue=True, extra={"entity_id": "e1", "other": [1, 2]},
    )  # fmt: skip
    session = Session(
        id="s", capture=Capture(image=image, degradation="low-light@3"), turns=(turn,)
    )
    read = msgspec.json.decode(encode(session), type=partial_records.CountedSession)
    assert (read.id, read.capture.degradation, read.capture.quality) == (
        "s",
        "low-light@3",
        "normal",
    )
    (first,) = read.turns
    assert (first.query, first.domain, first.text_clue) == ("what?", "food", True)
    assert (first.reference.evidence, first.extra.entity_id) == (("p",), "e1")
    listed = msgspec.json.decode(encode(session), type=partial_records.ListedSession)
    assert [turn.query for turn in listed.turns] == ["what?"]

    found = Evidence(source="web", id="p", score=1.0, text='"quoted"', attributes={"a": 1})
    reply = Reply(
        text="a kettle", trace=(Step(name="web", evidence=(found,)),), usage=Usage(calls=2)
    )
    result = TurnResult(session_id="s", turn_index=0, status=records.Status.ANSWERED, reply=reply)
    part = msgspec.json.decode(encode(result), type=partial_records.CountedResult)
    assert part.reply is not None
    assert part.reply.usage.calls == 2
    (item,) = part.reply.trace[0].evidence
    assert (item.source, msgspec.json.decode(item.text)) == ("web", '"quoted"')
    vote = Vote(judge="k", outcome=Outcome.MISSING)
    verdict = Verdict(outcome=Outcome.PERFECT, judge="j", votes=(vote,))
    judged = msgspec.json.decode(encode(verdict), type=partial_records.PartialVerdict)
    assert [vote.outcome for vote in judged.votes] == [Outcome.MISSING]


# -- contracts

WHOLE = Evidence(source="image-kg", id="w", score=1)
ROOT = Path(__file__).parents[1]


def test_each_search_says_which_ways_it_knows() -> None:
    for kind in (ImageKG, CachedImageSearch):
        assert issubclass(kind, WholeImageSearch)
        assert issubclass(kind, VectorImageSearch)
    assert not issubclass(MemoryImageSearch, VectorImageSearch)
    assert issubclass(HybridWebSearch, NearestWebSearch)
    assert not issubclass(MemoryWebSearch, NearestWebSearch)


def test_a_cache_searches_in_the_way_asked_where_there_is_one() -> None:
    class Ways(MemoryImageSearch):
        def search_whole(self, images, k=30):
            return [(WHOLE,) for _ in images]

    from PIL import Image

    from mmrag.files.images import LazyImage

    picture = LazyImage.from_pil(Image.new("RGB", (8, 8)))
    plain: ImageSearch = MemoryImageSearch({})
    for search, found in ((plain, [(), ()]), (Ways({}), [(), (WHOLE,)])):
        cached = CachedImageSearch(search, "ix", Cache())
        ways = (cached.search_images, cached.search_whole)
        assert [way([picture])[0] for way in ways] == found
    nearest = CachedWebSearch(MemoryWebSearch([]), "ix", Cache()).search_nearest(["kettle"])
    assert nearest == [()]


def test_no_way_of_searching_is_reached_by_its_name() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in ("mmrag", "simulator", "ui")
        for path in (ROOT / package).rglob("*.py")
        if "getattr" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and "search" in ast.unparse(node)
    ]
    assert not wrong, wrong


# -- counting


def test_a_few_problems_are_told_and_the_rest_is_counted() -> None:
    assert summarise_problems([]) == "No problem found."
    assert summarise_problems(["a.jpg: torn"]) == "1 problem:\n  a.jpg: torn"
    told = summarise_problems([f"{n}.jpg: torn" for n in range(1_022)]).splitlines()
    assert told[0] == "1,022 problems:"
    assert told[1:21] == [f"  {n}.jpg: torn" for n in range(20)]
    assert told[21:] == ["  … and 1,002 more"]
