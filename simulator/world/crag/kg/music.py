"""CRAG's music: artists, songs, a weekly chart, Grammys."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mmrag.errors import UsageError
from simulator.world.crag.crag_world import CHART, Artist, CragWorld, Grammy
from simulator.world.crag.kg.name_index import NameIndex

ATTRIBUTES = ("rank_last_week", "weeks_in_chart", "top_position", "rank")


def search_artist(world: CragWorld, _at: str, artist_name: str) -> list[str]:
    """Artists and bands by name, best match first."""
    return _artists(world).search(artist_name)


def search_song(world: CragWorld, _at: str, song_name: str) -> list[str]:
    """Songs by name, best match first."""
    return _songs(world).search(song_name)


def rank(world: CragWorld, at: str, rank: int, date: str | None = None) -> Any:
    """Songs and artists of a place: of a Saturday, or of all of them."""
    if not 1 <= rank <= CHART:
        return None, None
    weeks = [week for week in world.charts if week <= at and date in (None, week)]
    songs = [world.charts[week][rank - 1] for week in weeks]
    by_song = {song.name: song.artist for song in world.songs}
    return songs, [by_song[song] for song in songs]


def chart(world: CragWorld, at: str, date: str, attribute: str, song_name: str) -> str | None:
    """One attribute of a song in the chart of a Saturday, as the text that the public API gives."""
    if attribute not in ATTRIBUTES:
        raise UsageError(f"attribute {attribute[:40]!r}: choose {', '.join(ATTRIBUTES)}.")
    weeks = [week for week in world.charts if week <= at]
    if date not in weeks or song_name not in world.charts[date]:
        return None
    places = {w: world.charts[w].index(song_name) + 1 for w in weeks
              if w <= date and song_name in world.charts[w]}  # fmt: skip
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

    def of_year(world: CragWorld, at: str, year: int) -> list[str]:
        return [g.nominee for g in _won(world, at) if g.category == category and g.year == year]

    return of_year


def count_by_artist(world: CragWorld, at: str, artist_name: str) -> int:
    """How many awards an artist has won."""
    return sum(g.artist == artist_name for g in _won(world, at))


def count_by_song(world: CragWorld, at: str, song_name: str) -> int:
    """How many awards a song has won."""
    return sum(g.nominee == song_name for g in _won(world, at))


def years_by_artist(world: CragWorld, at: str, artist_name: str) -> list[int]:
    """The years in which an artist won."""
    return sorted({g.year for g in _won(world, at) if g.artist == artist_name})


def all_awarded(world: CragWorld, at: str) -> list[str]:
    """Every Best New Artist, the latest first."""
    new = [g.nominee for g in _won(world, at) if g.category == "Best New Artist"]
    return list(dict.fromkeys(reversed(new)))


def of_artist(attribute: str) -> Callable[..., Any]:
    """The endpoint that gives an attribute of an artist or a band."""

    def answer(world: CragWorld, _at: str, artist_name: str) -> Any:
        return getattr(_artist(world, artist_name), attribute, None)

    return answer


def of_song(attribute: str) -> Callable[..., str | None]:
    """The endpoint that gives an attribute of a song that is out."""

    def answer(world: CragWorld, at: str, song_name: str) -> str | None:
        found = (s for s in world.songs if s.name == song_name and s.released <= at)
        return getattr(next(found, None), attribute, None)

    return answer


def members(world: CragWorld, _at: str, band_name: str) -> list[str] | None:
    """The members of a band."""
    found = _artist(world, band_name)
    return list(found.members) if found else None


def lifespan(world: CragWorld, at: str, artist_name: str) -> list[str | None]:
    """Birth and death; nobody of the stage has died."""
    return [of_artist("begin")(world, at, artist_name), None]


def works(world: CragWorld, at: str, artist_name: str) -> list[str] | None:
    """The songs of an artist."""
    if _artist(world, artist_name) is None:
        return None
    return [s.name for s in world.songs if s.artist == artist_name and s.released <= at]


def _won(world: CragWorld, at: str) -> list[Grammy]:
    return [grammy for grammy in world.grammys if grammy.year <= int(at[:4])]


def _artist(world: CragWorld, name: str) -> Artist | None:
    return next((artist for artist in world.artists if artist.name == name), None)


@lru_cache(maxsize=4)
def _artists(world: CragWorld) -> NameIndex:
    return NameIndex(artist.name for artist in world.artists)


@lru_cache(maxsize=4)
def _songs(world: CragWorld) -> NameIndex:
    return NameIndex(song.name for song in world.songs)
