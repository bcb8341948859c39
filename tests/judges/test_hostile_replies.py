"""Whatever a reply or a reference holds, there is a verdict, and soon."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from called_command import mmrag
from compared_times import times_as_long

from mmrag.errors import SpecError
from mmrag.judges import make_judge, stress
from mmrag.judges.builtin import BuiltinJudge
from mmrag.judges.stress import StressPair, read_pairs, tally
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Judge
from mmrag.records import JudgeItem, Outcome

LONG = {
    **{f"{before}{sign!r}": before + sign * 8_000
       for before in ("", "[", "answer") for sign in ("\n", " ", "\t", "-", "*", ".", "|")},
    "boxes": "\n[x] " * 1_500, "letters": "A) \n" * 1_500, "footnotes": "[1]: \n" * 1_500,
    "code": "\n  return '" * 900, "Chinese": "中" * 100_000, "figures": "中" + "9" * 100_000,
}  # fmt: skip
MILLION = 1_000_000
MEGABYTES = {
    text[:9]: text * (MILLION // len(text))
    for text in (
        "a", "Ghent or Bruges, ", "Ghent. No wait, ", "not Ghent, ", "1", "{", "<del>", "~", "<",
        "G h e n t ", " ", ",", "or ", "9:00 ", "Rome, ", "(((1,000,", "\u0301",
    )
}  # fmt: skip
"""Each is judged in no more than a dozen times what a long reply of plain words takes."""
ODD = {
    "nested lists": '{"a":' + "[" * MILLION, "lone surrogates": "\ud800Ghent\udfff",
    "control characters": "\x00G\x07h\x1bent\x7f",
    "marks from right to left": "\u202eGhent\u202c\u200f",
    "zero-width characters": "\u200b".join("Ghent"), "combining marks": "G" + "\u0301" * 3_000,
    "emoji": "🍑" * 3_000,
}  # fmt: skip
STRANGE = {
    "digits of other scripts": "It was ፩፩፩፩ or 1987", "circled": "⓵⓵⓵⓵",
    "a huge number": "It was 1" + "0" * 400,
    "deep": '{"answer":' + "[" * 500 + '"Paris"' + "]" * 500 + "}",
}  # fmt: skip


@pytest.mark.parametrize("name", [*MEGABYTES, *ODD])
def test_a_reply_of_a_megabyte_has_its_verdict_at_once(name: str) -> None:
    text = {**MEGABYTES, **ODD}[name]
    odd = JudgeItem(question="Which city?", references=("Ghent",), prediction=text)
    assert_judged_soon(make_judge("builtin"), odd, times=12)


@pytest.mark.parametrize(
    "references",
    [("\ud800",), ("nan",), ("",), (" ", "\x00"), ("a" * MILLION,), ("x",) * 10_000,
     ("Paris " * 100_000,)],
)  # fmt: skip
def test_so_has_any_reference(references: tuple[str, ...]) -> None:
    odd = JudgeItem(question="\ud800" * 3, references=references, prediction="Ghent or Bruges")
    assert_judged_soon(make_judge("builtin"), odd, times=12)


def test_so_has_any_question() -> None:
    odd = JudgeItem(question="q " * 200_000, references=("Paris",), prediction="Paris it is")
    assert_judged_soon(make_judge("builtin"), odd)


@pytest.mark.parametrize("name", ["control characters", "zero-width characters", "lone surrogates"])
def test_what_cannot_be_seen_does_not_change_a_reply(name: str) -> None:
    odd = JudgeItem(question="Which city?", references=("Ghent",), prediction=ODD[name])
    assert BuiltinJudge().judge_many([odd])[0].outcome is Outcome.PERFECT


@pytest.mark.parametrize("spec", ["exact", "builtin"])
@pytest.mark.parametrize("name", [*LONG, *STRANGE])
def test_a_reply_has_its_verdict_soon(spec: str, name: str) -> None:
    text = {**LONG, **STRANGE}[name]
    odd = JudgeItem(question="Which city?", references=("Paris",), prediction=text)
    assert_judged_soon(make_judge(spec), odd)


@pytest.mark.parametrize("name", [*STRANGE, "Chinese", "figures"])
def test_so_has_a_reference_and_a_question(name: str) -> None:
    text = {**LONG, **STRANGE}[name]
    odd = JudgeItem(question=f"What is {text[:2000]}?", references=(text, "x"), prediction="y")
    assert_judged_soon(make_judge("builtin"), odd)


def assert_judged_soon(judge: Judge, odd: JudgeItem, times: int = 100) -> None:
    """Beside a long reply of plain words."""
    prose = "The tower in Ghent was built in 1320, and it has four floors. " * 400
    plain = JudgeItem(question="Which city?", references=("Paris",), prediction=prose)
    assert asyncio.run(judge.judge(odd)).judge == judge.id
    ask = (lambda item=item: asyncio.run(judge.judge(item)) for item in (odd, plain))
    assert times_as_long(*ask) < times


def test_judges_in_many_threads_say_what_one_says() -> None:
    items = [
        JudgeItem(
            question=f"Who built the zarquon {n}?",
            references=(f"Vellimar Quastrobel{n}x of Trunzwick",),
            prediction=f"I believe it was somebody named Quastrobel{n}x from Trunzwick{n}y.",
        )
        for n in range(120)
    ]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: make_judge("builtin").judge_many([one])[0], items))
    assert found == make_judge("builtin").judge_many(items)


@pytest.mark.parametrize(
    "option", ["retries=x", "retries=-1", "retries=1000", "votes=²", "votes=0"]
)
def test_numbers_that_a_model_judge_cannot_use_are_refused(option: str) -> None:
    with pytest.raises(SpecError, match=option.partition("=")[0]):
        make_judge(f"model:model=(scripted:text=x),{option}", models=lambda _: ScriptedModel("x"))


def test_markers_of_citations_weigh_nothing() -> None:
    """Those of GaRAGe's answers, which made any reply that has one too right."""
    reference = "It is 40 m long. [cite_1] Ines Dahl built it. [cite_2]"
    for reply, right in (
        ("I believe it is 42 m [cite_1].", False),
        ("40 m [cite_1][cite_2]", True),
    ):
        item = JudgeItem(question="How long is it?", references=(reference,), prediction=reply)
        assert BuiltinJudge().judge_many([item])[0].outcome.is_correct == right, reply


# -- stress

PAIRS = [
    {"id": "1", "angle": "negation", "question": "Which city?", "references": ["Paris"],
     "prediction": "Paris", "outcome": "perfect"},
    {"id": "2", "angle": "negation", "question": "Which city?", "references": ["Paris"],
     "prediction": "Not Paris.", "outcome": "incorrect"},
    {"id": "3", "angle": "refusal", "question": "Which city?", "references": ["Paris"],
     "prediction": "I don't know.", "outcome": "missing"},
    {"id": "4", "angle": "refusal", "question": "Which city?", "references": ["Paris"],
     "prediction": "It is Paris.", "outcome": "acceptable"},
]  # fmt: skip


@pytest.fixture
def halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of its own: two pairs open, two held."""
    for name, rows in (("open", PAIRS[:2]), ("held", PAIRS[2:])):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    monkeypatch.setattr(stress, "FOLDER", tmp_path)
    return tmp_path


def run(*arguments: object) -> str:
    return mmrag("judge", "stress", *arguments).stdout


def test_a_judge_that_always_says_perfect_is_shown_to_accept_what_is_wrong(halves: Path) -> None:
    found = json.loads(run("--judge", "fixed:outcome=perfect", "--half", "both", "--json"))
    assert found["angles"]["negation"] | {"interval": None} == {
        "n": 2, "right": 1, "accepted": 1, "rejected": 0, "unscored": 0, "interval": None,
    }  # fmt: skip
    assert found["angles"]["refusal"]["accepted"] == 1
    assert (found["all"]["n"], found["all"]["right"], found["all"]["accepted"]) == (4, 2, 2)
    low, high = found["all"]["interval"]
    assert low < 0.5 < high
    assert found["judge"] == "fixed:perfect"


def test_the_table_has_a_line_for_each_angle_and_one_for_all(halves: Path) -> None:
    lines = run("--judge", "fixed:outcome=incorrect", "--half", "both").splitlines()
    assert any(line.split()[:2] == ["negation", "2"] for line in lines)
    assert any(line.split()[:2] == ["refusal", "2"] for line in lines)
    assert any(line.split()[:3] == ["all", "4", "1"] for line in lines)


def test_halves_are_told_apart(halves: Path) -> None:
    angles = json.loads(run("--half", "held", "--json"))["angles"]
    assert list(angles) == ["refusal"]


def test_a_limit_holds_for_each_angle(halves: Path) -> None:
    assert json.loads(run("--half", "both", "--limit", "1", "--json"))["all"]["n"] == 2


def test_a_half_that_is_not_there_is_told(halves: Path) -> None:
    (halves / "held.jsonl").unlink()
    assert "held" in mmrag("judge", "stress", "--half", "held", code=2).stderr
    assert json.loads(run("--half", "both", "--json"))["all"]["n"] == 2


def test_missing_is_no_kind_of_wrong() -> None:
    pair = StressPair(angle="refusal", question="q", references=("r",), prediction="p",
                outcome=Outcome.MISSING)  # fmt: skip
    (angle,) = tally([pair], [Outcome.INCORRECT])
    assert (angle.right, angle.accepted, angle.rejected) == (0, 0, 0)


def test_the_suite_that_is_shipped_can_be_read() -> None:
    pairs = read_pairs("open")
    assert len(pairs) >= 750
    assert len({pair.angle for pair in pairs}) == 22
    share = sum(pair.outcome.is_correct for pair in pairs) / len(pairs)
    assert 0.3 < share < 0.5
