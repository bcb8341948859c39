"""Questions about films."""

from __future__ import annotations

import datetime as dt

from simulator.world.crag.crag_world import Film
from simulator.world.crag.questions.kg_proof import INVALID, Call, Proof
from simulator.world.crag.questions.templates import Drawn, Occasion, PageNeed, days_of, templates
from simulator.world.facts.fact_wording import say_day, say_list


def _film_call(film: Film, *path: str | int) -> Call:
    return ("movie_get_movie_info", {"movie_name": film.title}, (0, *path))


def _films(s: Occasion, many: int = 1) -> list[Film]:
    return s.draw.sample(s.world.films, many)


def _director(s: Occasion) -> Drawn:
    [film] = _films(s)
    name = s.world.name(film.director)
    return Drawn(
        query=s.draw.pick((f"Who directed {film.title}?", f"Who is the director of {film.title}?")),
        answer=name, value=[name], popularity=film.popularity,
        proof=Proof(calls=(_film_call(film, "crew", "job=Director", "*", "name"),)),
        needs=(PageNeed(film.title, "director"),),
    )  # fmt: skip


def _released(s: Occasion) -> Drawn:
    [film] = _films(s)
    return Drawn(
        query=s.draw.pick((f"When was {film.title} released?",
                           f"What is the release date of {film.title}?")),
        answer=say_day(film.released), others=days_of(film.released), value=film.released,
        popularity=film.popularity, proof=Proof(calls=(_film_call(film, "release_date"),)),
        needs=(PageNeed(film.title, "release date"),),
    )  # fmt: skip


def _film_of_year(s: Occasion) -> Drawn | None:
    [film] = _films(s)
    year, name = film.released[:4], s.world.name(film.director)
    same = [f for f in s.world.films if f.director == film.director and f.released[:4] == year]
    if len(same) > 1:
        return None
    place = [f.id for f in s.world.films if f.director == film.director].index(film.id)
    person = ("movie_get_person_info", {"person_name": name}, (0, "directed_movies", place))
    title = ("movie_get_movie_info_by_id", {"movie_id": {"$": 0}}, ("title",))
    return Drawn(
        query=f"Which film did {name} direct in {year}?", answer=film.title, value=film.title,
        popularity=film.popularity, proof=Proof(calls=(person, title)),
        needs=(PageNeed(film.title, "director"), PageNeed(film.title, "release date")),
    )  # fmt: skip


def _cast(s: Occasion) -> Drawn:
    [film] = _films(s)
    names = [s.world.name(actor) for actor, _ in film.cast]
    return Drawn(
        query=f"Who is in the cast of {film.title}?", answer=say_list(names), value=sorted(names),
        others=(", ".join(names), say_list(names[::-1])), popularity=film.popularity,
        proof=Proof(calls=(_film_call(film, "cast", "*", "name"),), operation="names"),
        needs=(PageNeed(film.title, "cast"),),
    )  # fmt: skip


def _revenues(s: Occasion) -> Drawn:
    films = _films(s, 2)
    best = max(films, key=lambda film: film.revenue)
    a, b = films
    return Drawn(
        query=f"Which film has the higher revenue, {a.title} or {b.title}?",
        answer=best.title, value=best.title, popularity=best.popularity,
        proof=Proof(calls=tuple(_film_call(f, "revenue") for f in films), operation="larger",
                    names=(a.title, b.title)),
        needs=(PageNeed(a.title, "revenue"), PageNeed(b.title, "revenue")),
    )  # fmt: skip


def _directed(s: Occasion) -> Drawn:
    [film] = _films(s)
    name = s.world.name(film.director)
    theirs = [f for f in s.world.films if f.director == film.director]
    return Drawn(
        query=f"How many films has {name} directed so far?", answer=str(len(theirs)),
        value=len(theirs), popularity=s.facts.entity(film.director).popularity,
        proof=Proof(calls=(("movie_get_person_info", {"person_name": name},
                            (0, "directed_movies")),), operation="count"),
        needs=tuple(PageNeed(f.title, "director") for f in theirs),
    )  # fmt: skip


def _directors_birth(s: Occasion) -> Drawn:
    [film] = _films(s)
    name, born = s.world.name(film.director), str(s.facts.value(film.director, "born", s.at))
    director = _film_call(film, "crew", "job=Director", 0, "name")
    return Drawn(
        query=f"When was the director of {film.title} born?", answer=say_day(born),
        others=days_of(born), value=born, popularity=film.popularity,
        proof=Proof(calls=(director, ("movie_get_person_info", {"person_name": {"$": 0}},
                                      (0, "birthday")))),
        needs=(PageNeed(film.title, "director"), PageNeed(name, "date of birth")),
    )  # fmt: skip


def _gap(s: Occasion) -> Drawn | None:
    a, b = _films(s, 2)
    days = abs((dt.date.fromisoformat(a.released) - dt.date.fromisoformat(b.released)).days)
    return None if not days else Drawn(
        query=f"How many days lie between the release dates of {a.title} and {b.title}?",
        answer=f"{days:,} days", others=(f"{days}",), value=days, popularity=a.popularity,
        proof=Proof(calls=(_film_call(a, "release_date"), _film_call(b, "release_date")),
                    operation="days"),
        needs=(PageNeed(a.title, "release date"), PageNeed(b.title, "release date")),
    )  # fmt: skip


def _wrong_director(s: Occasion) -> Drawn:
    [film] = _films(s)
    right = s.world.name(film.director)
    wrong = s.draw.pick([p.name for p in s.world.people if p.name != right])
    return Drawn(
        query=f"In which year did {wrong} direct {film.title}?", answer=INVALID,
        others=(f"{film.title} was directed by {right}, not by {wrong}.",),
        value=right, popularity=film.popularity,
        proof=Proof(calls=(_film_call(film, "crew", "job=Director", 0, "name"),),
                    operation="refuted", claim=wrong),
        needs=(PageNeed(film.title, "director"),),
    )  # fmt: skip


MOVIE = templates(
    "movie",
    ("simple", "static", _director), ("simple", "static", _released),
    ("simple_w_condition", "static", _film_of_year), ("set", "static", _cast),
    ("comparison", "static", _revenues), ("aggregation", "slow-changing", _directed),
    ("multi-hop", "static", _directors_birth), ("post-processing", "static", _gap),
    ("false_premise", "static", _wrong_director),
)  # fmt: skip
"""The templates of the domain."""
