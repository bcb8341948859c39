"""Agents of the public kits: how they are made, what they are given, what is made of it.

The agents here are written from the kits' documented interface, in the shapes that theirs have.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from mmrag.agents import agents
from mmrag.agents.external.kits import SearchPipeline
from mmrag.errors import SpecError
from mmrag.files.images import LazyImage
from mmrag.judges.simple import FixedJudge
from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.protocols import Resources
from mmrag.records import Capture, Evidence, Exchange, Query, Reference, Session, Status, Turn
from mmrag.search.in_memory_search import MemoryImageSearch, MemoryWebSearch
from simulator import cli
from simulator.reports.figures.report import ReportOptions, build_report, load_report_runs
from simulator.run.agent_slots import AgentSlots
from simulator.run.engine import Rules, hold_conversation
from simulator.run.results.error_texts import error_texts_in, is_error_text, replies_of
from simulator.store.run_reader import RunReader

PICTURE = LazyImage.from_pil(Image.new("RGB", (32, 32)))
KETTLE = {"entity_name": "Alder Kettle", "entity_attributes": {"weight": "900 g", "maker": "Brøn"}}
HITS = [
    Evidence(source="image-kg", id="7", score=0.8, attributes={"entities": [KETTLE]}),
    Evidence(source="image-kg", id="8", score=0.6, attributes={"entities": [
        {"entity_name": "Far Lamp", "entity_attributes": {"weight": "1 kg"}}]}),
]  # fmt: skip
PAGES = [
    Evidence(source="web", id=f"https://p{i}.example_chunk_0", url=f"https://p{i}.example", score=0,
             title=f"Kettles {i}", text=f"Kettle fact {i}.")
    for i in range(3)
]  # fmt: skip


def resources(**left_out):
    held = {
        "image_search": MemoryImageSearch({}, default=HITS),
        "web_search": MemoryWebSearch(PAGES),
    }
    return Resources(**{**held, **left_out})


def query(text="Which kettle is it?", **more):
    return Query(text=text, image=PICTURE, session_id="s", **more)


def ask(agent, *queries):
    async def run():
        return await asyncio.gather(*(agent.answer(q) for q in queries))

    return asyncio.run(run())


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path like a kit's checkout; what is imported from it is forgotten."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [n for n in sys.modules if n.partition(".")[0] == "cragmm_search"]:
        monkeypatch.delitem(sys.modules, name)  # left by another file's test
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        module = sys.modules[name]
        if name.partition(".")[0] == "cragmm_search" or str(tmp_path) in str(
            getattr(module, "__file__", None) or getattr(module, "__path__", "")
        ):
            del sys.modules[name]


SHAPES = '''
class Closed:
    """As the 2026 kit's agents of closed models are made: no search at all."""

    def __init__(self, model_name="some-model", **kwargs):
        self.model_name, self.more = model_name, kwargs
        self.seen = []

    def get_batch_size(self):
        return 4

    def batch_generate_response(
        self, queries, images, message_histories, rag_context_list, **kwargs
    ):
        self.seen.append((queries, message_histories, rag_context_list, kwargs))
        return [f"{self.model_name}: {query}" for query in queries]


class Exact(Closed):
    """Knows its two options and no other."""

    def __init__(self, model_name="m", is_multi_turn=False, tokens=64):
        super().__init__(model_name)
        self.is_multi_turn, self.tokens = is_multi_turn, tokens


class Older:
    """As the 2025 kit makes its agents."""

    def __init__(self, search_pipeline, model_name="some-model"):
        self.search_pipeline, self.model_name = search_pipeline, model_name

    def batch_generate_response(self, queries, images, message_histories):
        return [f"{self.search_pipeline.web_search} {self.model_name}" for _ in queries]
'''


@pytest.fixture
def shapes(kit: Path) -> Path:
    (kit / "their_agents.py").write_text(SHAPES)
    return kit


def make(spec: str, **more):
    return agents.create(f"kit:name=their_agents/{spec}", resources=resources(**more))


def test_the_search_is_given_by_name_and_never_as_a_model(shapes: Path) -> None:
    assert ask(make("Closed"), query("q"))[0].text == "some-model: q"
    assert ask(make("Closed,model_name=gpt-4o"), query("q"))[0].text == "gpt-4o: q"
    assert isinstance(make("Closed").agent.more["search_pipeline"], SearchPipeline)
    assert ask(make("Older"), query())[0].text == "True some-model"
    assert ask(make("Older,model_name=m", web_search=None), query())[0].text == "False m"
    assert ask(make("Exact"), query("q"))[0].text == "m: q"


def test_options_have_the_type_that_the_agent_wants(shapes: Path) -> None:
    made = make("Exact,tokens=5").agent
    assert (made.is_multi_turn, made.tokens) == (True, 5)  # conversations, as the kit says of them
    assert make("Exact,is_multi_turn=off").agent.is_multi_turn is False
    assert "is_multi_turn" not in make("Closed").agent.more
    for wrong in ("tokens=many", "is_multi_turn=perhaps", "no_such=1"):
        with pytest.raises(SpecError, match=wrong.partition("=")[0]):
            make(f"Exact,{wrong}")
    with pytest.raises(SpecError, match="rag_context=maybe"):
        make("Exact,rag_context=maybe")


def test_without_context_every_query_has_an_empty_text(shapes: Path) -> None:
    agent = make("Closed")
    ask(agent, query("a"), query("b"))
    queries, _, contexts, more = agent.agent.seen[0]
    assert ((queries, contexts), more) == ((["a", "b"], ["", ""]), {"domains": ["other", "other"]})


def test_turns_that_wait_are_answered_in_batches(shapes: Path) -> None:
    agent = make("Closed")
    replies = ask(agent, *(query(f"q{i}", domain="shopping") for i in range(20)))
    assert [reply.text for reply in replies] == [f"some-model: q{i}" for i in range(20)]
    assert [len(queries) for queries, *_ in agent.agent.seen] == [4] * 5
    assert agent.agent.seen[0][3] == {"domains": ["shopping"] * 4}


RETRIEVER = """
from cragmm_search.search import UnifiedSearchPipeline

def get_rag_context(query, image, search_pipeline, image_search, web_search, full_query=None):
    assert isinstance(search_pipeline, UnifiedSearchPipeline)
    pictures = [hit["score"] for hit in search_pipeline(image, k=30)] if image_search else None
    pages = [page["page_name"] for page in search_pipeline(query, k=50)] if web_search else None
    return f"{query}|{image.size}|{pictures}|{pages}|{full_query!r}"
"""


def test_the_context_is_built_by_the_kit_itself(shapes: Path) -> None:
    (shapes / "utils").mkdir()
    (shapes / "utils" / "retriever.py").write_text(RETRIEVER)
    agent = make("Closed,rag_context=on")
    ask(agent, query("fact 2"))
    said = "fact 2|(32, 32)|[0.8, 0.6]|['Kettles 2', 'Kettles 0', 'Kettles 1']|''"
    assert agent.agent.seen[0][2] == [said]
    task1 = make("Closed,rag_context=on", web_search=None)
    ask(task1, query("fact 2"))
    assert task1.agent.seen[0][2] == ["fact 2|(32, 32)|[0.8, 0.6]|None|''"]


def test_away_from_the_kit_the_context_is_one_text_of_its_shape(shapes: Path) -> None:
    (shapes / "utils.py").write_text("anything = 'else'")
    agent = make("Closed,rag_context=on")
    ask(agent, query("fact 2"))
    (text,) = agent.agent.seen[0][2]
    assert text.startswith("<search results>")
    assert text.endswith("</search results>")
    assert '"weight": "900 g",\n  "maker": "Brøn"' in text
    assert "Far Lamp" not in text  # .6 is no likeness for the kit
    assert "Webpage ID: [1]\nTitle: Kettles 2\nWeb content snippet: Kettle fact 2.\n" in text
    assert text.count("<DOC>") == 3
    neither = make("Closed,rag_context=on", image_search=None, web_search=None)
    ask(neither, query())
    assert neither.agent.seen[0][2] == [""]


def test_the_package_of_the_search_is_stood_in_for_where_it_is_absent(kit: Path) -> None:
    (kit / "their_agents.py").write_text(
        "from cragmm_search.search import UnifiedSearchPipeline\n" + SHAPES
        + '''
class Own(Older):
    def __init__(self, search_pipeline: UnifiedSearchPipeline):
        assert isinstance(search_pipeline, UnifiedSearchPipeline)
        super().__init__(UnifiedSearchPipeline(
            image_model_name="openai/clip", image_hf_dataset_id="x/y", web_hf_dataset_id=None))
    def batch_generate_response(self, queries, images, message_histories):
        return [self.search_pipeline(q)[0]["page_name"] for q in queries]
'''
    )  # fmt: skip
    assert ask(make("Own"), query("fact 1"))[0].text == "Kettles 1"


def test_an_installed_package_is_left_alone(kit: Path) -> None:
    (kit / "cragmm_search").mkdir()
    (kit / "cragmm_search" / "search.py").write_text("class UnifiedSearchPipeline: real = True")
    (kit / "their_agents.py").write_text(
        "from cragmm_search.search import UnifiedSearchPipeline\n"
        "assert UnifiedSearchPipeline.real\n" + SHAPES
    )
    assert ask(make("Older"), query())[0].text == "True some-model"


def test_torchvision_is_mended_before_their_imports(
    shapes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mmrag.agents.external import kits

    mended: list[bool] = []
    monkeypatch.setattr(
        kits, "ensure_torchvision", lambda: mended.append("their_agents" in sys.modules)
    )
    make("Closed")
    assert mended == [False]


@pytest.mark.parametrize(("source", "name", "said"), [
    (None, "no_such_kit.agents/A", "'no_such_kit' is on PYTHONPATH"),
    (None, "json.agents/A", "'json' is .*json, which has no 'json.agents'"),
    ("import no_such_wheel.parts", "their_agents/A", "needs 'no_such_wheel', which is not installed"),
    ("import json.gone", "their_agents/A", "'json' is .*json, which has no 'json.gone'"),
    ("from json import gone", "their_agents/A", "cannot import name 'gone' from 'json'"),
    ("raise KeyError('HF_TOKEN')", "their_agents/A", r"KeyError: 'HF_TOKEN' \(their_agents.py, line 1\)"),
    ("class B:\n  def batch_generate_response(self): ...", "their_agents/A", "no 'A'; .* B"),
])  # fmt: skip
def test_what_cannot_be_imported_is_told_with_its_cause(
    kit: Path, source: str | None, name: str, said: str
) -> None:
    if source is not None:
        (kit / "their_agents.py").write_text(source)
    with pytest.raises(SpecError, match=said) as told:
        agents.create(f"kit:name={name}", resources=resources())
    assert ("PYTHONPATH" in str(told.value)) == ("PYTHONPATH" in said or "which has no" in said)


class Slowed:
    """A kit agent each of whose calls takes `seconds`, on a clock that nothing else moves.

    The last `late` conversations begin when the first call has begun, and it ends when they wait.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float, late: int = 0) -> None:
        self.agent = make("Closed")  # four at once
        self.calls, self._seconds, self._late = list[int](), seconds, late
        self._now, self._waiting = 0.0, 0
        self._begun, self._joined = threading.Event(), threading.Event()
        self._said, self._ready = self.agent.agent.batch_generate_response, self.agent.ready
        self.agent.agent.batch_generate_response = self._call
        self.agent.ready = self._wait
        clock = SimpleNamespace(perf_counter=lambda: self._now)
        monkeypatch.setattr("mmrag.turn_clock.time", clock)

    def _call(self, queries, *arguments, **more):
        self.calls.append(len(queries))
        self._begun.set()
        assert not self._late or self._joined.wait(60)
        self._now += self._seconds
        return self._said(queries, *arguments, **more)

    async def _wait(self) -> None:
        self._waiting += self._begun.is_set()
        if self._waiting == self._late:
            self._joined.set()
        await self._ready()

    def statuses(self, count: int, rules: Rules) -> list[Status]:
        """How the only turn of each of so many conversations ended."""
        turn = Turn(index=0, id="t", query="q", reference=Reference(text="r"))

        async def keep(*_results) -> None:
            pass

        async def run():
            places = AgentSlots(self.agent)

            async def hold(number: int):
                session = Session(id=f"s{number}", capture=Capture(image=PICTURE), turns=(turn,))
                if number >= count - self._late:
                    await asyncio.to_thread(self._begun.wait, 60)
                return await hold_conversation(
                    session, self.agent, FixedJudge("incorrect"), keep,
                    stop=two_strikes, rules=rules, place=places.place,
                )  # fmt: skip

            return await asyncio.gather(*(hold(number) for number in range(count)))

        return [results[0].status for results in asyncio.run(run())]


@pytest.mark.parametrize(("seconds", "status"), [(0.3, Status.ANSWERED), (0.1, Status.TIMEOUT)])
def test_a_call_has_the_time_of_its_whole_batch(
    shapes: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, status: Status
) -> None:
    slowed = Slowed(monkeypatch, 0.7)
    assert slowed.statuses(4, Rules(seconds=seconds)) == [status] * 4


@pytest.mark.parametrize(("count", "late"), [(6, 0), (4, 2)])
def test_waiting_for_the_call_before_is_not_the_agents_time(
    shapes: Path, monkeypatch: pytest.MonkeyPatch, count: int, late: int
) -> None:
    """A call of .7 s that began without them, and then their own: each within .25 s times four."""
    slowed = Slowed(monkeypatch, 0.7, late)
    assert slowed.statuses(count, Rules(seconds=0.25)) == [Status.ANSWERED] * count
    assert slowed.calls == [count - 2, 2]


@pytest.mark.parametrize(("text", "is_error"), [
    ("[API error after 3 attempts: Error code: 401 - {'error': {'message': 'Inco...]", True),
    ("[API error after 3 attempts: timed out", True),  # cut at 75 tokens
    ("[Error processing query: cannot identify image file]", True),
    ("[Timeout or error: TimeoutError()]", True),
    ("[Gemini API blocked response due to copyrighted material.]", True),
    ("[Gemini API returned no valid text part.]", True),
    ("[API error] is the name of the band.", False),
    ("It says \"[API error after 3 attempts: x]\" on the screen.", False),
    ("[Errors] are red.", False), ("I don't know", False), ("", False),
])  # fmt: skip
def test_the_kits_own_error_texts_are_known(text: str, is_error: bool) -> None:
    assert is_error_text(text) is is_error


def test_history_is_user_and_assistant_in_turn(shapes: Path) -> None:
    agent = make("Closed")
    ask(agent, query("then?", history=(Exchange(query="What is it?", reply="A kettle"),)))
    assert agent.agent.seen[0][1] == [[
        {"role": "user", "content": "What is it?"}, {"role": "assistant", "content": "A kettle"},
    ]]  # fmt: skip


FAILING = (
    SHAPES
    + """
class Refused(Closed):
    def batch_generate_response(self, queries, images, message_histories, rag_context_list, **more):
        error = "[API error after 3 attempts: Error code: 401 - Incorrect API key provided...]"
        return [error for _ in queries]
"""
)


def test_error_texts_are_told_beside_the_coverage(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (kit / "their_agents.py").write_text(FAILING)
    folder = str(tmp_path / "run")
    mmrag("run", "--agent", "kit:name=their_agents/Refused", "--search", "none", "--judge", "exact",
          "--limit", "2", "--after-stop", "generate", "--out", folder)  # fmt: skip
    capsys.readouterr()
    mmrag("score", folder, "--json")
    figures = json.loads(capsys.readouterr().out)
    asked = figures["all"]["asked"]
    assert figures["all"]["coverage"] == 1
    assert figures["error_texts"]["turns"] == asked > 2
    assert figures["error_texts"]["first"].startswith(
        "[API error after 3 attempts: Error code: 401"
    )
    for protocol in ("strict", "crag-mm"):
        mmrag("score", folder, "--protocol", protocol)
        shown = " ".join(capsys.readouterr().out.split())
        assert f"{asked} of {asked} replies are error texts" in shown
        assert "[API error after 3 attempts" in shown
    with RunReader(folder) as run:
        assert error_texts_in(replies_of(run, "low-light@3")) is None
        options = ReportOptions(resamples=20)
        report = build_report(*load_report_runs([run], options), options)
    (warning,) = [w for w in report["warnings"] if "error texts" in w]
    assert f"{asked} of {asked} replies are error texts" in warning


def mmrag(*arguments: str) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.build()(list(arguments))
