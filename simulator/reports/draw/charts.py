"""The charts of a report, each from the part of the report it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from simulator.ears.spoken_conditions import KINDS as SPOKEN
from simulator.ears.spoken_conditions import QUIET
from simulator.reports.draw.svg import Chart
from simulator.reports.read.evidence import STAGES

LEFT, RIGHT, TOP, BOTTOM = 44.0, 18.0, 26.0, 34.0

_STAGE_ROLES = dict(
    zip(STAGES, ("good", *(f"stage-{i}" for i in range(1, 7))), strict=True)
)  # fmt: skip


class Scale:
    """From values to pixels, with ticks at round numbers."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = low, high if high > low else low + 1
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        """Where a value lies; what is out of range stays near the edge."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, -0.05), 1.05) * (self.end - self.start)

    def ticks(self, step: float) -> list[float]:
        """Multiples of a step within the range."""
        first = int(self.low / step - 1e-9) if self.low < 0 else int(self.low / step + 0.999999)
        found: list[float] = []
        while first * step <= self.high + 1e-9:
            if first * step >= self.low - 1e-9:
                found.append(round(first * step, 10))
            first += 1
        return found


def severity_curves(robustness: dict[str, Any], path: str) -> list[Chart]:
    """One small chart per kind: truthfulness against severity, with its band, all on one scale.

    A noise begins where the same questions were said in quiet; what speech itself costs lies
    between that and the dashed line.
    """
    clean = robustness["clean"]
    if clean["estimate"] is None:
        return []
    quiet = next(
        (point["truthfulness"] for point in robustness["points"]
         if point["condition"] == QUIET and point["truthfulness"]["estimate"] is not None), None,
    )  # fmt: skip
    kinds: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for index, point in enumerate(robustness["points"]):
        if point["severity"] and point["truthfulness"]["estimate"] is not None:
            kinds.setdefault(point["kind"], []).append((index, point))
    ends = [clean, *(point["truthfulness"] for members in kinds.values() for _, point in members)]
    low, high = common_range([*ends, quiet] if quiet and SPOKEN.keys() & kinds else ends)
    return [
        _curve(
            kind, members, clean, quiet if kind in SPOKEN else None, (low, high),
            f"{path}.points", f"series-{1 + number % 6}",
        )
        for number, (kind, members) in enumerate(kinds.items())
    ]  # fmt: skip


def _curve(
    kind: str,
    members: list[tuple[int, dict[str, Any]]],
    clean: dict[str, Any],
    quiet: dict[str, Any] | None,
    span: tuple[float, float],
    path: str,
    role: str,
) -> Chart:
    words = ", ".join(
        f"{point['severity']}: {100 * point['truthfulness']['estimate']:+.1f}"
        for _, point in members
    )
    chart = Chart(
        f"severity-{kind}", kind, f"Truthfulness under {kind} by severity. {words}", 300, 210
    )
    last = max(point["severity"] for _, point in members)
    x = Scale(0, last, LEFT, chart.width - RIGHT - 6)
    y = _axis(chart, *span, points=True)
    zero = "severity (0: in quiet; dashed: typed)" if quiet else "severity (0 is clean)"
    _x_labels(chart, [(x(s), f"{s}") for s in range(last + 1)], zero)
    chart.text(LEFT, 15, kind, "ink", bold=True, radius=12)
    level = clean["estimate"] or 0.0
    chart.line([(x(0), y(level)), (x(last), y(level))], "muted", dashed=True, width=1)
    members = sorted(members, key=lambda member: member[1]["severity"])
    series = [(0, quiet or clean), *((p["severity"], p["truthfulness"]) for _, p in members)]
    for (s, f), (t, g) in pairwise(series):  # dashed over a severity that was not measured
        if t == s + 1 and f["low"] is not None and g["low"] is not None:
            ends = [(x(s), y(f["high"])), (x(t), y(g["high"])), (x(t), y(g["low"]))]
            chart.area([*ends, (x(s), y(f["low"]))], role)
        ends = [(x(s), y(f["estimate"])), (x(t), y(g["estimate"]))]
        chart.line(ends, role, width=2, dashed=t > s + 1)
    for index, point in members:
        value = point["truthfulness"]["estimate"]
        draw = chart.dot if point["change"]["p_holm"] <= 0.05 else chart.ring
        change = round(point["change"]["estimate"] or 0.0, 3)
        draw(
            x(point["severity"]), y(value), "bad" if change < 0 else "good" if change else role,
            text=f"{point['condition']}: {_signed(value)}, "
            f"p (Holm) {point['change']['p_holm']:.3g}",
            path=f"{path}.{index}.truthfulness.estimate", value=value,
            condition=point["condition"],
        )  # fmt: skip
    return chart


def failing_stage_chart(stages: Sequence[dict[str, Any]], path: str) -> list[Chart]:
    """Per kind: where turns ended at each severity, as stacked bars."""
    kinds: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for index, entry in enumerate(stages):
        if entry["n"]:
            kinds.setdefault(entry["kind"], []).append((index, entry))
    clean = kinds.pop("clean", [])
    if not kinds:
        kinds = {"": []}
    charts: list[Chart] = []
    for kind, members in kinds.items():
        quiet = kinds.get(QUIET) if kind in SPOKEN else None
        bars = [*(quiet or clean), *sorted(members, key=lambda m: m[1]["severity"] or 0)]
        name = kind or "all turns"
        chart = Chart(
            f"stages-{name.replace(' ', '-')}", name,
            f"Share of turns by the stage at which they ended, {name}.", 300, 210,
        )  # fmt: skip
        chart.text(LEFT, 15, name, "ink", bold=True, radius=12)
        y = _axis(chart, 0, 1, step=0.25)
        room = (chart.width - LEFT - RIGHT) / max(len(bars), 3)
        labels: list[tuple[float, str]] = []
        if not bars:
            chart.text(chart.width / 2, chart.height / 2, "no turn was scored", anchor="middle")
        for place, (index, entry) in enumerate(bars):
            left, floor = LEFT + place * room + room * 0.14, 0.0
            for stage in STAGES:
                share = entry["shares"][stage]
                if share:
                    chart.box(
                        left, y(floor + share), room * 0.72, y(floor) - y(floor + share),
                        _STAGE_ROLES[stage], text=f"{entry['condition']}, {stage}: {share:.1%}",
                        path=f"{path}.{index}.shares.{stage}", value=share,
                    )  # fmt: skip
                floor += share
            severity = entry["severity"]
            first = quiet is not None and place == 0
            at = "0" if first else "–" if severity is None else f"{severity}"
            labels.append((left + room * 0.36, at))
        zero = "in quiet" if quiet else "clean"
        _x_labels(chart, labels, f"severity (0 is {zero})" if kind else "")
        charts.append(chart)
    return charts


def survival(series: list[tuple[str, str, list[dict[str, Any]]]]) -> Chart:
    """Share of conversations that get to each turn; one line per (name, path, points)."""
    chart = Chart(
        "survival", "Survival by turn",
        "Share of the conversations with a given turn that reach it before the wearer gives up.",
    )  # fmt: skip
    last = max((point["turn"] for _, _, points in series for point in points), default=1)
    x = Scale(1, max(last, 2), LEFT + 6, chart.width - RIGHT - 6)
    y = _axis(chart, 0, 1, step=0.25)
    _x_labels(chart, [(x(t), str(t)) for t in range(1, last + 1)], "turn")
    for number, (name, path, points) in enumerate(series):
        role = f"series-{number + 1}"
        known = [(i, p) for i, p in enumerate(points) if p["share"] is not None]
        if len(known) > 1:
            upper = [(x(p["turn"]), y(p["high"])) for _, p in known]
            lower = [(x(p["turn"]), y(p["low"])) for _, p in reversed(known)]
            chart.area([*upper, *lower], role)
            chart.line([(x(p["turn"]), y(p["share"])) for _, p in known], role, width=2)
        for index, point in known:
            chart.dot(
                x(point["turn"]), y(point["share"]), role,
                text=f"{name}, turn {point['turn']}: {point['share']:.1%} "
                f"of {point['conversations']}",
                path=f"{path}.{index}.share", value=point["share"],
            )  # fmt: skip
    _legend(chart, [(name, f"series-{i + 1}") for i, (name, _, _) in enumerate(series)])
    return chart


def ending_turns_chart(points: Sequence[dict[str, Any]], path: str) -> Chart:
    """Which turn ended conversations, by the stage that failed in it."""
    chart = Chart(
        "ends", "The turn that ended it",
        "Number of conversations that ended at each turn, by the stage at which that turn failed.",
    )  # fmt: skip
    top = max((point["ended"] for point in points), default=0)
    if not top:
        middle = (LEFT + chart.width - RIGHT) / 2
        chart.text(middle, chart.height / 2, "no conversation was ended", anchor="middle")
    y = Scale(0, max(top, 4), chart.height - BOTTOM, TOP)
    step = _round_step(max(top, 4) / 4)
    for tick in y.ticks(step):
        chart.line([(LEFT, y(tick)), (chart.width - RIGHT, y(tick))], "grid", width=1)
        chart.text(LEFT - 6, y(tick) + 4, f"{tick:g}", anchor="end")
    room = (chart.width - LEFT - RIGHT) / max(len(points), 1)
    labels: list[tuple[float, str]] = []
    for index, point in enumerate(points):
        left, floor = LEFT + index * room + room * 0.16, 0
        for stage, count in point["stages"].items():
            if count:
                chart.box(
                    left, y(floor + count), room * 0.68, y(floor) - y(floor + count),
                    _STAGE_ROLES[stage], text=f"turn {point['turn']}, {stage}: {count}",
                    path=f"{path}.{index}.stages.{stage}", value=count,
                )  # fmt: skip
            floor += count
        if point["ended"]:
            chart.text(left + room * 0.34, y(floor) - 4, str(point["ended"]), anchor="middle")
        labels.append((left + room * 0.34, str(point["turn"])))
    _x_labels(chart, labels, "turn of the last strike")
    return chart


def step_time_chart(steps: Sequence[dict[str, Any]], path: str) -> Chart:
    """When each step of a turn begins and how long it takes, on average."""
    row, left = 22.0, 104.0
    chart = Chart(
        "waterfall", "Where a turn's time goes",
        "Mean start and duration of each step of a turn. "
        + ", ".join(f"{s['step']}: {s['seconds']:.3g} s" for s in steps),
        height=TOP + row * len(steps) + BOTTOM,
    )  # fmt: skip
    end = max((step["start"] + step["seconds"] for step in steps), default=1.0) or 1.0
    x = Scale(0, end * 1.14, left, chart.width - RIGHT)
    ticks = {tick: f"{tick:g}" for tick in x.ticks(_round_step(end / 4))}
    _lines_across(chart, x, ticks, "seconds since the turn began")
    for index, step in enumerate(steps):
        y = TOP + index * row
        chart.text(left - 8, y + 14, _short(step["step"], 15), "ink", anchor="end")
        width = max(x(step["start"] + step["seconds"]) - x(step["start"]), 1.5)
        chart.box(
            x(step["start"]), y + 4, width, row - 9, "series-1", radius=2,
            text=f"{step['step']}: starts at {step['start']:.3g} s, takes {step['seconds']:.3g} s, "
            f"in {step['share']:.0%} of replies",
            path=f"{path}.{index}.seconds", value=step["seconds"],
        )  # fmt: skip
        chart.text(x(step["start"]) + width + 4, y + 14, _seconds(step["seconds"]), radius=10)
    return chart


def retrieval_chart(groups: Sequence[dict[str, Any]], path: str) -> Chart:
    """What was found, as widths, and what was made of it, as colours."""
    row, left = 34.0, 104.0
    chart = Chart(
        "retrieval", "What was found, and what was made of it",
        "Turns by what the searches found, split into correct, missing and incorrect. "
        + ", ".join(f"{g['found']}: {g['share']:.1%}" for g in groups),
        height=TOP + row * len(groups) + BOTTOM,
    )  # fmt: skip
    x = Scale(0, 1, left, chart.width - RIGHT)
    ticks = {tick: f"{100 * tick:.0f} %" for tick in (0, 0.25, 0.5, 0.75, 1)}
    _lines_across(chart, x, ticks, "of turns")
    for index, group in enumerate(groups):
        y = TOP + index * row
        chart.text(left - 8, y + 13, group["found"], "ink", anchor="end")
        chart.text(left - 8, y + 25, f"{group['share']:.1%}", anchor="end", radius=10)
        at = 0.0
        for name, role in (("correct", "good"), ("missing", "soft"), ("incorrect", "bad")):
            share = (group[name] or 0.0) * group["share"]
            if share:
                chart.box(
                    x(at), y + 4, x(at + share) - x(at), row - 12, role,
                    text=f"{group['found']}: {group[name]:.1%} {name}",
                    path=f"{path}.{index}.{name}", value=group[name],
                )  # fmt: skip
            at += share
    _legend(chart, [("correct", "good"), ("missing", "soft"), ("incorrect", "bad")])
    return chart


def _lines_across(chart: Chart, x: Scale, ticks: Mapping[float, str], unit: str) -> None:
    """What the rows of a chart are read against."""
    for tick, label in ticks.items():
        chart.line([(x(tick), TOP - 6), (x(tick), chart.height - BOTTOM)], "grid", width=1)
        chart.text(x(tick), chart.height - BOTTOM + 14, label, anchor="middle")
    chart.text(chart.width - RIGHT, chart.height - 4, unit, anchor="end")


def slice_chart(table: Sequence[dict[str, Any]], titles: dict[str, str], path: str) -> Chart | None:
    """Truthfulness of every slice with its interval."""
    rows = [(i, e) for i, e in enumerate(table) if e["truthfulness"]["estimate"] is not None]
    if not rows:
        return None
    low, high = common_range([entry["truthfulness"] for _, entry in rows])
    heads = len({entry["dimension"] for _, entry in rows})
    chart = Chart(
        "slices", "Truthfulness by slice",
        "Truthfulness of every slice with its 95 % interval; the table has the same.",
        440, TOP + 17.0 * len(rows) + 24.0 * heads + BOTTOM,
    )  # fmt: skip
    left = 186.0
    x = Scale(low, high, left, chart.width - 60)
    for tick in x.ticks(0.25):
        chart.line([(x(tick), TOP - 8), (x(tick), chart.height - BOTTOM)], "grid", width=1)
        chart.text(x(tick), chart.height - BOTTOM + 14, _signed(tick), anchor="middle")
    y, dimension = TOP, ""
    for index, entry in rows:
        if entry["dimension"] != dimension:
            dimension = entry["dimension"]
            y += 24
            chart.text(10, y - 6, titles[dimension], "ink", bold=True)
        figure = entry["truthfulness"]
        role = "muted" if entry["small"] else "series-1"
        chart.text(left - 10, y + 8, _short(entry["slice"], 27), anchor="end", radius=10)
        if figure["low"] is not None:
            chart.line([(x(figure["low"]), y + 4), (x(figure["high"]), y + 4)], role)
        chart.dot(
            x(figure["estimate"]), y + 4, role,
            text=f"{entry['slice']}: {_signed(figure['estimate'])}",
            path=f"{path}.{index}.truthfulness.estimate", value=figure["estimate"],
        )  # fmt: skip
        chart.text(chart.width - 8, y + 8, f"n = {figure['n']}", anchor="end", radius=10)
        y += 17
    return chart


def interval_mark(figure: dict[str, Any], span: tuple[float, float], role: str) -> Chart:
    """A figure with its interval, small enough for a table's cell."""
    chart = Chart("", "", "", 120, 16)
    x = Scale(span[0], span[1], 4, 116)
    if span[0] < 0 < span[1]:
        chart.line([(x(0), 0), (x(0), 16)], "grid", width=1)
    if figure["estimate"] is not None:
        if figure["low"] is not None:
            chart.line([(x(figure["low"]), 8), (x(figure["high"]), 8)], role)
        chart.dot(x(figure["estimate"]), 8, role, radius=3)
    return chart


def common_range(figures: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """A common range for several figures."""
    values = [
        value
        for figure in figures
        for value in (figure["estimate"], figure["low"], figure["high"])
        if value is not None
    ]
    if not values:
        return -1.0, 1.0
    low, high = min(values), max(values)
    step = 0.25 if high - low > 0.5 else 0.1
    low, high = step * int(low / step - 1), step * int(high / step + 1)
    return max(low, -1.0), min(high, 1.0)


def _axis(
    chart: Chart, low: float, high: float, step: float | None = None, *, points: bool = False
) -> Scale:
    y = Scale(low, high, chart.height - BOTTOM, TOP)
    for tick in y.ticks(step or (0.25 if high - low > 0.6 else 0.1)):
        role = "muted" if tick == 0 and low < 0 else "grid"
        chart.line([(LEFT, y(tick)), (chart.width - RIGHT, y(tick))], role, width=1)
        label = _signed(tick) if points else f"{100 * tick:.0f} %"
        chart.text(LEFT - 6, y(tick) + 4, label, anchor="end")
    return y


def _x_labels(chart: Chart, labels: Sequence[tuple[float, str]], title: str) -> None:
    for x, label in labels:
        chart.text(x, chart.height - BOTTOM + 15, label, anchor="middle")
    if title:
        chart.text(chart.width - RIGHT, chart.height - 4, title, anchor="end", radius=10.5)


def _legend(chart: Chart, entries: Sequence[tuple[str, str]]) -> None:
    x = LEFT
    for name, role in entries:
        chart.box(x, 8, 9, 9, role, radius=2)
        chart.text(x + 13, 16, name, "ink", radius=10.5)
        x += 26 + 6.2 * len(name)


def _round_step(value: float) -> float:
    """The nearest of 1, 2, 2.5, 5 times a power of ten, from below."""
    power = 1.0
    while power > value:
        power /= 10
    while power * 10 <= value:
        power *= 10
    return max(m * power for m in (1, 2, 2.5, 5) if m * power <= value * 1.0000001)


def _short(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def _signed(value: float) -> str:
    """In points, as truthfulness and its changes are."""
    return f"{100 * value:+.0f}".replace("-", "−") if value else "0"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.0f} ms"
