"""Things that look alike, weighed by what the wearer says and by what can be answered."""

from __future__ import annotations

import asyncio
from functools import partial

import msgspec
import pytest

from mmrag.agents.grounded.agent import GroundedAgent
from mmrag.agents.grounded.bounded_cache import BoundedCache
from mmrag.agents.grounded.candidate_answers import CandidateReader
from mmrag.agents.grounded.candidate_weights import find_agreed_answer, weigh_by_talk
from mmrag.agents.grounded.grounded_parts import Parts
from mmrag.agents.grounded.planner import plan_as_lookup
from mmrag.agents.grounded.question_plan import LOOKUP
from mmrag.agents.grounded.scene_records import Candidate, Finding, Scene
from mmrag.agents.grounded.turn_evidence import TurnEvidence
from mmrag.agents.grounded.wearer_hints import thing_noun
from mmrag.cache import Cache, cache_resources
from mmrag.files.images import LazyImage
from mmrag.protocols import Resources
from mmrag.records import Evidence, Exchange, Query
from mmrag.search.in_memory_search import MemoryWebSearch

NOW = "2030-06-10T15:00"
NAMES = ("Alder Brook Kettle", "Birch Hollow Kettle", "Cedar Marsh Kettle")


def alike(*chances, source="image-kg"):
    people = tuple(
        Candidate(name=n, confidence=c, source=source) for n, c in zip(NAMES, chances, strict=False)
    )
    return Scene(main=people[0], beside=people[1:], alike=people)


def plan(text, program=LOOKUP, history=()):
    return msgspec.structs.replace(plan_as_lookup(text, history), program=program)


OVER = '["at_least",["get","it",0],["get","other",0]]'
THE_NAMED = '["get","named",0]'
IS_IT = '["same","it","named"]'


def says(answers):
    """A reader that answers by the thing that the scene takes for the main one."""

    def read(scene):
        text = answers.get(scene.main.name)
        return Finding(text=text, recognition=scene.main.confidence) if text else None

    return read


def flips(answers):
    """The same for a question with two answers."""

    def read(scene):
        text = answers.get(scene.main.name)
        sure = scene.main.confidence
        return Finding(text=text, recognition=sure, luck=0.5) if text else None

    return read


def test_a_yes_on_which_all_agree_is_likely_of_things_not_read_too():
    asked = plan("Is this kettle taller than Dun Fell Kettle?", OVER)
    one, _ = find_agreed_answer(alike(0.2, 0.2, 0.1), asked, flips(dict.fromkeys(NAMES, "Yes")))
    assert one.recognition == pytest.approx(0.57, abs=0.01)
    assert one.luck == pytest.approx(4 / 5, abs=0.01)
    split = flips(dict(zip(NAMES, ("Yes", "Yes", "No"), strict=True)))
    two, _ = find_agreed_answer(alike(0.2, 0.2, 0.1), asked, split)
    assert two.text == "Yes"
    assert two.luck < 0.5  # what says no is not among the rest


def unknown(_claim, _scene):
    return None


def test_an_answer_on_which_several_agree_has_the_chance_of_them_all():
    answers = dict(zip(NAMES, ("Foo Works", "Bar Works", "bar works"), strict=True))
    found, said = find_agreed_answer(
        alike(0.4, 0.3, 0.3), plan("Who's this kettle's maker?"), says(answers)
    )
    assert (found.text, found.recognition) == ("Bar Works", pytest.approx(0.6, abs=0.01))
    assert said == list(answers.items())


def test_equal_quantities_agree_however_they_are_written():
    answers = dict(zip(NAMES, ("1,240 g", "900 g", "1240 g"), strict=True))
    found, _ = find_agreed_answer(
        alike(0.35, 0.36, 0.29), plan("What's this kettle's weight?"), says(answers)
    )
    assert found.text == "1,240 g"


def test_a_thing_of_which_nothing_is_known_loses():
    answers = {NAMES[1]: "900 g"}
    found, _ = find_agreed_answer(
        alike(0.5, 0.4), plan("What's this kettle's weight?"), says(answers)
    )
    assert found.text == "900 g"
    assert 0.4 < found.recognition < 0.8
    assert find_agreed_answer(alike(0.5, 0.4), plan("What's its weight?"), says({}))[0] is None


def test_improbable_candidates_are_not_read():
    _, said = find_agreed_answer(alike(0.9, 0.05, 0.01), plan("What's its weight?"), says({}))
    assert [name for name, _ in said] == [NAMES[0]]


@pytest.mark.parametrize(
    ("scene", "program"),
    [
        (alike(0.5, 0.4, source="ocr"), LOOKUP), (alike(0.5), LOOKUP),
        (alike(0.5, 0.4), THE_NAMED), (alike(0.5, 0.4), '["total","these",0]'),
        (alike(0.5, 0.4), '["printed","it","label"]')
    ]
)  # fmt: skip
def test_print_names_groups_and_what_is_read_off_are_not_weighed(scene, program):
    asked = []

    def read(seen):
        asked.append(seen.main.name)

    find_agreed_answer(scene, plan("What is it of Dorn Field Kettle?", program), read)
    assert asked == [NAMES[0]]


def test_a_true_premise_tells_look_alikes_apart():
    claim = plan("This is the one by Bar Works, right?", '["premise","it",0]')
    scene = weigh_by_talk(alike(0.5, 0.4), [claim], lambda _, seen: seen.main.name == NAMES[1])
    assert scene.main.name == NAMES[1]
    assert scene.main.confidence > 0.6
    assert weigh_by_talk(alike(0.5, 0.4), [claim], unknown).main.name == NAMES[0]


def test_names_that_the_wearer_guesses_or_compares_with():
    guessed = plan(f"Is this {NAMES[1]}?", IS_IT)
    assert weigh_by_talk(alike(0.5, 0.4), [guessed], unknown).main.name == NAMES[1]
    compared = plan(f"Is it heavier than {NAMES[0]}?", OVER)
    assert weigh_by_talk(alike(0.6, 0.4), [compared], unknown).main.name == NAMES[1]


def test_a_printed_name_is_not_talked_away():
    scene = alike(0.5, 0.4, source="ocr")
    assert weigh_by_talk(scene, [plan(f"Is this {NAMES[1]}?", IS_IT)], unknown) is scene


def test_what_was_said_in_earlier_turns_counts():
    before = plan(f"Is this the {NAMES[1]}?", IS_IT)
    now = plan("What's its weight?")
    assert weigh_by_talk(alike(0.4, 0.3, 0.1), [before, now], unknown).main.name == NAMES[1]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("What's this kettle's weight?", "kettle"), ("Which of these two watches is dearer?", "watch"),
        ("Is the other lamp taller?", "lamp"), ("How old is it?", ""),
        ("which guitar is this?", "guitar"), ("What headphones are these, then?", "headphones"),
        ("What colour is this kettle?", "kettle"), ("which brand is this?", ""),
        ("Which bus is that", "bus"),
        ("Name all the other towns that share its twin town?", ""),
    ],
)  # fmt: skip
def test_the_kind_that_the_wearer_speaks_of(said, kind):
    from PIL import Image

    image = LazyImage.from_pil(Image.new("RGB", (8, 8)))
    assert thing_noun(Query(text=said, image=image)) == kind
    later = Query(text="And how old?", image=image, history=(Exchange(query=said, reply="-"),))
    assert thing_noun(later) == kind


def test_the_agents_own_answer_is_no_surer_than_the_thing_it_was_about(reader):
    history = (Exchange(query="Who's this kettle's maker?", reply="Foo Brass Works"),)
    page = Evidence(source="web", id="https://a.example/1", score=0, title="Foo Brass Works",
                    text="The founder of Foo Brass Works is Dora Finch Mallory.")  # fmt: skip
    scene, evidence = alike(0.4, 0.3), TurnEvidence((), MemoryWebSearch([page]))
    guess = plan("And who founded that company?", '["get","answer",0]', history)
    guessed = reader.read(guess, scene, evidence, NOW)
    named = reader.read(plan("Who founded Foo Brass Works?", THE_NAMED), scene, evidence, NOW)
    assert guessed.text == named.text == "Dora Finch Mallory"
    assert (guessed.recognition, named.recognition) == (0.4, 1.0)


def test_candidates_without_an_answer_to_an_earlier_question_are_less_likely():
    earlier = [plan("Who's this kettle's maker?"), plan("What's this kettle's weight?")]
    asked = []

    def answers(one, seen, is_likeliest):
        asked.append((one.question, seen.main.name, is_likeliest))
        return seen.main.name == NAMES[1]

    people = alike(0.5, 0.3, 0.04)
    now = plan("How old is this kettle?")
    once = weigh_by_talk(people, [earlier[0], now], unknown, answers)
    assert once.main.name == NAMES[1]
    assert asked == [(earlier[0].question, NAMES[0], True), (earlier[0].question, NAMES[1], False)]
    twice = weigh_by_talk(people, [*earlier, now], unknown, answers)
    assert twice.main.confidence > once.main.confidence
    # what was asked before, what is asked now and what is about another thing tell nothing new
    named = plan("Who's the maker of Dorn Field Kettle?", THE_NAMED)
    assert (
        weigh_by_talk(people, [earlier[0], earlier[0], named, now, now], unknown, answers) == once
    )


def test_an_agent_taken_up_again_finds_what_the_first_one_found(reader):
    """Memory spares work and changes nothing: forgotten, it is worked out again."""
    facts = {NAMES[0]: "Foo Works", NAMES[1]: ""}
    pages = [
        Evidence(source="web", id=f"https://{n}.example/", score=0, title=name,
                 text=f"{name} boils in four minutes. " + (f"Its maker is {maker}." if maker else ""))
        for n, (name, maker) in enumerate(facts.items())
    ]  # fmt: skip
    now = plan("Who makes this kettle?")
    scene = alike(0.5, 0.4)

    def candidates(known, web):
        gather = partial(TurnEvidence, (), web)
        return CandidateReader(reader, gather, known, picture="p", now=NOW)

    web = Counting(MemoryWebSearch(pages))
    known = BoundedCache(9)
    first = candidates(known, web)
    assert first.read(now, scene).text == "Foo Works"
    assert first.read(now, msgspec.structs.replace(scene, main=scene.alike[1])) is None
    assert len(first.gathered) == 2
    asked = web.asked
    again = candidates(known, web)
    fresh = candidates(BoundedCache(9), web)
    for taken, queries in ((again, 0), (fresh, asked)):
        for i, likeliest in enumerate((True, False)):
            seen = msgspec.structs.replace(scene, main=scene.alike[i])
            assert taken.answers(now, seen, likeliest) is (i == 0)
        assert web.asked == asked + queries
    assert again.gathered == []


class Counting:
    """A web search that counts its queries."""

    def __init__(self, inner):
        self.inner, self.asked = inner, 0

    def search_text(self, queries, k=50):
        self.asked += len(queries)
        return self.inner.search_text(queries, k)


def test_what_was_used_longest_ago_is_forgotten_first():
    kept = BoundedCache(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert [kept.get(key) for key in "abc"] == [1, None, 3]


def test_the_agent_asks_the_web_the_same_query_once():
    from PIL import Image

    pages = [Evidence(source="web", id=f"https://{n}.example/", score=0, title=name,
                      text=f"{name} is a kettle. Its maker is Foo Works. Its weight is 900 g.")
             for n, name in enumerate(NAMES)]  # fmt: skip
    counted = Counting(MemoryWebSearch(pages))
    shared = cache_resources(Resources(web_search=counted), Cache())
    query = Query(text=f"Who makes {NAMES[0]}?", image=LazyImage.from_pil(Image.new("RGB", (8, 8))))
    for resources in (Resources(web_search=counted), shared):
        agent = GroundedAgent(resources, Parts.choose({"ocr": "off", "abstain": "off"}))
        counted.asked = 0
        first = asyncio.run(agent.answer(query))
        asked = counted.asked
        assert asked > 0
        assert asyncio.run(agent.answer(query)).text == first.text == "Foo Works"
        assert counted.asked == asked
