"""CRAG's films: by title, by person, by year, by id."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from mmrag.errors import UsageError
from mmrag.records import Record
from simulator.world.crag.crag_world import FIRST_YEAR, GENRES, CragWorld, Film
from simulator.world.crag.kg.name_index import NameIndex


def person(world: CragWorld, at: str, person_name: str) -> list[dict[str, Any]]:
    """People by name, best match first."""
    known = _known(world)
    return [_person(world, name, at) for name in known.people_by_name.search(person_name)]


def movie(world: CragWorld, at: str, movie_name: str) -> list[dict[str, Any]]:
    """Films by title, best match first."""
    known = _known(world)
    out = [known.films[title] for title in known.titles.search(movie_name)]
    return [_movie(world, film) for film in out if film.released <= at]


def year(world: CragWorld, at: str, year: str) -> dict[str, Any] | None:
    """Films and Oscars of a year."""
    last = int(at[:4])
    if not (len(year) == 4 and year.isdecimal()) or not FIRST_YEAR <= int(year) <= last:
        raise UsageError(f"year {year[:20]!r}: give one between {FIRST_YEAR} and {last}.")
    films = [f for f in world.films if f.released[:4] == year and f.released <= at]
    oscars = [o for f in world.films for o in f.oscars if o.year_ceremony == int(year)]
    return {"movie_list": [f.id for f in films], "oscar_awards": msgspec.to_builtins(oscars)}


def movie_by_id(world: CragWorld, at: str, movie_id: int) -> dict[str, Any] | None:
    """A film by id."""
    found = (f for f in world.films if f.id == movie_id and f.released <= at)
    return next((_movie(world, film) for film in found), None)


def person_by_id(world: CragWorld, at: str, person_id: int) -> dict[str, Any] | None:
    """A person by id."""
    found = (p.name for p in world.people if person_number(p.id) == person_id)
    return next((_person(world, name, at) for name in found), None)


def person_number(entity_id: str) -> int:
    """The id of a person as a number."""
    return 100_000 + int(entity_id.rpartition("-")[2])


class _Known(Record, frozen=True):
    """What is looked up by name."""

    films: dict[str, Film]
    titles: Any
    people: dict[str, str]
    people_by_name: Any


@lru_cache(maxsize=4)
def _known(world: CragWorld) -> _Known:
    films = {film.title: film for film in world.films}
    people = {person.name: person.id for person in world.people}
    return _Known(films, NameIndex(films), people, NameIndex(people))


def _person(world: CragWorld, name: str, at: str) -> dict[str, Any]:
    own = _known(world).people[name]
    out = [f for f in world.films if f.released <= at]
    found: dict[str, Any] = {
        "name": name,
        "id": person_number(own),
        "birthday": world.facts.value(own, "born", at),
        "acted_movies": [f.id for f in out if own in (actor for actor, _ in f.cast)],
        "directed_movies": [f.id for f in out if f.director == own],
    }
    oscars = [o for f in out for o in f.oscars if o.name == name and o.year_ceremony <= int(at[:4])]
    if oscars:
        found["oscar_awards"] = msgspec.to_builtins(oscars)
    return found


def _movie(world: CragWorld, film: Film) -> dict[str, Any]:
    cast = [
        {"name": world.name(actor), "id": person_number(actor), "character": part, "order": order}
        for order, (actor, part) in enumerate(film.cast)
    ]
    director = {
        "name": world.name(film.director), "id": person_number(film.director), "job": "Director",
    }  # fmt: skip
    return {
        "title": film.title,
        "id": film.id,
        "release_date": film.released,
        "original_title": film.title,
        "original_language": film.language,
        "budget": film.budget,
        "revenue": film.revenue,
        "rating": film.rating,
        "genres": [{"id": GENRES.index(genre) + 1, "name": genre} for genre in film.genres],
        "oscar_awards": msgspec.to_builtins(film.oscars),
        "cast": cast,
        "crew": [director],
    }
