"""A world in CRAG's form: every answer is proved by the KG, every page says what it is said to."""

from __future__ import annotations

import bz2
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag

from mmrag.errors import DataError, UsageError
from mmrag.judges import make_judge
from mmrag.records import JudgeItem, Outcome
from mmrag.tools import Tool
from simulator.datasets import open_data
from simulator.world.crag.crag_rows import (
    PAGES,
    answered_by,
    crag_rows,
    five_of,
    pages_of,
    write_rows,
)
from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.entity_lines import entity_lines
from simulator.world.crag.kg.endpoints import crag_tools
from simulator.world.crag.questions.kg_proof import Proof, derive
from simulator.world.crag.questions.question_set import DOMAINS, FORMS, CragQuestion, ask_questions
from simulator.world.facts.domain_schema import DYNAMISM
from simulator.world.facts.generate import generate_facts


@pytest.fixture(scope="module")
def world() -> CragWorld:
    return CragWorld(generate_facts(11, 300))


@pytest.fixture(scope="module")
def asked(world: CragWorld) -> list[CragQuestion]:
    return list(ask_questions(world, 400))


@pytest.fixture(scope="module")
def box(world: CragWorld) -> dict[str, Tool]:
    return {tool.name: tool for tool in crag_tools(world)}


def test_every_domain_has_every_form_and_all_dynamisms_come_about(
    asked: list[CragQuestion],
) -> None:
    assert len(asked) == 400
    assert {(q.domain, q.form) for q in asked} == {(d, f) for d in DOMAINS for f in FORMS}
    assert {q.dynamism for q in asked} == set(DYNAMISM)
    assert len({q.query for q in asked}) == len({q.id for q in asked}) == 400
    from_kg = sum(bool(q.popularity) for q in asked) / 400
    assert 0.37 < from_kg < 0.53, "45 % in the published data"


def test_the_kg_proves_every_answer(asked: list[CragQuestion], box: dict[str, Tool]) -> None:
    """The stage gave the answer; the functions, as of the time of asking, derive it again."""
    for question in asked:
        found = derive(question.proof, lambda name, a: box[name].call(a, question.at))  # noqa: B023
        assert found == question.value, question.query


def test_the_words_of_an_answer_say_its_value(asked: list[CragQuestion]) -> None:
    for question in asked:
        if question.form == "false_premise":
            assert question.answer == "invalid question"
            continue
        texts = " ".join((question.answer, *question.others))
        digits = re.sub(r"(?<=\d),(?=\d)", "", texts)
        items = question.value if isinstance(question.value, list) else [question.value]
        for item in items:
            number = f"{item:.2f}".rstrip("0").rstrip(".") if isinstance(item, float) else str(item)
            if question.form == "set" and question.domain == "finance":
                continue  # the sum of the two that the answer names
            assert number in texts or number in digits, (question.query, question.value)


def test_what_a_question_needs_can_be_said_at_its_time(
    world: CragWorld, asked: list[CragQuestion]
) -> None:
    for question in asked:
        for need in question.needs:
            said = [
                line
                for line in entity_lines(world, need.name, question.at)
                if line.noun == need.noun
            ]
            assert [line for line in said if not need.day or line.day == need.day], need


def test_a_proof_that_does_not_hold_is_an_error(box: dict[str, Tool]) -> None:
    def ask(name: str, arguments: dict[str, Any]) -> Any:
        return {"eps": 2.5, "days": {"2031-01-01 00:00:00 EST": 1}}

    same = Proof(calls=(("a", {}, ("eps",)), ("b", {}, ("eps",))), operation="larger",
                 names=("A", "B"))  # fmt: skip
    with pytest.raises(DataError, match="equal"):
        derive(same, ask)
    with pytest.raises(DataError, match="premise holds"):
        derive(Proof(calls=(("a", {}, ("eps",)),), operation="refuted", claim=2.5), ask)
    with pytest.raises(DataError, match="nothing at"):
        derive(Proof(calls=(("a", {}, ("days", "@day:2031-01-02")),)), ask)


def test_the_built_in_judge_takes_the_answers_and_refuses_others(asked: list[CragQuestion]) -> None:
    import asyncio

    judge = make_judge("builtin")

    async def outcome(question: CragQuestion, text: str) -> Outcome:
        item = JudgeItem(question=question.query, references=(question.answer, *question.others),
                         prediction=text)  # fmt: skip
        return (await judge.judge(item)).outcome

    async def all_of() -> None:
        for question in asked[:120]:
            assert (await outcome(question, question.answer)).is_correct, question.query
            assert await outcome(question, "It is Smarch.") is Outcome.INCORRECT, question.query
            assert await outcome(question, "I don't know") is Outcome.MISSING

    asyncio.run(all_of())


def test_pages_state_what_they_are_said_to_and_no_others_do(
    world: CragWorld, asked: list[CragQuestion]
) -> None:
    for question in asked[:60]:
        pages = pages_of(world, question)
        assert (len(pages), len({page.url for page in pages})) == (PAGES, PAGES)
        for number, need in enumerate(question.needs):
            lines = entity_lines(world, need.name, question.at)
            texts = {
                line.text
                for line in lines
                if line.noun == need.noun and (not need.day or line.day == need.day)
            }
            for page in pages:
                plain = page.html.replace("&#x27;", "'").replace("&amp;", "&")
                body = plain.partition("<main>")[2]
                phrase = f"the {need.noun} of {need.name}"
                stated = any(
                    re.search(re.escape(f"{phrase} {word} {text}.") + r"\D", body, re.IGNORECASE)
                    for word in ("is", "was") for text in texts
                )  # fmt: skip
                if stated and need.day == "":
                    assert number in page.answers, (need, body)
                if number in page.answers:
                    assert any(text in body for text in texts), (need, body)


def test_recall_is_the_papers(world: CragWorld) -> None:
    many = list(ask_questions(world, 300, seed=3))
    at_50 = [answered_by(pages_of(world, q), q) for q in many]
    by_source = {
        kg: sum(a for q, a in zip(many, at_50, strict=True) if bool(q.popularity) is kg)
        / sum(bool(q.popularity) is kg for q in many)
        for kg in (True, False)
    }
    assert by_source[False] == pytest.approx(0.93, abs=0.07)
    assert by_source[True] == pytest.approx(0.74, abs=0.11)


def test_tasks_1_and_2_get_five_of_the_first_ten(
    world: CragWorld, asked: list[CragQuestion]
) -> None:
    question = asked[0]
    pages = pages_of(world, question)
    five = five_of(pages, question, 1)
    assert len(five) == 5
    assert [pages.index(page) for page in five] == sorted(pages.index(page) for page in five)
    assert all(pages.index(page) < 10 for page in five)


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.bz2", ".jsonl.gz"])
def test_rows_are_read_as_crag(world: CragWorld, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"world{ending}"
    assert write_rows(crag_rows(world, 30), out) == 30
    again = tmp_path / f"again{ending}"
    write_rows(crag_rows(world, 30), again)
    assert out.read_bytes() == again.read_bytes(), "the same rows are the same bytes"
    sessions = list(open_data(f"crag:{out}"))
    assert all(session.capture is None and session.passages for session in sessions)
    assert {s.turns[0].query_type for s in sessions} == {f.replace("_", "-") for f in FORMS}
    assert Counter(s.turns[0].meta["pages_answer"] for s in sessions).keys() == {"yes", "no"}


def test_the_command_writes_both_editions_of_the_same_questions(tmp_path: Path) -> None:
    found: dict[int, list[dict[str, Any]]] = {}
    for pages in (5, 50):
        out = tmp_path / f"w{pages}.jsonl.bz2"
        mmrag("world", "crag", "mini", "--out", str(out), "--questions", "6",
              "--pages", str(pages))  # fmt: skip
        found[pages] = [json.loads(line) for line in bz2.decompress(out.read_bytes()).splitlines()]
        assert [len(row["search_results"]) for row in found[pages]] == [pages] * 6
    assert [r["query"] for r in found[5]] == [r["query"] for r in found[50]]
    for few, many in zip(found[5], found[50], strict=True):
        assert all(page in many["search_results"][:10] for page in few["search_results"])


def test_other_numbers_of_pages_are_refused(world: CragWorld) -> None:
    with pytest.raises(UsageError, match="CRAG has 5 a question"):
        list(crag_rows(world, 1, pages=7))
