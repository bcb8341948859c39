"""One component at a time: settings, shared work, paired differences, `rag:` over own passages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called_command import mmrag
from numpy.typing import NDArray

from mmrag import judges
from mmrag.errors import SpecError, UsageError
from mmrag.models import models
from mmrag.passages import RETRIEVERS, PassageOptions
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Passage, Query, Reply, Usage
from mmrag.search.session_passages import SessionSearch, set_searched_passages
from mmrag.search.web.words import words
from simulator import datasets
from simulator.datasets.own.own_data import OwnData
from simulator.experiments.sweep import parse_vary, setting_folder, settings_of
from simulator.parts import agent_resources
from simulator.parts import run_parts as parts
from simulator.reports.draw.sweep import write_sweep
from simulator.terminal.cost_cap import CostCapReached

FILLER = "Nothing of note was recorded in that year. " * 12


class Letters:
    """Texts as vectors of the words they hold."""

    id, dim = "letters", 64

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(items), self.dim), np.float32)
        for row, text in zip(rows, items, strict=True):
            for word in words(text):
                row[sum(map(ord, word)) % self.dim] += 1.0
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def write_data(tmp_path: Path, sessions: int = 6) -> Path:
    """Questions whose answer stands late in a long passage, beside two that say nothing."""
    lines = [
        {
            "session_id": f"s{i}",
            "passages": [
                {"id": "far", "text": FILLER},
                {"id": "good", "text": f"{FILLER}The Alder Kettle {i} boils in {60 + i} seconds."},
                {"id": "also", "text": f"The Birch Lamp {i} weighs {i} kg."},
            ],
            "turns": [
                {
                    "query": f"How fast does the Alder Kettle {i} boil?",
                    "references": [f"{60 + i} s"],
                }
            ],
        }
        for i in range(sessions)
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def call(*arguments: object) -> str:
    return mmrag("lab", "sweep", *arguments).stdout


def test_settings_change_one_thing_at_a_time_or_all() -> None:
    vary = parse_vary(["top_k=2,4,8", "retriever=bm25,dense"])
    one = settings_of("rag:reader=builtin,top_k=4", vary, grid=False)
    names = ["base", "top_k=2", "top_k=8", "retriever=bm25", "retriever=dense"]
    assert [s.name for s in one] == names
    assert one[1].agent == "rag:reader=builtin,top_k=2"
    assert len(settings_of("rag:reader=builtin", vary, grid=True)) == 1 + 6
    assert parse_vary(["model=(openai:name=a,retries=1),scripted"]) == {
        "model": ["openai:name=a,retries=1", "scripted"]
    }
    nested = "model=(openai:name=a,body=(seed=none,top_p=1)), (openai:name=b),scripted"
    assert parse_vary([nested]) == {
        "model": ["openai:name=a,body=(seed=none,top_p=1)", "openai:name=b", "scripted"]
    }


@pytest.mark.parametrize("values", ["(a,b", "a),b", "(a))", "(a)b", "(a:b=(c),d"])
def test_brackets_that_do_not_match_are_refused(values: str) -> None:
    with pytest.raises(SpecError, match="brackets"):
        parse_vary([f"model={values}"])


@pytest.mark.parametrize("text", ["chunk", "chunk=", "=1", ""])
def test_what_cannot_vary_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="OPTION=VALUE"):
        parse_vary([text])


def test_too_much_is_refused() -> None:
    many = {"a": [str(i) for i in range(30)], "b": [str(i) for i in range(30)]}
    with pytest.raises(UsageError, match="900 settings"):
        settings_of("rag:reader=builtin", many, grid=True)


@pytest.mark.parametrize(
    "options",
    [{"chunk": "0"}, {"chunk": "x"}, {"overlap": "600"}, {"retriever": "magic"}, {"overlap": "-1"}],
)
def test_impossible_cuts(options: dict[str, str]) -> None:
    with pytest.raises((SpecError, UsageError)):
        PassageOptions.of(**options)


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_every_retriever_finds_the_part_that_answers(retriever: str) -> None:
    passages = (
        Passage(id="far", text=FILLER),
        Passage(id="good", text=f"{FILLER}The Alder Kettle boils in 61 seconds."),
    )
    cut = PassageOptions.of(chunk="32", overlap="25%", retriever=retriever)
    search = SessionSearch(None, cut, Letters())
    set_searched_passages(passages)
    try:
        (found,) = search.search_text(["how fast does the Alder Kettle boil"], 2)
    finally:
        set_searched_passages(())
    assert found[0].id == "good"
    assert "61 seconds" in found[0].text
    assert len(found[0].text) < 300


@pytest.mark.proof("time")
def test_a_sweep_says_what_pays(tmp_path: Path) -> None:
    out, data = tmp_path / "sweep", write_data(tmp_path)
    arguments = (
        *("--data", data, "--out", out, "--agent", "rag:reader=builtin,retriever=bm25"),
        *("--vary", "chunk=32,64", "--vary", "top_k=1,2", "--measures", "token_f1"),
    )
    shown = call(*arguments)
    found = json.loads((out / "sweep.json").read_text())
    assert [row["name"] for row in found["settings"]] == [
        "base", "chunk=32", "chunk=64", "top_k=1", "top_k=2",
    ]  # fmt: skip
    for row in found["settings"]:
        assert set(row["figures"]) == {"truthfulness", "token_f1"}
        assert row["figures"]["token_f1"]["n"] == 6
    assert all(row["difference"]["truthfulness"]["p"] is not None for row in found["settings"][1:])
    assert "## chunk" in shown
    said = f"{data}`, 6 conversations, 6 turns; {found['date']}."
    assert said in shown
    assert shown.index("| 1 |") < shown.index("| 2 |"), "in the order of their size"
    before = {p: p.stat().st_mtime_ns for p in out.rglob("run.sqlite")}
    call(*arguments)  # nothing is left to do
    assert {p: p.stat().st_mtime_ns for p in out.rglob("run.sqlite")}.keys() == before.keys()
    assert json.loads((out / "sweep.json").read_text()) == found


@pytest.mark.proof("time")
def test_settings_share_what_does_not_depend_on_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def counted(module: Any, name: str) -> None:
        kept = getattr(module, name)

        def call(*given: Any, **more: Any) -> Any:
            made.append(name)
            return kept(*given, **more)

        monkeypatch.setattr(module, name, call)

    for place, name in (
        (datasets, "open_data"), (OwnData, "__iter__"), (judges, "make_judge"),
        (parts, "make_resources"), (agent_resources, "search_cut_pages"),
    ):  # fmt: skip
        counted(place, name)
    call("--data", write_data(tmp_path), "--out", tmp_path / "sweep",
         "--agent", "rag:reader=builtin,retriever=bm25", "--vary", "chunk=32",
         "--vary", "top_k=1,2")  # fmt: skip
    assert made.count("search_cut_pages") == 2, "of the base and of chunk=32"
    for name in ("open_data", "__iter__", "make_judge", "make_resources"):
        assert made.count(name) == 1, name


def test_a_dry_run_lists_and_asks_nothing(tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    shown = call("--data", write_data(tmp_path), "--out", out, "--vary", "top_k=1,2", "--dry-run")
    assert "3 settings; cost unknown until the base has run" in shown
    assert not out.exists()


def test_cut_needs_pages(tmp_path: Path) -> None:
    told = mmrag("run", "--data", "mini", "--search", "none", "--limit", 1, "--out", tmp_path / "r",
                 "--agent", "rag:reader=builtin,chunk=64", code=2)  # fmt: skip
    assert "no pages here can be cut" in told.stderr


WHAT: dict[str, Any] = {
    "data": "own.jsonl", "conversations": 60, "turns": 120, "date": "2031-01-01",
    "judge": "builtin", "measures": {},
}  # fmt: skip


def test_what_is_approximate_is_marked(tmp_path: Path) -> None:
    out, data = tmp_path / "sweep", write_data(tmp_path, sessions=2)
    shown = call("--data", data, "--out", out, "--agent", "rag:reader=builtin,retriever=bm25",
                 "--vary", "top_k=1", "--measures", "context_relevance,token_f1")  # fmt: skip
    found = json.loads((out / "sweep.json").read_text())
    assert found["measures"]["context_relevance"]["approximate"] is True
    assert found["measures"]["context_relevance"]["judge"].startswith("encoder/")
    assert found["measures"]["token_f1"]["approximate"] is False
    assert "| context_relevance (approximate) | token_f1 |" in shown


class Paid:
    """An agent, or a model, of which every answer costs."""

    cost = 0.0

    def __init__(self, mode: str = "a") -> None:
        self.mode = mode

    async def answer(self, query: Query) -> Reply:
        type(self).cost += 0.1
        return Reply(text=f"61 s {query.text}", usage=Usage(cost=0.1))

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        del messages, options
        type(self).cost += 0.3
        return Completion(text="{}", usage=Usage(cost=0.3))


def test_the_measures_of_the_last_setting_do_not_overspend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "paid" not in models.names():
        models.register("paid", Paid)
    monkeypatch.setattr(Paid, "cost", 0.0)
    given = ["--data", write_data(tmp_path), "--out", tmp_path / "out", "--vary",
             "mode=b", "--agent", f"python:name={__name__}/Paid", "--measures", "quest_recall",
             "--model", "paid", "--concurrency", 1]  # fmt: skip
    for most in ("0.95", "0.95", "2"):  # the second time nothing more is spent
        told = mmrag(
            "lab", "sweep", *given, "--max-cost", most, code=CostCapReached.exit_code
        ).stderr
        assert f"has cost ${Paid.cost:.2f} and --max-cost is ${float(most):.2f}" in told
        assert Paid.cost < float(most) + 0.3, "no more than the call that it took"


def test_every_option_of_rag_is_described_and_can_vary() -> None:
    said = mmrag("agent", "describe", "rag", "--json").stdout
    names = [option["name"] for option in json.loads(said)["options"]]
    for name in ("chunk", "overlap", "embedder", "retriever", "top_k", "rewrite"):
        assert name in names
    refused = mmrag(
        "lab", "sweep", "--out", "x", "--agent", "rag:reader=builtin", "--vary", "chunks=1", code=2
    )
    assert f"Did you mean 'chunk'? Its options: {', '.join(names)}." in refused.stderr


def test_settings_that_answered_fewer_turns_are_named(tmp_path: Path) -> None:
    def row(name: str, n: int) -> dict[str, object]:
        figure = {"estimate": 0.5, "low": 0.4, "high": 0.6, "n": n}
        changed = {} if name == "base" else {"retriever": name}
        return {
            "name": name,
            "agent": "rag",
            "changed": changed,
            "figures": {"truthfulness": figure},
        }

    found = WHAT | {"settings": [row("base", 120), row("bm25", 120), row("dense", 42)]}
    write_sweep(found, tmp_path)
    told = (tmp_path / "sweep.md").read_text(encoding="utf-8")
    assert "| dense | 42 |" in told
    assert "Fewer than 120 turns are scored of dense:" in told
    write_sweep(found | {"settings": found["settings"][:2]}, tmp_path)
    assert "Fewer" not in (tmp_path / "sweep.md").read_text(encoding="utf-8")


def test_one_conversation_has_no_interval_and_still_a_page(tmp_path: Path) -> None:
    figure = {"estimate": 1.0, "low": None, "high": None, "n": 1}
    base = {"name": "base", "agent": "rag", "changed": {}, "figures": {"truthfulness": figure}}
    apart = {"truthfulness": {**figure, "estimate": 0.0, "p": None}}
    other = base | {"name": "top_k=2", "changed": {"top_k": "2"}, "difference": apart}
    write_sweep(WHAT | {"settings": [base, other]}, tmp_path)
    assert "1.000 (+0.000)" in (tmp_path / "sweep.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("vary", [
    "top_k=2,99", "nope=1", "rewrite=maybe", "rewrite=off,on", "model=m", "chunk=9999999999",
    "top_k=²",
])  # fmt: skip
@pytest.mark.parametrize("dry", [True, False])
def test_what_cannot_be_made_is_refused_before_anything_is_asked(
    vary: str, dry: bool, tmp_path: Path
) -> None:
    mmrag("lab", "sweep", "--data", "mini", "--agent", "rag:reader=builtin", "--vary", vary,
          "--out", tmp_path / "out", *(["--dry-run"] if dry else []), code=2)  # fmt: skip
    assert not (tmp_path / "out").exists()


def test_no_two_settings_share_a_folder(tmp_path: Path) -> None:
    values = ["a/b", "a:b", "長" * 119, "x" * 118 + "1", "x" * 118 + "2"]
    settings = settings_of("rag:reader=builtin", {"embedder": values}, grid=False)
    folders = [setting_folder(tmp_path, setting) for setting in settings]
    assert len(set(folders)) == len(settings)
    for folder in folders:
        folder.mkdir(parents=True)
    with pytest.raises(UsageError, match="27,000,000 settings"):
        settings_of("rag", {key: [str(i) for i in range(300)] for key in "abc"}, grid=True)
