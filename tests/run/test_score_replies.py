"""`mmrag score` on replies: each public kit's own rules, and a judge for what they leave."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from small_runs import ByNumber, make_session, run_all

from mmrag.metrics.scoring_protocols import TurnScore
from mmrag.records import JudgeItem, Outcome
from mmrag.text.normalise import official_exact
from mmrag.text.refusals import official_missing
from simulator.run.engine import Rules
from simulator.run.results.kit_scoring import TurnToScore, as_in_kit, needs_judge
from simulator.run.results.run_scoring import ScoreOptions, score_run
from simulator.store.run_reader import RunReader

GOLDEN = json.loads((Path(__file__).parent.parent / "data/official_replies.json").read_text())
KITS = ("crag-mm", "kddcup25")


def rows_of(case: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "session_id": session, "turn_index": index, "question": f"{session}, {index}?",
            "references": [reference], "prediction": prediction, "is_ego": ego,
        }
        for session, index, reference, prediction, ego in case["turns"]
    ]  # fmt: skip


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def scored(file: Path, *options: str) -> dict[str, Any]:
    return json.loads(mmrag("score", str(file), *options, "--json").stdout)


@pytest.mark.parametrize("protocol", KITS)
@pytest.mark.parametrize("options", [(), ("--judge", "none")])
def test_every_golden_figure_of_both_kits(
    tmp_path: Path, protocol: str, options: tuple[str, ...]
) -> None:
    turns = 0
    for number, case in enumerate(GOLDEN["cases"]):
        shown = scored(
            lines(tmp_path / f"{number}.jsonl", rows_of(case)), "--protocol", protocol, *options
        )
        for view, figures in case["expected"][protocol].items():
            for name, value in figures.items():
                assert shown[view][name] == pytest.approx(value, abs=1e-12), (number, view, name)
        assert shown["judge"] == "none"
        turns += len(case["turns"])
    assert turns == 445


@pytest.mark.parametrize(
    ("reply", "kddcup25", "crag_mm"),
    [
        ("I don't know", True, True),
        ("I DON'T KNOW, but it is X", True, True),
        ("The answer: i don't know.", True, True),
        ("I don’t know", False, True),  # the curly apostrophe
        ("I do not know", False, True),
        ("I dont know", False, True),
        ("I don't  know", False, False),  # two spaces
        ("I don't\u00a0know", False, False),  # a space that is none of theirs, though it is kept
        ("I, don't -know!", False, True),
        ("I don't knowingly lie", True, True),
        ("İ don’t know", False, True),  # its lower case is an i and a dot
        ("Unknown", False, False),
        ("No idea", False, False),
        ("", False, False),
    ],
)
def test_each_kits_words_of_not_knowing(reply: str, kddcup25: bool, crag_mm: bool) -> None:
    assert official_missing(reply, "kddcup25") is kddcup25
    assert official_missing(reply, "crag-mm") is crag_mm


def test_exact_is_equal_but_for_case_and_outer_space() -> None:
    assert official_exact("  zürich\n", "Zürich")
    assert not official_exact("Zürich.", "Zürich")
    assert not official_exact('"Zürich"', "Zürich")
    assert not official_exact("The Zürich", "Zürich")
    assert official_exact("", " ")


def said(prediction: str, outcome: Outcome, *references: str) -> TurnToScore:
    return TurnToScore(
        turn=TurnScore(session_id="a", turn_index=0, outcome=outcome),
        item=JudgeItem(question="q", references=references, prediction=prediction),
    )


def test_the_first_reference_is_the_kits_truth() -> None:
    one = said("Lutetia", Outcome.PERFECT, "Paris", "Lutetia")
    assert needs_judge(one, "crag-mm")
    assert not as_in_kit(one, "crag-mm").exact


def test_what_only_our_judge_calls_missing_is_wrong_in_a_kit() -> None:
    one = said("No idea, sorry.", Outcome.MISSING, "Paris")
    for protocol in KITS:
        assert as_in_kit(one, protocol).outcome is Outcome.INCORRECT
    assert as_in_kit(one, "strict").outcome is Outcome.MISSING


def test_a_kit_hears_not_knowing_before_it_asks_a_judge() -> None:
    one = said("I don’t know, but it is Paris", Outcome.PERFECT, "Paris")
    assert as_in_kit(one, "crag-mm").outcome is Outcome.MISSING
    assert as_in_kit(one, "kddcup25").outcome is Outcome.PERFECT


def test_a_judges_outage_stays_unscored_unless_the_kit_needs_no_judge() -> None:
    assert as_in_kit(said("Rome", Outcome.UNSCORED, "Paris"), "crag-mm").outcome == "unscored"
    assert as_in_kit(said("paris", Outcome.UNSCORED, "Paris"), "crag-mm").outcome == "perfect"


ROWS = [
    ("a", 0, "Paris", "It is Paris."), ("a", 1, "Paris", "I don't know"),
    ("b", 0, "Paris", " paris "), ("b", 1, "Paris", "Rome"),
    ("c", 0, "I don't know", "I don't know")
]  # fmt: skip


def plain_rows() -> list[dict[str, Any]]:
    case = {"turns": [(s, i, r, p, s == "a") for s, i, r, p in ROWS]}
    return rows_of(case)


def test_a_judge_is_asked_about_what_is_left(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", plain_rows())
    alone = scored(file, "--protocol", "crag-mm")["all"]
    assert [alone[k] for k in ("correct", "correct_exact", "miss", "hallucination")] == [2, 2, 2, 1]
    helped = scored(file, "--protocol", "crag-mm", "--judge", "builtin")
    assert [helped["all"][k] for k in ("correct", "correct_exact", "miss")] == [3, 2, 2]
    assert helped["judge"].startswith("builtin/")
    fixed = scored(file, "--protocol", "kddcup25", "--judge", "fixed:outcome=perfect")["all"]
    assert fixed["correct"] == 4  # "I don't know" is the kit's own


def test_strict_takes_replies_with_the_judge_alone(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", plain_rows())
    shown = scored(file)
    assert shown["judge"].startswith("builtin/")
    assert shown["all"]["as_answered"]["correct"] == 3
    told = mmrag("score", str(file), "--judge", "none", code=2).stderr
    assert "needs a judge" in told


def test_people_are_told_that_nobody_judged(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", plain_rows())
    assert (
        "only exact matches are right" in mmrag("score", str(file), "--protocol", "crag-mm").stdout
    )


def test_a_lines_own_outcome_is_its_verdict(tmp_path: Path) -> None:
    rows = [row | {"outcome": "correct"} for row in plain_rows()]
    file = lines(tmp_path / "judged.jsonl", rows)
    shown = scored(file, "--protocol", "crag-mm")
    assert shown["all"]["correct"] == 4  # "I don't know" beside Paris is missing all the same
    assert shown["judge"] == "as the lines say"
    assert scored(file)["all"]["as_answered"]["correct"] == 5
    assert scored(file, "--protocol", "crag-mm", "--judge", "none")["all"]["correct"] == 2


def test_what_mmrag_judge_writes_is_scored(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", plain_rows())
    judged = tmp_path / "judged.jsonl"
    judged.write_text(mmrag("judge", str(file), "--json").stdout)
    assert scored(judged)["all"] == scored(file)["all"]


def test_a_panels_votes_are_averaged_from_a_file_too(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", plain_rows()[3:4])
    panel = "panel:judges=fixed:outcome=perfect+fixed:outcome=incorrect"
    judged = tmp_path / "judged.jsonl"
    judged.write_text(mmrag("judge", str(file), "--judge", panel, "--json").stdout)
    for found in (scored(judged), scored(file, "--judge", panel)):
        assert (found["all"]["truthfulness_score"], found["all"]["accuracy"]) == (0.0, 0.5)
    both = scored(judged, "--protocol", "crag-mm")["all"]
    assert both["mean_multi_turn_conversation_score"] == 0.0


def kit_rows(*, judged: bool) -> list[dict[str, Any]]:
    """As the kits write them, to `response.jsonl` and, with their verdicts, to CSV."""
    found: list[dict[str, Any]] = []
    for session, index, reference, prediction in ROWS:
        row = {
            "session_id": session, "interaction_id": f"{session}{index}", "turn_idx": index,
            "is_ego": session == "a", "image_quality": None, "query_category": 1, "domain": 3,
            "dynamism": 0, "query": "Which \"city\",\nplease?", "ground_truth": reference,
            "agent_response": prediction, "total_turn_count": 2, "interaction_id_history": [],
        }  # fmt: skip
        if judged:
            exact = official_exact(prediction, reference)
            right = exact or prediction == "It is Paris."
            row |= {
                "is_exact_match": exact, "is_correct": right,
                "is_miss": official_missing(prediction, "crag-mm"),
                "is_semantically_correct": right, "api_response": {"accuracy": right},
            }  # fmt: skip
        found.append(row)
    return found


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_kits_rows_are_read_by_score_and_judge(tmp_path: Path) -> None:
    responses = lines(tmp_path / "response.jsonl", kit_rows(judged=False))
    results = table(tmp_path / "turn_evaluation_results_all.csv", kit_rows(judged=True))
    ours = lines(tmp_path / "ours.jsonl", plain_rows())
    for protocol in KITS:
        alone = ("--protocol", protocol, "--judge", "none")
        expected = scored(ours, *alone)
        for file in (responses, results):
            found = scored(file, *alone)
            assert (found["all"], found["ego"]) == (expected["all"], expected["ego"])
        own = scored(results, "--protocol", protocol)
        assert own["all"]["correct"] == 3  # with the verdict of the kit's judge
        assert own["judge"] == "as the lines say"
    for file in (responses, results):
        judged = [
            json.loads(row) for row in mmrag("judge", str(file), "--json").stdout.splitlines()
        ]
        assert [row["outcome"] for row in judged] == [
            "perfect", "missing", "perfect", "incorrect", "perfect",
        ]  # fmt: skip
        assert judged[0]["interaction_id"] == "a0"


def test_the_error_texts_of_a_kits_agent_are_told_of_files_too(tmp_path: Path) -> None:
    rows = kit_rows(judged=False)
    whole = lines(tmp_path / "whole.jsonl", rows)
    for row in rows[:2]:
        row["agent_response"] = "[API error after 3 attempts: Error code: 401]"
    failed = lines(tmp_path / "response.jsonl", rows)
    words = f'2 of {len(rows)} replies are error texts that the agent itself returned ("[API err'
    for protocol in ("strict", "crag-mm"):
        shown = mmrag("score", str(failed), "--protocol", protocol).stdout
        assert words in " ".join(shown.split())
    found = scored(failed)["error_texts"]
    assert (found["turns"], found["of"]) == (2, len(rows))
    for options in ([], ["--json"]):
        judged = mmrag("judge", str(failed), *options)
        assert words in judged.stderr
        assert "replies are error texts" not in judged.stdout
    assert scored(whole)["error_texts"] is None
    assert not mmrag("judge", str(whole)).stderr


def test_a_reply_that_the_kits_judge_could_not_judge_is_unscored(tmp_path: Path) -> None:
    rows = [row | {"is_correct": "", "is_exact_match": "False"} for row in kit_rows(judged=True)]
    found = scored(table(tmp_path / "r.csv", rows), "--protocol", "crag-mm")["all"]
    assert (found["total"], found["correct"]) == (3, 2)


GOOD = {
    "session_id": "a", "turn_index": 0, "question": "q", "references": ["r"], "prediction": "p",
    "is_ego": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"is_egoo": True}, ["unknown field 'is_egoo'", "did you mean 'is_ego'?"]),
        ({"wizard": 1}, ["unknown field 'wizard'", "remove it"]),
        ({"prediction": None, "predicton": "p"}, ["unknown field 'predicton'", "'prediction'"]),
        ({"session_id": None}, ["needs 'session_id' as a text"]),
        ({"question": None}, ["needs 'question' as a text"]),
        ({"references": None}, ["needs references", "ground_truth"]),
        ({"turn_index": None}, ["needs 'turn_index' as a whole number"]),
        ({"turn_index": "0"}, ["'turn_index' is \"0\"; write a whole number"]),
        ({"turn_index": True}, ["'turn_index' is true; write a whole number"]),
        ({"is_ego": "yes"}, ["'is_ego' is \"yes\"; write true or false"]),
        ({"references": [1]}, ["'references' is [1]; write a text or a list of texts"]),
        ({"prediction": 4}, ["'prediction' is 4; write a text"]),
    ],
)
def test_bad_rows_name_line_field_and_nearest_name(
    tmp_path: Path, change: dict[str, Any], words: list[str]
) -> None:
    bad = {k: v for k, v in (GOOD | {"turn_index": 1} | change).items() if v is not None}
    file = lines(tmp_path / "r.jsonl", [GOOD, bad])
    told = mmrag("score", str(file), "--protocol", "crag-mm", code=1).stderr
    assert "line 2" in told
    for word in words:
        assert word in told


def test_judge_names_the_field_that_is_misspelt(tmp_path: Path) -> None:
    bad = {"question": "q", "references": ["r"], "predicton": "p"}
    told = mmrag("judge", str(lines(tmp_path / "r.jsonl", [bad])), code=1).stderr
    assert "line 1" in told
    assert "is 'predicton' meant for it?" in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("session_id,turn_idx\na,0,1\n", "line 2: 3 cells under 2 columns"),
        ('session_id,turn_idx,is_correct\na,0,True\n"b\n', "line 3: no CSV"),
        ("session_id,turn_idx,is_correct\na,x,True\n", "line 2: 'turn_idx' is \"x\""),
        ("session_id,turn_idx,is_corect\na,0,True\n", "did you mean 'is_correct'?"),
        ("", "no outcomes"),
    ],
)
def test_bad_tables_name_the_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "r.csv"
    file.write_text(text)
    assert words in mmrag("score", str(file), "--protocol", "crag-mm", code=1).stderr


def test_a_judge_without_replies_is_refused(tmp_path: Path) -> None:
    file = lines(tmp_path / "o.jsonl", [{"session_id": "a", "turn_index": 0, "outcome": "correct"}])
    told = mmrag("score", str(file), "--protocol", "crag-mm", "--judge", "exact", code=2).stderr
    assert "no replies to judge" in told


def test_a_run_goes_the_same_way(tmp_path: Path) -> None:
    """The kits' rules first, then the run's verdicts, or the judge that is named."""

    class Speaks(ByNumber):
        async def answer(self, query: Any) -> Any:
            reply = await super().answer(query)
            texts = ["I don’t know, but: yes", "ANSWER 0-1 ", "No idea", "something else"]
            return type(reply)(text=texts[query.turn_index])

    folder = tmp_path / "run"
    run_all(folder, [make_session(0)], Speaks(), rules=Rules(ask_after_stop=True))
    # the run's judge calls all four incorrect
    with RunReader(folder) as run:
        for protocol, outcomes in (("kddcup25", (1, 0, 3)), ("crag-mm", (1, 1, 2))):
            found = score_run(run, ScoreOptions(protocol=protocol, stop="never"))["all"]
            assert tuple(found[k] for k in ("correct", "miss", "hallucination")) == outcomes
    shown = scored(folder, "--protocol", "crag-mm", "--stop", "never", "--judge", "fixed")
    assert tuple(shown["all"][k] for k in ("correct", "miss", "hallucination")) == (3, 1, 0)
    assert shown["judge"] == "fixed:perfect"


def test_an_exported_run_is_scored_as_the_run(tmp_path: Path) -> None:
    """With its replies, and with the turns that a stop left unasked."""
    folder, file = tmp_path / "run", tmp_path / "turns.jsonl"
    said = ByNumber(lambda session, turn: "cimc"[turn] if session == "s001" else "cicm"[turn])
    run_all(folder, [make_session(n) for n in range(3)], said)
    mmrag("export", str(folder), str(file))
    for protocol in ("strict", *KITS):
        ours, theirs = (scored(place, "--protocol", protocol)["all"] for place in (folder, file))
        assert ours == theirs
    assert ours["not_asked"] > 0


@pytest.mark.parametrize(("reply", "judged", "reference", "outcome"), [
    ("William Shakespeare ", "incorrect", "william shakespeare", "perfect"),
    ("Hmm, I don't know. Maybe Rome?", "perfect", "Rome", "missing"),
    ("This is an invalid question because no such film exists.", "incorrect", "invalid question",
     "perfect"),
    ("That would be invalid.", "perfect", "Rome", "incorrect"),
    ("Rome", "perfect", "invalid question", "incorrect"),
    ("It is Rome.", "acceptable", "Rome", "acceptable"),
])  # fmt: skip
def test_crags_string_rules_come_before_the_judge(
    reply: str, judged: str, reference: str, outcome: str
) -> None:
    counted = as_in_kit(said(reply, Outcome(judged), reference), "crag")
    assert counted.outcome == outcome


def test_crag_asks_no_judge_where_a_string_decides() -> None:
    assert not needs_judge(said("rome", Outcome.UNSCORED, "Rome"), "crag")
    assert needs_judge(said("It is Rome", Outcome.UNSCORED, "Rome"), "crag")
