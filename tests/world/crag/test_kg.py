"""CRAG's 38 functions over a world: in process, over HTTP, and of a server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx
import pytest
from answering import Answering, answering

from mmrag.errors import ServiceError, ServiceTimeout, SpecError, UsageError
from mmrag.tools import Tool
from simulator.parts.toolboxes import toolboxes
from simulator.world.crag.crag_world import CHART, CragWorld
from simulator.world.crag.kg.endpoints import ENDPOINTS, crag_tools
from simulator.world.crag.kg.remote import server_tools
from simulator.world.facts.generate import generate_facts

PUBLIC = [
    "open_search_entity_by_name", "open_get_entity", "movie_get_person_info",
    "movie_get_movie_info", "movie_get_year_info", "movie_get_movie_info_by_id",
    "movie_get_person_info_by_id", "finance_get_company_name", "finance_get_ticker_by_name",
    "finance_get_price_history", "finance_get_detailed_price_history",
    "finance_get_dividends_history", "finance_get_market_capitalization", "finance_get_eps",
    "finance_get_pe_ratio", "finance_get_info", "music_search_artist_entity_by_name",
    "music_search_song_entity_by_name", "music_get_billboard_rank_date",
    "music_get_billboard_attributes", "music_grammy_get_best_artist_by_year",
    "music_grammy_get_award_count_by_artist", "music_grammy_get_award_count_by_song",
    "music_grammy_get_best_song_by_year", "music_grammy_get_award_date_by_artist",
    "music_grammy_get_best_album_by_year", "music_grammy_get_all_awarded_artists",
    "music_get_artist_birth_place", "music_get_artist_birth_date", "music_get_members",
    "music_get_lifespan", "music_get_song_author", "music_get_song_release_country",
    "music_get_song_release_date", "music_get_artist_all_works", "sports_soccer_get_games_on_date",
    "sports_nba_get_games_on_date", "sports_nba_get_play_by_play_data_by_game_ids"
]  # fmt: skip
"""Table 9 of the paper, under the names of the public Python client."""


@pytest.fixture(scope="module")
def stage() -> CragWorld:
    return CragWorld(generate_facts(7, 300))


@pytest.fixture(scope="module")
def box(stage: CragWorld) -> dict[str, Tool]:
    return {tool.name: tool for tool in crag_tools(stage)}


@pytest.fixture(scope="module")
def early(stage: CragWorld) -> str:
    return f"{stage.today}T07:30"


def test_they_are_the_public_38(box: dict[str, Tool]) -> None:
    assert (list(box), len(PUBLIC)) == (PUBLIC, 38)


def test_a_world_has_one_stage(stage: CragWorld) -> None:
    again = CragWorld(generate_facts(7, 300))
    assert (again.films, again.songs, again.charts) == (stage.films, stage.songs, stage.charts)
    assert (again.shares, again.games) == (stage.shares, stage.games)
    assert CragWorld(generate_facts(8, 300)).films != stage.films
    names = [f.title for f in stage.films] + [s.name for s in stage.songs]
    assert len(set(names)) == len(names)
    assert not [name for name in names if stage.facts.find(name)], "no entity is called so"
    assert len({share.ticker for share in stage.shares}) == len(stage.shares)


def test_films(stage: CragWorld, box: dict[str, Tool]) -> None:
    film = stage.films[0]
    found = box["movie_get_movie_info"].call({"movie_name": film.title}, None)[0]
    assert (found["title"], found["release_date"]) == (film.title, film.released)
    assert found["crew"][0]["name"] == stage.name(film.director)
    director = box["movie_get_person_info"].call({"person_name": found["crew"][0]["name"]}, None)[0]
    assert found["id"] in director["directed_movies"]
    assert director["birthday"] == stage.facts.value(film.director, "born", stage.facts.window[0])
    by_id = box["movie_get_person_info_by_id"].call({"person_id": director["id"]}, None)
    assert by_id == director
    year = box["movie_get_year_info"].call({"year": film.released[:4]}, None)
    assert film.id in year["movie_list"]
    assert box["movie_get_movie_info_by_id"].call({"movie_id": 1}, None) is None
    with pytest.raises(UsageError, match="1990"):
        box["movie_get_year_info"].call({"year": "1812"}, None)


def test_prices_are_those_of_the_fact_base_at_the_time_of_asking(
    stage: CragWorld, box: dict[str, Tool], early: str
) -> None:
    share = stage.shares[0]
    name = stage.name(share.company)
    assert box["finance_get_company_name"].call({"query": name}, early)[0] == name
    ticker = box["finance_get_ticker_by_name"].call({"query": name}, early)
    prices = box["finance_get_price_history"].call({"ticker_name": ticker}, early)
    last = max(prices)
    assert last == f"{stage.today} 00:00:00 EST", "tomorrow is not known"
    assert prices[last]["Close"] == dict(share.closes)[str(stage.today)]
    assert all(bar["Low"] <= min(bar["Open"], bar["Close"]) for bar in prices.values())
    bars = box["finance_get_detailed_price_history"].call({"ticker_name": ticker}, early)
    now = stage.facts.value(share.company, "share", early)
    assert (max(bars), bars[max(bars)]["Close"]) == (f"{stage.today} 07:00:00 EST", now)
    cap = box["finance_get_market_capitalization"].call({"ticker_name": ticker}, early)
    assert cap == pytest.approx(share.outstanding * float(str(now)))
    info = box["finance_get_info"].call({"ticker_name": ticker}, early)
    assert (
        info["companyOfficers"][0]["name"] == stage.facts.target(share.company, "chief", early).name
    )
    assert box["finance_get_eps"].call({"ticker_name": "NONE SUCH"}, early) is None


def test_music(stage: CragWorld, box: dict[str, Tool]) -> None:
    song = stage.songs[0]
    assert box["music_get_song_author"].call({"song_name": song.name}, None) == song.author
    assert song.name in box["music_get_artist_all_works"].call({"artist_name": song.artist}, None)
    week = max(stage.charts)
    songs, artists = box["music_get_billboard_rank_date"].call({"rank": 1, "date": week}, None)
    top = stage.charts[week][0]
    assert (songs, len(artists)) == ([top], 1)
    where = {"date": week, "song_name": top}
    ask = box["music_get_billboard_attributes"].call
    assert ask({**where, "attribute": "rank"}, None) == "1"
    assert ask({**where, "attribute": "top_position"}, None) == "1"
    weeks = sum(top in held for held in stage.charts.values())
    assert ask({**where, "attribute": "weeks_in_chart"}, None) == str(weeks)
    assert box["music_get_billboard_rank_date"].call({"rank": CHART + 1}, None) == (None, None)
    grammy = stage.grammys[0]
    count = box["music_grammy_get_award_count_by_artist"].call({"artist_name": grammy.artist}, None)
    assert count == sum(g.artist == grammy.artist for g in stage.grammys)
    band = stage.artists[-1]
    assert box["music_get_members"].call({"band_name": band.name}, None) == list(band.members)


def test_games_have_a_score_once_they_are_over(stage: CragWorld, box: dict[str, Tool]) -> None:
    game = next(g for g in stage.games if g.sport == "nba" and g.date == str(stage.today))
    ask = {"date": game.date, "team_name": game.home}
    before = box["sports_nba_get_games_on_date"].call(ask, f"{game.date}T08:00")
    after = box["sports_nba_get_games_on_date"].call(ask, f"{game.date}T23:59")
    assert (before["pts_home"], after["pts_home"]) == ({"0": None}, {"0": game.score[0]})
    assert after["wl_home"] == {"0": "W" if game.score[0] > game.score[1] else "L"}
    plays = box["sports_nba_get_play_by_play_data_by_game_ids"].call(
        {"game_ids": [game.id]}, f"{game.date}T23:59"
    )
    assert sum(plays["points"].values()) == sum(game.score)
    assert all(g.score[0] != g.score[1] for g in stage.games if g.sport == "nba")
    match = next(g for g in stage.games if g.sport == "soccer")
    table = box["sports_soccer_get_games_on_date"].call(
        {"date": match.date, "team_name": match.away}, None
    )
    assert list(table["GF"].values()) == [match.score[1]]
    assert box["sports_soccer_get_games_on_date"].call({"date": "1950-01-01"}, None) is None


def test_open_entities_are_the_worlds_own(
    stage: CragWorld, box: dict[str, Tool], early: str
) -> None:
    kettle = stage.facts.of_kind("kettle")[0]
    assert box["open_search_entity_by_name"].call({"query": kettle.name}, early)[0] == kettle.name
    found = box["open_get_entity"].call({"entity": kettle.name}, early)
    used = stage.facts.value(kettle.id, "used", early)
    assert found["summary_structured"]["cheapest second-hand offer"] == f"${used:,.2f}"
    assert box["open_get_entity"].call({"entity": "Excalibur"}, early) is None


def test_every_function_answers_over_http_as_in_process(stage: CragWorld, early: str) -> None:
    import httpx

    from simulator.world.crag.kg.server import kg_app

    song, film, share = stage.songs[0], stage.films[0], stage.shares[0]
    given: dict[str, Any] = {
        "query": stage.name(share.company), "entity": "Excalibur", "year": 2003, "rank": 1,
        "person_name": stage.name(film.director), "movie_name": film.title, "movie_id": film.id,
        "person_id": 100_001, "ticker_name": share.ticker, "artist_name": song.artist,
        "song_name": song.name, "band_name": stage.artists[-1].name, "date": max(stage.charts),
        "attribute": "rank", "game_ids": [stage.games[-1].id],
    }  # fmt: skip

    async def ask_all() -> None:
        transport = httpx.ASGITransport(app=kg_app(stage))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for tool in crag_tools(stage):
                endpoint = ENDPOINTS[tool.name]
                arguments = {name: given[name] for name in endpoint.parameters["required"]}
                if tool.name == "movie_get_year_info":
                    arguments = {"year": "2003"}
                body = {endpoint.wire[name]: value for name, value in arguments.items()}
                said = await client.post(endpoint.path, json=body, headers={"query-time": early})
                assert said.status_code == 200, tool.name
                here = json.loads(json.dumps(tool.call(arguments, early)))
                assert said.json() == {"result": here}, tool.name
            wrong = await client.post("/finance/get_eps", json={"ticker": "A"})
            assert wrong.status_code == 422
            assert "ticker_name" in wrong.json()["detail"]
            assert (await client.post("/finance/get_eps", content=b"{")).status_code == 422
            by_text = await client.post("/movie/get_movie_info_by_id", json={"query": "1000"})
            assert by_text.json()["result"]["id"] == 1000

    asyncio.run(ask_all())


def eps_of(server: Answering, seconds: float = 5.0) -> Any:
    tools = {tool.name: tool for tool in server_tools(f"{server.url}/", seconds)}
    return tools["finance_get_eps"].call({"ticker_name": "ABC"}, "2031-01-01T10:00")


def test_a_server_of_ones_own_is_asked_as_the_public_client_does() -> None:
    with answering(b'{"result": 22.95}') as server:
        assert eps_of(server) == 22.95
    (asked,) = server.asked
    assert (asked.path, json.loads(asked.body)) == ("/finance/get_eps", {"query": "ABC"})
    assert asked.headers["query-time"] == "2031-01-01T10:00"


@pytest.mark.parametrize(
    ("how", "kind", "says"),
    [
        (b"{", ServiceError, "not JSON"), (b"[1, 2]", ServiceError, "no 'result'"),
        ((422, b'{"detail": "x"}'), ServiceError, "HTTP 422"),
        ((500, b"Internal Server Error"), ServiceError, "HTTP 500"),
        (b" " * (9 << 20), ServiceError, "larger than"), (b"[" * 100_000, ServiceError, "not JSON"),
        (lambda _: time.sleep(60) or b"{}", ServiceTimeout, "did not answer within 0.3 s"),
    ],
    ids=range(7),
)  # fmt: skip
def test_a_server_that_misbehaves_costs_the_call(
    how: Any, kind: type[Exception], says: str
) -> None:
    with answering(how) as server, pytest.raises(kind, match=says):  # who hangs is not waited for
        eps_of(server, seconds=0.3 if callable(how) else 5.0)


def test_a_server_that_is_not_there() -> None:
    tools = {tool.name: tool for tool in server_tools("http://127.0.0.1:9")}
    with pytest.raises(ServiceError, match="is it running"):
        tools["finance_get_eps"].call({"ticker_name": "ABC"}, None)
    with pytest.raises(SpecError, match="http://127"):
        server_tools("127.0.0.1:8000")


@pytest.mark.parametrize(
    "spec",
    ["url=http://127.0.0.1:99999", "url=http://", "url=http://[::1", "url=http://127.0.0.1:x",
     "url=ftp://a", "url=http://127.0.0.1:9,seconds=nan", "url=http://127.0.0.1:9,seconds=-1",
     "url=http://127.0.0.1:9,seconds=0", "url=http://127.0.0.1:9,seconds=1e9",
     "url=http://127.0.0.1:9,seconds=soon"],
)  # fmt: skip
def test_a_server_that_cannot_be_is_refused_in_words(spec: str) -> None:
    with pytest.raises(SpecError, match=r"as in http://127|how long a call may take|not a number"):
        toolboxes.create(f"crag-kg:{spec}")


@pytest.mark.parametrize("when", ["x", "", "2031-13-01", "2031-08-16T10:04:54Z", "0001-01-01",
                                  "20310816", "9999-12-31T23:59:59", "99" * 500])  # fmt: skip
def test_any_time_of_asking_is_answered_or_refused(stage: CragWorld, when: str) -> None:
    from simulator.world.crag.kg.server import kg_app

    asked = {
        "/movie/get_movie_info": {"query": stage.films[0].title},
        "/movie/get_person_info": {"query": stage.name(stage.films[0].director)},
        "/movie/get_year_info": {"query": "2003"},
        "/music/grammy_get_best_artist_by_year": {"query": 2003},
        "/finance/get_price_history": {"query": stage.shares[0].ticker},
        "/finance/get_detailed_price_history": {"query": stage.shares[0].ticker},
        "/finance/get_info": {"query": stage.shares[0].ticker},
        "/open/get_entity": {"query": stage.name(stage.shares[0].company)},
        "/sports/nba/get_games_on_date": {"date": "2031"},
    }

    async def ask_all() -> None:
        transport = httpx.ASGITransport(app=kg_app(stage), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for path, body in asked.items():
                said = await client.post(path, json=body, headers={"query-time": when})
                assert said.status_code in (200, 400), (path, said.text)
                if when in ("x", "2031-13-01", "0001-01-01"):
                    assert said.status_code == 400
                    assert "as in 2031-08-16T10:04:54" in said.json()["detail"]

    asyncio.run(ask_all())


def test_a_time_in_another_spelling_is_the_same_time(
    stage: CragWorld, box: dict[str, Tool]
) -> None:
    call, given = (
        box["finance_get_detailed_price_history"].call,
        {"ticker_name": stage.shares[0].ticker},
    )
    day = str(stage.today).replace("-", "")
    assert call(given, f"{day}T0730") == call(given, f"{stage.today}T07:30:00Z")
    assert call(given, f"{day}T0730") == call(given, f"{stage.today}T07:30")


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 200), ("127.0.0.1:8731", 200), ("[::1]:80", 200), ("lab.example", 200),
     ("evil.example", 400), ("localhost.evil.example", 400), ("", 400)],
)  # fmt: skip
def test_only_its_own_names_are_answered(stage: CragWorld, host: str, status: int) -> None:
    """A page elsewhere whose name is made to resolve to this machine is refused."""
    from simulator.world.crag.kg.server import kg_app

    async def ask_it() -> int:
        transport = httpx.ASGITransport(app=kg_app(stage, ["Lab.example"]))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            asked = await client.post(
                "/movie/get_movie_info", json={"query": "a"},
                headers={"host": host, "origin": f"http://{host}"},
            )  # fmt: skip
            return asked.status_code

    assert asyncio.run(ask_it()) == status


def test_boxes_by_name() -> None:
    box = toolboxes.create("crag-kg:world=mini")
    assert len(box.tools) == 38
    assert len(toolboxes.create("world").tools) == 84
    assert box.fingerprint != toolboxes.create("world").fingerprint
    with pytest.raises(SpecError, match="not both"):
        toolboxes.create("crag-kg:world=mini,url=http://x")
    with pytest.raises(SpecError, match="no toolbox"):
        toolboxes.create("crag")


def test_the_command_serves_it_until_it_is_ended() -> None:
    import subprocess
    import sys
    import urllib.request

    command = [sys.executable, "-m", "simulator.cli", "serve", "--crag-kg", "mini", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url = process.stderr.readline().split(" at ")[1].split(";")[0]
            with urllib.request.urlopen(url, timeout=10) as answer:
                assert b"fictional world" in answer.read()
            tools = {tool.name: tool for tool in server_tools(url)}
            here = {tool.name: tool for tool in toolboxes.create("crag-kg").tools}
            name = here["finance_get_company_name"].call({"query": "Group"}, None)
            assert name
            assert tools["finance_get_company_name"].call({"query": "Group"}, None) == name
        finally:
            process.terminate()
