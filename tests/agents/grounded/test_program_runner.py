"""What programs come to, on values that are handed over: no page, no encoder."""

from __future__ import annotations

import itertools
import json
from types import SimpleNamespace

import msgspec
import pytest

from mmrag.agents.grounded.attribute_finder import FoundValue, read_stated_value
from mmrag.agents.grounded.contextual_vectors import mask_names
from mmrag.agents.grounded.program_runner import is_premise_true, run_program
from mmrag.agents.grounded.question_plan import LOOKUP, QuestionPlan
from mmrag.agents.grounded.scene_records import Candidate, Scene
from mmrag.agents.grounded.trained_heads import read_weights

NOW = "2030-06-10T15:00"
FACTS = {
    "Alder Jam": {
        0: "$4.20", 1: "3 for the price of 2", 2: "nuts and milk", 3: "Quill Works", 4: "18:30",
        5: "12 June 2030", 6: "250 g", 7: "60 cm", 8: "vegan", 9: "not in the dishwasher",
    },
    "Birch Jam": {0: "$3.10", 2: "none", 6: "500 g", 3: "Quill Works", 8: "vegetarian"},
    "Cedar Jam": {0: "$9.00", 2: "soya", 7: "40 cm", 6: "300 g", 3: "Foo Mills", 8: "vegan"},
    "Quill Works": {0: "Lower Ferry", 1: "20:00"},
    "Dorn Jam": {0: "$4.00", 3: "Quill Works"},
}  # fmt: skip


class Handed:
    """A reading that knows the facts."""

    def __init__(self, plan, now=NOW, printed=()):
        self.plan, self.now = plan, now
        seen = [
            Candidate(name=f"{n} Jam", confidence=0.9, source="ocr")
            for n in ("Alder", "Birch", "Cedar")
        ]
        self.scene = Scene(main=seen[0], beside=tuple(seen[1:]), printed=printed)

    def entities(self, thing):
        main, *beside = (self.scene.main, *self.scene.beside)
        named = [Candidate(name=n, confidence=1.0, source="question") for n in self.plan.names]
        found = {"it": [main], "next": beside[:1], "both": [main, beside[0]]}
        more = {"answer": [SimpleNamespace(name=self.plan.answer, confidence=1.0)]}
        more["these"] = [main, *beside]
        return (found | more).get(thing, named[:1])

    def attribute(self, entity, slot, kinds, when=""):
        said = FACTS.get(entity.name, {}).get(slot)
        if said is None or read_stated_value(said).kind not in kinds:
            return None
        return FoundValue(value=read_stated_value(said), recognition=entity.confidence)

    def sharing(self, owner, slot):
        found = {name: said[slot] for name, said in FACTS.items() if slot in said}
        same = [name for name, value in found.items() if value == owner.value.text]
        return [(name, FoundValue(value=read_stated_value("x"))) for name in same]


def test_one_of_which_nothing_is_said_may_be_the_one():
    plan = QuestionPlan(question="", masked="", program='["least","these",7]', names=(), answer="")
    found = run_program(plan, Handed(plan))  # of Birch Jam the size is unknown
    assert found is not None
    assert (found.text, found.agreement) == ("Cedar Jam", pytest.approx(2 / 3))
    alone = msgspec.structs.replace(plan, program='["least","these",5]')
    assert run_program(alone, Handed(alone)) is None


def comes_to(program, question="", *, reply="", **more):
    masked, names = mask_names(question)
    plan = QuestionPlan(
        question=question, masked=masked, program=json.dumps(program), names=names, answer=reply
    )
    found = run_program(plan, Handed(plan, **more))
    return found and found.text


IT = ["get", "it", 0]
NUMBER, WORD = ["number"], ["word"]


@pytest.mark.parametrize(
    ("program", "question", "text"),
    [
        ("it", "what is this", "Alder Jam"),
        (IT, "how much is this", "$4.20"),
        (["get", "next", 0], "and the one next to it", "$3.10"),
        (["get", ["get", "it", 3], 0], "where is the maker based", "Lower Ferry"),
        (["get", "shop", 1], "how late is Quill Works open", "20:00"),
        (["most", "these", 6], "which of these holds most", "Birch Jam"),
        (["least", "both", 0], "which of the two is cheaper", "Birch Jam"),
        (["total", "these", 0], "all of them together", "$16.30"),
        (["plus", IT, ["get", "next", 0]], "both of them", "$7.30"),
        (["minus", IT, ["get", "next", 0]], "how much dearer is it", "$1.10"),
        (["times", IT, NUMBER], "and three of them", "$12.60"),
        (["deal", "it", 0, 1, NUMBER], "five, with the offer", "$16.80"),
        (["fits", NUMBER, IT], "I've got $20, how many is that", "4"),
        (["over", IT, NUMBER], "split between four of us", "$1.05"),
        (["at_least", NUMBER, IT], "I have $5, is that enough", "Yes"),
        (["at_least", NUMBER, ["get", "it", 7]], "does it fit a 45 cm gap", "No"),
        (["at_least", ["get", "it", 7], NUMBER], "is it over 1 m long", "No"),
        (["at_least", ["get", "it", 4], NUMBER], "is it open at 6:15 pm", "Yes"),
        (["at_least", ["get", "it", 4], NUMBER], "do I make it by 7 pm", "No"),
        (["at_least", NUMBER, ["times", IT, NUMBER]], "I've $10 left, is that three jars", "No"),
        (["at_least", IT, ["get", "other", 0]], "is this dearer than the Dorn Jam", "Yes"),
        (["has", ["get", "it", 2], WORD], "any milk in it", "Yes"),
        (["has", ["get", "it", 2], WORD], "is there soya in it", "No"),
        (["not", ["has", ["get", "it", 2], WORD]], "ok without nuts", "No"),
        (["where", "these", 2, "lacks", WORD], "no nuts here, which can I take",
         "Birch Jam and Cedar Jam"),
        (["where", "these", 0, "<", NUMBER], "which are under $5", "Alder Jam and Birch Jam"),
        (["where", "these", 8, "is", WORD], "which of these are vegan", "Alder Jam and Cedar Jam"),
        (["count", ["where", "these", 0, "<", NUMBER]], "how many are under $5", "2"),
        (["is", ["get", "it", 9], WORD], "can it go in the dishwasher", "No"),
        (["get", "it", 8], "is it vegan", "Yes, vegan"),
        (["get", "it", 8], "is it vegetarian", "vegan"),
        (["get", "it", 3], "do you know who makes it", "Quill Works"),
        (["without", ["sources", ["get", "it", 3], 3], "it"], "what else do they make",
         "Birch Jam and Dorn Jam"),
        (["premise", "it", 8], "this is the vegan one, right", "Yes"),
        (["premise", "it", 8], "this is the vegetarian one, right", "No, it's vegan."),
        (["premise", "it", 8], "this is not vegan, is it", "No, it's vegan."),
        (["premise", "it", 8, IT], "the vegan one here, how much is it", "$4.20"),
        (["same", "it", "named"], "is this the Birch Jam", "No"),
        (["minutes_until", ["get", "it", 4]], "how long have I got", "210 minutes"),
        (["days_until", ["get", "it", 5]], "how many days till then", "2 days"),
        (["weekday", ["get", "it", 5]], "which day of the week is that", "Wednesday"),
        (["in_unit", ["get", "it", 6]], "and in ounces", "8.8 oz"),
        (["in_unit", ["get", "it", 6]], "what's that in kilos", "0.25 kg"),
        (["in_unit", ["get", "it", 6]], "and in centimetres", "8.8 oz"),
        (["in_unit", ["get", "it", 7]], "what's that in metres", "0.6 m"),
        (["in_unit", ["get", "it", 7]], "how many inches is that", "23.6 in"),
        (["get", "it", 99], "what does nobody know", None),
        (["most", "these", 4], "which closes last", None),
        (["frobnicate", "it"], "what nobody can do", None),
    ],
)  # fmt: skip
def test_a_program_comes_to(program, question, text):
    assert comes_to(program, question) == text


def test_an_earlier_answer_is_asked_about():
    assert comes_to(["get", "answer", 0], "where are they", reply="Quill Works") == "Lower Ferry"


def test_a_piece_of_the_name_is_not_small_print():
    lines = ("Alder", "ALDERJAM", "$3.20")
    assert comes_to(["printed", "it", "sublabel"], "and below that", printed=lines) == "$3.20"


def test_a_yes_may_be_right_by_luck_and_is_no_surer_than_its_parts():
    plan = QuestionPlan(question="is it under $5", masked="is it under $5",
                        program=json.dumps(["at_least", NUMBER, IT]))  # fmt: skip
    found = run_program(plan, Handed(plan))
    assert (found.text, found.luck, found.recognition) == ("Yes", 0.5, 0.9)


def test_whether_a_premise_holds():
    for claim, is_so in (("vegan", True), ("vegetarian", False)):
        text = f"this is the {claim} one, right"
        plan = QuestionPlan(question=text, masked=text, program='["premise","it",8]')
        assert is_premise_true(plan, Handed(plan)) is is_so


def test_whom_a_program_is_about():
    plan = QuestionPlan(question="", masked="", program=LOOKUP)
    assert (plan.things, plan.operation) == ({"it"}, "get")
    both = QuestionPlan(question="", masked="", program='["least","both",0]')
    assert (both.things, both.operation) == ({"both"}, "least")
    assert QuestionPlan(question="", masked="", program='"it"').operation == "name"


ODD = ("$4.20", "18:30", "2030", "May 2030", "12 June 2030", "250 g", "nuts and milk", "Quill", "0",
       "-3 °C", "99:99", "30 February 2030", "9" * 400)  # fmt: skip
ASKED = ("is it", "3 or 4 by 7 pm on 31 June", "10 lb " * 40, "the Dorn Jam")


class Odd(Handed):
    """A reading that finds two values in turn, whatever is asked."""

    said = ("", "")

    def attribute(self, entity, slot, kinds, when=""):
        value = read_stated_value(self.said[(slot + (entity.name == "Alder Jam")) % 2])
        return FoundValue(value=value) if value.kind in kinds else None


@pytest.mark.parametrize("now", [NOW, "", "2030-06", "today, at noon."])
def test_no_program_fails_on_what_pages_may_say(now: str) -> None:
    for program, said, question in itertools.product(
        read_weights().programs, itertools.pairwise(ODD + ODD[:1]), ASKED
    ):
        masked, names = mask_names(question)
        plan = QuestionPlan(
            question=question, masked=masked, program=program, names=names, answer="Quill Works"
        )
        odd = Odd(plan, now)
        odd.said = said
        found = run_program(plan, odd)
        assert found is None or found.text.strip(), (program, said, question)
