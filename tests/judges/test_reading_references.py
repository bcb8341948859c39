"""How the built-in judge takes questions, references and replies apart."""

from __future__ import annotations

import pytest
from compared_times import times_as_long
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mmrag.judges.builtin.boosted_trees import Forest, StoredTrees, Tree
from mmrag.judges.builtin.parsed_question import Target, wordings
from mmrag.judges.builtin.parsed_text import Parsed
from mmrag.judges.builtin.rules import first_ruling
from mmrag.judges.builtin.vectors import Pieces, WordVectors
from mmrag.text.normalise import MAX_CHARS
from mmrag.text.numbers import MONTHS, Quantity, quantities, same_date, same_quantity
from mmrag.text.refusals import is_missing, missing_reason, official_missing


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    import numpy as np

    names = ["[UNK]", *"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "abcdefghijklmnop")]
    return WordVectors(Pieces(names), np.eye(len(names), 64, dtype=np.int8) * 100)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("John Ross with a time of 4. 22 seconds set a record", 4.22),
        ("its length is 21,196. 18 kilometers", 21_196.18),
        ("it costs $33. 5 in all", 33.5),
    ],
)
def test_a_number_cut_at_its_point_is_one(text: str, value: float) -> None:
    assert [q.raw for q in Parsed(text).quantities] == [value]


@pytest.mark.parametrize("text", ["It was built in 2004. 3 people saw it", "1. 3 eggs\n2. 2 cups"])
def test_the_end_of_a_sentence_is_no_decimal_point(text: str) -> None:
    assert all(q.raw == int(q.raw) for q in Parsed(text).quantities)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("They have won it once, in 2010", [1, 2010]), ("It was once a church", []),
        ("Once upon a time", []), ("all at once", []), ("twice", [2]), ("three times", [3])
    ]
)  # fmt: skip
def test_once_counts_where_it_does_not_mean_formerly(text: str, values: list[int]) -> None:
    assert [q.raw for q in Parsed(text).quantities] == values


@pytest.mark.parametrize("text", ["", "no number", "May", "in May", "sixty", "the first", "10 May"])
def test_what_is_passed_over_holds_no_number_and_no_date(text: str) -> None:
    reading = Parsed(text)
    assert reading.quantities == quantities(reading.tokens)
    assert bool(reading.dates) == ("10 May" in text)
    assert "may" in MONTHS


def test_places_and_roots_belong_to_the_words() -> None:
    reading = Parsed("The drivers of the Golden Gate were driving. They never stopped!")
    assert [reading.words[i] for i in reading.places] == reading.content
    assert (
        reading.roots[reading.words.index("drivers")]
        == reading.roots[reading.words.index("driving")]
    )
    assert reading.stems[reading.roots[0]] == 0
    assert len(reading.words) == len(reading.roots) == len(reading.capital) == len(reading.sentence)


def test_a_short_word_within_another_is_not_held() -> None:
    reading = Parsed("He sat on a chair with gannets")
    assert not reading.holds("hair")
    assert reading.holds("chair")
    assert Parsed("a hi-fi set").holds("hifi")


def test_an_answer_that_is_explained_stands_alone() -> None:
    found = {
        w.compact for w in wordings("In Mississippi, as Thomas Lanier. He took his name there")
    }
    assert {"mississippi", "mississippiasthomaslanier"} <= found


def test_what_a_reference_says_in_brackets(vectors: WordVectors) -> None:
    known = Target("What was the last US state?", ("Utah (State)", "Utah"), vectors).known
    assert not any(w.compact == "state" for w in known)
    assert any(w.compact == "utah" for w in known)
    known = Target("Which fruit is it?", ("Pear (fruit)",), vectors).known
    assert {w.compact for w in known} == {"pear", "pearfruit"}
    known = Target("Which company?", ("International Business Machines (IBM)",), vectors).known
    assert "ibm" in {w.compact for w in known}


def test_a_reference_that_is_in_the_question_stays(vectors: WordVectors) -> None:
    known = Target("Who won more, NFC or AFC?", ("NFC", "NFL"), vectors).known
    assert {w.compact for w in known} == {"nfc", "nfl"}


def test_core_is_what_aliases_share(vectors: WordVectors) -> None:
    references = ("Utah", "Climate of Utah", "Education in Utah", "Utahn", "UT state")
    core = Target("Which state?", references, vectors).core
    assert max(core, key=lambda root: core[root]) == "utah"


@pytest.mark.parametrize(
    ("question", "references", "reply", "correct"),
    [
        # True and false among their aliases.
        ("Taphephobia is the fear of losing your teeth?", ["False (logic)", "Falsehood", "False"],
         "No, it is the fear of being buried alive.", True),
        # Prose with commas is not a list of options.
        ("how many wars held between india and pakistan", ["four"],
         "India and Pakistan have fought four major wars: in 1947, 1965, 1971, and 1999.", None),
        ("which city is this", ["Paris"], "Paris, London, Rome, Berlin, Madrid", False),
        ("how many times have they won the super bowl", ["1"], "They have won it once.", True),
    ],
)  # fmt: skip
def test_rules(
    vectors: WordVectors, question: str, references: list[str], reply: str, correct: bool | None
) -> None:
    ruling = first_ruling(Target(question, tuple(references), vectors), Parsed(reply))
    assert (None if ruling is None else ruling.correct) is correct


# -- numbers


def quantity(text: str) -> Quantity:
    found = Parsed(text).quantities
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("324 m", 324.0, "length"), ("5 miles", 8046.72, "length"),
        ("6 feet 2 inches", 1.8796, "length"), ("twenty-one", 21.0, ""),
        ("one hundred and two", 102.0, ""), ("two thousand five hundred", 2500.0, ""),
        ("$2.3 billion", 2.3e9, "money:$"), ("1,234,567", 1234567.0, ""),
        ("71 per cent", 71.0, "percent"), ("212 °F", 100.0, "temperature"),
        ("1 hour 30 minutes", 5400.0, "time"), ("62 mph", 27.71648, "speed"), ("36.0", 36.0, ""),
        ("3rd", 3.0, "")
    ]
)  # fmt: skip
def test_quantities(text: str, value: float, kind: str) -> None:
    found = quantity(text)
    assert (found.value, found.kind) == (pytest.approx(value), kind)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("324 metres", "1063 feet", True), ("10 feet", "3 metres", True),
        ("10 feet", "3.5 metres", False), ("8,336,817", "8.3 million", True),
        ("8,336,817", "9 million", False), ("1889", "1890", False), ("42", "43", False),
        ("100 °C", "212 °F", True), ("3rd", "4th", False), ("$5", "5 euros", False),
        ("12 kg", "13 kg", False), ("4", "4 strings", True)
    ]
)  # fmt: skip
def test_same_quantity(first: str, second: str, same: bool) -> None:
    assert same_quantity(quantity(first), quantity(second)) is same
    assert same_quantity(quantity(second), quantity(first)) is same


def test_a_decade_is_no_duration() -> None:
    assert quantity("1980s").kind == ""


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("June 11, 1954", "11 June 1954", True), ("11th of June 1954", "June 1954", True),
        ("June 11, 1954", "July 11, 1954", False), ("1954", "June 1954", True),
        ("the 1930s", "1934", True), ("the 1930s", "1944", False), ("June 11", "1954", None)
    ]
)  # fmt: skip
def test_dates(first: str, second: str, same: bool | None) -> None:
    one, two = Parsed(first).dates[0], Parsed(second).dates[0]
    assert same_date(one, two) is same


def test_glued_words_of_search_assistants_come_apart() -> None:
    assert Parsed("It was sung byNorah Jones1.").words[-3:] == ["norah", "jones", "1"]
    assert Parsed("It opened on September 13, 20121.").words[-1] == "2012"
    assert Parsed("at least $75,0001.").words[-1] == "75000"


def test_trees_are_evaluated_as_written() -> None:
    #        x ≤ 0.5 ─► −1      else y ≤ 2 ─► +2, else +5
    tree = Tree(
        feature=(0, 1), threshold=(0.5, 2.0), left=(-1, -2), right=(1, -3), leaf=(-1.0, 2.0, 5.0)
    )
    stump = Tree(feature=(), threshold=(), left=(), right=(), leaf=(0.25,))
    forest = Forest(StoredTrees(names=("x", "y"), base=0.5, trees=(tree, stump)), ["x", "y"])
    import numpy as np

    rows = np.array([[0.5, 9.0], [0.6, 2.0], [0.6, 2.1]])
    assert forest.log_odds(rows).tolist() == [-0.25, 2.75, 5.75]


# -- missing

DONT_KNOW = [
    "I don't know", "I don’t know", "I don‘t know", "I don´t know", "I don`t know",
    "I donʼt know", "I don′t know", "I don＇t know", "I dont know", "I do not know",
    "i don't know.", "I DON'T KNOW!", "I Don’t Know…", "i dont know...", "I don' t know",
    "I don 't know", "  I don't know  ", "\n\tI don't know\n", "\"I don't know\"",
    "“I don’t know.”",
    "**I don't know**", "*I don’t know.*", "<p>I don&#39;t know</p>", "<b>I don&rsquo;t know</b>",
    "`I don't know`", "I don\u200b't know", "Ｉ don't know", "I\u00a0don't\u00a0know",
    "I don't know the answer.", "I don't know the answer to that question, sorry.",
    "I really don't know", "Sorry, I don't know", "I'm sorry, but I don’t know.",
    "Well, I dont know",
    "I don't know, sorry!", "Hmm, I don't know...", "idk", "IDK.", "dunno", "Don't know",
    "# I don't know", "> I don't know", "I honestly do not know.", "I don't actually know that.",
]  # fmt: skip

REFUSALS = [
    "", "   ", "\n", "\u200b", "…", "...", "-", "**", "<br>", "N/A", "n/a", "unknown", "Not sure.",
    "I'm sorry, I can't find the price of this car.",
    "I’m sorry, but I couldn’t find any information about that.",
    "I'm not sure.", "I am not certain about that.", "I have no idea.", "No idea",
    "I cannot answer this question.", "I can't tell from the picture.",
    "I'm unable to determine this.",
    "Unfortunately, I do not have that information.", "I don't have access to real-time data.",
    "As an AI language model, I don't have access to current prices.",
    "The answer is not available.", "That information is not provided in the context.",
    "There is no information about this in the image.", "It is unclear from the picture.",
    "I don't know. You could check the museum's website.",
    "I'm sorry, I can't help with that. Please contact the store.",
    "I don't know, but you can look it up online.", "I would rather not answer that.",
]  # fmt: skip

CLARIFICATIONS = [
    "Could you please clarify which car you mean?", "Which building are you referring to?",
    "Can you be more specific?", "Please provide more context.", "What do you mean?",
    "Please specify the year.", "Did you mean the red one or the blue one?",
    "I need more information. Could you show me the label?", "Could you take another picture? "
    "Please retake it closer to the label.",
]  # fmt: skip

ANSWERS = [
    "I don't know, but it is X", "I don't know, but it is 4",
    "I don’t know, but I think it's Paris.",
    "I'm not sure, but the answer is probably Mount Fuji.", "I don't know. It was built in 1889.",
    "I dont know - 42", "I don't know... Paris?",
    "Sorry, I don't know exactly; however, it is red.",
    "As an AI language model, I don't have access to live data. However, it was 21 in 2016.",
    "I Don't Know How to Love Him was sung by Yvonne Elliman.", '"I don\'t know" is by Lisa.',
    "Nobody knows: the case is open.",
    "Paris", "4", "no", "Yes.", "Unknown Mortal Orchestra", "π", "$5", "Don't Look Now",
    "The Unknown Soldier", "It is an apple.", "None of them.", "It is not a cat.",
]  # fmt: skip


def test_there_are_thirty_typographies() -> None:
    assert len(set(DONT_KNOW)) >= 30


@pytest.mark.parametrize("reply", DONT_KNOW)
def test_dont_know_in_every_typography(reply: str) -> None:
    assert missing_reason(reply).startswith("refusal: ")


@pytest.mark.parametrize("reply", REFUSALS)
def test_refusals(reply: str) -> None:
    assert missing_reason(reply).partition(":")[0] in ("refusal", "empty")


@pytest.mark.parametrize("reply", CLARIFICATIONS)
def test_clarifying_questions(reply: str) -> None:
    assert missing_reason(reply).partition(":")[0] in ("clarification", "refusal")


@pytest.mark.parametrize("reply", ANSWERS)
def test_answers_are_not_missing(reply: str) -> None:
    assert missing_reason(reply) is None


def test_the_official_rule_is_a_literal_substring() -> None:
    assert official_missing("I DON'T KNOW, but it is X")
    assert not official_missing("I don’t know")
    assert not official_missing("I do not know")
    assert not is_missing("I don't know, but it is X")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=300))
@example("无法推断")  # Hypothesis tries texts that stand in the modules that happen to be loaded
def test_any_text_is_read(text: str) -> None:
    kind = (missing_reason(text) or "").partition(":")[0]
    assert kind in ("", "empty", "refusal", "clarification")


@pytest.mark.parametrize(
    "unit", ["I don't know ", "<b>", "a.", "I'm sorry, ", "((((", "\u0301", "[1](", "but "]
)
def test_enormous_replies_take_no_longer_than_long_ones(unit: str) -> None:
    enormous, long = (unit * (n * MAX_CHARS // len(unit)) for n in (200, 4))
    assert times_as_long(lambda: missing_reason(enormous), lambda: missing_reason(long)) < 5
