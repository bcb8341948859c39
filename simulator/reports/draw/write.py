"""Writes a report's folder: the page, its data, tables and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import StoreError
from mmrag.files.atomic import folder_unless_failed, write_bytes, write_text
from mmrag.metrics.headline import Uncertainty
from simulator.reports.figures.report import ReportOptions, build_report, load_report_runs
from simulator.store.run_reader import RunReader

APP = "http://127.0.0.1:7860"
"""Where `mmrag ui` listens unless told otherwise."""


def make_report(
    folders: Sequence[Path],
    out: Path,
    options: ReportOptions = ReportOptions(),
    *,
    replay: str = APP,
    on_part: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Report one or several runs into a folder and return the report. Files there are replaced.
    `replay` is where each failure can be replayed: the app's address, or the page of a bundle."""
    from simulator.reports.draw.page import charts_of, published_rows, report_page
    from simulator.reports.draw.table_files import slice_rows, write_slices, write_turns

    readers = [RunReader(folder) for folder in folders]
    try:
        loaded, stop, agent_errors = load_report_runs(readers, options)
        report = build_report(loaded, stop, agent_errors, options, on_part=on_part)
        how = Uncertainty(resamples=options.resamples, seed=options.seed)
        on_part("files")
        try:
            with folder_unless_failed(out):
                (out / "figures").mkdir(exist_ok=True)
                write_turns(loaded, out / "turns.parquet")
                write_slices(list(slice_rows(loaded, how, options.min_n)), out)
                _write_json(out / "report.json", report)
                write_text(out / "report.html", report_page(report, published_rows(), replay))
                _write_figures(charts_of(report), out / "figures")
        except OSError as error:
            raise StoreError(
                f"{out}: cannot be written ({error.strerror or error}). Choose another --out."
            ) from error
    finally:
        for reader in readers:
            reader.close()
    return report


def write_comparison(comparison: dict[str, Any], out: Path) -> None:
    """`compare.html`, `compare.md` and `compare.json`. Files there are replaced."""
    from simulator.reports.draw.markdown import comparison_markdown
    from simulator.reports.draw.page import comparison_page

    try:
        with folder_unless_failed(out):
            _write_json(out / "compare.json", comparison)
            write_text(out / "compare.md", comparison_markdown(comparison))
            write_text(out / "compare.html", comparison_page(comparison))
    except OSError as error:
        raise StoreError(
            f"{out}: cannot be written ({error.strerror or error}). Choose another --out."
        ) from error


def _write_json(path: Path, data: dict[str, Any]) -> None:
    """Plain JSON; NaN cannot occur in it, because msgspec would write null for it unnoticed."""
    assert_finite(data)
    write_bytes(path, msgspec.json.format(msgspec.json.encode(data), indent=1))


def assert_finite(data: Any, path: str = "") -> None:
    """Raise where a figure is NaN or infinite: that is a bug, and must not reach a reader."""
    if isinstance(data, dict):
        for key, value in data.items():
            assert_finite(value, f"{path}.{key}")
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            assert_finite(value, f"{path}.{index}")
    elif isinstance(data, float) and not math.isfinite(data):
        raise ArithmeticError(f"report{path} is {data}")


def _write_figures(charts: Sequence[Any], folder: Path) -> None:
    from simulator.reports.draw.svg import svg

    for chart in charts:
        write_text(folder / f"{chart.name}.svg", svg(chart, standalone=True))
