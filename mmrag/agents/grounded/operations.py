"""What a plan does with the values it finds: one function per operation."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import msgspec

from mmrag.agents.grounded.plan import NAMED, QuestionPlan, Subject
from mmrag.agents.grounded.reader import Found, Reading, finding
from mmrag.agents.grounded.scene import Candidate, Finding
from mmrag.agents.grounded.statements import fold
from mmrag.agents.grounded.values import Value, read_value, say_list, say_number

UNITS: dict[tuple[str, str], tuple[float, float]] = {
    ("g", "oz"): (1 / 28.349523125, 0), ("kg", "lb"): (1 / 0.45359237, 0), ("cm", "in"): (1 / 2.54, 0),
    ("mm", "in"): (1 / 25.4, 0), ("m", "ft"): (1 / 0.3048, 0), ("km", "mi"): (1 / 1.609344, 0),
    ("km/h", "mph"): (1 / 1.609344, 0), ("kW", "hp"): (1 / 0.745699872, 0), ("cm", "ft"): (1 / 30.48, 0),
    ("litres", "gal"): (1 / 3.785411784, 0), ("l", "gal"): (1 / 3.785411784, 0),
    ("ml", "fl oz"): (1 / 29.5735295625, 0), ("°C", "°F"): (1.8, 32.0), ("kcal", "kJ"): (4.184, 0),
    ("g", "kg"): (0.001, 0), ("kg", "g"): (1000, 0), ("cm", "m"): (0.01, 0), ("m", "cm"): (100, 0),
    ("km", "m"): (1000, 0), ("m", "km"): (0.001, 0), ("mm", "cm"): (0.1, 0), ("hours", "minutes"): (60, 0),
    ("g", "lb"): (1 / 453.59237, 0), ("ml", "litres"): (0.001, 0), ("°F", "°C"): (5 / 9, -160 / 9),
}  # fmt: skip
"""(from, to) → factor, offset."""


_EVEN = 0.5
"""How often one of two answers is right by luck."""

_READABLE = 0.5
"""How often the largest print that no search knows is all of a name."""


def _lookup(r: Reading, plan: QuestionPlan) -> Finding | None:
    found = r.resolve(plan)
    if found is None:
        return None
    return finding(_say(found.value), plan.operation, found)


def _name(r: Reading, plan: QuestionPlan) -> Finding | None:
    candidates = r.entities(plan.subject)
    return _seen(candidates[0].name, plan, candidates[:1]) if candidates else None


def _print(r: Reading, plan: QuestionPlan) -> Finding | None:
    main = r.scene.main
    if main is not None and main.source in ("ocr", "both"):
        return _seen(main.name, plan, [main])
    printed = r.scene.printed
    if main is not None and (not printed or main.confidence > _READABLE):
        return _seen(main.name, plan, [main])
    return _seen(printed[0], plan, [], _READABLE) if printed else None


def _small_print(r: Reading, plan: QuestionPlan) -> Finding | None:
    known = {fold(c.name) for c in (r.scene.main, *r.scene.beside) if c}
    run_on = "".join(known).replace(" ", "")
    lines = [t for t in r.scene.printed if fold(t).replace(" ", "") not in run_on]
    return _seen(lines[0], plan, [], 0.6 if len(lines) == 1 else 0.4) if lines else None


def _initials(r: Reading, plan: QuestionPlan) -> Finding | None:
    main = r.scene.main
    if main is None:
        return None
    letters = [w[0].upper() for w in main.name.replace("-", " ").split() if w[0].isalpha()]
    return _seen(". ".join(letters) + ".", plan, [main])


def _is_name(r: Reading, plan: QuestionPlan) -> Finding | None:
    main = r.scene.main
    if main is None or not plan.options:
        return None
    return _seen("Yes" if fold(main.name) == fold(plan.options[0]) else "No", plan, [main])


def _choose_name(r: Reading, plan: QuestionPlan) -> Finding | None:
    main = r.scene.main
    if main is None:
        return None
    for name in plan.options:
        if fold(name) == fold(main.name):
            return _seen(name, plan, [main])
    offered = {fold(o) for o in plan.options}
    ranked = [c for c in (*r.scene.beside, *r.scene.alike) if fold(c.name) in offered]
    return _seen(ranked[0].name, plan, ranked[:1], 0.5) if ranked else None


def _compare(r: Reading, plan: QuestionPlan) -> Finding | None:
    pair = _both(r, plan)
    if pair is None:
        return None
    a, b = pair
    sign = _order(a, b, plan)
    return finding("Yes" if sign > 0 else "No", "compare", a, b, luck=_EVEN)


def _choose(r: Reading, plan: QuestionPlan) -> Finding | None:
    pair = _both(r, plan)
    if pair is None:
        return None
    a, b = pair
    first, second = _entity_name(r, plan, 0), _entity_name(r, plan, 1)
    chosen, side = (first, plan.subject) if _order(a, b, plan) > 0 else (second, plan.others[0])
    luck = _EVEN if side.kind == NAMED and not side.is_guess else 0.0
    return finding(chosen, "choose", a, b, luck=luck)


def _choose_then(r: Reading, plan: QuestionPlan) -> Finding | None:
    pair = _both(r, plan)
    if pair is None or plan.inner is None:
        return None
    side = 0 if _order(*pair, plan) > 0 else 1
    thing = (r.entities(plan.subject) if side == 0 else r.entities(plan.others[0]))[0]
    found = r.of_entity(plan.inner, thing, plan.inner.subject)
    return finding(_say(found.value), "choose", *pair, found) if found else None


def _difference(r: Reading, plan: QuestionPlan) -> Finding | None:
    pair = _both(r, plan)
    if pair is None:
        return None
    a, b = pair
    gap = abs(_number(a) - _number(b))
    unit = a.value.unit or ("years" if a.value.kind == "year" else "")
    return finding(say_number(gap, unit, _digits(a, b)), plan.operation, a, b)


def _days_apart(r: Reading, plan: QuestionPlan) -> Finding | None:
    a = r.resolve(plan)
    b = r.resolve(plan, _with_tail(plan, 0)) if a else None
    if a is None or b is None or not a.value.kind == b.value.kind == "date":
        return None
    x, y = (dt.date.fromisoformat(v.value.iso[:10]) for v in (a, b))
    return finding(say_number(abs((x - y).days), "days"), plan.operation, a, b)


def _years_between(r: Reading, plan: QuestionPlan) -> Finding | None:
    end = r.resolve(plan)
    start = r.resolve(plan.inner) if plan.inner else None
    if start is None and plan.inner is not None:  # "birth year" is told by a date of birth
        tail = plan.inner.subject.tail.replace(" year", " date").replace(
            "birth date", "date of birth"
        )
        thing = msgspec.structs.replace(plan.inner.subject, tail=tail)
        start = r.resolve(msgspec.structs.replace(plan.inner, subject=thing))
    x, y = (_year(end), _year(start)) if end and start else (None, None)
    if end is None or start is None or x is None or y is None:
        return None
    return finding(say_number(abs(x - y), "years"), plan.operation, end, start)


def _convert(r: Reading, plan: QuestionPlan) -> Finding | None:
    found = r.resolve(plan)
    if found is None or found.value.number is None:
        return None
    known = UNITS.get((found.value.unit, plan.unit))
    if known is None:
        return None
    digits = 0 if plan.unit in ("kJ", "hp") else 1
    value = found.value.number * known[0] + known[1]
    return finding(say_number(value, plan.unit, digits), plan.operation, found)


def _fits(r: Reading, plan: QuestionPlan) -> Finding | None:
    found = r.resolve(plan)
    if found is None or not found.value.number or plan.amount is None:
        return None
    times = int(plan.amount // found.value.number)
    return finding(f"{times:,}", plan.operation, found) if times >= 0 else None


def _times(r: Reading, plan: QuestionPlan) -> Finding | None:
    found = r.resolve(plan)
    if found is None or found.value.number is None or plan.amount is None:
        return None
    value = found.value.number * plan.amount
    return finding(say_number(value, found.value.unit, found.value.digits), plan.operation, found)


def _enough(r: Reading, plan: QuestionPlan) -> Finding | None:
    found = r.resolve(plan)
    if found is None or found.value.number is None or plan.amount is None:
        return None
    yes = found.value.number >= plan.amount if plan.larger else found.value.number <= plan.amount
    return finding("Yes" if yes else "No", plan.operation, found, luck=_EVEN)


def _against_past(r: Reading, plan: QuestionPlan) -> Finding | None:
    pair = _now_and_then(r, plan)
    if pair is None:
        return None
    now, then = pair
    higher = _number(now) > _number(then)
    said = "Yes" if higher == plan.larger else "No"
    return finding(said, plan.operation, now, then, luck=_EVEN)


def _change(r: Reading, plan: QuestionPlan) -> Finding | None:
    pair = _now_and_then(r, plan)
    if pair is None:
        return None
    now, then = pair
    gap = _number(now) - _number(then)
    said = say_number(abs(gap), now.value.unit, _digits(now, then))
    way = "up" if gap > 0 else "down"
    text = f"{way} by {said}, from {_say(then.value)} to {_say(now.value)}" if gap else "unchanged"
    return finding(text, plan.operation, now, then)


def _percent(r: Reading, plan: QuestionPlan) -> Finding | None:
    pair = _now_and_then(r, plan)
    if pair is None or not _number(pair[1]):
        return None
    now, then = pair
    change = 100 * (_number(now) - _number(then)) / abs(_number(then))
    return finding(say_number(change, "%", 1), plan.operation, now, then)


def _over_days(
    pick: Callable[[list[float]], float],
) -> Callable[[Reading, QuestionPlan], Finding | None]:
    def run(r: Reading, plan: QuestionPlan) -> Finding | None:
        if not r.now or not plan.amount:
            return None
        today = dt.date.fromisoformat(r.now[:10])
        days = [today - dt.timedelta(days=i) for i in range(int(plan.amount) + 1)]
        found: list[Found] = []
        for day in days:
            when = str(day) if day != today else ""
            one = r.resolve(msgspec.structs.replace(plan, when=when, now="today"))
            if one is None or one.value.number is None:
                return None
            found.append(one)
        value = pick([_number(f) for f in found])
        unit = found[0].value.unit
        return finding(
            say_number(value, unit, max(f.value.digits for f in found)), plan.operation, *found
        )

    return run


def _in_time(r: Reading, plan: QuestionPlan) -> Finding | None:
    found = r.resolve(plan)
    if found is None or found.value.kind != "clock":
        return None
    still = plan.claim < found.value.iso
    return finding("Yes" if still == plan.larger else "No", plan.operation, found, luck=_EVEN)


def _minutes_left(r: Reading, plan: QuestionPlan) -> Finding | None:
    found = r.resolve(plan)
    if found is None or found.value.kind != "clock" or len(r.now) < 16:
        return None
    then, now = (int(t[:2]) * 60 + int(t[3:5]) for t in (found.value.iso, r.now[11:16]))
    return (
        finding(say_number(then - now, "minutes"), plan.operation, found) if then >= now else None
    )


def _group(r: Reading, plan: QuestionPlan) -> list[tuple[Candidate, Found]] | None:
    candidates = r.entities(plan.subject)
    found = [
        (c, r.of_entity(plan, c, msgspec.structs.replace(plan.subject, path=())))
        for c in candidates
    ]
    known = [(c, f) for c, f in found if f is not None and _is_number(f)]
    return known if len(known) == len(candidates) and len(known) > 1 else None


def _extreme(r: Reading, plan: QuestionPlan) -> Finding | None:
    group = _group(r, plan)
    if not group:
        return None
    best = max(group, key=lambda g: _number(g[1]) * (1 if plan.larger else -1))
    return finding(best[0].name, plan.operation, *(f for _, f in group))


def _filter(r: Reading, plan: QuestionPlan) -> Finding | None:
    group = _group(r, plan)
    if not group or plan.amount is None:
        return None
    chosen = [c.name for c, f in group if (_number(f) > plan.amount) == plan.larger]
    if plan.operation == "count":
        return finding(str(len(chosen)), plan.operation, *(f for _, f in group))
    return finding(say_list(chosen), plan.operation, *(f for _, f in group)) if chosen else None


def _sum(r: Reading, plan: QuestionPlan) -> Finding | None:
    group = _group(r, plan)
    if not group:
        return None
    values = [_number(f) for _, f in group]
    total = sum(values) / (len(values) if plan.operation == "average" else 1)
    digits = max(f.value.digits for _, f in group)
    if plan.operation == "average":
        digits = max(digits, 1)
    text = say_number(total, group[0][1].value.unit, digits)
    return finding(text, plan.operation, *(f for _, f in group))


def _sharing(r: Reading, plan: QuestionPlan) -> Finding | None:
    candidates = r.entities(plan.subject)
    if not candidates:
        return None
    me = candidates[0]
    owner = r.attribute(me.name, plan.relation, plan, is_noun=True, names=True)
    if owner is None:
        return None

    def shares(name: str) -> bool:
        return r.holds_relation(name, plan.relation, owner, plan)

    kin: dict[str, str] = {}
    for name in r.desk.sharing(plan.relation, owner.value.text, plan.noun):
        if shares(name):
            kin.setdefault(fold(name), name)
    kin.setdefault(fold(me.name), me.name)
    others = [n for key, n in sorted(kin.items()) if key != fold(me.name)]
    base = Found(
        value=owner.value, noun=owner.noun, recognition=me.confidence, match=owner.match,
        margin=owner.margin, agreement=owner.agreement, support=len(kin), citations=owner.citations,
    )  # fmt: skip
    if plan.operation == "count-sharing":
        return finding(str(len(kin)), plan.operation, base)
    if plan.operation == "list-sharing":
        return finding(say_list(others), plan.operation, base) if others else None
    names = others if plan.operation == "extreme-sharing" else list(kin.values())
    values = [
        (n, r.attribute(n, plan.ask, plan, is_noun=plan.operation == "total-sharing"))
        for n in names
    ]  # which has fetched more pages: some of these may tell that one does not belong
    values = [(n, f) for n, f in values if n == me.name or shares(n)]
    known = [(n, f) for n, f in values if f is not None and _is_number(f)]
    if not known or len(known) < len(values):
        return None
    if plan.operation == "extreme-sharing":
        name, _ = max(known, key=lambda k: _number(k[1]) * (1 if plan.larger else -1))
        return finding(name, plan.operation, base, *(f for _, f in known))
    total = sum(_number(f) for _, f in known)
    first = known[0][1].value
    return finding(
        say_number(total, first.unit, first.digits), plan.operation, base, *(f for _, f in known)
    )


def _premise(r: Reading, plan: QuestionPlan) -> Finding | None:
    """Check what the question takes for granted before answering it."""
    actual = r.resolve(plan)
    answer = OPERATIONS[plan.inner.operation](r, plan.inner) if plan.inner else None
    if actual is None:
        return None
    if is_so(actual.value, plan.claim):
        return msgspec.structs.replace(answer, operation="premise") if answer else None
    what = f"the {actual.noun}" if actual.noun else "it"
    text = f"That's not right: {what} is {_say(actual.value)}, not {plan.claim}."
    return finding(text, "false-premise", actual)


def is_so(actual: Value, claim: str) -> bool:
    """Whether a value is what somebody claims it to be."""
    return _same(actual, read_value(claim))


def _both(r: Reading, plan: QuestionPlan) -> tuple[Found, Found] | None:
    if not plan.others:
        return None
    a = r.resolve(plan)
    b = r.resolve(plan, _with_tail(plan, 0)) if a is not None else None
    if a is None or b is None or not (_is_number(a) and _is_number(b)):
        return None
    return (a, b) if a.noun == b.noun else _of_one_noun(r, plan, a, b)


def _of_one_noun(r: Reading, plan: QuestionPlan, a: Found, b: Found) -> tuple[Found, Found] | None:
    """Two things compared by one and the same attribute: the one that fits better."""
    sides = (plan.subject, _with_tail(plan, 0))
    for mine, other, side in sorted(((a, b, 1), (b, a, 0)), key=lambda s: -s[0].match):
        if other.steps != 1:
            continue
        asked = msgspec.structs.replace(plan, ask="", asks_noun=True)
        thing = msgspec.structs.replace(sides[side], path=(), tail=mine.noun)
        again = r.resolve(asked, thing)
        if again is not None and again.noun == mine.noun:
            again = msgspec.structs.replace(again, match=mine.match, margin=mine.margin)
            return (mine, again) if side else (again, mine)
    return (a, b) if a.value.unit == b.value.unit and a.value.kind == b.value.kind else None


def _with_tail(plan: QuestionPlan, index: int) -> Subject:
    other = plan.others[index]
    return msgspec.structs.replace(other, tail=other.tail or plan.subject.tail)


def _now_and_then(r: Reading, plan: QuestionPlan) -> tuple[Found, Found] | None:
    now = r.resolve(msgspec.structs.replace(plan, when="", now=plan.now or "current"))
    then = r.resolve(plan) if now else None
    if now is None or then is None or not (_is_number(now) and _is_number(then)):
        return None
    if now.date and now.date == then.date:  # one value cannot tell whether it changed
        return None
    return now, then


def _entity_name(r: Reading, plan: QuestionPlan, side: int) -> str:
    subject = plan.subject if side == 0 else plan.others[0]
    return r.entities(subject)[0].name


def _order(a: Found, b: Found, plan: QuestionPlan) -> int:
    """1 when the first wins. "Older" and "newer" turn round what a year says."""
    larger = plan.larger
    if a.value.kind in ("year", "date") and any(
        w in plan.ask for w in ("older", "oldest", "goes back", "go back")
    ):
        larger = not larger
    return 1 if (_number(a) > _number(b)) == larger else -1


def _is_number(found: Found) -> bool:
    return found.value.number is not None or found.value.kind in ("date", "clock")


def _number(found: Found) -> float:
    if found.value.number is not None:
        return found.value.number
    if found.value.kind == "date":
        return float(dt.date.fromisoformat(found.value.iso[:10]).toordinal())
    return int(found.value.iso[:2]) * 60.0 + int(found.value.iso[3:5])


def _year(found: Found) -> int | None:
    if found.value.kind == "year" and found.value.number is not None:
        return int(found.value.number)
    return int(found.value.iso[:4]) if found.value.kind == "date" else None


def _digits(*found: Found) -> int:
    return max(f.value.digits for f in found)


def _same(a: Value, b: Value) -> bool:
    if a.number is not None and b.number is not None:
        return abs(a.number - b.number) < 1e-9 * max(1.0, abs(a.number))
    return a.key == b.key or fold(a.text) == fold(b.text)


def _say(value: Value) -> str:
    return say_list(value.items) if value.kind == "list" else value.text


def _seen(
    text: str, plan: QuestionPlan, candidates: list[Candidate], confidence: float = 1.0
) -> Finding:
    return Finding(
        text=text,
        operation=plan.operation,
        recognition=min((confidence, *(c.confidence for c in candidates))),
        support=0.5,
        citations=tuple(e.id for c in candidates for e in c.evidence[:1])[:3],
    )


OPERATIONS: dict[str, Callable[[Reading, QuestionPlan], Finding | None]] = {
    "lookup": _lookup, "name": _name, "print": _print, "small-print": _small_print,
    "initials": _initials, "is-name": _is_name, "choose-name": _choose_name,
    "compare": _compare, "choose": _choose, "choose-then": _choose_then,
    "difference": _difference, "days-apart": _days_apart, "years-between": _years_between,
    "convert": _convert, "fits": _fits, "times": _times, "enough": _enough,
    "against-past": _against_past, "percent": _percent, "change": _change, "peak": _over_days(max),
    "trough": _over_days(min), "swing": _over_days(lambda v: max(v) - min(v)), "in-time": _in_time,
    "minutes-left": _minutes_left, "extreme": _extreme, "filter": _filter, "count": _filter,
    "total": _sum, "average": _sum, "list-sharing": _sharing, "count-sharing": _sharing,
    "total-sharing": _sharing, "extreme-sharing": _sharing, "premise": _premise,
}  # fmt: skip
"""Every operation that the built-in reader can carry out."""
