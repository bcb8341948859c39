"""Whole runs against an endpoint on loopback that cuts, refuses and counts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import called_command
import pytest
from called_command import Done

from mmrag.errors import Denied
from mmrag.judges.model_judge import ModelJudge
from mmrag.judges.panel import Panel
from mmrag.judges.simple import FixedJudge
from mmrag.models.openai import OpenAIModel
from mmrag.records import JudgeItem, Outcome, Status, Usage, Verdict
from simulator.store.run_reader import RunReader

ITEM = JudgeItem(question="Which city is this?", references=("Paris",), prediction="Lutetia")


def mmrag(*arguments: str, code: int = 0, key: str = "") -> Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", key)
        patch.setenv("COLUMNS", "200")
        return called_command.mmrag(*arguments, code=code)


def arguments(server: Any, out: Path, *more: str) -> list[str]:
    model = f"openai:name=m,base_url={server.url},price_in=100,price_out=1000"
    return [
        "run", "--data", "mini", "--search", "none", "--limit", "3", "--out", str(out),
        "--agent", f"llm-only:model=({model})", "--concurrency", "1", *more,
    ]  # fmt: skip


def turns(out: Path) -> list[Any]:
    with RunReader(out) as run:
        return list(run.results())


def test_a_cut_reply_is_the_agents_error_and_no_abstention(server: Any, tmp_path: Path) -> None:
    server.reply = {"choices": [{"message": {"content": None}, "finish_reason": "length"}]}
    mmrag(*arguments(server, tmp_path / "run"), code=1)
    found = turns(tmp_path / "run")
    assert {turn.status for turn in found} == {Status.AGENT_ERROR}
    assert all("before it said anything" in turn.error for turn in found)


def test_a_refused_key_ends_a_run_and_a_mended_one_goes_on(server: Any, tmp_path: Path) -> None:
    server.wants_key = "right"
    out = tmp_path / "run"
    refused = mmrag(*arguments(server, out), code=1, key="wrong")
    assert len(server.bodies) == 1
    lines = [line for line in refused.stderr.splitlines() if "conversations:" not in line]
    assert len(lines) == 1
    assert "refused the key (401)" in lines[0]
    assert "OPENAI_API_KEY" in lines[0]
    assert f"mmrag resume {out}" in lines[0]
    assert turns(out) == []
    mmrag("resume", str(out), key="right")
    assert {turn.status for turn in turns(out)} <= {
        Status.ANSWERED, Status.ABSTAINED, Status.SKIPPED_AFTER_STOP
    }  # fmt: skip


def test_a_judges_refused_key_ends_a_run_too(server: Any, tmp_path: Path) -> None:
    server.wants_key = "right"
    judge = f"model:model=(openai:name=j,base_url={server.url})"
    given = ["run", "--data", "mini", "--search", "none", "--limit", "3",
             "--agent", "random:abstain=0", "--out", str(tmp_path / "run"), "--judge", judge, "--concurrency", "1"]  # fmt: skip
    done = mmrag(*given, code=1, key="wrong")
    assert "refused the key (401)" in done.stderr
    assert len(server.bodies) == 1
    assert turns(tmp_path / "run") == []
    mmrag("resume", str(tmp_path / "run"), key="right", code=1)  # no turn has a verdict
    asked = [t for t in turns(tmp_path / "run") if t.status is not Status.SKIPPED_AFTER_STOP]
    assert asked  # a refusal is missing without a verdict, so that wearers may have left
    assert all(turn.reply for turn in asked)
    other = judge.replace("name=j", "name=k")
    again = mmrag("judge", "run", str(tmp_path / "run"), "--judge", other, code=1, key="wrong")
    assert f"continue with: mmrag judge run {tmp_path / 'run'}" in again.stderr


def test_who_asks_a_model_judge_learns_of_a_refused_key(server: Any) -> None:
    server.script = ["401"] * 4
    judge = ModelJudge(OpenAIModel(name="m", base_url=server.url))
    with pytest.raises(Denied):
        asyncio.run(judge.judge(ITEM))
    with pytest.raises(Denied):
        asyncio.run(Panel([judge, FixedJudge("perfect")]).judge(ITEM))


def judged(server: Any, *contents: str) -> Verdict:
    """The verdict after answers of a judge's model; each costs $.003."""

    async def run() -> Verdict:
        model = OpenAIModel(name="m", base_url=server.url, price_in=100, price_out=1000)
        return await ModelJudge(model, retries=1).judge(ITEM)

    server.reply = {**server.reply, "choices": [{"message": {"content": contents[0]}}]}
    return asyncio.run(run())


def test_a_verdict_says_what_it_cost_rambling_included(server: Any) -> None:
    verdict = judged(server, "I would not know.")
    assert verdict.outcome is Outcome.UNSCORED
    assert verdict.usage == Usage(input_tokens=20, output_tokens=4, calls=2, cost=0.006)
    exact = JudgeItem(question="?", references=("Paris",), prediction="Paris")
    model = ModelJudge(OpenAIModel(name="m", base_url=server.url))
    assert asyncio.run(model.judge(exact)).usage == Usage()


def test_a_panel_costs_what_its_judges_cost() -> None:
    class Dear:
        id = "dear"

        async def judge(self, item: JudgeItem) -> Verdict:
            del item
            return Verdict(outcome=Outcome.PERFECT, judge="dear", usage=Usage(calls=1, cost=0.25))

    verdict = asyncio.run(Panel([Dear(), Dear(), FixedJudge("perfect")]).judge(ITEM))
    assert verdict.usage == Usage(calls=2, cost=0.5)


def test_mmrag_judge_says_what_judging_cost(server: Any, tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    line = {"question": "Which city?", "references": ["Paris"], "prediction": "Lutetia"}
    file.write_text(f"{json.dumps(line)}\n" * 2)
    judge = f"model:model=(openai:name=j,base_url={server.url},price_in=100,price_out=1000)"
    shown = mmrag("judge", str(file), "--judge", judge).stdout
    assert "cost      $0.0180 (6 calls, 60 input and 12 output tokens)" in shown
    rows = mmrag("judge", str(file), "--judge", judge, "--json").stdout.splitlines()
    assert json.loads(rows[0])["usage"]["cost"] == pytest.approx(0.009)


def test_the_judges_tokens_and_cost_count_wherever_cost_is_shown(
    server: Any, tmp_path: Path
) -> None:
    """Reply and verdict have 10 tokens in and 2 out per call; the judge's model rambles: 3 calls."""
    out = tmp_path / "run"
    judge = f"model:model=(openai:name=j,base_url={server.url},price_in=100,price_out=1000)"
    given = arguments(server, out, "--judge", judge, "--stop", "never")
    capped = mmrag(*given, "--max-cost", "0.02", code=1)
    asked = turns(out)
    # each turn costs $.003 by the agent and $.009 by the judge
    assert f"the run has cost ${0.012 * len(asked):.2f}" in capped.stderr
    mmrag(*given, code=1)  # no turn has a verdict
    count = len(turns(out))
    mmrag("report", str(out), "--out", str(tmp_path / "report"), "--resamples", "0")
    costs = json.loads((tmp_path / "report" / "report.json").read_text())["runs"][0]["costs"]
    assert costs["cost"] == pytest.approx(0.003 * count)
    assert costs["judge"]["cost"] == pytest.approx(0.009 * count)
    assert (costs["judge"]["input_tokens"], costs["judge"]["calls"]) == (30 * count, 3 * count)
    assert costs["total_cost"] == pytest.approx(0.012 * count)
    estimate = json.loads(mmrag(*given, "--dry-run", "--json").stdout)
    assert estimate["cost"] == pytest.approx(0.012 * estimate["turns_asked"])
    assert estimate["judge_cost"] == pytest.approx(0.009 * estimate["turns_asked"])
    assert estimate["input_tokens"] == 40 * estimate["turns_asked"]
    other = [*given[: given.index("--judge")], "--stop", "never", "--dry-run", "--json"]
    without = json.loads(mmrag(*other).stdout)
    assert without["judge_cost"] is None  # measured with another judge
    assert without["cost"] == pytest.approx(0.003 * without["turns_asked"])


def test_no_turn_is_lost_to_a_server_that_is_gone_for_longer_than_a_turn_may_take(
    server: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answer = server._answer

    def greets_again(handler: Any, fault: str, reply: Any = None) -> None:
        """Whoever asks whether it is back is refused as long as it is gone."""
        answer(handler, server.script.pop(0) if reply and server.script else fault, reply)

    # the question before the first turn, the first turn, and then nobody
    server.script, server._answer = ["", "", *["503"] * 6], greets_again
    mmrag(*arguments(server, tmp_path / "gone"), "--seconds", "3")  # it is gone for 4
    assert not server.script
    assert "gone; everybody waits for it" in caplog.text
    assert "back after" in caplog.text
    found = turns(tmp_path / "gone")
    assert {turn.status for turn in found} <= {Status.ANSWERED, Status.SKIPPED_AFTER_STOP}
    assert all(turn.seconds < 3 for turn in found)
