"""The public interface: any agent in, a run out, from a script and from a notebook."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import types
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import mmrag
import simulator
from mmrag.agents.fakes import RandomAgent
from mmrag.errors import ConflictError, SpecError, UsageError
from mmrag.protocols import Resources
from simulator import Query, Reply, Run, evaluate, load_run
from simulator.terminal.cost_cap import conversation_progress

quick = partial(evaluate, limit=2, judge="exact", progress=False)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def silent(query: Query) -> str:
    return "I don't know."


async def silent_later(query: Query) -> Reply:
    await asyncio.sleep(0)
    return Reply(text="I don't know.", abstained=True)


class Plain:
    def answer(self, query: Query) -> str:
        return "I don't know."


class Later:
    async def answer(self, query: Query) -> str:
        return "I don't know."


class Callable:
    def __call__(self, query: Query) -> str:
        return "I don't know."


AGENTS: dict[str, Any] = {
    "function": silent,
    "async function": silent_later,
    "lambda": lambda query: "I don't know.",
    "partial": partial(lambda text, query: text, "I don't know."),
    "object": Plain(),
    "async object": Later(),
    "callable object": Callable(),
    "method": Plain().answer,
}


@pytest.mark.parametrize("kind", AGENTS)
def test_whatever_answers_is_an_agent(kind: str) -> None:
    run = quick(AGENTS[kind])
    scores = run.score(resamples=0)
    assert scores["all"]["as_answered"]["missing"] == 1.0
    assert scores["statuses"]["abstained"] >= 2
    assert run.settings.agent.startswith("object:name=")


def test_an_object_is_asked_as_a_spec_is() -> None:
    by_spec = quick("random", search="none").turns()
    by_object = quick(RandomAgent(resources=Resources())).turns()
    for column in ("session_id", "query", "reply", "outcome"):
        assert list(by_spec[column]) == list(by_object[column])


def test_a_run_says_which_agent_it_was_and_which_text_it_had() -> None:
    label = quick(silent).settings.agent
    name, _, source = label.removeprefix("object:name=").partition(",source=")
    assert name == f"{__name__}.silent"
    assert len(source) == 12
    assert quick(silent_later).settings.agent.endswith(source) is False


def test_a_folder_is_fresh_unless_it_is_named() -> None:
    first, second = quick(silent), quick(silent)
    assert [run.folder.name for run in (first, second)] == ["mini-silent-1", "mini-silent-2"]
    asked: list[str] = []

    def counting(query: Query) -> str:
        asked.append(query.session_id)
        return "no"

    quick(counting, out="mine")
    before = len(asked)
    assert before > 0
    again = quick(counting, out="mine")
    assert len(asked) == before
    assert again.folder == Path("mine").absolute()
    with pytest.raises(ConflictError, match=r"other settings \(agent: .*Give another out="):
        quick(silent, out="mine")
    with pytest.raises(ConflictError, match=r"limit: 2 before, 1 now.*Give another out="):
        quick(counting, out="mine", limit=1)


@pytest.mark.parametrize("more", [(), ("--errors",)])
def test_resume_says_how_such_a_run_is_gone_on_with(more: tuple[str, ...]) -> None:
    run = quick(lambda query: None)
    before = run.turns()
    done = subprocess.run(
        [sys.executable, "-m", "simulator.cli", "resume", str(run.folder), *more],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(simulator.__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 2
    assert "was an object of a Python program" in done.stderr
    assert "evaluate(agent, …, out=FOLDER)" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert run.turns().equals(before)


class Silent:
    """No agent."""


BAD: dict[str, tuple[Any, str]] = {
    "nothing to call": (Silent(), r"Silent is not an agent: give a spec such as 'grounded'"),
    "None": (None, r"NoneType is not an agent"),
    "a number": (3, r"int is not an agent"),
    "a class": (Plain, r"Plain is a class: give an instance of it, Plain\(…\)"),
    "no argument": (lambda: "x", r"too many positional arguments.*one argument, the query"),
    "two arguments": (lambda a, b: "x", r"missing a required argument: 'b'.*one argument"),
    "answer is a text": (types.SimpleNamespace(answer="x"), r"is not an agent"),
    "an unknown spec": ("groundde", r"no agent is called 'groundde'. Did you mean grounded"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_agent_is_refused_in_a_line(kind: str) -> None:
    agent, words = BAD[kind]
    with pytest.raises(UsageError, match=words) as refused:
        quick(agent)
    assert "\n" not in str(refused.value)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("said", "words"),
    [(None, "the agent returned None; return a text or a Reply."),
     (b"x", "the agent returned an object of type bytes; return a text or a Reply.")],
)  # fmt: skip
def test_what_is_no_reply_is_told_with_the_run(said: Any, words: str) -> None:
    run = quick(lambda query: said)
    turns = run.turns()
    assert set(turns["status"]) == {"agent_error"}
    assert set(turns["error"]) == {words}
    assert words in repr(run)
    assert words in run._repr_html_()


def test_data_that_are_not_there_leave_nothing_behind() -> None:
    with pytest.raises(SpecError, match=r"'nowhere' is not a data set.*Give mini"):
        quick(silent, data="nowhere")
    assert not list(Path("runs").glob("*"))


def test_settings_are_those_of_a_run() -> None:
    with pytest.raises(SpecError, match=r"unknown field `colour`.*Known settings: .*retries"):
        quick(silent, colour="red")
    with pytest.raises(UsageError, match=r"an object brings its own searches"):
        quick(silent, search="an-index")


def test_a_spec_goes_where_its_settings_say_and_is_gone_on_with() -> None:
    first = quick("random", search="none")
    second = quick("random", search="none")
    assert first.folder == second.folder
    assert first.folder.parent == Path("runs").absolute()


def test_a_run_can_be_opened_again_scored_judged_exported_compared(tmp_path: Path) -> None:
    run = load_run(quick(silent).folder)
    assert isinstance(run, Run)
    assert len(run.turns()) == run.export(tmp_path / "turns.parquet")
    assert run.score("crag-mm", resamples=0)["all"]["missing"] == 1.0
    assert run.score(degradation="clean", resamples=0).truthfulness == 0.0
    with pytest.raises(SpecError, match="nothing was run under 'dark'"):
        run.score(degradation="dark")
    with pytest.raises(SpecError, match="no protocol is called 'lenient'"):
        run.score("lenient")
    assert run.rejudge("builtin", progress=False).score()["judge"].startswith("builtin")
    page = run.report(tmp_path / "page")
    assert page == tmp_path / "page" / "report.html"
    assert page.is_file()
    other = quick("random", search="none").rejudge("builtin", progress=False)
    compared = run.compare(other)
    assert compared["kind"] == "comparison"
    assert "| truthfulness |" in repr(compared)
    json.dumps(compared.as_dict())


def test_a_sweep_shows_its_conditions() -> None:
    scores = quick(silent, degrade="clean,low-light@3", limit=1).score(resamples=0)
    assert set(scores.conditions) == {"clean", "low-light@3"}
    assert "low-light@3" in repr(scores)
    assert "low-light@3" in scores._repr_html_()


def test_what_a_notebook_shows_is_escaped() -> None:
    evil = "<script>alert(1)</script> [x](javascript:alert(1)) [link=http://x]y[/link]"
    run = quick(lambda query: evil, out="<b>bold</b>")
    other = quick(silent, out="<i>slanted [x](javascript:alert(1))")
    shown = [run._repr_html_(), run.score()._repr_html_(), run.compare(other)._repr_html_()]
    for html in shown:
        assert "<script" not in html
        assert "<a " not in html
        assert "<b>" not in html
        assert "<i>" not in html
    assert "&lt;b&gt;bold" in shown[0]


def test_a_run_that_is_gone_can_still_be_shown(tmp_path: Path) -> None:
    run = Run(tmp_path / "gone")
    assert "unreadable" in repr(run)
    assert "is not a run" in run._repr_html_()


def test_it_works_where_an_event_loop_runs() -> None:
    async def cell() -> Run:
        before = asyncio.get_running_loop()
        run = quick(silent_later)
        run.rejudge("exact", progress=False)
        assert asyncio.get_running_loop() is before
        return run

    assert len(asyncio.run(cell()).turns()) > 0


def test_ctrl_c_in_a_notebook_keeps_what_was_committed(capfd: pytest.CaptureFixture[str]) -> None:
    begun = threading.Event()

    def slow(query: Query) -> str:
        begun.set()
        threading.Event().wait(3.0)
        return "no"

    def interrupt() -> None:
        begun.wait(20)
        os.kill(os.getpid(), signal.SIGINT)

    async def cell() -> None:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt, match=r"is kept. Continue with: evaluate\(…, out="):
            quick(slow, out="mine")

    loop = asyncio.new_event_loop()  # asyncio.run would take Ctrl-C for itself; notebooks do not
    loop.run_until_complete(cell())
    loop.close()
    run = load_run("mine")
    assert run.settings.limit == 2
    assert len(run.turns()) == 0  # the turns in flight were given up at once


def test_silent_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    quick(silent)
    with conversation_progress(3, shown=False):
        pass
    assert capfd.readouterr() == ("", "")


def test_the_package_of_the_command_has_the_public_names() -> None:
    assert mmrag.evaluate is evaluate
    assert set(simulator.__all__) <= set(dir(mmrag))
    stub = Path(mmrag.__file__).with_suffix(".pyi").read_text()
    assert sorted(re.findall(r"import (\w+) as \1$", stub, re.M)) == sorted(simulator.__all__)
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = mmrag.evaluat  # type: ignore[attr-defined]


def test_the_import_loads_nothing_and_lists_what_is_public() -> None:
    code = "import sys, simulator; print(*sorted(m for m in sys.modules if 'simulator' in m))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(simulator.__file__).parents[1])},
    )  # fmt: skip
    assert done.stdout.split() == ["simulator"]
    for name in simulator.__all__:
        assert getattr(simulator, name).__doc__
    assert set(simulator.__all__) <= set(dir(simulator))
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = simulator.evaluat  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "wrong",
    [{"concurrency": 0}, {"max_cost": -1.0},
     {"max_cost": float("nan")}],
    ids=str,
)  # fmt: skip
def test_what_the_command_line_refuses_is_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    """A cap that is no number would cap nothing."""
    (name,) = wrong
    with pytest.raises(UsageError, match=f"^{name}="):
        evaluate(lambda query: "no", limit=1, out=tmp_path / "run", progress=False, **wrong)
    assert not (tmp_path / "run").exists()
