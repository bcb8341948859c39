"""A sweep as a page: a table and a plot for each component, and the same in Markdown."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from mmrag.files import write_text
from simulator.reports.draw.charts import interval_mark, span_of
from simulator.reports.draw.svg import svg


def write_sweep(found: dict[str, Any], out: Path) -> Path:
    """`sweep.html` and `sweep.md` beside the runs; returns the page."""
    text, page = _markdown(found), _page(found)
    write_text(out / "sweep.md", text)
    write_text(out / "sweep.html", page)
    return out / "sweep.html"


def _tables(found: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """One table per component that changes alone; combinations stand in one of their own."""
    base, *others = found["settings"]
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in others:
        groups.setdefault(" × ".join(row["changed"]), []).append(row)
    return [(component, [base, *rows]) for component, rows in groups.items()]


def _names(found: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(n for row in found["settings"] for n in row["figures"]))


def _label(row: dict[str, Any]) -> str:
    return ", ".join(row["changed"].values()) or "base"


def _markdown(found: dict[str, Any]) -> str:
    names = _names(found)
    lines = [f"Base: `{found['settings'][0]['agent']}`, judged by `{found['judge']}`."]
    for component, rows in _tables(found):
        lines += ["", f"## {component}", "", "| | scored | " + " | ".join(names) + " |",
                  "|---|--:|" + "---|" * len(names)]  # fmt: skip
        lines += [
            f"| {_label(row)} | {_scored(row):,} | "
            + " | ".join(_cell(row, name) for name in names)
            + " |"
            for row in rows
        ]
    lines += ["", "Differences are to the base, turn by turn; \\* p < 0.05, \\*\\* p < 0.01."]
    lines += _lacking(found)
    return "\n".join(lines) + "\n"


def _scored(row: dict[str, Any]) -> int:
    """Turns of a setting that have a verdict."""
    return row["figures"].get("truthfulness", {}).get("n", 0)


def _lacking(found: dict[str, Any]) -> list[str]:
    """What must be said where settings have not all answered: their figures are of other turns."""
    most = max(_scored(row) for row in found["settings"])
    short = [row["name"] for row in found["settings"] if _scored(row) < most]
    if not short:
        return []
    return [
        "",
        f"Fewer than {most:,} turns are scored of {', '.join(short)}: the others failed (a "
        "time-out or an error), so a figure beside the base's is of other turns; the difference is "
        "of the same.",
    ]


def _cell(row: dict[str, Any], name: str) -> str:
    figure = row["figures"].get(name)
    if not figure or figure["estimate"] is None:
        return "–"
    shown = f"{figure['estimate']:.3f}"
    apart = row.get("difference", {}).get(name)
    if not apart or apart["estimate"] is None:
        return shown
    p = 1.0 if apart["p"] is None else apart["p"]
    stars = "\\*\\*" if p < 0.01 else "\\*" if p < 0.05 else ""
    return f"{shown} ({apart['estimate']:+.3f}{stars})"


def _page(found: dict[str, Any]) -> str:
    names = _names(found)
    parts = [_HEAD, f"<h1>Sweep</h1><p>Base: <code>{escape(found['settings'][0]['agent'])}</code>, "
             f"judged by <code>{escape(str(found['judge']))}</code>.</p>"]  # fmt: skip
    for component, rows in _tables(found):
        parts.append(f"<h2>{escape(component)}</h2>")
        for name in names:
            parts.append(_table(name, rows))
    parts += [f"<p>{escape(line)}</p>" for line in _lacking(found) if line]
    return "".join([*parts, "</main></html>"])


def _table(name: str, rows: list[dict[str, Any]]) -> str:
    held = [row for row in rows if row["figures"].get(name)]
    if not held:
        return ""
    span = span_of([row["figures"][name] for row in held])
    body = "".join(
        f"<tr><th>{escape(_label(row))}</th><td>{row['figures'][name]['estimate']:.3f}</td>"
        f"<td>{svg(interval_mark(row['figures'][name], span, 'first'))}</td>"
        f"<td>{_apart(row, name)}</td><td>{row['figures'][name]['n']:,}</td></tr>"
        for row in held
        if row["figures"][name]["estimate"] is not None
    )
    title = escape(name.replace("_", " "))
    return (
        f"<h3>{title}</h3><table><tr><th></th><th>figure</th><th>95 %</th>"
        f"<th>to the base</th><th>turns</th></tr>{body}</table>"
    )


def _apart(row: dict[str, Any], name: str) -> str:
    apart = row.get("difference", {}).get(name)
    if not apart or apart["estimate"] is None:
        return ""
    p = "" if apart["p"] is None else f", p = {max(apart['p'], 0.001):.3f}"
    if apart["low"] is None:  # of one conversation there is no interval
        return f"{apart['estimate']:+.3f}{p}"
    return f"{apart['estimate']:+.3f} [{apart['low']:+.3f}, {apart['high']:+.3f}]{p}"


_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sweep</title>
<meta name="viewport" content="width=device-width"><style>
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}
main{max-width:46rem;margin:0 auto;padding:24px 16px}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:4px 8px;border-bottom:1px solid #8883}
td{font-variant-numeric:tabular-nums}
h2{margin-top:2.2em}h3{margin-bottom:.2em;font-size:1em}.s-first{stroke:#2563eb}
.f-first{fill:#2563eb}.s-grid{stroke:#888}</style><main>"""
