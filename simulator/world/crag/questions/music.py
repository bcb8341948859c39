"""Questions about songs, artists, the chart and Grammys."""

from __future__ import annotations

import datetime as dt

from simulator.world.crag.crag_world import Artist, Song
from simulator.world.crag.questions.kg_proof import INVALID, Call, Proof
from simulator.world.crag.questions.templates import Drawn, Occasion, PageNeed, days_of, templates
from simulator.world.facts.fact_wording import say_day, say_list


def _song(s: Occasion) -> Song:
    return s.draw.pick(s.world.songs)


def _song_call(song: Song, of: str) -> Call:
    return (f"music_get_song_{of}", {"song_name": song.name}, ())


def _author(s: Occasion) -> Drawn:
    song = _song(s)
    return Drawn(
        query=f"Who is the author of the song {song.name}?", answer=song.author, value=song.author,
        popularity=song.popularity, proof=Proof(calls=(_song_call(song, "author"),)),
        needs=(PageNeed(song.name, "author"),),
    )  # fmt: skip


def _place(s: Occasion) -> Drawn:
    week = max(w for w in s.world.charts if w <= s.at)
    rank = s.draw.between(1, 10)
    name = s.world.charts[week][rank - 1]
    song = next(one for one in s.world.songs if one.name == name)
    return Drawn(
        query=f"Which song is on place {rank} of the chart this week?", answer=name, value=name,
        popularity=song.popularity,
        proof=Proof(calls=(("music_get_billboard_rank_date", {"rank": rank, "date": week}, (0, 0)),
                           )),
        needs=(PageNeed(name, "place in the chart", week),),
    )  # fmt: skip


def _works(s: Occasion) -> Drawn:
    name = _song(s).artist
    songs = [one.name for one in s.world.songs if one.artist == name and one.released <= s.at]
    return Drawn(
        query=f"Which songs has {name} released so far?", answer=say_list(songs),
        others=(", ".join(songs), say_list(songs[::-1])), value=sorted(songs),
        popularity=_artist(s, name).popularity,
        proof=Proof(calls=(("music_get_artist_all_works", {"artist_name": name}, ()),),
                    operation="names"),
        needs=(PageNeed(name, "songs"),),
    )  # fmt: skip


def _artist(s: Occasion, name: str) -> Artist:
    return next(artist for artist in s.world.artists if artist.name == name)


def _grammys(s: Occasion, name: str) -> int:
    return sum(g.artist == name and g.year <= int(s.at[:4]) for g in s.world.grammys)


def _grammy_call(name: str) -> Call:
    return ("music_grammy_get_award_count_by_artist", {"artist_name": name}, ())


def _more_grammys(s: Occasion) -> Drawn | None:
    a, b = s.draw.sample(s.world.artists, 2)
    won = {name: _grammys(s, name) for name in (a.name, b.name)}
    if won[a.name] == won[b.name]:
        return None
    best = max(won, key=lambda name: won[name])
    return Drawn(
        query=f"Who has won more Grammy awards, {a.name} or {b.name}?", answer=best, value=best,
        popularity=a.popularity,
        proof=Proof(calls=(_grammy_call(a.name), _grammy_call(b.name)), operation="larger",
                    names=(a.name, b.name)),
        needs=tuple(PageNeed(name, "number of Grammy awards") for name in won),
    )  # fmt: skip


def _count_grammys(s: Occasion) -> Drawn:
    grammy = s.draw.pick(s.world.grammys)
    won = _grammys(s, grammy.artist)
    return Drawn(
        query=f"How many Grammy awards has {grammy.artist} won?", answer=str(won), value=won,
        popularity=_artist(s, grammy.artist).popularity,
        proof=Proof(calls=(_grammy_call(grammy.artist),)),
        needs=(PageNeed(grammy.artist, "number of Grammy awards"),),
    )  # fmt: skip


def _authors_birth(s: Occasion) -> Drawn | None:
    song = _song(s)
    person = next((p for p in s.world.people if p.name == song.author), None)
    if person is None:
        return None
    born = str(s.facts.value(person.id, "born", s.at))
    by_name = ("movie_get_person_info", {"person_name": {"$": 0}}, (0, "birthday"))
    return Drawn(
        query=f"When was the author of the song {song.name} born?", answer=say_day(born),
        others=days_of(born), value=born, popularity=song.popularity,
        proof=Proof(calls=(_song_call(song, "author"), by_name)),
        needs=(PageNeed(song.name, "author"), PageNeed(song.author, "date of birth")),
    )  # fmt: skip


def _age(s: Occasion) -> Drawn | None:
    song = _song(s)
    artist = _artist(s, song.artist)
    if not artist.person:
        return None
    born = ("music_get_artist_birth_date", {"artist_name": artist.name}, ())
    first, second = (dt.date.fromisoformat(day) for day in (artist.begin, song.released))
    years = second.year - first.year - ((second.month, second.day) < (first.month, first.day))
    return Drawn(
        query=f"How old was {artist.name} when the song {song.name} was released?",
        answer=f"{years} years", others=(str(years), f"{years} years old"), value=years,
        popularity=song.popularity,
        proof=Proof(calls=(born, _song_call(song, "release_date")), operation="years"),
        needs=(PageNeed(artist.name, "date of birth"), PageNeed(song.name, "release date")),
    )  # fmt: skip


def _wrong_artist(s: Occasion) -> Drawn:
    song = _song(s)
    wrong = s.draw.pick([a.name for a in s.world.artists if a.name != song.author])
    return Drawn(
        query=f"When did {wrong} write the song {song.name}?", answer=INVALID,
        others=(f"{song.name} was written by {song.author}, not by {wrong}.",),
        value=song.author, popularity=song.popularity,
        proof=Proof(calls=(_song_call(song, "author"),), operation="refuted", claim=wrong),
        needs=(PageNeed(song.name, "author"),),
    )  # fmt: skip


def _members(s: Occasion) -> Drawn:
    band = s.draw.pick([artist for artist in s.world.artists if artist.members])
    return Drawn(
        query=f"Who are the members of {band.name}?", answer=say_list(band.members),
        others=(", ".join(band.members),), value=sorted(band.members), popularity=band.popularity,
        proof=Proof(calls=(("music_get_members", {"band_name": band.name}, ()),),
                    operation="names"),
        needs=(PageNeed(band.name, "members"),),
    )  # fmt: skip


MUSIC = templates(
    "music",
    ("simple", "static", _author), ("simple_w_condition", "fast-changing", _place),
    ("set", "slow-changing", _works), ("set", "static", _members),
    ("comparison", "slow-changing", _more_grammys),
    ("aggregation", "slow-changing", _count_grammys), ("multi-hop", "static", _authors_birth),
    ("post-processing", "static", _age), ("false_premise", "static", _wrong_artist),
)  # fmt: skip
"""The templates of the domain."""
