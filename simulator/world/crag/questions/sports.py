"""Questions about games that are over."""

from __future__ import annotations

from simulator.world.crag.crag_world import Game
from simulator.world.crag.kg.sports import is_over
from simulator.world.crag.questions.kg_proof import INVALID, Call, Proof
from simulator.world.crag.questions.templates import Drawn, Occasion, PageNeed, templates
from simulator.world.facts.fact_wording import say_day, say_list


def _game(s: Occasion, sport: str = "") -> Game:
    """A game that is over."""
    return s.draw.pick([g for g in s.world.games if is_over(g, s.at) and sport in ("", g.sport)])


def _score_call(game: Game, team: str) -> Call:
    if game.sport == "soccer":
        ask = {"date": game.date, "team_name": team}
        return ("sports_soccer_get_games_on_date", ask, ("GF", "*"))
    side = "pts_home" if team == game.home else "pts_away"
    return ("sports_nba_get_games_on_date", {"date": game.date, "team_name": team}, (side, "*"))


def _scored(game: Game) -> str:
    return "goals" if game.sport == "soccer" else "points"


def _score(s: Occasion) -> Drawn:
    game = _game(s)
    return Drawn(
        query=f"How many {_scored(game)} did {game.home} score on {say_day(game.date)}?",
        answer=str(game.score[0]), value=[game.score[0]], popularity=_team(s),
        proof=Proof(calls=(_score_call(game, game.home),)),
        needs=(PageNeed(game.home, f"number of {_scored(game)}", game.date),),
    )  # fmt: skip


def _team(s: Occasion) -> str:
    return s.draw.pick(("head", "torso", "tail"))


def _met(s: Occasion) -> Drawn:
    game = _game(s, "soccer")
    ask = {"date": game.date, "team_name": game.home}
    return Drawn(
        query=f"Who was the opponent of {game.home} on {say_day(game.date)}?", answer=game.away,
        value=[game.away], popularity=_team(s),
        proof=Proof(calls=(("sports_soccer_get_games_on_date", ask, ("opponent", "*")),)),
        needs=(PageNeed(game.home, "opponent", game.date),),
    )  # fmt: skip


def _home_teams(s: Occasion) -> Drawn:
    day = _game(s, "nba").date
    games = [g for g in s.world.games if g.sport == "nba" and g.date == day]
    if not all(is_over(g, s.at) for g in games):
        raise IndexError(day)
    names = [g.home for g in games]
    return Drawn(
        query=f"Which NBA teams played at home on {say_day(day)}?", answer=say_list(names),
        others=(", ".join(names),), value=sorted(names), popularity=_team(s),
        proof=Proof(calls=(("sports_nba_get_games_on_date", {"date": day},
                            ("team_name_home", "*")),), operation="names"),
        needs=tuple(PageNeed(name, "opponent", day) for name in names),
    )  # fmt: skip


def _better(s: Occasion) -> Drawn | None:
    game = _game(s, "nba")
    others = [g for g in s.world.games if g.sport == "nba" and g.date == game.date
              and g.id != game.id and is_over(g, s.at)]  # fmt: skip
    other = s.draw.pick(others)
    a, b = (game.home, game.score[0]), (other.home, other.score[0])
    if a[1] == b[1]:
        return None
    best = max(a, b, key=lambda one: one[1])[0]
    return Drawn(
        query=f"Which team scored more points on {say_day(game.date)}, {a[0]} or {b[0]}?",
        answer=best, value=best, popularity=_team(s),
        proof=Proof(calls=(_score_call(game, a[0]), _score_call(other, b[0])), operation="larger",
                    names=(a[0], b[0])),
        needs=tuple(PageNeed(one[0], "number of points", game.date) for one in (a, b)),
    )  # fmt: skip


def _goals(s: Occasion) -> Drawn:
    team = s.draw.pick(s.world.teams["soccer"])
    games = [g for g in s.world.games if team in (g.home, g.away) and is_over(g, s.at)][-3:]
    goals = sum(g.score[0] if g.home == team else g.score[1] for g in games)
    first, last = games[0].date, games[-1].date
    return Drawn(
        query=f"How many goals did {team} score in all from {say_day(first)} to {say_day(last)}?",
        answer=str(goals), value=goals, popularity=_team(s),
        proof=Proof(calls=tuple(_score_call(g, team) for g in games), operation="total"),
        needs=tuple(PageNeed(team, "number of goals", g.date) for g in games),
    )  # fmt: skip


def _opponents_goals(s: Occasion) -> Drawn:
    game = _game(s, "soccer")
    later = [g for g in s.world.games if g.sport == "soccer" and g.date != game.date
             and game.away in (g.home, g.away) and is_over(g, s.at)]  # fmt: skip
    other = s.draw.pick(later)
    goals = other.score[0] if other.home == game.away else other.score[1]
    met = ("sports_soccer_get_games_on_date", {"date": game.date, "team_name": game.home},
           ("opponent", f"('XX-{game.season}', '{game.season}', '{game.home}', '{game.date} "
            f"{game.home}-{game.away}')"))  # fmt: skip
    scored = ("sports_soccer_get_games_on_date", {"date": other.date, "team_name": {"$": 0}},
              ("GF", "*"))  # fmt: skip
    return Drawn(
        query=f"How many goals did the team that {game.home} met on {say_day(game.date)} score on "
        f"{say_day(other.date)}?",
        answer=str(goals), value=[goals], popularity=_team(s), proof=Proof(calls=(met, scored)),
        needs=(PageNeed(game.home, "opponent", game.date),
               PageNeed(game.away, "number of goals", other.date)),
    )  # fmt: skip


def _margin(s: Occasion) -> Drawn:
    game = _game(s, "nba")
    apart = abs(game.score[0] - game.score[1])
    ask = {"date": game.date, "team_name": game.home}
    of = "sports_nba_get_games_on_date"
    return Drawn(
        query=f"How many points lay between {game.home} and {game.away} at the end on "
        f"{say_day(game.date)}?",
        answer=f"{apart} points", others=(str(apart),), value=apart, popularity=_team(s),
        proof=Proof(calls=((of, ask, ("pts_home", "0")), (of, ask, ("pts_away", "0"))),
                    operation="difference"),
        needs=(PageNeed(game.home, "number of points", game.date),
               PageNeed(game.away, "number of points", game.date)),
    )  # fmt: skip


def _lost(s: Occasion) -> Drawn:
    game = _game(s, "nba")
    loser, winner = sorted((game.home, game.away),
                           key=lambda team: game.score[0 if team == game.home else 1])  # fmt: skip
    right = "W" if winner == game.home else "L"
    return Drawn(
        query=f"By how many points did {loser} beat {winner} on {say_day(game.date)}?",
        answer=INVALID, others=(f"{loser} lost to {winner}.",), value=[right], popularity=_team(s),
        proof=Proof(calls=(("sports_nba_get_games_on_date",
                            {"date": game.date, "team_name": game.home}, ("wl_home", "*")),),
                    operation="refuted", claim=["L" if right == "W" else "W"]),
        needs=(PageNeed(game.home, "number of points", game.date),
               PageNeed(game.away, "number of points", game.date)),
    )  # fmt: skip


SPORTS = templates(
    "sports",
    ("simple", "fast-changing", _score), ("simple_w_condition", "fast-changing", _met),
    ("set", "fast-changing", _home_teams), ("comparison", "fast-changing", _better),
    ("aggregation", "fast-changing", _goals), ("multi-hop", "fast-changing", _opponents_goals),
    ("post-processing", "fast-changing", _margin), ("false_premise", "fast-changing", _lost),
)  # fmt: skip
"""The templates of the domain."""
