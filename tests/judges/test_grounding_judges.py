"""Ragas and GaRAGe with a model, an encoder or annotations as judge; nothing is cut."""

from __future__ import annotations

import asyncio
import json

import pytest
from measuring_parts import Letters, Reader, Says

from mmrag.errors import JudgeError, SpecError
from mmrag.judges.measure_registry import chosen_measures, encoder_measurers, label_measurers
from mmrag.judges.papers.garage_judge import (
    EncoderAssessor,
    GarageJudge,
    LabelAssessor,
    ModelAssessor,
)
from mmrag.judges.papers.ragas import RagasJudge
from mmrag.judges.papers.ragas_offline import EncoderRagas
from mmrag.judges.papers.sentence_support import (
    EncoderSupport,
    ModelSupport,
    deflects,
    names_and_numbers,
)
from mmrag.judges.structured_replies import REQUEST_CHARS, batch_texts, passage_batches, split
from mmrag.metrics.grounding import GARAGE, Support
from mmrag.metrics.measure_records import Annotations, Case, Eligibility, Measurement
from mmrag.records import Passage

OPPENHEIMER = Passage(
    id="p",
    text="Oppenheimer is a 2023 biographical thriller film written and directed by Christopher "
    "Nolan. Based on the 2005 biography American Prometheus by Kai Bird and Martin J. Sherwin, the "
    "film chronicles the life of J. Robert Oppenheimer, a theoretical physicist. Cillian Murphy "
    'stars as Oppenheimer, with Emily Blunt as Oppenheimer\'s wife Katherine "Kitty" Oppenheimer.',
)
WHO = "Who directed the film Oppenheimer and who stars as J. Robert Oppenheimer in the film?"
FAITHFUL = (
    "Christopher Nolan directed the film Oppenheimer. "
    "Cillian Murphy stars as J. Robert Oppenheimer in the film."
)
UNFAITHFUL = (
    "James Cameron directed the film Oppenheimer. "
    "Tom Cruise stars as J. Robert Oppenheimer in the film."
)


def passages(*texts: str, labels: str = "") -> tuple[Passage, ...]:
    names = {"a": "answers", "r": "related", "o": "outdated", "i": "irrelevant", "u": "unknown"}
    marks = [names[c] for c in labels] or ["unknown"] * len(texts)
    return tuple(
        Passage(id=f"p{i}", text=text, label=mark)
        for i, (text, mark) in enumerate(zip(texts, marks, strict=True), 1)
    )


def take(judge: object, case: Case, *measures: str) -> list[Measurement]:
    return asyncio.run(judge.measure(case, measures))  # type: ignore[attr-defined]


# Ragas


@pytest.mark.parametrize(("count", "asked"), [(100, 1), (500, 5)])
def test_a_needed_sentence_is_its_share_and_many_are_asked_about_in_parts(
    count: int, asked: int
) -> None:
    text = " ".join(
        f"Sentence {i} is {'needed' if i % 100 == 0 else 'idle'}." for i in range(count)
    )
    model = Reader()
    case = Case(question="?", answer="x", passages=passages(text))
    [found] = take(RagasJudge(model, name="reader"), case, "context_relevance")
    assert (found.value, found.details["sentences"], len(model.prompts)) == (0.01, count, asked)


def test_faithfulness_by_statements() -> None:
    drawn = json.dumps({"key": "KEY", "statements": ["A is red.", "A is big.", "A is old."]})
    verdicts = json.dumps({"key": "KEY", "labels": ["supported", "contradicted", "unsupported"]})
    model = Says(drawn, verdicts)
    case = Case(
        question="How is A?", answer="It is red, big and old.", passages=passages("A is red.")
    )
    [found] = take(RagasJudge(model, name="m"), case, "faithfulness")
    assert found.value == pytest.approx(1 / 3)
    assert found.details["statements"] == ["A is red.", "A is big.", "A is old."]
    assert "It is red, big and old." in model.prompts[0]
    assert "A is big." in model.prompts[1]


def test_an_answer_that_declines_states_nothing_and_asks_nobody() -> None:
    model = Reader()
    judge = RagasJudge(model, name="reader", encoder=Letters())
    case = Case(question="Why?", answer="I don't know.", passages=passages("Because."))
    [faithful] = take(judge, case, "faithfulness")
    assert faithful.value is None
    assert faithful.reason
    assert not model.prompts


@pytest.mark.parametrize(
    ("answer", "said", "value"),
    [("It depends on many things.", True, 0.0), ("I don't know, but aab.", False, 1.0)],
)
def test_the_model_says_whether_an_answer_is_noncommittal(
    answer: str, said: bool, value: float
) -> None:
    model = Says(json.dumps({"key": "KEY", "questions": ["aab"], "noncommittal": said}))
    judge = RagasJudge(model, name="m", encoder=Letters(), questions=1)
    [found] = take(judge, Case(question="aab", answer=answer), "answer_relevance")
    assert found.value == pytest.approx(value)
    assert answer in model.prompts[0]
    assert "noncommittal" in model.prompts[0]


@pytest.mark.parametrize(
    ("said", "value"), [("1", 0.0), ("0", 1.0), ("Noncommittal: 1.", 0.0), ("perhaps", None)]
)
def test_with_the_papers_prompts_the_model_says_it_too(said: str, value: float | None) -> None:
    """In ragas' words, by a request of its own: the paper's question stays the paper's."""
    model = Says("aab", said, said, said)
    judge = RagasJudge(model, name="m", prompts="paper", encoder=Letters(), questions=1)
    [found] = take(judge, Case(question="aab", answer="It depends."), "answer_relevance")
    assert found.value == (value and pytest.approx(value))
    assert found.failed is (value is None)
    assert "noncommittal" not in model.prompts[0]
    assert "Give noncommittal as 1 if the answer is noncommittal" in model.prompts[1]
    [nothing] = take(judge, Case(question="aab", answer=" "), "answer_relevance")
    assert nothing.value == 0.0


LISTED = ["Results.", "The bridge is 40 m long.", "It is long.", "Long.", "It is long."]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("The bridge is 40 m long.", {1}), ("1. The bridge is 40 m long.\n2. It is long.", {1, 2}),
        ("The bridge is 40 m long. It is long.", {1, 2}),
        ("Results The bridge is 40 m long.", {0, 1}),
        ("It is long.\nIt is long.\nIt is long.", {2, 4}), ('"Long."', {3}),
        ("Here are the results, and how long.\nThe bridge is 40 m long.", {1}),
        ("Insufficient Information", set())
    ]
)  # fmt: skip
def test_a_sentence_is_extracted_where_it_is_repeated_whole(said: str, kept: set[int]) -> None:
    """Not because a word of it stands in another: "Long." stands in three of them."""
    case = Case(question="How long?", answer="x", passages=passages(*LISTED))
    model = Says(said)
    [found] = take(RagasJudge(model, name="m", prompts="paper"), case, "context_relevance")
    assert found.value == len(kept) / 5
    assert found.details["needed"] == [LISTED[place] for place in sorted(kept)]


def test_answer_relevance_is_the_mean_cosine() -> None:
    model = Says(json.dumps({"key": "KEY", "questions": ["aab", "bba"], "noncommittal": False}))
    judge = RagasJudge(model, name="m", encoder=Letters(), questions=2)
    [found] = take(judge, Case(question="aab", answer="it is"), "answer_relevance")
    # cos(aab, aab) = 1; cos((2,1), (1,2)) = 4/5; the mean is 0.9.
    assert found.value == pytest.approx(0.9, abs=1e-6)
    assert "2x" in found.judge
    assert "letters" in found.judge


def test_the_papers_prompts_take_the_same_steps() -> None:
    model = Says(
        "Statements:\n1. Nolan directed Oppenheimer.\n- Murphy stars in it.",
        "1. It says so. Yes.\n2. No word of it, no.\n"
        "Final verdict for each statement in order: Yes. No.",
    )
    judge = RagasJudge(model, name="m", prompts="paper")
    case = Case(question=WHO, answer=FAITHFUL, passages=(OPPENHEIMER,))
    [found] = take(judge, case, "faithfulness")
    assert found.value == 0.5
    assert model.prompts[0].startswith("Given a question and answer, create one or more statements")
    assert "Provide a brief explanation for each statement" in model.prompts[1]

    model = Says("Who directed it?", "question: Who stars in it?", "0")
    judge = RagasJudge(model, name="m", prompts="paper", encoder=Letters(), questions=2)
    [found] = take(judge, case, "answer_relevance")
    assert found.details["questions"] == ["Who directed it?", "Who stars in it?"]
    assert [o.seed for o in model.asked] == [0, 1, 0]

    needed = Says('"Oppenheimer is a 2023 biographical thriller film written and directed by '
                  'Christopher Nolan."')  # fmt: skip
    [found] = take(RagasJudge(needed, name="m", prompts="paper"), case, "context_relevance")
    assert found.value == pytest.approx(1 / 3)
    [found] = take(
        RagasJudge(Says("Insufficient Information"), name="m", prompts="paper"),
        case,
        "context_relevance",
    )
    assert found.value == 0.0
    with pytest.raises(SpecError, match="keyed, paper"):
        RagasJudge(model, name="m", prompts="own")


def test_the_judges_id_says_model_prompts_and_their_text() -> None:
    keyed = RagasJudge(Reader(), name="m").id("faithfulness")
    paper = RagasJudge(Reader(), name="m", prompts="paper").id("faithfulness")
    assert keyed.startswith("ragas/2:keyed:m+")
    assert paper.startswith("ragas/2:paper:m+")


def test_a_rambling_model_fails_the_measurement_and_not_the_others() -> None:
    case = Case(question="q", answer="A is red.", passages=passages("A is red."))
    found = take(RagasJudge(Says("well"), name="m"), case, "faithfulness", "context_relevance")
    assert [m.failed for m in found] == [True, True]
    assert all(m.value is None and "no usable answer" in m.reason for m in found)


def test_an_answer_that_broke_off_is_not_read() -> None:
    model = Says(json.dumps({"key": "KEY", "needed": [1]}), finish="length")
    case = Case(question="q", answer="A.", passages=passages("A is red."))
    [found] = take(RagasJudge(model, name="m"), case, "context_relevance")
    assert found.failed
    assert "token limit" in found.reason
    assert [o.max_tokens for o in model.asked] == [800, 1600, 3200]


# Nothing is cut


def test_a_long_text_is_split_to_its_end() -> None:
    said = [f"Sentence number {i} has a tail of words." for i in range(400)]
    assert split(" ".join(said)) == said
    assert split("word " * 3000)  # no sentence ends anywhere
    assert sum(len(s.split()) for s in split("word " * 3000)) == 3000
    assert "".join(split("ﷺ" * 3000)).count("\u0627") == 3000


def test_every_sentence_and_every_passage_is_judged() -> None:
    claims = [f"Fact {i} holds." for i in range(60)]
    texts = ["Nothing here." for _ in range(119)] + [" ".join(claims)]
    found = asyncio.run(ModelSupport(Reader()).support(claims, texts))
    assert found == (Support.SUPPORTED,) * 60


def test_passages_beyond_one_request_are_asked_about_in_turn() -> None:
    filler = "Nothing of use stands here. " * 800  # nearly one request each
    model = Reader()
    found = asyncio.run(
        ModelSupport(model).support(
            ["The last word counts.", "It is absent."], [filler, filler, "The last word counts."]
        )
    )
    assert (found, len(model.prompts)) == ((Support.SUPPORTED, Support.UNSUPPORTED), 2)
    assert all(len(prompt) < 1.2 * REQUEST_CHARS for prompt in model.prompts)


def test_what_cannot_be_divided_is_an_error_with_the_limit() -> None:
    with pytest.raises(JudgeError, match="24,000"):
        batch_texts(["x" * 30_000], most=5)
    long = "A sentence of a long passage. " * 2000
    parts = passage_batches([long])
    assert sum(part.count("sentence") for texts in parts for part in texts) == 2000
    judge = RagasJudge(Reader(), name="reader", encoder=Letters())
    [found] = take(judge, Case(question="q", answer="y" * 30_000), "answer_relevance")
    assert found.failed
    assert "24,000" in found.reason


def test_an_encoder_sees_the_end_of_a_long_sentence() -> None:
    long = "the yellow bridge and " * 60 + "zzz zzz zzz zzz"
    found = asyncio.run(EncoderSupport(Letters(), 0.9).support(["zzz zzz zzz zzz"], [long]))
    assert found == (Support.UNSUPPORTED,)  # beside other words it is not close
    whole = asyncio.run(EncoderSupport(Letters(), 0.9).support([long], [long]))
    assert whole == (Support.SUPPORTED,)


# Support


def test_model_support_is_parsed() -> None:
    answer = json.dumps({"key": "KEY", "labels": ["supported", "contradicted"]})
    support = ModelSupport(Says(answer))
    found = asyncio.run(support.support(["It is red.", "It is big."], ["It is red and small."]))
    assert found == (Support.SUPPORTED, Support.CONTRADICTED)
    with pytest.raises(JudgeError, match="no usable answer"):
        asyncio.run(ModelSupport(Says("yes"), retries=0).support(["It is red."], ["x"]))
    assert asyncio.run(support.support(["It is red."], [])) == (Support.UNSUPPORTED,)


def test_encoder_support_is_a_stated_approximation() -> None:
    support = EncoderSupport(Letters(), threshold=0.99)
    found = asyncio.run(
        support.support(
            ["The tower is red.", "Zebras jump quickly.", "I don't know."],
            ["A fact. The tower is red."],
        )
    )
    assert found == (Support.SUPPORTED, Support.UNSUPPORTED, Support.NOT_NEEDED)
    assert support.approximate


def test_names_and_numbers_must_stand_in_the_passages() -> None:
    assert names_and_numbers("Tom Cruise stars in it.") == {"tom", "cruise"}
    assert names_and_numbers("Directed in 1,998 by Nolan") == {"1998", "nolan"}
    assert names_and_numbers("The film is long.") == set()
    support = EncoderSupport(Letters(), threshold=0.5)
    found = asyncio.run(support.support(["It cost 12 euros."], ["It cost 21 euros."]))
    assert found == (Support.UNSUPPORTED,)


def test_a_denial_or_another_sentences_number_is_no_support() -> None:
    support = EncoderSupport(Letters(), threshold=0.5)
    given = ["The bridge is 40 m long. The bridge is 9 m wide."]
    claims = ["The bridge is 40 m long.", "The bridge is not 40 m long.", "It is 40 m, 9 m."]
    found = asyncio.run(support.support(claims, given))
    assert found == (Support.SUPPORTED, Support.UNSUPPORTED, Support.UNSUPPORTED)


def test_the_papers_unfaithful_answer_is_not_half_supported() -> None:
    from mmrag.encoders import text_encoders

    judge = EncoderRagas(text_encoders.create("minilm"))
    good, bad = (
        take(judge, Case(question=WHO, answer=a, passages=(OPPENHEIMER,)), "faithfulness")[0]
        for a in (FAITHFUL, UNFAITHFUL)
    )
    assert (good.value, bad.value) == (1.0, 0.0)
    assert bad.approximate


# GaRAGe

GIVEN = passages(
    "The bridge is 40 m long.", "It opened in 1987.", "It was 38 m long.", "Cats purr.",
    labels="aroi",
)  # fmt: skip


def case(answer: str, **more: object) -> Case:
    fields: dict[str, object] = {
        "question": "How long is the bridge?", "passages": GIVEN,
        "references": ("The bridge is 40 m long.",), "expected": ("p1",)
    }  # fmt: skip
    return Case(answer=answer, **(fields | more))  # type: ignore[arg-type]


def values(found: list[Measurement]) -> dict[str, float | None]:
    return {m.measure: m.value for m in found}


def test_garage_with_a_model() -> None:
    model = Reader()
    judge = GarageJudge(ModelAssessor(model, name="reader"))
    good = values(take(judge, case("The bridge is 40 m long.", citations=("p1", "p4")), *GARAGE))
    assert good["raf"] == good["factuality"] == good["eligibility"] == 1.0
    assert (good["deflection_true_positive"], good["deflection_false_positive"]) == (None, 0.0)
    assert (good["attribution_precision"], good["attribution_f1"]) == (0.5, pytest.approx(2 / 3))
    assert len(model.prompts) == 4  # eligibility, deflection, two times support

    stale = values(take(judge, case("The bridge is 40 m long. It was 38 m long."), *GARAGE))
    assert (stale["unadjusted_factuality"], stale["unadjusted_raf"]) == (1.0, 0.0)
    assert (stale["factuality"], stale["raf"]) == (1.0, 0.0)

    beside = values(take(judge, case("It opened in 1987."), *GARAGE))
    assert (beside["eligibility"], beside["unadjusted_raf"], beside["raf"]) == (0.0, 1.0, 0.0)


def test_where_declining_is_right_only_declining_is_judged() -> None:
    model = Reader()
    judge = GarageJudge(ModelAssessor(model, name="reader"))
    given = passages("Cats purr.", "Old news.", labels="io")
    nothing = case("I cannot say.", passages=given, expected=())
    found = take(judge, nothing, *GARAGE)
    assert values(found)["deflection_true_positive"] == 1.0
    assert [m.measure for m in found if m.value is not None] == ["deflection_true_positive"]
    assert len(model.prompts) == 1
    reasons = {m.reason for m in found if m.value is None}
    assert "declining is right here" in reasons


def test_annotations_decide_where_there_are_any() -> None:
    noted = Annotations(
        eligibility=Eligibility.MINOR_ISSUES,
        deflects=False,
        support=(Support.SUPPORTED, Support.SUPPORTED),
        relevant_support=(Support.SUPPORTED, Support.CONTRADICTED),
    )
    judge = GarageJudge(LabelAssessor())
    found = values(take(judge, case("One. Two.", annotations=noted), *GARAGE))
    assert (found["eligibility"], found["factuality"], found["raf"]) == (1.0, 1.0, 0.0)
    bare = take(judge, case("One. Two."), "eligibility")[0]
    assert (bare.value, bare.failed, bare.reason) == (None, False, "nobody annotated it")


def test_unlabelled_passages_give_no_relevance_aware_figure() -> None:
    judge = GarageJudge(ModelAssessor(Reader(), name="reader"))
    bare = case("The bridge is 40 m long.", passages=passages("The bridge is 40 m long."))
    found = take(judge, bare, "raf", "deflection_false_positive")
    assert [m.value for m in found] == [None, None]
    assert all("labelled" in m.reason for m in found)


def test_the_label_unknown_is_neither_relevant_nor_an_answer() -> None:
    given = passages("The bridge is 40 m long.", "Cats purr.", labels="ui")
    undated = case("x", passages=given)
    assert undated.relevant == ()
    assert undated.should_deflect
    bare = case("x", passages=given[:1])  # as where nobody labelled anything
    assert (bare.relevant, bare.should_deflect) == (None, None)


def test_the_encoder_stands_in_for_all_four_decisions() -> None:
    judge = GarageJudge(EncoderAssessor(Letters(), threshold=0.99, eligible_from=0.99))
    found = take(judge, case("The bridge is 40 m long."), *GARAGE)
    assert values(found)["raf"] == 1.0
    marked = {m.measure for m in found if m.approximate}
    assert marked == {m for m in GARAGE if not m.startswith("attribution")}


def test_a_bare_answer_addresses_the_request_too() -> None:
    judge = GarageJudge(EncoderAssessor(Letters(), eligible_from=0.999))
    assert values(take(judge, case("40 m"), "eligibility")) == {"eligibility": 1.0}
    assert values(take(judge, case("zzz"), "eligibility")) == {"eligibility": 0.0}


def test_a_failing_judge_fails_only_what_rests_on_it() -> None:
    class Half(Reader):
        def _said(self, prompt: str) -> dict[str, object]:
            return {} if '"eligibility"' in prompt else super()._said(prompt)

    judge = GarageJudge(ModelAssessor(Half(), name="half"))
    found = {m.measure: m for m in take(judge, case("The bridge is 40 m long."), *GARAGE)}
    assert found["raf"].failed
    assert found["eligibility"].failed
    assert found["unadjusted_raf"].value == 1.0


@pytest.mark.parametrize(
    ("answer", "declines"),
    [
        ("I don't know.", True), ("", True), ("I'm sorry, the passages do not say.", True),
        ("There is not enough grounding for an answer.", True),
        ("I don't know. I hope that this helps!", True),
        ("The sources don't say it outright, but it is 4 m.", False),
        ("The passages do not mention the price. It opened in 1987.", False),
        ("I don't know, but it is 4.", False), ("It is 4 m. " * 600 + "I don't know.", False)
    ]
)  # fmt: skip
def test_declining(answer: str, declines: bool) -> None:
    assert deflects(answer) is declines


def test_measures_by_name() -> None:
    assert chosen_measures("ragas") == ("faithfulness", "answer_relevance", "context_relevance")
    assert chosen_measures("raf, ragas,raf")[0] == "raf"
    assert len(chosen_measures("ragas,garage")) == 13
    for wrong in ("", "blue"):
        with pytest.raises(SpecError):
            chosen_measures(wrong)
    labels = [m.measures for m in label_measurers()]
    assert labels == [m.measures for m in encoder_measurers(Letters())][: len(labels)]
