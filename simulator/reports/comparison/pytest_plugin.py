"""The gate as a fixture of pytest: `mmrag_gate(run, baseline="runs/main")` fails the test.

A suite names this module among its `pytest_plugins`. As an entry point it would be in every suite
where mmrag is installed, and pytest would rewrite the assertions of all our modules there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

SUMMARY = "--mmrag-summary"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the Markdown of all gates goes."""
    parser.getgroup("mmrag").addoption(
        SUMMARY, type=Path, help="File to append every gate's Markdown to."
    )


@pytest.fixture
def mmrag_gate(request: pytest.FixtureRequest) -> Callable[..., dict[str, Any]]:
    """Hold a run to its baseline as `mmrag gate` does: each is a folder or a `Run`."""
    summary: Path | None = request.config.getoption(SUMMARY)

    def gate(
        run: object, baseline: object, max_loss: float = 2.0, fail_if: Sequence[str] = ()
    ) -> dict[str, Any]:
        from simulator.reports.comparison.gate import gate_run
        from simulator.reports.draw.markdown import append_markdown, comparison_markdown

        folder, other = (str(getattr(side, "folder", side)) for side in (run, baseline))
        found = gate_run(folder, other, max_loss, fail_if)
        if summary is not None:
            append_markdown(found, summary)
        if not found["passed"]:
            pytest.fail(comparison_markdown(found), pytrace=False)
        return found

    return gate
