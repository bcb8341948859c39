"""Questions about shares and their companies."""

from __future__ import annotations

import datetime as dt

from simulator.world.crag.crag_world import Stock
from simulator.world.crag.entity_lines import money
from simulator.world.crag.kg.finance import market_cap, price_at
from simulator.world.crag.questions.kg_proof import INVALID, Call, Proof
from simulator.world.crag.questions.templates import Drawn, Occasion, PageNeed, days_of, templates
from simulator.world.facts.fact_wording import say_day, say_list


def _share(s: Occasion, many: int = 1) -> list[tuple[Stock, str, str]]:
    """Shares with the name and the popularity of the company."""
    found = s.draw.sample(s.world.shares, many)
    return [(share, s.world.name(share.company), s.facts.entity(share.company).popularity)
            for share in found]  # fmt: skip


def _by_ticker(name: str, function: str, *path: str | int) -> tuple[Call, Call]:
    """The ticker of a company, and what a function gives for it."""
    return (
        ("finance_get_ticker_by_name", {"query": name}, ()),
        (f"finance_get_{function}", {"ticker_name": {"$": 0}}, path),
    )


def _price_now(s: Occasion) -> Drawn:
    [(share, name, popularity)] = _share(s)
    price = price_at(s.world, share, s.at)
    return Drawn(
        query=f"What is the current share price of {name}?", answer=money(price),
        others=(f"{price} dollars",), value=price, popularity=popularity,
        proof=Proof(calls=_by_ticker(name, "detailed_price_history", "@last", "Close")),
        needs=(PageNeed(name, "share price"),),
    )  # fmt: skip


def _close(s: Occasion, day: str, when: str) -> Drawn:
    [(share, name, popularity)] = _share(s)
    price = dict(share.closes)[day]
    return Drawn(
        query=f"What was the closing share price of {name} {when}?", answer=money(price),
        others=(f"{price} dollars",), value=price, popularity=popularity,
        proof=Proof(calls=_by_ticker(name, "price_history", f"@day:{day}", "Close")),
        needs=(PageNeed(name, "closing share price", day),),
    )  # fmt: skip


def _close_today(s: Occasion) -> Drawn:
    return _close(s, s.at[:10], "today")


def _close_then(s: Occasion) -> Drawn:
    day = s.today - dt.timedelta(days=s.draw.between(1, 2))
    return _close(s, str(day), f"on {say_day(str(day))}")


def _eps(s: Occasion) -> Drawn:
    [(share, name, popularity)] = _share(s)
    return Drawn(
        query=f"What are the earnings per share of {name}?", answer=f"${share.eps:,.2f}",
        others=(f"{share.eps:g}", f"{share.eps:.2f} dollars"), value=share.eps,
        popularity=popularity, proof=Proof(calls=_by_ticker(name, "eps")),
        needs=(PageNeed(name, "earnings per share"),),
    )  # fmt: skip


def _founded(s: Occasion) -> Drawn:
    [(share, name, popularity)] = _share(s)
    year = s.facts.value(share.company, "founded", s.at)
    return Drawn(
        query=f"In which year was {name} founded?", answer=str(year), value=year,
        popularity=popularity, proof=Proof(calls=_by_ticker(name, "info", "founded")),
        needs=(PageNeed(name, "founding year"),),
    )  # fmt: skip


def _paying(s: Occasion, pays: bool) -> tuple[Stock, str, str]:
    share = s.draw.pick([share for share in s.world.shares if bool(share.dividends) is pays])
    return share, s.world.name(share.company), s.facts.entity(share.company).popularity


def _dividend_days(s: Occasion) -> Drawn:
    share, name, popularity = _paying(s, True)
    days = [day for day, _ in share.dividends if day <= s.at][-2:]
    paid = [money_ for day, money_ in share.dividends if day in days]
    return Drawn(
        query=f"What were the last two dividends of {name}, in dollars a share?",
        answer=say_list([f"${one:,.2f}" for one in paid]), value=round(sum(paid), 2),
        others=(", ".join(f"{one:.2f}" for one in paid),), popularity=popularity,
        proof=Proof(calls=_with_ticker(share, days), operation="total"),
        needs=tuple(PageNeed(name, "dividend", day) for day in days),
    )  # fmt: skip


def _with_ticker(share: Stock, days: list[str]) -> tuple[Call, ...]:
    """The dividends of some days, by the ticker itself, so that all that is given is summed."""
    return tuple(
        ("finance_get_dividends_history", {"ticker_name": share.ticker}, (f"{day} 00:00:00 EST",))
        for day in days
    )


def _all_dividends(s: Occasion) -> Drawn:
    share, name, popularity = _paying(s, True)
    days = [day for day, _ in share.dividends if day <= s.at][-2:]
    total = round(sum(paid for day, paid in share.dividends if day in days), 2)
    return Drawn(
        query=f"How much did {name} pay in its last two dividends together, per share?",
        answer=money(total), others=(f"{total} dollars",), value=total, popularity=popularity,
        proof=Proof(calls=_with_ticker(share, days), operation="total"),
        needs=tuple(PageNeed(name, "dividend", day) for day in days),
    )  # fmt: skip


def _caps(s: Occasion) -> Drawn:
    two = _share(s, 2)
    caps = {name: market_cap(s.world, s.at, share.ticker) or 0.0 for share, name, _ in two}
    best = max(caps, key=lambda name: caps[name])
    first, second = caps
    return Drawn(
        query=f"Which company has the larger market capitalization, {first} or {second}?",
        answer=best, value=best, popularity=two[0][2],
        proof=Proof(
            calls=tuple(("finance_get_market_capitalization", {"ticker_name": share.ticker}, ())
                        for share, _, _ in two),
            operation="larger", names=(first, second)),
        needs=(PageNeed(first, "market capitalization"), PageNeed(second, "market capitalization")),
    )  # fmt: skip


def _chiefs_birth(s: Occasion) -> Drawn:
    [(share, name, popularity)] = _share(s)
    chief = s.facts.target(share.company, "chief", s.at)
    born = str(s.facts.value(chief.id, "born", s.at))
    return Drawn(
        query=f"When was the chief executive of {name} born?", answer=say_day(born),
        others=days_of(born), value=born, popularity=popularity,
        proof=Proof(calls=(*_by_ticker(name, "info", "companyOfficers", 0, "name"),
                           ("movie_get_person_info", {"person_name": {"$": 1}},
                            (0, "birthday")))),
        needs=(PageNeed(name, "chief executive"), PageNeed(chief.name, "date of birth")),
    )  # fmt: skip


def _buys(s: Occasion) -> Drawn | None:
    [(share, name, popularity)] = _share(s)
    price = price_at(s.world, share, s.at)
    sum_ = s.draw.pick((500, 1000, 2000, 5000, 10_000))
    many = int(sum_ / price + 1e-9)
    return None if many < 2 else Drawn(
        query=f"How many whole shares of {name} does ${sum_:,} buy right now?",
        answer=str(many), others=(f"{many} shares",), value=many, popularity=popularity,
        proof=Proof(calls=_by_ticker(name, "detailed_price_history", "@last", "Close"),
                    operation="fits", amount=sum_),
        needs=(PageNeed(name, "share price"),),
    )  # fmt: skip


def _no_dividend(s: Occasion) -> Drawn:
    _, name, popularity = _paying(s, False)
    return Drawn(
        query=f"How much was the last dividend of {name}?", answer=INVALID,
        others=(f"{name} has never paid a dividend.", "Nothing so far."), value=0,
        popularity=popularity,
        proof=Proof(calls=_by_ticker(name, "dividends_history"), operation="count"),
        needs=(PageNeed(name, "dividend"),),
    )  # fmt: skip


FINANCE = templates(
    "finance",
    ("simple", "real-time", _price_now), ("simple", "fast-changing", _close_today),
    ("simple", "slow-changing", _eps), ("simple", "static", _founded),
    ("simple_w_condition", "fast-changing", _close_then),
    ("set", "slow-changing", _dividend_days), ("comparison", "real-time", _caps),
    ("aggregation", "slow-changing", _all_dividends),
    ("multi-hop", "slow-changing", _chiefs_birth), ("post-processing", "real-time", _buys),
    ("false_premise", "slow-changing", _no_dividend),
)  # fmt: skip
"""The templates of the domain."""
