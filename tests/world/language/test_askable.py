"""What is asked about, and that neither the image KG nor its size says which things those are."""

from __future__ import annotations

from collections import Counter

import pytest
from plain_voice import plain

from simulator.world.build.world_request import HARD, LIFE, Difficulty, WorldRequest, make_request
from simulator.world.checks.published_figures import KG_COVERAGE
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import generate_facts
from simulator.world.facts.look import KINDS
from simulator.world.language.askable_things import ONE_IN, PER_FAMILY, askable, family_of
from simulator.world.language.conversations import make_sessions
from simulator.world.pictures.kg_pictures import KgPicture, plan_kg_pictures


@pytest.fixture(scope="module")
def request_() -> WorldRequest:
    return make_request(4, 489, voices=plain())


@pytest.fixture(scope="module")
def facts(request_: WorldRequest) -> FactBase:
    return generate_facts(request_.seed, request_.entities)


@pytest.fixture(scope="module")
def asked(facts: FactBase, request_: WorldRequest) -> set[str]:
    sessions = make_sessions(
        facts, [plain()], conversations=request_.conversations, singles=request_.singles
    )
    return {s.entity_id for s in sessions}


@pytest.fixture(scope="module")
def shots(facts: FactBase, request_: WorldRequest, asked: set[str]) -> list[KgPicture]:
    return plan_kg_pictures(facts, asked, request_)


@pytest.mark.proof("time")
@pytest.mark.parametrize("difficulty", [LIFE, HARD])
def test_half_of_a_family_is_askable(request_: WorldRequest, difficulty: Difficulty) -> None:
    facts = generate_facts(request_.seed, request_.entities, difficulty.look_alikes)
    families = askable(facts)
    visible = [e for e in facts.entities.values() if e.look]
    sizes = Counter(family_of(e) for e in visible)
    assert {kind for kind, _ in families} == {k for kinds in KINDS.values() for k in kinds}
    asked = [i for of in families.values() for i in of]
    assert len(asked) == pytest.approx(len(visible) / ONE_IN, rel=0.05)
    assert all(len(set(of)) == (sizes[family] + 1) // 2 for family, of in families.items())
    popularity = Counter(facts.entity(i).popularity for i in asked)
    for name in PER_FAMILY:
        share = PER_FAMILY.count(name) / len(PER_FAMILY)
        assert popularity[name] / len(asked) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("n", [1, 400, 3000])
def test_any_world_has_something_to_ask_about_in_each_kind(n: int) -> None:
    families = askable(generate_facts(9, n))
    assert {kind for kind, _ in families} == {k for kinds in KINDS.values() for k in kinds}


def test_pictures_do_not_tell_what_is_asked_about(
    facts: FactBase, asked: set[str], shots: list[KgPicture]
) -> None:
    """Choosing among look-alikes by the number of their pictures is choosing by luck."""
    pictures = Counter(s.entity_id for s in shots)
    families = askable(facts)
    alike = {e.id for e in facts.entities.values() if e.look and family_of(e) in families} - asked
    counts = [[pictures[i] for i in sorted(group) if pictures[i]] for group in (asked, alike)]
    means = [sum(c) / len(c) for c in counts]
    assert means[0] == pytest.approx(means[1], abs=0.1)
    assert max(map(max, counts)) - min(map(min, counts)) <= 1


def test_as_many_are_left_out_of_both(
    facts: FactBase, asked: set[str], shots: list[KgPicture]
) -> None:
    held = {s.entity_id for s in shots}
    others = {e.id for e in facts.entities.values() if e.look} - asked
    for group in (asked, others):
        assert len(held & group) / len(group) == pytest.approx(KG_COVERAGE, abs=0.005)


def test_one_relevant_picture_to_twenty_others(asked: set[str], shots: list[KgPicture]) -> None:
    relevant = sum(s.entity_id in asked for s in shots)
    assert (len(shots) - relevant) / relevant == pytest.approx(20, abs=1)


def test_a_small_kg_holds_whole_families_twice(facts: FactBase, asked: set[str]) -> None:
    shots = plan_kg_pictures(facts, asked, make_request(4, 60))
    pictures = Counter(s.entity_id for s in shots)
    assert len(shots) == make_request(4, 60).kg_pictures
    assert min(pictures.values()) >= 2
    families = {family_of(facts.entity(i)) for i in pictures}
    assert families >= set(askable(facts))
