"""CRAG's straightforward agents: their windows, their prompts, the KG by extraction or by calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mmrag.agents import agents
from mmrag.agents.paper.crag_kg import extracted_names
from mmrag.agents.paper.kg_sentences import in_sentences
from mmrag.errors import ServiceTimeout, SpecError
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.records import Passage, Query, Reply
from mmrag.text.token_limits import count_tokens
from mmrag.tools import CallRequest, Tool

NOW = "2031-08-16T10:04:54"
FILM = {
    "title": "The Coarvan of Glusum", "id": 7, "release_date": "2026-07-31", "budget": 31400000,
    "crew": [{"name": "Anna Bell", "id": 3, "job": "Director"}],
    "cast": [{"name": "Bo Carr", "id": 4}, {"name": "Cy Dorn", "id": 5}],
}  # fmt: skip


def tool(name: str, answer: Any) -> Tool:
    def call(arguments: dict[str, Any], at: str | None) -> Any:
        assert at == NOW, "the KG is asked as of the question's time"
        return answer(arguments) if callable(answer) else answer

    return Tool(name=name, description=name, parameters={"type": "object"}, call=call)


KG = (
    tool("movie_get_movie_info", lambda a: [FILM] if "Glusum" in a["movie_name"] else []),
    tool("movie_get_person_info", []),
    tool("finance_get_company_name", ["Orlan Works"]),
    tool("finance_get_ticker_by_name", "ORL"),
    tool("finance_get_price_history", {
        "2031-08-15 00:00:00 EST": {"Open": 13.0, "Close": 14.0},
        "2031-08-16 00:00:00 EST": {"Open": 14.0, "Close": 14.2},
    }),
    tool("finance_get_eps", lambda a: {"ORL": 2.5}[a["ticker_name"]]),
)  # fmt: skip


def passages(pages: int, words: int = 4) -> tuple[Passage, ...]:
    """A snippet and two pieces of text for each page."""
    return tuple(
        passage
        for n in range(1, pages + 1)
        for passage in (
            Passage(id=f"{n}", text=f"snippet{n} " + "word " * words, provider="web snippet"),
            Passage(id=f"{n}.1", text=f"page{n} one", provider="web page"),
            Passage(id=f"{n}.2", text=f"page{n} two", provider="web page"),
        )
    )


def ask(spec: str, said: Any = "I don't know", query: Query | None = None,
        tools: tuple[Tool, ...] = KG) -> tuple[Reply, ScriptedModel]:  # fmt: skip
    model = ScriptedModel(said)
    agent = agents.create(spec, resources=Resources(model=lambda _: model, tools=tools))
    asked = query or Query(text="who directed it?", query_time=NOW, passages=passages(50))
    return asyncio.run(agent.answer(asked)), model


def prompt(model: ScriptedModel, call: int = -1) -> str:
    """The prompt of a call, which is all that the model is sent."""
    [message] = model.calls[call]
    return message.text


def test_task_1_shows_the_snippets_of_five_pages_in_their_order() -> None:
    reply, model = ask("crag-task1:model=m")
    text = prompt(model)
    assert len(model.calls) == 1
    places = [text.index(f"snippet{n} ") for n in range(1, 6)]
    assert places == sorted(places)
    assert "snippet6 " not in text
    assert "page1 one" not in text, "the paper's prompt has snippets"
    assert "### Query Time\n08/16/2031, 10:04:54 PT\n### References\nsnippet1" in text
    assert (
        'If the question contains a false premise or assumption, answer "invalid question".' in text
    )
    assert "knowledge graph" not in text
    assert [step.name for step in reply.trace] == ["web", "generate"]
    assert [item.id for item in reply.trace[0].evidence] == ["1", "2", "3", "4", "5"]


def test_the_web_window_is_full_at_its_tokens() -> None:
    query = Query(text="who?", query_time=NOW, passages=passages(5, words=300))
    _, model = ask("crag-task1:model=m,web_tokens=700", query=query)
    text = prompt(model).partition("### References")[2].partition("### Answer")[0]
    assert 650 <= count_tokens(text) <= 705
    assert "snippet3" in text
    assert "snippet4" not in text


def test_a_page_without_a_snippet_is_shown_by_its_beginning() -> None:
    query = Query(text="who?", query_time=NOW, passages=passages(2)[1:])
    _, model = ask("crag-task1:model=m", query=query)
    assert "page1 one" in prompt(model)
    assert "page1 two" not in prompt(model)


def test_task_2_asks_the_kg_for_the_entities_that_the_model_names() -> None:
    names = '{"domain": "movie", "movie_name": "The Coarvan of Glusum", "movie_aspect": "crew"}'
    reply, model = ask("crag-task2:model=m", [names, "Anna Bell"])
    assert reply.text == "Anna Bell"
    assert "NEVER include ANY EXPLANATION" in prompt(model, 0)
    assert "Query: who directed it?" in prompt(model, 0)
    text = prompt(model)
    assert "# web\nsnippet1" in text
    assert "snippet6" not in text
    assert '# knowledge graph\n{"The Coarvan of Glusum":{"title"' in text
    assert [step.name for step in reply.trace] == [
        "web", "entities", "tool movie_get_movie_info", "generate",
    ]  # fmt: skip


def test_the_kg_window_is_full_at_its_tokens() -> None:
    names = '{"domain": "movie", "movie_name": "The Coarvan of Glusum"}'
    _, model = ask("crag-task2:model=m,kg_tokens=20", [names, "Anna Bell"])
    kg = prompt(model).partition("# knowledge graph\n")[2].partition("### Answer")[0]
    assert 15 <= count_tokens(kg) <= 20


def test_a_company_is_found_by_name_then_ticker() -> None:
    names = '{"domain": "finance", "market_identifier": "orlan", "metric": "EPS"}'
    reply, model = ask("crag-task2:model=m", [names, "2.5"])
    called = [step.name.removeprefix("tool ") for step in reply.trace if "tool" in step.name]
    assert called == [
        "finance_get_company_name", "finance_get_ticker_by_name", "finance_get_price_history",
        "finance_get_eps",
    ]  # fmt: skip
    assert '{"Orlan Works":2.5}' in prompt(model)


@pytest.mark.parametrize("said", ["no JSON at all", "{", '["a"]', '{"movie_name": {"a": 1}}', ""])
def test_a_model_that_extracts_nothing_still_answers(said: str) -> None:
    reply, model = ask("crag-task2:model=m", [said, "I don't know"])
    assert (reply.text, len(model.calls)) == ("I don't know", 2)


def test_task_3_has_fifty_pages() -> None:
    _, model = ask("crag-task3:model=m", ["{}", "x"])
    assert "snippet50 " in prompt(model)


def test_llm_only_reads_nothing() -> None:
    _, model = ask("crag-llm-only:model=m")
    assert "snippet1" not in prompt(model)
    assert "References" not in prompt(model)


def test_with_kg_tools_the_model_calls_for_itself() -> None:
    call = CallRequest(id="1", name="movie_get_movie_info",
                       arguments='{"movie_name": "Glusum"}')  # fmt: skip
    loose = Tool(name="movie_get_movie_info", description="films",
                 parameters={"type": "object", "properties": {"movie_name": {"type": "string"}}},
                 call=lambda a, at: [FILM])  # fmt: skip
    reply, model = ask("crag-task2:model=m,kg=tools", [(call,), "Anna Bell"], tools=(loose,))
    assert (reply.text, len(model.calls)) == ("Anna Bell", 2)
    assert "snippet5 " in prompt(model, 0)
    assert [message.role for message in model.calls[1]] == ["user", "assistant", "tool"]
    assert '"Anna Bell"' in model.calls[1][-1].text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is the director of The Coarvan of Glusum?", "Anna Bell"),
        ("When was The Coarvan of Glusum released?", "31 July 2026"),
        ("What was the closing share price of Orlan Works on 15 August 2031?", "$14.0"),
        ("What was the closing share price of Orlan Works today?", "$14.2"),
        pytest.param("What is the earnings per share of Orlan Works?", "2.5", id="earnings"),
    ],
)
def test_the_built_in_reader_looks_up_what_the_question_names(question: str, answer: str) -> None:
    query = Query(text=question, query_time=NOW, passages=passages(5))
    reply, _ = ask("crag-task2:reader=builtin", query=query)
    assert (reply.text, reply.trace[1].name) == (answer, "kg")
    assert any(step.name.startswith("tool ") for step in reply.trace[1].steps)
    assert reply.citations[0] in {item.id for item in reply.trace[1].evidence}
    without, _ = ask("crag-task2:reader=builtin,kg=off", query=query)
    assert without.abstained, "without tools, nothing says so"


@pytest.mark.parametrize(
    "spec", ["crag-task2:reader=builtin", "crag-task2:model=m,kg=tools", "crag-task3:model=m"]
)
def test_a_task_with_a_kg_does_not_run_without_one(spec: str) -> None:
    with pytest.raises(SpecError, match=r"add --tools crag-kg:world=mini .* or say kg=off"):
        ask(spec, tools=())
    name, _, options = spec.partition(":")
    reply, model = ask(f"{name}:{options.partition(',')[0]},kg=off", tools=())
    assert not [step for step in reply.trace if step.name == "kg"]
    assert all("knowledge graph" not in message.text for call in model.calls for message in call)


def test_the_built_in_reader_reads_the_pages_of_task_1() -> None:
    page = Passage(id="1.1", title="The Coarvan of Glusum",
                   text="The director of The Coarvan of Glusum is Anna Bell.")  # fmt: skip
    query = Query(
        text="Who is the director of The Coarvan of Glusum?", query_time=NOW, passages=(page,)
    )
    reply, _ = ask("crag-task1:reader=builtin", query=query)
    assert (reply.text, reply.citations) == ("Anna Bell", ("1.1",))


def test_a_kg_that_fails_costs_its_part_of_the_answer() -> None:
    def hangs(_: Any) -> Any:
        raise ServiceTimeout("the KG server did not answer within 2 s.")

    names = '{"movie_name": "Glusum", "market_identifier": "orlan"}'
    broken = (tool("movie_get_movie_info", hangs), *KG[1:])
    reply, model = ask("crag-task2:model=m", [names, "2.5"], tools=broken)
    assert reply.text == "2.5"
    refused = [step.info.get("refused") for step in reply.trace]
    assert "the KG server did not answer within 2 s." in refused
    assert "Orlan Works" in prompt(model)


@pytest.mark.parametrize("junk", [3, "text", [1, None, "x"], {"a": {"b": [{}]}}, [[["x"]]]])
def test_a_kg_that_answers_nonsense_costs_its_part_of_the_answer(junk: Any) -> None:
    nonsense = tuple(tool(one.name, junk) for one in KG)
    names = '{"movie_name": "Glusum", "person": "A", "market_identifier": "orlan"}'
    for spec in ("crag-task2:model=m", "crag-task2:reader=builtin"):
        reply, _ = ask(spec, [names, "I don't know"], tools=nonsense)
        assert reply.text == "I don't know"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("crag-task1", "either model=SPEC or reader=builtin"),
        ("crag-task1:model=m,reader=builtin", "either"),
        ("crag-task2:reader=builtin,kg=maybe", "extract, tools or off"),
        ("crag-task2:reader=builtin,web_tokens=many", "whole number"),
        ("crag-task2:reader=builtin,ocr=off", "ocr"),
        ("crag-task1:reader=builtin,kg=tools", "kg"),
        ("crag-llm-only", "model"),
    ],
)
def test_options_that_cannot_be(spec: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        ask(spec)


def test_results_in_sentences() -> None:
    assert in_sentences("The Coarvan of Glusum", "movie_get_movie_info", FILM).splitlines() == [
        "The title of The Coarvan of Glusum is The Coarvan of Glusum.",
        "The release date of The Coarvan of Glusum is 31 July 2026.",
        "The budget of The Coarvan of Glusum is 31400000.",
        "The director of The Coarvan of Glusum is Anna Bell.",
        "The cast of The Coarvan of Glusum is Bo Carr and Cy Dorn.",
    ]
    games = {
        "date": {"a": "2031-08-10T00:00:00.000"}, "opponent": {"a": "Blue Rovers"},
        "GF": {"a": 2}, "GA": {"a": 0},
    }  # fmt: skip
    assert in_sentences("Red Rovers", "sports_soccer_get_games_on_date", games).splitlines() == [
        "On 10 August 2031, the opponent of Red Rovers was Blue Rovers.",
        "On 10 August 2031, the number of goals of Red Rovers was 2.",
        "On 10 August 2031, the number of goals of Blue Rovers was 0.",
        "On 10 August 2031, the result of Red Rovers was a win.",
    ]


def test_extraction_is_bounded() -> None:
    assert extracted_names('{"person": ["a", "b", "c", "d"], "year": 1999, "x": null}') == {
        "person": ["a", "b", "c"], "year": ["1999"], "x": [],
    }  # fmt: skip
