"""The 38 functions of CRAG's mock API, answered over a fictional world as of the time of asking.

Names, arguments and the shapes of answers are those of the public server, so that an agent written
for it finds what it knows. Where the world is another (its countries have invented codes, its
towns are birthplaces, bars are hourly and run around the clock) docs/crag.md says so.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from mmrag.errors import UsageError
from mmrag.records import Json, Record
from mmrag.tools import Tool
from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.kg import finance, movie, music, open_domain, sports

Answer = Callable[..., Any]
"""(stage, at, *arguments) → what stands under `result`."""


class Endpoint(Record, frozen=True, kw_only=True):
    """One function: as a model is told of it, and as the public server is asked."""

    name: str
    path: str
    description: str
    parameters: Json
    """JSON schema by the names of the public Python client."""
    wire: dict[str, str]
    """Argument → field of the request."""


def crag_tools(stage: CragWorld) -> tuple[Tool, ...]:
    """The functions over one world, as an agent is given them."""

    def tool(endpoint: Endpoint) -> Tool:
        def call(arguments: dict[str, Any], at: str | None) -> Any:
            return ask(stage, endpoint, arguments, at)

        return Tool(name=endpoint.name, description=endpoint.description,
                    parameters=endpoint.parameters, call=call)  # fmt: skip

    return tuple(tool(endpoint) for endpoint in ENDPOINTS.values())


def ask(stage: CragWorld, endpoint: Endpoint, arguments: dict[str, Any], at: str | None) -> Any:
    """What an endpoint answers at a time; without one, at the last moment of the world."""
    when = _time(at) if at else stage.facts.window[1]
    return _ANSWERS[endpoint.name](stage, when, **arguments)


def _time(text: str) -> str:
    """A time as all of the world's are written, which are compared as texts; the zone is let go."""
    try:
        found = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        found = None
    if found is None or not 1900 <= found.year < 2200:  # days are counted back and on from there
        raise UsageError(
            f"the time of asking {text[:40]!r} cannot be; write it as in 2031-08-16T10:04:54."
        )
    return found.replace(tzinfo=None).isoformat()


def _endpoint(path: str, description: str, *arguments: str, answer: Answer) -> Endpoint:
    """`arguments`: "name", "name:integer", "name=field of the request", "name?" for one that may
    be left out; what is written stands in this order."""
    name = path.strip("/").replace("/", "_")
    properties: Json = {}
    required: list[str] = []
    wire: dict[str, str] = {}
    for argument in arguments:
        left, _, field = argument.partition("=")
        word, _, kind = left.partition(":")
        key = word.rstrip("?")
        if not word.endswith("?"):
            required.append(key)
        wire[key] = field or key
        properties[key] = (
            {"type": "array", "items": {"type": "string"}}
            if kind == "list" else {"type": kind or "string"}
        )  # fmt: skip
        if key == "date":
            properties[key]["description"] = "YYYY-MM-DD"
    _ANSWERS[name] = answer
    schema: Json = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return Endpoint(name=name, path=path, description=description, parameters=schema, wire=wire)


_ANSWERS: dict[str, Answer] = {}

_TICKER = "ticker_name=query"
_ARTIST = "artist_name=query"
_SONG = "song_name=query"
_YEAR = "year:integer=query"

_ALL = (
    _endpoint("/open/search_entity_by_name", "Search for entities by name in the open domain: "
              "up to 10 names.", "query", answer=open_domain.search),
    _endpoint("/open/get_entity", "Everything known about an entity of the open domain, by its "
              "exact name: a summary, and a table.", "entity=query", answer=open_domain.entity),
    _endpoint("/movie/get_person_info", "People of films by name, best match first: birthday, "
              "films acted in and directed (ids), Oscars.", "person_name=query",
              answer=movie.person),
    _endpoint("/movie/get_movie_info", "Films by title, best match first: release date, cast, "
              "crew, budget, revenue, rating, genres, language, Oscars.", "movie_name=query",
              answer=movie.movie),
    _endpoint("/movie/get_year_info", "The ids of the films of a year, and the Oscars given in "
              "it.", "year=query", answer=movie.year),
    _endpoint("/movie/get_movie_info_by_id", "A film by its id.", "movie_id:integer=query",
              answer=movie.movie_by_id),
    _endpoint("/movie/get_person_info_by_id", "A person of films by id.",
              "person_id:integer=query", answer=movie.person_by_id),
    _endpoint("/finance/get_company_name", "Search for company names: up to 10.", "query",
              answer=finance.names),
    _endpoint("/finance/get_ticker_by_name", "The ticker symbol of a company, by its exact name.",
              "query", answer=finance.ticker),
    _endpoint("/finance/get_price_history", "Daily open, high, low, close and volume of a "
              "ticker.", _TICKER, answer=finance.prices),
    _endpoint("/finance/get_detailed_price_history", "Open, high, low, close and volume of a "
              "ticker in the last days, bar by bar; the last bar is now.", _TICKER,
              answer=finance.bars),
    _endpoint("/finance/get_dividends_history", "The dividends of a ticker by day.", _TICKER,
              answer=finance.dividends),
    _endpoint("/finance/get_market_capitalization", "The market capitalization of a ticker, in "
              "dollars.", _TICKER, answer=finance.market_cap),
    _endpoint("/finance/get_eps", "The earnings per share of a ticker.", _TICKER,
              answer=finance.eps),
    _endpoint("/finance/get_pe_ratio", "The price-to-earnings ratio of a ticker.", _TICKER,
              answer=finance.pe_ratio),
    _endpoint("/finance/get_info", "What is known about the company behind a ticker: city, chief "
              "executive, employees, revenue, industry.", _TICKER, answer=finance.info),
    _endpoint("/music/search_artist_entity_by_name", "Search for artists and bands by name.",
              _ARTIST, answer=music.search_artist),
    _endpoint("/music/search_song_entity_by_name", "Search for songs by name.", _SONG,
              answer=music.search_song),
    _endpoint("/music/get_billboard_rank_date", "The song and the artist on a place of the "
              "chart, on the Saturday of a week; on all Saturdays without a date.",
              "rank:integer", "date?", answer=music.rank),
    _endpoint("/music/get_billboard_attributes", "A song's rank_last_week, weeks_in_chart, "
              "top_position or rank in the chart of a Saturday.", "date", "attribute", "song_name",
              answer=music.chart),
    _endpoint("/music/grammy_get_best_artist_by_year", "The Grammy Best New Artist of a year.",
              _YEAR, answer=music.best("Best New Artist")),
    _endpoint("/music/grammy_get_award_count_by_artist", "How many Grammys an artist has won.",
              _ARTIST, answer=music.count_by_artist),
    _endpoint("/music/grammy_get_award_count_by_song", "How many Grammys a song has won.", _SONG,
              answer=music.count_by_song),
    _endpoint("/music/grammy_get_best_song_by_year", "The Grammy Song of the Year of a year.",
              _YEAR, answer=music.best("Song Of The Year")),
    _endpoint("/music/grammy_get_award_date_by_artist", "The years in which an artist won "
              "Grammys.", _ARTIST, answer=music.years_by_artist),
    _endpoint("/music/grammy_get_best_album_by_year", "The Grammy Album of the Year of a year.",
              _YEAR, answer=music.best("Album Of The Year")),
    _endpoint("/music/grammy_get_all_awarded_artists", "All artists who were Grammy Best New "
              "Artist.", answer=music.all_awarded),
    _endpoint("/music/get_artist_birth_place", "The country code of an artist.", _ARTIST,
              answer=music.of_artist("country")),
    _endpoint("/music/get_artist_birth_date", "The birth date of an artist, or the year in which "
              "a band began.", _ARTIST, answer=music.of_artist("begin")),
    _endpoint("/music/get_members", "The members of a band.", "band_name=query",
              answer=music.members),
    _endpoint("/music/get_lifespan", "The dates of birth and death of an artist.", _ARTIST,
              answer=music.lifespan),
    _endpoint("/music/get_song_author", "The author of a song.", _SONG,
              answer=music.of_song("author")),
    _endpoint("/music/get_song_release_country", "The country code in which a song was "
              "released.", _SONG, answer=music.of_song("country")),
    _endpoint("/music/get_song_release_date", "The release date of a song.", _SONG,
              answer=music.of_song("released")),
    _endpoint("/music/get_artist_all_works", "All songs of an artist.", _ARTIST,
              answer=music.works),
    _endpoint("/sports/soccer/get_games_on_date", "Soccer games on a date (YYYY-MM-DD, YYYY-MM or "
              "YYYY), of one team or of all: goals for (GF) and against (GA), venue, result.",
              "date", "team_name?", answer=sports.soccer),
    _endpoint("/sports/nba/get_games_on_date", "NBA games on a date (YYYY-MM-DD, YYYY-MM or "
              "YYYY), of one team or of all: teams and points at home and away.",
              "date", "team_name?", answer=sports.nba),
    _endpoint("/sports/nba/get_play_by_play_data_by_game_ids", "Every basket of NBA games, by "
              "their ids.", "game_ids:list", answer=sports.plays),
)  # fmt: skip

ENDPOINTS: dict[str, Endpoint] = {endpoint.name: endpoint for endpoint in _ALL}
"""All 38 by name."""
