"""What CRAG's functions give, in plain sentences: "The release date of X is 3 May 2027." """

from __future__ import annotations

import re
from typing import Any, cast

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d:\d\d))?")
_MOST = 40
"""Sentences of one result."""

_NOUNS = {
    "music_get_artist_birth_date": "birth date", "music_get_artist_birth_place": "birth place",
    "music_get_members": "members", "music_get_artist_all_works": "songs",
    "music_grammy_get_award_count_by_artist": "number of Grammy awards",
    "music_grammy_get_award_date_by_artist": "years of the Grammy awards",
    "music_grammy_get_award_count_by_song": "number of Grammy awards",
    "music_get_song_author": "author", "music_get_song_release_date": "release date",
    "music_get_song_release_country": "release country", "finance_get_eps": "earnings per share",
    "finance_get_pe_ratio": "price-to-earnings ratio",
    "finance_get_market_capitalization": "market capitalization",
    "finance_get_dividends_history": "dividend", "finance_get_price_history": "share price",
    "finance_get_detailed_price_history": "current share price",
}  # fmt: skip
"""What a function is about, where its result does not say."""

_LEFT_OUT = ("id", "raw_mediawiki", "summary_text", "order", "ceremony")


def in_sentences(name: str, tool: str, result: Any) -> str:
    """A sentence a line. Of prices, the last days, with the day; of the last bar, the price now.
    Of what has not the shape of the public API's answers nothing is said.

    >>> in_sentences("Orlan", "music_get_song_author", "Anna Bell")
    'The author of Orlan is Anna Bell.'
    """
    try:
        found = _all(name, tool, result)
    except (TypeError, ValueError, AttributeError, KeyError):
        return ""
    return "\n".join(list(dict.fromkeys(found))[:_MOST])


def _all(name: str, tool: str, result: Any) -> list[str]:
    if tool == "finance_get_detailed_price_history" and isinstance(result, dict) and result:
        bars = cast("dict[str, Any]", result)
        result = bars[max(bars)].get("Close")
    if tool.startswith("sports_") and isinstance(result, dict):
        return _of_games(name, cast("dict[str, Any]", result))
    return _sentences(name, _NOUNS.get(tool, ""), result)


def _sentences(name: str, noun: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return _of_object(name, noun, cast("dict[str, Any]", value))
    if isinstance(value, list):
        return _of_list(name, noun, cast("list[Any]", value))
    if value is None or not noun:
        return []
    return [f"The {noun} of {name} is {_said(value)}."]


def _of_object(name: str, noun: str, value: dict[str, Any]) -> list[str]:
    days = [key for key in value if _DAY.match(key)]
    if days:
        last = sorted(days)[-10:]
        return [s for day in last for s in _on_day(name, noun, _said(day[:10]), value[day])]
    found: list[str] = []
    for key, held in value.items():
        if key not in _LEFT_OUT:
            if isinstance(held, dict) and key == "summary_structured":
                found += _of_object(name, "", cast("dict[str, Any]", held))
            else:
                found += _sentences(name, _in_words(key), held)
    return found


def _of_list(name: str, noun: str, items: list[Any]) -> list[str]:
    records = [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
    found: list[str] = []
    by_job: dict[str, list[str]] = {}
    for record in records:
        job = str(record.get("job") or record.get("title") or noun)
        by_job.setdefault(job[:1].lower() + job[1:], []).append(str(record.get("name")))
    for job, names in by_job.items():
        found.append(f"The {job} of {name} is {_listed(names)}.")
    plain = [_said(item) for item in items if not isinstance(item, dict) and item is not None]
    if plain and noun:
        found.append(f"The {noun} of {name} is {_listed(plain)}.")
        found.append(f"The number of {noun} of {name} is {len(plain)}.")
    return found


def _of_games(team: str, columns: dict[str, Any]) -> list[str]:
    """What a table of games says of one team: on which day, whom it met, and how it ended."""
    cells = {key: cast("dict[str, Any]", held) for key, held in columns.items()}
    days = cells.get("date") or cells.get("game_date") or {}
    found: list[str] = []
    for row, day in days.items():
        if "GF" in cells:
            own, other = cells["GF"].get(row), cells["GA"].get(row)
            met, scored = cells["opponent"].get(row), "goals"
        else:
            home = cells["team_name_home"].get(row) == team
            points = (cells["pts_home"].get(row), cells["pts_away"].get(row))
            own, other = points if home else points[::-1]
            met = cells["team_name_away" if home else "team_name_home"].get(row)
            scored = "points"
        on = f"On {_said(str(day)[:10])},"
        found.append(f"{on} the opponent of {team} was {met}.")
        if own is not None and other is not None:
            found.append(f"{on} the number of {scored} of {team} was {own}.")
            found.append(f"{on} the number of {scored} of {met} was {other}.")
            result = "a win" if own > other else "a loss" if own < other else "a draw"
            found.append(f"{on} the result of {team} was {result}.")
    return found


def _on_day(name: str, noun: str, day: str, value: Any) -> list[str]:
    if not isinstance(value, dict):
        return [f"On {day}, the {noun} of {name} was ${value}."]
    bar = cast("dict[str, Any]", value)
    words = {"Open": "opening", "High": "highest", "Low": "lowest", "Close": "closing"}
    return [f"On {day}, the {word} {noun} of {name} was ${bar[key]}."
            for key, word in words.items() if key in bar]  # fmt: skip


def _said(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, float) else str(value)
    found = _DAY.match(text)
    if found is None or found.group(4):
        return text
    months = ("January", "February", "March", "April", "May", "June", "July", "August",
              "September", "October", "November", "December")  # fmt: skip
    year, month, day = (int(found[i]) for i in (1, 2, 3))
    return f"{day} {months[month - 1]} {year}" if 1 <= month <= 12 else text


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def _in_words(key: str) -> str:
    """ "fullTimeEmployees" and "release_date" as people say them."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).replace("_", " ")
    return text if text.isupper() else text[:1].lower() + text[1:].lower()
