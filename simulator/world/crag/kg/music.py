"""CRAG's music: artists, songs, a weekly chart, Grammys."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mmrag.errors import UsageError
from simulator.world.crag.crag_world import CHART, Artist, CragWorld, Grammy
from simulator.world.crag.kg.name_index import NameIndex

ATTRIBUTES = ("rank_last_week", "weeks_in_chart", "top_position", "rank")


def search_artist(stage: CragWorld, _at: str, artist_name: str) -> list[str]:
    """Artists and bands by name, best match first."""
    return _artists(stage).search(artist_name)


def search_song(stage: CragWorld, _at: str, song_name: str) -> list[str]:
    """Songs by name, best match first."""
    return _songs(stage).search(song_name)


def rank(stage: CragWorld, at: str, rank: int, date: str | None = None) -> Any:
    """Songs and artists of a place: of a Saturday, or of all of them."""
    if not 1 <= rank <= CHART:
        return None, None
    weeks = [week for week in stage.charts if week <= at and date in (None, week)]
    songs = [stage.charts[week][rank - 1] for week in weeks]
    by_song = {song.name: song.artist for song in stage.songs}
    return songs, [by_song[song] for song in songs]


def chart(stage: CragWorld, at: str, date: str, attribute: str, song_name: str) -> str | None:
    """One attribute of a song in the chart of a Saturday, as the text that the public API gives."""
    if attribute not in ATTRIBUTES:
        raise UsageError(f"attribute {attribute[:40]!r}: choose {', '.join(ATTRIBUTES)}.")
    weeks = [week for week in stage.charts if week <= at]
    if date not in weeks or song_name not in stage.charts[date]:
        return None
    places = {w: stage.charts[w].index(song_name) + 1 for w in weeks
              if w <= date and song_name in stage.charts[w]}  # fmt: skip
    if attribute == "rank":
        return str(places[date])
    if attribute == "weeks_in_chart":
        return str(len(places))
    if attribute == "top_position":
        return str(min(places.values()))
    last = weeks.index(date) - 1
    return str(places[weeks[last]]) if last >= 0 and weeks[last] in places else "-"


def best(category: str) -> Callable[..., list[str]]:
    """The endpoint that says who won a category in a year."""

    def of_year(stage: CragWorld, at: str, year: int) -> list[str]:
        return [g.nominee for g in _won(stage, at) if g.category == category and g.year == year]

    return of_year


def count_by_artist(stage: CragWorld, at: str, artist_name: str) -> int:
    """How many awards an artist has won."""
    return sum(g.artist == artist_name for g in _won(stage, at))


def count_by_song(stage: CragWorld, at: str, song_name: str) -> int:
    """How many awards a song has won."""
    return sum(g.nominee == song_name for g in _won(stage, at))


def years_by_artist(stage: CragWorld, at: str, artist_name: str) -> list[int]:
    """The years in which an artist won."""
    return sorted({g.year for g in _won(stage, at) if g.artist == artist_name})


def all_awarded(stage: CragWorld, at: str) -> list[str]:
    """Every Best New Artist, the latest first."""
    new = [g.nominee for g in _won(stage, at) if g.category == "Best New Artist"]
    return list(dict.fromkeys(reversed(new)))


def of_artist(attribute: str) -> Callable[..., Any]:
    """The endpoint that gives an attribute of an artist or a band."""

    def answer(stage: CragWorld, _at: str, artist_name: str) -> Any:
        return getattr(_artist(stage, artist_name), attribute, None)

    return answer


def of_song(attribute: str) -> Callable[..., str | None]:
    """The endpoint that gives an attribute of a song that is out."""

    def answer(stage: CragWorld, at: str, song_name: str) -> str | None:
        found = (s for s in stage.songs if s.name == song_name and s.released <= at)
        return getattr(next(found, None), attribute, None)

    return answer


def members(stage: CragWorld, _at: str, band_name: str) -> list[str] | None:
    """The members of a band."""
    found = _artist(stage, band_name)
    return list(found.members) if found else None


def lifespan(stage: CragWorld, at: str, artist_name: str) -> list[str | None]:
    """Birth and death; nobody of the stage has died."""
    return [of_artist("begin")(stage, at, artist_name), None]


def works(stage: CragWorld, at: str, artist_name: str) -> list[str] | None:
    """The songs of an artist."""
    if _artist(stage, artist_name) is None:
        return None
    return [s.name for s in stage.songs if s.artist == artist_name and s.released <= at]


def _won(stage: CragWorld, at: str) -> list[Grammy]:
    return [grammy for grammy in stage.grammys if grammy.year <= int(at[:4])]


def _artist(stage: CragWorld, name: str) -> Artist | None:
    return next((artist for artist in stage.artists if artist.name == name), None)


@lru_cache(maxsize=4)
def _artists(stage: CragWorld) -> NameIndex:
    return NameIndex(artist.name for artist in stage.artists)


@lru_cache(maxsize=4)
def _songs(stage: CragWorld) -> NameIndex:
    return NameIndex(song.name for song in stage.songs)
