"""Rules that a run of the suite holds its tests to: their order, their time, and who is excused.

`scripts/test` sets them by the environment: MMRAG_TEST_SECONDS (what a test may take that is no
proof) and MMRAG_TEST_SHUFFLE (a seed: the tests in another order).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

QUARANTINE = Path(__file__).parent / "quarantine.txt"
PROOFS = Path(__file__).parent / "proofs"
YARDSTICK = 0.04
"""Processor seconds of `_yardstick` on the machine whose seconds are meant (CONTRIBUTING.md)."""


def pytest_configure(config: pytest.Config) -> None:
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # as shells start what they do not wait for
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(Stopwatch(float(os.environ.get("MMRAG_TEST_SECONDS") or 0)))
    excused(QUARANTINE, date.today())  # noqa: DTZ011 (a day more or less is no matter)


def excused(file: Path, today: date) -> dict[str, str]:
    """Test → why it may fail. An entry that is past its day ends the run: nothing is forgotten."""
    found: dict[str, str] = {}
    for line in file.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        day, test, reason = [*line.split(maxsplit=2), "", ""][:3]
        try:
            over = date.fromisoformat(day) < today
        except ValueError:
            over = None
        if over is None or not reason:
            raise pytest.UsageError(f"{file.name}: want `YYYY-MM-DD test reason`, not {line!r}")
        if over:
            raise pytest.UsageError(f"{file.name}: {test} was excused until {day}: mend it")
        found[test] = reason
    return found


@pytest.hookimpl(tryfirst=True)  # before -m looks at the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = excused(QUARANTINE, date.today())  # noqa: DTZ011
    for item in items:
        if PROOFS in item.path.parents:
            item.add_marker(pytest.mark.proof(item.path.relative_to(PROOFS).parts[0]))
        elif "picture_world" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.proof("render"))
        if item.nodeid in reasons:
            item.add_marker(pytest.mark.xfail(reason=reasons[item.nodeid], strict=False))
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = list(files.values())
    if seed := os.environ.get("MMRAG_TEST_SHUFFLE"):
        random = Random(seed)
        random.shuffle(order)
        for one in order:
            random.shuffle(one)
    elif hasattr(config, "workerinput"):  # proofs and long files first, so that none ends alone
        order.sort(key=lambda one: (not any(map(is_proof, one)), -len(one)))
    items[:] = [item for one in order for item in one]


def is_proof(item: pytest.Item) -> bool:
    return item.get_closest_marker("proof") is not None


class Stopwatch:
    """Fails a test that takes too much of the processor, counted by a yardstick beside it.

    What it takes is measured a second time before it fails: the first to use a model or a library
    loads it for all. What several tests share counts for none of them.
    """

    def __init__(self, most: float) -> None:
        self.most = most
        self.shared = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        begun, before = _processor(), self.shared
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":  # and with it what it asked for meanwhile
                self.shared = before + _processor() - begun

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Any:
        if not self.most or is_proof(item):
            return None
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports, took = self._run(item, nextitem)
        if took > self.most and all(report.passed for report in reports):
            item._initrequest()  # type: ignore[attr-defined]
            before = _yardstick()
            reports, again = self._run(item, nextitem)
            took = min(took, again) / max(1.0, before / YARDSTICK, _yardstick() / YARDSTICK)
            if took > self.most:
                call = next(report for report in reports if report.when == "call")
                call.outcome = "failed"
                call.longrepr = (
                    f"{took:.1f} s of processor time; the fast suite's tests take "
                    f"{self.most:g} at most: make it quicker, or a proof (CONTRIBUTING.md)"
                )
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _run(self, item: pytest.Item, nextitem: pytest.Item | None) -> tuple[list[Any], float]:
        self.shared, begun = 0.0, _processor()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        return reports, _processor() - begun - self.shared


def _processor() -> float:
    """Seconds of this process and of all that it started and waited for."""
    took = os.times()
    return took.user + took.system + took.children_user + took.children_system


def _yardstick() -> float:
    """Processor seconds of a fixed piece of work: more where others are in the processor's way."""
    begun = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number & 7
    return time.process_time() - begun
