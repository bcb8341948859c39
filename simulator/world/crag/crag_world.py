"""The films, songs, shares and games of a world: what CRAG asks about and pictures cannot show.

They are drawn from the world's own seed, with its people, companies and towns in them: people of
the world direct and sing, its companies are listed, its towns have teams. What the fact base says
of these (birth dates, share prices, chief executives) holds here too. Nothing of the fact base
changes by it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.facts.domain_schema import Entity
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import WINDOW_DAYS
from simulator.world.facts.invented_names import Names

FILMS = ("The {word} in {place}", "Return to {place} {word}", "Goodbye {given} {place}")
PARTS = ("Captain {given} {place}", "Doctor {given} {place}", "Inspector {given} {place}",
         "Professor {given} {place}", "Sergeant {given} {place}")  # fmt: skip
BANDS = ("The {word} {place} Band", "The {brand} {word} Five")
SONGS = ("{brand} {word} Blues", "Dancing in {place} {word}", "Hold Me {given} {place}")
ALBUMS = ("{brand} {word} Sessions", "Live at {place} {word}")
TEAMS = ("Badgers", "Comets", "Dolphins", "Dragons", "Griffins", "Leopards", "Otters", "Pilots")
"""Patterns that no kind of thing has: nothing on the stage is called as something else is."""

FIRST_YEAR = 1990
COUNTRIES = ("XA", "XB", "XC", "XD", "XE")
"""Codes that no country has: ISO 3166 leaves them to whoever wants one."""

GENRES = ("Action", "Comedy", "Crime", "Drama", "Horror", "Mystery", "Romance", "Western")
LANGUAGES = ("en", "fr", "de", "cy", "fi")
OSCARS = ("BEST PICTURE", "DIRECTING", "CINEMATOGRAPHY", "FILM EDITING", "ORIGINAL SCORE")
CHART = 20
"""Places of the chart."""

CHART_WEEKS = 12
ROUNDS = 6
"""Matches of a team before and while wearers ask, a day apart from the next."""


class Oscar(Record, frozen=True, kw_only=True):
    """A nomination of a film, or of a person with a film."""

    year_ceremony: int
    ceremony: int
    category: str
    name: str
    film: str
    winner: bool


class Film(Record, frozen=True, kw_only=True):
    """A film and who made it."""

    id: int
    title: str
    released: str
    director: str
    """Entity id."""
    cast: tuple[tuple[str, str], ...]
    """Entity id and character, the main part first."""
    language: str
    budget: int
    revenue: int
    rating: float
    genres: tuple[str, ...]
    oscars: tuple[Oscar, ...]
    popularity: str


class Artist(Record, frozen=True, kw_only=True):
    """Somebody who sings, or a band."""

    name: str
    person: str = ""
    """Entity id; empty for a band."""
    country: str
    begin: str
    members: tuple[str, ...] = ()
    popularity: str


class Song(Record, frozen=True, kw_only=True):
    """A song and whose it is."""

    name: str
    artist: str
    author: str
    country: str
    released: str
    album: str
    popularity: str


class Grammy(Record, frozen=True, kw_only=True):
    """An award that was won."""

    year: int
    category: str
    nominee: str
    """Song, album or artist, as the category has it."""
    artist: str


class Stock(Record, frozen=True, kw_only=True):
    """A listed company."""

    company: str
    """Entity id."""
    ticker: str
    outstanding: int
    eps: float
    dividends: tuple[tuple[str, float], ...]
    """Day and dollars per share, oldest first."""
    closes: tuple[tuple[str, float], ...]
    """Day and closing price, oldest first, from a week before the first day of asking."""

    def closes_by(self, at: str) -> list[tuple[str, float]]:
        """The closing prices of the days up to a moment."""
        return [(day, price) for day, price in self.closes if day <= at]


class Game(Record, frozen=True, kw_only=True):
    """A match between two teams."""

    id: str
    sport: str
    """soccer or nba."""
    season: str
    date: str
    time: str
    home: str
    away: str
    score: tuple[int, int]
    plays: tuple[tuple[int, str, int], ...] = ()
    """Minute, team, points."""


class CragWorld:
    """Everything of a world that CRAG's five domains ask about, beside its facts."""

    def __init__(self, facts: FactBase) -> None:
        self.facts = facts
        self._names = Names(facts.seed)
        self.people = sorted(facts.of_kind("person"), key=lambda e: e.id)
        self.films = self._films()
        self.artists = self._artists()
        self.songs = self._songs()
        self.grammys = self._grammys()
        self.charts = self._charts()
        """Saturday → songs from the first place on, best first."""
        self.shares = self._shares()
        self.teams = self._teams()
        self.games = [*self._games("soccer"), *self._games("nba")]

    @property
    def today(self) -> dt.date:
        """The first day on which wearers ask."""
        return dt.date.fromisoformat(self.facts.window[0][:10])

    def name(self, entity_id: str) -> str:
        """What an entity of the world is called."""
        return self.facts.entity(entity_id).name

    def _draw(self, *key: object) -> Draw:
        return Draw(self.facts.seed, "stage", *key)

    def _films(self) -> list[Film]:
        directors, actors = self.people[::4], self.people[1::2]
        return [
            self._film(number, directors, actors)
            for number in range(max(60, len(self.people) // 2))
        ]

    def _film(self, number: int, directors: Sequence[Entity], actors: Sequence[Entity]) -> Film:
        draw = self._draw("film", number)
        title = self._names.new(draw.pick(FILMS)).text
        director = draw.pick(directors)
        year = draw.between(FIRST_YEAR, self.today.year - 1)
        ceremony = year + 1
        oscars = tuple(
            Oscar(
                year_ceremony=ceremony,
                ceremony=ceremony - 1928,
                category=category,
                name=director.name if category == "DIRECTING" else title,
                film=title,
                winner=draw.chance(0.4),
            )
            for category in draw.sample(OSCARS, draw.pick((0, 0, 1, 2, 3)))
        )
        people = draw.sample([a for a in actors if a.id != director.id], draw.between(3, 5))
        parts = [self._names.new(draw.pick(PARTS)).text for _ in people]
        return Film(
            id=1000 + number,
            title=title,
            released=_day(draw, year),
            director=director.id,
            cast=tuple((person.id, part) for person, part in zip(people, parts, strict=True)),
            language=draw.pick(LANGUAGES),
            budget=draw.between(10, 900) * 100_000,
            revenue=draw.between(10, 9000) * 100_000,
            rating=draw.between(20, 95) / 10,
            genres=tuple(sorted(draw.sample(GENRES, draw.between(1, 3)))),
            oscars=oscars,
            popularity=_popularity(draw),
        )

    def _artists(self) -> list[Artist]:
        singers = self.people[2::5]
        bands: list[Artist] = []
        for number in range(12):
            draw = self._draw("band", number)
            members = draw.sample(self.people[3::5], draw.between(3, 5))
            bands.append(
                Artist(
                    name=self._names.new(draw.pick(BANDS)).text,
                    country=draw.pick(COUNTRIES),
                    begin=str(draw.between(FIRST_YEAR, self.today.year - 8)),
                    members=tuple(person.name for person in members),
                    popularity=_popularity(draw),
                )
            )
        solo = [
            Artist(
                name=person.name,
                person=person.id,
                country=self._draw("singer", person.id).pick(COUNTRIES),
                begin=str(self.facts.value(person.id, "born", self.facts.window[0])),
                popularity=person.popularity,
            )
            for person in singers
        ]
        return [*solo, *bands]

    def _songs(self) -> list[Song]:
        found: list[Song] = []
        for artist in self.artists:
            draw = self._draw("songs", artist.name)
            albums = [self._names.new(draw.pick(ALBUMS)).text for _ in range(2)]
            for _ in range(draw.between(2, 4)):
                since = max(int(artist.begin[:4]) + (18 if artist.person else 0), FIRST_YEAR)
                found.append(
                    Song(
                        name=self._names.new(draw.pick(SONGS)).text,
                        artist=artist.name,
                        author=draw.pick(artist.members) if artist.members else artist.name,
                        country=draw.pick((*COUNTRIES, "XW")),
                        released=_day(draw, draw.between(since, self.today.year - 1)),
                        album=draw.pick(albums),
                        popularity=artist.popularity,
                    )
                )
        return found

    def _grammys(self) -> list[Grammy]:
        found: list[Grammy] = []
        for year in range(FIRST_YEAR + 12, self.today.year):
            draw = self._draw("grammy", year)
            songs = [s for s in self.songs if int(s.released[:4]) in (year - 1, year - 2)]
            if songs:
                song = draw.pick(songs)
                album = draw.pick(songs)
                found += [
                    Grammy(year=year, category="Song Of The Year", nominee=song.name,
                           artist=song.artist),
                    Grammy(year=year, category="Album Of The Year", nominee=album.album,
                           artist=album.artist),
                ]  # fmt: skip
            name = draw.pick(self.artists).name
            found.append(Grammy(year=year, category="Best New Artist", nominee=name, artist=name))
        return found

    def _charts(self) -> dict[str, tuple[str, ...]]:
        saturday = self.today - dt.timedelta(days=(self.today.weekday() - 5) % 7)
        weeks = [saturday - dt.timedelta(weeks=back) for back in range(CHART_WEEKS)]
        songs = [song.name for song in self.songs]
        held = self._draw("chart").sample(songs, CHART * 2)
        charts: dict[str, tuple[str, ...]] = {}
        for week in reversed(weeks):
            draw = self._draw("chart", week)
            places = sorted((held.index(s) + draw.uniform(0, 9), s) for s in held)
            held = [song for _, song in places]
            charts[str(week)] = tuple(held[:CHART])
        return charts

    def _shares(self) -> list[Stock]:
        found: list[Stock] = []
        taken: set[str] = set()
        for company in self.facts.of_kind("company"):
            draw = self._draw("share", company.id)
            letters = "".join(c for c in company.name.upper() if "A" <= c <= "Z")
            ticker = next(
                t for size in (3, 4, 5) for t in (letters[:size], letters[:2] + letters[-size:])
                if t not in taken
            )  # fmt: skip
            taken.add(ticker)
            quarters = [self.today - dt.timedelta(days=91 * back + 20) for back in (4, 3, 2, 1, 0)]
            found.append(
                Stock(
                    company=company.id,
                    ticker=ticker,
                    outstanding=draw.between(2, 900) * 1_000_000,
                    eps=draw.between(20, 4000) / 100,
                    dividends=tuple((str(day), draw.between(5, 250) / 100) for day in quarters)
                    if draw.chance(0.7)
                    else (),
                    closes=self._closes(company),
                )
            )
        return found

    def _closes(self, company: Entity) -> tuple[tuple[str, float], ...]:
        """About the price of the day on which asking begins: a share moves little in a week."""
        draw = self._draw("closes", company.id)
        price = float(str(self.facts.value(company.id, "share", self.facts.window[0])))
        days = [self.today + dt.timedelta(days=back) for back in range(-7, WINDOW_DAYS)]
        return tuple((str(day), round(price * draw.uniform(0.92, 1.08), 2)) for day in days)

    def _teams(self) -> dict[str, tuple[str, ...]]:
        towns = [town.name for town in self.facts.of_kind("town")]
        return {
            "soccer": tuple(f"{town} Rovers" for town in towns[:16]),
            "nba": tuple(f"{town} {self._draw('team', town).pick(TEAMS)}" for town in towns[-12:]),
        }

    def _games(self, sport: str) -> list[Game]:
        teams = self.teams[sport]
        found: list[Game] = []
        season = str(self.today.year)
        for number in range(-ROUNDS, 2):
            day = self.today + dt.timedelta(days=number)
            order = self._draw(sport, day).shuffled(teams)
            for i in range(0, len(order) - 1, 2):
                draw = self._draw(sport, day, order[i])
                plays = _plays(draw, order[i], order[i + 1]) if sport == "nba" else ()
                score = (
                    (sum(p for _, t, p in plays if t == order[i]),
                     sum(p for _, t, p in plays if t != order[i]))
                    if plays else (draw.below(5), draw.below(5))
                )  # fmt: skip
                found.append(
                    Game(
                        id=f"{sport}-{day:%Y%m%d}-{i // 2:02d}",
                        sport=sport,
                        season=season,
                        date=str(day),
                        time=f"{draw.between(12, 20)}:30",
                        home=order[i],
                        away=order[i + 1],
                        score=score,
                        plays=plays,
                    )
                )
        return found


def _plays(draw: Draw, home: str, away: str) -> tuple[tuple[int, str, int], ...]:
    """Every basket of a game that does not end in a tie: the home team makes the last one."""
    plays = [(minute, draw.pick((home, away)), draw.pick((2, 2, 3))) for minute in range(1, 48)]
    apart = sum(p if team == home else -p for _, team, p in plays)
    return (*plays, (48, home, 3 if apart == -2 else 2))


def _day(draw: Draw, year: int) -> str:
    return str(dt.date(year, 1, 1) + dt.timedelta(days=draw.below(365)))


def _popularity(draw: Draw) -> str:
    return draw.pick(("head", "torso", "tail"))
