"""CRAG's shares: the world's companies with their prices as the fact base has them."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from typing import Any

from simulator.world.build.randomness import Draw
from simulator.world.crag.crag_world import CragWorld, Stock
from simulator.world.crag.kg.name_index import NameIndex


def names(world: CragWorld, _at: str, query: str) -> list[str]:
    """Companies by name, best match first."""
    return _by_name(world).search(query)


def ticker(world: CragWorld, _at: str, query: str) -> str | None:
    """The ticker of a company with exactly this name."""
    found = (s.ticker for s in world.shares if world.name(s.company) == query)
    return next(found, None)


def prices(world: CragWorld, at: str, ticker_name: str) -> dict[str, Any] | None:
    """Day by day up to the day of asking."""
    share = _share(world, ticker_name)
    if share is None:
        return None
    closes = share.closes_by(at)
    before = [closes[0][1], *(close for _, close in closes)]
    return {
        f"{day} 00:00:00 EST": _bar(world, share, day, open_, close)
        for (day, close), open_ in zip(closes, before, strict=False)
    }


def bars(world: CragWorld, at: str, ticker_name: str) -> dict[str, Any] | None:
    """Hour by hour since yesterday; the close of the last bar is the price now."""
    share = _share(world, ticker_name)
    if share is None:
        return None
    first = world.facts.history(share.company, "share", until=at)[0].valid_from or at
    moment = dt.datetime.fromisoformat(f"{first[:10]}T00:00")
    found: dict[str, Any] = {}
    before = price_at(world, share, moment.isoformat(timespec="minutes"))
    while (iso := moment.isoformat(timespec="minutes")) <= at:
        close = price_at(world, share, iso)
        found[f"{iso[:10]} {iso[11:]}:00 EST"] = _bar(world, share, iso, before, close)
        before, moment = close, moment + dt.timedelta(hours=1)
    return found


def dividends(world: CragWorld, at: str, ticker_name: str) -> dict[str, float] | None:
    """Dividends by day."""
    share = _share(world, ticker_name)
    if share is None:
        return None
    return {f"{day} 00:00:00 EST": paid for day, paid in share.dividends if day <= at}


def market_cap(world: CragWorld, at: str, ticker_name: str) -> float | None:
    """Shares outstanding at the price now."""
    share = _share(world, ticker_name)
    return None if share is None else round(share.outstanding * price_at(world, share, at), 2)


def eps(world: CragWorld, _at: str, ticker_name: str) -> float | None:
    """Earnings per share."""
    share = _share(world, ticker_name)
    return None if share is None else share.eps


def pe_ratio(world: CragWorld, at: str, ticker_name: str) -> float | None:
    """The price now over the earnings per share."""
    share = _share(world, ticker_name)
    return None if share is None else round(price_at(world, share, at) / share.eps, 2)


def info(world: CragWorld, at: str, ticker_name: str) -> dict[str, Any] | None:
    """What is known about the company."""
    share = _share(world, ticker_name)
    if share is None:
        return None
    facts, own = world.facts, share.company
    return {
        "symbol": share.ticker,
        "longName": world.name(own),
        "city": facts.target(own, "headquarters", at).name,
        "industry": facts.entity(own).domain,
        "founded": facts.value(own, "founded", at),
        "fullTimeEmployees": facts.value(own, "staff", at),
        "totalRevenue": float(str(facts.value(own, "revenue", at))) * 1e6,
        "companyOfficers": [
            {"name": facts.target(own, "chief", at).name, "title": "Chief Executive Officer"}
        ],
        "currentPrice": price_at(world, share, at),
        "marketCap": market_cap(world, at, ticker_name),
        "sharesOutstanding": share.outstanding,
        "forwardEps": share.eps,
        "forwardPE": pe_ratio(world, at, ticker_name),
    }


def price_at(world: CragWorld, share: Stock, at: str) -> float:
    """The price of a share at a moment."""
    return float(str(world.facts.value(share.company, "share", at)))


@lru_cache(maxsize=4)
def _by_name(world: CragWorld) -> NameIndex:
    return NameIndex(world.name(share.company) for share in world.shares)


def _share(world: CragWorld, ticker_name: str) -> Stock | None:
    wanted = ticker_name.strip().upper()
    return next((share for share in world.shares if share.ticker == wanted), None)


def _bar(world: CragWorld, share: Stock, when: str, open_: float, close: float) -> dict[str, float]:
    draw = Draw(world.facts.seed, "stage", "bar", share.ticker, when)
    low, high = min(open_, close), max(open_, close)
    return {
        "Open": open_,
        "High": round(high * draw.uniform(1.0, 1.02), 2),
        "Low": round(low * draw.uniform(0.98, 1.0), 2),
        "Close": close,
        "Volume": draw.between(1000, 900_000),
    }
