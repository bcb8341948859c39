"""A comparison as Markdown, short enough for a pull request."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from mmrag.errors import StoreError
from mmrag.metrics.headline import HEADLINE
from simulator.message_text import counted, printable_text
from simulator.reports.draw.page import format_figure, gate_value, report_opening
from simulator.reports.figures.robustness import ALPHA
from simulator.reports.figures.slices import NONE_COMPARED, title_of, untested
from simulator.run.stop_policies import StopPolicy

_RATES = {
    "truthfulness_score": "truthfulness",
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination",
}

_SCORES = ("truthfulness", "multi-turn score")
"""From −100 to +100 points; the others are shares, in per cent. Every difference is in points."""


def comparison_markdown(comparison: dict[str, Any]) -> str:
    """Gates, what a report of each run begins with, and folded all differences."""
    gates = comparison.get("gates", [])
    sign = ("✅ " if comparison["passed"] else "❌ ") if gates else ""
    parts = [f"### {sign}{_cell(comparison['title'])}", ""]
    parts += [f"⚠️ {_cell(warning)}\n" for warning in comparison["warnings"]]
    for gate in gates:
        sign = "❌" if gate["failed"] else "✅"
        value = gate_value(gate)
        parts.append(f"{sign} `{gate['gate']}` ({_cell(gate['other'])}: {value})")
    if gates:
        parts.append("")
    sides = {side["name"]: side for side in comparison["sides"]}
    for one in comparison["comparisons"]:
        parts += [*_one(one, *one.get("shared", (sides[one["baseline"]], sides[one["other"]]))), ""]
    options = comparison["options"]
    parts.append(
        "<sub>Differences are over turns that count on both sides, paired; intervals and "
        f"tests over conversations; {StopPolicy.parse(options['stop']).description}; "
        f"judge {_cell(str(comparison['judge']))}."
        + (f" {_cell(comparison['language'])}" if comparison.get("language") else "")
        + "</sub>"
    )
    return "\n".join(parts) + "\n"


def append_markdown(comparison: dict[str, Any], file: Path) -> None:
    """Put it at the end of a file, as the summary of a job in CI is written."""
    try:
        with file.open("a", encoding="utf-8") as end:
            end.write(comparison_markdown(comparison) + "\n")
    except OSError as error:
        raise StoreError(
            f"{file}: cannot be written ({error.strerror}). Choose another --summary."
        ) from error


def _one(one: dict[str, Any], baseline: dict[str, Any], other: dict[str, Any]) -> list[str]:
    moved = one[HEADLINE]["truthfulness_score"]
    p, low, high = moved["p"], moved["low"], moved["high"]
    chance = "" if p is None else ", **beyond chance**" if p <= ALPHA else ", which may be chance"
    within = (
        "" if low is None else f" [{format_figure(low, 'signed')}, {format_figure(high, 'signed')}]"
    )
    lines = [
        f"**{_cell(one['other'])}** − {_cell(one['baseline'])}: "
        f"**{_known(moved, 'signed')}**{within} points of truthfulness{chance}; paired, "
        f"{counted(one['turns'], 'turn')} of {counted(one['sessions'], 'conversation')}",
        "",
    ]
    if one["first"]:
        lines += [f"{_cell(one['first']['name'])} by itself:", ""]
        lines += [*_as_markdown(report_opening(one["first"])), ""]
    if one["settings"]:
        changed = "; ".join(
            f"`{name}`: `{_code(a)}` → `{_code(b)}`" for name, (a, b) in one["settings"].items()
        )
        lines += [f"Settings that differ: {changed}.", ""]
    lines += [
        "<details><summary>All differences</summary>",
        "",
        "| | baseline | other | difference in points (paired) | 95 % interval | p | detectable |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    sides = baseline["strict"][HEADLINE], other["strict"][HEADLINE]
    for rate, name in _RATES.items():
        lines.append(_row(name, sides[0][rate], sides[1][rate], one[HEADLINE][rate]))
    score = "multi_turn_score"
    lines.append(
        _row("multi-turn score", baseline["strict"][score], other["strict"][score], one[score])
    )
    for won in one.get("won_back", ()):
        lost, more = format_figure(won["lost"], "signed"), format_figure(won["won"], "signed")
        share = won["share"]["estimate"]
        of_it = "" if share is None else f" ({format_figure(share, 'percent')} of the loss)"
        words = (
            f"{lost} lost, {more} won back{of_it}"
            if one["asked_back"]
            else f"the baseline's loss against clean is {lost} points; there the other run differs "
            f"from it by {more} points"
        )
        lines += ["", f"{_cell(won['condition'])}: {words}."]
    flips = one["flips"]
    lines += [
        "",
        f"Of {flips['pairs']:,} turns asked on both sides {flips['lost']} lost, {flips['won']} won "
        f"(McNemar p {format_figure(flips['mcnemar_p'], 'p')}).",
    ]
    return [*lines, *_slices(one), "", "</details>"]


_SIGNS = {
    "li": "- ", "b": "**", "/b": "**", "td": "| ", "th": "| ",
    "/li": "\n", "/ul": "\n", "/tr": "|\n", "/table": "\n",
}  # fmt: skip


def _as_markdown(page: str) -> list[str]:
    """Sentences, and a table of figures, from the HTML that a report begins with."""
    columns = page.partition("</tr>")[0].count("<th ")
    signs = {**_SIGNS, "/thead": "|--" + "|--:" * (columns - 1) + "|\n"}
    found = ""
    for tag, text in re.findall(r"<(/?\w+)[^>]*>([^<]*)", page):
        found += signs.get(tag, "") + _cell(unescape(text))
    return [re.sub(r"\\\[([+−\d., ]+)\\\]", r"[\1]", line.strip()) for line in found.split("\n")]


def _slices(one: dict[str, Any]) -> list[str]:
    found = one["standouts"]["found"]
    tested = [s["p_holm"] for s in one["slices"] if s["p_holm"] is not None]
    if not tested:
        return [untested(one["slices"])]
    own = sum(p <= 0.05 for p in tested)
    count = f"Slices that changed beyond chance, each by itself: {own} of {len(tested)} (Holm)."
    if not one["standouts"]["tested"]:
        return [f"{count} {NONE_COMPARED}"]
    if not found:
        return [f"{count} None changed otherwise than the rest of its dimension."]
    lines = ["", "| slice that stands out | changed | the rest | p (Holm) | n |"]
    lines.append("|---|--:|--:|--:|--:|")
    for entry in found:
        name = f"{title_of(entry['dimension'])}: {entry['slice']}"
        lines.append(
            f"| {_cell(name)} | {format_figure(entry['here'], 'signed')} "
            f"| {format_figure(entry['rest'], 'signed')} | {format_figure(entry['p_holm'], 'p')} "
            f"| {entry['n']:,} |"
        )
    return [*lines, "", count]


def _row(name: str, baseline: Any, other: Any, difference: Any) -> str:
    level = "signed" if name.startswith(_SCORES) else "percent"
    low, high = (
        format_figure(difference["low"], "signed"),
        format_figure(difference["high"], "signed"),
    )
    return (
        f"| {name} | {_known(baseline, level)} "
        f"| {_known(other, level)} "
        f"| **{_known(difference, 'signed')}** | {low} … {high} "
        f"| {format_figure(difference['p'], 'p')} | "
        f"{format_figure(difference['detectable'], 'bare')} |"
    )


def _known(figure: Any, kind: str) -> str:
    if "bounds" in figure:
        return " … ".join(format_figure(end, kind) for end in figure["bounds"])
    return format_figure(figure["estimate"], kind)


def _cell(text: str) -> str:
    """Text that cannot break out of a table or become markup."""
    return re.sub(r"([\\`*_\[\]<>|#&~])", r"\\\1", printable_text(text.replace("\n", " ")))


def _code(text: str) -> str:
    return printable_text(text).replace("`", "'").replace("|", "\\|").replace("\n", " ")
