"""Lines about an entity of the stage at a time: what its web pages are made of."""

from __future__ import annotations

import datetime as dt
from typing import NamedTuple

from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.kg.finance import market_cap, pe_ratio
from simulator.world.crag.kg.sports import is_over
from simulator.world.facts.fact_wording import say_day, say_list, say_value


class SheetLine(NamedTuple):
    """One thing that holds: "The {noun} of {name} is {text}", as of a day where it changes."""

    noun: str
    text: str
    day: str = ""


def entity_lines(world: CragWorld, name: str, at: str) -> list[SheetLine]:
    """Everything that pages may say of what is called so; empty for a name that nobody has."""
    return [
        *_film(world, name),
        *_music(world, name, at),
        *_share(world, name, at),
        *_team(world, name, at),
        *_entity(world, name, at),
    ]


def money(value: float) -> str:
    """Dollars and cents, or whole dollars where they are many."""
    return f"${value:,.0f}" if value >= 100_000 else f"${value:,.2f}"


def _film(world: CragWorld, name: str) -> list[SheetLine]:
    found = next((film for film in world.films if film.title == name), None)
    if found is None:
        return []
    cast = [world.name(actor) for actor, _ in found.cast]
    won = sum(oscar.winner for oscar in found.oscars)
    return [
        SheetLine("director", world.name(found.director)),
        SheetLine("release date", say_day(found.released)),
        SheetLine("cast", say_list(cast)),
        SheetLine("budget", money(found.budget)),
        SheetLine("revenue", money(found.revenue)),
        SheetLine("rating", f"{found.rating:g} out of 10"),
        SheetLine("genre", say_list([genre.lower() for genre in found.genres])),
        SheetLine("number of Oscars", str(won)),
    ]


def _music(world: CragWorld, name: str, at: str) -> list[SheetLine]:
    lines: list[SheetLine] = []
    for song in (s for s in world.songs if s.name == name):
        lines += [
            SheetLine("author", song.author),
            SheetLine("artist", song.artist),
            SheetLine("release date", say_day(song.released)),
            SheetLine("album", song.album),
            SheetLine("release country", song.country),
        ]
        for week, songs in world.charts.items():
            if week <= at and name in songs:
                lines.append(SheetLine("place in the chart", str(songs.index(name) + 1), week))
    for artist in (a for a in world.artists if a.name == name):
        won = [g for g in world.grammys if g.artist == name and g.year <= int(at[:4])]
        songs = [s.name for s in world.songs if s.artist == name and s.released <= at]
        lines += [
            SheetLine("number of Grammy awards", str(len(won))),
            SheetLine("songs", say_list(songs)),
        ]
        if artist.members:
            lines.append(SheetLine("members", say_list(artist.members)))
            lines.append(SheetLine("founding year", artist.begin))
    return lines


def _share(world: CragWorld, name: str, at: str) -> list[SheetLine]:
    found = next((s for s in world.shares if world.name(s.company) == name), None)
    if found is None:
        return []
    day = at[:10]
    cap = market_cap(world, at, found.ticker) or 0.0
    paid = [(on, sum_) for on, sum_ in found.dividends if on <= at]
    closes = found.closes_by(at)[-3:]
    return [
        SheetLine("ticker", found.ticker),
        *(SheetLine("closing share price", money(price), on) for on, price in closes),
        SheetLine("market capitalization", money(cap), day),
        SheetLine("price-to-earnings ratio", f"{pe_ratio(world, at, found.ticker):g}", day),
        SheetLine("earnings per share", f"${found.eps:,.2f}"),
        *([SheetLine("dividend", f"${sum_:,.2f} a share", on) for on, sum_ in paid[-2:]]
          or [SheetLine("dividend", "nothing so far")]),
    ]  # fmt: skip


def _team(world: CragWorld, name: str, at: str) -> list[SheetLine]:
    lines: list[SheetLine] = []
    for game in world.games:
        if name in (game.home, game.away) and is_over(game, at):
            own = game.score[0] if game.home == name else game.score[1]
            other = game.away if game.home == name else game.home
            scored = "goals" if game.sport == "soccer" else "points"
            lines.append(SheetLine("opponent", other, game.date))
            lines.append(SheetLine(f"number of {scored}", str(own), game.date))
    return lines


def _entity(world: CragWorld, name: str, at: str) -> list[SheetLine]:
    facts, lines = world.facts, list[SheetLine]()
    for entity in (e for e in facts.find(name) if e.name == name):
        for attribute in facts.attributes(entity.id):
            text = say_value(attribute, facts.value(entity.id, attribute.key, at), facts)
            day = "" if attribute.dynamism == "static" else at[:10]
            lines.append(SheetLine(attribute.noun, text, day))
    return lines


def earlier_time(world: CragWorld, at: str) -> str:
    """A time before the question at which what changes was otherwise; as far as facts go back."""
    day = dt.date.fromisoformat(at[:10]) - dt.timedelta(days=1)
    return max(f"{day}T09:00", f"{world.today - dt.timedelta(days=1)}T00:00")
