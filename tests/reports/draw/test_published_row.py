"""Our row beside CRAG-MM's published ones: the same quantities, or a word in the row itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from planted_runs import make_session, plant
from small_runs import done, write

from mmrag.records import Reply, Session
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.run.config import RunConfig
from simulator.store.run_store import RunStore


def our_row(run: Path, out: Path) -> str:
    make_report([run], out, ReportOptions(resamples=0, failures=0))
    page = (out / "report.html").read_text().partition("In the layout of CRAG-MM")[2]
    (row,) = re.findall(r'<tr class="ours">.*?</tr>', page.partition("</table>")[0], re.S)
    return row


def values(row: str) -> list[str]:
    """The words of the figures: Acc., Miss., Hallu., Truth., Early stop."""
    return re.findall(r"<data[^>]*>([^<]*)</data>", row)


def held(folder: Path, *letters: str) -> Path:
    """A run in which every turn was asked, with these outcomes."""
    talks = [_short(make_session(place + 3), len(said)) for place, said in enumerate(letters)]
    texts = {"c": Reply(text="x"), "i": Reply(text="x"), "m": Reply(text="I don't know")}
    turns = [
        [done(talk, i, letter, reply=texts[letter]) for i, letter in enumerate(said)]
        for talk, said in zip(talks, letters, strict=True)
    ]
    return write(folder, *zip(talks, turns, strict=True), config=RunConfig(after_stop="generate"))


def _short(session: Session, turns: int) -> Session:
    import msgspec

    base = session.turns[0]
    made = tuple(
        msgspec.structs.replace(base, index=i, id=f"{session.id}-{i}") for i in range(turns)
    )
    return msgspec.structs.replace(session, turns=made)


@pytest.mark.parametrize(
    ("letters", "share"),
    [
        (("cicii",), "100.0 %"),  # nothing is left to cut, and yet it is two failures in a row
        (("cicic",), "0.0 %"),
        (("cimcc", "cicim", "ccccc", "icici"), "50.0 %"),
    ],
)
def test_early_stop_is_two_consecutive_failures(
    tmp_path: Path, letters: tuple[str, ...], share: str
) -> None:
    assert values(our_row(held(tmp_path / "run", *letters), tmp_path / "out"))[-1] == share


def test_a_run_that_did_not_ask_after_the_stop_is_marked_in_its_row(tmp_path: Path) -> None:
    rows: dict[str, str] = {}
    for way in ("skip", "generate"):
        run = plant(tmp_path / way, sessions=20, after_stop=way)
        with RunStore(run) as store:
            store.set_meta("provenance", {"data": "crag-mm-0"})
        rows[way] = our_row(run, tmp_path / f"out-{way}")
    assert "not comparable" in rows["skip"]
    assert "not comparable" not in rows["generate"]


def test_a_small_run_says_its_n_and_interval_and_is_not_bold(tmp_path: Path) -> None:
    small = plant(tmp_path / "small", sessions=20, after_stop="generate")
    with RunStore(small) as store:
        store.set_meta("provenance", {"data": "crag-mm-0"})
    make_report([small], tmp_path / "out", ReportOptions(resamples=50, failures=0))
    page = (tmp_path / "out" / "report.html").read_text()
    table = page.partition("In the layout of CRAG-MM")[2].partition("</table>")[0]
    (row,) = re.findall(r'<tr class="ours">.*?</tr>', table, re.S)
    words = re.sub(r"<[^>]+>", "", row)
    assert "20 conversations" in words
    assert re.search(r"under strict [+−]\d+\.\d \[[+−]\d+\.\d, [+−]\d+\.\d\] points", words), words
    assert "too small a run to be ranked" in words
    (style,) = re.findall(r"tr\.ours[^{]*{([^}]*)}", page)
    assert "font-weight" not in style
    large = plant(tmp_path / "large", sessions=100, after_stop="generate")
    with RunStore(large) as store:
        store.set_meta("provenance", {"data": "crag-mm-0"})
    assert "too small" not in our_row(large, tmp_path / "out-large")
