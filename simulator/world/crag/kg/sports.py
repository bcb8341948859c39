"""CRAG's games: tables by column, as the public API gives them. What is not over has no score."""

from __future__ import annotations

from typing import Any

from mmrag.errors import UsageError
from simulator.world.crag.crag_world import CragWorld, Game

MOST_GAMES = 50


def soccer(world: CragWorld, at: str, date: str, team_name: str | None = None) -> Any:
    """A row for each team of each game."""
    found: dict[str, dict[str, Any]] = {}
    for game in _games(world, "soccer", date):
        for team, other, own, against in (
            (game.home, game.away, 0, 1),
            (game.away, game.home, 1, 0),
        ):
            if team_name not in (None, team):
                continue
            goals = game.score if is_over(game, at) else (None, None)
            league = f"XX-{game.season}"
            key = f"('{league}', '{game.season}', '{team}', '{game.date} {game.home}-{game.away}')"
            found[key] = {
                "date": f"{game.date}T00:00:00.000",
                "time": f"{game.time}:00",
                "venue": "Home" if own == 0 else "Away",
                "opponent": other,
                "GF": goals[own],
                "GA": goals[against],
                "result": _result(goals[own], goals[against]),
            }
    return _columns(found)


def nba(world: CragWorld, at: str, date: str, team_name: str | None = None) -> Any:
    """A row for each game."""
    found: dict[str, dict[str, Any]] = {}
    for game in _games(world, "nba", date):
        if team_name not in (None, game.home, game.away):
            continue
        points = game.score if is_over(game, at) else (None, None)
        won = _result(*points)
        found[str(len(found))] = {
            "season_id": game.season,
            "team_name_home": game.home,
            "team_name_away": game.away,
            "game_id": game.id,
            "game_date": f"{game.date} 00:00:00",
            "wl_home": won,
            "pts_home": points[0],
            "pts_away": points[1],
        }
    return _columns(found)


def plays(world: CragWorld, at: str, game_ids: list[str]) -> Any:
    """A row for each basket."""
    wanted = [g for g in world.games if g.sport == "nba" and g.id in game_ids and is_over(g, at)]
    rows = [
        {"game_id": game.id, "period": (minute - 1) // 12 + 1, "minute": minute,
         "team": team, "points": points}
        for game in wanted
        for minute, team, points in game.plays
    ]  # fmt: skip
    return _columns({str(number): row for number, row in enumerate(rows)})


def is_over(game: Game, at: str) -> bool:
    """Whether a game has ended: two and a half hours after it began."""
    hour = int(game.time[:2]) + 3
    return f"{game.date}T{hour:02d}:00" <= at


def _games(world: CragWorld, sport: str, date: str) -> list[Game]:
    if len(date) not in (4, 7, 10) or not date.replace("-", "").isdigit():
        raise UsageError(f"date {date[:20]!r}: write YYYY-MM-DD, YYYY-MM or YYYY.")
    found = [g for g in world.games if g.sport == sport and g.date.startswith(date)]
    return found[:MOST_GAMES] if len(date) == 10 else found


def _result(own: int | None, against: int | None) -> str | None:
    if own is None or against is None:
        return None
    return "W" if own > against else "L" if own < against else "D"


def _columns(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
    if not rows:
        return None
    names = next(iter(rows.values()))
    return {name: {key: row[name] for key, row in rows.items()} for name in names}
