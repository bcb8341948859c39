"""From a report's data to one HTML file that needs nothing else. Every figure carries its path."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from markupsafe import Markup, escape

from simulator.reports.draw import charts
from simulator.reports.draw.diagnosis_waterfall import diagnosis_waterfalls
from simulator.reports.draw.omitted_sections import omitted_sections
from simulator.reports.draw.svg import Chart, colour_properties, colour_rules, svg
from simulator.reports.figures.failures import status_in_words
from simulator.reports.figures.slices import MEANINGS, NONE_COMPARED, title_of, untested
from simulator.reports.read.evidence import STAGES
from simulator.run.stop_policies import StopPolicy

TEMPLATES = Path(__file__).parent / "templates"


class Figures:
    """Looks figures up in the report by path and writes them so that a test can find them again.

    >>> Figures({"runs": [{"n": 3}]}).show("runs.0.n", "count")
    Markup('<data data-path="runs.0.n" data-kind="count" value="3">3</data>')
    """

    def __init__(self, report: dict[str, Any]) -> None:
        self._report = report

    def at(self, path: str) -> Any:
        """The value at a path such as `runs.0.slices.main.3.n`; keys may hold dots after `@`."""
        return look_up(self._report, path)

    def show(self, path: str, kind: str = "percent") -> Markup:
        """One number."""
        value = self.at(path)
        words = format_figure(value, kind)
        if value is None:
            return Markup('<span class="none">{}</span>').format(words)
        return Markup('<data data-path="{}" data-kind="{}" value="{}">{}</data>').format(
            path, kind, repr(value), words
        )

    def counted(self, path: str, noun: str, several: str = "") -> Markup:
        """A count with its noun.

        >>> Figures({"n": 1}).counted("n", "turn").striptags()
        '1 turn'
        """
        one = self.at(path) == 1
        return Markup("{} {}").format(
            self.show(path, "count"), noun if one else several or f"{noun}s"
        )

    def interval(self, path: str, kind: str = "signed") -> Markup:
        """A figure with its interval."""
        figure = self.at(path)
        if "bounds" in figure:
            ends = (self.show(f"{path}.bounds.{end}", kind) for end in (0, 1))
            return Markup("{} … {}").format(*ends)
        if figure["low"] is None:
            return self.show(f"{path}.estimate", kind)
        bare = "bare" if kind == "percent" else kind
        return Markup('{} <span class="ci">[{}, {}]</span>').format(
            self.show(f"{path}.estimate", kind),
            self.show(f"{path}.low", bare),
            self.show(f"{path}.high", bare),
        )


def look_up(report: Any, path: str) -> Any:
    """Follow a dotted path through dicts and lists.

    >>> look_up({"a": [{"b": 1}]}, "a.0.b")
    1
    """
    value = report
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def format_figure(value: float | None, kind: str) -> str:
    """A number as the page writes it; a dash where it is unknown.

    What runs from -1 to 1 (truthfulness, conversation scores) and all differences are `signed`, in
    points; shares are `percent`.
    """
    if value is None:
        return "–"
    if kind == "percent":
        text = f"{100 * value:.1f} %"
    elif kind == "signed":
        text = f"{100 * value:+.1f}"
    elif kind == "bare":
        text = f"{100 * value:.1f}"
    elif kind == "count":
        text = f"{value:,.0f}"
    elif kind == "number":
        text = f"{value:.2f}"
    elif kind == "seconds":
        text = f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"
    elif kind == "cost":
        text = f"${value:,.4f}" if value < 1 else f"${value:,.2f}"
    elif kind == "p":
        text = "< 0.001" if value < 0.001 else f"{value:.3f}"
    else:
        text = str(value)
    if not any(digit in text for digit in "123456789"):
        text = text.lstrip("+-")  # nothing is left of it after rounding: no sign either
    return text.replace("-", "−")


def gate_value(gate: dict[str, Any]) -> str:
    """The figure of a gate, or the bounds of one that lacks verdicts."""
    if gate["bounds"] is not None:
        return f"between {gate['bounds'][0]:.4g} and {gate['bounds'][1]:.4g}"
    return "unknown" if gate["value"] is None else f"{gate['value']:.4g}"


def report_page(report: dict[str, Any], published: dict[str, Any], replay: str) -> str:
    """The report as HTML. `replay` is the app's address, or the page of a bundle."""
    drawn = [_charts_of(run, f"runs.{index}") for index, run in enumerate(report["runs"])]
    missing = [omitted_sections(run) for run in report["runs"]]
    return _render(
        "report.html.j2", report, published=published, drawn=drawn, left_out=missing,
        STAGES=STAGES, replay=replay,
    )  # fmt: skip


def report_opening(run: dict[str, Any], link: Callable[..., Markup] | None = None) -> Markup:
    """What a report begins with, for another page: sentences, and what each condition costs.

    `link(path, words, tab, **asked)` leads from words to a page of the app.
    """
    page = _render("first.html.j2", {"runs": [run]}, run=run, alone=True, link=link or _within)
    return Markup(page)  # noqa: S704 - the template escapes


def _within(path: str, words: str, tab: str, **_: str) -> Markup:
    """To a section of the report, or nowhere."""
    if tab in ("diagnosis", "robustness"):
        return Markup('<a href="#{}{}">{}</a>').format(tab, path.rpartition(".")[2], words)
    return Markup("<b>{}</b>").format(words)


def _main_of(run: dict[str, Any]) -> int:
    return [condition["name"] for condition in run["conditions"]].index(run["main"])


def replay_link(replay: str, run: str, failure: dict[str, Any]) -> str:
    """Where a failure is replayed.

    >>> failure = {"session": "s 1", "degradation": "blur@3", "turn": 2}
    >>> replay_link("../index.html", "demo", failure)
    '../index.html#s%201/blur%403/2'
    >>> replay_link("http://127.0.0.1:7860", "demo", failure)
    'http://127.0.0.1:7860/?tab=replay&run=demo&session=s%201&condition=blur%403&turn=2'
    """
    session, condition = quote(failure["session"], safe=""), failure["degradation"]
    quoted = quote(condition, safe="")
    if replay.endswith((".html", ".htm")):
        return f"{replay}#{session}/{quoted}/{failure['turn']}"
    under = "" if condition == "clean" else f"&condition={quoted}"
    return (
        f"{replay.rstrip('/')}/?tab=replay&run={quote(run, safe='')}&session={session}{under}"
        f"&turn={failure['turn']}"
    )


def comparison_page(comparison: dict[str, Any]) -> str:
    """A comparison as HTML."""
    return _render("compare.html.j2", comparison)


def charts_of(report: dict[str, Any]) -> list[Chart]:
    """All charts of a report, for files; names are unique."""
    found: list[Chart] = []
    for index, run in enumerate(report["runs"]):
        for group in _charts_of(run, f"runs.{index}").values():
            for chart in group:
                if len(report["runs"]) > 1:
                    chart.name = f"{index + 1}-{chart.name}"
                found.append(chart)
    return found


@cache
def published_rows() -> dict[str, Any]:
    """Rows of the paper's tables."""
    return json.loads(
        (Path(__file__).parents[1] / "figures" / "published.json").read_text(encoding="utf-8")
    )


def _charts_of(run: dict[str, Any], path: str) -> dict[str, list[Chart]]:
    drawn: dict[str, list[Chart]] = {"waterfall": []}
    drawn["stages"] = charts.failing_stage_chart(run["stages"], f"{path}.stages")
    if "diagnosis" in run:
        drawn["falls"] = diagnosis_waterfalls(run["diagnosis"], f"{path}.diagnosis")
    if run["robustness"]:
        drawn["severity"] = charts.severity_curves(run["robustness"], f"{path}.robustness")
    talk = run["conversation"]
    series = [
        (name, f"{path}.conversation.{key}.survival", talk[key]["survival"])
        for key, name in (("main", run["main"]), ("degraded", "all degraded"))
        if talk[key]
    ]
    drawn["survival"] = [charts.survival(series)]
    ended = "degraded" if talk["degraded"] else "main"
    drawn["ends"] = [
        charts.ending_turns_chart(talk[ended]["ends"], f"{path}.conversation.{ended}.ends")
    ]
    found = run["retrieval"]["main"]
    if found:
        drawn["retrieval"] = [
            charts.retrieval_chart(found["groups"], f"{path}.retrieval.main.groups")
        ]
    if run["costs"]["waterfall"]:
        drawn["waterfall"] = [
            charts.step_time_chart(run["costs"]["waterfall"], f"{path}.costs.waterfall")
        ]
    titles = {entry["dimension"]: title_of(entry["dimension"]) for entry in run["slices"]["main"]}
    forest = charts.slice_chart(run["slices"]["main"], titles, f"{path}.slices.main")
    if forest is not None:
        drawn["slices"] = [forest]
    return drawn


def _render(template: str, report: dict[str, Any], **more: Any) -> str:
    import jinja2

    figures = Figures(report)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tools: dict[str, Any] = {
        "fig": figures.show,
        "interval": figures.interval,
        "counted": figures.counted,
        "untested": untested,
        "none_compared": NONE_COMPARED,
        "gate_value": gate_value,
        "at": figures.at,
        "svg": _drawn,
        "mark": _mark,
        "dimension_title": title_of,
        "meanings": MEANINGS,
        "style": Markup(_style()),  # noqa: S704 - our own stylesheet
        "in_words": format_figure,
        "stops_when": lambda rule: StopPolicy.parse(rule).description,
        "replay_link": replay_link,
        "link": _within,
        "main_of": _main_of,
        "heat": _heat,
        "zip": zip,
    }
    cast("dict[str, Any]", environment.globals).update(tools)
    environment.filters["status_in_words"] = status_in_words
    environment.filters["pretty"] = lambda value: json.dumps(
        value, indent=2, ensure_ascii=False, default=str
    )
    return environment.get_template(template).render(report=report, **more)


def _drawn(chart: Chart) -> Markup:
    return Markup(svg(chart))  # noqa: S704 - the canvas escapes all text itself


def _mark(figure: dict[str, Any], figures: Sequence[dict[str, Any]], small: bool = False) -> Markup:
    chart = charts.interval_mark(
        figure, charts.common_range(figures), "muted" if small else "series-1"
    )
    body = svg(chart).replace('role="img" aria-label=""', 'aria-hidden="true"')
    return Markup(body.replace("<title></title>", ""))  # noqa: S704 - canvas escapes


def _heat(change: float | None) -> Markup:
    """Background of a cell that tells how bad a change is."""
    if change is None:
        return Markup("")
    strength = min(abs(change) / 0.6, 1.0) * 48  # more would drown the text on dark ground
    role = "bad" if change < 0 else "good"
    return escape(f"background:color-mix(in srgb, var(--{role}) {strength:.0f}%, transparent)")


def _style() -> str:
    own = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    return (
        f":root{{{colour_properties(dark=False)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{colour_properties(dark=True)}}}}}"
        + colour_rules()
        + own
    )
