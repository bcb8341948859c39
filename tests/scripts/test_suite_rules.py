"""The suite's own rules: who is excused and until when, the order, and the time a test may take."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
import suite_rules

pytest_plugins = ["pytester"]

TODAY = date(2026, 11, 24)
ENTRY = "2026-12-01 tests/run/test_engine.py::test_one it races; somebody mends it"


def excused(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "quarantine.txt").write_text(text)
    return suite_rules.excused(tmp_path / "quarantine.txt", TODAY)


def test_what_stands_in_quarantine_is_excused_until_its_day(tmp_path: Path) -> None:
    found = excused(tmp_path, f"# told here\n\n{ENTRY}\n{ENTRY.replace('-12-01', '-11-24')[:-1]}\n")
    assert found == {"tests/run/test_engine.py::test_one": "it races; somebody mends i"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (ENTRY.replace("2026-12-01", "2026-11-23"), "test_one was excused until 2026-11-23"),
        (ENTRY.replace("2026-12-01", "soon"), "want `YYYY-MM-DD test reason`"),
        ("2026-12-01 tests/run/test_engine.py::test_one", "want `YYYY-MM-DD test reason`"),
    ],
)
def test_an_entry_past_its_day_or_without_a_reason_ends_the_run(
    tmp_path: Path, line: str, said: str
) -> None:
    with pytest.raises(pytest.UsageError, match=said):
        excused(tmp_path, line)


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A suite with rules and nobody in quarantine."""
    quarantine = pytester.path / "quarantine.txt"
    quarantine.write_text("")
    monkeypatch.setattr(suite_rules, "QUARANTINE", quarantine)
    (pytester.path / "pytest.ini").write_text("[pytest]\nmarkers = proof(needs)")
    for name in ("MMRAG_TEST_SECONDS", "MMRAG_TEST_SHUFFLE"):
        monkeypatch.delenv(name, raising=False)
    return pytester


def run(suite: pytest.Pytester, *flags: str) -> pytest.RunResult:
    return suite.runpytest_inprocess("-p", "suite_rules", *flags)


def test_an_excused_failure_is_none_and_any_other_is(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_a="def test_bad():\n assert 0\ndef test_worse():\n assert 0")
    far = "2999-01-01 test_a.py::test_bad it is mended next week\n"
    (suite.path / "quarantine.txt").write_text(far)
    run(suite).assert_outcomes(xfailed=1, failed=1)
    (suite.path / "quarantine.txt").write_text(far.replace("2999", "1999"))
    assert run(suite).ret == pytest.ExitCode.USAGE_ERROR


def test_another_seed_is_another_order_and_the_same_one_the_same(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"test_{letter}" for letter in "abcdefgh"]
    files = {name: "".join(f"def {test}(): pass\n" for test in names) for name in names[:3]}
    suite.makepyfile(**files)

    def order(seed: str) -> list[str]:
        monkeypatch.setenv("MMRAG_TEST_SHUFFLE", seed)
        return [line for line in run(suite, "--collect-only", "-q").outlines if "::" in line]

    first, again, other = order("1"), order("1"), order("2")
    assert first == again
    assert first != other
    assert sorted(first) == sorted(other)
    places = [line.partition("::")[0] for line in first]
    assert sum(a != b for a, b in pairwise(places)) == 2  # a file's tests stay together


SLOW = """
import pytest, time

def work():
    until = time.process_time() + .1
    while time.process_time() < until: pass

@pytest.fixture(scope="module")
def shared(): work()

@pytest.mark.proof("weights")
def test_proof(): work()

def test_loads_what_others_use(shared): pass

first = []
def test_first(): first or work(); first.append(1)

def test_waits(): time.sleep(.1)

def test_slow(): work()
"""


def test_only_what_takes_the_processor_each_time_and_is_no_proof_is_too_slow(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.makepyfile(SLOW)
    run(suite).assert_outcomes(passed=5)
    monkeypatch.setenv("MMRAG_TEST_SECONDS", "0.05")
    monkeypatch.setattr(suite_rules, "YARDSTICK", 10.0)  # no machine is slower than that
    done = run(suite)
    done.assert_outcomes(passed=4, failed=1)
    done.stdout.fnmatch_lines(["*test_slow*", "*0.[12] s of processor time*quicker, or a proof*"])
    monkeypatch.setattr(suite_rules, "YARDSTICK", 1e-4)  # everything is slow here: no test's fault
    run(suite).assert_outcomes(passed=5)
