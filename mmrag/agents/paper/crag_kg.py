"""CRAG's KG asked by name: for the entities of a question, all functions that apply are called.

It works with whatever answers to the names of CRAG's functions: a world's, or a server's. What
they give is kept twice: as JSON for a model's window, and in sentences for the built-in reader.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from mmrag.agents.paper.kg_sentences import in_sentences
from mmrag.agents.trace import Trace
from mmrag.errors import Denied, MmragError, error_text
from mmrag.records import Evidence
from mmrag.tools import Tool

MOST_CALLS = 50
SECONDS = 30.0
_MOST_NAMES = 3
"""Of one kind, in one question."""
_MOST_FILMS = 12
"""Of a person, whose titles are looked up."""

Names = dict[str, list[str]]
"""Key of the extraction prompt → what the model wrote."""


def extracted_names(said: str) -> Names:
    """What a model extracted, if it is JSON at all: flat, texts or lists of texts.

    >>> extracted_names('Sure: {"domain": "movie", "movie_name": ["A", "B"]}')
    {'domain': ['movie'], 'movie_name': ['A', 'B']}
    """
    found = re.search(r"\{.*\}", said, re.S)
    try:
        given: object = msgspec.json.decode(found[0]) if found else {}
    except (msgspec.DecodeError, RecursionError):
        return {}
    names: Names = {}
    for key, value in cast("dict[str, object]", given).items():
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        texts = [str(one).strip() for one in items if isinstance(one, str | int)]
        names[key] = [text for text in texts if text][:_MOST_NAMES]
    return names


class KgLookup:
    """The KG of one question. As a search it finds what is named in a query (`search_text`)."""

    def __init__(self, tools: Sequence[Tool], at: str | None, trace: Trace) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._at = at
        self._trace = trace
        self._left = MOST_CALLS
        self._end = time.monotonic() + SECONDS
        self._done: dict[str, Any] = {}
        self._looked_up: set[tuple[str, str]] = set()
        self.found: list[Evidence] = []
        """Everything found so far, in sentences."""
        self.raw: list[str] = []
        """The same as JSON."""

    def extracted(self, names: Names) -> list[str]:
        """What applies to the entities that a model extracted, as JSON, one line a result."""
        movies, people = names.get("movie_name", []), names.get("person", [])
        for name in movies:
            self._movies(name, lambda _title: True, most=1)
        for name in people:
            self._people(name, lambda _name: True, most=1)
        for year in names.get("year", []):
            self._keep(f"films of {year}", "movie_get_year_info", year=year[:4])
        for name in names.get("market_identifier", []):
            best = self._names("finance_get_company_name", query=name)
            ticker = self._call("finance_get_ticker_by_name", query=best[0]) if best else None
            self._share(best[0] if ticker else name, str(ticker or name))
        for name in names.get("artist_name", []):
            for best in (self._call("music_search_artist_entity_by_name", artist_name=name) or [])[
                :1
            ]:
                self._artist(best)
        for name in names.get("song_name", []):
            for best in (self._call("music_search_song_entity_by_name", song_name=name) or [])[:1]:
                self._song(best)
        for team in names.get("team", []):
            for day in names.get("datetime", []) or [(self._at or "")[:10]]:
                self.games(team, day)
        for name in names.get("main_entity", []):
            for best in self._names("open_search_entity_by_name", query=name)[:1]:
                self._entity(best)
        return self.raw

    def games(self, team: str, day: str) -> None:
        """The games of a team on a day; teams cannot be searched by name."""
        for tool in ("sports_soccer_get_games_on_date", "sports_nba_get_games_on_date"):
            self._keep(team, tool, date=day[:10], team_name=team)

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """What the KG knows of the entities whose names stand in each query."""
        del k
        return [tuple(self._named_in(query)) for query in queries]

    def _named_in(self, query: str) -> list[Evidence]:
        before = len(self.found)
        text = _folded(query)

        def stands(name: object) -> bool:
            return isinstance(name, str) and len(name) > 3 and f" {_folded(name)} " in f" {text} "

        self._movies(query, stands)
        self._people(query, stands)
        for name in filter(stands, self._names("finance_get_company_name", query=query)):
            self._share(name, str(self._call("finance_get_ticker_by_name", query=name)))
        artists = self._names("music_search_artist_entity_by_name", artist_name=query)
        for name in filter(stands, artists):
            self._artist(name)
        songs = self._names("music_search_song_entity_by_name", song_name=query)
        for name in filter(stands, songs):
            self._song(name)
        for name in filter(stands, self._names("open_search_entity_by_name", query=query)):
            self._entity(name)
        return self.found[before:]

    def _movies(self, query: str, wanted: Callable[[object], bool], most: int = 9) -> None:
        films = self._records("movie_get_movie_info", movie_name=query)
        for film in [f for f in films if wanted(f.get("title"))][:most]:
            self._add(str(film.get("title")), "movie_get_movie_info", film)

    def _people(self, query: str, wanted: Callable[[object], bool], most: int = 9) -> None:
        people = self._records("movie_get_person_info", person_name=query)
        for person in [p for p in people if wanted(p.get("name"))][:most]:
            shown = dict(person)
            for key in ("acted_movies", "directed_movies"):
                films = person.get(key)
                if isinstance(films, list):
                    shown[key] = self._titles(cast("list[object]", films)[:_MOST_FILMS])
            self._add(str(person.get("name")), "movie_get_person_info", shown)

    def _titles(self, ids: Sequence[object]) -> list[str]:
        found = [self._call("movie_get_movie_info_by_id", movie_id=number) for number in ids]
        films = [cast("dict[str, object]", film) for film in found if isinstance(film, dict)]
        return [str(film["title"]) for film in films if "title" in film]

    def _share(self, name: str, ticker: str) -> None:
        for tool in _OF_SHARES:
            self._keep(name, tool, ticker_name=ticker)

    def _artist(self, name: str) -> None:
        for tool in _OF_ARTISTS:
            argument = "band_name" if tool == "music_get_members" else "artist_name"
            self._keep(name, tool, **{argument: name})

    def _song(self, name: str) -> None:
        for tool in _OF_SONGS:
            self._keep(name, tool, song_name=name)

    def _entity(self, name: str) -> None:
        self._keep(name, "open_get_entity", entity=name)

    def _keep(self, name: str, tool: str, **arguments: Any) -> None:
        self._add(name, tool, self._call(tool, **arguments))

    def _add(self, name: str, tool: str, result: Any) -> None:
        key = (name, tool)
        if result in (None, [], {}) or key in self._looked_up:
            return
        self._looked_up.add(key)
        self.raw.append(msgspec.json.encode({name: result}).decode())
        text = in_sentences(name, tool, result)
        if text:
            item = Evidence(source="kg", id=f"{tool}({name})", score=1.0, title=name, text=text)
            self.found.append(item)

    def _names(self, name: str, **arguments: Any) -> list[str]:
        """A list of names; what else a server may send is left out."""
        found = self._call(name, **arguments)
        items = cast("list[object]", found) if isinstance(found, list) else []
        return [item for item in items if isinstance(item, str)]

    def _records(self, name: str, **arguments: Any) -> list[dict[str, Any]]:
        """A list of objects; what else a server may send is left out."""
        found = self._call(name, **arguments)
        items = cast("list[object]", found) if isinstance(found, list) else []
        return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]

    def _call(self, name: str, **arguments: Any) -> Any:
        """What a function gives; None where it is missing, refuses, fails, or no more is asked."""
        key = f"{name} {arguments}"
        if key in self._done:
            return self._done[key]
        tool = self._tools.get(name)
        if tool is None or self._left <= 0 or time.monotonic() > self._end:
            return None
        self._left -= 1
        with self._trace.step(f"tool {name}") as step:
            step.info["arguments"] = str(arguments)
            result = None
            try:
                result = tool.call(arguments, self._at)
                step.info["gave"] = msgspec.json.encode(result).decode()[:2000]
            except Denied:
                raise
            except MmragError as error:
                step.info["refused"] = str(error)
            except Exception as error:  # a tool may be anybody's
                step.info["refused"] = error_text(error)
        self._done[key] = result
        return result


_OF_SHARES = (
    "finance_get_info", "finance_get_price_history", "finance_get_detailed_price_history",
    "finance_get_dividends_history", "finance_get_market_capitalization", "finance_get_eps",
    "finance_get_pe_ratio",
)  # fmt: skip
_OF_ARTISTS = (
    "music_get_artist_birth_date", "music_get_artist_birth_place", "music_get_members",
    "music_grammy_get_award_count_by_artist", "music_grammy_get_award_date_by_artist",
    "music_get_artist_all_works",
)  # fmt: skip
_OF_SONGS = (
    "music_get_song_author", "music_get_song_release_date", "music_get_song_release_country",
    "music_grammy_get_award_count_by_song",
)  # fmt: skip


def _folded(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
