"""A sweep as a page of Markdown: a table for each component."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from mmrag.files.atomic import write_text
from mmrag.registry import Spec
from simulator.message_text import counted

Row = dict[str, Any]


def write_sweep(found: dict[str, Any], out: Path) -> Path:
    """`sweep.md` beside the runs; returns it."""
    write_text(out / "sweep.md", _markdown(found))
    return out / "sweep.md"


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
        "of the same."
    ]


def _cell(row: Row, name: str) -> str:
    figure = row["figures"].get(name)
    if not figure or figure["estimate"] is None:
        return "–"
    shown = f"{figure['estimate']:.3f}"
    apart = row.get("difference", {}).get(name)
    if not apart or apart["estimate"] is None:
        return shown
    span = "" if apart["low"] is None else f" [{apart['low']:+.3f}, {apart['high']:+.3f}]"
    return f"{shown} ({apart['estimate']:+.3f}{span}{_stars(apart).replace('*', chr(92) + '*')})"


def _stars(apart: dict[str, Any]) -> str:
    p = 1.0 if apart["p"] is None else apart["p"]
    return "**" if p < 0.01 else "*" if p < 0.05 else ""
