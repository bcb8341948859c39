"""The paper's agents, and agents that others wrote: classes, programs, endpoints, public kits."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import re
import sys
import traceback
import types
import warnings
from pathlib import Path

import msgspec
import psutil
import pytest
from answering import answering
from PIL import Image

from mmrag.agent_hooks import warm
from mmrag.agents import agents
from mmrag.agents.external.adapters import CommandAgent, HttpAgent, query_as_json
from mmrag.agents.external.kits import KitAgent, SearchPipeline
from mmrag.agents.paper.baselines import PAGES, THRESHOLD
from mmrag.cache import Cache, cache_resources
from mmrag.errors import AgentError, ServiceTimeout, SpecError, Unavailable, UsageError
from mmrag.files.images import LazyImage
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.records import Evidence, Exchange, Query, Reply
from mmrag.search.in_memory_search import MemoryImageSearch, MemoryWebSearch
from mmrag.text.token_limits import count_tokens
from simulator.faults.failing_parts import with_faults

HITS = [
    Evidence(source="image-kg", id="7", score=0.8, text="Alder Brook Kettle", attributes={"weight": "900 g"}),
    Evidence(source="image-kg", id="8", score=0.7, text="Birch Hollow Kettle", attributes={"weight": "1 kg"}),
]  # fmt: skip
WEB = [
    Evidence(source="web", id=f"p{i}", url=f"https://p{i}.example", score=0, title="Alder Brook Kettle",
             text="The maker of Alder Brook Kettle is Foo Brass Works. " + "Kettle talk. " * 400)
    for i in range(20)
]  # fmt: skip
PICTURE = LazyImage.from_pil(Image.new("RGB", (32, 32)))


def query(text="What's this kettle's weight?", **more):
    return Query(text=text, image=PICTURE, session_id="s", **more)


def resources(model=None):
    return Resources(
        image_search=MemoryImageSearch({}, default=HITS),
        web_search=MemoryWebSearch(WEB),
        model=(lambda _spec: model) if model else None,
    )


def ask(agent, *queries):
    async def run():
        return await asyncio.gather(*(agent.answer(q) for q in queries))

    return asyncio.run(run())


def prompt_of(name, **more):
    rewriting = ["Alder Brook Kettle maker"] if name in ("task2", "task3") else []
    model = ScriptedModel([*rewriting, "900 g"])
    agent = agents.create(f"{name}:model=m", resources=resources(model))
    replies = ask(agent, query(**more))
    assert (replies[0].text, model.calls[-1][1].images) == ("900 g", (PICTURE,))
    return model


HISTORY = (Exchange(query="What is it?", reply="A kettle"),)


def test_llm_only_sees_picture_question_and_history_and_nothing_retrieved():
    system, user = prompt_of("llm-only", history=HISTORY).calls[-1]
    assert "I don't know" in system.text
    assert "A kettle" in user.text
    assert "Alder" not in user.text


def test_task1_sees_entities_above_the_threshold():
    user = prompt_of("task1").calls[-1][1]
    assert THRESHOLD == 0.75
    assert "Alder Brook Kettle" in user.text
    assert "weight: 900 g" in user.text
    assert "Birch" not in user.text
    assert "ONLY IF" in user.text


def test_task2_rewrites_and_keeps_within_8000_tokens():
    model = prompt_of("task2", history=HISTORY)
    assert len(model.calls) == 2
    assert "Alder Brook Kettle" in model.calls[0][0].text
    user = model.calls[1][1].text
    assert PAGES == 50
    assert user.count("<DOC>") >= 1
    assert count_tokens(user) < 8000 + 2000 + 500
    assert "A kettle" not in user


def test_a_page_that_just_fits_is_shown():
    model = ScriptedModel(["Alder Brook Kettle maker", "900 g"] * 2)
    web = resources(model).web_search
    assert web is not None
    first = web.search_text(["Alder Brook Kettle maker"], PAGES)[0][0]
    size = count_tokens(first.text) + count_tokens(first.title)
    for room, shown in ((size, 1), (size - 1, 0)):
        agent = agents.create(f"task2:model=m,web_tokens={room}", resources=resources(model))
        ask(agent, query())
        assert model.calls[-1][1].text.count("<DOC>") == shown


@pytest.mark.parametrize("name", ["task2", "task3"])
def test_a_small_model_is_shown_fewer_pages(name):
    """The 8,000 tokens of the paper are more than a small model's whole context."""
    model = ScriptedModel(["Alder Brook Kettle maker", "900 g"])
    agent = agents.create(f"{name}:model=m,web_tokens=2000", resources=resources(model))
    [reply] = ask(agent, query())
    user = model.calls[-1][1].text
    assert user.count("<DOC>") == 1  # each page has some 1,200 tokens
    assert any(step.info.get("within 2,000 tokens") == 1 for step in reply.trace)
    for wrong in ("0", "many", "-5"):
        with pytest.raises(SpecError, match=f"{name}: web_tokens={wrong}: write a whole number"):
            agents.create(f"{name}:model=m,web_tokens={wrong}", resources=resources(model))


@pytest.mark.parametrize(
    "spec",
    [
        "llm-only:model=m", "task3:model=m", "grounded:reader=m,ocr=off",
        "tool-user:model=m", "crag-task1:model=m", "crag-llm-only:model=m",
    ],
)  # fmt: skip
def test_a_model_of_this_process_is_loaded_before_the_first_turn(spec):
    """Also behind the cache that the conversations of a run share, and where it is to fail."""

    class Loads(ScriptedModel):
        loaded = 0

        async def warm(self):
            self.loaded += 1

    model = Loads()
    cached = cache_resources(resources(model), Cache())
    for number, given in enumerate((cached, with_faults(cached)), 1):
        asyncio.run(warm(agents.create(spec, resources=given)))
        assert model.loaded == number
    asyncio.run(warm(agents.create("llm-only:model=m", resources=resources(ScriptedModel()))))


def test_task3_sees_the_whole_history():
    assert "A kettle" in prompt_of("task3", history=HISTORY).calls[-1][1].text


def test_they_run_with_the_builtin_reader():
    agent = agents.create("task3:reader=builtin", resources=resources())
    weight, maker = ask(agent, query(), query("Who's this kettle's maker?"))
    assert (weight.text, maker.text) == ("900 g", "Foo Brass Works")
    alone = agents.create("llm-only", resources=Resources())
    assert ask(alone, query())[0].abstained


def test_bad_choices_of_reader_are_refused():
    with pytest.raises(SpecError, match="needs model"):
        agents.create("task3:reader=model", resources=Resources())
    with pytest.raises(SpecError, match="not both"):
        agents.create("task3:reader=builtin,model=m", resources=resources(ScriptedModel()))


# -- Python classes


class Plain:
    def __init__(self, resources, tone="kind"):
        self.tone = tone

    def answer(self, query):
        return f"{self.tone}: {query.text}"


class Odd:
    async def answer(self, query):
        return 7 if query.text == "number" else None


def shout(query):
    return query.text.upper()


async def whisper(query):
    return query.text.lower()


@pytest.fixture
def module(monkeypatch):
    made = types.ModuleType("somebodys_agents")
    made.Plain, made.Odd = Plain, Odd  # type: ignore[attr-defined]
    made.shout, made.whisper, made.NUMBER = shout, whisper, 7  # type: ignore[attr-defined]
    made.no_query = lambda: ""  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "somebodys_agents", made)


def test_a_class_with_one_method(module):
    agent = agents.create("python:name=somebodys_agents/Plain,tone=dry", resources=Resources())
    assert ask(agent, query("hi"))[0].text == "dry: hi"
    odd = agents.create("python:name=somebodys_agents/Odd", resources=Resources())
    with pytest.raises(AgentError, match="returned an object of type int; return a text"):
        ask(odd, query("number"))
    with pytest.raises(AgentError, match="returned None; return a text"):
        ask(odd, query())
    with pytest.raises(SpecError, match="PYTHONPATH"):
        agents.create("python:name=no_such_module/X", resources=Resources())
    with pytest.raises(
        SpecError, match=r"'Scripte'\. Did you mean scripted or ScriptedAgent"
    ) as told:
        agents.create("python:name=mmrag.agents.fakes/Scripte", resources=Resources())
    assert "PYTHONPATH" not in str(told.value)


def test_a_function_of_the_query(module):
    def made(name):
        return agents.create(f"python:name=somebodys_agents/{name}", resources=Resources())

    assert ask(made("shout"), query("hi"))[0].text == "HI"
    assert ask(made("whisper"), query("HI"))[0].text == "hi"
    with pytest.raises(SpecError, match="a class or a function"):
        made("NUMBER")
    with pytest.raises(SpecError, match="a function takes no options"):
        made("shout,tone=dry")
    with pytest.raises(UsageError, match="one argument, the query"):
        made("no_query")


DOCS = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()


def test_the_agent_in_the_docs_is_one(tmp_path, monkeypatch):
    examples = re.findall(r"```python\n(.*?)```", DOCS, re.S)
    (example,) = [text for text in examples if "class Nearest" in text]
    (tmp_path / "my_agent.py").write_text(example)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_agent", raising=False)
    specs = sorted(set(re.findall(r"--agent (python:name=my_agent/\S+)", DOCS)))
    assert len(specs) == 2
    for spec in specs:
        agent = agents.create(spec, resources=resources())
        first, later = ask(agent, query("What is this?"), query("Who made it?", history=HISTORY))
        assert (first.text, first.citations) == ("Alder Brook Kettle", ("7",))
        assert later.text.startswith("The maker of Alder Brook Kettle is Foo Brass Works.")
    (unsure,) = ask(agents.create(f"{specs[0]},least=0.9", resources=resources()), query())
    assert unsure.abstained
    monkeypatch.delitem(sys.modules, "my_agent")


def test_the_docs_name_every_field_of_a_query_and_a_reply():
    told = DOCS.partition("| `query.` |")[2].partition("## ")[0]
    for field in (*Query.__struct_fields__, *Resources.__struct_fields__):
        known = {"image_search": "search_images", "web_search": "search_text"}.get(field, field)
        assert f"`{known}" in told or field == "seed", field
    for field in Reply.__struct_fields__:
        assert f"`{field}`" in told or field == "abstained", field


# -- programs that speak JSON lines

SCRIPT = """
import json, sys, time
for line in sys.stdin:
    turn = json.loads(line)
    said = turn["query"]
    if said == "die": sys.exit(3)
    if said == "sleep": time.sleep(30)
    if said == "junk": print("this is no json", flush=True); continue
    if said == "old": print(json.dumps({"id": "x", "text": "stale"}), flush=True); continue
    if said == "huge": print("x" * 10_000_000, flush=True); continue
    if said == "half":
        sys.stdout.buffer.write(b'{"text": "\\xc3')
        sys.stdout.flush()
        sys.exit(0)
    if said == "drip":
        while True: print("x", end="", flush=True); time.sleep(0.01)
    print(json.dumps({"id": turn["id"], "text": f"{said} {len(turn['history'])} {turn['image']['media_type']}"}), flush=True)
"""

HELPED = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdout=subprocess.DEVNULL)
"""


def test_a_program_is_asked_and_restarted_after_every_kind_of_failure(tmp_path):
    (tmp_path / "agent.py").write_text(SCRIPT)

    async def run():
        agent = CommandAgent([sys.executable, str(tmp_path / "agent.py")], seconds=5)
        quick = CommandAgent([sys.executable, str(tmp_path / "agent.py")], seconds=0.3)
        try:
            said = [(await agent.answer(query("one", history=HISTORY))).text]
            for fault, words in (
                ("die", "ended without an answer"), ("junk", "this is no json"),
                ("old", "answered request 'x'"), ("huge", "longer than 4 MiB"),
                ("half", "An answer is one line"),
            ):  # fmt: skip
                with pytest.raises(AgentError, match=words):
                    await agent.answer(query(fault))
                said.append((await agent.answer(query("again"))).text)
            for fault in ("sleep", "drip"):
                with pytest.raises(ServiceTimeout):
                    await quick.answer(query(fault))
        finally:
            await agent.close()
            await quick.close()
        return said

    assert asyncio.run(run()) == ["one 1 image/png", *["again 0 image/png"] * 5]


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp", "avif"])
def test_a_picture_is_called_what_it_is(kind):
    buffer = io.BytesIO()
    Image.new("RGB", (32, 32)).save(buffer, kind)
    sent = query_as_json(Query(text="?", image=LazyImage.from_bytes(buffer.getvalue())), "1")[
        "image"
    ]
    assert sent["media_type"] == f"image/{kind}"


def started(before):
    """Processes begun since, with all that they began; a cluster of other tests may run beside."""
    new = [child for child in psutil.Process().children() if child not in before]
    return [one for child in new for one in (child, *child.children(recursive=True))]


FAULTS = {"die": AgentError, "junk": AgentError, "old": AgentError, "sleep": ServiceTimeout}


@pytest.mark.parametrize("fault", [*FAULTS, "cancelled", "idle"])
def test_nothing_is_left_of_a_program_that_failed(tmp_path, fault):
    """Neither a process, nor what it started, nor a pipe, nor a warning when the loop is gone."""
    gc.collect()  # gradio leaves event loops to the collector, which may not come upon them below
    (tmp_path / "agent.py").write_text(HELPED + SCRIPT)
    agent = CommandAgent(
        [sys.executable, str(tmp_path / "agent.py")], seconds=0.5 if fault == "sleep" else 60
    )
    me = psutil.Process()
    open_before, before = me.num_fds(), me.children()

    async def run():
        if fault != "sleep":
            await agent.answer(query("one"))
            assert len(started(before)) == 2
        if fault == "cancelled":
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(agent.answer(query("sleep")), 0.2)
        elif fault != "idle":
            with pytest.raises(FAULTS[fault]):
                await agent.answer(query(fault))
            assert started(before) == []

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(run())
        if fault == "idle":
            assert ask(agent, query("two"))[0].text.startswith("two")  # under another loop
            del agent
        gc.collect()
    assert started(before) == []
    assert me.num_fds() <= open_before


def test_a_program_that_reads_nothing_or_never_ends_its_line_is_stopped(tmp_path):
    before = psutil.Process().children()
    (tmp_path / "deaf.py").write_text("import time; time.sleep(60)")
    (tmp_path / "endless.py").write_text(
        "input()\nwhile True: print('x' * 100_000, end='', flush=True)"
    )
    deaf = CommandAgent([sys.executable, str(tmp_path / "deaf.py")], seconds=0.5)
    big = LazyImage.from_bytes(b"x" * 1_000_000)  # more than a pipe holds
    with pytest.raises(ServiceTimeout, match=r"within 0\.5"):
        ask(deaf, msgspec.structs.replace(query(), image=big))
    endless = CommandAgent([sys.executable, str(tmp_path / "endless.py")], seconds=60)
    with pytest.raises(AgentError, match="4 MiB"):
        ask(endless, query())
    assert started(before) == []


@pytest.mark.parametrize("spec", ["command:run=x", "http:url=http://x"])
@pytest.mark.parametrize("value", ["soon", "nan", "0", "-1", "inf"])
def test_a_limit_that_is_none_is_refused(spec, value):
    with pytest.raises(SpecError, match=f"seconds={value}: give a number above 0"):
        agents.create(f"{spec},seconds={value}", resources=Resources())


def test_a_program_that_is_not_there():
    with pytest.raises(Unavailable, match="cannot be started"):
        ask(CommandAgent(["/no/such/program"]), query())


# -- endpoints


def test_an_endpoint():
    answers = [(200, b'{"text": "900 g", "confidence": 0.7}'), (500, b"no"), (200, b"<html>")]
    with answering(lambda _: answers.pop(0)) as server:
        agent = HttpAgent(f"{server.url}/", seconds=5)
        reply = ask(agent, query())[0]
        assert (reply.text, reply.confidence) == ("900 g", 0.7)
        assert set(json.loads(server.asked[0].body)) == {
            "id", "session_id", "turn_index", "query", "query_time", "domain", "history", "image",
        }  # fmt: skip
        for _ in range(2):
            with pytest.raises(AgentError):
                ask(agent, query())
    says = f"^cannot reach {re.escape(server.url)}/ \\(.*\\); is the agent running\\?$"
    with pytest.raises(AgentError, match=says):
        ask(agent, query())


def test_a_key_that_no_header_can_hold_is_told_to_nobody(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret\nmore")
    with answering(lambda _: (200, b'{"text": "yes"}')) as server:
        agent = HttpAgent(f"{server.url}/", key_env="MY_KEY")
        with pytest.raises(AgentError, match="Check the key in MY_KEY") as told:
            ask(agent, query())
    assert "secret" not in "".join(traceback.format_exception(told.value))


# -- agents of the public kits, written from their documented interface


@pytest.mark.parametrize("said", [["one"], None, "text", [1, 2]])
def test_a_kit_agent_that_answers_nonsense_fails_its_batch_only(said):
    class Broken:
        calls = 0

        def get_batch_size(self):
            return 2

        def batch_generate_response(self, queries, images, message_histories):
            self.calls += 1
            return said if self.calls == 1 else ["ok"] * len(queries)

    async def run():
        agent = KitAgent(Broken())
        first = await asyncio.gather(
            agent.answer(query()), agent.answer(query()), return_exceptions=True
        )
        return first, await agent.answer(query())

    first, later = asyncio.run(run())
    assert all(isinstance(e, AgentError) for e in first)
    assert later == Reply(text="ok")


def test_the_pipeline_speaks_the_public_dialect():
    pipeline = SearchPipeline(resources())
    web = pipeline("alder kettle", k=2)
    assert set(web[0]) == {"index", "score", "page_name", "page_snippet", "page_url"}
    shown = pipeline(Image.new("RGB", (8, 8)), k=1)
    assert shown[0]["entities"][0]["entity_name"] == "Alder Brook Kettle"
