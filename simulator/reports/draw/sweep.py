"""A sweep as a page: a plot and its table for each component, and the same in Markdown."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import Any

from mmrag.files.atomic import write_text
from mmrag.registry import Spec
from simulator.counting import counted
from simulator.reports.draw.charts import Scale, span_of
from simulator.reports.draw.svg import Chart, colour_properties, colour_rules, svg

Row = dict[str, Any]


def write_sweep(found: dict[str, Any], out: Path) -> Path:
    """`sweep.html` and `sweep.md` beside the runs; returns the page."""
    text, page = _markdown(found), _page(found)
    write_text(out / "sweep.md", text)
    write_text(out / "sweep.html", page)
    return out / "sweep.html"


def _tables(found: dict[str, Any]) -> list[tuple[str, list[tuple[str, Row]]]]:
    """(label, row) by component that changes alone; combinations stand in one of their own."""
    base, *others = found["settings"]
    groups: dict[str, list[Row]] = {}
    for row in others:
        groups.setdefault(" × ".join(row["changed"]), []).append(row)
    return [(component, _labelled(component, base, rows)) for component, rows in groups.items()]


def _labelled(component: str, base: Row, rows: list[Row]) -> list[tuple[str, Row]]:
    """The base first; where all values are numbers, all in their order."""
    own = Spec.parse(base["agent"]).options.get(component)
    labelled = [(", ".join(row["changed"].values()), row) for row in rows]
    first = ("base" if own is None else f"{own} (base)", base)
    values = [own or "", *(label for label, _ in labelled)]
    sizes = [_size(value) for value in values]
    if None in sizes:
        return [first, *labelled]
    placed = zip(sizes, [first, *labelled], strict=True)
    return [one for _, one in sorted(placed, key=lambda pair: pair[0] or 0.0)]


def _size(value: str) -> float | None:
    try:
        size = float(value.rstrip("%"))
    except ValueError:
        return None
    return size if math.isfinite(size) else None


def _names(found: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(n for row in found["settings"] for n in row["figures"]))


def _is_rough(found: dict[str, Any], name: str) -> bool:
    return bool(found["measures"].get(name, {}).get("approximate"))


def _markdown(found: dict[str, Any]) -> str:
    names = _names(found)
    heads = [f"{n} (approximate)" if _is_rough(found, n) else n for n in names]
    lines = [
        f"Data: `{found['data']}`, {_of(found)}; {found['date']}.",
        f"Base: `{found['settings'][0]['agent']}`, judged by `{found['judge']}`.",
    ]
    lines += [f"{n}: by `{by['judge']}`." for n, by in found["measures"].items()]
    for component, rows in _tables(found):
        lines += ["", f"## {component}", "", "| | scored | " + " | ".join(heads) + " |",
                  "|---|--:|" + "---|" * len(names)]  # fmt: skip
        lines += [
            f"| {label} | {_scored(row):,} | "
            + " | ".join(_cell(row, name) for name in names)
            + " |"
            for label, row in rows
        ]
    lines += ["", _WHAT.replace("*", "\\*")]
    lines += [line for said in _lacking(found) for line in ("", said)]
    return "\n".join(lines) + "\n"


_WHAT = "Differences are to the base, turn by turn; * p < 0.05, ** p < 0.01, each by itself."


def _of(found: dict[str, Any]) -> str:
    return f"{counted(found['conversations'], 'conversation')}, {counted(found['turns'], 'turn')}"


def _scored(row: Row) -> int:
    """Turns of a setting that have a verdict."""
    return row["figures"].get("truthfulness", {}).get("n", 0)


def _lacking(found: dict[str, Any]) -> list[str]:
    """What must be said where settings have not all answered: their figures are of other turns."""
    most = max(_scored(row) for row in found["settings"])
    short = [row["name"] for row in found["settings"] if _scored(row) < most]
    if not short:
        return []
    return [
        f"Fewer than {most:,} turns are scored of {', '.join(short)}: the others failed (a "
        "time-out or an error), so a figure beside the base's is of other turns; the difference is "
        "of the same.",
    ]


def _cell(row: Row, name: str) -> str:
    figure = row["figures"].get(name)
    if not figure or figure["estimate"] is None:
        return "–"
    shown = f"{figure['estimate']:.3f}"
    apart = row.get("difference", {}).get(name)
    if not apart or apart["estimate"] is None:
        return shown
    return f"{shown} ({apart['estimate']:+.3f}{_stars(apart).replace('*', chr(92) + '*')})"


def _stars(apart: dict[str, Any]) -> str:
    p = 1.0 if apart["p"] is None else apart["p"]
    return "**" if p < 0.01 else "*" if p < 0.05 else ""


def _page(found: dict[str, Any]) -> str:
    base = found["settings"][0]
    parts = [
        _HEAD,
        f"<h1>Sweep</h1><p>Data: <code>{escape(found['data'])}</code>, {_of(found)}; "
        f"{escape(found['date'])}.<br>Base: <code>{escape(base['agent'])}</code>, judged by "
        f"<code>{escape(str(found['judge']))}</code>.</p><p class=what>{_WHAT} Lines are 95 % "
        "intervals over conversations; the dashed one is the base.</p>",
    ]
    parts += [f"<p class=what>{escape(line)}</p>" for line in _lacking(found)]
    for component, rows in _tables(found):
        parts.append(f"<h2>{escape(component)}</h2>")
        parts += [_figure(found, component, name, rows) for name in _names(found)]
    return "".join([*parts, "</main></html>"])


def _figure(found: dict[str, Any], component: str, name: str, rows: list[tuple[str, Row]]) -> str:
    held = [
        (label, row)
        for label, row in rows
        if row["figures"].get(name) and row["figures"][name]["estimate"] is not None
    ]
    if not held:
        return ""
    body = "".join(
        f"<tr><th{' class=long' * (len(label) > _LONG)}>{escape(label)}</th>"
        f"<td>{row['figures'][name]['estimate']:.3f}</td>"
        f"<td>{_apart(row, name)}</td><td>{row['figures'][name]['n']:,}</td></tr>"
        for label, row in held
    )
    title, by = escape(name.replace("_", " ")), found["measures"].get(name)
    rough = " <span class=tag>approximate</span>" if _is_rough(found, name) else ""
    who = f" <code>{escape(by['judge'])}</code>" if by else ""
    base = found["settings"][0]["figures"].get(name)
    return (
        f"<h3>{title}{rough}{who}</h3><div class=pair>{svg(_plot(component, name, held, base))}"
        "<table><tr><th></th><th>figure</th><th>to the base</th><th>turns</th></tr>"
        f"{body}</table></div>"
    )


_LONG = 20
"""Characters from which on a label may be broken anywhere."""

_LABEL, _RIGHT, _TOP, _LINE, _FOOT = 104.0, 14.0, 8.0, 24.0, 34.0


def _plot(
    component: str, name: str, rows: list[tuple[str, Row]], base: dict[str, Any] | None
) -> Chart:
    """A row per value, its figure and interval on one axis; 340 wide, which a phone shows whole."""
    figures = [row["figures"][name] for _, row in rows]
    words = ", ".join(f"{label}: {row['figures'][name]['estimate']:.3f}" for label, row in rows)
    floor = _TOP + _LINE * len(rows)
    chart = Chart(
        f"{component}-{name}", f"{name} by {component}", f"{name} by {component}. {words}",
        340, floor + _FOOT,
    )  # fmt: skip
    span = span_of(figures)
    x = Scale(*span, _LABEL, chart.width - _RIGHT)
    step = next(s for s in (0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0) if (span[1] - span[0]) / s <= 5)
    for tick in x.ticks(step):
        chart.line([(x(tick), _TOP), (x(tick), floor)], "grid", width=1)
        chart.text(x(tick), floor + 15, f"{tick:.2f}", anchor="middle")
    chart.text(chart.width - _RIGHT, floor + 30, name.replace("_", " "), anchor="end")
    if base and base["estimate"] is not None:
        level = x(base["estimate"])
        chart.line([(level, _TOP), (level, floor)], "muted", dashed=True, width=1)
    for number, ((label, row), figure) in enumerate(zip(rows, figures, strict=True)):
        y = _TOP + _LINE * (number + 0.5)
        chart.text(_LABEL - 8, y + 4, _short(label), "ink", anchor="end")
        if figure["low"] is not None:
            chart.line([(x(figure["low"]), y), (x(figure["high"]), y)], "series-1")
        told = f"{label}: {figure['estimate']:.3f}"
        draw = chart.dot if row["changed"] else chart.ring
        draw(x(figure["estimate"]), y, "series-1", text=told, radius=4)
    return chart


def _short(label: str) -> str:
    return label if len(label) <= 13 else label[:11] + "…"


def _apart(row: Row, name: str) -> str:
    apart = row.get("difference", {}).get(name)
    if not apart or apart["estimate"] is None:
        return ""
    p = "" if apart["p"] is None else f", p = {max(apart['p'], 0.001):.3f}{_stars(apart)}"
    if apart["low"] is None:  # of one conversation there is no interval
        return f"{apart['estimate']:+.3f}{p}"
    return f"{apart['estimate']:+.3f} [{apart['low']:+.3f}, {apart['high']:+.3f}]{p}"


_HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sweep</title>'
    '<meta name="viewport" content="width=device-width"><style>'
    f":root{{color-scheme:light dark;{colour_properties(dark=False)}}}"
    f"@media(prefers-color-scheme:dark){{:root{{{colour_properties(dark=True)}}}}}"
    f"{colour_rules()}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0;background:var(--surface);color:var(--ink)}"
    "main{max-width:58rem;margin:0 auto;padding:24px 16px}"
    ".pair{display:flex;flex-wrap:wrap;gap:8px 32px;align-items:flex-start}"
    ".chart{width:340px;max-width:100%;flex:none}"
    "table{border-collapse:collapse;flex:1 1 22rem;min-width:0;font-size:14px}"
    "th,td{text-align:left;padding:4px 8px 4px 0;border-bottom:1px solid var(--grid)}"
    "td{font-variant-numeric:tabular-nums}th.long{overflow-wrap:anywhere;max-width:12rem}"
    "tr>:last-child{text-align:right;padding-right:0}"
    "code{overflow-wrap:anywhere;font-size:.92em}h2{margin:2em 0 0;border-top:2px solid "
    "var(--grid);padding-top:.6em}h3{margin:1em 0 .2em;font-size:1em}h3 code{font-weight:400;"
    "color:var(--muted)}.what{color:var(--muted);font-size:.92em}.tag{border:1px solid var(--soft);"
    "border-radius:4px;padding:0 4px;font-size:.85em;font-weight:400}</style><main>"
)
