"""What the Robustness page shows, without Gradio: a run's clean pictures against its others.

All figures are the report's own, of the headline: turns after the stop count as missing, so that
every condition has the same turns.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from mmrag.errors import MmragError, UsageError
from mmrag.metrics.headline import HEADLINE
from simulator.parts.own_agents import is_own
from simulator.reports.draw.charts import severity_curves
from simulator.reports.draw.diagnosis_waterfall import diagnosis_waterfalls
from simulator.reports.draw.svg import svg
from simulator.reports.figures.diagnosis import diagnosis_sentences
from simulator.reports.figures.headline import headline
from simulator.reports.figures.report import HOW, ReportOptions, main_condition
from simulator.reports.figures.robustness import failing_stages, robustness
from simulator.reports.figures.slices import Dimension, dimensions, slice_table, title_of
from simulator.reports.losses.link_losses import link_losses
from simulator.reports.read.evidence import STAGES
from simulator.reports.read.paired_turns import Pairs, match
from simulator.reports.read.session_sums import Mask
from simulator.reports.read.turn_frame import TurnFrame
from simulator.run.run_config import GLASSES, RunConfig, command_of, read_config
from simulator.store.run_reader import RunReader
from ui.replay.conversation_view import conversation
from ui.replay.run_figures import RunFigures

EXAMPLES = 12
"""Pairs of pictures that are shown at once; all are counted."""

MOST_KEPT = 4
"""Runs whose pages are held in memory besides the one that is looked at."""

FEW = 20
"""Conversations of a sweep that is offered for a run without a limit of its own."""

MIN_N = ReportOptions().min_n


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A difference to clean, in points."""

    condition: str
    points: float | None
    low: float | None = None
    high: float | None = None
    n: int
    sure: bool | None = None
    """Whether it is more than chance; None where that is not tested."""
    small: bool = False


class KindRow(msgspec.Struct, frozen=True):
    """A row of the map: one kind of degradation or fault."""

    name: str
    cells: tuple[Cell | None, ...]
    """One for each severity of the map; None where the run has none."""


class SliceRow(msgspec.Struct, frozen=True):
    """A slice under every condition."""

    dimension: str
    title: str
    slice: str
    clean: float | None
    n: int
    cells: tuple[Cell, ...]


class StageBar(msgspec.Struct, frozen=True):
    """Where the scored turns of one condition ended."""

    condition: str
    n: int
    parts: tuple[tuple[str, int, float], ...]
    """Stage, turns, share."""


class RobustnessPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything on the page."""

    run: str
    base: str
    """The condition that the others are set against: clean where there is one."""
    clean: dict[str, Any]
    """Truthfulness under it."""
    sessions: int
    worst: Cell | None
    """The condition that costs most of those that cost beyond chance; None where none does."""
    severities: tuple[int, ...]
    kinds: tuple[KindRow, ...]
    others: tuple[Cell, ...]
    """Conditions without a severity of their own, as chains are."""
    conditions: tuple[str, ...]
    slices: tuple[SliceRow, ...]
    stages: tuple[StageBar, ...]
    every_point: tuple[dict[str, Any], ...]
    link: dict[str, Any] | None = None
    """What links cost, as the report has it; None for a run without."""
    diagnosis: dict[str, Any] | None = None
    """Where the run handed stages of the truth over: at which of them it loses its points."""

    @property
    def scale(self) -> tuple[float, float]:
        """From the least to the most that the kinds' intervals reach, 0 among them."""
        cells = [one for kind in self.kinds for one in kind.cells if one is not None]
        ends = [end for one in cells for end in (one.low, one.high) if end is not None]
        return min([*ends, 0.0]), max([*ends, 1.0])

    @property
    def losses(self) -> list[str]:
        """What each degradation costs at which stage, and what was left out, in words."""
        return [] if self.diagnosis is None else diagnosis_sentences(self.diagnosis)


def sweep_command(run: RunReader) -> str:
    """The command that asks a run's questions again under worse and worse pictures."""
    config = RunConfig()
    with contextlib.suppress(MmragError):  # an imported run has none
        config = read_config(run)
    if config.agent == GLASSES or is_own(config.agent):
        # no command asks an app, or an object of somebody's program
        config = msgspec.structs.replace(config, agent=RunConfig().agent)
    wearer = "live" if config.wearer == "person" else config.wearer
    config = msgspec.structs.replace(
        config, degrade="sweep", wearer=wearer, limit=config.limit or FEW
    )
    return command_of(config, "--out", f"{run.folder}-sweep")


def curves(page: RobustnessPage) -> dict[str, Markup]:
    """By kind the report's chart of truthfulness against severity, its points buttons."""
    found = severity_curves({"clean": page.clean, "points": page.every_point}, "points")
    return {chart.title: Markup(svg(chart, chosen=True)) for chart in found}  # noqa: S704 - escaped


def waterfalls(page: RobustnessPage) -> list[Markup]:
    """The report's waterfalls, clean first; none where no stage was handed over."""
    charts = diagnosis_waterfalls(page.diagnosis, "diagnosis") if page.diagnosis else []
    return [Markup(svg(chart)) for chart in charts]  # noqa: S704 - escaped


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One turn on the clean picture and on the other."""

    session: str
    turn: int
    query: str
    truth: str
    before: Any
    after: Any
    """The turn as Replay shows it."""
    pictures: tuple[str, str]
    size: tuple[int, int]
    stage: str


class Examples(msgspec.Struct, frozen=True, kw_only=True):
    """Turns behind a figure, those that the degradation turned first."""

    run: str
    condition: str
    what: str
    n: int
    lost: int
    won: int
    shown: tuple[Example, ...]


class RobustnessFigures:
    """The page's figures, each run's computed once and kept until it grows."""

    def __init__(self, analysis: RunFigures) -> None:
        self.analysis = analysis
        self._made: dict[str, tuple[TurnFrame, RobustnessPage]] = {}
        self._lock = threading.Lock()

    def of(self, name: str) -> RobustnessPage:
        """A run's page."""
        frame = self.analysis.frame(name)
        with self._lock:
            known = self._made.get(name)
            if known is None or known[0] is not frame:
                page = _breaking(name, frame)
                found = self.analysis.diagnosis(name)
                known = (frame, msgspec.structs.replace(page, diagnosis=found))
                self._made = {**dict(list(self._made.items())[-MOST_KEPT:]), name: known}
            return known[1]

    def examples(
        self, name: str, condition: str, *, dimension: str = "", part: str = "", stage: str = ""
    ) -> Examples:
        """Turns behind a cell, a slice under a condition or a stage of one."""
        frame = self.analysis.frame(name)
        if condition not in frame.conditions:
            raise UsageError(f"{name} has no condition {condition[:60]!r}.")
        clean = "clean" if "clean" in frame.conditions else condition
        pairs = match(frame, frame.condition(clean), frame, frame.condition(condition))
        here, what = _chosen(frame, pairs, dimension, part, stage)
        right = frame["score"] > 0
        was, now = right[pairs.rows], right[pairs.others]
        both = here & frame["scored"][pairs.rows] & frame["scored"][pairs.others]
        lost, won = both & was & ~now, both & ~was & now
        order = np.lexsort((pairs.rows, ~(frame["score"][pairs.others] < 0), ~won, ~lost))
        chosen = [at for at in order if both[at]]
        if condition != clean:
            chosen = [at for at in chosen if lost[at] or won[at]] or chosen
        shown = tuple(self._examples(name, clean, condition, pairs, _apart(frame, pairs, chosen)))
        return Examples(
            run=name, condition=condition, what=what, n=int(both.sum()),
            lost=int(lost.sum()), won=int(won.sum()),
            shown=shown,
        )  # fmt: skip

    def _examples(
        self, name: str, clean: str, condition: str, pairs: Pairs, chosen: Sequence[int]
    ) -> Iterator[Example]:
        run, frame = self.analysis.runs[name].run, pairs.first
        names = frame.names("stage")
        for at in chosen:
            row, other = int(pairs.rows[at]), int(pairs.others[at])
            session, turn = frame.sessions[int(frame["session"][row])], int(frame.turn_index[row])
            try:
                sides = [conversation(run, name, session, one) for one in (clean, condition)]
            except MmragError:
                continue  # a conversation that cannot be read has a page of its own that says so
            before, after = (
                next((t for t in side.turns if t.index == turn), None) for side in sides
            )
            if before is None or after is None:
                continue
            code = int(frame["stage"][other])
            yield Example(
                session=session, turn=turn, query=after.query, truth=after.reference,
                before=before, after=after, size=sides[1].size,
                pictures=(sides[0].picture, sides[1].picture),
                stage=names[code] if code >= 0 else "",
            )  # fmt: skip


def _apart(frame: TurnFrame, pairs: Pairs, chosen: Sequence[int]) -> list[int]:
    """The first of them, each conversation once as long as there are others."""
    seen: set[int] = set()
    first, again = list[int](), list[int]()
    for at in chosen:
        session = int(frame["session"][pairs.rows[at]])
        (again if session in seen else first).append(at)
        seen.add(session)
        if len(first) == EXAMPLES:
            break
    return [*first, *again][:EXAMPLES]


def _chosen(
    frame: TurnFrame, pairs: Pairs, dimension: str, part: str, stage: str
) -> tuple[Mask, str]:
    here = np.ones(len(pairs.rows), bool)
    if stage:
        if stage not in STAGES:
            raise UsageError(f"there is no stage {stage[:60]!r}.")
        return frame.is_a("stage", stage)[pairs.others], stage
    if not dimension:
        return here, ""
    for found in dimensions(frame):
        if found.name == dimension and part in found.slices:
            here = found.codes[pairs.rows] == found.slices.index(part)
            return here, f"{title_of(dimension)}: {part}"
    raise UsageError(f"the run has no slice {part[:60]!r} of {dimension[:60]!r}.")


def _breaking(name: str, frame: TurnFrame) -> RobustnessPage:
    headlines = {c: headline(frame, frame.condition(c), HOW) for c in frame.conditions}
    kinds = dimensions(frame)
    found = robustness(frame, headlines, kinds, HOW, min_n=MIN_N)
    base = main_condition(frame)
    points = found["points"] if found else []
    cells = {point["condition"]: _cell(point) for point in points}
    severities = sorted({p["severity"] for p in points if p["severity"]})
    by_kind: dict[str, dict[int, dict[str, Any]]] = {}
    for point in points:
        if point["severity"]:
            by_kind.setdefault(point["kind"], {})[point["severity"]] = point
    lost = found["largest_loss"] if found else None
    return RobustnessPage(
        run=name,
        base=base,
        clean=headlines[base]["strict"][HEADLINE]["truthfulness_score"],
        sessions=headlines[base]["sessions"],
        worst=None if lost is None else cells[points[lost]["condition"]],
        severities=tuple(severities),
        kinds=tuple(
            KindRow(
                kind,
                tuple(cells[row[s]["condition"]] if s in row else None for s in severities),
            )
            for kind, row in by_kind.items()
        ),
        others=tuple(cells[p["condition"]] for p in points if not p["severity"]),
        link=link_losses(frame, headlines, HOW),
        conditions=tuple(cells),
        slices=tuple(_slices(frame, kinds, base, list(cells))),
        stages=tuple(
            StageBar(
                one["condition"],
                one["n"],
                tuple((stage, one["counts"][stage], one["shares"][stage]) for stage in STAGES),
            )
            for one in failing_stages(frame)
        ),
        every_point=tuple(points),
    )


def _cell(point: dict[str, Any]) -> Cell:
    change = point["change"]
    return Cell(
        condition=point["condition"],
        points=_points(change["estimate"]), low=_points(change["low"]),
        high=_points(change["high"]), n=change["n"], sure=change["p_holm"] <= 0.05,
    )  # fmt: skip


def _slices(
    frame: TurnFrame, kinds: list[Dimension], base: str, conditions: list[str]
) -> Iterator[SliceRow]:
    clean = frame.condition(base)
    paired = [match(frame, clean, frame, frame.condition(name)) for name in conditions]
    changes = [pairs.difference(HEADLINE, "truthfulness_score") for pairs in paired]
    by_name = {dimension.name: dimension for dimension in kinds}
    for entry in slice_table(frame, clean, HOW, kinds=kinds):
        dimension, part, truth = by_name[entry["dimension"]], entry["slice"], entry["truthfulness"]
        if dimension.name in ("quality", "grounding"):
            continue
        codes, number = dimension.codes, dimension.slices.index(part)
        cells = tuple(
            _mean(name, change[both & (codes[pairs.rows] == number)])
            for name, pairs, (both, change) in zip(conditions, paired, changes, strict=True)
        )
        level = _points(truth["estimate"])
        yield SliceRow(dimension.name, title_of(dimension.name), part, level, truth["n"], cells)


def _mean(condition: str, changes: Any) -> Cell:
    n = len(changes)
    points = 100 * float(changes.mean()) if n else None
    return Cell(condition=condition, points=points, n=n, small=n < MIN_N)


def _points(value: float | None) -> float | None:
    return None if value is None else 100 * value
