"""Planted runs that several tests look at; written once."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted_runs import by_severity, plant

CONDITIONS = ("clean", "low-light@1", "low-light@3", "low-light@5", "rotated@3")


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over five conditions with failures, abstentions and stops in it."""
    return plant(
        tmp_path_factory.mktemp("runs") / "sweep",
        sessions=40,
        conditions=CONDITIONS,
        effect=by_severity,
        failures=0.04,
    )


@pytest.fixture(scope="session")
def sweep_report(sweep: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the sweep, as written."""
    from simulator.reports.draw.write import make_report
    from simulator.reports.figures.report import ReportOptions

    out = tmp_path_factory.mktemp("report")
    make_report([sweep], out, ReportOptions(resamples=200, failures=6))
    return out
